package dnsserver

import (
	"fmt"
	"net"
	"os"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"
	"golang.org/x/sys/unix"
)

// kernelLimit reads what the kernel grants to everybody, in bytes.
func kernelLimit(t *testing.T, name string) int {
	t.Helper()
	text, err := os.ReadFile("/proc/sys/net/core/" + name)
	if err != nil {
		t.Fatal(err)
	}
	n, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// withoutNetAdmin runs f on a thread that lacks CAP_NET_ADMIN.
func withoutNetAdmin(t *testing.T, f func()) {
	t.Helper()
	done := make(chan error)
	go func() {
		runtime.LockOSThread() // never given back: the thread ends with the goroutine
		header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
		var sets [2]unix.CapUserData
		err := unix.Capget(&header, &sets[0])
		sets[0].Effective &^= 1 << unix.CAP_NET_ADMIN
		if err == nil {
			err = unix.Capset(&header, &sets[0])
		}
		if err == nil {
			f()
		}
		done <- err
	}()
	if err := <-done; err != nil {
		t.Fatal(err)
	}
}

// One line tells that the kernel grants less than the operator asked for, however many sockets there are; the default never complains.
func TestBufferGrants(t *testing.T) {
	receive, send := kernelLimit(t, "rmem_max"), kernelLimit(t, "wmem_max")
	for _, c := range []struct {
		name          string
		receive, send int
		want          []string
	}{
		{"default", 0, 0, nil},
		{"within", 50_000, 60_000, nil},
		{"just so", receive, send, nil},
		{"receive", receive + 4096, send, []string{
			fmt.Sprintf("udp receive buffer is smaller than configured: asked %d, granted %d, `sysctl -w net.core.rmem_max=%d` lets the kernel grant it, and so does CAP_NET_ADMIN", receive+4096, receive, receive+4096)}},
		{"send", 0, send + 4096, []string{
			fmt.Sprintf("udp send buffer is smaller than configured: asked %d, granted %d, `sysctl -w net.core.wmem_max=%d` lets the kernel grant it, and so does CAP_NET_ADMIN", send+4096, send, send+4096)}},
	} {
		t.Run(c.name, func(t *testing.T) {
			core, logs := observer.New(zap.WarnLevel)
			s := newServer(Options{Listen: []string{"127.0.0.1:0", "127.0.0.2:0"}, Workers: 3, ReceiveBuffer: c.receive, SendBuffer: c.send, Log: zap.New(core)}, echo)
			var err error
			withoutNetAdmin(t, func() { err = s.Start() })
			if err != nil {
				t.Fatal(err)
			}
			defer stop(t, s)
			var got []string
			for _, e := range logs.All() {
				f := e.ContextMap()
				got = append(got, fmt.Sprintf("%s: asked %v, granted %v, %v", e.Message, f["asked"], f["granted"], f["hint"]))
			}
			if fmt.Sprint(got) != fmt.Sprint(c.want) {
				t.Errorf("got  %q\nwant %q", got, c.want)
			}
			relisten(t, s, "127.0.0.1:0", "127.0.0.2:0") // binds nothing, and says nothing
			if logs.Len() != len(c.want) {
				t.Errorf("logged again: %v", logs.All())
			}
		})
	}
}

// With CAP_NET_ADMIN the limit does not hold.
func TestBufferIsForced(t *testing.T) {
	limit := kernelLimit(t, "rmem_max")
	conn, err := net.ListenUDP("udp", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	raw, err := conn.SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	if setInt(raw, unix.SOL_SOCKET, unix.SO_RCVBUFFORCE, limit) != nil {
		skip(t, "no CAP_NET_ADMIN")
	}
	for _, receive := range []bool{true, false} {
		if got := setBuffer(conn, receive, limit+8192); got != limit+8192 {
			t.Errorf("receive %v: granted %d, want %d", receive, got, limit+8192)
		}
	}
}
