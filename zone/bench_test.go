package zone

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"testing"
)

// writeLarge writes a zone of 500,000 names with an A and an AAAA record each.
func writeLarge(b *testing.B) string {
	b.Helper()
	file := filepath.Join(b.TempDir(), "large.zone")
	f, err := os.Create(file)
	if err != nil {
		b.Fatal(err)
	}
	w := bufio.NewWriter(f)
	w.WriteString(head) // errors stick to w until Flush
	for i := range 500_000 {
		fmt.Fprintf(w, "host%d IN A 10.%d.%d.%d\n", i, i>>16, i>>8&255, i&255)
		fmt.Fprintf(w, "host%d IN AAAA 2001:db8::%x:%x\n", i, i>>16, i&65535)
	}
	if err := w.Flush(); err != nil {
		b.Fatal(err)
	}
	if err := f.Close(); err != nil {
		b.Fatal(err)
	}
	return file
}

// BenchmarkLoad1M loads a zone of 1,000,003 records. heap-MB is what the zone
// keeps; B/op counts all that was allocated for it.
func BenchmarkLoad1M(b *testing.B) {
	file := writeLarge(b)
	info, err := os.Stat(file)
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(info.Size())
	b.ReportAllocs()
	records := 0
	var z *Zone
	for b.Loop() {
		var problems Problems
		if z, problems = Load(Source{"example.com", file}, Vocabulary{}); z == nil {
			b.Fatal(problems)
		}
		records += z.Records
	}
	b.ReportMetric(float64(records)/b.Elapsed().Seconds(), "records/s")
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	b.ReportMetric(float64(m.HeapAlloc)/(1<<20), "heap-MB")
	runtime.KeepAlive(z)
}

// BenchmarkLoadGroups loads 10,000 groups of three members.
func BenchmarkLoadGroups(b *testing.B) {
	file := filepath.Join(b.TempDir(), "groups.zone")
	text := []byte(head)
	for i := range 10_000 {
		text = fmt.Appendf(text, "www%d A 10.0.0.1 ; @primary check=web\n  A 10.0.0.2 ; @primary check=web weight=2\n  A 10.0.0.3 ; @secondary check=web,ping target=:8443 id=last\n", i)
	}
	if err := os.WriteFile(file, text, 0o600); err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		z, problems := Load(Source{"example.com", file}, testVocabulary())
		if z == nil || len(z.Groups) != 10_000 {
			b.Fatal(problems)
		}
	}
}
