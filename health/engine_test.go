package health

import (
	"fmt"
	"net"
	"net/netip"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
)

// Without test doubles: the probers of package probe, a real listener, real time.
func TestRealProbes(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = listener.Close() }()
	g := www("primary:1", "secondary:2:+")
	at := netip.MustParseAddrPort(listener.Addr().String())
	g.Members[0].Target.Addr, g.Members[0].Target.Port = at.Addr(), at.Port()
	m := model(check(every(100*time.Millisecond), thresholds(2, 2)), g)

	e := New(Options{})
	e.Start()
	defer e.Stop()
	swapped := false
	e.Apply(m, newTable(m), func() { swapped = true })
	if !swapped {
		t.Error("not swapped")
	}
	state := func() string {
		g := e.Status().Groups[0]
		p := g.Pools[0].Members[0]
		return fmt.Sprint(g.Pool, " ", p.State, " ", p.Checks[0].Error)
	}
	await(t, state, "primary up ")
	if !e.Ready() {
		t.Error("not ready")
	}
	_ = listener.Close()
	await(t, state, "secondary down connect: connection refused")
}

// await polls for up to 10 s until what is seen begins with want.
func await(t *testing.T, see func() string, want string) {
	t.Helper()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for deadline := time.Now().Add(10 * time.Second); time.Now().Before(deadline); <-tick.C {
		if strings.HasPrefix(see(), want) {
			return
		}
	}
	t.Fatalf("%q, want %q", see(), want)
}
