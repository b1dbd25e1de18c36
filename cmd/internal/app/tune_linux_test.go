package app

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"unsafe"

	"go.uber.org/zap"
	"golang.org/x/sys/unix"
)

// The ballast takes no memory of the system's, also where the runtime has written
// to it.
func TestBallastIsNotResident(t *testing.T) {
	unsetCollector(t)
	before := resident(t)
	b := ballast()
	if grown := resident(t) - before; len(b) != ballastSize || grown > ballastSize/4 {
		t.Errorf("%d bytes of ballast, resident memory grew by %d", len(b), grown)
	}
	for i := range b {
		b[i] = 1
	}
	before = resident(t)
	untouch(b)
	if given := before - resident(t); given < ballastSize*3/4 {
		t.Errorf("%d bytes given back of %d", given, ballastSize)
	}
}

func resident(t *testing.T) int {
	text, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		t.Fatal(err)
	}
	pages, err := strconv.Atoi(strings.Fields(string(text))[1])
	if err != nil {
		t.Fatal(err)
	}
	return pages * os.Getpagesize()
}

// All threads get the short slice, those that begin later included; one with
// another policy is left alone.
func TestShortSlices(t *testing.T) {
	t.Setenv("GOMAXPROCS", "as it is")
	for _, attr := range threads(t) {
		attr.Runtime = 0 // as the kernel has it
		_ = unix.SchedSetAttr(attr.id, &attr.SchedAttr, 0)
	}
	onThread(t, func() {
		attr, err := unix.SchedGetAttr(0, 0)
		if err != nil {
			t.Error(err)
			return
		}
		attr.Policy = unix.SCHED_BATCH
		if err := unix.SchedSetAttr(0, attr, 0); err != nil {
			t.Error(err)
		}
	})
	defer Tune(zap.NewNop())()
	for range 3 {
		onThread(t, func() {})
	}
	normal, others := 0, 0
	for _, attr := range threads(t) {
		if attr.Policy == unix.SCHED_NORMAL {
			normal++
		} else {
			others++
		}
		if short := attr.Runtime == slice; short != (attr.Policy == unix.SCHED_NORMAL && slicesAreKept(t)) {
			t.Errorf("thread %+v", attr)
		}
	}
	if normal < 4 || others == 0 {
		t.Errorf("%d threads, and %d with other policies", normal, others)
	}
}

// onThread runs f on a thread of its own, which lives as long as the test.
func onThread(t *testing.T, f func()) {
	done := make(chan bool)
	go func() {
		runtime.LockOSThread() // and never unlocked: the thread ends with this
		f()
		done <- true
		<-t.Context().Done()
	}()
	<-done
}

type threadAttr struct {
	unix.SchedAttr
	id int
}

// threads gives those that this process has.
func threads(t *testing.T) (all []threadAttr) {
	tasks, err := os.ReadDir("/proc/self/task")
	if err != nil {
		t.Fatal(err)
	}
	for _, task := range tasks {
		id, _ := strconv.Atoi(task.Name())
		attr, err := unix.SchedGetAttr(id, 0)
		switch {
		case err == nil:
			all = append(all, threadAttr{*attr, id})
		case !errors.Is(err, unix.ESRCH): // it has ended
			t.Fatal(err)
		}
	}
	return all
}

// slicesAreKept tells whether the kernel does what it is asked for: from 6.12 on,
// where nothing filters system calls.
func slicesAreKept(t *testing.T) bool {
	var name unix.Utsname
	var major, minor int
	if err := unix.Uname(&name); err != nil {
		t.Fatal(err)
	}
	if _, err := fmt.Sscanf(unix.ByteSliceToString(name.Release[:]), "%d.%d", &major, &minor); err != nil {
		t.Fatal(err)
	}
	return !filtered() && (major > 6 || major == 6 && minor >= 12)
}

// A filter of system calls that ends who asks for a time slice, as a hardened
// service has it, does not end the server.
func TestShortSlicesFiltered(t *testing.T) {
	const child = "GSLBD_TEST_FILTERED"
	if os.Getenv(child) != "" {
		forbidSlices(t)
		t.Log(shortSlices())
		return
	}
	cmd := exec.CommandContext(t.Context(), "/proc/self/exe", "-test.run=^TestShortSlicesFiltered$", "-test.v")
	cmd.Env = append(os.Environ(), child+"=1")
	if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), "a filter of system calls is active (seccomp)") {
		t.Errorf("%v, %s", err, out)
	}
}

// forbidSlices kills this process when one of its threads calls sched_setattr(2).
func forbidSlices(t *testing.T) {
	filter := []unix.SockFilter{
		{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS}, // the number of the call
		{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: unix.SYS_SCHED_SETATTR, Jf: 1},
		{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_KILL_PROCESS},
		{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ALLOW},
	}
	program := unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}
	runtime.LockOSThread() // the first call is for this thread alone
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		t.Fatal(err)
	}
	if _, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, unix.SECCOMP_FILTER_FLAG_TSYNC, uintptr(unsafe.Pointer(&program))); errno != 0 {
		t.Fatal(errno)
	}
}
