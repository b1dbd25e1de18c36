package cli

import (
	"fmt"

	"github.com/spf13/cobra"
)

func (s *shell) reloadCommand() *cobra.Command {
	var accept bool
	cmd := &cobra.Command{
		Use:   "reload",
		Short: "Make the running server read configuration and zones again, all or nothing",
		Args:  cobra.NoArgs,
		RunE: run(func(cmd *cobra.Command, _ []string) error {
			client, err := s.client()
			if err != nil {
				return err
			}
			reply, err := client.Reload(cmd.Context(), accept)
			if err != nil {
				return err
			}
			s.warn(reply.Problems)
			if !reply.OK {
				fmt.Fprintln(s.stderr, "gslbd: reload refused: what was served before is served on")
				return errReported
			}
			fmt.Fprintln(s.stdout, "reloaded")
			return nil
		}),
	}
	cmd.Flags().BoolVar(&accept, "accept-unsteered", false, "load RRsets that lost their annotations")
	s.socketFlag(cmd)
	return cmd
}
