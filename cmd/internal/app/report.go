package app

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"time"

	"gslbd/cmd/internal/config"
	"gslbd/dnsserver"
	"gslbd/health/probe"
	"gslbd/zone"
)

// Report is the document of `gslbd check --json`.
type Report struct {
	OK       bool           `json:"ok"`
	Zones    []ZoneReport   `json:"zones"`
	Groups   []GroupReport  `json:"groups"`
	Problems zone.Problems  `json:"problems"`
	Targets  []TargetReport `json:"-"`
}

// ZoneReport is one zone that loads.
type ZoneReport struct {
	Name    string `json:"name"`
	File    string `json:"file"`
	Serial  uint32 `json:"serial"`
	Records int    `json:"records"`
	Groups  int    `json:"groups"`
}

// GroupReport is one group and how fast it fails over; see timesOf.
type GroupReport struct {
	Name           string  `json:"name"`
	Type           string  `json:"type"`
	Policy         string  `json:"policy"`
	DetectSeconds  float64 `json:"detect_seconds"`
	RecoverSeconds float64 `json:"recover_seconds"`
	ClientSeconds  float64 `json:"client_seconds"`
}

// TargetReport is how often one address and port is probed while it replies
// at once; slower replies make it less.
type TargetReport struct {
	Address   string
	PerMinute float64
	Checks    []string // by name
}

// Check reports on the configuration and its zones without touching the
// network. cfg may be nil: then the problems are all there is to say. With
// strict, warnings make the report not OK.
func Check(cfg *config.Config, problems zone.Problems, strict bool) Report {
	r := Report{Zones: []ZoneReport{}, Groups: []GroupReport{}, Problems: zone.Problems{}}
	r.Problems = append(r.Problems, problems...)
	if cfg != nil {
		r.read(cfg)
	}
	r.OK = !r.Problems.Failed(strict)
	return r
}

func (r *Report) read(cfg *config.Config) {
	r.Problems = append(r.Problems, checkListen(cfg)...)
	load := map[string]*TargetReport{}
	probes := map[string]time.Duration{} // interval by probe key
	voc := cfg.Vocabulary()
	var zones []*served
	for i, source := range cfg.Zones {
		z, problems := loadZone(source, voc, nil)
		r.Problems = append(r.Problems, placed(cfg, i, problems)...)
		if z == nil {
			continue
		}
		zones = append(zones, z)
		r.Problems = append(r.Problems, advise(cfg, z)...)
		r.Zones = append(r.Zones, ZoneReport{zone.Display(z.name), source.File, z.serial, z.records, len(z.groups)})
		for _, g := range z.groups {
			r.Groups = append(r.Groups, groupReport(g, cfg.Checks))
			addProbes(load, probes, g, cfg.Checks)
		}
	}
	if len(zones) == len(cfg.Zones) { // else the rest may use them
		r.Problems = append(r.Problems, unused(cfg, zones)...)
	}
	for _, address := range slices.Sorted(maps.Keys(load)) {
		r.Targets = append(r.Targets, *load[address])
	}
}

// groupReport gives the worst over all members and checks: a member is down as
// soon as one of its checks is, and the group is safe only from the last one.
// Of a combination the slowest leaf counts, though another may decide it sooner.
// The times are those of the check as written, although another zone that asks
// for the same probe more often makes it faster.
func groupReport(g *zone.Group, checks map[string]probe.Check) GroupReport {
	var detect, recovery, client time.Duration
	for _, m := range g.Members {
		for _, name := range probe.Leaves(checks, m.Checks) {
			c := checks[name]
			detect = max(detect, c.Detect())
			recovery = max(recovery, c.Recover())
			client = max(client, c.Interval+c.Detect())
		}
	}
	client += time.Duration(g.TTL) * time.Second
	return GroupReport{
		Name:           zone.Display(g.Key.Name),
		Type:           g.Key.TypeName(),
		Policy:         g.Policy,
		DetectSeconds:  detect.Seconds(),
		RecoverSeconds: recovery.Seconds(),
		ClientSeconds:  client.Seconds(),
	}
}

// addProbes counts the probes of a group by target. Equal probes are run once,
// at the smallest interval among them.
func addProbes(load map[string]*TargetReport, probes map[string]time.Duration, g *zone.Group, checks map[string]probe.Check) {
	for _, m := range g.Members {
		target := probe.Target{Addr: m.Target.Addr, Port: m.Target.Port, Name: zone.Display(g.Key.Name)}
		for _, name := range probe.Leaves(checks, m.Checks) {
			c := checks[name]
			address, key := c.Address(target), c.Key(target)
			t := load[address]
			if t == nil {
				t = &TargetReport{Address: address}
				load[address] = t
			}
			if at, ok := slices.BinarySearch(t.Checks, name); !ok {
				t.Checks = slices.Insert(t.Checks, at, name)
			}
			before, known := probes[key]
			if known && before <= c.Interval {
				continue
			}
			if known {
				t.PerMinute -= perMinute(before)
			}
			probes[key] = c.Interval
			t.PerMinute += perMinute(c.Interval)
		}
	}
}

func perMinute(interval time.Duration) float64 { return float64(time.Minute) / float64(interval) }

// checkListen finds the mistakes in the listen addresses that binding would
// only find later.
func checkListen(cfg *config.Config) zone.Problems {
	err := dnsserver.CheckListen(cfg.Listen)
	if err == nil {
		return nil
	}
	return zone.Problems{listenProblem(cfg, err)}
}

// listenProblem tells where an address that cannot be served was asked for.
func listenProblem(cfg *config.Config, err error) zone.Problem {
	p := zone.Problem{File: cfg.File, Line: cfg.Line("listen"), Severity: zone.Error, Message: err.Error()}
	if variable := cfg.Variable("listen"); variable != "" {
		p.File, p.Line, p.Message = "environment", 0, variable+": "+p.Message
	}
	var le *dnsserver.ListenError
	if errors.As(err, &le) {
		p.Hint = le.Hint
		p.Message = strings.TrimSuffix(p.Message, "\n  hint: "+le.Hint)
	}
	return p
}
