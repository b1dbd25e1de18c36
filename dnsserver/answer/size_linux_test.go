//go:build !386 && !arm && !mips && !mipsle

package answer

import (
	"math"
	"syscall"
	"testing"
	"unsafe"

	"github.com/miekg/dns"

	"gslbd/zone"
)

// A zone ends below 4 GiB with all that its last name has: RRsets that are not
// in data yet count too. The memory is only reserved, and never touched.
func TestZoneEndsBelow4GiB(t *testing.T) {
	whole, err := syscall.Mmap(-1, 0, math.MaxUint32, syscall.PROT_READ, syscall.MAP_ANON|syscall.MAP_PRIVATE|syscall.MAP_NORESERVE)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = syscall.Munmap(whole) }()
	c, err := newCompiler(&zone.Zone{Name: "zone."})
	if err != nil {
		t.Fatal(err)
	}
	add := func(typ uint16) error {
		g := &zone.Group{Key: zone.Key{Zone: "zone.", Name: "zone.", Type: typ}} // its bytes are not in data
		rr := &dns.RFC3597{Hdr: dns.RR_Header{Name: "zone.", Rrtype: typ, Class: dns.ClassINET}, Rdata: "00"}
		return c.add(&zone.RRset{Name: "zone.", Type: typ, RRs: []dns.RR{rr}, Group: g})
	}
	if err := add(65280); err != nil {
		t.Fatal(err)
	}
	c.z.data = whole[:math.MaxUint32-maxOne-setSize]
	if err := add(65281); err != nil {
		t.Errorf("where it still fits: %v", err)
	}
	if err := add(65282); err == nil || err.Error() != "the zone is larger than 4 GiB" {
		t.Errorf("beyond 4 GiB: %v", err)
	}
}

// What one answer reads of a selection is in as few cache lines as can be.
func TestSelectionsBeginAtCacheLines(t *testing.T) {
	var list []*selected
	for range 100 {
		s := newSelected([]body{{data: make([]byte, 16)}})
		list = append(list, s)
		if at := uintptr(unsafe.Pointer(s)) % lineSize; at != 0 {
			t.Fatalf("begins %d bytes into a cache line: %d bytes", at, unsafe.Sizeof(*s))
		}
	}
	if s := list[0]; &s.alone.data[0] != &s.data[0] || unsafe.Offsetof(s.data)+16 > lineSize {
		t.Error("one address is not in the first line")
	}
}
