package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"gslbd": func() { os.Exit(Main(os.Args[1:], os.Stdin, os.Stdout, os.Stderr, os.Environ())) },
	})
}

// TestScripts runs the scripts of testdata/script: each is a session with the
// real program. exits N runs a command that must end with that status, and
// keys FILE checks which keys a JSON document has.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits": exits,
			"keys":  keys,
		},
		Setup: func(env *testscript.Env) error {
			web, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				return err
			}
			srv := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				fmt.Fprintf(w, "host %s", r.Host)
			})}
			go srv.Serve(web)
			env.Defer(func() { srv.Close() })
			env.Setenv("WEB", web.Addr().String())
			env.Setenv("GORACE", "atexit_sleep_ms=10") // not a second for each command
			return nil
		},
	})
}

// exits is the script command "exits STATUS COMMAND...".
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits STATUS COMMAND...")
	}
	err := ts.Exec(args[1], args[2:]...)
	got := "0"
	if err != nil {
		got = strings.TrimPrefix(err.Error(), "exit status ")
	}
	if got != args[0] {
		ts.Fatalf("%s: exit status %s, want %s", strings.Join(args[1:], " "), got, args[0])
	}
}

// keys is the script command "keys FILE KEY...": the object in FILE, or stdout,
// has these keys in this order and no others.
func keys(ts *testscript.TestScript, neg bool, args []string) {
	dec := json.NewDecoder(strings.NewReader(ts.ReadFile(args[0])))
	var got []string
	for depth, isKey := 0, false; ; {
		token, err := dec.Token()
		if err != nil {
			break
		}
		switch token {
		case json.Delim('{'), json.Delim('['):
			depth++
			isKey = depth == 1
			continue
		case json.Delim('}'), json.Delim(']'):
			depth--
			isKey = depth == 1
			continue
		}
		if depth == 1 {
			if isKey {
				got = append(got, fmt.Sprint(token))
			}
			isKey = !isKey
		}
	}
	if dec.More() {
		ts.Fatalf("more than one document")
	}
	if want := strings.Join(args[1:], " "); strings.Join(got, " ") != want {
		ts.Fatalf("keys are %s\nwant     %s", strings.Join(got, " "), want)
	}
}

// call runs a command line in this process.
func call(env []string, args ...string) (stdout, stderr string, code int) {
	var out, err bytes.Buffer
	code = Main(args, strings.NewReader(""), &out, &err, env)
	return out.String(), err.String(), code
}

func TestUsage(t *testing.T) {
	tests := []struct {
		args    string
		message string
	}{
		{"", "gslbd: a command is missing"},
		{"sevre", `gslbd: unknown command "sevre" for "gslbd"` + "\n  hint: did you mean \"serve\"?"},
		{"frobnicate", `gslbd: unknown command "frobnicate" for "gslbd"`},
		{"help sevre", `gslbd: unknown command "sevre" for "gslbd"` + "\n  hint: did you mean \"serve\"?"},
		{"help completion bahs", `gslbd: unknown command "bahs" for "gslbd completion"` + "\n  hint: did you mean \"bash\"?"},
		{"completion", "gslbd: a command is missing"},
		{"completion fsh", `gslbd: unknown command "fsh" for "gslbd completion"` + "\n  hint: did you mean \"fish\"?"},
		{"completion bash now", `gslbd: unknown command "now" for "gslbd completion bash"`},
		{"serve now", `gslbd: gslbd serve takes no such argument: "now"`},
		{"check --strickt", "gslbd: unknown flag: --strickt"},
		{"check a", `gslbd: gslbd check takes no such argument: "a"`},
		{"check etc/gslbd.yaml", `gslbd: gslbd check takes no such argument: "etc/gslbd.yaml"` + "\n  hint: name a configuration with -c etc/gslbd.yaml"},
		{"serve g.YML --config a", `gslbd: gslbd serve takes no such argument: "g.YML"` + "\n  hint: name a configuration with -c g.YML"},
		{"explain", "gslbd: NAME is missing"},
		{"explain a b c", `gslbd: gslbd explain takes no such argument: "c"`},
		{"status a b", `gslbd: gslbd status takes no such argument: "b"`},
		{"events now", `gslbd: gslbd events takes no such argument: "now"`},
		{"events --follow=perhaps", `gslbd: invalid argument "perhaps" for "-f, --follow" flag: strconv.ParseBool: parsing "perhaps": invalid syntax`},
		{"reload a", `gslbd: gslbd reload takes no such argument: "a"`},
		{"probe", "gslbd: CHECK and ADDRESS are missing"},
		{"probe a", "gslbd: ADDRESS is missing"},
		{"version --config", "gslbd: flag needs an argument: --config"},
	}
	for _, tt := range tests {
		stdout, stderr, code := call(nil, strings.Fields(tt.args)...)
		if code != 2 || stdout != "" || !strings.HasPrefix(stderr, tt.message+"\n") || !strings.Contains(stderr, "Usage:\n  gslbd") {
			t.Errorf("%q: got %d\n%s%s", tt.args, code, stdout, stderr)
		}
	}
}

func TestHelp(t *testing.T) {
	for _, args := range []string{"--help", "help", "help explain", "help completion fish", "completion -h", "completion bash", "--version", "version"} {
		stdout, stderr, code := call(nil, strings.Fields(args)...)
		if code != 0 || stderr != "" || stdout == "" {
			t.Errorf("%q: got %d %q", args, code, stderr)
		}
	}
	flag, _, _ := call(nil, "--version")
	command, _, _ := call(nil, "version")
	if flag != command || !strings.HasPrefix(flag, "gslbd ") || strings.Count(flag, "\n") != 1 {
		t.Errorf("--version says %q, version %q", flag, command)
	}
}

// TestCompletion: a script for each shell, and commands complete themselves.
func TestCompletion(t *testing.T) {
	for _, name := range []string{"bash", "zsh", "fish", "powershell"} {
		stdout, stderr, code := call(nil, "completion", name)
		if code != 0 || stderr != "" || !strings.Contains(stdout, "gslbd") {
			t.Errorf("%s: got %d %q", name, code, stderr)
		}
	}
	stdout, _, code := call(nil, "__complete", "ex")
	if code != 0 || !strings.HasPrefix(stdout, "explain\t") {
		t.Errorf("got %d %q", code, stdout)
	}
}
