package main_test

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net/netip"
	"os"
	"regexp"
	"syscall"
	"testing"
	"time"
)

// TestLogReader: whoever reads standard error may stop reading, or end, and
// neither failover nor reload nor stop takes any harm.
func TestLogReader(t *testing.T) {
	for name, leave := range map[string]func(*os.File){
		"stuck": func(*os.File) {},
		"gone":  func(r *os.File) { r.Close() },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			first, second := webTarget(t, "127.0.0.67:0"), webTarget(t, "127.0.0.68:0")
			dir := site(t, quick+"log: { level: debug }\n", "www A 127.0.0.67 ; @primary check=web target="+first.address+
				"\nwww A 127.0.0.68 ; @secondary check=web target="+second.address)
			s, pipe := unread(t, dir)
			defer pipe.Close()
			leave(pipe)
			for range 60 { // each logs a line, more than the pipe holds
				ctx, cancel := context.WithTimeout(t.Context(), patience)
				if reply, err := s.client().Reload(ctx, false); err != nil || !reply.OK {
					t.Errorf("reload: %+v, %v", reply, err)
				}
				cancel()
			}
			first.down()
			s.expect("NOERROR 127.0.0.68", "www.gslb.example.com", "A")
			s.stop(syscall.SIGTERM)
		})
	}
}

// unread starts gslbd and reads of its log no more than the address, through a
// pipe as small as the kernel makes one.
func unread(t *testing.T, dir string) (*daemon, *os.File) {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	const setPipeSize = 1031 // F_SETPIPE_SZ of fcntl(2)
	if _, _, errno := syscall.Syscall(syscall.SYS_FCNTL, w.Fd(), setPipeSize, 4096); errno != 0 {
		t.Log("the pipe keeps its size:", errno)
	}
	s := &daemon{t: t, dir: dir, cmd: program(t, dir, "serve"), done: make(chan struct{})}
	s.cmd.Stderr = w
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	w.Close()
	go func() {
		defer close(s.done)
		s.cmd.Wait()
		s.code = s.cmd.ProcessState.ExitCode()
	}()
	t.Cleanup(func() { s.stop(syscall.SIGTERM) })
	r.SetReadDeadline(time.Now().Add(patience))
	log := bufio.NewReaderSize(r, 16)
	for s.addr == (netip.AddrPort{}) {
		line, err := log.ReadString('\n')
		if err != nil && !errors.Is(err, io.EOF) || line == "" {
			t.Fatalf("no address in the log: %v", err)
		}
		if found := regexp.MustCompile(`"event":"started".*"addresses":\["([^"]*)"`).FindStringSubmatch(line); found != nil {
			s.addr = netip.MustParseAddrPort(found[1])
		}
	}
	return s, r
}
