package main_test

import (
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"syscall"
	"testing"
)

// target is a backend that a test kills and revives.
type target struct {
	t       *testing.T
	address string
	serve   func(net.Listener)
	ln      net.Listener
	ended   chan struct{}
}

// webTarget answers HTTP on the address with the status that code gives at the
// moment; port 0 takes a free one.
func webTarget(t *testing.T, address string) *target {
	return newTarget(t, address, func(ln net.Listener) {
		srv := &http.Server{Handler: http.NotFoundHandler(), ErrorLog: log.New(io.Discard, "", 0)}
		srv.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/sick" {
				w.WriteHeader(http.StatusServiceUnavailable)
			}
		})
		srv.SetKeepAlivesEnabled(false)
		srv.Serve(ln)
	})
}

// bannerTarget greets on TCP and hangs up.
func bannerTarget(t *testing.T, address, banner string) *target {
	return newTarget(t, address, func(ln net.Listener) {
		for {
			conn, err := ln.Accept()
			if err != nil {
				return
			}
			io.WriteString(conn, banner)
			conn.Close()
		}
	})
}

func newTarget(t *testing.T, address string, serve func(net.Listener)) *target {
	t.Helper()
	b := &target{t: t, address: address, serve: serve}
	b.up()
	t.Cleanup(b.down)
	return b
}

// up starts the target; after the first time on the port that it had.
func (b *target) up() {
	b.t.Helper()
	if b.ln != nil {
		return
	}
	waitFor(b.t, "the port of "+b.address, func() error {
		ln, err := net.Listen("tcp", b.address)
		if errors.Is(err, syscall.EADDRINUSE) {
			return err
		}
		if err != nil {
			b.t.Fatal(err)
		}
		b.ln, b.address = ln, ln.Addr().String()
		return nil
	})
	ended := make(chan struct{})
	b.ended = ended
	go func() { defer close(ended); b.serve(b.ln) }()
}

// down kills it: connections are refused from then on.
func (b *target) down() {
	if b.ln == nil {
		return
	}
	b.ln.Close()
	<-b.ended
	b.ln = nil
}
