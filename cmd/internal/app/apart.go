package app

import (
	"bufio"
	"bytes"
	"context"
	"encoding/gob"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"time"

	"github.com/miekg/dns"
	"go.uber.org/zap"

	"gslbd/dnsserver/answer"
	"gslbd/health"
	"gslbd/zone"
)

const (
	// largeFile is from how many bytes on a reload takes a zone to be large.
	largeFile = 512 << 10
	// defaultIdleLoad is the time in which a load must have had idleShare of a core,
	// again and again, or else it takes its share of busy ones.
	defaultIdleLoad = 5 * time.Second
	idleShare       = 20 // a twentieth
	groupsAtOnce    = 16 // are taken from a load before a rest
	stepsAtOnce     = 32 // of a load are made before a rest: some 50 µs
)

// order is what a load in a process of its own is told.
type order struct {
	Source     zone.Source
	Vocabulary zone.Vocabulary
	Guard      guard
}

// delivery is what it gives back; with Loaded, the groups and the compiled zone
// follow.
type delivery struct {
	Problems zone.Problems
	Loaded   bool // the problems hold no error
	Name     string
	Files    []string
	Sum      checksum
	Serial   uint32
	Records  int
	Groups   int
}

// packedGroup is a group whose members' records are in wire form.
type packedGroup struct {
	Group zone.Group
	RRs   [][]byte
}

// LoadApart does what one order says: it is the other end of a reload that
// loads a large zone in a process of its own. The error is about in and out;
// what is wrong with the zone is in the delivery. It offers the core all the time:
// once it has it, the kernel lets it go on for a tick of some milliseconds, idle or
// not. With LoadNice it also gets on where it is always taken.
func LoadApart(in io.Reader, out io.Writer, when string) error {
	var o order
	if err := gob.NewDecoder(in).Decode(&o); err != nil {
		return fmt.Errorf("reading the order: %w", err)
	}
	courtesy := health.Courtesy{Unbounded: when == LoadIdle}
	rest := every(stepsAtOnce, courtesy.GiveWay)
	z, problems := loadGently(o.Source, o.Vocabulary, o.Guard, rest)
	w := bufio.NewWriter(out)
	if err := deliver(w, z, problems, rest); err != nil {
		return fmt.Errorf("delivering: %w", err)
	}
	return w.Flush()
}

// every gives a function that calls f each time that it has been called n times.
func every(n int, f func()) func() {
	calls := 0
	return func() {
		if calls++; calls == n {
			calls = 0
			f()
		}
	}
}

func deliver(w io.Writer, z *served, problems zone.Problems, rest func()) error {
	encoder, buffer := gob.NewEncoder(w), make([]byte, 2*dns.MaxMsgSize) // more than any record takes
	if z == nil {
		return encoder.Encode(delivery{Problems: problems})
	}
	if err := encoder.Encode(delivery{problems, true, z.name, z.files, z.sum, z.serial, z.records, len(z.groups)}); err != nil {
		return err
	}
	for _, g := range z.groups {
		packed, err := packGroup(g, buffer)
		if err != nil {
			return fmt.Errorf("%s: %w", g.Key, err)
		}
		if err := encoder.Encode(packed); err != nil {
			return err
		}
	}
	return z.compiled.Flatten(w, z.groups, rest)
}

func packGroup(g *zone.Group, buffer []byte) (packedGroup, error) {
	p := packedGroup{Group: *g}
	p.Group.Members = slices.Clone(g.Members)
	for i := range p.Group.Members {
		m := &p.Group.Members[i]
		n, err := dns.PackRR(m.RR, buffer, 0, nil, false)
		if err != nil {
			return p, err
		}
		m.RR, p.RRs = nil, append(p.RRs, bytes.Clone(buffer[:n]))
	}
	return p, nil
}

func (p *packedGroup) unpack() (*zone.Group, error) {
	if len(p.RRs) != len(p.Group.Members) {
		return nil, errors.New("members without records")
	}
	for i := range p.RRs {
		rr, _, err := dns.UnpackRR(p.RRs[i], 0)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", p.Group.Key, err)
		}
		p.Group.Members[i].RR = rr
	}
	return &p.Group, nil
}

// load loads one zone for a reload. A large one is read by a process of its own
// where there is a command for it: what it leaves for the garbage collector, and
// the collector's work, would be in the way of answers here.
func (a *App) load(ctx context.Context, source zone.Source, voc zone.Vocabulary, before guard) (*served, zone.Problems) {
	if len(a.opts.Apart) == 0 || !a.large(source) {
		return loadZone(source, voc, before)
	}
	o := order{source, voc, before}
	a.log.Info("loading a large zone in a process of its own, in idle time", zap.String("zone", source.Name))
	z, problems, err := a.loadApart(ctx, o, LoadIdle)
	if errors.Is(err, errStarved) && ctx.Err() == nil {
		a.log.Info("the machine has no idle time: the load begins anew, and takes its share", zap.String("zone", source.Name))
		z, problems, err = a.loadApart(ctx, o, LoadNice)
	}
	switch {
	case err == nil:
		return z, problems
	case ctx.Err() != nil:
		return nil, zone.Problems{refuse("loading was cut short", "")}
	case errors.Is(err, errEnded):
		a.log.Error("the load came to a bad end", zap.String("zone", source.Name), zap.Error(err))
		return nil, zone.Problems{{File: source.File, Severity: zone.Error, Message: errEnded.Error(),
			Hint: "the log says how; if memory ran out, give gslbd more of it; then reload again"}}
	}
	a.log.Warn("the zone is loaded by the server itself", zap.String("zone", source.Name), zap.Error(err))
	return loadZone(source, voc, before)
}

// large judges a zone by its file, and by what is served of it.
func (a *App) large(source zone.Source) bool {
	info, err := os.Stat(source.File)
	return err == nil && info.Size() >= largeFile || slices.ContainsFunc(a.cur.zones, func(z *served) bool {
		return z.source == source && z.records >= largeLoad
	})
}

// receive reads a delivery; the zone is nil when its problems hold an error.
// What it does for that, it does in small pieces, with courtesy between.
func receive(in *bufio.Reader) (*served, zone.Problems, error) {
	decoder := gob.NewDecoder(in)
	var d delivery
	var courtesy health.Courtesy
	if err := decoder.Decode(&d); err != nil {
		return nil, nil, fmt.Errorf("reading the delivery: %w", err)
	}
	if !d.Loaded {
		return nil, d.Problems, nil
	}
	groups := make([]*zone.Group, d.Groups)
	for i := range groups {
		var packed packedGroup
		if err := decoder.Decode(&packed); err != nil {
			return nil, nil, fmt.Errorf("reading the delivery: %w", err)
		}
		g, err := packed.unpack()
		if err != nil {
			return nil, nil, err
		}
		if groups[i] = g; i%groupsAtOnce == groupsAtOnce-1 {
			courtesy.GiveWay()
		}
	}
	compiled, err := answer.Unflatten(in, groups, courtesy.GiveWay)
	if err != nil {
		return nil, nil, err
	}
	return &served{name: d.Name, files: d.Files, sum: d.Sum, serial: d.Serial, records: d.Records, groups: groups, compiled: compiled},
		d.Problems, nil
}

// finish fills in what the other process does not know.
func (z *served) finish(source zone.Source) {
	if z != nil {
		z.source, z.loaded = source, time.Now()
	}
}
