package dnsserver

import (
	"encoding/binary"
	"flag"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"testing"

	"github.com/miekg/dns"
)

var hostilePackets = flag.Int("hostile", 200_000, "how many packets TestHostilePackets makes up")

// attacker makes packets that no honest client sends, out of ones that it does.
type attacker struct {
	*rand.Rand
	honest [][]byte
}

func newAttacker(t testing.TB, seed uint64) *attacker {
	a := &attacker{Rand: rand.New(rand.NewPCG(seed, 1))}
	for _, k := range kindsOfAnswers() {
		a.honest = append(a.honest, k.packet(t))
	}
	return a
}

// some gives n random octets, small ones more often.
func (a *attacker) some(n int) []byte {
	b := make([]byte, n)
	for i := range b {
		if b[i] = byte(a.Uint32()); a.IntN(3) == 0 {
			b[i] &= 3
		}
	}
	return b
}

// one is the copy of an honest packet.
func (a *attacker) one() []byte { return append([]byte(nil), a.honest[a.IntN(len(a.honest))]...) }

// packet makes the next packet: one trick, and one time in four another on top of it.
func (a *attacker) packet() []byte {
	p := a.trick(a.one())
	for a.IntN(4) == 0 {
		p = a.trick(p)
	}
	return p
}

// trick spoils a packet in one way.
func (a *attacker) trick(p []byte) []byte {
	at := func() int { return a.IntN(max(len(p), 1)) }
	if len(p) < 18 {
		return append(p, a.some(a.IntN(600))...)
	}
	switch a.IntN(14) {
	case 0:
		return a.some(a.IntN(1500))
	case 1: // a good header, and then anything
		return append(p[:12], a.some(a.IntN(300))...)
	case 2:
		return p[:at()]
	case 3:
		for range 1 + a.IntN(8) {
			p[at()] ^= 1 << a.IntN(8)
		}
	case 4:
		i := at()
		return append(p[:i:i], append(a.some(a.IntN(9)), p[min(len(p), i+a.IntN(9)):]...)...)
	case 5: // counts
		binary.BigEndian.PutUint16(p[4+2*a.IntN(4):], [...]uint16{0, 1, 2, 255, 0x7fff, 0xffff}[a.IntN(6)])
	case 6: // pointers: to themselves, forward, back, into the header, in circles
		i := 12 + a.IntN(len(p)-12)
		q := append(p, 0, 0)
		binary.BigEndian.PutUint16(q[i:], 0xc000|[...]uint16{uint16(i), uint16(i + 2), 12, 0, 0x3fff, uint16(a.IntN(len(p)))}[a.IntN(6)])
		return q[:len(p)]
	case 7:
		return a.longName(p)
	case 8: // reserved kinds of labels, labels longer than the packet
		p[12] = [...]byte{0x40, 0x7f, 0x80, 0xbf, 63, 64, 255}[a.IntN(7)]
	case 9:
		return a.options(p)
	case 10:
		p[2] ^= 0x80 // a reply
	case 11:
		p[2] = p[2]&0x87 | byte(a.IntN(16))<<3
		p[3] = byte(a.Uint32())
	case 12: // type and class
		binary.BigEndian.PutUint16(p[max(12, min(len(p)-2, len(p)-4+2*a.IntN(2))):], uint16([...]int{0, 1, 3, 41, 249, 250, 251, 252, 255, 254, 65535}[a.IntN(11)]))
	default: // many records, also over UDP
		p[7], p[9] = byte(a.IntN(3)), byte(a.IntN(3))
		for range a.IntN(200) {
			p = append(p, 0, 0, byte(a.IntN(60)), 0, 1, 0, 0, 0, 0, 0, byte(a.IntN(2)))
			p[11]++
		}
	}
	return p
}

// longName asks for a name with as many labels, or as long ones, as there can be, and sometimes more.
func (a *attacker) longName(p []byte) []byte {
	q := append([]byte(nil), p[:12]...)
	size := [...]int{1, 1, 2, 15, 63, 63, 64}[a.IntN(7)]
	for n, most := 0, 225+a.IntN(40); n+size < most; n += size + 1 {
		q = append(append(q, byte(size)), a.some(size)...)
	}
	if a.IntN(2) == 0 {
		q = append(q, "\x02dn"...)
	}
	q = append(q, "\x04gslb\x07example\x03com\x00\x00\x01\x00\x01"...)
	q[5], q[11] = 1, 0
	return q
}

// options adds an OPT record: a broken one, a second one, one with anything in it.
func (a *attacker) options(p []byte) []byte {
	var data []byte
	for range a.IntN(6) {
		n := a.IntN(44)
		data = binary.BigEndian.AppendUint16(data, [...]uint16{3, 8, 9, 10, 11, 12, 15, uint16(a.Uint32())}[a.IntN(8)])
		data = append(binary.BigEndian.AppendUint16(data, uint16(n)), a.some(n)...)
	}
	if len(data) > 3 && a.IntN(3) == 0 {
		data[3] += byte(a.IntN(256))
	}
	length := len(data)
	if a.IntN(4) == 0 {
		length = [...]int{0, 1, length + 1, 65535, max(length-1, 0)}[a.IntN(5)]
	}
	p = append(p, [...]byte{0, 0, 0, 1, 0xc0}[a.IntN(5)], 0, 41)
	p = binary.BigEndian.AppendUint16(p, [...]uint16{0, 1, 511, 512, 600, 1232, 1233, 4096, 65535}[a.IntN(9)])
	p = append(p, 0, byte(a.IntN(3)/2), byte(a.Uint32()), byte(a.Uint32()))
	p[11]++
	return append(binary.BigEndian.AppendUint16(p, uint16(length)), data...)
}

// breach tells what is wrong with a reply; "" is nothing.
func breach(packet, reply []byte, transport Transport) string {
	if len(packet) < 12 || packet[2]&0x80 != 0 {
		if len(reply) > 0 {
			return "a reply to what is no query"
		}
		return ""
	}
	var asked, got dns.Msg
	most := 1232
	if asked.Unpack(packet) == nil { // else it may still be fine for us, who skip the data of records
		if most = 512; asked.IsEdns0() != nil {
			most = min(max(int(asked.IsEdns0().UDPSize()), 512), 1232)
		}
	}
	if transport == TCP {
		most = 65535
	}
	switch {
	case len(reply) < 12:
		return fmt.Sprintf("%d octets: no reply", len(reply))
	case len(reply) > most:
		return fmt.Sprintf("%d octets, at most %d", len(reply), most)
	case reply[0] != packet[0] || reply[1] != packet[1] || reply[2]&0xf8 != packet[2]&0x78|0x80:
		return fmt.Sprintf("header %x for %x", reply[:4], packet[:4])
	case got.Unpack(reply) != nil:
		return fmt.Sprintf("not a message: %v", got.Unpack(reply))
	}
	return ""
}

// holdsOff demands that both transports answer a packet by the rules, behind what stands in the buffer already.
func holdsOff(t testing.TB, r *Responder, buffer, packet []byte) {
	for _, transport := range []Transport{UDP, TCP} {
		buffer = append(buffer[:0], "before"...)
		out := r.Respond(buffer, packet, netip.AddrPort{}, transport)
		if string(out[:6]) != "before" {
			t.Fatalf("%v: overwrote what was there\npacket %x", transport, packet)
		}
		if what := breach(packet, out[6:], transport); what != "" {
			t.Fatalf("%v: %s\npacket %x\nreply  %x", transport, what, packet, out[6:])
		}
	}
}

// TestHostilePackets asks nothing but nonsense: no panic, no reply to a reply, no reply that is too long or no message. With -hostile
// 50000000 it takes some minutes.
func TestHostilePackets(t *testing.T) {
	r, counts := newTestResponder(t, map[string]string{"gslb.example.com.": benchZone})
	a, buffer := newAttacker(t, rand.Uint64()), make([]byte, 0, 1<<16)
	for range *hostilePackets {
		holdsOff(t, r, buffer, a.packet())
	}
	var o Outcomes
	counts.AddTo(&o)
	t.Logf("%d packets, each over both transports: %+v", *hostilePackets, o)
	// Nonsense that all ends at the first check would show nothing.
	for name, n := range map[string]uint64{"positive": o.Positive, "no data": o.NoData, "no name": o.NXDomain, "referral": o.Referral, "refused": o.Refused,
		"too long": o.YXDomain, "malformed": o.FormErr, "opcode": o.NotImp, "version": o.BadVers, "dropped": o.Dropped, "truncated": o.Truncated} {
		if n < uint64(*hostilePackets)/100_000 {
			t.Errorf("%s: only %d of %d", name, n, *hostilePackets)
		}
	}
}

// TestHostilePacketsAllocateNothing: memory is as flat as for honest ones.
func TestHostilePacketsAllocateNothing(t *testing.T) {
	r, _ := newTestResponder(t, map[string]string{"gslb.example.com.": benchZone})
	a, packets := newAttacker(t, rand.Uint64()), make([][]byte, 20_000)
	for i := range packets {
		packets[i] = a.packet()
	}
	for transport, room := range map[Transport]int{UDP: 1232, TCP: 1<<16 - 1} {
		dst := make([]byte, 0, room)
		if n := testing.AllocsPerRun(2, func() {
			for _, p := range packets {
				r.Respond(dst, p, netip.AddrPort{}, transport)
			}
		}); n != 0 {
			t.Errorf("%v: %v allocations for %d packets", transport, n, len(packets))
		}
	}
}

// FuzzHostile looks for packets that break the rules.
func FuzzHostile(f *testing.F) {
	r, _ := newTestResponder(f, map[string]string{"gslb.example.com.": benchZone})
	a, buffer := newAttacker(f, 1), make([]byte, 0, 1<<16)
	for range 200 {
		f.Add(a.packet())
	}
	f.Fuzz(func(t *testing.T, packet []byte) {
		if len(packet) < 1<<16 {
			holdsOff(t, r, buffer, packet)
		}
	})
}
