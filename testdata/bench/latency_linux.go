package main

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"syscall"
	"time"
)

const (
	quietFor   = 5 * time.Second
	reloads    = 2 // an even number: the next begins with the first file again
	flipGroups = 200
	flipEvery  = 200 * time.Millisecond // all groups flip: 1000 flips a second
)

// latencies measures one way of keeping gslbd to cores.
type latencies struct {
	dir, gslbd, echo string // the folder and the programs
	core             int    // -1: both
	set              *querySet
	load, rate       float64
}

// latency measures throughput, and how long answers take at half of it.
func latency(args []string) error {
	flags := flag.NewFlagSet("latency", flag.ExitOnError)
	rounds := flags.Int("rounds", 3, "how often each is measured")
	load := flags.Float64("load", .5, "share of the greatest rate at which latency is measured")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if runtime.NumCPU() < 2 {
		return fmt.Errorf("latency needs two cores")
	}
	dir, err := os.MkdirTemp("", "gslbd-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	gslbd, err := build(dir)
	if err != nil {
		return err
	}
	sets, err := querySets()
	if err != nil {
		return err
	}
	if err := writeInputs(dir); err != nil {
		return err
	}
	echo, err := buildEcho(dir)
	if err != nil {
		return err
	}
	if err := pin(loadCore); err != nil {
		return err
	}
	debug.SetGCPercent(-1) // no pauses of the generator's own
	one := &latencies{dir: dir, gslbd: gslbd, echo: echo, core: serverCore, set: sets[1], load: *load}
	both := &latencies{dir: dir, gslbd: gslbd, echo: echo, core: -1, set: sets[1], load: *load}
	for range *rounds {
		for _, l := range []*latencies{one, both} {
			if err := l.measure(); err != nil {
				return err
			}
		}
	}
	return nil
}

// writeInputs makes the zones, and the files of states.
func writeInputs(dir string) error {
	if err := writePacketZone(filepath.Join(dir, "bench.zone")); err != nil {
		return err
	}
	big := filepath.Join(dir, "big-0.zone")
	if err := writeZone(big, 500_000); err != nil {
		return err
	}
	text, err := os.ReadFile(big)
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, "big-1.zone"), bytes.Replace(text, []byte("host 1 "), []byte("host 2 "), 1), 0o600); err != nil {
		return err
	}
	zone := "$ORIGIN flip.test.\n$TTL 60\n@ IN SOA ns1 host 1 3600 600 86400 60\n@ IN NS ns1\nns1 IN A 127.0.0.1\n"
	states := [2]string{}
	for i := range flipGroups {
		zone += fmt.Sprintf("f%d IN A 192.0.2.%d ; @primary check=states target=127.1.0.%d\nf%d IN A 198.51.100.1 ; @secondary check=none\n", i, i, i, i)
		states[0] += fmt.Sprintf("127.1.0.%d up\n", i)
		states[1] += fmt.Sprintf("127.1.0.%d down\n", i)
	}
	if err := os.WriteFile(filepath.Join(dir, "flip.zone"), []byte(zone), 0o600); err != nil {
		return err
	}
	for i, s := range states {
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("states-%d", i)), []byte(s), 0o600); err != nil {
			return err
		}
	}
	return nil
}

// put puts a file into a server's folder under another name, at once.
func (l *latencies) put(server, name, as string) error {
	folder := filepath.Join(l.dir, server)
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return err
	}
	next := filepath.Join(folder, "next")
	_ = os.Remove(next) // there when it was the same file before
	if err := os.Link(filepath.Join(l.dir, name), next); err != nil {
		return err
	}
	return os.Rename(next, filepath.Join(folder, as))
}

func (l *latencies) start(name string) (*daemon, error) {
	r := ours(l.gslbd)
	r.name = name
	return r.start(l.dir, l.core, zoneName, filepath.Join(l.dir, "bench.zone"))
}

// measure is one round: throughput and quiet, reloads, then flips in a server of its own. What the echo server does meanwhile on the same
// core is what the machine and the kernel leave to anybody.
func (l *latencies) measure() error {
	if l.core < 0 {
		fmt.Println("\n2 workers, on both cores; the generator has the second core, too")
	} else {
		fmt.Println("\n1 worker on the first core, generator on the second")
	}
	echo, err := rival{name: plainFloor, program: l.echo, args: []string{"{port}"}}.start(l.dir, l.core, zoneName, "")
	if err != nil {
		return err
	}
	defer echo.stop()
	if err := l.beside(echo, "gslbd-reload", [][2]string{{"big-0.zone", "big.zone"}}, l.reload); err != nil {
		return err
	}
	return l.beside(echo, "gslbd-flips", [][2]string{{"flip.zone", "flip.zone"}, {"states-0", "states"}}, l.flips)
}

// beside starts a server with some files, finds the rate if that is not known yet, and measures it and the echo server, first quiet and
// then while what is disturbs.
func (l *latencies) beside(echo *daemon, server string, files [][2]string, what func(d *daemon, loop *openLoop, title string) error) error {
	for _, f := range files {
		if err := l.put(server, f[0], f[1]); err != nil {
			return err
		}
	}
	d, err := l.start(server)
	if err != nil {
		return err
	}
	defer d.stop()
	if l.rate == 0 {
		if err := l.saturate(d); err != nil {
			return err
		}
	}
	for _, asked := range []*daemon{d, echo} {
		loop, err := l.quiet(asked, asked.name+", quiet")
		if err != nil {
			return err
		}
		err = what(d, loop, asked.name)
		loop.close()
		if err != nil {
			return err
		}
	}
	return nil
}

// quiet measures while nothing else goes on; the caller closes the loop.
func (l *latencies) quiet(d *daemon, title string) (*openLoop, error) {
	loop, err := newOpenLoop(d, l.set)
	if err != nil {
		return nil, err
	}
	loop.recorded = true
	if err := loop.run(quietFor, l.rate, func(time.Time) bool { return false }); err != nil {
		loop.close()
		return nil, err
	}
	loop.print(title)
	return loop, nil
}

// saturate finds the rate, and sets the share of it.
func (l *latencies) saturate(d *daemon) error {
	g, err := newGenerator(d.port, 8)
	if err != nil {
		return err
	}
	defer g.close()
	pids, err := d.processes()
	if err != nil {
		return err
	}
	if _, err := g.ask(l.set, setSize, right(l.set, false)); err != nil {
		return err
	}
	before, err := settled(pids)
	if err != nil {
		return err
	}
	o, err := g.ask(l.set, 20*setSize, right(l.set, false))
	if err != nil {
		return err
	}
	after, err := settled(pids)
	if err != nil {
		return err
	}
	rate := float64(o.answers) / o.took.Seconds()
	l.rate = rate * l.load
	fmt.Printf("  saturated: %.0f answers/s, %.2f cores, %d ns of CPU time an answer, %d lost, %d wrong\n", rate,
		(after-before).Seconds()/o.took.Seconds(), (after-before).Nanoseconds()/int64(o.answers), o.lost, o.wrong)
	return nil
}

// reload loads the large zone again and again, and keeps the latencies from each signal until the new serial is served.
func (l *latencies) reload(d *daemon, loop *openLoop, title string) error {
	probe, err := newSerialProbe(d.port)
	if err != nil {
		return err
	}
	defer probe.close()
	var failed error
	var began time.Time
	var took time.Duration
	idleUntil, done := time.Now(), 0
	loop.recorded = false
	err = loop.run(patience, l.rate, func(now time.Time) bool {
		switch {
		case !loop.recorded && now.After(idleUntil):
			failed = l.put("gslbd-reload", fmt.Sprintf("big-%d.zone", (done+1)%2), "big.zone")
			loop.resume() // a file system may take its time
			_ = d.cmd.Process.Signal(syscall.SIGHUP)
			loop.recorded, began = true, now
		case loop.recorded && probe.serial(now) == uint32((done+1)%2+1):
			loop.recorded, took, idleUntil = false, took+now.Sub(began), now.Add(time.Second)
			done++
		}
		return failed != nil || done == reloads
	})
	if err != nil || failed != nil {
		return fmt.Errorf("reload: %v %w", failed, err)
	}
	loop.print(fmt.Sprintf("%s, %d reloads of %.1f s", title, done, took.Seconds()/reloads))
	return nil
}

// flips lets the health engine of d flip groups while the loop runs.
func (l *latencies) flips(d *daemon, loop *openLoop, title string) error {
	loop.recorded = false
	var failed error
	next, flip := time.Now().Add(flipEvery), 0
	each := func(now time.Time) bool {
		if now.After(next) {
			flip++
			failed = l.put("gslbd-flips", fmt.Sprintf("states-%d", flip%2), "states")
			loop.resume()
			next = next.Add(flipEvery)
		}
		return failed != nil
	}
	if err := loop.run(time.Second, l.rate, each); err != nil {
		return err
	}
	loop.recorded = true
	before, err := os.ReadFile(d.log)
	if err != nil {
		return err
	}
	if err := loop.run(quietFor, l.rate, each); err != nil || failed != nil {
		return fmt.Errorf("flips: %v %w", failed, err)
	}
	after, err := os.ReadFile(d.log)
	if err != nil {
		return err
	}
	count := bytes.Count(after[len(before):], []byte(`"event":"answer changed"`))
	loop.print(fmt.Sprintf("%s, %.0f flips/s", title, float64(count)/quietFor.Seconds()))
	return nil
}

func (l *openLoop) print(what string) {
	p, n := l.percentiles()
	fmt.Printf("  %-40s p50 %6.0f µs, p99 %6.0f µs, p99.9 %6.0f µs, longest %7.0f µs (%d answers, %d lost, %d wrong; server %.2f cores)\n", what,
		micros(p[0]), micros(p[1]), micros(p[2]), micros(p[3]), n, l.lost, l.wrong, l.busy)
	l.lost, l.wrong = 0, 0
}

func micros(d time.Duration) float64 { return float64(d.Nanoseconds()) / 1000 }
