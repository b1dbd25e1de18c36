package main_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// expectProblem waits until status says this of the zone's file.
func (s *daemon) expectProblem(want string) {
	s.t.Helper()
	waitFor(s.t, fmt.Sprintf("the zone's problem to be %q", want), func() error {
		got := s.status("").Zones[0].Problem
		if want == "" && got != "" || !strings.Contains(got, want) {
			return errors.New("got " + got)
		}
		return nil
	})
}

// TestWatch: a file with a new serial is loaded, one without is reported.
func TestWatch(t *testing.T) {
	t.Parallel()
	dir := site(t, quick, steady)
	name := filepath.Join(dir, "gslb.zone")
	s := serve(t, dir)

	write(t, name, zoneText(2, steady+"\nnew A 127.0.0.80"))
	s.expect("NOERROR 127.0.0.80", "new.gslb.example.com", "A")

	write(t, name, zoneText(2, steady+"\nlate A 127.0.0.81"))
	const unchanged = "changed on disk, serial still 2: not loaded; raise the serial or run gslbd reload"
	s.expectProblem(unchanged)
	s.expectLog(unchanged)
	if got := s.dig("late.gslb.example.com", "A").rcode; got != "NXDOMAIN" {
		t.Errorf("got %s", got)
	}
	if got := run(t, dir, "status").stdout; !strings.Contains(got, "zone gslb.example.com: "+unchanged) {
		t.Errorf("got %s", got)
	}

	write(t, name, zoneText(2, steady+"\nnew A 127.0.0.80"))
	s.expectProblem("")

	write(t, name, zoneText(3, steady+"\nlate CNAME"))
	s.expectProblem("gslb.zone:7: ")
	s.expectLog("reload refused")
	if got := s.dig(www, "A").String(); got != "NOERROR 127.0.0.70" {
		t.Errorf("got %s", got)
	}

	write(t, name, zoneText(1, steady+"\nback A 127.0.0.82"))
	s.expect("NOERROR 127.0.0.82", "back.gslb.example.com", "A")
	s.expectProblem("")
	s.expectLog(`"event":"serial went backwards"`)

	if err := os.Remove(name); err != nil {
		t.Fatal(err)
	}
	s.expectProblem("no such file")
	if got := s.dig(www, "A").String(); got != "NOERROR 127.0.0.70" {
		t.Errorf("got %s", got)
	}
}

// TestWatchWays: the ways in which files are replaced in practice.
func TestWatchWays(t *testing.T) {
	t.Parallel()
	dir := site(t, quick, "")
	name := filepath.Join(dir, "gslb.zone")
	mkdir := func(release string, serial int) {
		path := filepath.Join(dir, release)
		if err := os.Mkdir(path, 0o755); err != nil {
			t.Fatal(err)
		}
		write(t, filepath.Join(path, "gslb.zone"), zoneText(serial, fmt.Sprintf("$INCLUDE part\nv A 127.0.1.%d", serial)))
		write(t, filepath.Join(path, "part"), "part A 127.0.2.1\n")
	}
	link := func(target, name string) {
		if err := os.Symlink(target, name+".new"); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(name+".new", name); err != nil {
			t.Fatal(err)
		}
	}
	// As a Kubernetes ConfigMap is mounted: name -> ..data/name, ..data -> ..1
	mkdir("..1", 1)
	link("..1", filepath.Join(dir, "..data"))
	link("..data/gslb.zone", name)
	write(t, filepath.Join(dir, "part"), "part A 127.0.2.1\n")
	s := serve(t, dir)
	s.expect("NOERROR 127.0.1.1", "v.gslb.example.com", "A")

	mkdir("..2", 2)
	link("..2", filepath.Join(dir, "..data"))
	if err := os.RemoveAll(filepath.Join(dir, "..1")); err != nil {
		t.Fatal(err)
	}
	s.expect("NOERROR 127.0.1.2", "v.gslb.example.com", "A")

	// As editors save: a new file renamed over the old one.
	write(t, name+"~", zoneText(3, "$INCLUDE part\nv A 127.0.1.3"))
	if err := os.Rename(name+"~", name); err != nil {
		t.Fatal(err)
	}
	s.expect("NOERROR 127.0.1.3", "v.gslb.example.com", "A")

	// An included file alone.
	write(t, filepath.Join(dir, "part"), "part A 127.0.2.2\n")
	s.expectProblem("serial still 3")
	write(t, name, zoneText(4, "$INCLUDE part\nv A 127.0.1.4"))
	s.expect("NOERROR 127.0.1.4", "v.gslb.example.com", "A")
	s.expect("NOERROR 127.0.2.2", "part.gslb.example.com", "A")
	s.expectProblem("")
}
