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
