package app

import (
	"runtime/debug"
	"testing"
)

func TestVersionOf(t *testing.T) {
	setting := func(pairs ...string) (s []debug.BuildSetting) {
		for i := 0; i < len(pairs); i += 2 {
			s = append(s, debug.BuildSetting{Key: pairs[i], Value: pairs[i+1]})
		}
		return s
	}
	tests := []struct {
		main     string
		settings []debug.BuildSetting
		want     string
	}{
		{"v1.4.0", nil, "v1.4.0"},
		{"(devel)", nil, "devel"},
		{"", setting("vcs.revision", "0123456789abcdef"), "devel-0123456789ab"},
		{"(devel)", setting("vcs.revision", "0123", "vcs.modified", "true"), "devel-0123+dirty"},
		{"", setting("vcs.revision", "0123", "vcs.modified", "false"), "devel-0123"},
		{"", setting("vcs.modified", "true"), "devel"},
	}
	for _, tt := range tests {
		if got := versionOf(&debug.BuildInfo{Main: debug.Module{Version: tt.main}, Settings: tt.settings}); got != tt.want {
			t.Errorf("%q %v: got %q, want %q", tt.main, tt.settings, got, tt.want)
		}
	}
	if Version() == "" {
		t.Error("no version")
	}
}
