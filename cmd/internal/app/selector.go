package app

import (
	"fmt"
	"net/http"
	"net/netip"
	"strings"

	"gslbd/cmd/internal/admin"
	"gslbd/zone"
)

// memberRef is one member of one group.
type memberRef struct {
	group  *zone.Group
	member int
}

// selectMembers lists the members that a selector names: a member's id or
// address, NAME, NAME/TYPE, NAME/TYPE/ID, or pool:NAME. `*` stands for any text
// and case does not matter. One that matches nothing is an *admin.Error.
func selectMembers(groups []*zone.Group, selector string) ([]memberRef, error) {
	match := matcher(selector)
	var found []memberRef
	for _, g := range groups {
		for i := range g.Members {
			if match(g, &g.Members[i]) {
				found = append(found, memberRef{g, i})
			}
		}
	}
	if len(found) > 0 {
		return found, nil
	}
	return nil, &admin.Error{
		Status:  http.StatusNotFound,
		Message: fmt.Sprintf("selector %q matches no member", selector),
		Hint:    nearestHint(selector, selectable(groups)),
	}
}

// matcher reads a selector once for use on many members.
func matcher(selector string) func(*zone.Group, *zone.Member) bool {
	if pool, ok := cutPrefixFold(selector, "pool:"); ok {
		return func(_ *zone.Group, m *zone.Member) bool { return glob(pool, m.Pool) }
	}
	parts := strings.SplitN(selector, "/", 3)
	addr, err := netip.ParseAddr(selector)
	isAddr := err == nil
	return func(g *zone.Group, m *zone.Member) bool {
		name, typ := zone.Display(g.Key.Name), g.Key.TypeName()
		switch len(parts) {
		case 3:
			return matchesGroup(parts[0]+"/"+parts[1], name, typ) && (glob(parts[2], m.ID) || glob(parts[2], m.Data))
		case 2:
			return matchesGroup(selector, name, typ)
		}
		if isAddr && (m.Target.Addr == addr || sameAddr(m.Data, addr)) {
			return true
		}
		return glob(selector, m.ID) || glob(selector, m.Data) || matchesGroup(selector, name, typ)
	}
}

// matchesGroup compares NAME or NAME/TYPE with a group's displayed name.
func matchesGroup(pattern, name, typ string) bool {
	want, wantType, typed := strings.Cut(pattern, "/")
	if want != "." {
		want = strings.TrimSuffix(want, ".")
	}
	return glob(want, name) && (!typed || glob(wantType, typ))
}

func sameAddr(data string, addr netip.Addr) bool {
	a, err := netip.ParseAddr(data)
	return err == nil && a == addr
}

func cutPrefixFold(s, prefix string) (string, bool) {
	if len(s) < len(prefix) || !strings.EqualFold(s[:len(prefix)], prefix) {
		return s, false
	}
	return s[len(prefix):], true
}

// glob compares text with a pattern in which `*` stands for any text.
func glob(pattern, text string) bool {
	pattern, text = strings.ToLower(pattern), strings.ToLower(text)
	first, rest, starred := strings.Cut(pattern, "*")
	if !starred {
		return pattern == text
	}
	if !strings.HasPrefix(text, first) {
		return false
	}
	text = text[len(first):]
	pieces := strings.Split(rest, "*")
	last := pieces[len(pieces)-1]
	for _, piece := range pieces[:len(pieces)-1] {
		at := strings.Index(text, piece)
		if at < 0 {
			return false
		}
		text = text[at+len(piece):]
	}
	return strings.HasSuffix(text, last)
}

// selectable lists what a selector may name, for hints.
func selectable(groups []*zone.Group) []string {
	var known []string
	for _, g := range groups {
		known = append(known, zone.Display(g.Key.Name), g.Key.String())
		for _, m := range g.Members {
			known = append(known, m.ID, m.Data, "pool:"+m.Pool)
		}
	}
	return known
}

// nearestHint points at the nearest known word, or at where to look.
func nearestHint(word string, known []string) string {
	if near := zone.Nearest(strings.TrimSuffix(strings.ToLower(word), "."), known); near != "" {
		return fmt.Sprintf("did you mean %q?", near)
	}
	return "gslbd check and gslbd status list what there is"
}
