package main

import (
	"encoding/binary"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"
)

const plainFloor, sizedFloor = "echo", "echo of the answer's size"

// warmUp is the number of queries before each measurement.
const warmUp = 2048

// contest is one measurement of several servers.
type contest struct {
	queries int
	rounds  int
	sets    []*querySet
	lengths [2][]int // of gslbd's answers to each kind, without and with EDNS
	daemons []*daemon
}

// packets measures the CPU time of an answer.
func packets(args []string) error {
	flags := flag.NewFlagSet("packets", flag.ExitOnError)
	c := &contest{}
	flags.IntVar(&c.rounds, "rounds", 15, "how often each is measured")
	flags.IntVar(&c.queries, "queries", setSize, "how many queries a measurement has")
	servers := flags.String("servers", "", "only these beside gslbd and the floor, by comma (default all)")
	only := flags.String("sets", "", "only these sets of queries, by comma (default all)")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if runtime.NumCPU() < 2 {
		return fmt.Errorf("packets needs two cores")
	}
	dir, err := os.MkdirTemp("", "gslbd-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if err := c.choose(*only); err != nil {
		return err
	}
	defer func() {
		for _, d := range c.daemons {
			d.stop()
		}
	}()
	if err := c.startAll(dir, *servers); err != nil {
		return err
	}
	if err := pin(loadCore); err != nil {
		return err
	}
	if err := c.learn(); err != nil {
		return err
	}
	fmt.Printf("%d CPUs, %s, %d rounds of %d queries\n", runtime.NumCPU(), runtime.Version(), c.rounds, c.queries)
	for _, s := range c.sets {
		if err := c.measure(s); err != nil {
			return fmt.Errorf("%s: %w", s.name, err)
		}
	}
	return nil
}

func (c *contest) choose(only string) error {
	all, err := querySets()
	if err != nil {
		return err
	}
	for _, s := range all {
		if only == "" || slices.Contains(strings.Split(only, ","), s.name) {
			c.sets = append(c.sets, s)
		}
	}
	if len(c.sets) == 0 {
		return fmt.Errorf("no set of queries is called %q", only)
	}
	return nil
}

// startAll starts gslbd, the floor, and every other server that is installed.
func (c *contest) startAll(dir, only string) error {
	zone := filepath.Join(dir, "bench.zone")
	if err := writePacketZone(zone); err != nil {
		return err
	}
	gslbd, err := build(dir)
	if err != nil {
		return err
	}
	echo, err := buildEcho(dir)
	if err != nil {
		return err
	}
	for _, r := range append([]rival{ours(gslbd), {name: plainFloor, program: echo, args: []string{"{port}"}}}, rivals()...) {
		if r.debian != "" {
			if only != "" && !slices.Contains(strings.Split(only, ","), r.name) {
				continue
			}
			if _, err := exec.LookPath(r.program); err != nil {
				fmt.Printf("%s is not installed (Debian: %s), and left out\n", r.name, r.debian)
				continue
			}
		}
		d, err := r.start(dir, serverCore, zoneName, zone)
		if err != nil {
			return err
		}
		c.daemons = append(c.daemons, d)
	}
	return nil
}

// buildEcho makes the floor.
func buildEcho(dir string) (string, error) {
	echo := filepath.Join(dir, "bin-echo")
	if out, err := exec.Command("cc", "-O2", "-o", echo, "testdata/bench/servers/echo/echo.c").CombinedOutput(); err != nil {
		return "", fmt.Errorf("building the floor: %w\n%s", err, out)
	}
	return echo, nil
}

// learn asks gslbd how long the answers to each kind are.
func (c *contest) learn() error {
	sets, err := querySets()
	if err != nil {
		return err
	}
	c.lengths = [2][]int{make([]int, len(kinds())), make([]int, len(kinds()))}
	g, err := newGenerator(c.daemons[0].port, flows)
	if err != nil {
		return err
	}
	defer g.close()
	for i, s := range sets[2:] { // the first two are mixed
		if _, err := g.ask(s, block, func(_ int, reply []byte) bool { c.lengths[i%2][i/2] = len(reply); return true }); err != nil {
			return err
		}
	}
	return nil
}

// right reports whether a reply is what it must be.
func right(s *querySet, oneLink bool) func(int, []byte) bool {
	all := kinds()
	for i := range all {
		if all[i].letter == 'c' && oneLink {
			all[i].answers = 1
		}
	}
	return func(i int, reply []byte) bool {
		k := all[s.kind[i]]
		return reply[3]&15 == k.rcode && binary.BigEndian.Uint16(reply[6:]) == k.answers
	}
}

// measure runs the rounds of one set, and prints its table.
func (c *contest) measure(s *querySet) error {
	lengths := c.lengths[0]
	if strings.HasSuffix(s.name, "+edns") {
		lengths = c.lengths[1]
	}
	sized := s.sized(lengths)
	var rows []*row
	for _, d := range c.daemons {
		r := &row{name: d.name, daemon: d, set: s, check: right(s, d.oneLink)}
		if d.name == plainFloor {
			r.check = func(int, []byte) bool { return true }
			rows = append(rows, &row{name: sizedFloor, daemon: d, set: sized, check: func(i int, reply []byte) bool {
				return len(reply) == max(s.size, lengths[s.kind[i]])
			}})
		}
		rows = append(rows, r)
	}
	for _, r := range rows { // first every query once, for the sake of caches
		if err := r.measure(setSize); err != nil {
			return err
		}
		r.forget()
	}
	for round := range c.rounds {
		for i := range rows {
			if err := rows[(i+round)%len(rows)].measure(c.queries); err != nil {
				return err
			}
		}
	}
	total := 0
	for _, k := range s.kind {
		total += lengths[k]
	}
	printRows(s, float64(total)/setSize, rows)
	return nil
}

// measure is one measurement of one server.
func (r *row) measure(queries int) error {
	g, err := newGenerator(r.daemon.port, flows)
	if err != nil {
		return err
	}
	defer g.close()
	pids, err := r.daemon.processes()
	if err != nil {
		return err
	}
	if _, err := g.ask(r.set, warmUp, r.check); err != nil {
		return err
	}
	before, err := settled(pids)
	if err != nil {
		return err
	}
	o, err := g.ask(r.set, queries, r.check)
	if err != nil {
		return err
	}
	after, err := settled(pids)
	if err != nil {
		return err
	}
	if o.answers == 0 {
		return fmt.Errorf("%s gave no answer", r.name)
	}
	used := after - before
	r.nanoseconds = append(r.nanoseconds, float64(used.Nanoseconds())/float64(o.answers))
	r.busy = append(r.busy, 100*used.Seconds()/o.took.Seconds())
	r.lost, r.wrong = r.lost+o.lost, r.wrong+o.wrong
	return nil
}

// settled reads the time spent when the servers sleep, since a thread's time is added up when it leaves its core.
func settled(pids []int) (time.Duration, error) {
	time.Sleep(3 * time.Millisecond)
	return spent(pids)
}
