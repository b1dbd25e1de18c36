package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"gslbd/cmd/internal/app"
)

func (s *shell) probeCommand() *cobra.Command {
	var name string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "probe CHECK ADDRESS",
		Short: "Run one round of a check against an address, and show its steps",
		Long:  "Run one round of CHECK, as the server would, against ADDRESS: IP, IP:port or [IPv6]:port.",
		Args:  called,
		RunE: run(func(cmd *cobra.Command, args []string) error {
			cfg, err := s.load()
			if err != nil {
				return err
			}
			report, err := app.Probe(cmd.Context(), cfg, args[0], args[1], name)
			if err != nil {
				return err
			}
			if asJSON {
				err = s.printJSON(report)
			} else {
				s.printProbe(report)
			}
			if err == nil && report.Outcome != "pass" {
				err = errReported
			}
			return err
		}),
	}
	cmd.Flags().StringVar(&name, "name", "", "owner `NAME` of the record: what Host and SNI say by default")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON document")
	return cmd
}

func (s *shell) printProbe(r app.ProbeReport) {
	coloured := s.coloured()
	for _, part := range r.Parts {
		s.printProbe(part)
		fmt.Fprintln(s.stdout)
	}
	fmt.Fprintf(s.stdout, "check %s (%s) against %s\n", r.Check, r.Type, r.Target)
	var t table
	for _, step := range r.Steps {
		t.row("  "+millis(step.AtMS), step.What, step.Info)
	}
	t.write(s.stdout, coloured)
	result := cell{r.Outcome, styleOf(r.Outcome)}.painted(coloured)
	if r.Reason != "" {
		fmt.Fprintf(s.stdout, "%s: %s\n", result, r.Reason)
		return
	}
	fmt.Fprintf(s.stdout, "%s in %s\n", result, millis(r.LatencyMS))
}

func millis(ms float64) string { return fmt.Sprintf("%.1f ms", ms) }
