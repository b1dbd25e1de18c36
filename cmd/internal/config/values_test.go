package config

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"gslbd/zone/steer"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"
)

// apply gives one YAML value to a setter and returns what it says, without the
// name of the file.
func apply(t *testing.T, value string, set setter) string {
	t.Helper()
	var document yaml.Node
	if err := yaml.Unmarshal([]byte("key: "+value+"\n"), &document); err != nil {
		t.Fatalf("%s: %v", value, err)
	}
	r := &reader{file: "f", dir: "/dir"}
	node := document.Content[0].Content[1]
	set(r, field{path: "key", line: 1, node: target(node)})
	wellFormed(t, r.problems)
	return strings.TrimPrefix(r.problems.Error(), "f:1: key: ")
}

func TestInteger(t *testing.T) {
	for _, test := range []struct {
		value string
		want  int
		fault string
	}{
		{value: "1", want: 1},
		{value: "100", want: 100},
		{value: "+7", want: 7},
		{value: "0x10", want: 16},
		{value: "0b11", want: 3},
		{value: "0o17", want: 15},
		{value: "1_0", want: 10},
		{value: `!!int "12"`, want: 12},
		{value: "0", fault: "0 is out of range\n  hint: 1 to 100"},
		{value: "101", fault: "101 is out of range\n  hint: 1 to 100"},
		{value: "-1", fault: "-1 is out of range\n  hint: 1 to 100"},
		{value: "9223372036854775808", fault: "9223372036854775808 is out of range\n  hint: 1 to 100"},
		{value: "-99999999999999999999", fault: "-99999999999999999999 is out of range\n  hint: 1 to 100"},
		{value: "010", fault: "010 would be read as octal\n  hint: 1 to 100, without leading zeros"},
		{value: "008", fault: "008 is not a whole number\n  hint: 1 to 100, without quotes or leading zeros"},
		{value: "1.0", fault: "1.0 is not a whole number\n  hint: 1 to 100"},
		{value: "1e1", fault: "1e1 is not a whole number\n  hint: 1 to 100"},
		{value: ".inf", fault: ".inf is not a whole number\n  hint: 1 to 100"},
		{value: `"5"`, fault: "\"5\" is not a whole number\n  hint: 1 to 100, without quotes or leading zeros"},
		{value: "five", fault: "\"five\" is not a whole number\n  hint: 1 to 100"},
		{value: "true", fault: "true is not a whole number\n  hint: 1 to 100"},
		{value: "null", fault: "nothing is not a whole number\n  hint: 1 to 100"},
		{value: "[ 5 ]", fault: "a list is not a whole number\n  hint: 1 to 100"},
		{value: "{ a: 5 }", fault: "a map is not a whole number\n  hint: 1 to 100"},
		{value: `!!int "x"`, fault: "x is out of range\n  hint: 1 to 100"},
	} {
		got := -1
		fault := apply(t, test.value, integer(&got, 1, 100))
		if test.fault != "" {
			test.want = -1 // left alone
		}
		if got != test.want || fault != test.fault {
			t.Errorf("%s: got %d, %q, want %d, %q", test.value, got, fault, test.want, test.fault)
		}
	}
}

func TestDuration(t *testing.T) {
	for _, test := range []struct {
		value string
		want  time.Duration
		fault string
	}{
		{value: "100ms", want: 100 * time.Millisecond},
		{value: "24h", want: 24 * time.Hour},
		{value: "1.5s", want: 1500 * time.Millisecond},
		{value: "1h0m1s", want: time.Hour + time.Second},
		{value: `"10s"`, want: 10 * time.Second},
		{value: "250000us", want: 250 * time.Millisecond},
		{value: "99ms", fault: "99ms is out of range\n  hint: 100ms to 24h"},
		{value: "24h0m1s", fault: "24h0m1s is out of range\n  hint: 100ms to 24h"},
		{value: "-5s", fault: "-5s is out of range\n  hint: 100ms to 24h"},
		{value: "10", fault: "10 has no unit\n  hint: 10s for seconds; 100ms to 24h"},
		{value: "+10", fault: "+10 has no unit\n  hint: 10s for seconds; 100ms to 24h"},
		{value: "0.5", fault: "0.5 has no unit\n  hint: 0.5s for seconds; 100ms to 24h"},
		{value: "0", fault: "0 has no unit\n  hint: 0s for seconds; 100ms to 24h"},
		{value: "1d", fault: "\"1d\" is not a duration\n  hint: a duration such as 500ms, 10s, 5m or 1h30m; 100ms to 24h"},
		{value: "10 s", fault: "\"10 s\" is not a duration\n  hint: a duration such as 500ms, 10s, 5m or 1h30m; 100ms to 24h"},
		{value: "999999999h", fault: "\"999999999h\" is not a duration\n  hint: a duration such as 500ms, 10s, 5m or 1h30m; 100ms to 24h"},
		{value: "", fault: "nothing where a duration belongs\n  hint: give one, or leave the key out"},
		{value: "[ 10s ]", fault: "a list where a duration belongs\n  hint: a single value, without brackets, braces or lines of its own"},
	} {
		got := time.Duration(-1)
		fault := apply(t, test.value, duration(&got, 100*time.Millisecond, 24*time.Hour))
		if test.fault != "" {
			test.want = -1
		}
		if got != test.want || fault != test.fault {
			t.Errorf("%s: got %s, %q, want %s, %q", test.value, got, fault, test.want, test.fault)
		}
	}
}

func TestBoolean(t *testing.T) {
	for value, want := range map[string]bool{
		"true": true, "True": true, "TRUE": true, "!!bool \"true\"": true,
		"false": false, "False": false, "FALSE": false,
	} {
		got := !want
		if fault := apply(t, value, boolean(&got)); got != want || fault != "" {
			t.Errorf("%s: got %v, %q", value, got, fault)
		}
	}
	for value, shows := range map[string]string{
		"yes": `"yes"`, "off": `"off"`, "1": "1", "0.0": "0.0", `"true"`: `"true"`, "~": "nothing", "[]": "a list", "{}": "a map",
		"!yes true": `a value tagged "!yes"`,
	} {
		got := true
		want := shows + " is neither true nor false\n  hint: true or false"
		if fault := apply(t, value, boolean(&got)); !got || fault != want {
			t.Errorf("%s: got %v, %q, want %q", value, got, fault, want)
		}
	}
}

func TestText(t *testing.T) {
	for value, want := range map[string]string{
		"word": "word", `""`: "", "''": "", "220": "220", "1.10": "1.10", "true": "true", "0x1F": "0x1F",
		"2026-11-29": "2026-11-29", `"null"`: "null", `"a\tb\0"`: "a\tb\x00", "a # note": "a", `"# text"`: "# text",
		"|\n  two\n  lines": "two\nlines\n", ">\n  one\n  line": "one line\n", "a: b"[:1]: "a", "12345678": "12345678",
	} {
		got := "before"
		if fault := apply(t, value, text(&got, 10)); got != want || fault != "" {
			t.Errorf("%s: got %q, %q, want %q", value, got, fault, want)
		}
	}
	for value, want := range map[string]string{
		"12345678901":   "11 bytes are too long\n  hint: at most 10 bytes",
		"éééééé":        "12 bytes are too long\n  hint: at most 10 bytes",
		"null":          "nothing where text belongs\n  hint: give one, or leave the key out",
		"!secret word":  "a value tagged \"!secret\" where text belongs\n  hint: leave out the tag",
		"[ a ]":         "a list where text belongs\n  hint: a single value, without brackets, braces or lines of its own",
		"!!binary YQ==": "\"YQ==\" where text belongs\n  hint: a single value, without brackets, braces or lines of its own",
	} {
		got := "before"
		if fault := apply(t, value, text(&got, 10)); got != "before" || fault != want {
			t.Errorf("%s: got %q, %q, want %q", value, got, fault, want)
		}
	}
}

func TestPath(t *testing.T) {
	for value, want := range map[string]string{
		"a.zone":         "/dir/a.zone",
		"./a.zone":       "/dir/a.zone",
		"../a.zone":      "/a.zone",
		"sub//a.zone":    "/dir/sub/a.zone",
		"/srv/a.zone":    "/srv/a.zone",
		"/srv/../a.zone": "/a.zone",
		"my file":        "/dir/my file",
		"2026":           "/dir/2026",
	} {
		got := ""
		if fault := apply(t, value, path(&got)); got != want || fault != "" {
			t.Errorf("%s: got %q, %q, want %q", value, got, fault, want)
		}
	}
	got := ""
	if fault := apply(t, `""`, path(&got)); fault != "empty path\n  hint: name a file, or leave the key out" || got != "" {
		t.Errorf("got %q, %q", got, fault)
	}
}

func TestChoice(t *testing.T) {
	words := []word[int]{{"alpha", 1}, {"beta", 2}}
	for value, want := range map[string]int{"alpha": 1, "BETA": 2, `"Alpha"`: 1} {
		got := 0
		if fault := apply(t, value, choice(&got, words, "gamma")); got != want || fault != "" {
			t.Errorf("%s: got %d, %q", value, got, fault)
		}
	}
	for value, want := range map[string]string{
		"gamma":   "\"gamma\" is not available in this version\n  hint: one of alpha, beta",
		"GAMMA":   "\"GAMMA\" is not available in this version\n  hint: one of alpha, beta",
		"aplha":   "unknown value \"aplha\"\n  hint: did you mean \"alpha\"?",
		"gama":    "unknown value \"gama\"\n  hint: did you mean \"gamma\"?",
		"nothing": "unknown value \"nothing\"\n  hint: one of alpha, beta",
		`""`:      "unknown value \"\"\n  hint: one of alpha, beta",
		"1":       "unknown value \"1\"\n  hint: one of alpha, beta",
	} {
		got := 0
		if fault := apply(t, value, choice(&got, words, "gamma")); got != 0 || fault != want {
			t.Errorf("%s: got %d, %q, want %q", value, got, fault, want)
		}
	}
}

func TestQuorum(t *testing.T) {
	for value, want := range map[string]steer.Quorum{
		"1": {Count: 1}, "65535": {Count: 65535}, "1%": {Percent: 1}, "100%": {Percent: 100}, `"50 %"`: {Percent: 50},
	} {
		got := steer.Quorum{Count: 9}
		if fault := apply(t, value, quorum(&got)); got != want || fault != "" {
			t.Errorf("%s: got %+v, %q", value, got, fault)
		}
	}
	for value, want := range map[string]string{
		"0":     "0 is out of range\n  hint: 1 to 65535",
		"65536": "65536 is out of range\n  hint: 1 to 65535",
		"0%":    "0% is out of range\n  hint: 1% to 100%",
		"101%":  "101% is out of range\n  hint: 1% to 100%",
		"-1%":   "-1% is out of range\n  hint: 1% to 100%",
		"5.5%":  "\"5.5%\" is not a percentage\n  hint: 1% to 100%, or a count of members",
		"0.5":   "0.5 is not a whole number\n  hint: 1 to 65535",
		"most":  "\"most\" is not a whole number\n  hint: 1 to 65535",
		"[ 1 ]": "a list is not a whole number\n  hint: 1 to 65535",
	} {
		got := steer.Quorum{Count: 9}
		if fault := apply(t, value, quorum(&got)); got != (steer.Quorum{Count: 9}) || fault != want {
			t.Errorf("%s: got %+v, %q, want %q", value, got, fault, want)
		}
	}
}

func TestPayload(t *testing.T) {
	for value, want := range map[string]string{
		"hello": "hello", `"a\r\n"`: "a\r\n", `"hex:0001ff"`: "\x00\x01\xff", `"hex: de ad BE EF"`: "\xde\xad\xbe\xef", `"hex:"`: "", "HEX:00": "HEX:00",
	} {
		var got []byte
		if fault := apply(t, value, payload(&got)); string(got) != want || fault != "" {
			t.Errorf("%s: got %q, %q", value, got, fault)
		}
	}
	for value, want := range map[string]string{
		`"hex:0"`:                         "\"0\" is not hexadecimal\n  hint: pairs of hexadecimal digits, as in \"hex:0d0a\"",
		`"hex:0x1"`:                       "\"0x1\" is not hexadecimal\n  hint: pairs of hexadecimal digits, as in \"hex:0d0a\"",
		strings.Repeat("x", maxPayload+1): "4097 bytes are too long\n  hint: at most 4096 bytes",
	} {
		var got []byte
		if fault := apply(t, value, payload(&got)); got != nil || fault != want {
			t.Errorf("%s: got %q, %q, want %q", quote(value), got, fault, want)
		}
	}
}

func TestShort(t *testing.T) {
	for d, want := range map[time.Duration]string{
		24 * time.Hour: "24h", 5 * time.Minute: "5m", 90 * time.Minute: "1h30m", 90 * time.Second: "1m30s",
		10 * time.Second: "10s", 100 * time.Millisecond: "100ms", time.Hour + time.Second: "1h0m1s", 0: "0s",
	} {
		if got := short(d); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

func TestShown(t *testing.T) {
	for key, want := range map[string]string{
		"port": "port", "": `""`, "a b": `"a b"`, "a\x1b[31m": `"a\x1b[31m"`, "é": `"é"`,
		strings.Repeat("x", 61): `"` + strings.Repeat("x", 60) + `…"`, "log.level": "log.level",
	} {
		if got := shown(key); got != want {
			t.Errorf("%q: got %s, want %s", key, got, want)
		}
	}
	if got, want := quote(strings.Repeat("é", 40)), `"`+strings.Repeat("é", 30)+`…"`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if got := shownText("a\nb\tc"); got != "a b c" {
		t.Errorf("got %q", got)
	}
}

func TestWords(t *testing.T) {
	for value, want := range map[string][]string{
		"a": {"a"}, "[ A, b ]": {"a", "b"}, `"a, B"`: {"a", "b"}, `[ "a,b", c ]`: {"a", "b", "c"}, "[]": {}, `"a,,b"`: {"a", "", "b"},
	} {
		apply(t, value, func(r *reader, f field) {
			got, ok := r.words(f, "a name")
			if diff := cmp.Diff(want, got); diff != "" || !ok {
				t.Errorf("%s: %v, -want +got:\n%s", value, ok, diff)
			}
		})
	}
	fault := apply(t, "[ a, [ b ], { c: d } ]", func(r *reader, f field) {
		if got, ok := r.words(f, "a name"); ok {
			t.Errorf("got %v", got)
		}
	})
	hint := "\n  hint: a single value, without brackets, braces or lines of its own"
	want := fmt.Sprintf("a list where a name belongs%s\nf:1: key: a map where a name belongs%[1]s", hint)
	if fault != want {
		t.Errorf("got %q, want %q", fault, want)
	}
}

func TestLabel(t *testing.T) {
	for value, want := range map[string]string{"ns1": "ns1", "10": "10", "tokyo/rack-1": "tokyo/rack-1"} {
		got := ""
		if fault := apply(t, value, label(&got)); got != want || fault != "" {
			t.Errorf("%s: got %q, %q", value, got, fault)
		}
	}
	for _, value := range []string{`""`, `"a b"`, `"a\n"`, "é", strings.Repeat("x", 256)} {
		got := "before"
		fault := apply(t, value, label(&got))
		if got != "before" || !strings.HasSuffix(fault, " is not a name\n  hint: 1 to 255 printable ASCII characters without spaces") {
			t.Errorf("%s: got %q, %q", value, got, fault)
		}
	}
}

// TestChoiceOfNumbers: a number is no misspelling of another one.
func TestChoiceOfNumbers(t *testing.T) {
	for _, value := range []string{"1", "1.10", "2.0", "3"} {
		var got string
		want := "unknown value " + quote(value) + "\n  hint: one of 1.0, 1.1, 2"
		if fault := apply(t, value, choice(&got, same("1.0", "1.1", "2"))); fault != want {
			t.Errorf("%s: got %q, want %q", value, fault, want)
		}
	}
}

func TestURLPath(t *testing.T) {
	for value, want := range map[string]string{
		"/":                             "",
		"/a/b?c=d&e":                    "",
		"/%20":                          "",
		"//double":                      "",
		"healthz":                       "\"healthz\" does not begin with /\n  hint: \"/healthz\"",
		`""`:                            "\"\" does not begin with /\n  hint: \"/\"",
		"http://a/":                     "\"http://a/\" does not begin with /\n  hint: \"/http://a/\"",
		`"/a b"`:                        "\"/a b\" holds a space or a character outside ASCII\n  hint: percent-encode it: a space is %20",
		`"/a\r\nX: b"`:                  "\"/a\\r\\nX: b\" holds a space or a character outside ASCII\n  hint: percent-encode it: a space is %20",
		"/é":                            "\"/é\" holds a space or a character outside ASCII\n  hint: percent-encode it: a space is %20",
		"/a#b":                          "\"/a#b\" holds a fragment\n  hint: leave out the part after #, which is never sent",
		"/%zz":                          "\"/%zz\" holds a bad escape\n  hint: % and two hexadecimal digits; a percent sign itself is %25",
		"/100%":                         "\"/100%\" holds a bad escape\n  hint: % and two hexadecimal digits; a percent sign itself is %25",
		"[ / ]":                         "a list where a path belongs\n  hint: a single value, without brackets, braces or lines of its own",
		"/" + strings.Repeat("x", 2048): "2049 bytes are too long\n  hint: at most 2048 bytes",
	} {
		got := ""
		if fault := apply(t, value, urlPath(&got)); fault != want || (got == "") != (want != "") {
			t.Errorf("%s: got %q, %q, want %q", quote(value), got, fault, want)
		}
	}
}

func TestExpression(t *testing.T) {
	const syntax = "\n  hint: the syntax is that of https://pkg.go.dev/regexp/syntax"
	for value, want := range map[string]string{
		"ok|fine":                         "",
		`"(?i)^up\\s*$"`:                  "",
		`"("`:                             "missing closing ): `(`" + syntax,
		`"a**"`:                           "invalid nested repetition operator: `**`" + syntax,
		`"\\1"`:                           "invalid escape sequence: `\\1`" + syntax,
		`"a{1001}"`:                       "invalid repeat count: `{1001}`" + syntax,
		strings.Repeat("x", maxPayload+1): "4097 bytes are too long\n  hint: at most 4096 bytes",
	} {
		var got *regexp.Regexp
		if fault := apply(t, value, expression(&got)); fault != want || (got == nil) != (want != "") {
			t.Errorf("%s: got %v, %q, want %q", quote(value), got, fault, want)
		}
	}
}
