package cli

import (
	"fmt"
	"strings"
	"testing"

	"gslbd/cmd/internal/admin"
)

// TestReloadText: what changed is named, the rest is counted.
func TestReloadText(t *testing.T) {
	serial := func(n uint32) *uint32 { return &n }
	var many []admin.ZoneReloaded
	for i := range 52 {
		many = append(many, admin.ZoneReloaded{Name: fmt.Sprintf("z%02d", i), Before: serial(1), Serial: serial(2)})
	}
	tests := []struct {
		zones []admin.ZoneReloaded
		want  string
	}{
		{nil, "reloaded\n"},
		{[]admin.ZoneReloaded{{Name: "a", Before: serial(1), Serial: serial(1)}}, "reloaded: 1 zone with the same serial\n"},
		{[]admin.ZoneReloaded{
			{Name: "a.example", Before: serial(2026112901), Serial: serial(2026112902)},
			{Name: "b.example", Before: serial(1), Serial: serial(1)},
			{Name: "c.example", Before: serial(1), Serial: serial(1)},
			{Name: "new.example", Serial: serial(4294967295)},
			{Name: "old.example", Before: serial(0)},
			{Name: "odd.example"},
		}, "reloaded: a.example 2026112901 -> 2026112902\nreloaded: new.example is new, serial 4294967295\n" +
			"reloaded: old.example is served no more\nreloaded: 2 zones with the same serial\n"},
	}
	for _, tt := range tests {
		if got := reloadText(tt.zones); got != tt.want {
			t.Errorf("got\n%swant\n%s", got, tt.want)
		}
	}
	if got := reloadText(many); strings.Count(got, "\n") != 51 || !strings.HasSuffix(got, "z49 1 -> 2\nreloaded: 2 more zones\n") {
		t.Errorf("got\n%s", got)
	}
}
