//go:build linux

package main_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// inNamespace starts the server in a network of its own, in which a test may
// turn things off. setup is a shell command run there first.
func inNamespace(t *testing.T, dir, setup string) *exec.Cmd {
	t.Helper()
	needs(t, "ip")
	serve := program(t, dir, "serve")
	cmd := exec.Command("sh", "-ec", setup+"\nexec \"$0\" serve", serve.Path)
	cmd.Dir, cmd.Env = serve.Dir, serve.Env
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNET}
	if os.Geteuid() != 0 {
		cmd.SysProcAttr.Cloneflags |= syscall.CLONE_NEWUSER
		cmd.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Geteuid(), Size: 1}}
		cmd.SysProcAttr.GidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getegid(), Size: 1}}
	}
	return cmd
}

// needsNamespaces skips a test where the kernel refuses them.
func needsNamespaces(t *testing.T) {
	t.Helper()
	cmd := inNamespace(t, t.TempDir(), "ip link set lo up; exit 0")
	if out, err := cmd.CombinedOutput(); err != nil {
		skip(t, "no network namespaces: %v\n%s", err, out)
	}
}

// inside runs a shell command in the network of the server.
func (s *daemon) inside(command string) {
	s.t.Helper()
	args := append(s.wrap[1:len(s.wrap):len(s.wrap)], "sh", "-ec", command)
	if out, err := exec.Command(needs(s.t, s.wrap[0]), args...).CombinedOutput(); err != nil {
		s.t.Fatalf("%s: %v\n%s", command, err, out)
	}
}

// TestPing: hosts that stop answering to pings, and answer again.
func TestPing(t *testing.T) {
	t.Parallel()
	needsNamespaces(t)
	dir := site(t, quick, `
www A    127.0.0.90 ; @primary   check=ping
www A    127.0.0.91 ; @secondary check=none
www AAAA ::1        ; @primary   check=ping
www AAAA ::2        ; @secondary check=none`)
	s := started(t, dir, inNamespace(t, dir, "ip link set lo up"))
	s.wrap = []string{"nsenter", "--net=/proc/" + strconv.Itoa(s.cmd.Process.Pid) + "/ns/net"}
	if os.Geteuid() != 0 {
		s.wrap = append(s.wrap, "--user=/proc/"+strconv.Itoa(s.cmd.Process.Pid)+"/ns/user", "--preserve-credentials")
	}
	s.expectStatus(primaryAnswers, www+"/A")
	s.expectStatus(primaryAnswers, www+"/AAAA")
	s.inside("echo 1 > /proc/sys/net/ipv4/icmp_echo_ignore_all")
	s.expect("NOERROR 127.0.0.91", www, "A")
	s.expectStatus(secondaryAnswers, www+"/A")
	if got := s.dig(www, "AAAA").String(); got != "NOERROR ::1" {
		t.Errorf("got %s", got)
	}
	s.inside("echo 0 > /proc/sys/net/ipv4/icmp_echo_ignore_all")
	s.expect("NOERROR 127.0.0.90", www, "A")
	s.expectStatus(primaryAnswers, www+"/A")
}

// TestFamilyMissing: a machine without IPv6.
func TestFamilyMissing(t *testing.T) {
	t.Parallel()
	needsNamespaces(t)
	const setup = "ip link set lo up; echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6; echo 1 > /proc/sys/net/ipv6/conf/lo/disable_ipv6"
	dir := site(t, "listen: [ \"127.0.0.1:5399\", \"[::1]:5399\" ]", steady)
	got := finish(t, inNamespace(t, dir, setup))
	refused(t, got, `"[::1]:5399": cannot assign requested address`)
	if _, err := os.Lstat(filepath.Join(dir, "gslbd.sock")); err == nil {
		t.Error("a socket was left behind")
	}
	if strings.Contains(got.stderr, "started") {
		t.Errorf("half-started:\n%s", got.stderr)
	}
}
