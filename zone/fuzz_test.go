package zone

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/miekg/dns"
)

// FuzzZone loads any text. Nothing may panic; every problem names the file and
// a line within it; a zone that loads has records that can be sent, in RRsets
// without strangers, and groups with all that steering needs.
func FuzzZone(f *testing.F) {
	for _, pattern := range []string{"valid", "invalid", "warning"} {
		files, _ := filepath.Glob(filepath.Join("..", "testdata", "zones", pattern, "*.zone"))
		for _, file := range files {
			data, err := os.ReadFile(file)
			if err != nil {
				f.Fatal(err)
			}
			if len(data) < 10000 {
				f.Add(data)
			}
		}
	}
	dir := f.TempDir()
	file := filepath.Join(dir, "fuzz.zone")
	f.Fuzz(func(t *testing.T, data []byte) {
		if err := os.WriteFile(file, data, 0o600); err != nil {
			t.Fatal(err)
		}
		z, problems := loadBounded(Source{"example.com", file}, testVocabulary(), 1000, func() {})
		if (z == nil) != problems.Failed(false) {
			t.Fatal("zone and problems disagree: ", problems)
		}
		lines := bytes.Count(data, []byte{'\n'}) + 1
		for _, p := range problems {
			if p.File != file || p.Line < 0 || p.Line > lines || p.Message == "" || p.Hint == "" && !strings.Contains(p.Message, "cannot be read") {
				t.Errorf("bad problem: %+v", p)
			}
		}
		if z != nil {
			sound(t, z)
		}
	})
}

// sound checks what the users of a zone count on.
func sound(t *testing.T, z *Zone) {
	wire := make([]byte, 1<<17)
	seen := map[string]bool{}
	last, records := "", 0
	for i := range z.RRsets {
		s := &z.RRsets[i]
		if s.Name != last && seen[s.Name] {
			t.Errorf("RRsets of %s do not stand together", s.Name)
		}
		seen[s.Name], last = true, s.Name
		if dns.CanonicalName(s.Name) != s.Name || !within(s.Name, z.Name) || len(s.RRs) == 0 {
			t.Errorf("bad RRset %+v", s)
		}
		for _, rr := range s.RRs {
			records++
			h := rr.Header()
			if dns.CanonicalName(h.Name) != s.Name || h.Rrtype != s.Type || h.Class != dns.ClassINET || h.Ttl != s.TTL && s.Type != dns.TypeRRSIG {
				t.Errorf("%v does not belong to %s %d %d", rr, s.Name, s.Type, s.TTL)
			}
			if _, err := dns.PackRR(rr, wire, 0, nil, false); err != nil {
				t.Errorf("%v: %v", rr, err)
			}
		}
		if s.Group != nil && len(s.Group.Members) != len(s.RRs) {
			t.Errorf("group %s has %d members for %d records", s.Group.Key, len(s.Group.Members), len(s.RRs))
		}
	}
	if records != z.Records {
		t.Errorf("%d records, said %d", records, z.Records)
	}
	for _, g := range z.Groups {
		for _, m := range g.Members {
			if m.ID == "" || m.Pool == "" || len(m.Checks) > 0 && !m.Target.Addr.IsValid() || m.Line == 0 {
				t.Errorf("bad member %+v of %s", m, g.Key)
			}
		}
	}
}

// FuzzAnnotation reads any annotation: it gives a usable note or says why not.
func FuzzAnnotation(f *testing.F) {
	for _, s := range []string{"@primary", "@", "@ primary", "@primary check=web", "@blue policy=blue-green id=x weight=9 target=[::1]:5", "@static", "@static x", "@primary check=none,web", "@primary a=b=c", "@primary target=:1 =", "@\xff\x00"} {
		f.Add(s)
	}
	voc := newVocabulary(testVocabulary())
	f.Fuzz(func(t *testing.T, s string) {
		if !strings.HasPrefix(s, "@") {
			s = "@" + s
		}
		n, faults := voc.note(s)
		for _, f := range faults {
			if f.message == "" || f.hint == "" || len(f.message)+len(f.hint) > 1000+2*len(s) {
				t.Errorf("%q: %+v", s, f)
			}
		}
		if len(faults) > 0 {
			return
		}
		if n.static == isName(n.pool) || n.id != "" && !isName(n.id) || n.target.usable("") != nil && n.target.Addr.IsValid() {
			t.Errorf("%q: %+v", s, n)
		}
		for _, c := range n.checks {
			if c != "web" && c != "ping" {
				t.Errorf("%q: %+v", s, n)
			}
		}
	})
}
