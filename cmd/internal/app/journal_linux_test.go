package app

import (
	"encoding/json"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"gslbd/health"
)

// What is no file is refused and not waited for.
func TestJournalNoFile(t *testing.T) {
	for _, make := range []func(path string) error{
		func(path string) error { return syscall.Mkfifo(path, 0o600) },
		func(path string) error { return os.Mkdir(path, 0o700) },
		func(path string) error { return os.Symlink("/dev/full", path) },
	} {
		j, _ := newJournal(t)
		if err := make(j.path()); err != nil {
			t.Fatal(err)
		}
		n, err := j.write(some(1, 1))
		if n != 0 || err == nil || !strings.HasSuffix(err.Error(), "events.jsonl: is not a regular file") {
			t.Errorf("%d written, %v", n, err)
		}
		if _, _, err := j.tail(); err == nil {
			t.Error("read")
		}
	}
}

// Half a line is taken back when the disk is full in the middle of it. The limit
// is for all files of a process, the log that `go test` keeps included: hence one
// of its own.
func TestJournalHalfALine(t *testing.T) {
	const mark = "GSLBD_TEST_HALF_A_LINE"
	if os.Getenv(mark) == "" {
		cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^"+t.Name()+"$", "-test.v")
		cmd.Env = append(os.Environ(), mark+"=1")
		if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), "--- PASS: "+t.Name()+" ") {
			t.Errorf("in a process of its own: %v\n%s", err, out)
		}
		return
	}
	j, _ := newJournal(t)
	j.mustWrite(t, some(1, 3))
	before := content(t, j.path())
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &limit); err != nil {
		t.Fatal(err)
	}
	low := limit
	low.Cur = uint64(len(before)) + 20
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &low); err != nil {
		t.Fatal(err)
	}
	n, err := j.write(some(4, 4))
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limit); err != nil {
		t.Fatal(err)
	}
	if n != 0 || err == nil || content(t, j.path()) != before {
		t.Errorf("%d written, %v, then %q", n, err, content(t, j.path()))
	}
	j.mustWrite(t, some(4, 4))
	if first, last, n, damaged := j.last(t); first != 1 || last != 4 || n != 4 || damaged != 0 {
		t.Errorf("%d from %d to %d, %d damaged", n, first, last, damaged)
	}
	var e health.Event
	if err := json.Unmarshal([]byte(strings.Split(content(t, j.path()), "\n")[3]), &e); err != nil || e.ID != 4 {
		t.Errorf("%+v, %v", e, err)
	}
}
