package app

import (
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"gslbd/zone"
)

// NewLogger makes the log of `gslbd serve`. level is debug, info, warn or
// error; format is console, json, or auto: console when out is a terminal.
// Nobody who logs waits for out; Sync, before the end, waits a second for it.
func NewLogger(out io.Writer, level, format string) (*zap.Logger, error) {
	at, err := zapcore.ParseLevel(level)
	if err != nil {
		return nil, fmt.Errorf("log level: %w", err)
	}
	cfg := zap.NewProductionEncoderConfig()
	cfg.TimeKey, cfg.MessageKey = "time", "event"
	cfg.EncodeTime = zapcore.RFC3339NanoTimeEncoder
	cfg.EncodeDuration = zapcore.StringDurationEncoder
	enc := zapcore.NewJSONEncoder(cfg)
	if format == "console" || format == "auto" && IsTerminal(out) {
		cfg.EncodeTime = zapcore.TimeEncoderOfLayout("15:04:05.000")
		cfg.EncodeLevel = zapcore.CapitalLevelEncoder
		enc = zapcore.NewConsoleEncoder(cfg)
	}
	queue := &lineQueue{out: out, lost: func(n int) []byte { return lostLine(enc.Clone(), n) }}
	return zap.New(zapcore.NewCore(enc, queue, at)), nil
}

// lostLine says that n log lines could not be written.
func lostLine(enc zapcore.Encoder, n int) []byte {
	entry := zapcore.Entry{Level: zapcore.WarnLevel, Time: time.Now(), Message: "log lines lost"}
	line, err := enc.EncodeEntry(entry, []zap.Field{zap.Int("lines", n)})
	if err != nil {
		return nil
	}
	return line.Bytes()
}

// LogProblems writes each problem as one line.
func LogProblems(log *zap.Logger, problems zone.Problems) {
	for _, p := range problems {
		write, event := log.Warn, "warning in a file"
		if p.Severity == zone.Error {
			write, event = log.Error, "problem in a file"
		}
		write(event, zap.String("at", p.String()), zap.String("hint", p.Hint))
	}
}

// IsTerminal reports whether w shows on a screen: a character device other
// than the null device.
func IsTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	if err != nil || info.Mode()&fs.ModeCharDevice == 0 {
		return false
	}
	null, err := os.Stat(os.DevNull)
	return err != nil || !os.SameFile(info, null)
}
