package zone

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// head begins most zones of the tests; its last line is line 4.
const head = `$TTL 60
@ SOA ns1 hostmaster 7 3600 600 604800 60
@ NS ns1
ns1 A 192.0.2.53
`

// write puts a zone file into a new directory.
func write(t testing.TB, text string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "example.zone")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// load reads a zone text as example.com, which must have no problems.
func load(t testing.TB, text string) *Zone {
	t.Helper()
	z, problems := Load(Source{"Example.COM.", write(t, text)}, testVocabulary())
	if len(problems) > 0 || z == nil {
		t.Fatal(problems)
	}
	return z
}

// dump writes a zone with a line for each record; members of groups carry what
// was made of their annotations.
func dump(z *Zone) string {
	var b strings.Builder
	for _, s := range z.RRsets {
		if s.Name == "example.com." || s.Name == "ns1.example.com." {
			continue
		}
		for i, rr := range s.RRs {
			b.WriteString(strings.ReplaceAll(rr.String(), "\t", " "))
			if s.Group != nil {
				m := s.Group.Members[i]
				fmt.Fprintf(&b, " | %s %s %s weight %d %v %v:%d line %d", s.Group.Policy, m.Pool, m.ID, m.Weight, m.Checks, m.Target.Addr, m.Target.Port, m.Line)
			}
			b.WriteByte('\n')
		}
	}
	return b.String()
}

func TestLoad(t *testing.T) {
	for _, tt := range loadCases {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, dump(load(t, head+tt.zone))); diff != "" {
				t.Error("-want +got:\n" + diff)
			}
		})
	}
}

// TestLineEnds reads the same records with each kind of line end.
func TestLineEnds(t *testing.T) {
	const text = "www A 192.0.2.1 ; @primary check=web\nftp TXT ( a ; b\n c )\n"
	const want = "www.example.com. 60 IN A 192.0.2.1 | failover primary 192.0.2.1 weight 1 [web] 192.0.2.1:0 line 5\n" +
		"ftp.example.com. 60 IN TXT \"a\" \"c\"\n"
	for name, text := range map[string]string{
		"LF":               head + text,
		"CRLF":             strings.ReplaceAll(head+text, "\n", "\r\n"),
		"no final newline": strings.TrimSuffix(head+text, "\n"),
		"final comment":    head + text + "; end",
		"final CR":         strings.TrimSuffix(head+text, "\n") + "\r",
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(want, dump(load(t, text))); diff != "" {
				t.Error("-want +got:\n" + diff)
			}
		})
	}
}

func TestLoadModel(t *testing.T) {
	z := load(t, head+"WwW A 192.0.2.1 ; @primary check=web\nx TXT y\nwww AAAA 2001:db8::1\n@ A 192.0.2.2\n")
	var names []string
	for _, s := range z.RRsets {
		names = append(names, Key{Name: s.Name, Type: s.Type}.String())
	}
	want := []string{"example.com/A", "example.com/NS", "example.com/SOA", "ns1.example.com/A", "www.example.com/A", "www.example.com/AAAA", "x.example.com/TXT"}
	if diff := cmp.Diff(want, names); diff != "" {
		t.Error("RRsets of an owner do not stand together: " + diff)
	}
	if z.Name != "example.com." || z.Serial != 7 || z.Records != 7 || len(z.Groups) != 1 || len(z.Files) != 1 {
		t.Errorf("%+v", z)
	}
	g := z.Groups[0]
	if g.Key != (Key{"example.com.", "www.example.com.", 1}) || g.Line != 5 || g.File != z.File {
		t.Errorf("%+v", g)
	}
	for _, s := range z.RRsets[4:6] {
		if s.RRs[0].Header().Name != "WwW.example.com." {
			t.Errorf("owner %s lost the case of its first record", s.RRs[0].Header().Name)
		}
	}
	if z.RRsets[4].Group != g || z.RRsets[4].RRs[0] != g.Members[0].RR {
		t.Error("the RRset does not hold its group's records")
	}
}

// TestInclude follows origin, owner and files through an $INCLUDE.
func TestInclude(t *testing.T) {
	file := write(t, head+"www A 192.0.2.1\n$INCLUDE \"sub/a.inc\" sub\n    TXT still-www\n$INCLUDE link.inc\n")
	dir := filepath.Dir(file)
	if err := os.Mkdir(filepath.Join(dir, "sub"), 0o700); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"sub/a.inc": "$TTL 5\na A 192.0.2.2 ; @primary check=web\n$INCLUDE sub/b.inc\n$ORIGIN deeper\nb A 192.0.2.3\n",
		"sub/b.inc": "  TXT first\nc TXT inner\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("sub/b.inc", filepath.Join(dir, "link.inc")); err != nil {
		t.Fatal(err)
	}
	z, problems := Load(Source{"example.com", file}, testVocabulary())
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	want := "www.example.com. 60 IN A 192.0.2.1\nwww.example.com. 5 IN TXT \"still-www\"\nwww.example.com. 5 IN TXT \"first\"\n" +
		"a.sub.example.com. 5 IN A 192.0.2.2 | failover primary 192.0.2.2 weight 1 [web] 192.0.2.2:0 line 2\na.sub.example.com. 5 IN TXT \"first\"\n" +
		"c.sub.example.com. 5 IN TXT \"inner\"\nb.deeper.sub.example.com. 5 IN A 192.0.2.3\nc.example.com. 5 IN TXT \"inner\"\n"
	if diff := cmp.Diff(want, dump(z)); diff != "" {
		t.Error("-want +got:\n" + diff)
	}
	var files []string
	for _, f := range z.Files {
		rel, _ := filepath.Rel(dir, f)
		files = append(files, rel)
	}
	if diff := cmp.Diff([]string{"example.zone", "sub/a.inc", "sub/b.inc", "link.inc"}, files); diff != "" {
		t.Error(diff)
	}
	if m := z.Groups[0].Members[0]; m.File != filepath.Join(dir, "sub/a.inc") {
		t.Error(m.File)
	}
}

// TestIncludeOutside tries to leave the directory by symbolic links.
func TestIncludeOutside(t *testing.T) {
	outside := write(t, "x TXT secret\n")
	for _, target := range []string{outside, filepath.Dir(outside)} {
		file := write(t, head+"$INCLUDE link\n$INCLUDE link/example.zone\n")
		if err := os.Symlink(target, filepath.Join(filepath.Dir(file), "link")); err != nil {
			t.Fatal(err)
		}
		z, problems := Load(Source{"example.com", file}, testVocabulary())
		if z != nil || len(problems) != 2 || strings.Contains(problems.Error(), "secret") || !strings.Contains(problems[0].Message, "leads out of") {
			t.Error(target, problems)
		}
	}
}

func TestIncludeTooMany(t *testing.T) {
	file := write(t, head+strings.Repeat("$INCLUDE empty\n", maxIncludes+1))
	if err := os.WriteFile(filepath.Join(filepath.Dir(file), "empty"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	_, problems := Load(Source{"example.com", file}, testVocabulary())
	if len(problems) != 1 || problems[0].Line != 4+maxIncludes+1 || !strings.Contains(problems[0].Message, "one too many") {
		t.Error(problems)
	}
}

// TestUnreadable opens what is no plain file. None of it may hang.
func TestUnreadable(t *testing.T) {
	dir := t.TempDir()
	fifo := filepath.Join(dir, "fifo")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	secret := filepath.Join(dir, "secret")
	if err := os.WriteFile(secret, []byte(head), 0); err != nil {
		t.Fatal(err)
	}
	for file, want := range map[string]string{
		fifo:                             "is not a regular file",
		"/dev/zero":                      "is not a regular file",
		dir:                              "is a directory, not a zone file",
		filepath.Join(dir, "none"):       "cannot be read: no such file or directory",
		filepath.Join(dir, "fifo/x"):     "cannot be read: not a directory",
		secret:                           "cannot be read: permission denied",
		filepath.Join(dir, "a\x00b"):     "cannot be read: invalid argument",
		strings.Repeat("x", 300):         "cannot be read: file name too long",
		filepath.Join(dir, "none/other"): "cannot be read: no such file or directory",
	} {
		if file == secret && os.Getuid() == 0 {
			continue // root reads everything
		}
		z, problems := Load(Source{"example.com", file}, testVocabulary())
		if z != nil || len(problems) != 1 || problems[0].File != file || problems[0].Line != 0 || problems[0].Message != want {
			t.Errorf("%q: %v", file, problems)
		}
		if _, err := Serial(file); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Serial(%q): %v", file, err)
		}
	}
}

func TestCannotReadHints(t *testing.T) {
	f := cannotRead(&os.PathError{Op: "open", Path: "x", Err: syscall.EACCES})
	if f.message != "cannot be read: permission denied" || !strings.Contains(f.hint, "let user") {
		t.Error(f)
	}
}

func TestZoneName(t *testing.T) {
	for _, name := range []string{"", "@", "a..b", strings.Repeat("a", 64), `"x"`} {
		if z, problems := Load(Source{name, "x"}, testVocabulary()); z != nil || len(problems) != 1 || !strings.HasPrefix(problems[0].Message, "bad zone name") {
			t.Errorf("%q: %v", name, problems)
		}
	}
	if z, problems := Load(Source{".", write(t, ". 60 SOA a b 1 2 3 4 5\n. NS a\na A 192.0.2.1\n")}, testVocabulary()); z == nil || z.Name != "." || len(problems) > 0 {
		t.Error(problems)
	}
}

// TestManyProblems lists 100 errors and 100 warnings, and says that there are more.
func TestManyProblems(t *testing.T) {
	text := strings.Repeat("; @primary check=web\n", 150) + strings.Repeat("www A 192.0.2\n", 300)
	_, problems := Load(Source{"example.com", write(t, head+text)}, testVocabulary())
	var errors, warnings int
	for _, p := range problems {
		if p.Severity == Error {
			errors++
		} else {
			warnings++
		}
	}
	if errors != 101 || warnings != 101 {
		t.Errorf("%d errors, %d warnings", errors, warnings)
	}
	if p := problems[len(problems)-2]; p.Message != "only the first 100 errors are shown, there are more" || p.Severity != Error || p.Line != 0 {
		t.Error(p)
	}
	if !slices.IsSortedFunc(problems[:200], func(a, b Problem) int { return a.Line - b.Line }) {
		t.Error("problems are not in the order of the file")
	}
}

// TestLostPolicy says nothing of pools when the record with policy= is faulty.
func TestLostPolicy(t *testing.T) {
	_, problems := Load(Source{"example.com", write(t, head+"www A 192.0.2. ; @blue policy=blue-green\nwww A 192.0.2.2 ; @green\n")}, testVocabulary())
	if len(problems) != 1 || problems[0].Line != 5 {
		t.Error(problems)
	}
}

// TestManyRecordsOfOneName takes the way that finds duplicates by their data.
func TestManyRecordsOfOneName(t *testing.T) {
	text := "$GENERATE 1-100 www A 192.0.2.$ ; @static\n$GENERATE 1-20 txt TXT a$\ntxt TXT A1\ntxt TXT a7\n"
	z, problems := Load(Source{"example.com", write(t, head+text)}, testVocabulary())
	if z == nil || len(problems) != 1 || problems[0].Line != 8 || z.Records != 3+100+21 {
		t.Error(problems)
	}
}

// TestDuplicateTTL keeps the lowest TTL, even if the record that has it is dropped.
func TestDuplicateTTL(t *testing.T) {
	for text, want := range map[string]uint32{
		"x 60 TXT a\nx 30 TXT a\n":              30,
		"x 30 TXT a\nx 60 TXT a\n":              30,
		"x 60 TXT b\nx 60 TXT a\nx 20 TXT a\n":  20,
		"$GENERATE 1-20 x TXT $\nx 10 TXT 20\n": 10,
	} {
		z, problems := Load(Source{"example.com", write(t, head+text)}, testVocabulary())
		if z == nil || len(problems) == 0 {
			t.Fatalf("%q: %v", text, problems)
		}
		for _, rr := range z.RRsets[len(z.RRsets)-1].RRs {
			if s := z.RRsets[len(z.RRsets)-1]; s.TTL != want || rr.Header().Ttl != want {
				t.Errorf("%q: TTL %d, %v", text, s.TTL, rr)
			}
		}
	}
}

// TestRRsetSize measures RRsets as a message holds them, whatever escapes their text has.
func TestRRsetSize(t *testing.T) {
	octets := strings.Repeat(`\200`, 100)
	for text, ok := range map[string]bool{
		fmt.Sprintf("$GENERATE 1-%d www TXT a%s%s${100000}\n", MaxRRset/220, octets, octets):    true,
		fmt.Sprintf("$GENERATE 1-%d www TXT a%s%s${100000}\n", MaxRRset/220+1, octets, octets):  false,
		fmt.Sprintf("$GENERATE 1-%d %s A 10.0.${0}.1\n", 200, octets[:60*4]):                    true,
		fmt.Sprintf("$GENERATE 1-%d %s MX $ mail.example.net.\n", MaxRRset/32, octets[:60*4]):   true,
		fmt.Sprintf("$GENERATE 1-%d %s MX $ mail.example.net.\n", MaxRRset/32+1, octets[:60*4]): false,
	} {
		_, problems := Load(Source{"example.com", write(t, head+text)}, testVocabulary())
		if problems.Failed(false) == ok || !ok && problems[0].Line != 5 {
			t.Errorf("%.60q: %v", text, problems)
		}
	}
}

func TestNameServerAtWildcard(t *testing.T) {
	for text, ok := range map[string]bool{
		"@ NS ns.any\n*.any A 192.0.2.9\n":                    true,
		"@ NS ns.any\n* A 192.0.2.9\n":                        true,
		"@ NS ns.any\n* TXT x\n":                              false,
		"@ NS ns.any\n* A 192.0.2.9\nany TXT x\n":             false,
		"@ NS ns.any\n* A 192.0.2.9\nx.any TXT x\n":           false,
		"@ NS any\n* A 192.0.2.9\nx.any TXT x\n":              false,
		"@ NS ns.any\n* A 192.0.2.9\nx.other TXT x\n":         true,
		"@ NS ns.sub\nsub NS ns.sub\nns.sub AAAA 2001:db8::1": true,
	} {
		_, problems := Load(Source{"example.com", write(t, head+text)}, testVocabulary())
		if problems.Failed(false) == ok {
			t.Errorf("%q: %v", text, problems)
		}
	}
}
