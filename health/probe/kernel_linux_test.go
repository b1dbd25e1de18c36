package probe

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"strings"
	"syscall"
	"testing"
)

// fullPort is an address whose queue of connections is full, so that a
// handshake is never answered.
func fullPort(t testing.TB) netip.AddrPort {
	t.Helper()
	at, _ := fullQueue(t)
	return at
}

// fullQueue also gives the listening socket.
func fullQueue(t testing.TB) (netip.AddrPort, int) {
	t.Helper()
	fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = syscall.Close(fd) })
	if err := syscall.Bind(fd, &syscall.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Listen(fd, 0); err != nil {
		t.Fatal(err)
	}
	name, err := syscall.Getsockname(fd)
	if err != nil {
		t.Fatal(err)
	}
	at := netip.AddrPortFrom(local, uint16(name.(*syscall.SockaddrInet4).Port))
	for range 8 {
		conn, err := net.DialTimeout("tcp", at.String(), short)
		if err != nil {
			return at, fd
		}
		t.Cleanup(func() { conn.Close() })
	}
	skip(t, "this kernel answers handshakes beyond the queue")
	return at, fd
}

func TestConnectTimeout(t *testing.T) {
	at := target(fullPort(t))
	want(t, run(t, tcpCheck(short, TCP{}), at), Fail, "connect: no reply in 80ms")
	want(t, run(t, httpCheck(short, nil), at), Fail, "connect: no reply in 80ms")
}

// The peer sees a reset, and the kernel keeps nothing of the connection.
func TestTCPLeavesNoTimeWait(t *testing.T) {
	ends := make(chan error, 8)
	// An address of its own, so that no other test has used the port.
	at := serveOn(t, "127.77.1.9:0", func(c net.Conn) {
		_, err := io.Copy(io.Discard, c)
		ends <- err
	})
	for _, o := range []TCP{{}, {Send: []byte("x")}} {
		for range 4 {
			want(t, run(t, tcpCheck(long, o), target(at)), Pass, "")
			if err := <-ends; !errors.Is(err, syscall.ECONNRESET) {
				t.Errorf("the peer saw %v, want a reset", err)
			}
		}
	}
	table, err := os.ReadFile("/proc/net/tcp")
	if err != nil {
		skip(t, err)
	}
	port := fmt.Sprintf("09014D7F:%04X ", at.Port())
	for line := range strings.Lines(string(table)) {
		if strings.Contains(line, port) && len(strings.Fields(line)) > 3 && strings.Fields(line)[3] != "0A" {
			t.Errorf("left behind: %s", line)
		}
	}
}
