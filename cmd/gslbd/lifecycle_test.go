package main_test

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestStopAndStart: a stop leaves nothing behind, within its time even when a
// client holds a connection and a probe hangs, and a start afterwards answers.
func TestStopAndStart(t *testing.T) {
	t.Parallel()
	port := freePort(t)
	silent := newTarget(t, "127.0.0.60:0", func(ln net.Listener) {
		var held []net.Conn
		for {
			conn, err := ln.Accept()
			if err != nil {
				for _, c := range held {
					c.Close()
				}
				return
			}
			held = append(held, conn)
		}
	})
	dir := site(t, fmt.Sprintf("listen: [ \"127.0.0.1:%d\" ]\nchecks: { slow: { type: http, timeout: 1m } }", port),
		"www A 127.0.0.60 ; @primary check=slow target="+silent.address)
	for _, sig := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT, syscall.SIGTERM} {
		s := serve(t, dir)
		if got := s.dig("www.gslb.example.com", "A").String(); got != "NOERROR 127.0.0.60" {
			t.Errorf("before any result: got %s", got)
		}
		if status := s.status(""); status.Ready {
			t.Error("ready before the first round was over")
		}
		conn, err := net.Dial("tcp", s.addr.String())
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		s.stop(sig)
		if _, err := os.Lstat(filepath.Join(dir, "gslbd.sock")); err == nil {
			t.Error("the socket is still there")
		}
		if !strings.Contains(s.log.String(), `"event":"stopped"`) {
			t.Errorf("no word of the stop:\n%s", s.log.String())
		}
	}
}

// TestReadiness: not ready until the first round of every probe is over.
func TestReadiness(t *testing.T) {
	t.Parallel()
	s := serve(t, site(t, quick, "www A 127.0.0.61 ; @primary check=web target="+webTarget(t, "127.0.0.61:0").address))
	waitFor(t, "readiness", func() error {
		if !s.status("").Ready {
			return fmt.Errorf("not ready")
		}
		return nil
	})
	if got := run(t, s.dir, "status").stdout; !strings.Contains(got, ", ready: 1 group (1 healthy) in 1 zone") {
		t.Errorf("got %s", got)
	}
}

// TestKilled: what a killed server leaves behind does not hinder the next one.
func TestKilled(t *testing.T) {
	t.Parallel()
	dir := site(t, quick, "www A 127.0.0.62")
	s := serve(t, dir)
	s.cmd.Process.Kill()
	<-s.done
	if _, err := os.Lstat(filepath.Join(dir, "gslbd.sock")); err != nil {
		t.Errorf("the stale socket: %v", err)
	}
	got := run(t, dir, "status")
	if got.code != 1 || !strings.Contains(got.stderr, "no gslbd answers on gslbd.sock: connection refused\n  hint: start it with gslbd serve") {
		t.Errorf("status without server: %d %s", got.code, got.stderr)
	}
	if got := serve(t, dir).dig("www.gslb.example.com", "A").String(); got != "NOERROR 127.0.0.62" {
		t.Errorf("got %s", got)
	}
}

// TestTwice: a second server in one place does not start, and the first one
// does not notice.
func TestTwice(t *testing.T) {
	t.Parallel()
	dir := site(t, quick, "www A 127.0.0.63")
	s := serve(t, dir)
	got := run(t, dir, "serve")
	want := "gslbd: admin socket gslbd.sock: another gslbd runs on it\n  hint: stop that one, or set admin.socket to another path\n"
	if got.code != 1 || !strings.HasSuffix(got.stderr, want) {
		t.Errorf("got %d %s\nwant %s", got.code, got.stderr, want)
	}
	if s.status("").Node == "" {
		t.Error("the first one is out of order")
	}
}

// TestPortInUse: over UDP, over TCP, and by another gslbd; nothing is left
// half-started.
func TestPortInUse(t *testing.T) {
	t.Parallel()
	udp, err := net.ListenPacket("udp", fmt.Sprintf("127.0.0.1:%d", freePort(t)))
	if err != nil {
		t.Fatal(err)
	}
	defer udp.Close()
	tcp, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", freePort(t)))
	if err != nil {
		t.Fatal(err)
	}
	defer tcp.Close()
	other := serve(t, site(t, quick, "www A 127.0.0.64"))
	for transport, addr := range map[string]string{"udp": udp.LocalAddr().String(), "tcp": tcp.Addr().String(), "": other.addr.String()} {
		free := freePort(t)
		dir := site(t, fmt.Sprintf("listen: [ \"127.0.0.1:%d\", %q ]", free, addr), "www A 127.0.0.64")
		got := run(t, dir, "serve")
		want := fmt.Sprintf("%q: address already in use\n  hint: ", addr)
		if got.code != 1 || !strings.Contains(got.stderr, "gslbd.yaml:1: listen "+transport) || !strings.Contains(got.stderr, want) {
			t.Errorf("%s: got %d %s\nwant %s", transport, got.code, got.stderr, want)
		}
		nothingLeft(t, dir, fmt.Sprintf("127.0.0.1:%d", free))
	}
	if got := other.dig("www.gslb.example.com", "A").String(); got != "NOERROR 127.0.0.64" {
		t.Errorf("the other one gives %s", got)
	}
}

// nothingLeft checks that a failed start left no socket and no bound port.
func nothingLeft(t *testing.T, dir, addr string) {
	t.Helper()
	if _, err := os.Lstat(filepath.Join(dir, "gslbd.sock")); err == nil {
		t.Error("a socket was left behind")
	}
	ln, err := net.Listen("tcp", addr)
	if err != nil {
		t.Errorf("a port was left bound: %v", err)
		return
	}
	ln.Close()
	conn, err := net.ListenPacket("udp", addr)
	if err != nil {
		t.Errorf("a port was left bound: %v", err)
		return
	}
	conn.Close()
}

// TestLogGone: standard error may be full; serving goes on.
func TestLogGone(t *testing.T) {
	t.Parallel()
	dir := site(t, quick, "www A 127.0.0.65 ; @primary check=web target=127.0.0.65:1\nwww A 127.0.0.66 ; @secondary check=none")
	port := freePort(t)
	write(t, filepath.Join(dir, "gslbd.yaml"), strings.Replace(read(t, filepath.Join(dir, "gslbd.yaml")), "127.0.0.1:0", fmt.Sprintf("127.0.0.1:%d", port), 1))
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer full.Close()
	cmd := program(t, dir, "serve")
	cmd.Stderr = full
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	waitFor(t, "an answer", func() error {
		out, err := exec.Command(needs(t, "dig"), "+short", "+tries=1", "+time=1", "@127.0.0.1", "-p", fmt.Sprint(port), "www.gslb.example.com").Output()
		if err == nil && string(out) != "127.0.0.66\n" {
			err = fmt.Errorf("got %s", out)
		}
		return err
	})
	cmd.Process.Signal(syscall.SIGTERM)
	timer := time.AfterFunc(5*time.Second, func() { cmd.Process.Kill() })
	defer timer.Stop()
	if err := cmd.Wait(); err != nil {
		t.Errorf("ended with %v", err)
	}
}

func read(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
