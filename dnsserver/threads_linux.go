package dnsserver

import (
	"cmp"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path"
	"runtime"
	"runtime/metrics"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// spareThreads, and one for each core, are left to everything but the UDP workers: collector, files, programs that probe, admin socket.
const spareThreads = 8

// threadLimit is something outside of the process that bounds its threads.
type threadLimit struct {
	most, there int
	what        string // it is, for a sentence
}

// haveThreads refuses more addresses for whose UDP workers, each of which has a thread of its own, a limit from outside has no room
// beside those that serve: the runtime ends a process that is denied a thread. What cannot be read limits nothing.
func haveThreads(addresses, workers, serving int) error {
	if addresses == 0 {
		return nil
	}
	return haveRoom(addresses, workers, freeThreads(serving), threadLimits(os.DirFS("/")))
}

// haveRoom refuses addresses whose workers are too many for one of the limits, where the process has so many free threads.
func haveRoom(addresses, workers, free int, limits []threadLimit) error {
	rest := spareThreads + runtime.GOMAXPROCS(0) - free
	for _, l := range limits {
		room := l.most - l.there - rest
		if addresses*workers <= room {
			continue
		}
		e := &ListenError{Reason: fmt.Sprintf("no threads for %d more UDP workers: %s is %d, %d are there, and the rest of the server needs some", addresses*workers, l.what, l.most, l.there),
			Hint: fmt.Sprintf("raise that limit to %d or more", l.there+addresses*workers+rest)}
		if addresses > 1 {
			e.Hint += ", or listen on fewer addresses"
		}
		if workers > 1 && addresses <= room {
			e.Hint += fmt.Sprintf(", or set udp.workers to %d and restart", room/addresses)
		}
		return e
	}
	return nil
}

// freeThreads counts threads of this process that no system call holds and none of the workers that serve, who want theirs again when
// they have nothing to do; it is below 0 while some of these have yet to get one.
func freeThreads(serving int) int {
	sample := []metrics.Sample{{Name: "/sched/threads/total:threads"}, {Name: "/sched/goroutines/not-in-go:goroutines"}}
	metrics.Read(sample)
	return int(sample[0].Value.Uint64()) - max(int(sample[1].Value.Uint64()), serving)
}

// threadLimits finds the limits of this process in root, the machine's files.
func threadLimits(root fs.FS) []threadLimit {
	limits := groupLimits(root)
	var user unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_NPROC, &user) != nil || user.Cur >= math.MaxInt32 {
		return limits
	}
	if l := userLimit(root, strconv.Itoa(os.Getuid())); l != nil {
		l.most = int(user.Cur)
		limits = append(limits, *l)
	}
	return limits
}

// groupLimits finds those of the control groups that the process is in (pids.max; cgroups(7)), inner ones first.
func groupLimits(root fs.FS) (limits []threadLimit) {
	for line := range strings.Lines(text(root, "proc/self/cgroup")) {
		fields := strings.SplitN(strings.TrimSpace(line), ":", 3) // number:controllers:path
		base := "sys/fs/cgroup"
		switch {
		case len(fields) < 3:
			continue
		case fields[1] == "pids":
			base += "/pids" // version 1
		case fields[1] != "":
			continue
		}
		for group := path.Clean("/" + fields[2]); ; group = path.Dir(group) {
			most, err := strconv.Atoi(text(root, path.Join(base, group, "pids.max"))) // "max" is none
			there, missing := strconv.Atoi(text(root, path.Join(base, group, "pids.current")))
			if cmp.Or(err, missing) == nil {
				limits = append(limits, threadLimit{most, there, fmt.Sprintf("the limit of control group %s (pids.max, TasksMax=)", group)})
			}
			if group == "/" {
				break
			}
		}
	}
	return limits
}

// userLimit counts what the limit of a user's processes counts, threads (RLIMIT_NPROC; getrlimit(2)); nil for those whom it does not bind.
func userLimit(root fs.FS, uid string) *threadLimit {
	const exempt = 1<<unix.CAP_SYS_RESOURCE | 1<<unix.CAP_SYS_ADMIN
	caps, err := strconv.ParseUint(status(root, "self", "CapEff"), 16, 64)
	users := strings.Fields(text(root, "proc/self/uid_map")) // user_namespaces(7): to the kernel, root of a container may be any user
	apart := len(users) > 1 && !slices.Equal(users[:2], []string{"0", "0"})
	if err != nil || !apart && (uid == "0" || caps&exempt != 0) {
		return nil
	}
	l := &threadLimit{what: fmt.Sprintf("the limit of processes of user %s (ulimit -u, LimitNPROC=)", uid)}
	processes, _ := fs.Glob(root, "proc/[0-9]*")
	for _, p := range processes {
		if status(root, path.Base(p), "Uid") == uid {
			n, _ := strconv.Atoi(status(root, path.Base(p), "Threads"))
			l.there += n
		}
	}
	return l
}

// status gives the first value of a line of /proc/PID/status; "" when there is none.
func status(root fs.FS, pid, key string) string {
	for line := range strings.Lines(text(root, path.Join("proc", pid, "status"))) {
		if value, ok := strings.CutPrefix(line, key+":"); ok {
			return strings.Fields(value + " -")[0]
		}
	}
	return ""
}

// text is the content of a file without the space around it; "" when it cannot be read.
func text(root fs.FS, name string) string {
	content, _ := fs.ReadFile(root, name)
	return strings.TrimSpace(string(content))
}
