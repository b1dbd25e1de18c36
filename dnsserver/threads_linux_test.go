package dnsserver

import (
	"fmt"
	"io/fs"
	"math"
	"regexp"
	"runtime"
	"strconv"
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
}

// Addresses are refused as soon as one limit has no room for their workers and what else may need a thread, with numbers that would do.
func TestHaveRoom(t *testing.T) {
	const many = 1000 // more than threads of this process that may be free
	plenty := threadLimit{math.MaxInt32, 5, "the other limit"}
	if err := haveRoom(many, many, []threadLimit{plenty, plenty}); err != nil {
		t.Errorf("got %v", err)
	}
	for _, c := range []struct {
		addresses, workers, most int
		hint                     string
	}{
		{1, 1, 5, ""},
		{many, 1, 700, ", or listen on fewer addresses"},
		{1, many, 700, `, or set udp\.workers to (\d+) and restart`},
		{10, 100, 700, `, or listen on fewer addresses, or set udp\.workers to (\d+) and restart`},
		{500, 2, 500, ", or listen on fewer addresses"},
	} {
		err := haveRoom(c.addresses, c.workers, []threadLimit{plenty, {c.most, 12, "the limit of control group / (pids.max, TasksMax=)"}, plenty})
		parts := regexp.MustCompile(fmt.Sprintf(`^listen: no threads for %d more UDP workers: the limit of control group / \(pids\.max, TasksMax=\) is %d, 12 are there, and the rest of the server needs some
  hint: raise that limit to (\d+) or more%s$`, c.addresses*c.workers, c.most, c.hint)).FindStringSubmatch(fmt.Sprint(err))
		if parts == nil {
			t.Errorf("%+v: got %v", c, err)
			continue
		}
		enough, _ := strconv.Atoi(parts[1])
		if most := 12 + c.addresses*c.workers + spareThreads + runtime.GOMAXPROCS(0); enough > most || enough <= c.most {
			t.Errorf("%+v: the hint says %d, want at most %d", c, enough, most)
		}
		if err := haveRoom(c.addresses, c.workers, []threadLimit{{enough + 100, 12, "that"}}); err != nil { // some more: threads come and go
			t.Errorf("%+v, after the hint: %v", c, err)
		}
		if len(parts) > 2 {
			if fewer, _ := strconv.Atoi(parts[2]); fewer < 1 || haveRoom(c.addresses, fewer, []threadLimit{{c.most + 100, 12, "that"}}) != nil {
				t.Errorf("%+v: %d workers do not fit", c, fewer)
			}
		}
	}
	if err := haveThreads(0, many); err != nil {
		t.Errorf("no address: %v", err)
	}
}
