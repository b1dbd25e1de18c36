package main_test

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/miekg/dns"
)

const www = "www.gslb.example.com"

// steady is a group that needs no target.
const steady = "www A 127.0.0.70 ; @primary check=none\nwww A 127.0.0.71 ; @secondary check=none"

// TestReload: a new zone and new checks are taken, with states kept.
func TestReload(t *testing.T) {
	t.Parallel()
	first, second := webTarget(t, "127.0.0.72:0"), webTarget(t, "127.0.0.73:0")
	records := fmt.Sprintf("www A 127.0.0.72 ; @primary check=web target=%s\nwww A 127.0.0.73 ; @secondary check=web target=%s", first.address, second.address)
	dir := site(t, quick+"policies: { other: { check: [ port, smtp, ping ] } }\nwatch: false\n", records)
	s := serve(t, dir)
	s.expectMembers(map[string]string{"127.0.0.72": "up", "127.0.0.73": "up"}, www)
	first.down()
	s.expect("NOERROR 127.0.0.73", www, "A")
	since := s.status(www).Groups[0].Since
	write(t, filepath.Join(dir, "gslb.zone"), zoneText(1, records+"\nnew A 127.0.0.74"))
	if got := run(t, dir, "reload"); got.code != 0 || got.stdout != "reloaded: 1 zone with the same serial\n" || got.stderr != "" {
		t.Errorf("got %+v", got)
	}
	if got := s.dig("new.gslb.example.com", "A").String(); got != "NOERROR 127.0.0.74" {
		t.Errorf("new record: %s", got)
	}
	if got := s.dig(www, "A").String(); got != "NOERROR 127.0.0.73" {
		t.Errorf("the state was lost: %s", got)
	}
	if got := s.status(www).Groups[0].Since; !got.Equal(since) {
		t.Errorf("the answer is of %v, was of %v", got, since)
	}
}

// TestReloadBroken: every problem is named, what was served stays, and the
// next good reload works.
func TestReloadBroken(t *testing.T) {
	t.Parallel()
	dir := site(t, quick+"watch: false\n", steady)
	s := serve(t, dir)
	tests := []struct{ file, text, message string }{
		{"gslb.zone", zoneText(2, "www A 127.0.0.300 ; @primary check=web\nwww A 127.0.0.1 ; @primary check=wbe"), "gslb.zone:5: "},
		{"gslb.zone", zoneText(2, "www A 127.0.0.1 ; @primary check=wbe"), `did you mean "web"?`},
		{"gslb.zone", zoneText(2, "www A 127.0.0.70\nwww A 127.0.0.71"), "www.gslb.example.com/A was steered and now has 2 records without annotation"},
		{"gslbd.yaml", "listen: [ \"127.0.0.1:0\" ]\nzone: []\n", `gslbd.yaml:2: zone: unknown key`},
	}
	for _, tt := range tests {
		name := filepath.Join(dir, tt.file)
		before := read(t, name)
		write(t, name, tt.text)
		// The client finds its socket in a broken configuration too.
		got := run(t, dir, "reload")
		if got.code != 1 || got.stdout != "" || !strings.Contains(got.stderr, tt.message) ||
			!strings.HasSuffix(got.stderr, "reload refused: what was served before is served on\n") {
			t.Errorf("got %d %s%s\nwant %s", got.code, got.stdout, got.stderr, tt.message)
		}
		if got := s.dig(www, "A").String(); got != "NOERROR 127.0.0.70" {
			t.Errorf("after %s: got %s", tt.message, got)
		}
		if serial := s.status("").Zones[0].Serial; serial != 1 {
			t.Errorf("after %s: serial %d", tt.message, serial)
		}
		if tt.file == "gslb.zone" {
			if problem := s.status("").Zones[0].Problem; problem == "" {
				t.Errorf("after %s: status says nothing", tt.message)
			}
		}
		write(t, name, before)
	}
	write(t, filepath.Join(dir, "gslb.zone"), zoneText(3, "www A 127.0.0.70\nwww A 127.0.0.75"))
	if got := run(t, dir, "reload", "--accept-unsteered"); got.code != 0 {
		t.Errorf("got %+v", got)
	}
	if got := s.dig(www, "A").String(); got != "NOERROR 127.0.0.70 127.0.0.75" {
		t.Errorf("got %s", got)
	}
	if z := s.status("").Zones[0]; z.Serial != 3 || z.Problem != "" {
		t.Errorf("got %+v", z)
	}
}

// TestReloadFixed: what is read at the start only is said to wait.
func TestReloadFixed(t *testing.T) {
	t.Parallel()
	dir := site(t, quick, steady)
	s := serve(t, dir)
	name := filepath.Join(dir, "gslbd.yaml")
	write(t, name, read(t, name)+"udp: { workers: 2 }\nlog: { level: debug }\n")
	got := run(t, dir, "reload")
	for _, want := range []string{
		": warning: udp.workers changed: takes effect at a restart",
		": warning: log.level changed: takes effect at a restart",
	} {
		if got.code != 0 || got.stdout != "reloaded: 1 zone with the same serial\n" || !strings.Contains(got.stderr, want) {
			t.Errorf("got %+v\nwant %s", got, want)
		}
	}
	if got := s.dig(www, "A").String(); got != "NOERROR 127.0.0.70" {
		t.Errorf("got %s", got)
	}
}

// TestHangup: SIGHUP reloads, and a broken file is logged and survived.
func TestHangup(t *testing.T) {
	t.Parallel()
	dir := site(t, quick+"watch: false\n", steady)
	s := serve(t, dir)
	write(t, filepath.Join(dir, "gslb.zone"), zoneText(2, "www A 127.0.0.76 ; @primary check=none"))
	s.signal(syscall.SIGHUP)
	s.expect("NOERROR 127.0.0.76", www, "A")
	if err := os.Remove(filepath.Join(dir, "gslb.zone")); err != nil {
		t.Fatal(err)
	}
	s.signal(syscall.SIGHUP)
	s.expectLog("reload refused")
	s.expectLog("gslb.zone: ")
	s.expect("NOERROR 127.0.0.76", www, "A")
}

// TestReloadUnderLoad: reloads in a row, and not one query is lost, refused or
// answered otherwise.
func TestReloadUnderLoad(t *testing.T) {
	dir := site(t, quick+"watch: false\n", steady)
	s := serve(t, dir)
	var sent, answered atomic.Int64
	stop := make(chan struct{})
	var clients sync.WaitGroup
	for i := range 4 {
		clients.Go(func() {
			client := &dns.Client{Net: []string{"udp", "tcp"}[i%2], Timeout: 5 * time.Second}
			query := new(dns.Msg).SetQuestion(www+".", dns.TypeA)
			for {
				select {
				case <-stop:
					return
				default:
				}
				sent.Add(1)
				got, _, err := client.Exchange(query, s.addr.String())
				switch {
				case err != nil:
					t.Errorf("query lost: %v", err)
				case got.Rcode != dns.RcodeSuccess || len(got.Answer) != 1 || !got.Answer[0].(*dns.A).A.Equal(net.IPv4(127, 0, 0, 70)):
					t.Errorf("wrong answer: %v", got)
				default:
					answered.Add(1)
				}
			}
		})
	}
	const reloads = 25
	for i := range reloads {
		write(t, filepath.Join(dir, "gslb.zone"), zoneText(i+2, steady+fmt.Sprintf("\nr%d A 127.0.0.77", i)))
		reply, err := s.client().Reload(t.Context(), false)
		if err != nil || !reply.OK {
			t.Fatalf("reload %d: %+v, %v", i, reply, err)
		}
		if got := s.dig(fmt.Sprintf("r%d.gslb.example.com", i), "A").String(); got != "NOERROR 127.0.0.77" {
			t.Errorf("after reload %d: got %s", i, got)
		}
	}
	close(stop)
	clients.Wait()
	if sent.Load() != answered.Load() || sent.Load() < reloads {
		t.Errorf("%d queries sent, %d answered", sent.Load(), answered.Load())
	}
	t.Logf("%d queries during %d reloads, all answered", answered.Load(), reloads)
}

// TestReloadLarge: a zone that is read by a process of its own is served with
// its groups as the one before was.
func TestReloadLarge(t *testing.T) {
	dir := site(t, quick+"watch: false\n", steady)
	s := serve(t, dir)
	var many strings.Builder
	for i := range 20_000 {
		fmt.Fprintf(&many, "\na-name-of-some-length-%d A 127.0.0.77", i)
	}
	for i := range 3 {
		write(t, filepath.Join(dir, "gslb.zone"), zoneText(i+2, steady+many.String()+fmt.Sprintf("\nr%d A 127.0.0.78", i)))
		if reply, err := s.client().Reload(t.Context(), false); err != nil || !reply.OK {
			t.Fatalf("reload %d: %+v, %v", i, reply, err)
		}
		s.expect("NOERROR 127.0.0.78", fmt.Sprintf("r%d.gslb.example.com", i), "A")
		s.expect("NOERROR 127.0.0.77", "a-name-of-some-length-19999.gslb.example.com", "A")
		s.expect("NOERROR 127.0.0.70", www, "A")
	}
	if log := s.log.String(); strings.Contains(log, "loaded by the server itself") {
		t.Error(log)
	}
}

// TestLoadZoneSignals: the signals that a service manager sends to all processes
// of the server do not end a load, which would make the server load instead of
// stop.
func TestLoadZoneSignals(t *testing.T) {
	if runtime.GOOS != "linux" {
		skip(t, "needs proc_pid_status(5)")
	}
	cmd := program(t, t.TempDir(), "load-zone", "idle")
	order, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer cmd.Process.Kill()
	waitFor(t, "it to ignore SIGHUP, SIGINT and SIGTERM", func() error {
		status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", cmd.Process.Pid))
		if err == nil && !regexp.MustCompile(`SigIgn:\s[0-9a-f]{12}[4-7]003`).Match(status) {
			err = fmt.Errorf("its state:\n%s", status)
		}
		return err
	})
	for _, sig := range []syscall.Signal{syscall.SIGHUP, syscall.SIGINT, syscall.SIGTERM} {
		if err := cmd.Process.Signal(sig); err != nil {
			t.Error(err)
		}
	}
	io.WriteString(order, "hello")
	order.Close()
	if cmd.Wait(); cmd.ProcessState.ExitCode() != 1 || stdout.Len() > 0 || !strings.HasPrefix(stderr.String(), "gslbd: reading the order: ") {
		t.Errorf("%v, %q, %q", cmd.ProcessState, stdout.String(), stderr.String())
	}
}
