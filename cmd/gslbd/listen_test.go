package main_test

import (
	"fmt"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/miekg/dns"
)

// listening rewrites the listen line of a site.
func listening(t *testing.T, dir, list string) {
	t.Helper()
	name := filepath.Join(dir, "gslbd.yaml")
	_, rest, _ := strings.Cut(read(t, name), "\n")
	write(t, name, "listen: "+list+"\n"+rest)
}

// at asks the server at another address than its first.
func (s *daemon) at(addr string, args ...string) string {
	s.t.Helper()
	other := &daemon{t: s.t, wrap: s.wrap, addr: netip.MustParseAddrPort(addr)}
	return other.dig(args...).String()
}

// abandoned waits until nothing listens at addr.
func abandoned(t *testing.T, addr string) {
	t.Helper()
	waitFor(t, addr+" to be given up", func() error {
		if conn, err := net.Dial("tcp", addr); err == nil {
			conn.Close()
			return fmt.Errorf("something listens there")
		}
		return nil
	})
}

// TestReloadListen: addresses are added and removed by reload and by SIGHUP;
// one that cannot be bound refuses the reload and names itself.
func TestReloadListen(t *testing.T) {
	t.Parallel()
	port := freePort(t)
	one, two, taken := fmt.Sprintf("127.0.0.81:%d", port), fmt.Sprintf("127.0.0.82:%d", port), fmt.Sprintf("127.0.0.83:%d", port)
	dir := site(t, fmt.Sprintf("listen: [ %q ]\nwatch: false\n", one), steady)
	s := serve(t, dir)
	const want = "NOERROR 127.0.0.70"
	listening(t, dir, fmt.Sprintf("[ %q, %q ]", two, one))
	if got := run(t, dir, "reload"); got.code != 0 || got.stderr != "" {
		t.Errorf("got %+v", got)
	}
	for _, addr := range []string{one, two} {
		for _, transport := range []string{"+notcp", "+tcp"} {
			if got := s.at(addr, www, "A", transport); got != want {
				t.Errorf("%s %s: %s", addr, transport, got)
			}
		}
	}
	other, err := net.Listen("tcp", taken)
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	listening(t, dir, fmt.Sprintf("[ %q ]", taken))
	write(t, filepath.Join(dir, "gslb.zone"), zoneText(2, "www A 127.0.0.76 ; @primary check=none"))
	got := run(t, dir, "reload")
	message := fmt.Sprintf("gslbd.yaml:1: listen tcp %q: address already in use\n  hint: `ss -ltnp 'sport = :%d'` shows which process has the port; "+
		"stop it, or listen on another address or port\ngslbd: reload refused: what was served before is served on\n", taken, port)
	if got.code != 1 || got.stdout != "" || !strings.HasSuffix(got.stderr, message) {
		t.Errorf("got %+v\nwant %s", got, message)
	}
	for _, addr := range []string{one, two} {
		if got := s.at(addr, www, "A"); got != want {
			t.Errorf("after the refusal %s answers %s", addr, got)
		}
	}
	listening(t, dir, fmt.Sprintf("[ %q ]", two))
	s.signal(syscall.SIGHUP)
	abandoned(t, one)
	if got := s.at(two, www, "A"); got != "NOERROR 127.0.0.76" {
		t.Errorf("got %s", got)
	}
	s.expectLog(fmt.Sprintf(`"event":"no longer listening","address":%q`, one))
}

// TestReloadListenUnderLoad: addresses come and go, single ones give way to
// ":port" and back, and clients of one that stays notice nothing.
func TestReloadListenUnderLoad(t *testing.T) {
	port := freePort(t)
	one, two := fmt.Sprintf("127.0.0.84:%d", port), fmt.Sprintf("127.0.0.85:%d", port)
	dir := site(t, fmt.Sprintf("listen: [ %q ]\nwatch: false\n", one), steady)
	s := serve(t, dir)
	var sent, answered atomic.Int64
	stop := make(chan struct{})
	var clients sync.WaitGroup
	for range 4 {
		clients.Go(func() {
			client := &dns.Client{Timeout: 5 * time.Second}
			query := new(dns.Msg).SetQuestion(www+".", dns.TypeA)
			for {
				select {
				case <-stop:
					return
				default:
				}
				sent.Add(1)
				if got, _, err := client.Exchange(query, one); err != nil || len(got.Answer) != 1 {
					t.Errorf("query lost: %v, %v", got, err)
					return
				}
				answered.Add(1)
			}
		})
	}
	const rounds = 8
	for range rounds {
		for _, list := range []string{fmt.Sprintf("[ %q, %q ]", two, one), fmt.Sprintf("[ %q ]", one), fmt.Sprintf(`":%d"`, port), fmt.Sprintf("[ %q ]", one)} {
			listening(t, dir, list)
			if reply, err := s.client().Reload(t.Context(), false); err != nil || !reply.OK {
				t.Fatalf("%s: %+v, %v", list, reply, err)
			}
			if got := s.at(one, www, "A", "+tcp"); got != "NOERROR 127.0.0.70" {
				t.Errorf("%s: got %s", list, got)
			}
		}
	}
	close(stop)
	clients.Wait()
	if sent.Load() != answered.Load() || sent.Load() < rounds {
		t.Errorf("%d queries sent, %d answered", sent.Load(), answered.Load())
	}
	t.Logf("%d queries during %d reloads, all answered", answered.Load(), 4*rounds)
}

// TestReloadBeyondThreads: new addresses for whose workers a limit of threads has no room are refused; the server, which
// would end without threads, goes on, and takes them when the limit is raised.
func TestReloadBeyondThreads(t *testing.T) {
	const room = 100
	dir := site(t, "udp: { workers: 8 }\nwatch: false\n", steady)
	server := func() *exec.Cmd {
		cmd := program(t, dir, "serve")
		if os.Geteuid() == 0 { // whom that limit does not bind
			const other = 64123
			if err := os.Chown(dir, other, other); err != nil {
				t.Fatal(err)
			}
			cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: other, Gid: other}}
			cmd.Path = copyProgram(t, cmd.Path)
		}
		return cmd
	}
	s := started(t, dir, server())
	limit := func(n int) {
		cmd := exec.Command("prlimit", fmt.Sprintf("--pid=%d", s.cmd.Process.Pid), fmt.Sprintf("--nproc=%d:", n))
		cmd.SysProcAttr = s.cmd.SysProcAttr
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("prlimit: %v: %s", err, out)
		}
	}
	user := fmt.Sprint(os.Geteuid())
	if c := s.cmd.SysProcAttr; c != nil {
		user = fmt.Sprint(c.Credential.Uid)
	}
	threads, err := exec.Command("ps", "-L", "-o", "lwp=", "-u", user).Output()
	if err != nil {
		t.Fatal(err)
	}
	there := strings.Count(string(threads), "\n")
	limit(there + room)
	var list []string
	port := freePort(t)
	for i := range 30 {
		list = append(list, fmt.Sprintf("127.0.9.%d:%d", i+1, port))
	}
	list = append(list, s.addr.String())
	listening(t, dir, strings.ReplaceAll(fmt.Sprintf("%q", list), " ", ", "))
	got := run(t, dir, "reload")
	want := regexp.MustCompile(fmt.Sprintf(`^gslbd\.yaml:1: listen: no threads for 240 more UDP workers: the limit of processes of user %s \(ulimit -u, LimitNPROC=\) is %d, \d+ are there, and the rest of the server needs some
  hint: raise that limit to \d+ or more, or listen on fewer addresses(, or set udp\.workers to \d+ and restart)?
gslbd: reload refused: what was served before is served on
$`, user, there+room))
	if got.code != 1 || got.stdout != "" || !want.MatchString(got.stderr) {
		t.Errorf("got %+v\nwant %s", got, want)
	}
	if got := s.dig(www, "A").String(); got != "NOERROR 127.0.0.70" {
		t.Errorf("after the refusal: %s", got)
	}
	limit(there + 10*room)
	if got := run(t, dir, "reload"); got.code != 0 {
		t.Fatalf("with more room: %+v", got)
	}
	if got := s.at(list[29], www, "A"); got != "NOERROR 127.0.0.70" {
		t.Errorf("%s: %s", list[29], got)
	}
}
