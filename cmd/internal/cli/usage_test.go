package cli

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// paths lists the command lines of a command and all below it.
func paths(cmd *cobra.Command) []string {
	all := []string{strings.TrimSpace(strings.TrimPrefix(cmd.CommandPath(), "gslbd"))}
	for _, below := range cmd.Commands() {
		all = append(all, paths(below)...)
	}
	return all
}

// TestEveryCommand: each explains itself in both ways alike, and refuses a flag
// that it lacks with status 2, its own usage, and nothing on standard output.
func TestEveryCommand(t *testing.T) {
	root := (&shell{stdout: new(bytes.Buffer), stderr: new(bytes.Buffer)}).root()
	all := paths(root)
	for _, name := range []string{"serve", "check", "explain", "status", "events", "reload", "probe", "version", "completion", "completion zsh"} {
		if !slices.Contains(all, name) {
			t.Errorf("there is no command %q", name)
		}
	}
	for _, path := range all {
		words := strings.Fields(path)
		help, stderr, code := call(nil, append([]string{"help"}, words...)...)
		flag, _, flagCode := call(nil, append(slices.Clone(words), "--help")...)
		if code != 0 || flagCode != 0 || stderr != "" || help != flag || !strings.Contains(help, "Usage:") {
			t.Errorf("%q: help gives %d %q, --help %d %q", path, code, help+stderr, flagCode, flag)
		}
		stdout, stderr, code := call(nil, append(words, "--frobnicate")...)
		usage := "Usage:\n  " + strings.TrimSpace("gslbd "+path)
		if code != 2 || stdout != "" || !strings.HasPrefix(stderr, "gslbd: unknown flag: --frobnicate\n") || !strings.Contains(stderr, usage) {
			t.Errorf("%q: a wrong flag gives %d %q %q", path, code, stdout, stderr)
		}
	}
}

// brittle is an output that takes n bytes and then breaks.
type brittle struct{ n int }

func (b *brittle) Write(p []byte) (int, error) {
	if len(p) > b.n {
		return b.n, errors.New("broken")
	}
	b.n -= len(p)
	return len(p), nil
}

// TestResults: the first error stays, also when a later write succeeds.
func TestResults(t *testing.T) {
	r := &results{Writer: &brittle{n: 5}}
	for _, word := range []string{"abc", "too long", "d"} {
		_, _ = r.Write([]byte(word))
	}
	if r.err == nil || r.err.Error() != "broken" {
		t.Errorf("got %v", r.err)
	}
}
