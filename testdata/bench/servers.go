package main

import (
	"bytes"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"syscall"
	"time"

	"github.com/miekg/dns"
)

// patience bounds one start, or reload; a load that takes longer is a failure.
const patience = 2 * time.Minute

func serveGslbd(dir, program, query string) (sample, error) {
	port, err := freePort()
	if err != nil {
		return sample{}, err
	}
	config := filepath.Join(dir, "gslbd.yaml")
	text := fmt.Sprintf("listen: [ \"127.0.0.1:%d\" ]\nzones: [ { name: big.test, file: big.zone } ]\n"+
		"admin: { socket: gslbd.sock }\n", port)
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		return sample{}, err
	}
	return untilAnswer(exec.Command(program, "serve", "-c", config), port, query)
}

func serveKnot(dir, program, query string) (sample, error) {
	port, err := freePort()
	if err != nil {
		return sample{}, err
	}
	state := filepath.Join(dir, "knot")
	if err := os.RemoveAll(state); err != nil {
		return sample{}, err
	}
	if err := os.Mkdir(state, 0o700); err != nil {
		return sample{}, err
	}
	config := filepath.Join(dir, "knot.conf")
	text := fmt.Sprintf(`server:
    listen: 127.0.0.1@%d
    rundir: "%s"
database:
    storage: "%s"
zone:
  - domain: big.test
    storage: "%s"
    file: big.zone
    zonefile-sync: -1
    journal-content: none
`, port, state, state, dir)
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		return sample{}, err
	}
	return untilAnswer(exec.Command(program, "-c", config), port, query)
}

// untilAnswer starts a server, asks until the answer is right, reads the peak
// memory, and stops the server.
func untilAnswer(cmd *exec.Cmd, port int, query string) (s sample, err error) {
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &said
	start := time.Now()
	if err := cmd.Start(); err != nil {
		return s, err
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	defer func() {
		_ = cmd.Process.Signal(syscall.SIGTERM) // it may have ended
		<-ended
	}()
	server := net.JoinHostPort("127.0.0.1", strconv.Itoa(port))
	question := new(dns.Msg).SetQuestion(query, dns.TypeAAAA)
	client := dns.Client{Timeout: 100 * time.Millisecond}
	for time.Since(start) < patience {
		select {
		case err := <-ended:
			ended <- nil
			return s, fmt.Errorf("ended before it answered: %w\n%s", err, said.String())
		case <-time.After(5 * time.Millisecond):
		}
		reply, _, err := client.Exchange(question, server)
		if err != nil || reply.Rcode != dns.RcodeSuccess || len(reply.Answer) != 1 {
			continue
		}
		s.seconds = time.Since(start).Seconds()
		s.megabytes, err = peak(cmd.Process.Pid)
		return s, err
	}
	return s, fmt.Errorf("no answer within %s", patience)
}

// peak reads the highest resident memory that a process had, in MiB.
func peak(pid int) (float64, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, err
	}
	m := regexp.MustCompile(`VmHWM:\s+(\d+) kB`).FindSubmatch(text)
	if m == nil {
		return 0, fmt.Errorf("no VmHWM of process %d", pid)
	}
	kilobytes, err := strconv.ParseFloat(string(m[1]), 64)
	return kilobytes / 1024, err
}

// freePort gives a port that neither TCP nor UDP uses on 127.0.0.1.
func freePort() (port int, err error) {
	for range 20 {
		tcp, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return 0, err
		}
		defer tcp.Close() // after the loop: not to be given the same one again
		port = tcp.Addr().(*net.TCPAddr).Port
		udp, err := net.ListenUDP("udp", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1), Port: port})
		if err == nil {
			return port, udp.Close()
		}
	}
	return 0, errors.New("no port is free for both TCP and UDP")
}
