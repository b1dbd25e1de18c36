package zone

import (
	"bytes"
	"io"
	"strings"
	"testing"
)

// most records the longest read that it was asked for.
type most struct {
	io.Reader
	asked int
}

func (m *most) Read(p []byte) (int, error) {
	m.asked = max(m.asked, len(p))
	return m.Reader.Read(p)
}

// However large a file and the room for it, no call to the kernel is long.
func TestReadInPieces(t *testing.T) {
	text := strings.Repeat("www A 192.0.2.1\n", 100_000)
	from := &most{Reader: strings.NewReader(text)}
	var buf bytes.Buffer
	buf.Grow(len(text) + bytes.MinRead)
	if _, err := buf.ReadFrom(pieces{from}); err != nil || buf.String() != text {
		t.Errorf("%d bytes, %v", buf.Len(), err)
	}
	if from.asked != 64<<10 {
		t.Errorf("%d bytes at once", from.asked)
	}
}

// Whoever loads gently has a chance to rest after each record, each RRset and,
// twice, each name, also where one line makes many records.
func TestLoadGently(t *testing.T) {
	file := write(t, head+"www A 192.0.2.1\nwww A 192.0.2.2\nwww AAAA 2001:db8::1\n$GENERATE 1-1000 n$ A 192.0.2.3\n")
	want, _ := Load(Source{"example.com", file}, testVocabulary())
	rests := 0
	z, problems := LoadGently(Source{"example.com", file}, testVocabulary(), func() { rests++ })
	if z == nil || want == nil || z.Records != want.Records || len(z.RRsets) != len(want.RRsets) {
		t.Fatalf("%v, %+v, want %+v", problems, z, want)
	}
	names := map[string]bool{}
	for _, r := range z.RRsets {
		names[r.Name] = true
	}
	if want := z.Records + len(z.RRsets) + 2*len(names); rests != want || z.Records < 1000 {
		t.Errorf("%d rests, want %d", rests, want)
	}
}
