package probe

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
)

// maxFraming bounds what is read of a body with its chunk framing, in bytes.
const maxFraming = 1 << 20

// request1 speaks HTTP/1.0 and 1.1 without net/http's Transport, which has no
// 1.0 and needs two goroutines for a connection.
func (p *httpProber) request1(ctx context.Context, conn net.Conn, h *hop, auth string, tr *tracer) (*http.Response, *failure) {
	// A server may answer and close before it has read everything.
	if _, err := conn.Write(p.message(h, auth)); err != nil && !closed(err) {
		return nil, classify(ctx, "request", err, p.timeout)
	}
	tr.add("request", "%s %s HTTP/%s, host %s", h.method, h.url.RequestURI(), p.opts.Version, h.url.Host)
	in := &bounded{r: conn, left: maxRead}
	br := bufio.NewReader(in)
	if _, err := br.Peek(1); err != nil {
		return nil, classify(ctx, "", err, p.timeout)
	}
	tr.add("first byte", "")
	for {
		resp, err := http.ReadResponse(br, &http.Request{Method: h.method})
		if err != nil {
			return nil, p.badHeader(ctx, err, in)
		}
		if resp.ProtoMajor != 1 {
			return nil, failed("reply is %s, want HTTP/%s", plain(resp.Proto), p.opts.Version)
		}
		tr.add("header", "%s %s", plain(resp.Proto), plain(resp.Status))
		// Interim responses (RFC 9110 section 15.2) precede the one that counts.
		if resp.StatusCode < 100 || resp.StatusCode > 199 || resp.StatusCode == http.StatusSwitchingProtocols {
			in.left = maxFraming
			return resp, nil
		}
	}
}

// message is the request as it is written.
func (p *httpProber) message(h *hop, auth string) []byte {
	b := make([]byte, 0, 256+len(h.body))
	b = fmt.Appendf(b, "%s %s HTTP/%s\r\nHost: %s\r\n", h.method, h.url.RequestURI(), p.opts.Version, h.url.Host)
	p.eachField(h, auth, func(name, value string) {
		b = append(append(append(append(b, name...), ": "...), value...), "\r\n"...)
	})
	if h.body != "" || h.method == http.MethodPost {
		b = fmt.Appendf(b, "Content-Length: %d\r\n", len(h.body))
	}
	b = append(b, "\r\n"...)
	return append(b, h.body...)
}

// eachField yields the header fields for h. Credentials go to the member
// alone, and not in the clear when the check says https.
func (p *httpProber) eachField(h *hop, auth string, yield func(name, value string)) {
	trusted := h.own && (h.url.Scheme == "https" || p.opts.Scheme == "http")
	for _, f := range p.fields {
		secret := f[0] == "Authorization" || f[0] == "Cookie" || f[0] == "Proxy-Authorization"
		if secret && !trusted || auth != "" && f[0] == "Authorization" {
			continue
		}
		yield(f[0], f[1])
	}
	if auth != "" && trusted {
		yield("Authorization", auth)
	}
}

// badHeader words a header that could not be read.
func (p *httpProber) badHeader(ctx context.Context, err error, in *bounded) *failure {
	head := string(in.head)
	known := min(len(head), len("HTTP/"))
	switch {
	case ctx.Err() == context.Canceled:
		return fault(cancelled)
	case isSettings(in.head):
		return failed("reply is HTTP/2, want HTTP/%s", p.opts.Version)
	case head[:known] != "HTTP/"[:known]:
		return failed("reply is not HTTP: %s", quote(head))
	case in.left <= 0:
		return failed("response header is longer than 64 KiB")
	case in.err != nil: // the parser takes a cut line for a whole one
		return incomplete(ctx, "header", in.err, p.timeout)
	}
	return failed("malformed response: %s", plain(err.Error()))
}

// isSettings recognises the frame that a server which speaks only HTTP/2 sends
// first: type 4, stream 0 (RFC 9113 section 4.1).
func isSettings(head []byte) bool {
	return len(head) >= 9 && head[3] == 4 && string(head[5:9]) == "\x00\x00\x00\x00"
}

// bounded reads at most left bytes of r and remembers the first few.
type bounded struct {
	r    io.Reader
	left int
	head []byte
	err  error // the last one of r
}

func (b *bounded) Read(p []byte) (int, error) {
	if b.left <= 0 {
		return 0, io.EOF
	}
	n, err := b.r.Read(p[:min(len(p), b.left)])
	b.left, b.err = b.left-n, err
	if room := maxText + 1 - len(b.head); room > 0 {
		b.head = append(b.head, p[:min(n, room)]...)
	}
	return n, err
}
