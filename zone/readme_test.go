package zone

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestReadmeExample loads the README's zone: it has the groups that the text
// speaks of, and no problems.
func TestReadmeExample(t *testing.T) {
	readme, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := bytes.Cut(readme, []byte("```zone\n"))
	text, _, ok := bytes.Cut(rest, []byte("```"))
	if !ok {
		t.Fatal("README.md has no zone")
	}
	z, problems := Load(Source{"gslb.example.com", write(t, string(text))}, testVocabulary())
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	var keys []string
	for _, g := range z.Groups {
		keys = append(keys, g.Key.String())
	}
	want := "www.gslb.example.com/A www.gslb.example.com/AAAA api.gslb.example.com/A *.cdn.gslb.example.com/A"
	if got := strings.Join(keys, " "); got != want {
		t.Errorf("groups %s, want %s", got, want)
	}
}

// TestReadmeMessages looks for the README's messages among those that the
// invalid and warning files expect, so that the text does not go stale.
func TestReadmeMessages(t *testing.T) {
	readme, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	var all strings.Builder
	for _, dir := range []string{"invalid", "warning"} {
		files, _ := filepath.Glob(filepath.Join("..", "testdata", "zones", dir, "*.want"))
		for _, file := range files {
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			all.Write(data)
		}
	}
	wants := all.String()
	tables := regexp.MustCompile("(?m)^\\| [^|]*[^|`] \\| (`.*`) \\|$").FindAllSubmatch(readme, -1)
	checked := 0
	for _, row := range tables {
		for _, m := range regexp.MustCompile("`([^`]+)`").FindAllSubmatch(row[1], -1) {
			checked++
			if !messagePattern(string(m[1])).MatchString(wants) {
				t.Errorf("no .want file has the README's message %q", m[1])
			}
		}
	}
	if checked < 40 {
		t.Errorf("found only %d messages in README.md", checked)
	}
}

// messagePattern makes the README's placeholders match what they stand for.
func messagePattern(message string) *regexp.Regexp {
	p := regexp.QuoteMeta(message)
	p = strings.ReplaceAll(p, "FILE:LINE", `[\w./-]+:\d+`)
	p = regexp.MustCompile(`\b(X|Y|Z|KEY|A|B|P|N|M)\b`).ReplaceAllString(p, `.+`)
	return regexp.MustCompile(p)
}
