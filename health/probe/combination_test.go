package probe

import (
	"slices"
	"strings"
	"testing"
)

// combos makes checks of lines "name: part part"; names without parts are leaves.
func combos(lines ...string) map[string]Check {
	checks := map[string]Check{}
	for _, line := range lines {
		name, of, _ := strings.Cut(line, ":")
		c := Check{Name: name}
		if parts := strings.Fields(of); len(parts) > 0 {
			c.Combination = &Combination{Of: parts, Need: 1}
		}
		checks[name] = c
	}
	return checks
}

func TestPartsAndLeaves(t *testing.T) {
	checks := combos("a", "b", "c", "ab: a b", "bc: b c", "deep: ab bc a", "self: self a", "one: two", "two: one b", "gap: a nix")
	for _, c := range []struct{ names, parts, leaves string }{
		{"", "", ""},
		{"a b", "a b", "a b"},
		{"b nix", "b nix", "b nix"},
		{"ab", "a b ab", "a b"},
		{"a ab", "a b ab", "a b"},
		{"ab a", "a b ab", "a b"},
		{"ab bc", "a b ab c bc", "a b c"},
		{"deep", "a b ab c bc deep", "a b c"},
		{"self", "a self", "a"},
		{"one", "b two one", "b"},
		{"gap", "a nix gap", "a nix"},
	} {
		names := strings.Fields(c.names)
		before := slices.Clone(names)
		if got := strings.Join(Parts(checks, names), " "); got != c.parts {
			t.Errorf("parts of %q: %q, want %q", c.names, got, c.parts)
		}
		if got := strings.Join(Leaves(checks, names), " "); got != c.leaves {
			t.Errorf("leaves of %q: %q, want %q", c.names, got, c.leaves)
		}
		if !slices.Equal(names, before) {
			t.Errorf("%q became %q", before, names)
		}
	}
}

// A tower in which every floor names the two below it twice over is walked once.
func TestPartsOfATower(t *testing.T) {
	lines := []string{"l00", "r00"}
	for i := 1; i < 60; i++ {
		below := " l" + number(i-1) + " r" + number(i-1)
		lines = append(lines, "l"+number(i)+":"+below, "r"+number(i)+":"+below)
	}
	if got := Parts(combos(lines...), []string{"l59", "r59"}); len(got) != 120 {
		t.Errorf("%d parts", len(got))
	}
}

func number(n int) string { return string([]byte{byte('0' + n/10), byte('0' + n%10)}) }
