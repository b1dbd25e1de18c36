package answer_test

import (
	"context"
	"encoding/binary"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/miekg/dns"

	"gslbd/dnsserver"
	"gslbd/zone"
)

// peer is another name server that answers for the same zones.
type peer struct {
	name  string
	port  int
	conns map[dnsserver.Transport]net.Conn
	id    uint16
}

// patience bounds every wait for a peer; no test waits for it to pass.
const patience = 10 * time.Second

// program finds another server's binary; without it the test is skipped, which
// under CI is a failure.
func program(t *testing.T, name string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil && os.Getenv("CI") != "" {
		t.Fatalf("%s is not installed", name)
	} else if err != nil {
		t.Skipf("%s is not installed (Debian: nsd, knot)", name)
	}
	return path
}

// startPeer writes configuration and zones to a directory of its own and runs
// the server until the test ends. Its port is free at first, but not reserved,
// so a few are tried.
func startPeer(t *testing.T, name string, s *server, command func(dir string, port int) *exec.Cmd) *peer {
	t.Helper()
	dir := t.TempDir()
	for _, z := range s.zones {
		if err := os.WriteFile(filepath.Join(dir, zoneFile(z)), []byte(zoneText(s, z)), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var log []byte
	for range 3 {
		p := &peer{name: name, port: freePort(t), conns: map[dnsserver.Transport]net.Conn{}}
		file, err := os.Create(filepath.Join(dir, "log"))
		if err != nil {
			t.Fatal(err)
		}
		cmd := command(dir, p.port)
		cmd.Dir, cmd.Stdout, cmd.Stderr = dir, file, file
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		ended := make(chan struct{})
		go func() {
			_ = cmd.Wait()
			_ = file.Close()
			close(ended)
		}()
		if p.ready(s, ended) {
			t.Cleanup(func() { p.stop(cmd, ended) })
			return p
		}
		p.stop(cmd, ended)
		text, _ := os.ReadFile(file.Name())
		log = append(log, text...)
	}
	t.Fatalf("%s does not answer:\n%s", name, log)
	return nil
}

// stop ends the server, by force if it does not listen.
func (p *peer) stop(cmd *exec.Cmd, ended chan struct{}) {
	for _, c := range p.conns {
		_ = c.Close()
	}
	_ = cmd.Process.Signal(syscall.SIGTERM)
	select {
	case <-ended:
	case <-time.After(patience):
		_ = cmd.Process.Kill()
		<-ended
	}
}

// ready waits until every zone is answered for.
func (p *peer) ready(s *server, ended chan struct{}) bool {
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	for _, z := range s.zones {
		for {
			q := new(dns.Msg).SetQuestion(z.Name, dns.TypeSOA)
			packet, _ := q.Pack()
			if m, _, err := p.once(packet, dnsserver.UDP, 100*time.Millisecond); err == nil && m.Authoritative {
				break
			}
			select {
			case <-ended:
				return false
			case <-ctx.Done():
				return false
			case <-tick.C:
			}
		}
	}
	return true
}

// ask sends a query and gives the reply; over UDP a lost one is asked again.
func (p *peer) ask(t *testing.T, packet []byte, transport dnsserver.Transport) (*dns.Msg, int) {
	t.Helper()
	var failed error
	for range 3 {
		m, size, err := p.once(packet, transport, 2*time.Second)
		if err == nil {
			return m, size
		}
		failed = err
	}
	t.Fatalf("%s: no reply to %x: %v", p.name, packet, failed)
	return nil, 0
}

// once sends a query under a new id and waits for the reply with that id.
func (p *peer) once(packet []byte, transport dnsserver.Transport, wait time.Duration) (m *dns.Msg, size int, err error) {
	conn := p.conns[transport]
	if conn == nil {
		network := map[dnsserver.Transport]string{dnsserver.UDP: "udp", dnsserver.TCP: "tcp"}[transport]
		if conn, err = net.Dial(network, fmt.Sprintf("127.0.0.1:%d", p.port)); err != nil {
			return nil, 0, err
		}
		p.conns[transport] = conn
	}
	defer func() {
		if err != nil {
			_ = conn.Close()
			delete(p.conns, transport)
		}
	}()
	if err := conn.SetDeadline(time.Now().Add(wait)); err != nil {
		return nil, 0, err
	}
	c := &dns.Conn{Conn: conn, UDPSize: 4096}
	p.id++
	binary.BigEndian.PutUint16(packet, p.id)
	if _, err := c.Write(packet); err != nil {
		return nil, 0, err
	}
	for {
		b := make([]byte, 65535)
		n, err := c.Read(b)
		if err != nil {
			return nil, 0, err
		}
		m := new(dns.Msg)
		if err := m.Unpack(b[:n]); err != nil {
			return nil, 0, err
		}
		if m.Id == p.id {
			return m, n, nil
		}
	}
}

// freePort gives a port of 127.0.0.1 that is free for UDP and TCP.
func freePort(t *testing.T) int {
	t.Helper()
	for range 20 {
		l, err := net.Listen("tcp4", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		port := l.Addr().(*net.TCPAddr).Port
		u, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1), Port: port})
		_ = l.Close()
		if err == nil {
			_ = u.Close()
			return port
		}
	}
	t.Fatal("no port is free for UDP and TCP")
	return 0
}

// startNSD runs NSD in the foreground, without rate limit.
func startNSD(t *testing.T, s *server) *peer {
	path := program(t, "nsd")
	return startPeer(t, "nsd", s, func(dir string, port int) *exec.Cmd {
		var b strings.Builder
		fmt.Fprintf(&b, "server:\n ip-address: 127.0.0.1@%d\n username: \"\"\n chroot: \"\"\n zonesdir: %q\n database: \"\"\n", port, dir)
		fmt.Fprintf(&b, " pidfile: \"\"\n zonelistfile: %q\n xfrdfile: \"\"\n xfrdir: %q\n server-count: 1\n rrl-ratelimit: 0\n minimal-responses: yes\n", dir+"/zone.list", dir)
		b.WriteString("remote-control:\n control-enable: no\n")
		for _, z := range s.zones {
			fmt.Fprintf(&b, "zone:\n name: %q\n zonefile: %q\n", z.Name, zoneFile(z))
		}
		return exec.Command(path, "-d", "-c", configure(t, dir, b.String()))
	})
}

// startKnot runs Knot DNS in the foreground.
func startKnot(t *testing.T, s *server) *peer {
	path := program(t, "knotd")
	return startPeer(t, "knot", s, func(dir string, port int) *exec.Cmd {
		var b strings.Builder
		fmt.Fprintf(&b, "server:\n  rundir: %q\n  listen: 127.0.0.1@%d\nlog:\n  - target: stderr\n    any: info\n", dir, port)
		fmt.Fprintf(&b, "database:\n  storage: %q\ntemplate:\n  - id: default\n    storage: %q\n    journal-content: none\nzone:\n", dir, dir)
		for _, z := range s.zones {
			fmt.Fprintf(&b, "  - domain: %q\n    file: %q\n", z.Name, zoneFile(z))
		}
		return exec.Command(path, "-c", configure(t, dir, b.String()))
	})
}

func configure(t *testing.T, dir, text string) string {
	t.Helper()
	file := filepath.Join(dir, "conf")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

func zoneFile(z *zone.Zone) string { return z.Name + "zone" }

// zoneText writes a zone as the peers get it: of a group what it answers now.
func zoneText(s *server, z *zone.Zone) string {
	var b strings.Builder
	f := &reference{chosen: s.chosen}
	for i := range z.RRsets {
		r := &z.RRsets[i]
		p, _ := f.records(r, r.Name)
		for _, rr := range p.rrs {
			fmt.Fprintln(&b, generic(rr))
		}
	}
	return b.String()
}

// generic writes a record in the form of RFC 3597 §5, its owner with decimal
// escapes, so that every parser reads the same.
func generic(rr dns.RR) string {
	b := make([]byte, dns.MaxMsgSize)
	n, err := dns.PackRR(rr, b, 0, nil, false)
	if err != nil {
		return err.Error()
	}
	var owner strings.Builder
	off := 0
	for ; b[off] != 0; off += 1 + int(b[off]) {
		for _, c := range b[off+1 : off+1+int(b[off])] {
			fmt.Fprintf(&owner, "\\%03d", c)
		}
		owner.WriteByte('.')
	}
	data := b[off+11 : n]
	return fmt.Sprintf("%s %d IN TYPE%d \\# %d %x", owner.String(), rr.Header().Ttl, rr.Header().Rrtype, len(data), data)
}
