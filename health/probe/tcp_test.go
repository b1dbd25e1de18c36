package probe

import (
	"bytes"
	"context"
	"io"
	"net"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"
	"time"
)

func TestTCP(t *testing.T) {
	echo := func(c net.Conn) { _, _ = io.Copy(c, c) }
	banner := func(c net.Conn) { _, _ = io.WriteString(c, "220 mail.example ESMTP\r\n"); hold(c) }
	bye := func(c net.Conn) { _, _ = io.WriteString(c, "421 busy\r\n") }
	for _, c := range []struct {
		about   string
		handle  func(net.Conn)
		opts    TCP
		timeout time.Duration
		outcome Outcome
		reason  string
	}{
		{"handshake", hold, TCP{}, long, Pass, ""},
		{"handshake with a peer that closes at once", func(net.Conn) {}, TCP{}, long, Pass, ""},
		{"banner", banner, TCP{Expect: []byte("220 ")}, long, Pass, ""},
		{"the end of a banner", banner, TCP{Expect: []byte("ESMTP\r\n")}, long, Pass, ""},
		{"send and expect", echo, TCP{Send: []byte("PING"), Expect: []byte("PING")}, long, Pass, ""},
		{"send alone", hold, TCP{Send: []byte("PING")}, long, Pass, ""},
		{"other banner, open", banner, TCP{Expect: []byte("250 ")}, short, Fail, `banner does not contain "250 " after 80ms`},
		{"other banner, closed", bye, TCP{Expect: []byte("220 ")}, long, Fail, `banner does not contain "220 "`},
		{"silence", hold, TCP{Expect: []byte("x")}, short, Fail, "no reply in 80ms"},
		{"closed without a word", func(net.Conn) {}, TCP{Expect: []byte("x")}, long, Fail, "connection closed before a reply"},
		{"trickle", trickle(strings.Repeat("ab", 50)), TCP{Expect: []byte("zz")}, short, Fail, `banner does not contain "zz" after 80ms`},
		{"trickle that gets there", trickle("ok"), TCP{Expect: []byte("ok")}, long, Pass, ""},
		{"endless banner", endless("A"), TCP{Expect: []byte("B")}, long, Fail, `banner does not contain "B" in its first 64 KiB`},
		{"bytes", echo, TCP{Send: []byte{0, 1}, Expect: []byte{1, 0xff}}, short, Fail, `banner does not contain "\x01\xff" after 80ms`},
	} {
		t.Run(c.about, func(t *testing.T) {
			t.Parallel()
			want(t, run(t, tcpCheck(c.timeout, c.opts), target(serve(t, c.handle))), c.outcome, c.reason)
		})
	}
}

// endless writes text as long as the peer takes it.
func endless(text string) func(net.Conn) {
	return func(c net.Conn) {
		block := []byte(strings.Repeat(text, 4096))
		for {
			if _, err := c.Write(block); err != nil {
				return
			}
		}
	}
}

func TestTCPConnect(t *testing.T) {
	want(t, run(t, tcpCheck(long, TCP{}), target(closedPort(t))), Fail, "connect: connection refused")
	at := serve(t, hold)
	c := tcpCheck(long, TCP{Port: at.Port()})
	want(t, run(t, c, Target{Addr: local}), Pass, "")
}

func TestTCPCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	at := serve(t, func(c net.Conn) { cancel(); hold(c) })
	c := tcpCheck(long, TCP{Expect: []byte("x")})
	p, err := New(c, target(at), false)
	if err != nil {
		t.Fatal(err)
	}
	start := time.Now()
	want(t, Round(ctx, p, c), Fault, "cancelled")
	want(t, Round(ctx, p, c), Fault, "cancelled")
	if took := time.Since(start); took > long/2 {
		t.Errorf("took %s", took)
	}
}

// Every way of cutting a banner into reads finds the same.
func TestReadUntil(t *testing.T) {
	filler := strings.Repeat("f", 5000)
	for _, c := range []struct {
		text, want string
		n          int
		err        error
	}{
		{"hello", "lo", 5, nil},
		{filler + "needle", "needle", 5006, nil},
		{filler, "needle", 5000, io.EOF},
		{filler + "needl", "needle", 5005, io.EOF},
		{strings.Repeat("x", maxRead-2) + "ab", "ab", maxRead, nil},
		{strings.Repeat("x", maxRead-1) + "ab", "ab", maxRead, errTooLong},
		{"", "x", 0, io.EOF},
		{filler + strings.Repeat("w", 6000), strings.Repeat("w", 6000), 11000, nil},
	} {
		for name, r := range map[string]io.Reader{
			"bytes": iotest.OneByteReader(strings.NewReader(c.text)),
			"halfs": iotest.HalfReader(strings.NewReader(c.text)),
			"whole": iotest.DataErrReader(strings.NewReader(c.text)),
		} {
			n, err := readUntil(r, []byte(c.want), &tracer{})
			if err != c.err || n != c.n && name == "bytes" {
				t.Errorf("%.20q in %s: %d, %v; want %d, %v", c.want, name, n, err, c.n, c.err)
			}
		}
	}
}

func FuzzReadUntil(f *testing.F) {
	f.Add([]byte("220 mail ESMTP"), []byte("ESMTP"), uint8(3))
	f.Add(bytes.Repeat([]byte("ab"), 3000), []byte("ba"), uint8(255))
	f.Fuzz(func(t *testing.T, text, want []byte, size uint8) {
		if len(want) == 0 || size == 0 || len(text) > maxRead {
			return
		}
		_, err := readUntil(chunks{bytes.NewReader(text), int(size)}, want, &tracer{})
		if (err == nil) != bytes.Contains(text, want) {
			t.Errorf("%q in %q: %v", want, text, err)
		}
	})
}

// chunks reads at most size bytes at a time.
type chunks struct {
	r    io.Reader
	size int
}

func (c chunks) Read(p []byte) (int, error) { return c.r.Read(p[:min(len(p), c.size)]) }

// An endless banner costs no more memory than its bound.
func TestTCPMemory(t *testing.T) {
	at := serve(t, endless("A"))
	c := tcpCheck(long, TCP{Expect: []byte("B")})
	run(t, c, target(at))
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range 10 {
		run(t, c, target(at))
	}
	runtime.ReadMemStats(&after)
	if used := (after.TotalAlloc - before.TotalAlloc) / 10; used > 64<<10 {
		t.Errorf("%d bytes for one probe", used)
	}
}

func BenchmarkTCP(b *testing.B) {
	at := serve(b, func(c net.Conn) { _, _ = c.Read(make([]byte, 1)) })
	c := tcpCheck(long, TCP{})
	p, err := New(c, target(at), false)
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if r := Round(context.Background(), p, c); r.Outcome != Pass {
			b.Fatal(r.Reason)
		}
	}
}
