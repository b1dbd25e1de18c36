package main_test

import (
	"errors"
	"fmt"
	"hash/crc32"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// silentTarget takes connections and says nothing until it goes down.
func silentTarget(t *testing.T, address string) *target {
	return newTarget(t, address, func(ln net.Listener) {
		var held []net.Conn
		for {
			conn, err := ln.Accept()
			if err != nil {
				for _, c := range held {
					c.Close()
				}
				return
			}
			held = append(held, conn)
		}
	})
}

// end stops the server with SIGTERM, or kills it after the file on disk knows
// of its last change.
func (s *daemon) end(kill bool, knows string) {
	s.t.Helper()
	if !kill {
		s.stop(syscall.SIGTERM)
		return
	}
	waitFor(s.t, "the state to be on disk", func() error {
		text, err := os.ReadFile(filepath.Join(s.dir, "state", "state.json"))
		if err == nil && !strings.Contains(string(text), knows) {
			err = fmt.Errorf("not in %s", text)
		}
		return err
	})
	s.cmd.Process.Kill()
	<-s.done
}

// TestRestartAllDown: whoever restarts the server while everything is down, and
// however, gets the answer from before, even before the first round is over.
func TestRestartAllDown(t *testing.T) {
	t.Parallel()
	for _, kill := range []bool{false, true} {
		t.Run(fmt.Sprintf("kill %v", kill), func(t *testing.T) {
			t.Parallel()
			first, second := webTarget(t, "127.0.0.70:0"), webTarget(t, "127.0.0.71:0")
			dir := site(t, "state_dir: state\n"+quick, fmt.Sprintf(`
www A 127.0.0.70 ; @primary   check=web target=%s
www A 127.0.0.71 ; @secondary check=web target=%s`, first.address, second.address))
			const name = "www.gslb.example.com"
			s := serve(t, dir)
			s.expect("NOERROR 127.0.0.70", name, "A")
			s.expectMembers(map[string]string{"127.0.0.70": "up", "127.0.0.71": "up"}, name)
			first.down()
			s.expect("NOERROR 127.0.0.71", name, "A")
			second.down()
			s.expectStatus("critical secondary: "+bothDown, name)
			s.end(kill, `"rule":"keep"`)
			silentTarget(t, first.address)
			silentTarget(t, second.address)
			for range 2 {
				s = serve(t, dir)
				if got := s.dig(name, "A").String(); got != "NOERROR 127.0.0.71" {
					t.Errorf("at once: got %s", got)
				}
				waitFor(t, "the first rounds", func() error {
					if !s.status("").Ready {
						return errors.New("not ready")
					}
					return nil
				})
				s.expectStatus("critical secondary: "+bothDown, name)
				if got := s.dig(name, "A").String(); got != "NOERROR 127.0.0.71" {
					t.Errorf("after the first round: got %s", got)
				}
				s.end(kill, `"rule":"keep"`)
			}
		})
	}
}

// TestRestartSingleFailure: after a restart one failed round does not turn a
// saved up, and one passed round no saved down.
func TestRestartSingleFailure(t *testing.T) {
	t.Parallel()
	first, second := webTarget(t, "127.0.0.72:0"), webTarget(t, "127.0.0.73:0")
	dir := site(t, "state_dir: state\n"+quick, fmt.Sprintf(`
www A 127.0.0.72 ; @primary   check=web target=%[1]s
www A 127.0.0.73 ; @secondary check=web target=%[2]s
alt A 127.0.0.73 ; @primary   check=web target=%[2]s
alt A 127.0.0.72 ; @secondary check=web target=%[1]s`, first.address, second.address))
	const www, alt = "www.gslb.example.com", "alt.gslb.example.com"
	s := serve(t, dir)
	second.down()
	for _, name := range []string{www, alt} { // each with its own Host, so its own probes
		s.expectMembers(map[string]string{"127.0.0.72": "up", "127.0.0.73": "down"}, name)
	}
	s.stop(syscall.SIGTERM)
	first.down()
	second.up()
	config := filepath.Join(dir, "gslbd.yaml") // one round, and the next in half an hour or so
	write(t, config, strings.ReplaceAll(read(t, config), "interval: 100ms", "interval: 24h"))
	s = serve(t, dir)
	waitFor(t, "one round of each", func() error {
		if !s.status("").Ready {
			return errors.New("not yet")
		}
		return nil
	})
	for _, name := range []string{www, alt} {
		s.expectMembers(map[string]string{"127.0.0.72": "up", "127.0.0.73": "down"}, name)
	}
	if a, b := s.dig(www, "A").String(), s.dig(alt, "A").String(); a != "NOERROR 127.0.0.72" || b != "NOERROR 127.0.0.72" {
		t.Errorf("www %s, alt %s", a, b)
	}
	if out := run(t, dir, "status").stdout; !strings.Contains(out, "connection refused") {
		t.Errorf("the failure is not in the status:\n%s", out)
	}
}

// TestRestartDamagedState: whatever lies there, the server starts.
func TestRestartDamagedState(t *testing.T) {
	t.Parallel()
	dir := site(t, "state_dir: state\n", "www A 127.0.0.74 ; @primary check=none")
	serve(t, dir).stop(syscall.SIGTERM)
	file := filepath.Join(dir, "state", "state.json")
	whole := read(t, file)
	for _, text := range []string{whole[:len(whole)/2], "", "\x00\x01garbage", `{"version":99}`} {
		write(t, file, text)
		s := serve(t, dir)
		if got := s.dig("www.gslb.example.com", "A").String(); got != "NOERROR 127.0.0.74" {
			t.Errorf("%q: got %s", text, got)
		}
		s.expectLog("saved state not used")
		if got := read(t, file+".damaged"); got != text {
			t.Errorf("set aside: %q, want %q", got, text)
		}
		s.stop(syscall.SIGTERM)
		if got := read(t, file); !strings.HasPrefix(got, `{"version":1,`) {
			t.Errorf("after %q the file is %q", text, got)
		}
	}
}

// TestRestartOldState: what is older than state_max_age is not used.
func TestRestartOldState(t *testing.T) {
	t.Parallel()
	first, second := silentTarget(t, "127.0.0.75:0"), silentTarget(t, "127.0.0.76:0")
	dir := site(t, "state_dir: state\nstate_max_age: 1h\nchecks: { web: { type: http, timeout: 1m } }\n", fmt.Sprintf(`
www A 127.0.0.75 ; @primary   check=web target=%s
www A 127.0.0.76 ; @secondary check=web target=%s`, first.address, second.address))
	const state = `{"version":1,"saved":%q,"groups":[{"zone":"gslb.example.com.","name":"www.gslb.example.com.","type":"A","previous":["127.0.0.76"],` +
		`"members":[{"data":"127.0.0.75","state":"down"},{"data":"127.0.0.76","state":"down"}]}]}` + "\n"
	if err := os.Mkdir(filepath.Join(dir, "state"), 0o755); err != nil {
		t.Fatal(err)
	}
	for minutes, want := range map[int]string{59: "NOERROR 127.0.0.76", 61: "NOERROR 127.0.0.75"} {
		line := fmt.Sprintf(state, time.Now().Add(-time.Duration(minutes)*time.Minute).Format(time.RFC3339))
		write(t, filepath.Join(dir, "state", "state.json"), fmt.Sprintf("%s%08x\n", line, crc32.ChecksumIEEE([]byte(line))))
		s := serve(t, dir)
		if got := s.dig("www.gslb.example.com", "A").String(); got != want {
			t.Errorf("after %d minutes: got %s, want %s", minutes, got, want)
		}
		s.stop(syscall.SIGTERM)
	}
}

// TestCombinedChecks: a member made of several checks, by each kind.
func TestCombinedChecks(t *testing.T) {
	t.Parallel()
	web := webTarget(t, "127.0.0.77:0")
	s := serve(t, site(t, quick+`
  other: { type: tcp, expect: nothing, interval: 100ms, timeout: 200ms, fall: 2, rise: 2 }
  every: { type: all, of: [ web, other ] }
  some: { type: any, of: [ other, web ] }
  two: { type: at_least, n: 2, of: [ some, web, other ] }
`, fmt.Sprintf(`
every A 127.0.0.77 ; @primary   check=every target=%[1]s
every A 127.0.0.78 ; @secondary check=none
some  A 127.0.0.77 ; @primary   check=some target=%[1]s
some  A 127.0.0.78 ; @secondary check=none
two   A 127.0.0.77 ; @primary   check=two target=%[1]s
two   A 127.0.0.78 ; @secondary check=none`, web.address)))
	s.expect("NOERROR 127.0.0.78", "every.gslb.example.com", "A")
	s.expect("NOERROR 127.0.0.77", "some.gslb.example.com", "A")
	s.expect("NOERROR 127.0.0.77", "two.gslb.example.com", "A")
	waitFor(t, "the cause in status", func() error {
		if out := run(t, s.dir, "status", "every.gslb.example.com").stdout; !strings.Contains(out, "every: 1 of 2 up, 2 needed; ") {
			return errors.New(out)
		}
		return nil
	})
	web.down()
	for _, name := range []string{"every", "some", "two"} {
		s.expect("NOERROR 127.0.0.78", name+".gslb.example.com", "A")
	}
	web.up()
	s.expect("NOERROR 127.0.0.77", "two.gslb.example.com", "A")
}
