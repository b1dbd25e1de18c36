package probe

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/netip"
)

// maxRead bounds what is read of a banner, a header or a body, in bytes.
const maxRead = 64 << 10

type tcpProber struct {
	common
	opts   TCP
	remote netip.AddrPort
}

func newTCP(c Check, t Target, base common) (Prober, error) {
	return &tcpProber{common: base, opts: *c.TCP, remote: netip.AddrPortFrom(t.Addr, c.Port(t))}, nil
}

// Probe completes a handshake, sends and expects what is asked, and resets
// the connection, so that it leaves no TIME_WAIT behind.
func (p *tcpProber) Probe(ctx context.Context) Result {
	tr := p.begin()
	if len(p.opts.Send) == 0 && len(p.opts.Expect) == 0 {
		if f := p.handshake(ctx, p.local, p.remote); f != nil {
			return tr.end(f)
		}
		tr.add("connect", "%s", p.remote)
		return tr.pass()
	}
	conn, f := p.dial(ctx, p.local, p.remote)
	if f != nil {
		return tr.end(f)
	}
	defer conn.Close()
	_ = conn.SetLinger(0)
	tr.add("connect", "%s", p.remote)
	if f := p.talk(ctx, conn, tr); f != nil {
		return tr.end(f)
	}
	return tr.pass()
}

func (p *tcpProber) talk(ctx context.Context, conn *net.TCPConn, tr *tracer) *failure {
	defer guard(ctx, conn)()
	if len(p.opts.Send) > 0 {
		if _, err := conn.Write(p.opts.Send); err != nil {
			return classify(ctx, "send", err, p.timeout)
		}
		tr.add("send", "%d bytes", len(p.opts.Send))
	}
	if len(p.opts.Expect) == 0 {
		return nil
	}
	n, err := readUntil(conn, p.opts.Expect, tr)
	switch {
	case err == nil:
		tr.add("banner", "found after %d bytes", n)
		return nil
	case errors.Is(err, errTooLong):
		return failed("banner does not contain %s in its first 64 KiB", quote(string(p.opts.Expect)))
	case errors.Is(err, io.EOF) && n > 0:
		return failed("banner does not contain %s", quote(string(p.opts.Expect)))
	case timedOut(err) && n > 0 && ctx.Err() != context.Canceled:
		return failed("banner does not contain %s after %s", quote(string(p.opts.Expect)), p.timeout)
	}
	return classify(ctx, "", err, p.timeout)
}

var errTooLong = errors.New("reply is too long")

// readUntil reads until want has been seen and returns how much was read. It
// holds no more than 4 KiB and len(want) bytes at a time.
func readUntil(r io.Reader, want []byte, tr *tracer) (int, error) {
	buf := make([]byte, 0, 512)
	total := 0
	for total < maxRead {
		if len(buf) == cap(buf) {
			buf = makeRoom(buf, len(want))
		}
		n, err := r.Read(buf[len(buf):min(cap(buf), len(buf)+maxRead-total)])
		if total == 0 && n > 0 {
			tr.add("first byte", "%d bytes", n)
		}
		from := max(0, len(buf)-len(want)+1)
		buf, total = buf[:len(buf)+n], total+n
		if bytes.Contains(buf[from:], want) {
			return total, nil
		}
		if err != nil {
			return total, err
		}
	}
	return total, errTooLong
}

// makeRoom frees space in a full buffer: what precedes a possible start of
// the wanted bytes is dropped.
func makeRoom(buf []byte, want int) []byte {
	tail := buf[len(buf)-min(len(buf), want-1):]
	if cap(buf) < 4096+want {
		return append(make([]byte, 0, 4096+want), tail...)
	}
	return append(buf[:0], tail...)
}
