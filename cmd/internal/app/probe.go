package app

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"

	"gslbd/cmd/internal/admin"
	"gslbd/cmd/internal/config"
	"gslbd/health/probe"
	"gslbd/zone"
)

// ProbeReport is the document of `gslbd probe --json`.
type ProbeReport struct {
	Check     string      `json:"check"`
	Type      string      `json:"type"`
	Target    string      `json:"target"` // as probed, with the port
	Outcome   string      `json:"outcome"`
	Reason    string      `json:"reason"` // "" on pass
	LatencyMS float64     `json:"latency_ms"`
	Steps     []ProbeStep `json:"steps"`
	// Parts are the reports on the leaves of a combination, in the order of
	// their rounds, one after another.
	Parts []ProbeReport `json:"parts,omitempty"`
}

// ProbeStep is one thing that happened during a round.
type ProbeStep struct {
	AtMS float64 `json:"at_ms"` // since the start of the round
	What string  `json:"what"`
	Info string  `json:"info"`
}

// Probe runs one round of a check, as the server would, against one address:
// IP, IP:port or [IPv6]:port. name is what Host and SNI say by default. Of a
// combination every leaf has its round. The error is an *admin.Error for a wrong question; a failed probe is no error.
func Probe(ctx context.Context, cfg *config.Config, check, address, name string) (ProbeReport, error) {
	c, ok := cfg.Checks[strings.ToLower(check)]
	if !ok {
		return ProbeReport{}, &admin.Error{Status: http.StatusNotFound, Message: fmt.Sprintf("no check is named %q in %s", check, cfg.File), Hint: checkHint(check, cfg)}
	}
	target, err := parseTarget(address)
	if err != nil {
		return ProbeReport{}, err
	}
	target.Name = zone.Display(name)
	if c.Combination != nil {
		return probeCombination(ctx, cfg, c, target), nil
	}
	return probeOne(ctx, c, target), nil
}

// probeOne runs one round of a check that has a probe.
func probeOne(ctx context.Context, c probe.Check, target probe.Target) ProbeReport {
	report := ProbeReport{Check: c.Name, Type: c.Type, Target: c.Address(target), Steps: []ProbeStep{}}
	result := probe.Result{Outcome: probe.Fault}
	if prober, err := probe.New(c, target, true); err != nil {
		result.Reason = err.Error()
	} else {
		result = probe.Round(ctx, prober, c)
	}
	report.Outcome, report.Reason = outcome(result.Outcome), result.Reason
	report.LatencyMS = millis(result.Latency)
	for _, step := range result.Steps {
		report.Steps = append(report.Steps, ProbeStep{millis(step.At), step.What, step.Info})
	}
	return report
}

func millis(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

func outcome(o probe.Outcome) string {
	switch o {
	case probe.Pass:
		return "pass"
	case probe.Fail:
		return "fail"
	case probe.Unknown:
		return "unknown"
	}
	return "fault"
}

func checkHint(check string, cfg *config.Config) string {
	known := slices.Sorted(maps.Keys(cfg.Checks))
	if near := zone.Nearest(strings.ToLower(check), known); near != "" {
		return fmt.Sprintf("did you mean %q?", near)
	}
	if len(known) == 0 {
		return "the configuration has no checks: add one under checks"
	}
	return "there are " + strings.Join(known, ", ")
}

func parseTarget(address string) (probe.Target, error) {
	if ip, err := netip.ParseAddr(strings.Trim(address, "[]")); err == nil {
		return probe.Target{Addr: ip.Unmap()}, nil
	}
	ap, err := netip.ParseAddrPort(address)
	if err != nil || ap.Port() == 0 {
		return probe.Target{}, &admin.Error{
			Status:  http.StatusBadRequest,
			Message: fmt.Sprintf("%s is not an address to probe", strconv.Quote(address)),
			Hint:    "write IP, IP:port or [IPv6]:port with a port from 1 to 65535; names are not looked up",
		}
	}
	return probe.Target{Addr: ap.Addr().Unmap(), Port: ap.Port()}, nil
}
