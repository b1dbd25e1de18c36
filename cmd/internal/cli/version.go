package cli

import (
	"fmt"
	"runtime"

	"github.com/spf13/cobra"

	"gslbd/cmd/internal/app"
)

func (s *shell) versionCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Show the version",
		Args:  called,
		RunE: run(func(*cobra.Command, []string) error {
			_, err := fmt.Fprint(s.stdout, versionText())
			return err
		}),
	}
}

// versionText is the same for the command and the flag --version.
func versionText() string {
	return fmt.Sprintf("gslbd %s (%s, %s/%s)\n", app.Version(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
}
