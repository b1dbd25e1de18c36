package cli

import (
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"gslbd/cmd/internal/admin"
	"gslbd/cmd/internal/app"
)

func (s *shell) explainCommand() *cobra.Command {
	var q admin.ExplainQuery
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "explain NAME [TYPE]",
		Short: "Show what a name is answered with, and which rule chose it",
		Long: "Show what NAME is answered with, and which rule chose it. It is asked of the files, with every\n" +
			"member up but those of --down; with --live of the running server.\n\n" +
			"SELECTOR names members: an id or address, NAME, NAME/TYPE, NAME/TYPE/ID or pool:NAME, with `*`.",
		Args: called,
		RunE: run(func(cmd *cobra.Command, args []string) error {
			q.Name = args[0]
			if len(args) > 1 {
				q.Type = args[1]
			}
			e, err := s.explain(cmd, q)
			if err != nil {
				return err
			}
			if asJSON {
				return s.printJSON(e)
			}
			s.printExplanation(e, assumption(q))
			return nil
		}),
	}
	f := cmd.Flags()
	f.StringVar(&q.Client, "client", "", "address of the asking client, as `IP`")
	f.StringArrayVar(&q.Down, "down", nil, "take the members of `SELECTOR` as down; may be repeated")
	f.StringArrayVar(&q.Up, "up", nil, "take the members of `SELECTOR` as up; may be repeated")
	f.BoolVar(&q.Live, "live", false, "ask the running server")
	f.BoolVar(&asJSON, "json", false, "print one JSON document")
	s.socketFlag(cmd)
	return cmd
}

func (s *shell) explain(cmd *cobra.Command, q admin.ExplainQuery) (e admin.Explanation, err error) {
	if !q.Live {
		cfg, err := s.load()
		if err != nil {
			return e, err
		}
		return app.Explain(cfg, q)
	}
	err = s.ask(func(c *admin.Client) (err error) {
		e, err = c.Explain(cmd.Context(), q)
		return err
	})
	return e, err
}

// assumption tells of states that are taken for granted, "" when all are real.
func assumption(q admin.ExplainQuery) string {
	parts := []string{"every member up"}
	if q.Live {
		parts = []string{"the running states"}
	}
	if len(q.Down) > 0 {
		parts = append(parts, "down: "+strings.Join(q.Down, " "))
	}
	if len(q.Up) > 0 {
		parts = append(parts, "up: "+strings.Join(q.Up, " "))
	}
	text := strings.Join(parts, "; ")
	switch {
	case !q.Live:
		return text + " (--live asks the running server)"
	case len(parts) == 1:
		return ""
	}
	return text
}

// printExplanation shows an answer and the states that it assumes.
func (s *shell) printExplanation(e admin.Explanation, assumed string) {
	var t table
	line := func(key, value string) {
		if value != "" {
			t.add(cell{key, bold}, cell{text: value})
		}
	}
	line("question", e.Name+" "+e.Type)
	line("answer", strings.TrimSpace(e.RCode+" "+strings.Join(e.Answer, " ")))
	line("why", e.Reason)
	line("policy", e.Policy)
	line("pool", e.Pool)
	line("ttl", strconv.FormatUint(uint64(e.TTL), 10))
	line("client", e.Client)
	line("assumed", assumed)
	t.write(s.stdout, s.coloured())
}
