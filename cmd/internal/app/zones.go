package app

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/miekg/dns"

	"gslbd/cmd/internal/config"
	"gslbd/dnsserver/answer"
	"gslbd/zone"
)

// served is one zone as it is served. Its records live on only in the
// compiled form; the groups are kept for the engine.
type served struct {
	source   zone.Source
	name     string   // canonical
	files    []string // File first, then those of $INCLUDE
	sum      checksum // of files, as they were loaded
	serial   uint32
	records  int
	loaded   time.Time
	groups   []*zone.Group
	compiled *answer.Zone
}

// guard are the groups now served, which a reload must not turn into plain
// RRsets; nil allows it.
type guard []zone.Key

// loading loads and compiles one zone; it is nil when the problems hold an error.
type loading func(ctx context.Context, source zone.Source, voc zone.Vocabulary, before guard) (*served, zone.Problems)

// loadHere is loading without more ado.
func loadHere(_ context.Context, source zone.Source, voc zone.Vocabulary, before guard) (*served, zone.Problems) {
	return loadZone(source, voc, before)
}

// loadState loads and compiles every zone of cfg. failed tells by zone name
// what is wrong there. The state is nil exactly when the problems hold an error; one
// is that ctx ended between two zones.
func loadState(ctx context.Context, cfg *config.Config, before guard, load loading) (cur *state, failed map[string]string, problems zone.Problems) {
	cur, failed = &state{cfg: cfg}, map[string]string{}
	problems = checkListen(cfg)
	voc := cfg.Vocabulary()
	for i, source := range cfg.Zones {
		if err := ctx.Err(); err != nil {
			return nil, failed, append(problems, refuse("loading was cut short", ""))
		}
		z, found := load(ctx, source, voc, before)
		found = placed(cfg, i, found)
		problems = append(problems, found...)
		if z == nil {
			failed[dns.CanonicalName(source.Name)] = summary(found)
			continue
		}
		problems = append(problems, advise(cfg, z)...)
		cur.zones = append(cur.zones, z)
	}
	if problems.Failed(false) {
		return nil, failed, problems
	}
	problems = append(problems, unused(cfg, cur.zones)...)
	cur.table = tableOf(cur.zones)
	return cur, failed, problems
}

// loadZone loads and compiles one zone; nil when the problems hold an error.
func loadZone(source zone.Source, voc zone.Vocabulary, before guard) (*served, zone.Problems) {
	return loadGently(source, voc, before, func() {})
}

// loadGently is loadZone that calls rest every few microseconds.
func loadGently(source zone.Source, voc zone.Vocabulary, before guard, rest func()) (*served, zone.Problems) {
	began := time.Now()
	z, problems := zone.LoadGently(source, voc, rest)
	if problems.Failed(false) {
		return nil, problems
	}
	if problems = append(problems, zone.Unsteered(before, []*zone.Zone{z})...); problems.Failed(false) {
		return nil, problems
	}
	compiled, err := answer.CompileGently(z, rest)
	if err != nil {
		return nil, append(problems, located(err))
	}
	return &served{
		source:   source,
		name:     z.Name,
		files:    z.Files,
		sum:      sumOf(z.Files, began),
		serial:   z.Serial,
		records:  z.Records,
		loaded:   time.Now(),
		groups:   z.Groups,
		compiled: compiled,
	}, problems
}

// placed adds to problems of a zone file that cannot be opened where the
// configuration names it: the mistake may be there.
func placed(cfg *config.Config, i int, problems zone.Problems) zone.Problems {
	if i < 0 {
		return problems
	}
	source := cfg.Zones[i]
	for at, p := range problems {
		if p.Line > 0 || p.File != source.File || p.Severity != zone.Error {
			continue
		}
		if info, err := os.Stat(source.File); err == nil && info.Mode().IsRegular() {
			continue
		}
		key := fmt.Sprintf("zones[%d].file", i)
		where := zone.Problem{File: cfg.File, Line: cfg.Line(key), Message: "(" + key + ")"}
		if p.Hint != "" {
			p.Hint += "; "
		}
		p.Hint += "it is named at " + strings.Replace(where.String(), ": (", " (", 1)
		problems = slices.Clone(problems)
		problems[at] = p
	}
	return problems
}

// located turns an error of the compiler, "FILE: what" or "FILE:LINE: what",
// into a problem.
func located(err error) zone.Problem {
	where, what, _ := strings.Cut(err.Error(), ": ")
	p := zone.Problem{File: where, Severity: zone.Error, Message: what, Hint: "shorten or remove records of that name"}
	if colon := strings.LastIndexByte(where, ':'); colon >= 0 {
		if line, err := strconv.Atoi(where[colon+1:]); err == nil {
			p.File, p.Line = where[:colon], line
		}
	}
	return p
}

func tableOf(zones []*served) *answer.Table {
	compiled := make([]*answer.Zone, len(zones))
	for i, z := range zones {
		compiled[i] = z.compiled
	}
	return answer.NewTable(compiled...)
}

// keysOf lists the groups of zones, as zone.Unsteered wants them.
func keysOf(zones []*served) []zone.Key {
	var keys []zone.Key
	for _, z := range zones {
		for _, g := range z.groups {
			keys = append(keys, g.Key)
		}
	}
	return keys
}

// summary is one line for status: the first error and how many more there are.
func summary(problems zone.Problems) string {
	first, errors := "", 0
	for _, p := range problems {
		if p.Severity != zone.Error {
			continue
		}
		if errors == 0 {
			first = p.String()
		}
		errors++
	}
	if errors > 1 {
		return fmt.Sprintf("%s (and %d more)", first, errors-1)
	}
	return first
}
