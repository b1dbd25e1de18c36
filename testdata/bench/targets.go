package main

import (
	"bufio"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"
)

// loads are what `bench probes` measures, one process each.
func loads() []load {
	return []load{
		{"tcp", 10_000, time.Second, 20 * time.Second, true},
		{"http", 2_000, time.Second, 20 * time.Second, true},
		{"tcp", 100_000, time.Minute, time.Minute, false},
	}
}

// targets answers at every loopback address: a TCP connection is taken and
// closed, an HTTP request gets 200. It prints its port and serves until killed.
func targets(kind string) error {
	l, err := net.Listen("tcp4", ":0")
	if err != nil {
		return err
	}
	fmt.Println(l.Addr().(*net.TCPAddr).Port)
	if kind == "http" {
		return http.Serve(l, http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	}
	for {
		conn, err := l.Accept()
		if errors.Is(err, net.ErrClosed) {
			return err
		}
		if err == nil {
			conn.Close()
		}
	}
}

// measureProbes runs every load in a process of its own on the first core, its
// targets in another on the second.
func measureProbes() error {
	for i := range loads() {
		cmd, err := pinned("0", "probes", strconv.Itoa(i))
		if err != nil {
			return err
		}
		cmd.Env = append(os.Environ(), "GOMAXPROCS=1")
		cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
		if err := cmd.Run(); err != nil {
			return fmt.Errorf("probes: %w", err)
		}
	}
	return nil
}

// measureLoad is one of those processes.
func measureLoad(index string) error {
	i, err := strconv.Atoi(index)
	if err != nil || i < 0 || i >= len(loads()) {
		return fmt.Errorf("no load %q", index)
	}
	l := loads()[i]
	cmd, err := pinned("1", "targets", l.kind)
	if err != nil {
		return err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	stop := func() { _ = cmd.Process.Kill(); _ = cmd.Wait() } // it may have been stopped before
	defer stop()
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		return fmt.Errorf("targets: %w", err)
	}
	port, err := strconv.ParseUint(strings.TrimSpace(line), 10, 16)
	if err != nil {
		return err
	}
	return probes(l, uint16(port), stop)
}

// pinned is this program again, kept to one core where taskset is there.
func pinned(core string, args ...string) (*exec.Cmd, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	if taskset, err := exec.LookPath("taskset"); err == nil {
		return exec.Command(taskset, append([]string{"-c", core, self}, args...)...), nil
	}
	fmt.Println("taskset is not installed: measuring without keeping processes to cores")
	return exec.Command(self, args...), nil
}
