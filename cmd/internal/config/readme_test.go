package config

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"gslbd/health/probe"
	"gslbd/zone/steer"

	"github.com/google/go-cmp/cmp"
)

// blocks gives the fenced YAML blocks of a document.
func blocks(t *testing.T, file string) []string {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	for _, m := range regexp.MustCompile("(?ms)^```ya?ml\n(.*?)^```").FindAllStringSubmatch(string(data), -1) {
		found = append(found, m[1])
	}
	if len(found) == 0 {
		t.Fatalf("%s: no YAML blocks", file)
	}
	return found
}

// loadBlock loads a block of a document, with a zone added where it has none
// and with the files and programs that its checks name.
func loadBlock(t *testing.T, text string) *Config {
	t.Helper()
	dir := t.TempDir()
	cert, key := filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	keyPair(t, cert, key)
	text = regexp.MustCompile(`\b(ca_file|cert_file|password_file): [^\s,}]+`).ReplaceAllString(text, "$1: "+cert)
	text = regexp.MustCompile(`\bkey_file: [^\s,}]+`).ReplaceAllString(text, "key_file: "+key)
	text = regexp.MustCompile(`\bcommand: (\[ )?[^\s,\]]+`).ReplaceAllString(text, "command: ${1}/bin/sh")
	if !strings.Contains(text, "zones:") {
		text += oneZone
	}
	c, problems := Load(write(t, text))
	if problems.Failed(true) {
		t.Errorf("%s\nfor the block:\n%s", problems.Error(), text)
	}
	return c
}

// TestReadmeChecks loads the examples of the page on checks.
func TestReadmeChecks(t *testing.T) {
	total := 0
	for _, block := range blocks(t, "../../../health/README.md") {
		if !regexp.MustCompile(`(?m)^checks:`).MatchString(block) {
			continue
		}
		if c := loadBlock(t, block); c != nil {
			total += len(c.Checks)
		}
	}
	if total == 0 {
		t.Error("no check in any block")
	}
}

// TestReadmeTypes holds the page on checks to have a section for each type,
// with an example and a row for every option.
func TestReadmeTypes(t *testing.T) {
	data, err := os.ReadFile("../../../health/README.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, typ := range checkTypes() {
		name := regexp.QuoteMeta(typ.name)
		sections := regexp.MustCompile("(?ms)^## (?:[^\n]*[ `])?"+name+"(?:[,` ][^\n]*)?$.*?(?:^## |\\z)").FindAllString(string(data), -1)
		section := strings.Join(sections, "\n") // "all" is also a word
		if !regexp.MustCompile(`\btype: ` + name + `\b`).MatchString(section) {
			t.Errorf("%s: no section with an example", typ.name)
			continue
		}
		for _, o := range typ.options(&probe.Check{}) {
			if !regexp.MustCompile("(?m)^\\| [^|]*`" + o.name + "`[^|]* \\|").MatchString(section) {
				t.Errorf("%s: no row for %s", typ.name, o.name)
			}
		}
	}
}

// TestReadmeConfiguration loads the examples of the page on configuration and
// holds it to name every key, every variable and every check type.
func TestReadmeConfiguration(t *testing.T) {
	const file = "../../README.md"
	for _, block := range blocks(t, file) {
		loadBlock(t, block)
	}
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var check probe.Check
	var policy steer.Policy
	names := func(table []option) []string {
		var names []string
		for _, o := range table {
			names = append(names, "`"+o.name+"`")
		}
		return names
	}
	words := names(policyOptions(&policy))
	words = append(words, names(commonOptions(&check, &probe.Window{}))...)
	for _, typ := range checkTypes() {
		words = append(append(words, "`"+typ.name+"`"), names(typ.options(&check))...)
	}
	for _, o := range settings(defaults("gslbd.yaml")) {
		if len(o.sub) == 0 {
			words = append(words, "`"+o.name+"`")
		}
		for _, s := range o.sub {
			words = append(words, "`"+o.name+"."+s.name+"`")
		}
	}
	for _, w := range words {
		if !strings.Contains(string(data), w) {
			t.Errorf("%s does not explain %s", file, w)
		}
	}
}

// TestDocumentedExample loads the example that shows every part of a complete
// system, and holds the answer about the parts that are not built.
func TestDocumentedExample(t *testing.T) {
	file := write(t, `listen: [ "127.0.0.1:5353", "[::1]:5353" ]   # UDP and TCP each; ":53" = every address
zones:
  - { name: gslb.example.com, file: gslb.example.com.zone }
checks:
  web:  { type: http, port: 80, path: /healthz, interval: 10s, timeout: 5s, fall: 2, rise: 3 }
  ping: { type: icmp }
policies:
  sticky: { steer: failover, order: [primary, secondary], members: hash }
state_dir: /var/lib/gslbd         # empty: nothing is kept over a restart
watch: true                       # zone files
admin: { socket: /run/gslbd/admin.sock, listen: "127.0.0.1:8053" }
log: { level: info, format: auto }     # auto: console on a terminal, JSON elsewhere
`)
	c, problems := Load(file)
	want := `gslbd.yaml:8: policies.sticky.members: "hash" is not available in this version
  hint: the only value is all
gslbd.yaml:11: admin.listen: not available in this version
  hint: leave it out`
	got := strings.ReplaceAll(problems.Error(), filepath.Dir(file)+"/", "")
	if diff := cmp.Diff(want, got); c != nil || diff != "" {
		t.Errorf("config %v, -want +got:\n%s", c, diff)
	}
}
