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
	"strconv"
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
	starts  int // of the servers, which share the rounds
	tables  []*table
	lengths [2][]int // of gslbd's answers to each kind, without and with EDNS
	rivals  []rival
	daemons []*daemon // of rivals, while they run
}

// table is what one set of queries gives.
type table struct {
	set  *querySet
	rows []*row
}

// packets measures the CPU time of an answer.
func packets(args []string) error {
	flags := flag.NewFlagSet("packets", flag.ExitOnError)
	c := &contest{}
	flags.IntVar(&c.rounds, "rounds", 15, "how often each is measured")
	flags.IntVar(&c.starts, "starts", 3, "how often the servers are started for that")
	flags.IntVar(&c.queries, "queries", setSize, "how many queries a measurement has")
	servers := flags.String("servers", "", "only these beside gslbd and the floor, by comma (default all)")
	only := flags.String("sets", "", "only these sets of queries, by comma (default all)")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if runtime.NumCPU() < 2 {
		return fmt.Errorf("packets needs two cores")
	}
	if c.starts < 1 || c.rounds < c.starts {
		return fmt.Errorf("-rounds %d -starts %d: every start needs a round", c.rounds, c.starts)
	}
	dir, err := os.MkdirTemp("", "gslbd-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if err := c.choose(*only); err != nil {
		return err
	}
	if err := c.enter(dir, *servers); err != nil {
		return err
	}
	if err := pin(loadCore); err != nil {
		return err
	}
	fmt.Printf("%d CPUs, %s, %d rounds of %d queries, %d starts\n", runtime.NumCPU(), runtime.Version(), c.rounds, c.queries, c.starts)
	for start := range c.starts {
		rounds := c.rounds*(start+1)/c.starts - c.rounds*start/c.starts
		if err := c.run(filepath.Join(dir, strconv.Itoa(start)), filepath.Join(dir, "bench.zone"), rounds); err != nil {
			return err
		}
	}
	for _, t := range c.tables {
		t.print(c.lengthsOf(t.set))
	}
	return nil
}

// run starts the servers, measures some rounds of every set, and ends them. Two
// processes of one program differ by some percent, with the places of memory
// that they were given; so several are measured.
func (c *contest) run(dir, zone string, rounds int) error {
	defer func() {
		for _, d := range c.daemons {
			d.stop()
		}
		c.daemons = nil
	}()
	for _, r := range c.rivals {
		d, err := r.start(dir, serverCore, zoneName, zone)
		if err != nil {
			return err
		}
		c.daemons = append(c.daemons, d)
	}
	if err := c.learn(); err != nil {
		return err
	}
	for _, t := range c.tables {
		if err := c.measure(t, rounds); err != nil {
			return fmt.Errorf("%s: %w", t.set.name, err)
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
			c.tables = append(c.tables, &table{set: s})
		}
	}
	if len(c.tables) == 0 {
		return fmt.Errorf("no set of queries is called %q", only)
	}
	return nil
}

// enter writes the zone, and makes the list of gslbd, the floor, and every other
// server that is installed.
func (c *contest) enter(dir, only string) error {
	if err := writePacketZone(filepath.Join(dir, "bench.zone")); err != nil {
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
	c.rivals = []rival{ours(gslbd), {name: plainFloor, program: echo, args: []string{"{port}"}}}
	for _, r := range rivals() {
		if only != "" && !slices.Contains(strings.Split(only, ","), r.name) {
			continue
		}
		if _, err := exec.LookPath(r.program); err != nil {
			fmt.Printf("%s is not installed (Debian: %s), and left out\n", r.name, r.debian)
			continue
		}
		c.rivals = append(c.rivals, r)
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

// lengthsOf gives the lengths of gslbd's answers to each kind of a set's queries.
func (c *contest) lengthsOf(s *querySet) []int {
	if strings.HasSuffix(s.name, "+edns") {
		return c.lengths[1]
	}
	return c.lengths[0]
}

// rowsOf makes the rows of a set, one for each server and two for the floor; a
// server that leaves the target of a CNAME to the client has another one.
func (c *contest) rowsOf(s *querySet) (rows []*row) {
	lengths := c.lengthsOf(s)
	for i, r := range c.rivals {
		check := right(s, r.oneLink)
		if r.name == plainFloor {
			check = func(int, []byte) bool { return true }
			rows = append(rows, &row{name: sizedFloor, server: i, set: s.sized(lengths), queries: 1, check: func(i int, reply []byte) bool {
				return len(reply) == max(s.size, lengths[s.kind[i]])
			}})
		}
		rows = append(rows, &row{name: r.name, server: i, set: s, queries: 1, check: check})
		if r.oneLink && kinds()[s.kind[0]].name == "CNAME" && !strings.HasPrefix(s.name, "mix") {
			both := s.followed()
			rows = append(rows, &row{name: r.name + ", and for the target", server: i, set: both, queries: 2, check: right(both, true)})
		}
	}
	return rows
}

// measure runs rounds of one set.
func (c *contest) measure(t *table, rounds int) error {
	if t.rows == nil {
		t.rows = c.rowsOf(t.set)
	}
	for _, r := range t.rows { // first every query once, for the sake of caches
		warm := *r
		if err := warm.measure(c.daemons[r.server], setSize); err != nil {
			return err
		}
	}
	for round := range rounds {
		for i := range t.rows {
			r := t.rows[(i+round)%len(t.rows)]
			if err := r.measure(c.daemons[r.server], c.queries); err != nil {
				return err
			}
		}
	}
	return nil
}

// measure is one measurement of one server.
func (r *row) measure(d *daemon, queries int) error {
	g, err := newGenerator(d.port, flows)
	if err != nil {
		return err
	}
	defer g.close()
	pids, err := d.processes()
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
	r.nanoseconds = append(r.nanoseconds, float64(used.Nanoseconds())/float64(o.answers)*r.queries)
	r.busy = append(r.busy, 100*used.Seconds()/o.took.Seconds())
	r.lost, r.wrong = r.lost+o.lost, r.wrong+o.wrong
	return nil
}

// settled reads the time spent when the servers sleep, since a thread's time is added up when it leaves its core.
func settled(pids []int) (time.Duration, error) {
	time.Sleep(3 * time.Millisecond)
	return spent(pids)
}
