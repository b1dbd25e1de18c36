package zone

import (
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/miekg/dns"
)

var update = flag.Bool("update", false, "write the .want files anew")

// testVocabulary is what the zones under testdata may refer to.
func testVocabulary() Vocabulary {
	return Vocabulary{
		Checks: []string{"web", "ping"},
		Policies: map[string]PolicyNames{
			"failover":   {Pools: []string{"primary", "secondary", "tertiary"}, Fallback: "fallback"},
			"sticky":     {Pools: []string{"primary", "secondary"}},
			"blue-green": {Pools: []string{"blue", "green"}, Fallback: "grey", Checks: []string{"web"}},
		},
	}
}

func zoneName(file string) string {
	if strings.HasPrefix(file, "example.") {
		return "gslb.example.com"
	}
	return "example.com"
}

// TestInvalidFiles and TestWarningFiles hold the problems of each file against
// the .want file beside it. Both files must exist.
func TestInvalidFiles(t *testing.T) { testFiles(t, "invalid", true) }
func TestWarningFiles(t *testing.T) { testFiles(t, "warning", false) }

func testFiles(t *testing.T, dir string, fails bool) {
	t.Chdir(filepath.Join("..", "testdata", "zones", dir))
	zones, wants := glob(t, "*.zone"), glob(t, "*.want")
	for _, want := range wants {
		if !slices.Contains(zones, strings.TrimSuffix(want, ".want")+".zone") {
			t.Errorf("%s has no zone file", want)
		}
	}
	for _, file := range zones {
		t.Run(strings.TrimSuffix(file, ".zone"), func(t *testing.T) {
			z, problems := Load(Source{zoneName(file), file}, testVocabulary())
			if problems.Failed(false) != fails || (z == nil) != fails || !problems.Failed(true) {
				t.Errorf("zone %v, failed %v", z != nil, problems.Failed(false))
			}
			wantFile := strings.TrimSuffix(file, ".zone") + ".want"
			got := problems.Error() + "\n"
			if *update {
				if err := os.WriteFile(wantFile, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(wantFile)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), got); diff != "" {
				t.Error("-want +got:\n" + diff)
			}
		})
	}
}

func glob(t *testing.T, pattern string) []string {
	t.Helper()
	files, err := filepath.Glob(pattern)
	if err != nil || len(files) == 0 {
		t.Fatal("no files ", pattern, err)
	}
	return files
}

// TestValidFiles reads each valid file as BIND does: the records are those
// that named-checkzone writes when it has read the same file.
func TestValidFiles(t *testing.T) {
	t.Chdir(filepath.Join("..", "testdata", "zones", "valid"))
	for _, file := range glob(t, "*.zone") {
		t.Run(strings.TrimSuffix(file, ".zone"), func(t *testing.T) {
			z, problems := Load(Source{zoneName(file), file}, testVocabulary())
			if len(problems) > 0 {
				t.Fatal(problems)
			}
			checkzone, err := exec.LookPath("named-checkzone")
			if err != nil && os.Getenv("CI") != "" {
				t.Fatal("named-checkzone is not installed")
			} else if err != nil {
				t.Skip("named-checkzone is not installed (Debian: bind9-utils)")
			}
			out, err := exec.Command(checkzone, "-q", "-i", "none", "-k", "ignore", "-o", "-", zoneName(file), file).CombinedOutput()
			if err != nil {
				t.Fatalf("named-checkzone: %v\n%s", err, out)
			}
			if diff := cmp.Diff(bindRecords(t, string(out)), records(z)); diff != "" {
				t.Error("-named-checkzone +Load:\n" + diff)
			}
		})
	}
}

func bindRecords(t *testing.T, text string) []string {
	t.Helper()
	var all []string
	for line := range strings.Lines(text) {
		rr, err := dns.NewRR(line) // a line each: over some types the library reads on
		if err != nil {
			t.Fatalf("%v in\n%s", err, text)
		}
		all = append(all, canonical(rr))
	}
	slices.Sort(all)
	return all
}

func records(z *Zone) []string {
	var all []string
	for _, s := range z.RRsets {
		for _, rr := range s.RRs {
			all = append(all, canonical(rr))
		}
	}
	slices.Sort(all)
	return all
}

// canonical gives an RR in one spelling, through its wire form.
func canonical(rr dns.RR) string {
	wire := make([]byte, 1<<16)
	n, err := dns.PackRR(rr, wire, 0, nil, false)
	if err == nil {
		rr, _, err = dns.UnpackRR(wire[:n], 0)
	}
	if err != nil {
		return err.Error()
	}
	rr.Header().Rdlength = 0
	rr.Header().Name = dns.CanonicalName(rr.Header().Name)
	return strings.ToLower(rr.String())
}
