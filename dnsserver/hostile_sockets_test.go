package dnsserver

import (
	"encoding/binary"
	"errors"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/miekg/dns"
)

// attacked starts a server with real answers for the time of a test.
func attacked(t *testing.T) *Server {
	t.Helper()
	limits := TCPLimits{MessageTimeout: 200 * time.Millisecond, MaxConnectionsPerClient: 1000}
	return startAnswering(t, Options{Workers: 2, TCP: limits}, map[string]string{"gslb.example.com.": benchZone})
}

// heap gives the octets in use once the garbage is gone.
func heap() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// floodUDP sends n hostile packets in bursts, each followed by an honest query whose answer must come, and judges every reply.
func floodUDP(t *testing.T, s *Server, a *attacker, n int) (sent int) {
	conn := dial(t, "udp", s.Addrs()[0])
	_ = conn.SetDeadline(time.Now().Add(time.Minute))
	honest, reply := kindsOfAnswers()[0].packet(t), make([]byte, 1<<16)
	for burst := range uint16(n / 50) {
		asked := map[uint16][]byte{}
		for range 50 {
			p := a.packet()
			if len(p) > 1 {
				binary.BigEndian.PutUint16(p, uint16(len(asked)))
			}
			asked[uint16(len(asked))] = p
			if _, err := conn.Write(p); err != nil {
				t.Errorf("%d octets: %v", len(p), err)
				return sent
			}
		}
		binary.BigEndian.PutUint16(honest, 0x8000|burst)
		_, _ = conn.Write(honest)
		sent += 51
		for {
			size, err := conn.Read(reply)
			if err != nil {
				t.Errorf("burst %d: no answer to an honest query: %v", burst, err)
				return sent
			}
			id := binary.BigEndian.Uint16(reply)
			if id == 0x8000|burst {
				break
			}
			if what := breach(asked[id], reply[:size], UDP); what != "" || asked[id] == nil {
				t.Errorf("%s\npacket %x\nreply  %x", what, asked[id], reply[:size])
			}
		}
	}
	return sent
}

// floodTCP opens n connections that speak nonsense: hostile messages, broken framing, beginnings without an end, and silence.
func floodTCP(t *testing.T, s *Server, a *attacker, n int) {
	for i := range n {
		conn, err := net.Dial("tcp", s.Addrs()[0].String())
		if err != nil {
			t.Error(err)
			return
		}
		var out []byte
		for range a.IntN(20) {
			p := a.packet()
			out = append(binary.BigEndian.AppendUint16(out, uint16(len(p))), p...)
		}
		switch i % 3 {
		case 0:
			out = append(out, a.some(a.IntN(5000))...)
		case 1:
			out = append(out, 0xff, 0xff, 1, 2, 3)
		}
		_ = conn.SetDeadline(time.Now().Add(20 * time.Millisecond))
		_, _ = conn.Write(out)
		for {
			if _, err := readFramed(conn); err != nil {
				if i%3 == 1 && a.IntN(4) == 0 && errors.Is(err, os.ErrDeadlineExceeded) {
					_ = conn.SetDeadline(time.Now().Add(patience))
					if _, err = io.Copy(io.Discard, conn); errors.Is(err, os.ErrDeadlineExceeded) { // answers may be late
						t.Error("still open, though it should end before long by itself")
					}
				}
				break
			}
		}
		_ = conn.Close()
	}
}

// Nonsense through real sockets: honest queries are answered all the while, and afterwards there is no more memory, no more goroutine and
// no more connection than before.
func TestHostileTraffic(t *testing.T) {
	s := attacked(t)
	flood := func(seed uint64, packets, connections int) (sent int) {
		var all sync.WaitGroup
		var n [2]int
		for i := range n {
			all.Go(func() { n[i] = floodUDP(t, s, newAttacker(t, seed+uint64(i)), packets) })
			all.Go(func() { floodTCP(t, s, newAttacker(t, seed+10+uint64(i)), connections) })
		}
		all.Wait()
		eventually(t, "connections end", func() bool { return s.Stats().Open == 0 })
		return n[0] + n[1]
	}
	seed := rand.Uint64()
	sent := flood(seed, 1000, 20) // what is allocated once is there from now on
	goroutines, before := runtime.NumGoroutine(), heap()
	sent += flood(seed+100, 8_000, 100)
	eventually(t, "goroutines end", func() bool { return runtime.NumGoroutine() <= goroutines })
	if grown := heap() - before; grown > 1<<20 {
		t.Errorf("%d octets more in use", grown)
	} else {
		t.Logf("%d packets over UDP, %d over TCP in %d connections, %+d octets of heap", sent, s.Stats().TCP.Received, s.Stats().Connections, grown)
	}
	eventually(t, "counted", func() bool { return s.Stats().UDP.Received == uint64(sent) })
	if st := s.Stats(); st.UDP.Panics+st.TCP.Panics > 0 || st.UDP.Answered+st.UDP.Dropped+st.UDP.SendErrors != st.UDP.Received {
		t.Errorf("%+v", st)
	}
	client := &dns.Client{Timeout: patience}
	got, _, err := client.Exchange(new(dns.Msg).SetQuestion("one.gslb.example.com.", dns.TypeA), s.Addrs()[0].String())
	if err != nil || len(got.Answer) != 1 {
		t.Errorf("%v, %v", got, err)
	}
}
