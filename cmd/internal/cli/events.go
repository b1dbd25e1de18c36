package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"unicode"

	"github.com/spf13/cobra"

	"gslbd/cmd/internal/admin"
)

func (s *shell) eventsCommand() *cobra.Command {
	var follow, asJSON bool
	cmd := &cobra.Command{
		Use:   "events",
		Short: "Show what happened in the running server, the oldest first",
		Long: "Show what happened in the running server, the oldest first; with a state_dir also before its last start.\n" +
			"With --follow also what happens from now on, until SIGINT (Ctrl-C) or SIGTERM, or the server's end; with --json\n" +
			"then one JSON object in each line.",
		Args: called,
		RunE: run(func(cmd *cobra.Command, _ []string) error {
			if follow {
				return s.followEvents(cmd.Context(), asJSON)
			}
			list := admin.EventList{Events: []admin.Event{}}
			if err := s.ask(func(c *admin.Client) error {
				events, err := c.Events(cmd.Context(), 0)
				list.Events = append(list.Events, events...)
				return err
			}); err != nil {
				return err
			}
			if asJSON {
				return s.printJSON(list)
			}
			s.printEvents(list.Events)
			return nil
		}),
	}
	cmd.Flags().BoolVarP(&follow, "follow", "f", false, "go on with each event when it happens")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON document")
	s.socketFlag(cmd)
	return cmd
}

// followEvents prints events until somebody ends it, which is no failure. Were it
// not for unread, `gslbd events -f | head -1` would last until the next event.
func (s *shell) followEvents(ctx context.Context, asJSON bool) error {
	interrupted, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	defer stop()
	ctx, cancel := context.WithCancel(interrupted)
	defer cancel()
	go func() {
		if unread(ctx, s.output()) {
			cancel()
		}
	}()
	show := s.eventLines()
	if asJSON {
		enc := json.NewEncoder(s.stdout)
		enc.SetEscapeHTML(false)
		show = func(e admin.Event) error { return enc.Encode(e) }
	}
	last := uint64(0)
	err := s.ask(func(c *admin.Client) error {
		return c.Follow(ctx, 0, func(e admin.Event) error {
			if last > 0 && e.ID > last+1 {
				fmt.Fprintln(s.stderr, forgotten(e.ID-last-1))
			}
			last = e.ID
			return show(e)
		})
	})
	switch {
	case interrupted.Err() != nil:
		return nil
	case ctx.Err() != nil: // nobody reads; others are ended by SIGPIPE, without a word
		return errReported
	}
	return err
}

// forgotten tells of events between two others.
func forgotten(n uint64) string {
	if n == 1 {
		return "... 1 event was forgotten"
	}
	return fmt.Sprintf("... %d events were forgotten", n)
}

// printEvents shows events that are known all at once.
func (s *shell) printEvents(events []admin.Event) {
	if len(events) == 0 {
		return
	}
	t := eventTable()
	for _, e := range events {
		t.add(eventRow(e)...)
	}
	t.write(s.stdout, s.coloured())
}

// eventLines gives what shows events one by one: since those to come are not
// known, the columns have widths that suffice for most.
func (s *shell) eventLines() func(admin.Event) error {
	coloured := s.coloured()
	t := eventTable()
	t.widths = []int{len("2026-11-29 12:11:18"), len("reload"), 40, 20}
	return func(e admin.Event) error {
		t.add(eventRow(e)...)
		var lines strings.Builder
		t.write(&lines, coloured)
		t.rows = nil
		_, err := io.WriteString(s.stdout, lines.String())
		return err
	}
}

func eventTable() (t table) {
	t.head("TIME", "KIND", "WHAT", "CHANGE", "WHY")
	return t
}

func eventRow(e admin.Event) []cell {
	return []cell{{text: e.Time.Local().Format("2006-01-02 15:04:05")}, {text: oneLine(e.Kind)},
		{oneLine(eventSubject(e)), bold}, {oneLine(eventChange(e)), styleOf(e.To)}, {text: oneLine(eventCause(e))}}
}

// eventCause names the check of a member as status does: it may have several.
func eventCause(e admin.Event) string {
	if e.Kind == admin.EventMember && e.Check != "" {
		return e.Check + ": " + e.Cause
	}
	return e.Cause
}

// eventSubject says what an event happened to.
func eventSubject(e admin.Event) string {
	group := e.Name + "/" + e.Type
	switch e.Kind {
	case admin.EventStart, admin.EventStop:
		return "server"
	case admin.EventReload:
		if e.Zone == "" {
			return "configuration and zones"
		}
		return "zone " + e.Zone
	case admin.EventMember:
		return fmt.Sprintf("%s %s (%s)", group, e.Member, e.Pool)
	case admin.EventPool:
		return group + " pool " + e.Pool
	case admin.EventFault:
		text := strings.TrimSpace(e.Check + " " + e.Target)
		if e.Members > 1 {
			text += " (" + count(e.Members, "member") + ")"
		}
		return orDash(text)
	}
	if e.Name == "" { // of a later version
		return "-"
	}
	return group
}

// eventChange says what became of it: of a group the answer; if that stayed,
// the state, or the pool if that stayed too.
func eventChange(e admin.Event) string {
	switch {
	case e.Kind == admin.EventGroup && !slices.Equal(e.OldAnswer, e.NewAnswer):
		return answerText(e.OldAnswer) + " -> " + answerText(e.NewAnswer)
	case e.Kind == admin.EventGroup && e.From == e.To && e.OldPool != e.Pool:
		return orDash(e.OldPool) + " -> " + orDash(e.Pool)
	case e.From == "" || e.To == "":
		return e.From + e.To
	}
	return e.From + " -> " + e.To
}

// oneLine joins the lines of a text, and keeps what could steer a terminal from it.
func oneLine(text string) string {
	var lines []string
	for line := range strings.Lines(text) {
		line = strings.Map(func(r rune) rune {
			if !unicode.IsPrint(r) { // also what changes the direction of a text
				return ' '
			}
			return r
		}, line)
		if line = strings.TrimSpace(line); line != "" {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "; ")
}
