package cli

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"gslbd/zone"
)

// wanted refuses to do without a command, and names the nearest for a wrong
// word. It is for commands that have commands below them.
func wanted(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return errors.New("a command is missing")
	}
	return unknown(cmd, args[0])
}

func unknown(parent *cobra.Command, word string) error {
	var known []string
	for _, c := range parent.Commands() {
		if c.IsAvailableCommand() {
			known = append(known, c.Name())
		}
	}
	text := fmt.Sprintf("unknown command %q for %q", word, parent.CommandPath())
	if near := zone.Nearest(strings.ToLower(word), known); near != "" {
		text += fmt.Sprintf("\n  hint: did you mean %q?", near)
	}
	return errors.New(text)
}

// called takes the arguments that a command's usage line names; those in
// brackets may be left out.
func called(cmd *cobra.Command, args []string) error {
	names := strings.Fields(cmd.Use)[1:]
	var missing []string
	for _, name := range names[min(len(args), len(names)):] {
		if !strings.HasPrefix(name, "[") {
			missing = append(missing, name)
		}
	}
	switch {
	case len(missing) == 1:
		return fmt.Errorf("%s is missing", missing[0])
	case len(missing) > 1:
		return fmt.Errorf("%s are missing", strings.Join(missing, " and "))
	case len(args) <= len(names):
		return nil
	}
	extra := args[len(names)]
	text := fmt.Sprintf("%s takes no such argument: %q", cmd.CommandPath(), extra)
	if ext := strings.ToLower(filepath.Ext(extra)); ext == ".yaml" || ext == ".yml" {
		text += fmt.Sprintf("\n  hint: name a configuration with -c %s", extra)
	}
	return errors.New(text)
}

// helpCommand is cobra's, except that an unknown command is wrong use.
func helpCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "help [COMMAND]",
		Short: "Show how a command is used",
		RunE: func(cmd *cobra.Command, args []string) error {
			about, rest, err := cmd.Root().Find(args)
			if err == nil && len(rest) > 0 {
				err = unknown(about, rest[0])
			}
			if err != nil {
				return err
			}
			about.InitDefaultHelpFlag()
			about.InitDefaultVersionFlag()
			return about.Help()
		},
	}
}

// strictCompletion makes the command that cobra adds refuse wrong use, as all
// the others do. It comes after SetOut, which cobra asks for now.
func strictCompletion(root *cobra.Command) {
	root.InitDefaultCompletionCmd()
	for _, c := range root.Commands() {
		if c.Name() == "completion" {
			c.Args, c.RunE = cobra.ArbitraryArgs, wanted
		}
	}
}
