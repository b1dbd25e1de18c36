package app

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/gob"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/miekg/dns"

	"gslbd/cmd/internal/config"
	"gslbd/health"
	"gslbd/zone"
)

// varied has groups of several types, with targets, odd names and odd data.
const varied = header + `
www   A     127.0.0.1 ; @primary check=fast id=tokyo target=:81 weight=3
www   A     127.0.0.2 ; @secondary check=fast
WWW   AAAA  ::1       ; @primary check=none
*.w   CNAME Target.Example.ORG. ; @primary check=none
*.w   CNAME other.example.org.  ; @secondary check=none
t\032\.\200 TXT "a \"quoted\" \255 text" "" ; @primary check=none
t\032\.\200 TXT "b" ; @fallback
u     TYPE65280 \# 3 010203 ; @primary check=none
m     MX    10 mail ; @primary check=none
plain A     127.0.0.3
plain A     127.0.0.3
`

// delivered takes an order to LoadApart and back.
func delivered(t *testing.T, o order) (*served, zone.Problems) {
	t.Helper()
	var in, out bytes.Buffer
	if err := gob.NewEncoder(&in).Encode(o); err != nil {
		t.Fatal(err)
	}
	if err := LoadApart(&in, &out, LoadIdle); err != nil {
		t.Fatal(err)
	}
	z, problems, err := receive(bufio.NewReader(&out))
	if err != nil {
		t.Fatal(err)
	}
	return z, problems
}

// A zone that is loaded apart is the same as one that is loaded here: groups,
// what is known of the file, and the answers.
func TestApartIsTheSame(t *testing.T) {
	cfg := configured(t, checksText, varied)
	voc := cfg.Vocabulary()
	here, problems := loadZone(cfg.Zones[0], voc, nil)
	if here == nil {
		t.Fatal(problems)
	}
	apart, found := delivered(t, order{Source: cfg.Zones[0], Vocabulary: voc})
	records := gocmp.Comparer(func(a, b dns.RR) bool { return a.String() == b.String() })
	if diff := gocmp.Diff(here.groups, apart.groups, records, gocmp.Comparer(func(a, b zone.Target) bool { return a == b })); diff != "" {
		t.Error(diff)
	}
	if diff := gocmp.Diff(problems, found); diff != "" || len(problems) == 0 {
		t.Errorf("%d warnings, %s", len(problems), diff)
	}
	if apart.name != here.name || apart.serial != here.serial || apart.records != here.records || apart.sum != here.sum ||
		!slices.Equal(apart.files, here.files) || len(here.groups) != 6 {
		t.Errorf("%+v\n%+v", apart, here)
	}
	for _, question := range []string{"www A", "WWW AAAA", "x.w A", `t\032\.\200 TXT`, "u TYPE65280", "m MX", "plain A", "nowhere A", "@ SOA"} {
		if got, want := answerOf(t, cfg, apart, question), answerOf(t, cfg, here, question); got != want || !strings.Contains(want, "rcode=0") && question != "nowhere A" {
			t.Errorf("%s:\ngot  %s\nwant %s", question, got, want)
		}
	}
}

// answerOf publishes the first pool of every group and asks the zone.
func answerOf(t *testing.T, cfg *config.Config, z *served, text string) string {
	t.Helper()
	st := &state{cfg: cfg, zones: []*served{z}, table: tableOf([]*served{z})}
	(&App{cur: st, engine: health.New(health.Options{})}).publishFirst()
	name, typ, _ := strings.Cut(text, " ")
	if name += ".example.com."; strings.HasPrefix(name, "@") {
		name = "example.com."
	}
	qtype, ok := dns.StringToType[typ]
	if !ok {
		qtype = 65280
	}
	reply, err := ask(st, question{name: name, qtype: qtype, client: netip.MustParseAddr("127.0.0.1")})
	if err != nil {
		t.Fatal(err)
	}
	slices.SortFunc(reply.Answer, func(a, b dns.RR) int { return cmp.Compare(a.String(), b.String()) })
	return fmt.Sprintf("rcode=%d %v %v", reply.Rcode, reply.Answer, reply.Ns)
}

// What is wrong with a zone comes back, with file and line, also that a group
// lost its annotations.
func TestApartProblems(t *testing.T) {
	cfg := configured(t, checksText, header+"www A 127.0.0.1\nwww A 127.0.0.2\n")
	o := order{Source: cfg.Zones[0], Vocabulary: cfg.Vocabulary(), Guard: guard{{Zone: "example.com.", Name: "www.example.com.", Type: dns.TypeA}}}
	z, problems := delivered(t, o)
	if z != nil || !problems.Failed(false) {
		t.Fatalf("%+v, %v", z, problems)
	}
	contains(t, problems.Error(), "a.zone:6: www.example.com/A was steered")
	put(t, "a.zone", header+"www A x\n")
	if _, problems = delivered(t, o); !strings.HasPrefix(problems.Error(), `a.zone:6: "x" is not an IPv4 address`) {
		t.Error(problems)
	}
	var out bytes.Buffer
	if err := LoadApart(strings.NewReader("nonsense"), &out, LoadNice); err == nil || out.Len() > 0 {
		t.Errorf("%v, %d bytes", err, out.Len())
	}
}

// big is a zone file that a reload loads apart, with one record that a test
// tells it by.
func big(serialNumber uint32, address string) string {
	var text strings.Builder
	text.WriteString(serial(serialNumber, "www A "+address+" ; @primary check=none\n"))
	for i := range 20_000 {
		fmt.Fprintf(&text, "a-name-of-some-length-%d A 127.0.0.1\n", i)
	}
	return text.String()
}

// apartBy lets reloads run script, in which $0 is the loader.
func apartBy(t *testing.T, script string) func(*Options) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return func(o *Options) { o.Apart = []string{"/bin/sh", "-c", script, self} }
}

const runLoader = `export ` + beLoader + `=1; echo x >> ran; exec "$0" "$@"`

// A reload loads a large zone in another process, a small one here; the watcher
// does the same.
func TestReloadApart(t *testing.T) {
	dirWith(t, "watch: true\n", serial(1, "www A 127.0.0.1 ; @primary check=none\n"))
	a, logs := launchHere(t, apartBy(t, `[ "$1" = `+LoadNice+` ] || echo x >> begun; `+runLoader), // a load that gets no time is begun anew
		func(o *Options) { o.IdleLoad = time.Second })
	reload := func(text, want string, ran int) {
		t.Helper()
		put(t, "a.zone", text)
		if problems := a.Reload(t.Context(), false); problems.Failed(false) {
			t.Fatal(problems)
		}
		if got := query(t, a, "www.example.com"); got != want {
			t.Errorf("answered %s, want %s", got, want)
		}
		if lines, _ := os.ReadFile("begun"); len(lines) != 2*ran {
			t.Errorf("%d loads apart, want %d", len(lines)/2, ran)
		}
	}
	reload(serial(1, "www A 127.0.0.2 ; @primary check=none\n"), "127.0.0.2", 0)
	reload(big(1, "127.0.0.3"), "127.0.0.3", 1)
	reload(big(1, "127.0.0.4"), "127.0.0.4", 2)
	if got := query(t, a, "a-name-of-some-length-19999.example.com"); got != "127.0.0.1" {
		t.Errorf("answered %s", got)
	}
	put(t, "a.zone", big(2, "127.0.0.5"))
	awaitZone(t, a, 2, "")
	if got := query(t, a, "www.example.com"); got != "127.0.0.5" {
		t.Errorf("answered %s", got)
	}
	put(t, "a.zone", big(3, "nonsense"))
	if problems := a.Reload(t.Context(), false); len(problems) != 1 || problems[0].Line != 6 {
		t.Errorf("%v", problems)
	}
	if n := logs.FilterMessage("the zone is loaded by the server itself").Len(); n != 0 {
		t.Errorf("%v", logs.All())
	}
}

// Whatever becomes of the other process, the zone is loaded, and the log says
// why not there.
func TestReloadApartFails(t *testing.T) {
	for _, row := range []struct{ name, script, why string }{
		{"no such program", `exec /no/such/program`, "exit status 127: "},
		{"fails with a word", `cat > /dev/null; echo out of luck >&2; exit 3`, "exit status 3: out of luck"},
		{"fails without a word", `cat > /dev/null; exit 3`, "exit status 3"},
		{"says something else", `cat > /dev/null; head -c 1000 /dev/zero | tr '\\0' '~'; exec sleep 60`, "reading the delivery"},
		{"gets no thread", `cat > /dev/null; printf 'runtime: failed to create new OS thread (have 5 already; errno=11)\nfatal error: newosproc\n' >&2; exit 2`, "failed to create new OS thread"},
		{"gets no thread, with cgo", `cat > /dev/null; echo 'runtime/cgo: pthread_create failed: Resource temporarily unavailable' >&2; kill -ABRT $$`, "pthread_create failed"},
		{"says nothing", `cat > /dev/null`, "reading the delivery: EOF"},
		{"dies in the middle", `export ` + beLoader + `=1; "$0" "$@" | head -c 200000`, "unexpected EOF"},
	} {
		t.Run(row.name, func(t *testing.T) {
			dirWith(t, "", serial(1, "www A 127.0.0.1 ; @primary check=none\n"))
			a, logs := launchHere(t, apartBy(t, row.script))
			put(t, "a.zone", big(1, "127.0.0.2"))
			if problems := a.Reload(t.Context(), false); problems.Failed(false) {
				t.Fatal(problems)
			}
			if got := query(t, a, "www.example.com"); got != "127.0.0.2" {
				t.Errorf("answered %s", got)
			}
			lines := logs.FilterMessage("the zone is loaded by the server itself").All()
			if len(lines) != 1 {
				t.Fatalf("%v", logs.All())
			}
			contains(t, lines[0].ContextMap()["error"].(string), row.why)
		})
	}
}

// The server does not try what killed or crashed the other process: it may be
// the end of the server, too. The reload is refused, and the next one works.
func TestReloadApartKilled(t *testing.T) {
	for _, row := range []struct{ name, script, why string }{
		{"killed", `cat > /dev/null; kill -9 $$`, "signal: killed"},
		{"killed while it delivers", `export ` + beLoader + `=1; "$0" "$@" | head -c 200000; kill -9 $$`, "signal: killed"},
		{"killed before it reads", `kill -9 $$`, "signal: killed"},
		{"ended", `cat > /dev/null; kill -TERM $$`, "signal: terminated"},
		{"out of memory", `cat > /dev/null; printf 'fatal error: runtime: out of memory\n\n' >&2; yes 'goroutine 1' | head -c 100000 >&2; exit 2`, "runtime: out of memory"},
		{"panics", `cat > /dev/null; echo 'panic: index out of range' >&2; exit 2`, "index out of range"},
	} {
		t.Run(row.name, func(t *testing.T) {
			dirWith(t, "", serial(1, "www A 127.0.0.1 ; @primary check=none\n"))
			a, logs := launchHere(t, apartBy(t, `if [ -e again ]; then `+runLoader+`; fi; `+row.script))
			put(t, "a.zone", big(1, "127.0.0.2"))
			problems := a.Reload(t.Context(), false)
			if got := query(t, a, "www.example.com"); got != "127.0.0.1" || !problems.Failed(false) {
				t.Fatalf("answered %s, %v", got, problems)
			}
			contains(t, problems.Error(), "a.zone: the process that loaded the zone was ended, or crashed", "hint: the log says how")
			lines := logs.FilterMessage("the load came to a bad end").All()
			if len(lines) != 1 {
				t.Fatalf("%v", logs.All())
			}
			contains(t, lines[0].ContextMap()["error"].(string), row.why)
			put(t, "again", "")
			if problems := a.Reload(t.Context(), false); problems.Failed(false) || query(t, a, "www.example.com") != "127.0.0.2" {
				t.Errorf("answered %s, %v", query(t, a, "www.example.com"), problems)
			}
		})
	}
}

// On a machine without idle time the load takes its share after a while. The one
// that got no time may take as long to die, with what it has open.
func TestReloadApartWithoutIdleTime(t *testing.T) {
	dirWith(t, "", serial(1, "www A 127.0.0.1 ; @primary check=none\n"))
	a, logs := launchHere(t, apartBy(t, `if [ ! -e ran ]; then echo x >> ran; sleep 10 & wait; fi; echo "$1" > when; `+runLoader),
		func(o *Options) { o.IdleLoad = 300 * time.Millisecond })
	put(t, "a.zone", big(1, "127.0.0.2"))
	began := time.Now()
	if problems := a.Reload(t.Context(), false); problems.Failed(false) {
		t.Fatal(problems)
	}
	if took := time.Since(began); took > 9*time.Second {
		t.Errorf("waited %v, until the first load was gone", took)
	}
	if lines, _ := os.ReadFile("ran"); len(lines) != 4 || query(t, a, "www.example.com") != "127.0.0.2" {
		t.Errorf("%d attempts, %s", len(lines)/2, query(t, a, "www.example.com"))
	}
	if when, _ := os.ReadFile("when"); string(when) != LoadNice+"\n" {
		t.Errorf("the second load ran %s", when)
	}
	if n := logs.FilterMessage("the machine has no idle time: the load begins anew, and takes its share").Len(); n != 1 {
		t.Errorf("%v", logs.All())
	}
	if n := logs.FilterMessage("the zone is loaded by the server itself").Len(); n != 0 {
		t.Errorf("%v", logs.All())
	}
}

// A load that has delivered and stays is not waited for, and ended after a while.
func TestReloadApartLingers(t *testing.T) {
	dirWith(t, "", serial(1, "www A 127.0.0.1 ; @primary check=none\n"))
	a, _ := launchHere(t, apartBy(t, `export `+beLoader+`=1; echo $$ > pid; "$0" "$@"; exec sleep 20`))
	put(t, "a.zone", big(1, "127.0.0.2"))
	began := time.Now()
	if problems := a.Reload(t.Context(), false); problems.Failed(false) || query(t, a, "www.example.com") != "127.0.0.2" {
		t.Fatalf("%v, %s", problems, query(t, a, "www.example.com"))
	}
	if took := time.Since(began); took > 15*time.Second {
		t.Errorf("waited %v for its end", took)
	}
	pid, err := os.ReadFile("pid")
	if err != nil {
		t.Fatal(err)
	}
	eventually(t, "its end", func() bool { _, err := os.Stat("/proc/" + strings.TrimSpace(string(pid))); return err != nil })
}

// A stop does not wait for a load, and leaves no process behind.
func TestStopEndsLoadApart(t *testing.T) {
	dirWith(t, "", serial(1, "www A 127.0.0.1 ; @primary check=none\n"))
	a, _ := launchHere(t, apartBy(t, `echo $$ > pid; exec sleep 60`))
	put(t, "a.zone", big(1, "127.0.0.2"))
	done := make(chan zone.Problems, 1)
	go func() { done <- a.Reload(context.Background(), false) }()
	eventually(t, "the load", func() bool { text, err := os.ReadFile("pid"); return err == nil && len(text) > 1 })
	stat, err := exec.Command("/bin/sh", "-c", "cut -d' ' -f1,5 /proc/$(cat pid)/stat").Output()
	if words := strings.Fields(string(stat)); err != nil || len(words) != 2 || words[0] != words[1] { // Ctrl-C would end it
		t.Errorf("process and process group %q, %v", words, err)
	}
	stopApp(t, a)
	if problems := <-done; !problems.Failed(false) {
		t.Error("reloaded")
	}
	pid, err := os.ReadFile("pid")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat("/proc/" + strings.TrimSpace(string(pid))); err == nil {
		t.Error("the process is still there")
	}
}

// busyLoader makes the delivery in a file. What is watched is the shell, which is
// busy all the time and has no need of idle cores: other tests may leave none.
const busyLoader = `exec 3<&0; (export ` + beLoader + `=1; "$0" nice <&3 >made; echo x >done) & while [ ! -e done ]; do :; done; `

// A load that gets on is not begun anew, however long it takes.
func TestReloadApartSlow(t *testing.T) {
	dirWith(t, "", serial(1, "www A 127.0.0.1 ; @primary check=none\n"))
	a, logs := launchHere(t, apartBy(t, `i=0; `+busyLoader+`while [ $i -lt 4000000 ]; do i=$((i+1)); done; exec cat made`),
		func(o *Options) { o.IdleLoad = time.Second })
	put(t, "a.zone", big(1, "127.0.0.2"))
	began := time.Now()
	if problems := a.Reload(t.Context(), false); problems.Failed(false) || query(t, a, "www.example.com") != "127.0.0.2" {
		t.Fatalf("%v, %s", problems, query(t, a, "www.example.com"))
	}
	if took := time.Since(began); took < a.opts.IdleLoad {
		t.Errorf("it took %v, too little to show anything", took)
	}
	begun := logs.FilterMessage("loading a large zone in a process of its own, in idle time").All()
	if len(begun) != 1 || begun[0].ContextMap()["zone"] != "example.com" {
		t.Errorf("%v", logs.All())
	}
	if n := logs.FilterMessage("the machine has no idle time: the load begins anew, and takes its share").Len(); n != 0 {
		t.Errorf("%v", logs.All())
	}
}

// A load that is done has no work left, and may wait for a server that is busy.
func TestReloadApartSlowTaking(t *testing.T) {
	dirWith(t, "", serial(1, "www A 127.0.0.1 ; @primary check=none\n"))
	a, logs := launchHere(t, apartBy(t, busyLoader+`head -c 1000 made; sleep 2; tail -c +1001 made`),
		func(o *Options) { o.IdleLoad = time.Second })
	put(t, "a.zone", big(1, "127.0.0.2"))
	if problems := a.Reload(t.Context(), false); problems.Failed(false) || query(t, a, "www.example.com") != "127.0.0.2" {
		t.Fatalf("%v, %s", problems, query(t, a, "www.example.com"))
	}
	if n := logs.FilterMessage("the machine has no idle time: the load begins anew, and takes its share").Len(); n != 0 {
		t.Errorf("%v", logs.All())
	}
}

// Rests are taken at every n-th chance of the many that a load gives.
func TestEvery(t *testing.T) {
	cfg := configured(t, checksText, varied)
	chances, rests := 0, 0
	third := every(3, func() { rests++ })
	z, problems := loadGently(cfg.Zones[0], cfg.Vocabulary(), nil, func() { chances++; third() })
	if z == nil || chances < 3*z.records || rests != chances/3 {
		t.Errorf("%d chances, %d rests; %v", chances, rests, problems)
	}
}

// A load starves that gets less than its share, and none that gets it, also when
// the server itself stood still for a while and so looks late.
func TestStarves(t *testing.T) {
	for _, c := range []struct {
		share time.Duration // one of so many parts of a core
		late  time.Duration
		want  error
	}{{10, 0, nil}, {10, 4900 * time.Millisecond, nil}, {30, 0, errStarved}} {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithCancelCause(t.Context())
			began, looks := time.Now(), 0
			starves(ctx, func() (time.Duration, error) {
				if looks++; looks == 2 {
					<-time.After(c.late)
				}
				if looks == 10 {
					return 0, os.ErrProcessDone
				}
				return time.Since(began) / c.share, nil
			}, defaultIdleLoad, cancel)
			if err := context.Cause(ctx); !errors.Is(err, c.want) || (looks == 10) != (c.want == nil) {
				t.Errorf("1/%d of a core, %v late: %v after %d looks", c.share, c.late, err, looks)
			}
			cancel(nil)
		})
	}
}

// A load collects garbage seldom, unless the operator has said how often.
func TestReloadApartCollects(t *testing.T) {
	for set, want := range map[string]string{"": "400", "50": "50"} {
		t.Setenv("GOGC", set)
		if set == "" {
			os.Unsetenv("GOGC") // Setenv puts it back
		}
		dirWith(t, "", serial(1, "www A 127.0.0.1 ; @primary check=none\n"))
		a, _ := launchHere(t, apartBy(t, `echo $GOGC > gc; `+runLoader))
		put(t, "a.zone", big(1, "127.0.0.2"))
		if problems := a.Reload(t.Context(), false); problems.Failed(false) {
			t.Fatal(problems)
		}
		if got, err := os.ReadFile("gc"); err != nil || string(got) != want+"\n" {
			t.Errorf("GOGC=%s here, %q there, %v; want %s", set, got, err, want)
		}
		stopApp(t, a)
	}
}
