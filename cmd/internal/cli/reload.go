package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"gslbd/cmd/internal/admin"
)

func (s *shell) reloadCommand() *cobra.Command {
	var accept bool
	cmd := &cobra.Command{
		Use:   "reload",
		Short: "Make the running server read configuration and zones again, all or nothing",
		Args:  called,
		RunE: run(func(cmd *cobra.Command, _ []string) error {
			var reply admin.ReloadReply
			if err := s.ask(func(c *admin.Client) (err error) {
				reply, err = c.Reload(cmd.Context(), accept)
				return err
			}); err != nil {
				return err
			}
			s.warn(reply.Problems)
			if !reply.OK {
				fmt.Fprintln(s.stderr, "gslbd: reload refused: what was served before is served on")
				return errReported
			}
			fmt.Fprint(s.stdout, reloadText(reply.Zones))
			return nil
		}),
	}
	cmd.Flags().BoolVar(&accept, "accept-unsteered", false, "load RRsets that lost their annotations")
	s.socketFlag(cmd)
	return cmd
}

// maxReloaded is how many zones a reload lists.
const maxReloaded = 50

// reloadText has a line for each zone that changed its serial, came or went,
// and one for the rest together.
func reloadText(zones []admin.ZoneReloaded) string {
	var lines []string
	same := 0
	for _, z := range zones {
		switch {
		case z.Before == nil && z.Serial == nil:
		case z.Before == nil:
			lines = append(lines, fmt.Sprintf("%s is new, serial %d", z.Name, *z.Serial))
		case z.Serial == nil:
			lines = append(lines, z.Name+" is served no more")
		case *z.Before == *z.Serial:
			same++
		default:
			lines = append(lines, fmt.Sprintf("%s %d -> %d", z.Name, *z.Before, *z.Serial))
		}
	}
	if more := len(lines) - maxReloaded; more > 0 {
		lines = append(lines[:maxReloaded], count(more, "more zone"))
	}
	if same > 0 {
		lines = append(lines, count(same, "zone")+" with the same serial")
	}
	if len(lines) == 0 { // a server of an older version does not tell
		return "reloaded\n"
	}
	return "reloaded: " + strings.Join(lines, "\nreloaded: ") + "\n"
}
