package app

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"go.uber.org/zap/zaptest/observer"

	"gslbd/cmd/internal/config"
	"gslbd/zone"
)

// TestAdviceSource: each member that a check can never probe is told with its
// line, for either family.
func TestAdviceSource(t *testing.T) {
	cfg := configured(t, `checks:
  four: { type: tcp, source: 127.0.0.9 }
  six:  { type: tcp, source: "::1" }
  both: { type: tcp, source: [ 127.0.0.9, "::1" ] }
  some: { type: any, of: [ six, both ] }
`, header+`a A    127.0.0.1 ; @primary   check=four,both
a A    127.0.0.2 ; @secondary check=some
b AAAA ::1       ; @primary   check=both,six
b AAAA ::2       ; @secondary check=four
b AAAA ::3       ; @secondary check=none
`)
	want := `a.zone:7: warning: check "six" can never probe 127.0.0.2: its source has no IPv4 address
  hint: add one to checks.six.source, or leave source out
a.zone:9: warning: check "four" can never probe ::2: its source has no IPv6 address
  hint: add one to checks.four.source, or leave source out`
	if got := Check(cfg, nil, false); got.Problems.Error() != want || !got.OK {
		t.Errorf("got\n%v\nwant\n%s", got.Problems, want)
	}
	if Check(cfg, nil, true).OK {
		t.Error("strict takes it")
	}
}

// TestAdvicePort: a command that wants a port is told of each member without one,
// also as part of a combination; the source of a command does not matter.
func TestAdvicePort(t *testing.T) {
	cfg := configured(t, `checks:
  ex:   { type: exec, command: [ "true", "{address}:{port}" ] }
  deep: { type: any, of: [ ex ] }
  plain: { type: exec, command: [ "true", "{address}" ] }
`, header+`a A 127.0.0.1 ; @primary   check=ex target=:80
a A 127.0.0.2 ; @secondary check=deep
a A 127.0.0.3 ; @secondary check=ex,plain
`)
	want := `a.zone:7: warning: check "ex" can never probe 127.0.0.2: its command uses {port}, and the target has none
  hint: write target=:PORT behind the record, or the port into the command
a.zone:8: warning: check "ex" can never probe 127.0.0.3: its command uses {port}, and the target has none
  hint: write target=:PORT behind the record, or the port into the command`
	if got := Check(cfg, nil, false).Problems.Error(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	cfg = configured(t, "checks:\n  ex: { type: exec, command: [ \"true\" ], source: \"::1\" }\n", header+"a A 127.0.0.1 ; @primary check=ex\n")
	if got := Check(cfg, nil, false).Problems; len(got) != 0 {
		t.Errorf("got %v", got)
	}
}

// TestAdviceMinHealthy: a pool too small for its policy is told with the line
// of its group; percentages, drained pools, the fallback pool and pools that a
// group does not have are in order.
func TestAdviceMinHealthy(t *testing.T) {
	cfg := configured(t, `policies:
  two:  { min_healthy: 2 }
  half: { min_healthy: 50% }
`, header+`small A 127.0.0.1 ; @primary   policy=two check=none
small A 127.0.0.2 ; @primary   policy=two check=none weight=0
small A 127.0.0.3 ; @secondary policy=two check=none
small A 127.0.0.4 ; @secondary policy=two check=none
small A 127.0.0.5 ; @tertiary  policy=two check=none weight=0
small A 127.0.0.6 ; @fallback  policy=two
half  A 127.0.0.1 ; @primary   policy=half check=none
plain A 127.0.0.1 ; @primary   check=none
`)
	want := `a.zone:6: warning: pool "primary" of small.example.com/A can never be usable: policy "two" wants 2 healthy members, and it has 1 that is not drained
  hint: lower min_healthy, write it as a percentage, or add members`
	if got := Check(cfg, nil, false).Problems.Error(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// TestAdviceUnused: a check that nobody names is told with its line, unless a
// zone that may name it does not load.
func TestAdviceUnused(t *testing.T) {
	const settings = `checks:
  web:  { type: tcp }
  idle: { type: icmp }
  also: { type: icmp }
  part: { type: icmp }
  both: { type: all, of: [ web, part ] }
policies:
  p: { check: also }
`
	cfg := configured(t, settings, header+"a A 127.0.0.1 ; @primary check=both\n")
	want := `gslbd.yaml:5: warning: checks.idle: no member and no policy uses it
  hint: write check=idle behind a record, or leave it out`
	if got := Check(cfg, nil, false).Problems.Error(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	put(t, "a.zone", header+"a A\n")
	if got := Check(cfg, nil, false).Problems; len(got) != 1 || got[0].Line != 6 {
		t.Errorf("with a broken zone: got %v", got)
	}
}

// TestAdviceBounded: one slip in a check of very many members is no flood.
func TestAdviceBounded(t *testing.T) {
	var records strings.Builder
	for i := range 150 {
		fmt.Fprintf(&records, "a%d A 127.0.0.1 ; @primary check=six\n", i)
	}
	cfg := configured(t, `checks: { six: { type: tcp, source: "::1" } }`, header+records.String())
	got := Check(cfg, nil, false).Problems
	if len(got) != 101 || got[100].Message != "50 more checks and pools that can never work" || got[100].File != "a.zone" {
		t.Errorf("got %d: %v", len(got), got[len(got)-1])
	}
}

// TestAdviceLogged: a start, a reload and the watcher log it as warnings.
func TestAdviceLogged(t *testing.T) {
	const records = "a A 127.0.0.1 ; @primary check=six\n"
	cfg := configured(t, `checks: { six: { type: tcp, source: "::1" } }`, header+records)
	core, logs := observer.New(zapcore.WarnLevel)
	a, err := New(cfg, Options{Log: zap.New(core)})
	if err != nil {
		t.Fatal(err)
	}
	for i, load := range []func() zone.Problems{
		func() zone.Problems { return nil },
		func() zone.Problems { return a.Reload(t.Context(), false) },
		func() zone.Problems { return a.reloadZone(a.cur.zones[0]) },
	} {
		if i == 1 {
			a.engine.Start()
			defer a.engine.Stop()
			if err := a.server.Start(); err != nil {
				t.Fatal(err)
			}
			defer func() { _ = a.server.Stop(context.Background()) }()
		}
		if problems := load(); i > 0 && (len(problems) != 1 || problems.Failed(false)) {
			t.Errorf("%d: got %v", i, problems)
		}
		got := logs.FilterMessage("warning in a file").All()
		if len(got) != i+1 || !strings.HasPrefix(got[i].ContextMap()["at"].(string), "a.zone:6: warning: ") {
			t.Errorf("%d: logged %v", i, got)
		}
	}
	LogProblems(zap.New(core), zone.Problems{{File: "f", Severity: zone.Error, Message: "m"}})
	if logs.FilterMessage("problem in a file").Len() != 1 {
		t.Errorf("an error is logged as %v", logs.All())
	}
}

// TestZoneFileNamed: a zone file that cannot be opened is told with the line
// that names it, also by the watcher; one with a mistake inside is not.
func TestZoneFileNamed(t *testing.T) {
	inside := configured(t, "", header+"a A\n")
	if got := Check(inside, nil, false).Problems; strings.Contains(got[0].Hint, "named at") || got[0].Line != 6 {
		t.Errorf("a mistake inside: got %v", got)
	}
	dirWith(t, "", header)
	put(t, "gslbd.yaml", "listen: 127.0.0.1:0\nzones:\n  - { name: a, file: . }\n  - name: example.com\n    file: a.zone\n")
	cfg, problems := config.Load("gslbd.yaml")
	if cfg == nil {
		t.Fatal(problems)
	}
	want := []string{"; it is named at gslbd.yaml:3 (zones[0].file)", "; it is named at gslbd.yaml:5 (zones[1].file)"}
	if err := os.Remove("a.zone"); err != nil {
		t.Fatal(err)
	}
	_, err := New(cfg, Options{})
	for i, problems := range []zone.Problems{Check(cfg, nil, false).Problems, err.(zone.Problems)} {
		if len(problems) != 2 || !strings.HasSuffix(problems[0].Hint, want[0]) || !strings.HasSuffix(problems[1].Hint, want[1]) {
			t.Errorf("%d: got %v", i, problems)
		}
	}
	put(t, "gslbd.yaml", "listen: 127.0.0.1:0\nzones: [ { name: example.com, file: a.zone } ]\n")
	put(t, "a.zone", header)
	a, _ := launchHere(t)
	if err := os.Remove("a.zone"); err != nil {
		t.Fatal(err)
	}
	if got := a.reloadZone(a.cur.zones[0]); len(got) != 1 || !strings.HasSuffix(got[0].Hint, "gslbd.yaml:2 (zones[0].file)") {
		t.Errorf("got %v", got)
	}
}
