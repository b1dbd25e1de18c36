package main

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"sync"
	"time"
)

// server is one demo web server, seen from the process that starts it.
type server struct{ name, addr string }

// start runs the server as a process of its own, so that stopping it is what
// it would be in earnest, and waits until it listens.
func (s server) start(ctx context.Context, running *sync.WaitGroup) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	cmd := child(ctx, self, "backend", s.name, s.addr)
	cmd.Stdout = nil
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("starting backend %s: %w", s.name, err)
	}
	lines := bufio.NewScanner(out)
	listens := lines.Scan()
	if listens {
		fmt.Println(lines.Text())
	}
	running.Go(func() {
		for lines.Scan() {
			fmt.Println(lines.Text())
		}
		_ = cmd.Wait() // however it ended, the next line says what matters
		if listens && ctx.Err() == nil {
			fmt.Printf("backend %s stopped; start it again: go run ./examples/quickstart backend %s %s\n", s.name, s.name, s.addr)
		}
	})
	if !listens {
		return fmt.Errorf("backend %s did not start", s.name)
	}
	return nil
}

// backend serves until it is killed.
func backend(name, addr string) error {
	listener, err := net.Listen("tcp", addr)
	if err != nil {
		return fmt.Errorf("backend %s: %w; stop what uses that port, or change target= in the zone file", name, err)
	}
	fmt.Printf("backend %s on http://%s: stop it with: kill %d\n", name, addr, os.Getpid())
	handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintf(w, "%s answers %s\n", name, r.URL.Path)
	})
	server := http.Server{Handler: handler, ReadHeaderTimeout: 5 * time.Second}
	return server.Serve(listener)
}
