package steer

import (
	"strconv"

	"gslbd/zone"
)

// reason says in one sentence why sel was chosen: first which better pools are
// out and by which numbers, then what is answered instead.
func (v view) reason(sel *Selection) string {
	b := make([]byte, 0, 160)
	for _, pool := range v.p.Order {
		t := v.tally(pool)
		if sel.Rule == RulePool && pool == sel.Pool {
			if len(b) > 0 {
				break
			}
			b = quote(b, "pool ", pool)
			b = append(b, " answers "...)
			return string(t.append(b))
		}
		if t.size+t.drained == 0 {
			continue
		}
		b = quote(b, "pool ", pool)
		if t.usable == 0 {
			b = append(b, " is down "...)
		} else {
			b = append(b, " is below min_healthy "...)
		}
		b = append(t.append(b), "; "...)
	}
	return string(v.appendOutcome(b, sel))
}

// PoolCount counts the members of a pool as they are now. What it returns puts the
// numbers into words, e.g. "1 of 4 up, 1 unknown, 2 needed".
func PoolCount(g *zone.Group, p *Policy, health []Health, pool string) (words func() string) {
	t := view{g, p, health}.tally(pool)
	return func() string { return string(t.words(nil)) }
}

// append writes the numbers, e.g. "(1 of 4 up, 1 unknown, 2 needed)".
func (t tally) append(b []byte) []byte {
	return append(t.words(append(b, '(')), ')')
}

func (t tally) words(b []byte) []byte {
	b = strconv.AppendInt(b, int64(t.up), 10)
	b = append(b, " of "...)
	b = strconv.AppendInt(b, int64(t.size), 10)
	b = append(b, " up"...)
	for _, n := range [...]struct {
		count int
		word  string
	}{{t.unknown, " unknown"}, {t.drained, " drained"}} {
		if n.count > 0 {
			b = append(b, ", "...)
			b = strconv.AppendInt(b, int64(n.count), 10)
			b = append(b, n.word...)
		}
	}
	if t.usable < t.need && t.need > 1 {
		b = append(b, ", "...)
		b = strconv.AppendInt(b, int64(t.need), 10)
		b = append(b, " needed"...)
	}
	return b
}

func (v view) appendOutcome(b []byte, sel *Selection) []byte {
	switch sel.Rule {
	case RulePool:
		return append(quote(b, "pool ", sel.Pool), " answers"...)
	case RuleFallback:
		return append(quote(b, "fallback pool ", sel.Pool), " answers"...)
	case RuleKeep:
		return append(b, "the last good answer is kept"...)
	case RuleCold:
		b = append(b, "no last good answer to keep, "...)
	case RuleNoData:
		return append(b, "the answer is empty (NODATA)"...)
	case RuleServFail:
		return append(b, "the answer is SERVFAIL"...)
	}
	if sel.Pool == "" {
		return append(b, "members of all pools answer regardless"...)
	}
	return append(quote(b, "pool ", sel.Pool), " answers regardless"...)
}

func quote(b []byte, before, name string) []byte {
	b = append(b, before...)
	return strconv.AppendQuote(b, name)
}
