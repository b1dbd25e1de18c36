package zone

import (
	"maps"
	"net/netip"
	"slices"
	"strings"
)

// note is the annotation of one record: @POOL [KEY=VALUE]..., or @static.
type note struct {
	pool   string // "" for @static
	static bool
	checks []string // of check=; empty for none
	policy string
	id     string
	target Target
	weight uint16
	// checked tells check=none from no check= at all.
	checked bool
	line    int
	bad     bool // already reported; nothing more is to be said of it
}

// static is the word that stands for a pool on records that are deliberately
// not steered.
const static = "static"

// annotate reads an annotation and gives its index in l.notes plus 1.
func (l *loader) annotate(text []byte, line int, c *context) int32 {
	n, faults := l.voc.note(string(text))
	n.line = line
	for _, f := range faults {
		n.bad = true
		l.fail(c, line, f.message, f.hint)
	}
	l.notes = append(l.notes, n)
	return int32(len(l.notes))
}

// stray warns of a comment that stands alone and yet reads as an annotation.
func (l *loader) stray(e *entry, c *context) {
	n, faults := l.voc.note(string(e.note))
	if len(faults) == 0 || n.pool != "" && strings.Contains(string(e.note), "=") {
		l.warn(c, e.noteL, "annotation stands on no record and has no effect", "move it to the end of the record's line")
	}
}

// keys gives the keys of an annotation.
func keys() []string { return []string{"check", "id", "policy", "target", "weight"} }

// vocabulary is a Vocabulary with the pools of all its policies.
type vocabulary struct {
	Vocabulary
	pools []string
}

func newVocabulary(v Vocabulary) vocabulary {
	var pools []string
	for _, name := range slices.Sorted(maps.Keys(v.Policies)) {
		pools = append(pools, v.Policies[name].all()...)
	}
	return vocabulary{v, pools}
}

// note reads an annotation that begins with "@". It reports all that is wrong
// with it, apart from what depends on the rest of the RRset.
func (voc *vocabulary) note(text string) (note, []fault) {
	n := note{weight: 1}
	var faults []fault
	words := strings.Fields(text)
	pool := strings.ToLower(strings.TrimPrefix(words[0], "@"))
	switch {
	case pool == "":
		return n, []fault{{"annotation without a pool", "write it as ; @POOL KEY=VALUE ...; a comment that is none must not begin with @"}}
	case !isName(pool):
		return n, []fault{{"bad pool name " + quote(pool), nameHint}}
	case pool == static:
		n.static = true
		if len(words) > 1 {
			faults = append(faults, fault{"@static takes no " + quote(words[1]), "remove it, or name a pool instead of static"})
		}
		return n, faults
	}
	n.pool = pool
	if !slices.Contains(voc.pools, pool) {
		faults = append(faults, unknown("pool", pool, voc.pools))
	}
	seen := map[string]bool{}
	for _, w := range words[1:] {
		key, value, ok := strings.Cut(w, "=")
		key = strings.ToLower(key)
		var f *fault
		switch {
		case !ok || key == "":
			// What follows is most likely part of the same mistake.
			return n, append(faults, fault{quote(w) + " in an annotation is not KEY=VALUE", "no blanks around = and within values; remarks go on a line of their own"})
		case seen[key]:
			f = &fault{"second " + key + "= in one annotation", "keep one of them"}
		case value == "" && slices.Contains(keys(), key):
			f = &fault{key + "= without a value", "give it one, or remove it"}
		case strings.ContainsAny(value, "\"'"):
			f = &fault{key + "=" + value + " is quoted", "write it without quotes"}
		default:
			f = n.set(key, value, voc)
		}
		seen[key] = true
		if f != nil {
			faults = append(faults, *f)
		}
	}
	return n, faults
}

// set takes one KEY=VALUE.
func (n *note) set(key, value string, voc *vocabulary) *fault {
	switch key {
	case "check":
		return n.setChecks(strings.ToLower(value), voc)
	case "weight":
		w, ok := decimal(value, 65535)
		if !ok {
			return &fault{"bad weight " + quote(value), "it is a number from 0 (drained) to 65535"}
		}
		n.weight = uint16(w)
	case "id":
		if n.id = strings.ToLower(value); !isName(n.id) {
			return &fault{"bad id " + quote(value), nameHint}
		}
	case "policy":
		n.policy = strings.ToLower(value)
		if _, ok := voc.Policies[n.policy]; !ok {
			f := unknown("policy", n.policy, slices.Sorted(maps.Keys(voc.Policies)))
			return &f
		}
	case "target":
		var f *fault
		n.target, f = parseTarget(value)
		return f
	default:
		f := unknown("key", key, keys())
		return &f
	}
	return nil
}

func (n *note) setChecks(value string, voc *vocabulary) *fault {
	n.checked = true
	if value == "none" {
		return nil
	}
	for name := range strings.SplitSeq(value, ",") {
		switch {
		case name == "":
			return &fault{"check=" + value + " holds an empty name", "it is one name, or several with single commas between them"}
		case name == "none":
			return &fault{"check=" + value + " says none and more", "none stands alone"}
		case slices.Contains(n.checks, name):
			return &fault{"check=" + value + " names " + quote(name) + " twice", "keep one of them"}
		case !slices.Contains(voc.Checks, name):
			f := unknown("check", name, voc.Checks)
			return &f
		}
		n.checks = append(n.checks, name)
	}
	return nil
}

const targetHint = "it is IP, IP:PORT, [IPv6]:PORT or :PORT, with a port from 1 to 65535"

// parseTarget reads the value of target=.
func parseTarget(s string) (Target, *fault) {
	bad := &fault{"bad target " + quote(s), targetHint}
	if inner, ok := strings.CutPrefix(s, "["); ok && strings.HasSuffix(inner, "]") {
		bad.hint = "brackets go with a port: write " + strings.TrimSuffix(inner, "]") + " or " + s + ":PORT"
	}
	if addr, err := netip.ParseAddr(s); err == nil {
		t := Target{Addr: addr.Unmap()}
		return t, t.usable(s)
	}
	i := strings.LastIndexByte(s, ':')
	if i < 0 {
		return Target{}, bad
	}
	port, ok := decimal(s[i+1:], 65535)
	if !ok || port == 0 {
		return Target{}, bad
	}
	t := Target{Port: uint16(port)}
	if i == 0 {
		return t, nil
	}
	ap, err := netip.ParseAddrPort(s)
	if err != nil {
		return Target{}, bad
	}
	t.Addr = ap.Addr().Unmap()
	return t, t.usable(s)
}

// usable refuses addresses that no single host answers at.
func (t Target) usable(text string) *fault {
	if t.Addr.IsUnspecified() || t.Addr.IsMulticast() || t.Addr.Zone() != "" || t.Addr == netip.AddrFrom4([4]byte{255, 255, 255, 255}) {
		return &fault{quote(text) + " cannot be probed", "name the address of one host, without a %zone, by target=, or write check=none"}
	}
	return nil
}

// all gives the policy's pools, the fallback last.
func (p PolicyNames) all() []string {
	if p.Fallback == "" {
		return p.Pools
	}
	return append(slices.Clip(p.Pools), p.Fallback)
}

const nameHint = "names have up to 63 letters, digits and hyphens, and do not begin with a hyphen"

// isName reports whether s is a name as annotations have them.
func isName(s string) bool {
	for i := range len(s) {
		b := s[i]
		if (b < 'a' || b > 'z') && (b < '0' || b > '9') && (b != '-' || i == 0) {
			return false
		}
	}
	return s != "" && len(s) <= 63
}

// unknown words a name that nothing has, with the nearest one that exists.
func unknown(what, name string, known []string) fault {
	f := fault{message: "unknown " + what + " " + quote(name)}
	known = slices.Compact(slices.Sorted(slices.Values(known)))
	plural := strings.TrimSuffix(what, "y") + "ies"
	if !strings.HasSuffix(what, "cy") {
		plural = what + "s"
	}
	switch near := Nearest(name, known); {
	case near != "":
		f.hint = "did you mean " + quote(near) + "?"
	case len(known) == 0:
		f.hint = "no " + plural + " are configured"
	case len(known) > 10:
		f.hint = "it is none of the " + plural + " that are configured"
	default:
		f.hint = "known " + plural + ": " + strings.Join(known, ", ")
	}
	return f
}
