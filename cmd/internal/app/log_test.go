package app

import (
	"bytes"
	"encoding/json"
	"os"
	"strings"
	"testing"
	"time"

	"go.uber.org/zap"
)

func TestLogger(t *testing.T) {
	var out bytes.Buffer
	log, err := NewLogger(&out, "info", "auto")
	if err != nil {
		t.Fatal(err)
	}
	log.Debug("hidden")
	log.Info("answer changed", zap.Duration("after", time.Second))
	_ = log.Sync()
	var line map[string]any
	if err := json.Unmarshal(out.Bytes(), &line); err != nil {
		t.Fatalf("%v in %s", err, &out)
	}
	if line["event"] != "answer changed" || line["level"] != "info" || line["after"] != "1s" || line["time"] == nil {
		t.Errorf("got %v", line)
	}

	out.Reset()
	log, err = NewLogger(&out, "warn", "console")
	if err != nil {
		t.Fatal(err)
	}
	log.Info("hidden")
	log.Warn("member down", zap.String("why", "refused"))
	_ = log.Sync()
	if got := out.String(); !strings.Contains(got, "WARN\tmember down\t{\"why\": \"refused\"}\n") || strings.Contains(got, "hidden") {
		t.Errorf("got %q", got)
	}

	if _, err := NewLogger(&out, "loud", "json"); err == nil {
		t.Error("level loud was taken")
	}
}

func TestIsTerminal(t *testing.T) {
	if IsTerminal(new(bytes.Buffer)) {
		t.Error("a buffer is a terminal")
	}
	for _, name := range []string{os.DevNull, "log_test.go"} {
		f, err := os.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		if IsTerminal(f) {
			t.Errorf("%s is a terminal", name)
		}
		f.Close()
		if IsTerminal(f) {
			t.Errorf("%s is a terminal when closed", name)
		}
	}
}
