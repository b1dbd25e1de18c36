package app

import (
	"bytes"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/zap"
)

// pipe is a log whose reader takes lines only while open is closed.
type pipe struct {
	open chan struct{}
	mu   sync.Mutex
	text bytes.Buffer
}

func (p *pipe) Write(line []byte) (int, error) {
	<-p.open
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.text.Write(line)
}

// TestLogReaderStuck: logging goes on at once while nobody reads, keeps no more
// than its share of memory, and says afterwards what was lost.
func TestLogReaderStuck(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		out := &pipe{open: make(chan struct{})}
		log, err := NewLogger(out, "info", "json")
		if err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		const lines = 2200 // of 10 kB each
		for i := range lines {
			log.Info(fmt.Sprintf("line %d", i), zap.String("long", strings.Repeat("x", 10_000)))
		}
		if took := time.Since(began); took > 0 {
			t.Errorf("logging waited %v", took)
		}
		if err := log.Sync(); err == nil || time.Since(began) != flushLimit {
			t.Errorf("sync gave %v after %v", err, time.Since(began))
		}
		close(out.open)
		if err := log.Sync(); err != nil {
			t.Error(err)
		}
		text := out.text.String()
		var lost int
		if at := strings.Index(text, `"event":"log lines lost","lines":`); at < 0 {
			t.Fatal("no word on lost lines")
		} else if _, err := fmt.Sscanf(text[at:], `"event":"log lines lost","lines":%d`, &lost); err != nil {
			t.Fatal(err)
		}
		if kept := strings.Count(text, "\n") - 1; kept+lost != lines || lost == 0 || len(text) > 2*maxQueued {
			t.Errorf("%d lines kept and %d lost of %d, %d bytes", kept, lost, lines, len(text))
		}
	})
}

// TestLogOrder: lines are written whole, each once, in the order of each writer.
func TestLogOrder(t *testing.T) {
	var out bytes.Buffer
	q := &lineQueue{out: &out, lost: func(int) []byte { return nil }}
	var writers sync.WaitGroup
	for w := range 4 {
		writers.Go(func() {
			for i := range 500 {
				fmt.Fprintf(q, "%d %d\n", w, i)
			}
		})
	}
	writers.Wait()
	if err := q.Sync(); err != nil {
		t.Fatal(err)
	}
	next := map[int]int{}
	for line := range strings.Lines(out.String()) {
		var w, i int
		if _, err := fmt.Sscanf(line, "%d %d\n", &w, &i); err != nil || i != next[w] {
			t.Fatalf("got %q, want line %d (%v)", line, next[w], err)
		}
		next[w]++
	}
	if len(next) != 4 || next[0]+next[1]+next[2]+next[3] != 2000 {
		t.Errorf("got %v", next)
	}
}

// pieces keeps what was written, call by call.
type pieces struct{ got []string }

func (p *pieces) Write(text []byte) (int, error) {
	p.got = append(p.got, string(text))
	return len(text), nil
}

// Lines that wait are written together, no line in two pieces, and no more at once
// than a pipe takes whole. A longer line is written by itself.
func TestLogInPieces(t *testing.T) {
	short, long := strings.Repeat("s", 999)+"\n", strings.Repeat("l", 9999)+"\n"
	for name, c := range map[string]struct {
		lines []string
		want  []string
	}{
		"together":     {[]string{short, short}, []string{short + short}},
		"as many":      {[]string{short, short, short, short, short}, []string{short + short + short + short, short}},
		"just so many": {[]string{strings.Repeat("x", maxPiece-1001) + "\n", short, "next\n"}, []string{strings.Repeat("x", maxPiece-1001) + "\n" + short, "next\n"}},
		"a long one":   {[]string{short, long, short}, []string{short, long, short}},
	} {
		t.Run(name, func(t *testing.T) {
			var out pieces
			q := &lineQueue{out: &out, drained: make(chan struct{})}
			for _, line := range c.lines {
				fmt.Fprint(q, line)
			}
			q.drain()
			if fmt.Sprint(out.got) != fmt.Sprint(c.want) {
				t.Errorf("%d pieces: %.60q", len(out.got), out.got)
			}
		})
	}
}
