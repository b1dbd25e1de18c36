package zone

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// zoneCase is a zone text, put behind head, and what is expected of it.
type zoneCase struct{ name, zone, want string }

// TestRules holds the problems of each case: line, severity and message.
func TestRules(t *testing.T) {
	for _, tt := range ruleCases {
		t.Run(tt.name, func(t *testing.T) {
			file := write(t, head+tt.zone)
			z, problems := Load(Source{"example.com", file}, testVocabulary())
			var b strings.Builder
			for _, p := range problems {
				message := strings.ReplaceAll(p.Message, file, filepath.Base(file))
				fmt.Fprintf(&b, "%d %s %s\n", p.Line, p.Severity, message)
				if p.File != file || p.Hint == "" {
					t.Errorf("%+v", p)
				}
			}
			if diff := cmp.Diff(tt.want, b.String()); diff != "" {
				t.Error("-want +got:\n" + diff)
			}
			if (z == nil) != strings.Contains(tt.want, " error ") {
				t.Error("zone and problems disagree")
			}
		})
	}
}
