package admin

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// pipes is a listener whose connections stay within the process, so that their
// time is that of the test.
type pipes struct {
	conns  chan net.Conn
	closed chan struct{}
}

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error   { close(p.closed); return nil }
func (p *pipes) Addr() net.Addr { return &net.UnixAddr{Name: "pipe", Net: "unix"} }

// onPipes runs a server within a bubble of virtual time.
func onPipes(b Backend) (*Server, *pipes) {
	p := &pipes{make(chan net.Conn), make(chan struct{})}
	s := New("", b, nil)
	s.serve(p)
	return s, p
}

// open asks for a stream and gives its connection; nothing is read of it.
func (p *pipes) open(query, header string) net.Conn {
	near, far := net.Pipe()
	p.conns <- far
	fmt.Fprintf(near, "GET /api/v1/events%s HTTP/1.1\r\nHost: gslbd\r\nAccept: text/event-stream\r\n%s\r\n", query, header)
	return near
}

// reader is a stream that somebody reads: its response, and what came so far.
type reader struct {
	resp  *http.Response
	mu    sync.Mutex
	text  strings.Builder
	ended chan error
}

func (r *reader) Write(p []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.text.Write(p)
}

// read opens a stream and takes all that comes.
func (p *pipes) read(t *testing.T, query, header string) *reader {
	t.Helper()
	resp, err := http.ReadResponse(bufio.NewReader(p.open(query, header)), nil)
	if err != nil {
		t.Fatal(err)
	}
	r := &reader{resp: resp, ended: make(chan error, 1)}
	go func() {
		_, err := io.Copy(r, resp.Body)
		r.ended <- err
	}()
	synctest.Wait()
	return r
}

// wants checks what has come since the last time.
func (r *reader) wants(t *testing.T, want string) {
	t.Helper()
	synctest.Wait()
	r.mu.Lock()
	defer r.mu.Unlock()
	got := r.text.String()
	r.text.Reset()
	if got != want {
		t.Errorf("got\n%q\nwant\n%q", got, want)
	}
}

// sent is an event of the fake as a stream has it.
func sent(id int, kind string) string {
	return fmt.Sprintf("id: %d\nevent: %s\ndata: {\"id\":%d,\"time\":\"2026-11-29T12:00:%02dZ\",\"kind\":\"%s\",\"cause\":\"a < b\\nc\"}\n\n", id, kind, id, id, kind)
}

// TestStream: byte for byte, from where each reader wants to begin.
func TestStream(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fake{}
		s, p := onPipes(f)
		defer stop(t, s)
		f.happen(EventStart, EventMember)
		fresh := p.read(t, "", "")
		all := p.read(t, "?after=0", "")
		some := p.read(t, "?after=0", "Last-Event-ID: 1\r\n")
		if h := fresh.resp.Header; h.Get("Content-Type") != eventStream || h.Get("Cache-Control") != "no-store" {
			t.Errorf("header is %v", h)
		}
		fresh.wants(t, "retry: 2000\n\n")
		all.wants(t, "retry: 2000\n\n"+sent(1, "start")+sent(2, "member"))
		some.wants(t, "retry: 2000\n\n"+sent(2, "member"))

		f.happen(EventPool, EventGroup)
		for _, r := range []*reader{fresh, all, some} {
			r.wants(t, sent(3, "pool")+sent(4, "group"))
		}
		f.happen(EventStop)
		fresh.wants(t, sent(5, "stop"))
	})
}

// TestStreamFromNothing: one that begins before the first event misses none.
func TestStreamFromNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fake{}
		s, p := onPipes(f)
		defer stop(t, s)
		r := p.read(t, "", "")
		f.happen(EventStart)
		r.wants(t, "retry: 2000\n\n"+sent(1, "start"))
		f.happen("a", "b", "c", "d", "e", "f", "g") // two more than are remembered
		r.wants(t, sent(4, "c")+sent(5, "d")+sent(6, "e")+sent(7, "f")+sent(8, "g"))
	})
}

// TestKeepAlive: silence lasts for 15 s at most, and a stream for longer than
// any other exchange.
func TestKeepAlive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fake{}
		s, p := onPipes(f)
		defer stop(t, s)
		r := p.read(t, "", "")
		r.wants(t, "retry: 2000\n\n")
		advance(14 * time.Second)
		r.wants(t, "")
		advance(time.Second)
		r.wants(t, ":\n\n")
		advance(10 * time.Second)
		f.happen(EventStart)
		r.wants(t, sent(1, "start"))
		advance(14 * time.Second)
		r.wants(t, "")
		advance(time.Second)
		r.wants(t, ":\n\n")
		advance(2 * writeTimeout)
		r.wants(t, strings.Repeat(":\n\n", int(2*writeTimeout/keepAlive)))
		f.happen(EventStop)
		r.wants(t, sent(2, "stop"))
	})
}

// advance lets virtual time pass.
func advance(d time.Duration) {
	<-time.After(d)
	synctest.Wait()
}

// places counts the streams that run.
func places(s *Server) int { return len(s.events.places) }

// TestSlowReader: one that takes nothing is dropped, and its place is free
// again, while another goes on.
func TestSlowReader(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fake{}
		s, p := onPipes(f)
		defer stop(t, s)
		good := p.read(t, "", "")
		stuck := p.open("", "") // its first bytes are not taken
		good.wants(t, "retry: 2000\n\n")
		f.happen(EventStart)
		good.wants(t, sent(1, "start"))
		advance(streamWrite - time.Millisecond)
		if n := places(s); n != 2 {
			t.Errorf("%d streams before the time", n)
		}
		advance(2 * time.Millisecond)
		if n := places(s); n != 1 {
			t.Errorf("%d streams after the time", n)
		}
		text, err := io.ReadAll(stuck)
		if len(text) > 0 || err != nil {
			t.Errorf("the stuck reader got %q, %v", text, err)
		}
		f.happen(EventStop)
		good.wants(t, sent(2, "stop"))
	})
}

// TestGoneReader: its place is free at once.
func TestGoneReader(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, p := onPipes(&fake{})
		defer stop(t, s)
		conn := p.open("", "")
		go io.Copy(io.Discard, conn)
		synctest.Wait()
		if n := places(s); n != 1 {
			t.Errorf("%d streams", n)
		}
		conn.Close()
		synctest.Wait()
		if n := places(s); n != 0 {
			t.Errorf("%d streams after it has gone", n)
		}
	})
}

// TestHeadOfStream: the header alone, without a stream that nobody could read.
func TestHeadOfStream(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, p := onPipes(&fake{})
		defer stop(t, s)
		near, far := net.Pipe()
		defer near.Close()
		p.conns <- far
		fmt.Fprint(near, "HEAD /api/v1/events HTTP/1.1\r\nHost: gslbd\r\nAccept: text/event-stream\r\n\r\n")
		resp, err := http.ReadResponse(bufio.NewReader(near), &http.Request{Method: http.MethodHead})
		if err != nil || resp.StatusCode != http.StatusOK || resp.Header.Get("Content-Type") != eventStream {
			t.Fatalf("got %+v, %v", resp, err)
		}
		synctest.Wait()
		if n := places(s); n != 0 {
			t.Errorf("%d streams", n)
		}
	})
}

// TestTooManyStreams: the 65th is refused, until one of the others ends.
func TestTooManyStreams(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, p := onPipes(&fake{})
		defer stop(t, s)
		var conns []net.Conn
		for range maxStreams {
			conn := p.open("", "")
			go io.Copy(io.Discard, conn)
			conns = append(conns, conn)
		}
		synctest.Wait()
		r := p.read(t, "", "Connection: close\r\n")
		r.wants(t, `{"error":"64 readers follow the events already","hint":"end one of them, or ask for /api/v1/events?after=ID now and then, without Accept: text/event-stream"}`+"\n")
		if r.resp.StatusCode != http.StatusServiceUnavailable {
			t.Errorf("status is %s", r.resp.Status)
		}
		conns[7].Close()
		synctest.Wait()
		p.read(t, "", "").wants(t, "retry: 2000\n\n")
	})
}

// TestStopEndsStreams: at once those that read, and soon one that does not.
func TestStopEndsStreams(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, p := onPipes(&fake{})
		idle := p.read(t, "", "")
		advance(streamWrite + time.Second) // past the deadline of its last write
		stuck := p.open("", "")
		defer stuck.Close()
		synctest.Wait()
		begin := time.Now()
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		stopped := make(chan error, 1)
		go func() { stopped <- s.Stop(ctx) }()
		if err := <-idle.ended; err != nil {
			t.Errorf("the idle stream was cut off: %v", err)
		}
		if took := time.Since(begin); took != 0 {
			t.Errorf("the idle stream ended after %v", took)
		}
		if err := <-stopped; err != nil {
			t.Error(err)
		}
		if took := time.Since(begin); took > 2*time.Second {
			t.Errorf("the stop took %v", took)
		}
	})
}

// TestStopSendsTheRest: what happened before the stop reaches those who follow,
// although the streams end with it.
func TestStopSendsTheRest(t *testing.T) {
	for range 20 { // the stop and the event come at once
		synctest.Test(t, func(t *testing.T) {
			f := &fake{}
			s, p := onPipes(f)
			r := p.read(t, "", "")
			r.wants(t, "retry: 2000\n\n")
			f.happen(EventGroup, EventStop)
			stop(t, s)
			if err := <-r.ended; err != nil {
				t.Error(err)
			}
			r.wants(t, sent(1, "group")+sent(2, "stop"))
		})
	}
}
