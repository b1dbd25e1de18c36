package app

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"slices"

	"gslbd/health"
)

const (
	maxTail = 16 << 20 // bytes of a file that a start reads
	// lastID is the largest that a line is believed: half of what all readers of
	// JSON take unchanged (RFC 8259 §6), so that there is room to count on.
	lastID = 1 << 52
)

// tail gives the last events that a server before this one wrote, at most
// maxEvents, and how many lines among them are none. A file that cannot be read
// leaves those of the other, so that IDs go on from what is known.
func (j *journal) tail() (events []health.Event, damaged int, err error) {
	for _, path := range []string{j.path(), j.old()} {
		lines, failed := tailOf(path)
		if failed != nil && !errors.Is(failed, fs.ErrNotExist) {
			err = errors.Join(err, failed)
		}
		older, broken := decodeEvents(lines[max(0, len(lines)-maxEvents+len(events)):])
		events = append(older, events...)
		if damaged += broken; len(events) >= maxEvents {
			break
		}
	}
	return events, damaged, err
}

// tailOf gives the last lines of a file.
func tailOf(path string) ([][]byte, error) {
	if err := regular(path); err != nil {
		return nil, err
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	size, err := f.Seek(0, io.SeekEnd)
	if err != nil {
		return nil, err
	}
	from := max(0, size-maxTail)
	text, err := io.ReadAll(io.NewSectionReader(f, from, size-from))
	if err != nil {
		return nil, err
	}
	lines := slices.Collect(bytes.Lines(text))
	if from > 0 && len(lines) > 0 {
		lines = lines[1:] // likely the end of one
	}
	return lines, nil
}

func decodeEvents(lines [][]byte) (events []health.Event, damaged int) {
	for _, line := range lines {
		var e health.Event
		if err := json.Unmarshal(line, &e); err != nil || e.ID == 0 || e.ID > lastID || e.Kind == "" {
			damaged++
			continue
		}
		events = append(events, e)
	}
	return events, damaged
}
