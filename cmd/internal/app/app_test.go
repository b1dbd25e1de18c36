package app

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"go.uber.org/zap/zaptest/observer"

	"gslbd/cmd/internal/admin"
	"gslbd/health"
	"gslbd/health/probe"
	"gslbd/zone"
)

func TestLife(t *testing.T) {
	a, logs := launch(t, checksText, header+pairs+"web A 127.0.0.9 ; @primary check=web\n")
	if got := query(t, a, "www.example.com"); got != "127.0.0.1" {
		t.Errorf("got %s", got)
	}
	if got := query(t, a, "web.example.com"); got != "127.0.0.9" {
		t.Errorf("before the first probe: got %s", got)
	}
	if _, err := admin.NewClient("gslbd.sock").Status(t.Context(), ""); err != nil {
		t.Error(err)
	}
	line := logs.FilterMessage("started").All()[0].ContextMap()
	if line["version"] != "v1.2.3" || line["zones"] != int64(1) || line["records"] != int64(6) || line["groups"] != int64(2) || line["checks"] != int64(4) {
		t.Errorf("the start is logged as %v", line)
	}
	stopApp(t, a)
	stopApp(t, a) // again, to no effect
	if _, err := os.Lstat("gslbd.sock"); err == nil {
		t.Error("the socket is still there")
	}
	if problems := a.Reload(t.Context(), true); !problems.Failed(false) {
		t.Error("reloaded after the stop")
	}
}

func TestNewProblems(t *testing.T) {
	cfg := configured(t, checksText, header+"a A 1\nb A 2\n")
	put(t, "b.zone", "@ NS\n")
	cfg.Zones = append(cfg.Zones, zone.Source{Name: "b.example", File: "b.zone"}, zone.Source{Name: "c.example", File: "c.zone"})
	cfg.Listen = []string{"nowhere"}
	_, err := New(cfg, Options{})
	problems, ok := errors.AsType[zone.Problems](err)
	if !ok {
		t.Fatalf("got %v", err)
	}
	contains(t, problems.Error(), `gslbd.yaml:1: listen "nowhere"`, "a.zone:6: ", "a.zone:7: ", "b.zone:1: ", "c.zone: ")
}

func TestNewWarns(t *testing.T) {
	cfg := configured(t, checksText, header+"a A 127.0.0.1\na A 127.0.0.2\n")
	core, logs := observer.New(zapcore.WarnLevel)
	if _, err := New(cfg, Options{Log: zap.New(core)}); err != nil {
		t.Fatal(err)
	}
	if logs.Len() != 1 || !strings.HasPrefix(logs.All()[0].ContextMap()["at"].(string), "a.zone:6: warning: ") {
		t.Errorf("logged %v", logs.All())
	}
}

// TestStartFailsByVariable: an address that the environment asked for is not
// sought in the file.
func TestStartFailsByVariable(t *testing.T) {
	t.Setenv("GSLBD_LISTEN", "192.0.2.99:5300")
	a, err := New(configured(t, "", header), Options{})
	if err != nil {
		t.Fatal(err)
	}
	const want = "environment: GSLBD_LISTEN: listen tcp \"192.0.2.99:5300\": cannot assign requested address\n  hint: this machine"
	if err := a.Start(); err == nil || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("got %v, want %s", err, want)
	}
}

// TestStartFails: at each step, and nothing of the steps before is left.
func TestStartFails(t *testing.T) {
	t.Run("port", func(t *testing.T) {
		taken, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer taken.Close()
		cfg := configured(t, "", header)
		cfg.Listen = append(cfg.Listen, taken.Addr().String())
		a, err := New(cfg, Options{})
		if err != nil {
			t.Fatal(err)
		}
		err = a.Start()
		want := fmt.Sprintf("gslbd.yaml:1: listen tcp %q: address already in use\n  hint: `ss -ltnp", taken.Addr())
		if err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
		if len(a.Addrs()) != 0 {
			t.Errorf("still bound: %v", a.Addrs())
		}
		if _, err := os.Lstat("gslbd.sock"); err == nil {
			t.Error("a socket was left")
		}
	})
	t.Run("socket", func(t *testing.T) {
		free, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		addr := free.Addr().String()
		free.Close()
		cfg := configured(t, "", header)
		cfg.Listen = []string{addr}
		put(t, "gslbd.sock", "in the way")
		a, err := New(cfg, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if err := a.Start(); err == nil || !strings.Contains(err.Error(), "not a socket") {
			t.Errorf("got %v", err)
		}
		again, err := net.Listen("tcp", addr)
		if err != nil {
			t.Fatalf("the port was left bound: %v", err)
		}
		again.Close()
		stopApp(t, a)
	})
}

// TestRun: hang-ups reload, the stop signal is handed back.
func TestRun(t *testing.T) {
	a, logs := launch(t, "watch: false\n", header+pairs)
	stop, hangup := make(chan os.Signal, 1), make(chan os.Signal)
	got := make(chan os.Signal)
	go func() { got <- a.Run(stop, hangup) }()
	put(t, "a.zone", header+pairs+"new A 127.0.0.3\n")
	hangup <- syscall.SIGHUP
	eventually(t, "the reload", func() bool { return query(t, a, "new.example.com") == "127.0.0.3" })
	put(t, "a.zone", "broken")
	hangup <- syscall.SIGHUP
	eventually(t, "the refusal", func() bool { return logs.FilterMessageSnippet("reload refused").Len() == 1 })
	stop <- syscall.SIGTERM
	if sig := <-got; sig != syscall.SIGTERM {
		t.Errorf("got %v", sig)
	}
	a.End(syscall.SIGTERM)
	if logs.FilterMessage("stopped").Len() != 1 || logs.FilterMessage("stopped with work in hand").Len() != 0 {
		t.Errorf("logged %v", logs.All())
	}
}

// TestHangupStorm: hang-ups that come during a reload make one more together,
// and that one reads what was written before the last of them.
func TestHangupStorm(t *testing.T) {
	a, logs := launch(t, "watch: false\n", header+pairs)
	stop, hangup := make(chan os.Signal, 1), make(chan os.Signal, 1) // as signal.Notify fills it
	got := make(chan os.Signal)
	go func() { got <- a.Run(stop, hangup) }()
	if err := a.changing.enter(t.Context()); err != nil { // as a long reload does
		t.Fatal(err)
	}
	hangup <- syscall.SIGHUP
	eventually(t, "the first to be taken", func() bool { return len(hangup) == 0 })
	for range 100 {
		select {
		case hangup <- syscall.SIGHUP:
		default:
		}
	}
	put(t, "a.zone", header+pairs+"new A 127.0.0.3\n")
	a.changing.leave()
	eventually(t, "two reloads", func() bool { return logs.FilterMessage("reloaded").Len() == 2 && len(hangup) == 0 })
	if answer := query(t, a, "new.example.com"); answer != "127.0.0.3" {
		t.Errorf("got %s", answer)
	}
	stop <- syscall.SIGTERM
	<-got
	if n := logs.FilterMessage("reloaded").Len(); n != 2 {
		t.Errorf("%d reloads", n)
	}
}

// stuck is a prober that nothing can cancel.
type stuck struct{ release chan struct{} }

func (s stuck) Probe(context.Context) probe.Result {
	<-s.release
	return probe.Result{Outcome: probe.Fault}
}

// TestStopWithStuckProbe: a stop does not wait for a probe that cannot end.
func TestStopWithStuckProbe(t *testing.T) {
	cfg := configured(t, checksText, header+"www A 127.0.0.1 ; @primary check=web\n")
	st, _, problems := loadState(t.Context(), cfg, nil, loadHere)
	if st == nil {
		t.Fatal(problems)
	}
	began, release := make(chan struct{}), make(chan struct{})
	engine := health.New(health.Options{NewProber: func(probe.Check, probe.Target, bool) (probe.Prober, error) {
		close(began)
		return stuck{release}, nil
	}})
	engine.Start()
	engine.Apply(st.model(), st.table, func() {})
	<-began
	a := &App{engine: engine}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if err := a.stopEngine(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v", err)
	}
	again := time.Now()
	if err := a.stopEngine(t.Context()); err == nil || time.Since(again) > 3*time.Second {
		t.Errorf("without a limit of its own: %v after %s", err, time.Since(again))
	}
	close(release)
	if err := a.stopEngine(t.Context()); err != nil {
		t.Error(err)
	}
}

// TestStopDuringReload: a stop does not wait for a reload that takes long.
func TestStopDuringReload(t *testing.T) {
	a, logs := launch(t, "watch: false\n", header+pairs)
	if err := a.changing.enter(t.Context()); err != nil { // as a reload does
		t.Fatal(err)
	}
	waiting := make(chan zone.Problems)
	go func() { waiting <- a.Reload(context.Background(), false) }()
	began := time.Now()
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if err := a.Stop(ctx); err != nil && !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
	if took := time.Since(began); took > 3*time.Second {
		t.Errorf("took %v", took)
	}
	if problems := <-waiting; !problems.Failed(false) {
		t.Error("the one that waited reloaded")
	}
	if logs.FilterMessage("reloaded").Len() != 0 {
		t.Error("reloaded after the stop")
	}
	a.changing.leave()
}
