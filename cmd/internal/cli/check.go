package cli

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"gslbd/cmd/internal/app"
	"gslbd/cmd/internal/config"
	"gslbd/zone"
)

func (s *shell) checkCommand() *cobra.Command {
	var strict, asJSON bool
	cmd := &cobra.Command{
		Use:   "check",
		Short: "Read configuration and zones, and report on them without touching the network",
		Args:  called,
		RunE: run(func(*cobra.Command, []string) error {
			cfg, problems := config.Load(s.config)
			report := app.Check(cfg, problems, strict)
			if asJSON {
				if err := s.printJSON(report); err != nil {
					return err
				}
			} else {
				s.printReport(report)
			}
			if !report.OK {
				return errReported
			}
			return nil
		}),
	}
	cmd.Flags().BoolVar(&strict, "strict", false, "treat warnings as errors")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON document")
	return cmd
}

func (s *shell) printReport(r app.Report) {
	coloured := s.coloured()
	print := func(t table) {
		if len(t.rows) > 1 {
			t.write(s.stdout, coloured)
			fmt.Fprintln(s.stdout)
		}
	}
	print(zoneTable(r.Zones))
	print(groupTable(r.Groups))
	print(targetTable(r.Targets))
	if len(r.Problems) > 0 {
		fmt.Fprintf(s.stdout, "%s\n\n", r.Problems.Error())
	}
	fmt.Fprintln(s.stdout, verdict(r).painted(coloured))
}

func zoneTable(zones []app.ZoneReport) (t table) {
	t.head("ZONE", "FILE", "SERIAL", "RECORDS", "GROUPS")
	for _, z := range zones {
		t.row(z.Name, z.File, strconv.FormatUint(uint64(z.Serial), 10), strconv.Itoa(z.Records), strconv.Itoa(z.Groups))
	}
	return t
}

func groupTable(groups []app.GroupReport) (t table) {
	t.head("GROUP", "POLICY", "DETECT", "RECOVER", "CLIENT")
	for _, g := range groups {
		t.row(g.Name+"/"+g.Type, g.Policy, seconds(g.DetectSeconds), seconds(g.RecoverSeconds), seconds(g.ClientSeconds))
	}
	return t
}

func targetTable(targets []app.TargetReport) (t table) {
	t.head("TARGET", "PROBES/MINUTE", "CHECKS")
	for _, target := range targets {
		t.row(target.Address, strconv.FormatFloat(target.PerMinute, 'f', -1, 64), strings.Join(target.Checks, " "))
	}
	return t
}

// verdict is the last line of the report.
func verdict(r app.Report) cell {
	errors, warnings := 0, 0
	for _, p := range r.Problems {
		if p.Severity == zone.Error {
			errors++
		} else {
			warnings++
		}
	}
	text := count(errors, "error") + ", " + count(warnings, "warning")
	if r.OK {
		return cell{"ok: " + text, green}
	}
	return cell{"not ok: " + text, red}
}
