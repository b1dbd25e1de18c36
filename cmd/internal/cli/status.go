package cli

import (
	"cmp"
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"gslbd/cmd/internal/admin"
)

// maxAnswer is how many records the table shows of an answer.
const maxAnswer = 4

func (s *shell) statusCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "status [NAME]",
		Short: "Show groups, members and checks of the running server, the troubled ones first",
		Long:  "Show groups, members and checks of the running server, the troubled ones first.\nNAME is a name or NAME/TYPE, with `*`.",
		Args:  called,
		RunE: run(func(cmd *cobra.Command, args []string) error {
			var status admin.Status
			if err := s.ask(func(c *admin.Client) (err error) {
				status, err = c.Status(cmd.Context(), strings.Join(args, ""))
				return err
			}); err != nil {
				return err
			}
			if asJSON {
				return s.printJSON(status)
			}
			s.printStatus(status, time.Now())
			return nil
		}),
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON document")
	s.socketFlag(cmd)
	return cmd
}

func (s *shell) printStatus(status admin.Status, now time.Time) {
	coloured := s.coloured()
	ready := cell{"ready", green}
	if !status.Ready {
		ready = cell{"not ready", yellow}
	}
	fmt.Fprintf(s.stdout, "gslbd %s on %s, up %s, %s: %s in %s\n", status.Version, status.Node,
		short(now.Sub(status.Started)), ready.painted(coloured), tally(status.Groups), count(len(status.Zones), "zone"))
	for _, z := range status.Zones {
		if z.Problem != "" {
			fmt.Fprintf(s.stdout, "%s %s: %s\n  what was loaded before, serial %d, is still served\n",
				cell{"zone", red}.painted(coloured), z.Name, z.Problem, z.Serial)
		}
	}
	if len(status.Groups) > 0 {
		fmt.Fprintln(s.stdout)
		t := statusTable(status.Groups, now)
		t.write(s.stdout, coloured)
	}
	if len(status.Zones) > 0 {
		fmt.Fprintln(s.stdout)
		t := servedTable(status.Zones, now)
		t.write(s.stdout, coloured)
	}
}

// rank orders states from the most troubled on.
func rank(state string) int {
	switch state {
	case "critical", "down":
		return 0
	case "degraded", "unknown":
		return 1
	}
	return 2
}

// tally counts the groups by state, the most troubled first.
func tally(groups []admin.GroupStatus) string {
	counts := map[string]int{}
	for _, g := range groups {
		counts[g.State]++
	}
	var parts []string
	for _, state := range []string{"critical", "degraded", "healthy"} {
		if n := counts[state]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, state))
		}
	}
	text := count(len(groups), "group")
	if len(parts) > 0 {
		text += " (" + strings.Join(parts, ", ") + ")"
	}
	return text
}

// statusTable has one row for each group and below it one for each member.
func statusTable(groups []admin.GroupStatus, now time.Time) (t table) {
	t.head("GROUP, MEMBER", "STATE", "POOL", "ANSWER, TARGET", "SINCE", "LAST PROBE", "WHY")
	groups = slices.Clone(groups)
	slices.SortStableFunc(groups, func(a, b admin.GroupStatus) int { return cmp.Compare(rank(a.State), rank(b.State)) })
	for _, g := range groups {
		t.add(cell{g.Name + "/" + g.Type, bold}, cell{g.State, styleOf(g.State)}, cell{text: orDash(g.Pool)},
			cell{text: answerText(g.Answer)}, cell{text: age(g.Since, now)}, cell{}, cell{text: g.Reason})
		for _, m := range members(g) {
			t.add(memberRow(m.pool, m.MemberStatus, now)...)
		}
	}
	return t
}

// pooled is a member and its pool's name.
type pooled struct {
	pool string
	admin.MemberStatus
}

// members lists those of all pools, the troubled ones first.
func members(g admin.GroupStatus) []pooled {
	var all []pooled
	for _, p := range g.Pools {
		for _, m := range p.Members {
			all = append(all, pooled{p.Name, m})
		}
	}
	slices.SortStableFunc(all, func(a, b pooled) int { return cmp.Compare(rank(a.State), rank(b.State)) })
	return all
}

func memberRow(pool string, m admin.MemberStatus, now time.Time) []cell {
	name, state := m.ID, m.State
	if m.ID != m.Data {
		name += " (" + m.Data + ")"
	}
	switch {
	case m.Override != nil:
		state += ", " + m.Override.Value
	case m.Weight == 0:
		state += ", drained"
	}
	var last time.Time
	var errors []string
	for _, c := range m.Checks {
		if c.LastProbe.After(last) {
			last = c.LastProbe
		}
		if c.Error != "" {
			errors = append(errors, checkName(c, m.Target)+": "+c.Error)
		}
	}
	probed := age(last, now)
	if !last.IsZero() {
		probed += " ago"
	}
	return []cell{{text: "  " + name}, {state, styleOf(m.State)}, {text: pool}, {text: orDash(m.Target)},
		{text: age(m.Since, now)}, {text: probed}, {text: strings.Join(errors, "; ")}}
}

// checkName tells what a check probes where that is another port or address than
// the one shown, which is the first check's.
func checkName(c admin.CheckStatus, shown string) string {
	if _, err := netip.ParseAddrPort(c.Target); err != nil || c.Target == shown {
		return c.Name
	}
	return c.Name + " " + c.Target
}

func servedTable(zones []admin.ZoneStatus, now time.Time) (t table) {
	t.head("ZONE", "SERIAL", "LOADED")
	for _, z := range zones {
		t.row(z.Name, strconv.FormatUint(uint64(z.Serial), 10), age(z.Loaded, now)+" ago")
	}
	return t
}

func answerText(answer []string) string {
	if more := len(answer) - maxAnswer; more > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(answer[:maxAnswer], " "), more)
	}
	return orDash(strings.Join(answer, " "))
}

func age(t, now time.Time) string {
	if t.IsZero() {
		return "-"
	}
	return short(now.Sub(t))
}

func orDash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}
