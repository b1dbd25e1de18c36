package cli

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gslbd/cmd/internal/app"
	"gslbd/cmd/internal/config"
)

const zoneText = `$TTL 60
@   SOA ns1 host 7 3600 600 604800 60
@   NS  ns1
ns1 A   127.0.0.53
www A   127.0.0.10 ; @primary check=port id=tokyo
www A   127.0.0.11 ; @secondary check=none
old A   127.0.0.12
old A   127.0.0.13
`

const configText = `
listen: 127.0.0.1:0
watch: false
zones: [ { name: example.com, file: example.zone } ]
checks: { port: { type: tcp, interval: 1h, timeout: 1s } }
`

// inSite makes a working directory with a configuration and a zone.
func inSite(t *testing.T) {
	t.Helper()
	dir, err := os.MkdirTemp("", "gslbd")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	t.Chdir(dir)
	put(t, "gslbd.yaml", configText)
	put(t, "example.zone", zoneText)
}

func put(t *testing.T, name, text string) {
	t.Helper()
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// running starts a server on inSite within this process.
func running(t *testing.T) {
	t.Helper()
	inSite(t)
	cfg, problems := config.Load("")
	if cfg == nil {
		t.Fatal(problems)
	}
	a, err := app.New(cfg, app.Options{Version: "v1"})
	if err != nil {
		t.Fatal(err)
	}
	if err := a.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := a.Stop(t.Context()); err != nil && t.Context().Err() == nil {
			t.Error(err)
		}
	})
}

// shape describes the keys of a document, sorted: {a:[{b,c}],d}. Of a list
// the first element speaks for all.
func shape(doc any) string {
	switch doc := doc.(type) {
	case map[string]any:
		var fields []string
		for key, value := range doc {
			inner := shape(value)
			if inner != "" {
				inner = ":" + inner
			}
			fields = append(fields, key+inner)
		}
		slices.Sort(fields)
		return "{" + strings.Join(fields, ",") + "}"
	case []any:
		if len(doc) == 0 {
			return "[]"
		}
		return "[" + shape(doc[0]) + "]"
	}
	return ""
}

// The shapes of the documents.
const (
	checkShape = "{groups:[{client_seconds,detect_seconds,name,policy,recover_seconds,type}],ok," +
		"problems:[{file,hint,line,message,severity}],zones:[{file,groups,name,records,serial}]}"
	explainShape = "{answer:[],client,name,policy,pool,rcode,reason,scope,ttl,type}"
	statusShape  = "{groups:[{answer:[],name,policy,pool,pools:[{members:[{checks:[{consecutive,error,last_probe,name,next_probe,state,target}]," +
		"data,id,latency_ms,override,since,state,target,usable,weight}],name,state}],reason,since,state,ttl,type}]," +
		"node,ready,started,version,zones:[{loaded,name,problem,serial}]}"
	eventShape = "{events:[{cause,from,id,kind,name,new_answer:[],old_answer:[],old_pool,policy,pool,rule,time,to,type,zone}]}"
	probeShape = "{check,latency_ms,outcome,reason,steps:[],target,type}"
)

// TestDocuments holds the JSON documents to what is published.
func TestDocuments(t *testing.T) {
	running(t)
	tests := []struct {
		args string
		code int
		want string
	}{
		{"check --json", 0, checkShape},
		{"check --json --strict", 1, checkShape},
		{"explain --json www.example.com", 0, explainShape},
		{"explain --json nix.example.com", 0, explainShape},
		{"explain --json --live www.example.com AAAA", 0, explainShape},
		{"status --json", 0, statusShape},
		{"events --json", 0, "{events:[{cause,id,kind,time}]}"}, // of the start; a group's has more
		{"probe --json port 127.0.0.1:1", 1, probeShape},
	}
	for _, tt := range tests {
		stdout, stderr, code := call(nil, strings.Fields(tt.args)...)
		dec := json.NewDecoder(strings.NewReader(stdout))
		var doc any
		if err := dec.Decode(&doc); err != nil {
			t.Errorf("%s: %v in %q", tt.args, err, stdout)
			continue
		}
		if got := shape(doc); got != tt.want {
			t.Errorf("%s:\n got  %s\n want %s", tt.args, got, tt.want)
		}
		if dec.More() || code != tt.code || stderr != "" {
			t.Errorf("%s: got %d, stderr %q", tt.args, code, stderr)
		}
	}
}

// TestStreams: a failure leaves standard output empty, also under --json.
func TestStreams(t *testing.T) {
	inSite(t)
	tests := []struct {
		args string
		code int
		want string
	}{
		{"status --json", 1, "no gslbd answers on gslbd.sock"},
		{"reload", 1, "no gslbd answers on gslbd.sock"},
		{"explain --json --live www.example.com", 1, "no gslbd answers on gslbd.sock"},
		{"status --socket " + filepath.Join("a", "b"), 1, "no gslbd answers on a/b"},
		{"explain --json a..b", 2, "is not a domain name"},
		{"explain --json www.example.com --down nix", 1, "matches no member"},
		{"probe --json nix 127.0.0.1", 1, `no check is named "nix"`},
		{"events --json", 1, "no gslbd answers on gslbd.sock"},
		{"probe --json port here", 2, "is not an address to probe"},
		{"explain --json www -c nix.yaml", 1, "nix.yaml: no such file"},
		{"probe --json port ::1 -c nix.yaml", 1, "nix.yaml: no such file"},
		{"status --json -c nix.yaml", 1, "--socket"},
		{"serve -c nix.yaml", 1, "nix.yaml: no such file"},
	}
	for _, tt := range tests {
		stdout, stderr, code := call(nil, strings.Fields(tt.args)...)
		if stdout != "" || code != tt.code || !strings.Contains(stderr, tt.want) || !strings.Contains(stderr, "hint: ") {
			t.Errorf("%s: got %d %q\n%s", tt.args, code, stdout, stderr)
		}
	}
}

// TestServeFails: what stops a start is told with its exit status.
func TestServeFails(t *testing.T) {
	tests := []struct{ name, text, want string }{
		{"example.zone", "www A", "example.zone:1: "},
		{"gslbd.yaml", configText + "log: { level: loud }\n", "gslbd.yaml:6: log.level: "},
		{"gslbd.yaml", strings.Replace(configText, "127.0.0.1:0", "192.0.2.99:0", 1), `gslbd.yaml:2: listen `},
		{"gslbd.sock", "in the way", "gslbd: admin socket gslbd.sock: a file that is not a socket is in the way"},
	}
	for _, tt := range tests {
		inSite(t)
		put(t, tt.name, tt.text)
		stdout, stderr, code := call(nil, "serve")
		if code != 1 || stdout != "" || !strings.Contains(stderr, tt.want) || !strings.Contains(stderr, "hint: ") {
			t.Errorf("%s: got %d %s%s", tt.want, code, stdout, stderr)
		}
	}
}

// TestConfigurationPlaces: --config before ./gslbd.yaml, and the environment
// over both.
func TestConfigurationPlaces(t *testing.T) {
	inSite(t)
	put(t, "other.yaml", strings.Replace(configText, "checks:", "checks: { other: { type: icmp } } #", 1))
	put(t, "example.zone", "$TTL 60\n@ SOA ns1 host 7 1 1 1 60\n@ NS ns1\nns1 A 127.0.0.1\nx A 127.0.0.1 ; @primary check=other\n")
	if _, _, code := call(nil, "check"); code != 1 {
		t.Errorf("with ./gslbd.yaml: %d", code)
	}
	for _, flag := range []string{"-cother.yaml", "--config=other.yaml"} {
		if stdout, _, code := call(nil, "check", flag); code != 0 {
			t.Errorf("%s: %d\n%s", flag, code, stdout)
		}
	}
	t.Setenv("GSLBD_LOG_LEVEL", "loud")
	if stdout, _, code := call(nil, "check", "-cother.yaml"); code != 1 || !strings.Contains(stdout, "GSLBD_LOG_LEVEL") {
		t.Errorf("with a bad variable: %d\n%s", code, stdout)
	}
}

func TestSessionInProcess(t *testing.T) {
	running(t)
	stdout, stderr, code := call([]string{"NO_COLOR=1"}, "status", "WWW.example.com/a")
	if code != 0 || stderr != "" {
		t.Errorf("got %d %s", code, stderr)
	}
	for _, want := range []string{"gslbd v1 on ", "\nGROUP, MEMBER", "\nwww.example.com/A  ", "\n  tokyo (127.0.0.10)  ", "\nexample.com  7 "} {
		if !strings.Contains(stdout, want) {
			t.Errorf("status lacks %q:\n%s", want, stdout)
		}
	}
	put(t, "example.zone", zoneText+"new A 127.0.0.14\n")
	stdout, stderr, code = call(nil, "reload")
	if code != 0 || stdout != "reloaded: 1 zone with the same serial\n" || !strings.HasPrefix(stderr, "example.zone:7: warning: ") {
		t.Errorf("got %d %s%s", code, stdout, stderr)
	}
	stdout, _, code = call(nil, "explain", "--live", "new.example.com")
	if code != 0 || !strings.Contains(stdout, "answer    NOERROR 127.0.0.14\n") || strings.Contains(stdout, "pool ") {
		t.Errorf("got %d %s", code, stdout)
	}
	put(t, "example.zone", zoneText+"new A\nnewer A\n")
	stdout, stderr, code = call(nil, "reload")
	if code != 1 || stdout != "" || strings.Count(stderr, "example.zone:") < 2 {
		t.Errorf("got %d %s%s", code, stdout, stderr)
	}
	if _, err := fmt.Sscanf(stderr, "example.zone:%d:", new(int)); err != nil {
		t.Errorf("%v in %s", err, stderr)
	}
}

// TestReadmeDocuments: the examples in the documentation have the keys that
// the commands print.
func TestReadmeDocuments(t *testing.T) {
	text, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, commands, found := strings.Cut(string(text), "\n## Commands\n")
	if !found {
		t.Fatal("no section on commands")
	}
	var got []string
	for block := range strings.SplitSeq(commands, "\n\n") {
		if !strings.HasPrefix(block, "    {") {
			continue
		}
		var doc any
		if err := json.Unmarshal([]byte(block), &doc); err != nil {
			t.Errorf("%v in\n%s", err, block)
			continue
		}
		got = append(got, shape(doc))
	}
	want := []string{checkShape, explainShape, statusShape, eventShape, strings.Replace(probeShape, "steps:[]", "steps:[{at_ms,info,what}]", 1)}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}
