package app

import (
	"errors"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"gslbd/cmd/internal/admin"
)

func TestStatus(t *testing.T) {
	began := time.Now()
	a, _ := launch(t, "node: here\n", header+pairs+"*.cdn A 127.0.0.3 ; @primary check=none\nwww AAAA ::1 ; @primary check=none\n")
	s, err := a.Status("")
	if err != nil {
		t.Fatal(err)
	}
	if s.Version != "v1.2.3" || s.Node != "here" || s.Started.Before(began) || !s.Ready || len(s.Groups) != 3 {
		t.Errorf("got %+v", s)
	}
	if len(s.Zones) != 1 || s.Zones[0].Name != "example.com" || s.Zones[0].Serial != 1 || s.Zones[0].Loaded.Before(began.Add(-time.Second)) {
		t.Errorf("got %+v", s.Zones)
	}
	tests := []struct{ name, want string }{
		{"www.example.com", "www.example.com/A www.example.com/AAAA"},
		{"WWW.example.com./aaaa", "www.example.com/AAAA"},
		{"*/A", "www.example.com/A *.cdn.example.com/A"},
		{"*.cdn.example.com", "*.cdn.example.com/A"},
	}
	for _, tt := range tests {
		s, err := a.Status(tt.name)
		var got []string
		for _, g := range s.Groups {
			got = append(got, g.Name+"/"+g.Type)
		}
		if err != nil || strings.Join(got, " ") != tt.want || len(s.Zones) != 1 {
			t.Errorf("%s: got %v, %v", tt.name, got, err)
		}
	}
	_, err = a.Status("wwx.example.com")
	if e, ok := errors.AsType[*admin.Error](err); !ok || e.Status != 404 || e.Hint != `did you mean "www.example.com"?` {
		t.Errorf("got %v", err)
	}
}

func TestStatusWithoutGroups(t *testing.T) {
	a, _ := launch(t, "", header)
	s, err := a.Status("")
	if err != nil || s.Groups == nil || len(s.Groups) != 0 || !s.Ready {
		t.Errorf("got %+v, %v", s, err)
	}
	if got := a.Awaited(); got != nil {
		t.Errorf("awaited: %v", got)
	}
}

// TestAwaited: a probe that hangs is waited for, and named.
func TestAwaited(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0") // accepts, and never answers
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	zoneText := header
	for i := range 25 {
		zoneText += "m" + string(rune('a'+i)) + " A 127.0.0.1 ; @primary check=hang target=" + ln.Addr().String() + "\n"
	}
	a, _ := launch(t, "checks: { hang: { type: http, timeout: 1m } }\n", zoneText)
	got := a.Awaited()
	if len(got) != maxAwaited+1 || got[0] != "ma.example.com/A 127.0.0.1: first hang probe" || got[maxAwaited] != "and 5 more" {
		t.Errorf("got %v", got)
	}
	s, err := a.Status("ma.example.com")
	if err != nil || s.Ready || !slices.Equal(s.Groups[0].Answer, []string{"127.0.0.1"}) {
		t.Errorf("got %+v, %v", s, err)
	}
}

func TestBelow(t *testing.T) {
	tests := []struct {
		name, zone string
		want       bool
	}{
		{"www.example.com", "example.com", true},
		{"example.com", "example.com", true},
		{"WWW.Example.com", "example.COM", true},
		{"wwwexample.com", "example.com", false},
		{"com", "example.com", false},
		{"anything", ".", true},
	}
	for _, tt := range tests {
		if got := below(tt.name, tt.zone); got != tt.want {
			t.Errorf("below(%q, %q) is %v", tt.name, tt.zone, got)
		}
	}
}
