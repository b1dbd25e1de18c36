package examples_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// running is an example's configuration and zone served by the real program.
type running struct {
	dns    string // port
	config string // file
}

// serveExample runs an example's files with replacements made (ports and
// intervals), and every documentation address as one of 127.0.0.0/8.
func serveExample(t *testing.T, example string, replace ...string) *running {
	t.Helper()
	need(t, "dig")
	r := &running{dns: freePort(t)}
	dir := files(t, example, append(replace, "5300", r.dns,
		"192.0.2.", "127.0.2.", "198.51.100.", "127.51.100.", "203.0.113.", "127.0.113.")...)
	r.config = filepath.Join(dir, "gslbd.yaml")
	onLoopback(t, filepath.Join(dir, "gslb.example.com.zone"))
	start(t, filepath.Join(bin, "gslbd"), "serve", "-c", r.config)
	return r
}

// onLoopback stops a test that would probe another machine.
func onLoopback(t *testing.T, zone string) {
	t.Helper()
	text, err := os.ReadFile(zone)
	if err != nil {
		t.Fatal(err)
	}
	here := regexp.MustCompile(`[\t ]127\.|target=\[::1\]`)
	for line := range strings.Lines(string(text)) {
		if strings.Contains(line, "; @") && !here.MatchString(line) {
			t.Fatalf("would probe another machine: %s", line)
		}
	}
}

// groupStatus is what `gslbd status` says of a group.
type groupStatus struct {
	Name, Type, State, Pool string
	Pools                   []struct {
		Name, State string
		Members     []struct {
			ID, State string
			LatencyMS float64 `json:"latency_ms"`
		}
	}
}

// group asks for the status of one group.
func (r *running) group(name, rrtype string) (groupStatus, error) {
	var status struct{ Groups []groupStatus }
	if err := command(&status, "status", "--json", "-c", r.config); err != nil {
		return groupStatus{}, err
	}
	i := slices.IndexFunc(status.Groups, func(g groupStatus) bool { return g.Name == name && g.Type == rrtype })
	if i < 0 {
		return groupStatus{}, fmt.Errorf("no group %s/%s", name, rrtype)
	}
	return status.Groups[i], nil
}

// members gives the states of the members in the order of the pools.
func (g groupStatus) members() string {
	var states []string
	for _, p := range g.Pools {
		for _, m := range p.Members {
			states = append(states, m.State)
		}
	}
	return strings.Join(states, " ")
}

// wait polls until the members of a group have these states.
func (r *running) wait(t *testing.T, name, rrtype, want string) {
	t.Helper()
	eventually(t, name+"/"+rrtype, func() string {
		g, err := r.group(name, rrtype)
		if err != nil {
			return err.Error()
		}
		if got := g.members(); got != want {
			return fmt.Sprintf("members are %s, want %s", got, want)
		}
		return ""
	})
}

// checked is what `gslbd check` says of a group, in seconds.
type checked struct {
	Name, Type string
	Detect     float64 `json:"detect_seconds"`
	Recover    float64 `json:"recover_seconds"`
	Client     float64 `json:"client_seconds"`
}

// checkExample wants the files as they stand to be without a warning, and these
// times for each group: detect, recover, client.
func checkExample(t *testing.T, example string, want map[string][3]float64) {
	t.Helper()
	var got struct {
		OK       bool
		Groups   []checked
		Problems []any
	}
	gslbd(t, &got, "check", "--strict", "--json", "-c", filepath.Join(example, "gslbd.yaml"))
	if !got.OK || len(got.Problems) > 0 || len(got.Groups) != len(want) {
		t.Errorf("check finds %v, and %d groups, want %d", got.Problems, len(got.Groups), len(want))
	}
	for _, g := range got.Groups {
		name := strings.TrimSuffix(g.Name, ".gslb.example.com") + "/" + g.Type
		if w := want[name]; w != [3]float64{g.Detect, g.Recover, g.Client} {
			t.Errorf("%s: %v, %v, %v seconds, want %v", name, g.Detect, g.Recover, g.Client, w)
		}
	}
	checkZone(t, filepath.Join(example, "gslb.example.com.zone"))
}

// probeResult is what `gslbd probe` says of one round.
type probeResult struct {
	Outcome, Reason string
	LatencyMS       float64 `json:"latency_ms"`
}

// probeExample runs one round of a check of an example, as its files stand,
// against an address with a port.
func probeExample(t *testing.T, example, check, address string) (p probeResult) {
	t.Helper()
	cmd := exec.Command(filepath.Join(bin, "gslbd"), "probe", "--json", "-c", filepath.Join(example, "gslbd.yaml"),
		"--name", www, check, address)
	out, err := cmd.Output()
	if exit, failed := errors.AsType[*exec.ExitError](err); err != nil && !(failed && exit.ExitCode() == 1) {
		t.Fatal(err)
	}
	if err := json.Unmarshal(out, &p); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return p
}

// expectProbe looks at outcome and reason of one round.
func expectProbe(t *testing.T, example, check, address, want string) {
	t.Helper()
	p := probeExample(t, example, check, address)
	if got := strings.TrimSpace(p.Outcome + " " + p.Reason); got != want {
		t.Errorf("%s %s: got %q, want %q", check, address, got, want)
	}
}
