package dnsserver

import (
	"fmt"
	"io/fs"
	"math"
	"net/netip"
	"runtime"
	"sync"
	"testing"
	"testing/fstest"
)

// files makes a machine's files from names and contents.
func files(pairs ...string) fs.FS {
	root := fstest.MapFS{}
	for i := 0; i < len(pairs); i += 2 {
		root[pairs[i]] = &fstest.MapFile{Data: []byte(pairs[i+1])}
	}
	return root
}

// The limits of control groups of both versions count, inner ones first, as far as there are any; what is unreadable limits nothing.
func TestGroupLimits(t *testing.T) {
	for _, c := range []struct {
		name string
		root fs.FS
		want string
	}{
		{"version 2", files("proc/self/cgroup", "0::/system.slice/gslbd.service\n",
			"sys/fs/cgroup/system.slice/gslbd.service/pids.max", "64\n", "sys/fs/cgroup/system.slice/gslbd.service/pids.current", "9\n",
			"sys/fs/cgroup/system.slice/pids.max", "max\n", "sys/fs/cgroup/system.slice/pids.current", "90\n"),
			"[{64 9 the limit of control group /system.slice/gslbd.service (pids.max, TasksMax=)}]"},
		{"a parent's", files("proc/self/cgroup", "0::/a/b\n", "sys/fs/cgroup/a/b/pids.max", "50", "sys/fs/cgroup/a/b/pids.current", "9",
			"sys/fs/cgroup/a/pids.max", "60", "sys/fs/cgroup/a/pids.current", "20"),
			"[{50 9 the limit of control group /a/b (pids.max, TasksMax=)} {60 20 the limit of control group /a (pids.max, TasksMax=)}]"},
		{"a container", files("proc/self/cgroup", "0::/\n", "sys/fs/cgroup/pids.max", "100\n", "sys/fs/cgroup/pids.current", "12\n"),
			"[{100 12 the limit of control group / (pids.max, TasksMax=)}]"},
		{"version 1, a container whose path is not its own", files("proc/self/cgroup", "9:name=systemd:/\n8:pids:/docker/5f\n4:memory:/docker/5f\n0::/\n",
			"sys/fs/cgroup/pids/pids.max", "100\n", "sys/fs/cgroup/pids/pids.current", "12\n"),
			"[{100 12 the limit of control group / (pids.max, TasksMax=)}]"},
		{"out of the namespace", files("proc/self/cgroup", "0::/../other\n", "sys/fs/cgroup/other/pids.max", "7", "sys/fs/cgroup/other/pids.current", "1"),
			"[{7 1 the limit of control group /other (pids.max, TasksMax=)}]"},
		{"none", files("proc/self/cgroup", "0::/a\n\nnonsense\n:::\n8:pids\n"), "[]"},
		{"no files", files(), "[]"},
	} {
		if got := fmt.Sprint(groupLimits(c.root)); got != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.name, got, c.want)
		}
	}
}

// All threads of a user count, whoever's they are; root, and who may exceed limits, has none.
func TestUserLimit(t *testing.T) {
	const bound, resource, admin = "CapEff:\t0000000000000400\n", "CapEff:\t0000000001000000\n", "CapEff:\t0000000000200000\n"
	machine := func(own string) fs.FS {
		return files("proc/self/status", "Name:\tgslbd\n"+own,
			"proc/1/status", "Uid:\t0\t0\t0\t0\nThreads:\t1\n",
			"proc/20/status", "Uid:\t990\t990\t990\t990\nThreads:\t9\n",
			"proc/21/status", "Uid:\t990\t0\t0\t0\nThreads:\t30\n",
			"proc/22/status", "Uid:\t99\t990\t990\t990\nThreads:\t500\n",
			"proc/23/status", "Uid:\nThreads:\n", "proc/24/status", "", "proc/sys/kernel/threads-max", "1\n")
	}
	for own, there := range map[string]int{bound: 39, resource: -1, admin: -1, "": -1, "CapEff:\n": -1} {
		l := userLimit(machine(own), "990")
		if (l == nil) != (there < 0) || l != nil && (l.there != there || l.what != "the limit of processes of user 990 (ulimit -u, LimitNPROC=)") {
			t.Errorf("%q: got %+v, want %d", own, l, there)
		}
	}
	if l := userLimit(machine(bound), "0"); l != nil {
		t.Errorf("root: got %+v", l)
	}
	const root = "CapEff:\t000001ffffffffff\n"
	for users, there := range map[string]int{"         0       1000          1\n         1     100000      65536\n": 1, "         0          0 4294967295\n": -1, "": -1} {
		l := userLimit(files("proc/self/status", root, "proc/self/uid_map", users, "proc/1/status", "Uid:\t0\t0\t0\t0\nThreads:\t1\n"), "0")
		if (l == nil) != (there < 0) || l != nil && l.there != there {
			t.Errorf("root where users are %q: got %+v, want %d", users, l, there)
		}
	}
}

// Addresses are refused as soon as one limit has no room for their workers and what else may need a thread, with numbers that would do.
func TestHaveRoom(t *testing.T) {
	rest := spareThreads + runtime.GOMAXPROCS(0)
	plenty := threadLimit{math.MaxInt32, 5, "the other limit"}
	if err := haveRoom(1000, 1000, 0, []threadLimit{plenty, plenty}); err != nil {
		t.Errorf("got %v", err)
	}
	for _, c := range []struct {
		addresses, workers, free, room int
		hint                           string
	}{
		{1, 1, 0, 0, ""},
		{1, 1, 3, 0, ""},
		{1, 1, -3, 0, ""},
		{1000, 1, 0, 999, ", or listen on fewer addresses"},
		{1, 1000, 2, 700, ", or set udp.workers to 700 and restart"},
		{10, 100, 5, 799, ", or listen on fewer addresses, or set udp.workers to 79 and restart"},
		{500, 2, 0, 499, ", or listen on fewer addresses"},
	} {
		workers, most := c.addresses*c.workers, 12+rest-c.free+c.room
		err := haveRoom(c.addresses, c.workers, c.free, []threadLimit{plenty, {most, 12, "the limit of control group / (pids.max, TasksMax=)"}, plenty})
		want := fmt.Sprintf("listen: no threads for %d more UDP workers: the limit of control group / (pids.max, TasksMax=) is %d, 12 are there, and the rest of the server needs some\n"+
			"  hint: raise that limit to %d or more%s", workers, most, most-c.room+workers, c.hint)
		if err == nil || err.Error() != want {
			t.Errorf("got %v\nwant %s", err, want)
		}
		if err := haveRoom(c.addresses, c.workers, c.free, []threadLimit{{most - c.room + workers, 12, "that"}}); err != nil {
			t.Errorf("after the hint: %v", err)
		}
	}
	if err := haveThreads(0, 1000, 9); err != nil {
		t.Errorf("no address: %v", err)
	}
}

// A worker that is busy, and has no need of its thread, wants it back later: no thread counts as free for that. Nor do threads that
// workers have yet to get.
func TestBusyWorkersHaveThreads(t *testing.T) {
	const n = 50
	var busy sync.WaitGroup
	busy.Add(n)
	release := make(chan bool)
	var list []string
	for i := range n {
		list = append(list, fmt.Sprintf("127.0.9.%d:0", i+1))
	}
	s := start(t, Options{Listen: list, Workers: 1}, func(dst, packet []byte, _ netip.AddrPort, _ Transport) []byte {
		busy.Done()
		<-release
		return dst
	})
	defer close(release)
	eventually(t, "every worker waits in its thread", func() bool { return freeThreads(0) == freeThreads(n) })
	idle := freeThreads(n)
	for _, at := range s.Addrs() {
		_, _ = dial(t, "udp", at).Write(query(1, 20))
	}
	busy.Wait()
	if got := freeThreads(n); got > idle+n/2 {
		t.Errorf("%d threads are free while all workers are busy, %d were before", got, idle)
	}
	if got := freeThreads(n + 1000); got > idle-1000+n/2 {
		t.Errorf("%d threads are free, of 1000 too few", got)
	}
}
