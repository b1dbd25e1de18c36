package examples_test

import (
	"net"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

const www = "www.gslb.example.com"

// quickstart runs the example on free ports.
func quickstart(t *testing.T) (p *process, dns, tokyo string) {
	t.Helper()
	need(t, "dig")
	dns, tokyo = freePort(t), freePort(t)
	dir := files(t, "quickstart", "5300", dns, "8081", tokyo, "8082", freePort(t))
	p = start(t, filepath.Join(bin, "quickstart"), "-dir", dir, "-gslbd", filepath.Join(bin, "gslbd"))
	return p, dns, tokyo
}

func TestQuickstart(t *testing.T) {
	p, dns, tokyo := quickstart(t)
	answers(t, dns, www, "A", "192.0.2.10")

	stop := regexp.MustCompile(`kill (\d+)$`).FindStringSubmatch(p.line(t, "backend tokyo", tokyo, "kill"))
	if stop == nil {
		t.Fatal("the line says no process id")
	}
	pid, err := strconv.Atoi(stop[1])
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(pid, syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	answers(t, dns, www, "A", "198.51.100.10")
	p.line(t, "member down", www, "tokyo", "connection refused")
	p.line(t, "answer changed", www, "192.0.2.10", "198.51.100.10", "primary", "secondary")

	again := strings.Fields(p.line(t, "backend tokyo stopped", tokyo))
	start(t, filepath.Join(bin, "quickstart"), again[len(again)-3:]...)
	answers(t, dns, www, "A", "192.0.2.10")

	p.Process.Signal(os.Interrupt)
	<-p.ended
	if code := p.ProcessState.ExitCode(); code != 0 {
		t.Errorf("exit status %d after an interrupt, want 0", code)
	}
	if err := syscall.Kill(-p.Process.Pid, 0); err == nil {
		t.Error("a process is left after the interrupt")
	}
}

// TestQuickstartPortTaken: what is in the way is named, and nothing is left.
func TestQuickstartPortTaken(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	_, port, _ := net.SplitHostPort(taken.Addr().String())
	for _, placeholder := range []string{"8082", "5300"} {
		replace := []string{placeholder, port}
		for _, other := range []string{"5300", "8081", "8082"} {
			replace = append(replace, other, freePort(t))
		}
		dir := files(t, "quickstart", replace...)
		p := start(t, filepath.Join(bin, "quickstart"), "-dir", dir, "-gslbd", filepath.Join(bin, "gslbd"))
		<-p.ended
		if code := p.ProcessState.ExitCode(); code != 1 {
			t.Errorf("port %s taken: exit status %d, want 1", placeholder, code)
		}
		p.line(t, "127.0.0.1:"+port, "address already in use")
		if err := syscall.Kill(-p.Process.Pid, 0); err == nil {
			t.Errorf("port %s taken: a process is left", placeholder)
		}
	}
}
