package config

import (
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// TestBlankHint: a key that sticks to its value is seen, and nothing else is.
func TestBlankHint(t *testing.T) {
	for text, want := range map[string]string{
		"port:9201":                              "port: 9201",
		"    port:9201":                          "port: 9201",
		"http port:9201":                         "port: 9201",
		"type: http\n    port:9201":              "port: 9201",
		"{type:http, port:1}":                    "type: http",
		"- { name: a, file:a.zone }":             "file: a.zone",
		"Interval:10s":                           "Interval: 10s",
		"min_healthy:50%":                        "min_healthy: 50%",
		"check:web,ping":                         "check: web",
		"port:\x01":                              `port: "\x01"`,
		"port: 9201":                             "",
		"port:":                                  "",
		"port:\n  9201":                          "",
		"http://127.0.0.1:80":                    "",
		"host:/path":                             "",
		"listen:::53":                            "",
		"127.0.0.1:53":                           "",
		"www.example.com:80":                     "",
		"support:9201":                           "",
		"import:9201":                            "",
		"export-port:9201":                       "",
		"":                                       "",
		strings.Repeat("port: ", 1000):           "",
		strings.Repeat("port ", 1000) + "port:1": "",
	} {
		hint := blankHint(text)
		if want == "" && hint != "" || want != "" && hint != "a blank is missing after the colon: write "+want {
			t.Errorf("%q: got %q, want %q", text, hint, want)
		}
	}
}

// TestPlainText: quotes mean what they hold, and so does a variable.
func TestPlainText(t *testing.T) {
	value := func(text string, style yaml.Style, line int) *yaml.Node {
		return &yaml.Node{Kind: yaml.ScalarNode, Value: text, Style: style, Line: line}
	}
	tests := []struct {
		name string
		f    field
		want string
	}{
		{"no value", field{}, ""},
		{"behind its key", field{line: 3, node: value("host:80", 0, 3)}, ""},
		{"lines below it too", field{line: 3, node: value("http port:80 path:/", 0, 3)}, "port:80 path:/"},
		{"below its key", field{line: 3, node: value("port:80", 0, 4)}, "port:80"},
		{"double quotes", field{line: 3, node: value("a port:80", yaml.DoubleQuotedStyle, 3)}, ""},
		{"single quotes", field{line: 3, node: value("a port:80", yaml.SingleQuotedStyle, 3)}, ""},
		{"a block", field{line: 3, node: value("a port:80", yaml.LiteralStyle, 3)}, ""},
		{"a variable", field{env: "GSLBD_NODE", node: value("a port:80", 0, 0)}, ""},
		{"a list", field{line: 3, node: &yaml.Node{Kind: yaml.SequenceNode, Line: 4}}, ""},
	}
	for _, tt := range tests {
		if got := plainText(tt.f); got != tt.want {
			t.Errorf("%s: got %q, want %q", tt.name, got, tt.want)
		}
	}
}

// TestKeyNames: those of every section and check type are known.
func TestKeyNames(t *testing.T) {
	names := keyNames()
	for _, want := range []string{"listen", "zones", "file", "socket", "level", "max_in_flight", "min_healthy", "order",
		"type", "interval", "required", "source", "count", "send", "path", "expect_body_regex", "state_dir"} {
		if !slices.Contains(names, want) {
			t.Errorf("%s is missing in %v", want, names)
		}
	}
}

// TestNear: the line of the error and the one before, whatever its number.
func TestNear(t *testing.T) {
	data := []byte("a\nb\nc")
	for line, want := range map[int]string{-1: "", 0: "", 1: "a", 2: "a\nb", 3: "b\nc", 4: "c", 9: ""} {
		if got := near(data, line); got != want {
			t.Errorf("%d: got %q, want %q", line, got, want)
		}
	}
}

// TestLine: checks and files of zones are found again, as the program names them.
func TestLine(t *testing.T) {
	c := mustLoad(t, `zones:
  - name: a.example
    file: a.zone
  - { file: b.zone, name: b.example }
checks:
  Web: { type: http }

  ping:
    type: icmp
`)
	for path, want := range map[string]int{
		"zones[0].file": 3, "zones[1].file": 4, "zones[2].file": 0,
		"checks.web": 6, "checks.ping": 8, "checks.nix": 0, "": 0,
	} {
		if got := c.Line(path); got != want {
			t.Errorf("%s: got %d, want %d", path, got, want)
		}
	}
	if got := new(Config).Line("checks.web"); got != 0 {
		t.Errorf("of nothing read: %d", got)
	}
}
