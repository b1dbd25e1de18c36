// Package cli is the command line of gslbd: one file for each command. Results
// go to standard output, messages to standard error.
package cli

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"

	"github.com/spf13/cobra"

	"gslbd/cmd/internal/admin"
	"gslbd/cmd/internal/app"
	"gslbd/cmd/internal/config"
	"gslbd/zone"
)

// Exit statuses.
const (
	exitDone   = 0
	exitFailed = 1 // problems found, or refused
	exitUsage  = 2 // wrong use
)

// shell is what a command is run in.
type shell struct {
	stdout, stderr io.Writer
	env            []string
	config         string // --config; "" = search
	socket         string // --socket; "" = the configuration's
}

// failed is an error of a command that was called rightly; any other error
// from cobra means wrong use.
type failed struct{ error }

// errReported is a failure of which everything has been printed.
var errReported = errors.New("reported")

// Main runs the command line args, without the program's name, and returns the
// exit status: 0 done, 1 problems found or refused, 2 wrong use. env is in the
// form of os.Environ.
func Main(args []string, stdin io.Reader, stdout, stderr io.Writer, env []string) int {
	out := &results{Writer: stdout}
	s := &shell{stdout: out, stderr: stderr, env: env}
	root := s.root()
	root.SetArgs(args)
	root.SetIn(stdin)
	cmd, err := root.ExecuteC()
	if out.err != nil {
		return s.fail(out.err)
	}
	if err == nil {
		return exitDone
	}
	if f, ok := errors.AsType[failed](err); ok {
		return s.fail(f.error)
	}
	fmt.Fprintf(stderr, "gslbd: %v\n\n%s", err, cmd.UsageString())
	return exitUsage
}

// fail prints why a command failed.
func (s *shell) fail(err error) int {
	if errors.Is(err, errReported) {
		return exitFailed
	}
	if problems, ok := errors.AsType[zone.Problems](err); ok {
		fmt.Fprintln(s.stderr, problems.Error())
		return exitFailed
	}
	fmt.Fprintf(s.stderr, "gslbd: %v\n", err)
	if e, ok := errors.AsType[*admin.Error](err); ok && e.Status == http.StatusBadRequest {
		return exitUsage
	}
	return exitFailed
}

// root makes the command tree.
func (s *shell) root() *cobra.Command {
	root := &cobra.Command{
		Use:           "gslbd",
		Short:         "Authoritative DNS server that steers traffic by health checks",
		Version:       app.Version(),
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          cobra.ArbitraryArgs,
		RunE:          wanted,
	}
	root.SetVersionTemplate(versionText())
	root.PersistentFlags().StringVarP(&s.config, "config", "c", "", "configuration `FILE` (default ./gslbd.yaml, then /etc/gslbd/gslbd.yaml)")
	root.AddCommand(s.serveCommand(), s.checkCommand(), s.explainCommand(), s.statusCommand(), s.eventsCommand(),
		s.reloadCommand(), s.probeCommand(), s.versionCommand(), s.loadCommand())
	root.SetOut(s.stdout)
	root.SetErr(s.stderr)
	root.SetHelpCommand(helpCommand())
	strictCompletion(root)
	return root
}

// run makes a command's errors failures rather than wrong use.
func run(f func(cmd *cobra.Command, args []string) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		if err := f(cmd, args); err != nil {
			return failed{err}
		}
		return nil
	}
}

// socketFlag adds --socket to a command that talks to a running server.
func (s *shell) socketFlag(cmd *cobra.Command) {
	cmd.Flags().StringVar(&s.socket, "socket", "", "admin socket `PATH` of the running server (default the configuration's)")
}

// load reads the configuration; its warnings are printed.
func (s *shell) load() (*config.Config, error) {
	cfg, problems := config.Load(s.config)
	if cfg == nil {
		return nil, problems
	}
	s.warn(problems)
	return cfg, nil
}

func (s *shell) warn(problems zone.Problems) {
	if len(problems) > 0 {
		fmt.Fprintln(s.stderr, problems.Error())
	}
}

// ask puts a question to the running server. It finds the server's socket even
// when the configuration is broken by now, and tells of that only if nobody
// answers there.
func (s *shell) ask(question func(*admin.Client) error) error {
	socket := s.socket
	var problems zone.Problems
	if socket == "" {
		if socket, problems = config.Socket(s.config); socket == "" {
			problems = slices.Clone(problems)
			problems[len(problems)-1].Hint += "; or name the running server's socket with --socket"
			return problems
		}
	}
	err := question(admin.NewClient(socket))
	if e, ok := errors.AsType[*admin.Error](err); ok && e.Status == 0 && problems.Failed(false) {
		s.warn(problems)
	}
	return err
}
