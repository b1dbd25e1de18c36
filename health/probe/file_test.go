package probe

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"net/netip"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"
)

func fileCheck(path string, maxAge time.Duration) Check {
	return Check{Name: "f", Type: "file", Interval: 10 * time.Second, Timeout: long, Fall: 2, Rise: 3,
		File: &File{Path: path, MaxAge: maxAge}}
}

// states writes a file and gives its path.
func states(t testing.TB, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "states")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestFile(t *testing.T) {
	for _, c := range []struct {
		about, text, addr string
		outcome           Outcome
		reason            string // after the path
	}{
		{"up", "192.0.2.1 up\n", "192.0.2.1", Pass, ""},
		{"down", "192.0.2.1 down\n", "192.0.2.1", Fail, "says down"},
		{"among others", "192.0.2.10 down\n192.0.2.1 up\n192.0.2.11 down\n", "192.0.2.1", Pass, ""},
		{"case and space", "  192.0.2.1\t UP \r\n", "192.0.2.1", Pass, ""},
		{"comments and blank lines", "# states\n\n192.0.2.1 up # since noon\n#192.0.2.1 down\n", "192.0.2.1", Pass, ""},
		{"no final line end", "192.0.2.1 down", "192.0.2.1", Fail, "says down"},
		{"IPv6, other form", "2001:DB8:0:0::1 up\n", "2001:db8::1", Pass, ""},
		{"IPv6 down", "2001:db8::1 down\n", "2001:db8::1", Fail, "says down"},
		{"mapped IPv4", "::ffff:192.0.2.1 up\n", "192.0.2.1", Pass, ""},
		{"mapped target", "192.0.2.1 up\n", "::ffff:192.0.2.1", Pass, ""},
		{"said twice", "192.0.2.1 up\n192.0.2.1 Up\n", "192.0.2.1", Pass, ""},
		{"long comment", "# " + strings.Repeat("x", 60_000) + "\n192.0.2.1 up\n", "192.0.2.1", Pass, ""},

		{"empty", "", "192.0.2.1", Unknown, "has no line for 192.0.2.1"},
		{"no line", "192.0.2.10 up\n", "192.0.2.1", Unknown, "has no line for 192.0.2.1"},
		{"only a comment", "# 192.0.2.1 up\n", "192.0.2.1", Unknown, "has no line for 192.0.2.1"},
		{"other order", "up 192.0.2.1\n", "192.0.2.1", Unknown, "has no line for 192.0.2.1"},
		{"with port", "192.0.2.1:80 up\n", "192.0.2.1", Unknown, "has no line for 192.0.2.1"},
		{"leading zeros", "192.000.002.001 up\n", "192.0.2.1", Unknown, "has no line for 192.0.2.1"},
		{"no state", "192.0.2.1\n", "192.0.2.1", Unknown, `says "", want up or down`},
		{"cut off", "192.0.2.1 u", "192.0.2.1", Unknown, `says "u", want up or down`},
		{"other state", "192.0.2.1 maybe\n", "192.0.2.1", Unknown, `says "maybe", want up or down`},
		{"more words", "192.0.2.1 up down\n", "192.0.2.1", Unknown, `says "up down", want up or down`},
		{"contradiction", "192.0.2.1 up\n192.0.2.1 down\n", "192.0.2.1", Unknown, "says two things of 192.0.2.1"},
		{"binary", "\x00\xff\x00192.0.2.1 up\n", "192.0.2.1", Unknown, "has no line for 192.0.2.1"},
		{"a line without end", strings.Repeat("x", 70_000), "192.0.2.1", Unknown, "has no line for 192.0.2.1"},
		{"a state without end", "192.0.2.1 " + strings.Repeat("x", 70_000), "192.0.2.1", Unknown,
			`says "` + strings.Repeat("x", 98) + `"…, want up or down`},
		{"too long", strings.Repeat("192.0.2.1 up\n", maxStates/13+1), "192.0.2.1", Unknown, "is longer than 16 MiB"},
	} {
		t.Run(c.about, func(t *testing.T) {
			path := states(t, c.text)
			reason := ""
			if c.reason != "" {
				reason = plain(path) + " " + c.reason
			}
			want(t, run(t, fileCheck(path, 0), Target{Addr: netip.MustParseAddr(c.addr)}), c.outcome, reason)
		})
	}
}

// What cannot be read is unknown; a named pipe must not hold up the probe, and
// a file that comes back is read at once.
func TestFileUnreadable(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	if err := syscall.Mkfifo(at("pipe"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, reason := range map[string]string{
		"missing":   "cannot be read: no such file or directory",
		"":          "is not a regular file",
		"pipe":      "is not a regular file",
		"missing/f": "cannot be read: no such file or directory",
		"pipe/file": "cannot be read: not a directory",
	} {
		path := at(name)
		want(t, run(t, fileCheck(path, 0), Target{Addr: local}), Unknown, plain(path)+" "+reason)
	}
	p, err := New(fileCheck(at("late"), 0), Target{Addr: local}, false)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		text    string
		outcome Outcome
	}{{"", Unknown}, {"127.0.0.1 up", Pass}, {"127.0.0.1 down", Fail}, {"127.0.0.1 up", Pass}, {"127.0.0.2 up", Unknown}} {
		if c.text != "" {
			replace(t, at("late"), c.text)
		}
		if got := p.Probe(context.Background()); got.Outcome != c.outcome {
			t.Errorf("%q: %s %q", c.text, word(got.Outcome), got.Reason)
		}
	}
}

// Want of descriptors or memory is our own: a member that is up stays up.
func TestFileNoDescriptors(t *testing.T) {
	c := fileCheck("/run/states", 0)
	made, err := New(c, Target{Addr: local}, false)
	if err != nil {
		t.Fatal(err)
	}
	for errno, reason := range map[syscall.Errno]string{
		syscall.EMFILE: "no file descriptors left (raise LimitNOFILE or lower health.max_in_flight)",
		syscall.ENFILE: "no file descriptors left (raise LimitNOFILE or lower health.max_in_flight)",
		syscall.ENOMEM: "no buffer space on this machine",
	} {
		made.(*fileProber).open = func(path string) (*os.File, error) { return nil, &fs.PathError{Op: "open", Path: path, Err: errno} }
		want(t, Round(context.Background(), made, c), Fault, "/run/states: "+reason)
	}
}

// replace writes a file as those who keep states do.
func replace(t testing.TB, path, text string) {
	t.Helper()
	if err := os.WriteFile(path+".new", []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(path+".new", path); err != nil {
		t.Fatal(err)
	}
}

func TestFileForbidden(t *testing.T) {
	path := states(t, "127.0.0.1 up")
	if err := os.Chmod(path, 0); err != nil {
		t.Fatal(err)
	}
	if os.Getuid() == 0 { // who may read every file
		want(t, run(t, fileCheck(path, 0), Target{Addr: local}), Pass, "")
		return
	}
	want(t, run(t, fileCheck(path, 0), Target{Addr: local}), Unknown, plain(path)+" cannot be read: permission denied")
}

func TestFileAge(t *testing.T) {
	for _, c := range []struct {
		age, maxAge time.Duration
		outcome     Outcome
		reason      string
	}{
		{time.Hour, 0, Pass, ""},
		{50 * time.Second, time.Minute, Pass, ""},
		{70 * time.Second, time.Minute, Unknown, "is older than 1m0s"},
		{-50 * time.Second, time.Minute, Pass, ""},
		{-70 * time.Second, time.Minute, Unknown, "was written more than 1m0s in the future"},
		{-time.Hour, 0, Pass, ""},
	} {
		path := states(t, "127.0.0.1 up")
		when := time.Now().Add(-c.age)
		if err := os.Chtimes(path, when, when); err != nil {
			t.Fatal(err)
		}
		reason := ""
		if c.reason != "" {
			reason = plain(path) + " " + c.reason
		}
		want(t, run(t, fileCheck(path, c.maxAge), Target{Addr: local}), c.outcome, reason)
	}
}

// Unknown ends the round as a fault does: asking again at once says nothing new.
func TestFileRetries(t *testing.T) {
	c := fileCheck(filepath.Join(t.TempDir(), "none"), 0)
	c.Retries = 3
	p, err := New(c, Target{Addr: local}, true)
	if err != nil {
		t.Fatal(err)
	}
	got := Round(context.Background(), p, c)
	if got.Outcome != Unknown || len(got.Steps) != 0 {
		t.Errorf("%+v", got)
	}
}

func TestFileTrace(t *testing.T) {
	path := states(t, "# x\n127.0.0.1 down\n")
	when := time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)
	if err := os.Chtimes(path, when, when); err != nil {
		t.Fatal(err)
	}
	p, err := New(fileCheck(path, 0), Target{Addr: local}, true)
	if err != nil {
		t.Fatal(err)
	}
	got := ""
	for _, s := range p.Probe(context.Background()).Steps {
		got += s.What + ": " + s.Info + "\n"
	}
	if want := "file: 19 bytes, written 2026-11-29T12:00:00Z\nline: 2: down\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// The port of a target and the source address mean nothing to a file.
func TestFileIgnoresPortAndSource(t *testing.T) {
	c := fileCheck(states(t, "127.0.0.1 up"), 0)
	c.Source = []netip.Addr{netip.IPv6Loopback()}
	to := Target{Addr: local, Port: 8080}
	want(t, run(t, c, to), Pass, "")
	if got := c.Address(to); got != "127.0.0.1" || c.Port(to) != 0 {
		t.Errorf("address %s, port %d", got, c.Port(to))
	}
}

func FuzzFile(f *testing.F) {
	f.Add("192.0.2.1 up\n", "192.0.2.1")
	f.Add("# x\n::1 down # y", "::1")
	f.Fuzz(func(t *testing.T, text, address string) {
		addr, err := netip.ParseAddr(address)
		if err != nil {
			return
		}
		said := parseStates([]byte(text))[addr.Unmap()]
		if said.line > strings.Count(text, "\n")+1 || said.line == 0 && said.state != "" {
			t.Errorf("%+v", said)
		}
		if said.state == "up" && !strings.Contains(strings.ToLower(text), "up") {
			t.Error("up from nowhere")
		}
	})
}

// A file that did not change is read once for all members; one written again
// is seen at once, even in place, with the same size and within its grain of time.
func TestFileIsShared(t *testing.T) {
	path := states(t, "127.0.0.1 up\n127.0.0.2 down\n")
	c := fileCheck(path, 0)
	one, two := Target{Addr: local}, Target{Addr: netip.MustParseAddr("127.0.0.2")}
	expect := func(a, b Outcome) {
		t.Helper()
		if x, y := run(t, c, one), run(t, c, two); x.Outcome != a || y.Outcome != b {
			t.Errorf("%s %q, %s %q", word(x.Outcome), x.Reason, word(y.Outcome), y.Reason)
		}
	}
	expect(Pass, Fail)
	if err := os.WriteFile(path, []byte("127.0.0.2 up\n127.0.0.1 down\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	expect(Fail, Pass)
	old := time.Now().Add(-time.Minute)
	if err := os.Chtimes(path, old, old); err != nil {
		t.Fatal(err)
	}
	expect(Fail, Pass)
	read := c.File.cache.at
	expect(Fail, Pass)
	if c.File.cache.at != read {
		t.Error("an unchanged file was read again")
	}
	replace(t, path, "127.0.0.1 up\n127.0.0.2 down\n")
	if err := os.Chtimes(path, old, old); err != nil {
		t.Fatal(err)
	}
	expect(Pass, Fail) // the same size and time, another file
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	expect(Unknown, Unknown) // what was read before does not stand in
}

// A file that is too long is not read to find that out, for each member again.
func TestFileTooLongIsNotRead(t *testing.T) {
	path := states(t, "127.0.0.1 up\n")
	if err := os.Truncate(path, maxStates+1); err != nil {
		t.Fatal(err)
	}
	c := fileCheck(path, 0)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	want(t, run(t, c, Target{Addr: local}), Unknown, path+" is longer than 16 MiB")
	runtime.ReadMemStats(&after)
	if used := after.TotalAlloc - before.TotalAlloc; used > 1<<20 {
		t.Errorf("%d bytes for one probe", used)
	}
}

// A file dated in the future is read once per change like any other.
func TestFileOfTheFutureIsShared(t *testing.T) {
	path := states(t, "127.0.0.1 up\n")
	later := time.Now().Add(time.Hour)
	if err := os.Chtimes(path, later, later); err != nil {
		t.Fatal(err)
	}
	c := fileCheck(path, 0)
	want(t, run(t, c, Target{Addr: local}), Pass, "")
	read := c.File.cache.at
	want(t, run(t, c, Target{Addr: local}), Pass, "")
	if c.File.cache.at != read {
		t.Error("an unchanged file was read again")
	}
	if err := os.WriteFile(path, []byte("127.0.0.1 no\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	want(t, run(t, c, Target{Addr: local}), Unknown, path+` says "no", want up or down`)
}

// A byte order mark does not hide the first line.
func TestFileByteOrderMark(t *testing.T) {
	path := states(t, "\ufeff127.0.0.1 up\r\n127.0.0.2 down\r\n")
	want(t, run(t, fileCheck(path, 0), Target{Addr: local}), Pass, "")
}

func BenchmarkFile(b *testing.B) {
	var text strings.Builder
	for i := range 10_000 {
		fmt.Fprintf(&text, "10.0.%d.%d up\n", i/250, i%250)
	}
	path := states(b, text.String())
	p, err := New(fileCheck(path, 0), Target{Addr: netip.MustParseAddr("10.0.39.249")}, false)
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if p.Probe(context.Background()).Outcome != Pass {
			b.Fatal("no pass")
		}
	}
}

// A file that was just written is read again by every probe, since a second
// writing in the same moment does not show in its time; it is parsed once.
func TestFileUnchangedIsNotParsed(t *testing.T) {
	var text strings.Builder
	for i := range 5000 {
		fmt.Fprintf(&text, "127.0.%d.%d up\n", i/256, i%256)
	}
	path := states(t, text.String())
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		t.Fatal(err)
	}
	var c stateCache
	look := func() {
		c.at = info.ModTime() // read in the moment of its writing
		if _, err := file.Seek(0, io.SeekStart); err != nil {
			t.Fatal(err)
		}
		if got, err := c.lookup(file, info, local); err != nil || got.state != "up" {
			t.Fatalf("%+v, %v", got, err)
		}
	}
	look()
	look() // the second buffer grows
	if n := testing.AllocsPerRun(10, look); n > 10 {
		t.Errorf("%.0f allocations for a file that is the same", n)
	}
}
