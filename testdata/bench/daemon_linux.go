package main

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/miekg/dns"
	"golang.org/x/sys/unix"
)

// serverCore and loadCore are where the server and the generator run.
const serverCore, loadCore = 0, 1

// pin keeps the calling thread to one core, and with it every process that it starts.
func pin(core int) error {
	runtime.LockOSThread()
	var set unix.CPUSet
	set.Set(core)
	return unix.SchedSetaffinity(0, &set)
}

// daemon is a server that was started.
type daemon struct {
	rival
	port  int
	cmd   *exec.Cmd
	log   string // the file of what it says
	ended chan struct{}
}

// start runs a server in a folder of its own, kept to a core (-1: to none), and waits until it answers for the zone.
func (r rival) start(dir string, core int, zone, file string, env ...string) (*daemon, error) {
	port, err := freePort()
	if err != nil {
		return nil, err
	}
	dir = filepath.Join(dir, r.name)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	args, err := r.configure(dir, port, strings.TrimSuffix(zone, "."), file)
	if err != nil {
		return nil, err
	}
	d := &daemon{rival: r, port: port, cmd: exec.Command(r.program, args...), ended: make(chan struct{}), log: filepath.Join(dir, "log")}
	d.cmd.Env = append(os.Environ(), env...)
	log, err := os.Create(d.log)
	if err != nil {
		return nil, err
	}
	defer log.Close()
	d.cmd.Stdout, d.cmd.Stderr = log, log
	if err := d.run(core); err != nil {
		return nil, err
	}
	if err := d.await(zone); err != nil {
		d.stop()
		return nil, err
	}
	return d, nil
}

// run starts the process from a thread that is kept to the core.
func (d *daemon) run(core int) error {
	failed := make(chan error)
	go func() {
		if core >= 0 {
			if err := pin(core); err != nil { // the thread ends with this goroutine
				failed <- err
				return
			}
		}
		failed <- d.cmd.Start()
	}()
	if err := <-failed; err != nil {
		return fmt.Errorf("starting %s: %w", d.name, err)
	}
	go func() {
		_ = d.cmd.Wait() // how it ended is told by what it said
		close(d.ended)
	}()
	return nil
}

// await asks for the zone's SOA until it is there. The floor answers anything.
func (d *daemon) await(zone string) error {
	question := new(dns.Msg).SetQuestion(zone, dns.TypeSOA)
	client := dns.Client{Timeout: 200 * time.Millisecond}
	for end := time.Now().Add(patience); time.Now().Before(end); {
		select {
		case <-d.ended:
			said, err := os.ReadFile(d.log)
			return errors.Join(fmt.Errorf("%s ended before it answered:\n%s", d.name, said), err)
		case <-time.After(20 * time.Millisecond):
		}
		reply, _, err := client.Exchange(question, net.JoinHostPort("127.0.0.1", strconv.Itoa(d.port)))
		if err == nil && reply.Rcode == dns.RcodeSuccess {
			return nil
		}
	}
	return fmt.Errorf("%s: no answer within %s", d.name, patience)
}

// stop ends the process, at the latest after 10 s.
func (d *daemon) stop() {
	_ = d.cmd.Process.Signal(syscall.SIGTERM) // it may have ended
	select {
	case <-d.ended:
	case <-time.After(10 * time.Second):
		_ = d.cmd.Process.Kill()
		<-d.ended
	}
}

// processes are the daemon and all that it started.
func (d *daemon) processes() ([]int, error) {
	parents := map[int]int{}
	all, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		return nil, err
	}
	for _, name := range all {
		text, err := os.ReadFile(name)
		if err != nil {
			continue // ended meanwhile
		}
		var parent int
		var state string
		_, rest, _ := strings.Cut(string(text), ") ")
		if _, err := fmt.Sscan(rest, &state, &parent); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(name)))
		if err != nil {
			return nil, err
		}
		parents[pid] = parent
	}
	var ours []int
	for pid := range parents {
		for p := pid; p > 1; p = parents[p] {
			if p == d.cmd.Process.Pid {
				ours = append(ours, pid)
				break
			}
		}
	}
	if ours == nil {
		return nil, errors.New(d.name + " is gone")
	}
	return ours, nil
}

// spent is the time that the threads of the processes ran, by the scheduler's own clock.
func spent(pids []int) (total time.Duration, err error) {
	for _, pid := range pids {
		files, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/schedstat", pid))
		if err != nil {
			return 0, err
		}
		for _, name := range files {
			text, err := os.ReadFile(name)
			if err != nil {
				continue // a thread that ended
			}
			var ran int64
			if _, err := fmt.Sscan(string(text), &ran); err != nil {
				return 0, fmt.Errorf("%s: %w", name, err)
			}
			total += time.Duration(ran)
		}
	}
	return total, nil
}
