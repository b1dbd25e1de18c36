package cli

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"gslbd/cmd/internal/app"
	"gslbd/cmd/internal/config"
	"gslbd/zone"
)

func (s *shell) serveCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "serve",
		Short: "Answer queries and probe, until SIGTERM or SIGINT; SIGHUP reloads",
		Args:  called,
		RunE:  run(func(*cobra.Command, []string) error { return s.serve() }),
	}
}

func (s *shell) serve() error {
	// A reload that is asked for during the start must not end the process.
	hangup := make(chan os.Signal, 1)
	signal.Notify(hangup, syscall.SIGHUP)
	defer signal.Stop(hangup)

	cfg, problems := config.Load(s.config)
	if cfg == nil {
		return problems
	}
	log, err := app.NewLogger(s.stderr, cfg.Log.Level, cfg.Log.Format)
	if err != nil {
		return err
	}
	defer func() { _ = log.Sync() }() // before main prints why it failed
	// Without this, the end of a program that reads the log would end this one.
	signal.Ignore(syscall.SIGPIPE)
	defer signal.Reset(syscall.SIGPIPE)
	app.LogProblems(log, problems)
	reopen := func() (*config.Config, zone.Problems) { return config.Load(cfg.File) }
	a, err := app.New(cfg, app.Options{Version: app.Version(), Log: log, Reopen: reopen, Apart: s.loader()})
	if err != nil {
		return err
	}
	defer app.Tune(log)()
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, syscall.SIGTERM, syscall.SIGINT)
	if err := a.Start(); err != nil {
		return err
	}
	sig := a.Run(stop, hangup)
	signal.Stop(stop) // a second signal ends the process at once
	a.End(sig)
	return nil
}

// loadZone is the name of the command that loads a zone for a server.
const loadZone = "load-zone"

// loader is the command line of loadCommand: of this very program, also when
// its file has been replaced.
func (s *shell) loader() []string {
	self := "/proc/self/exe"
	if _, err := os.Stat(self); err != nil {
		if self, err = os.Executable(); err != nil {
			return nil
		}
	}
	return []string{self, loadZone}
}

// loadCommand is for the server alone.
func (s *shell) loadCommand() *cobra.Command {
	return &cobra.Command{
		Use:    loadZone + " WHEN",
		Short:  "Load a zone for the server that runs this",
		Args:   called,
		Hidden: true,
		RunE: run(func(cmd *cobra.Command, args []string) error {
			if when := args[0]; when != app.LoadIdle && when != app.LoadNice {
				return fmt.Errorf("WHEN is %s or %s", app.LoadIdle, app.LoadNice)
			}
			if nobodyOrders(cmd.InOrStdin()) {
				return errors.New(loadZone + " is run by the server, which tells it what to load; gslbd check looks at zones")
			}
			// Such signals are for the server, which ends this; but service managers send them to all processes of a service.
			ignored := []os.Signal{syscall.SIGHUP, syscall.SIGINT, syscall.SIGTERM}
			signal.Ignore(ignored...)
			defer signal.Reset(ignored...)
			_ = app.Yield(args[0] == app.LoadIdle) // else it is only in the way
			return app.LoadApart(cmd.InOrStdin(), s.stdout, args[0])
		}),
	}
}

// nobodyOrders tells whether in is a terminal, where a load would wait for its
// order and take no Ctrl-C, or the null device.
func nobodyOrders(in io.Reader) bool {
	f, ok := in.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}
