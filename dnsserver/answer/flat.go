package answer

import (
	"bufio"
	"errors"
	"fmt"
	"hash/maphash"
	"io"
	"strings"
	"unsafe"

	"gslbd/zone"
)

// flatMark begins what Flatten writes; what it holds is as this very program
// lays it out in memory.
const flatMark = "gslbd compiled zone 2\n"

// errFlat is about what no Flatten wrote.
var errFlat = errors.New("not a compiled zone")

// Flatten writes the zone for Unflatten, in another process of the same program.
// Groups are not in it, but their order is: the reader must have the same ones.
// It calls rest after every microsecond or two of its own work, see CompileGently.
func (z *Zone) Flatten(out io.Writer, groups []*zone.Group, rest func()) error {
	w := &flatWriter{w: bufio.NewWriterSize(out, 1<<16)}
	put(w, []byte(flatMark))
	put(w, []byte(z.name))
	put(w, z.apex)
	put(w, []int{z.labels, z.depth})
	put(w, z.data)
	put(w, z.nodes(rest))
	put(w, z.cuts)
	put(w, z.glue)
	b := &z.negative
	put(w, b.data)
	put(w, b.names.ptrs)
	put(w, b.names.target)
	put(w, []uint16{b.stride, b.count, b.window, b.base})
	places := make([]uint32, 0, 2*len(groups))
	for _, g := range groups {
		s := z.groups[g.Key]
		places = append(places, s.slot, s.node)
	}
	put(w, places)
	if w.err == nil {
		w.err = w.w.Flush()
	}
	return w.err
}

// Unflatten reads what Flatten wrote. Its groups answer SERVFAIL until they are
// published. Only lengths are checked: the writer is trusted. It calls rest
// after every piece of its work, some 50 µs of it, so that answers which need
// the core do not wait for the whole.
func Unflatten(in io.Reader, groups []*zone.Group, rest func()) (*Zone, error) {
	r := &flatReader{r: in, rest: rest, piece: make([]byte, flatPiece)}
	if string(get[byte](r)) != flatMark {
		return nil, errors.Join(errFlat, r.err)
	}
	z := &Zone{name: string(get[byte](r)), apex: get[byte](r), seed: maphash.MakeSeed()}
	sizes := get[int](r)
	z.data = get[byte](r)
	nodes := get[uint32](r)
	z.cuts, z.glue = get[cut](r), get[glue](r)
	z.negative = body{data: get[byte](r), names: &names{ptrs: get[byte](r), target: get[byte](r)}}
	shape, places := get[uint16](r), get[uint32](r)
	switch {
	case r.err != nil:
		return nil, fmt.Errorf("reading a compiled zone: %w", r.err)
	case len(sizes) != 2, len(shape) != 4, len(z.data) == 0, len(places) != 2*len(groups):
		return nil, errFlat
	}
	z.labels, z.depth = sizes[0], sizes[1]
	b := &z.negative
	b.stride, b.count, b.window, b.base = shape[0], shape[1], shape[2], shape[3]
	z.slots = make([]slot, len(groups))
	z.groups = make(map[zone.Key]steered, len(groups))
	for i, g := range groups {
		s := steered{g, places[2*i], places[2*i+1]}
		if int(s.slot) >= len(z.slots) || int(s.node) >= len(z.data) {
			return nil, errFlat
		}
		z.groups[g.Key] = s
	}
	z.reindex(nodes, rest) // hashes differ between processes
	return z, nil
}

// flat is what may be written as it lies in memory: it has no pointers.
type flat interface {
	byte | uint16 | int | uint32 | node | set | cut | glue | place
}

// maxFlat bounds a slice, in bytes: data ends at 4 GiB, and no other is larger.
const maxFlat = 1 << 34

type flatWriter struct {
	w   *bufio.Writer
	err error
}

// put writes the length of s in bytes, and s.
func put[T flat](w *flatWriter, s []T) {
	raw := memory(s)
	size := [1]int{len(raw)}
	for _, part := range [][]byte{memory(size[:]), raw} {
		if w.err == nil {
			_, w.err = w.w.Write(part)
		}
	}
}

// flatPiece is how many bytes are read before others have their turn.
const flatPiece = 16 << 10

type flatReader struct {
	r     io.Reader
	rest  func()
	piece []byte
	err   error
}

func get[T flat](r *flatReader) []T {
	var size [1]int
	if r.err == nil {
		_, r.err = io.ReadFull(r.r, memory(size[:]))
	}
	var one T
	n, each := size[0], int(unsafe.Sizeof(one))
	if r.err == nil && (n < 0 || int64(n) > maxFlat || n%each != 0) {
		r.err = errFlat
	}
	if r.err != nil {
		return nil
	}
	return gather[T](n/each, r.rest, func(size int) []byte {
		if _, r.err = io.ReadFull(r.r, r.piece[:size]); r.err != nil {
			return nil
		}
		return r.piece[:size]
	})
}

// gather makes a slice of n from pieces; the first empty one ends it. A strings.Builder's memory is not
// cleared before it is written: for a large zone that takes milliseconds at
// once, in which nothing else runs on the core.
func gather[T flat](n int, rest func(), next func(size int) []byte) []T {
	var one T
	var b strings.Builder
	left := n * int(unsafe.Sizeof(one))
	for b.Grow(left); left > 0; rest() {
		piece := next(min(left, flatPiece))
		if len(piece) == 0 {
			return nil
		}
		b.Write(piece)
		left -= len(piece)
	}
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.StringData(b.String()))), n)
}

// memory is the memory of s.
func memory[T flat](s []T) []byte {
	if len(s) == 0 {
		return nil
	}
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(s))), len(s)*int(unsafe.Sizeof(s[0])))
}
