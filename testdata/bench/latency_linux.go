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
	measureFor = 3 * time.Second // one condition in one turn; a reload takes what it takes
	settling   = 3 * time.Second // after a start
	flipGroups = 200
	flipEvery  = 200 * time.Millisecond // all groups flip: 1000 flips a second
)

// latencies measures one way of keeping gslbd to cores.
type latencies struct {
	dir, gslbd, echo string // the folder and the programs
	core             int    // -1: both
	set              *querySet
	load, rate       float64
	turns            int
	part             string // reload, flips, or both when empty
}

// latency measures throughput, and how long answers take at half of it.
func latency(args []string) error {
	flags := flag.NewFlagSet("latency", flag.ExitOnError)
	turns := flags.Int("turns", 5, "how often each is measured")
	load := flags.Float64("load", .5, "share of the greatest rate at which latency is measured")
	rate := flags.Float64("rate", 0, "queries per second instead of a share")
	workers := flags.Int("workers", 0, "1 or 2; 0 = first one, then two")
	part := flags.String("part", "", "reload, flips or quiet; empty = the first two")
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
	for i, core := range []int{serverCore, -1} {
		if *workers != 0 && *workers != i+1 {
			continue
		}
		l := &latencies{dir: dir, gslbd: gslbd, echo: echo, core: core, set: sets[1], load: *load, rate: *rate, turns: *turns, part: *part}
		if err := l.measure(); err != nil {
			return err
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

// measure measures the rate, and then latencies, quiet and disturbed in turn. What the echo server does meanwhile on the same core is what
// the machine and the kernel leave to anybody.
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
	if l.part == "quiet" {
		return l.beside(echo, "gslbd", "the same again", nil, l.nothing)
	}
	if l.part != "flips" {
		r := &reloader{l: l}
		if err := l.beside(echo, "gslbd-reload", "reload", [][2]string{{"big-0.zone", "big.zone"}}, r.reload); err != nil {
			return err
		}
	}
	if l.part == "reload" {
		return nil
	}
	f := &flipper{l: l}
	return l.beside(echo, "gslbd-flips", "1000 flips/s", [][2]string{{"flip.zone", "flip.zone"}, {"states-0", "states"}}, f.flip)
}

// beside starts a server with some files, finds the rate if that is not known yet, and measures it and the echo server in turn, each
// first quiet and then while what disturbs d.
func (l *latencies) beside(echo *daemon, server, title string, files [][2]string, what func(d *daemon, loop *openLoop) error) error {
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
	time.Sleep(settling)
	var rows [2]contrast
	for range l.turns {
		for i, asked := range []*daemon{d, echo} {
			if err := l.turn(d, asked, &rows[i], what); err != nil {
				return err
			}
		}
	}
	rows[0].print("gslbd", title)
	rows[1].print("echo", title)
	return nil
}

// turn measures asked once while all is quiet, and once while what disturbs d.
func (l *latencies) turn(d, asked *daemon, row *contrast, what func(d *daemon, loop *openLoop) error) error {
	loop, err := newOpenLoop(asked, l.set)
	if err != nil {
		return err
	}
	defer loop.close()
	loop.recorded = true
	if err := loop.run(measureFor, l.rate, func(time.Time) bool { return false }); err != nil {
		return err
	}
	row.quiet.add(loop)
	loop.recorded = false
	if err := what(d, loop); err != nil {
		return err
	}
	row.disturbed.add(loop)
	return nil
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

// nothing is no disturbance: it says what chance does to the figures.
func (l *latencies) nothing(_ *daemon, loop *openLoop) error {
	loop.recorded = true
	return loop.run(measureFor, l.rate, func(time.Time) bool { return false })
}

// reloader reloads the large zone of a server.
type reloader struct {
	l    *latencies
	done uint32
}

// reload keeps the latencies from the signal until the new serial is served, while the loop runs.
func (r *reloader) reload(d *daemon, loop *openLoop) error {
	probe, err := newSerialProbe(d.port)
	if err != nil {
		return err
	}
	defer probe.close()
	failed := r.l.put("gslbd-reload", fmt.Sprintf("big-%d.zone", (r.done+1)%2), "big.zone")
	if failed != nil {
		return failed
	}
	if err := d.cmd.Process.Signal(syscall.SIGHUP); err != nil {
		return err
	}
	loop.recorded = true
	r.done++
	served := false
	if err := loop.run(patience, r.l.rate, func(now time.Time) bool {
		served = probe.serial(now) == r.done%2+1
		return served
	}); err != nil {
		return err
	}
	if !served {
		return fmt.Errorf("no new serial after %v", patience)
	}
	loop.recorded = false
	return loop.run(time.Second, r.l.rate, func(time.Time) bool { return false }) // what the reload left is put in order
}

// flipper changes the states of all groups.
type flipper struct {
	l     *latencies
	flips int
}

// flip lets the health engine of d flip groups while the loop runs.
func (f *flipper) flip(d *daemon, loop *openLoop) error {
	var failed error
	next := time.Now().Add(flipEvery)
	each := func(now time.Time) bool {
		if now.After(next) {
			f.flips++
			failed = f.l.put("gslbd-flips", fmt.Sprintf("states-%d", f.flips%2), "states")
			next = next.Add(flipEvery)
		}
		return failed != nil
	}
	if err := loop.run(measureFor/3, f.l.rate, each); err != nil {
		return err
	}
	before, err := changes(d)
	if err != nil {
		return err
	}
	loop.recorded = true
	if err := loop.run(measureFor, f.l.rate, each); err != nil || failed != nil {
		return fmt.Errorf("flips: %v %w", failed, err)
	}
	loop.recorded = false
	if err := loop.run(time.Second, f.l.rate, func(time.Time) bool { return false }); err != nil { // the last ones
		return err
	}
	after, err := changes(d)
	if rate := float64(after-before) / measureFor.Seconds(); rate < 900 {
		return fmt.Errorf("%.0f flips/s only", rate)
	}
	return err
}

// changes counts the changed answers in the log.
func changes(d *daemon) (int, error) {
	text, err := os.ReadFile(d.log)
	return bytes.Count(text, []byte(`"event":"answer changed"`)), err
}
