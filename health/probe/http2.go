package probe

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/http/httptrace"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// request2 speaks HTTP/2 over conn: negotiated over TLS, with prior knowledge
// without (RFC 9113 section 3.3).
func (p *httpProber) request2(ctx context.Context, conn net.Conn, w *watched, h *hop, auth string, tr *tracer) (*http.Response, *failure) {
	used := false
	once := func(context.Context, string, string) (net.Conn, error) {
		if used {
			return nil, failed("server closed the HTTP/2 connection")
		}
		used = true
		return conn, nil
	}
	protocols := new(http.Protocols)
	protocols.SetHTTP2(true)
	protocols.SetUnencryptedHTTP2(true)
	transport := &http.Transport{
		DialContext: once, DialTLSContext: once, Protocols: protocols,
		DisableKeepAlives: true, DisableCompression: true, MaxResponseHeaderBytes: maxRead,
	}
	req, err := http.NewRequestWithContext(ctx, h.method, h.url.String(), strings.NewReader(h.body))
	if err != nil {
		return nil, failed("request: %s", plain(err.Error()))
	}
	req.Host = h.url.Host
	req.Header.Set("User-Agent", "") // keeps net/http from naming itself
	p.eachField(h, auth, func(name, value string) {
		if name == "User-Agent" {
			req.Header.Del(name)
		}
		req.Header.Add(name, value)
	})
	tr.add("request", "%s %s HTTP/2, host %s", h.method, h.url.RequestURI(), h.url.Host)
	first := new(atomic.Int64) // when the reply began; written by another goroutine
	if tr.on {
		req = req.WithContext(httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
			GotFirstResponseByte: func() { first.CompareAndSwap(0, int64(time.Since(tr.start))) },
		}))
	}
	resp, err := transport.RoundTrip(req)
	if at := time.Duration(first.Load()); at > 0 {
		tr.steps = append(tr.steps, Step{At: at, What: "first byte"})
	}
	if err != nil {
		return nil, p.failure2(ctx, err, w)
	}
	tr.add("header", "%s %s", plain(resp.Proto), plain(resp.Status))
	return resp, nil
}

// failure2 words why there is no response. The library's error depends on
// what it was doing, so what the connection saw comes first.
func (p *httpProber) failure2(ctx context.Context, err error, w *watched) *failure {
	head, cause := w.seen()
	switch {
	case strings.HasPrefix(head, "HTTP/"):
		return failed("server does not speak HTTP/2")
	case cause != nil:
		return classify(ctx, "", cause, p.timeout)
	case strings.Contains(err.Error(), "header list larger than"):
		return failed("response header is longer than 64 KiB")
	case timedOut(err), closed(err):
		return classify(ctx, "", err, p.timeout)
	}
	return classify(ctx, "http/2", err, p.timeout)
}

// watched is a connection that remembers its first bytes and the error that
// ended its reading.
type watched struct {
	net.Conn
	mu   sync.Mutex
	head []byte
	err  error
}

func (w *watched) Read(p []byte) (int, error) {
	n, err := w.Conn.Read(p)
	w.mu.Lock()
	defer w.mu.Unlock()
	if room := len("HTTP/") - len(w.head); room > 0 {
		w.head = append(w.head, p[:min(n, room)]...)
	}
	// Closing it ourselves says nothing about the peer.
	if err != nil && w.err == nil && !errors.Is(err, net.ErrClosed) {
		w.err = err
	}
	return n, err
}

func (w *watched) seen() (string, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return string(w.head), w.err
}
