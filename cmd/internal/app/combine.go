package app

import (
	"context"
	"fmt"

	"gslbd/cmd/internal/config"
	"gslbd/health/probe"
	"gslbd/health/verdict"
)

// probeCombination runs one round of each leaf, one after another, and judges
// them together, each leaf by its one round.
func probeCombination(ctx context.Context, cfg *config.Config, c probe.Check, target probe.Target) ProbeReport {
	report := ProbeReport{Check: c.Name, Type: c.Type, Target: target.Addr.String(), Steps: []ProbeStep{}}
	states := map[string]verdict.State{}
	open := probe.Unknown // the outcome if the leaves leave it open
	for _, name := range probe.Leaves(cfg.Checks, []string{c.Name}) {
		part := probeOne(ctx, cfg.Checks[name], target)
		report.Parts = append(report.Parts, part)
		report.LatencyMS = max(report.LatencyMS, part.LatencyMS)
		switch part.Outcome {
		case "pass":
			states[name] = verdict.Up
		case "fail":
			states[name] = verdict.Down
		case "fault":
			open = probe.Fault
		}
	}
	var count verdict.Count
	for _, name := range probe.Parts(cfg.Checks, []string{c.Name}) {
		combination := cfg.Checks[name].Combination
		if combination == nil {
			continue
		}
		count = verdict.Count{}
		for _, part := range combination.Of {
			count.Add(states[part])
		}
		states[name] = count.AtLeast(combination.Need)
	}
	report.judge(states[c.Name], open, count, c.Combination.Need)
	return report
}

// judge states the verdict of a combination; open is the outcome where leaves
// that could not tell decide.
func (r *ProbeReport) judge(state verdict.State, open probe.Outcome, count verdict.Count, need int) {
	switch state {
	case verdict.Up:
		r.Outcome = outcome(probe.Pass)
		return
	case verdict.Down:
		r.Outcome = outcome(probe.Fail)
	default:
		r.Outcome = outcome(open)
	}
	r.LatencyMS = 0
	r.Reason = fmt.Sprintf("%d of %d passed, %d needed", count.Up, count.Total(), need)
	if count.Unknown > 0 {
		r.Reason += fmt.Sprintf(" (%d could not tell)", count.Unknown)
	}
}
