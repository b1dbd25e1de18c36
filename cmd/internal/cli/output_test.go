package cli

import (
	"bytes"
	"os"
	"strings"
	"testing"
	"time"
)

func TestTable(t *testing.T) {
	var tab table
	tab.head("NAME", "STATE", "WHY")
	tab.add(cell{"münchen", bold}, cell{"up", green}, cell{})
	tab.row("b", "", "because")
	tab.row("c")
	var out bytes.Buffer
	tab.write(&out, false)
	want := "NAME     STATE  WHY\nmünchen  up\nb               because\nc\n"
	if out.String() != want {
		t.Errorf("got\n%q\nwant\n%q", out.String(), want)
	}
	out.Reset()
	tab.write(&out, true)
	want = "\x1b[1mNAME\x1b[0m     \x1b[1mSTATE\x1b[0m  \x1b[1mWHY\x1b[0m\n\x1b[1mmünchen\x1b[0m  \x1b[32mup\x1b[0m\nb               because\nc\n"
	if out.String() != want {
		t.Errorf("got\n%q\nwant\n%q", out.String(), want)
	}
}

func TestColoured(t *testing.T) {
	for _, env := range [][]string{nil, {"NO_COLOR=1"}, {"TERM=dumb"}, {"TERM=xterm", "NO_COLOR="}} {
		s := &shell{stdout: new(bytes.Buffer), env: env}
		if s.coloured() {
			t.Errorf("%v: a buffer is coloured", env)
		}
	}
}

// TestFullDisk: results that cannot be written are a failure of every command,
// told once.
func TestFullDisk(t *testing.T) {
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer full.Close()
	running(t)
	for _, args := range []string{"check", "check --json", "explain www.example.com", "status", "status --json",
		"reload", "version", "--version", "help", "completion bash", "--help"} {
		var stderr strings.Builder
		code := Main(strings.Fields(args), strings.NewReader(""), full, &stderr, nil)
		text := stderr.String()
		if code != 1 || strings.Count(text, "no space left on device") != 1 || strings.Contains(text, "Usage") {
			t.Errorf("%s: got %d %q", args, code, text)
		}
	}
}

func TestGetenv(t *testing.T) {
	s := &shell{env: []string{"A=1", "AB=2", "A=3", "E="}}
	for key, want := range map[string]string{"A": "3", "AB": "2", "E": "", "NIX": ""} {
		if got := s.getenv(key); got != want {
			t.Errorf("%s is %q, want %q", key, got, want)
		}
	}
}

func TestShort(t *testing.T) {
	tests := []struct {
		d    time.Duration
		want string
	}{
		{-time.Second, "0s"},
		{0, "0s"},
		{123456 * time.Microsecond, "100ms"},
		{2345 * time.Millisecond, "2.3s"},
		{59999 * time.Millisecond, "59s"},
		{61 * time.Second, "1m01s"},
		{3*time.Hour + 7*time.Minute + time.Second, "3h07m"},
		{47 * time.Hour, "47h00m"},
		{50*time.Hour + time.Minute, "2d02h"},
	}
	for _, tt := range tests {
		if got := short(tt.d); got != tt.want {
			t.Errorf("%v: got %s, want %s", tt.d, got, tt.want)
		}
	}
}

func TestWords(t *testing.T) {
	for s, want := range map[float64]string{75: "1m15s", 0.4: "400ms", 0: "0s", 46: "46s"} {
		if got := seconds(s); got != want {
			t.Errorf("%v: got %s, want %s", s, got, want)
		}
	}
	for n, want := range map[int]string{0: "0 zones", 1: "1 zone", 2: "2 zones"} {
		if got := count(n, "zone"); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
	for state, want := range map[string]style{"healthy": green, "up": green, "degraded": yellow, "unknown": yellow, "critical": red, "down": red, "drained": plain} {
		if got := styleOf(state); got != want {
			t.Errorf("%s: got %q, want %q", state, got, want)
		}
	}
}

func TestPrintJSON(t *testing.T) {
	var out bytes.Buffer
	s := &shell{stdout: &out}
	if err := s.printJSON(map[string]string{"reason": "a < b & c"}); err != nil || !strings.Contains(out.String(), `"a < b & c"`) {
		t.Errorf("got %s, %v", &out, err)
	}
}
