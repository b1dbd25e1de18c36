package probe

import (
	"net/netip"
	"time"
)

// Detect is the longest time from the start of the first failing try to the
// verdict down: n·(retries+1)·timeout + (n−1)·interval. n is Fall, or with a
// window the failures that leave fewer than Required passes in it.
func (c Check) Detect() time.Duration {
	n := c.Fall
	if c.Window != nil {
		n = c.Window.Size - c.Window.Required + 1
	}
	return spread(n, time.Duration(c.Retries+1)*c.Timeout, c.Interval)
}

// Recover is the time from the start of the first passing try to the verdict
// up, for a target that replies in no time: (n−1)·interval. n is Rise, or with
// a window its Required.
func (c Check) Recover() time.Duration {
	n := c.Rise
	if c.Window != nil {
		n = c.Window.Required
	}
	return spread(n, 0, c.Interval)
}

// spread is the length of n rounds with the pauses between them.
func spread(n int, round, interval time.Duration) time.Duration {
	if n < 1 {
		return 0
	}
	return time.Duration(n)*round + time.Duration(n-1)*interval
}

// Port is the port that is probed on t: the target's own, else the check's; 0
// for types without ports, and for type exec without one in the target.
func (c Check) Port(t Target) uint16 {
	switch {
	case c.ICMP != nil, c.File != nil:
		return 0
	case t.Port != 0:
		return t.Port
	case c.TCP != nil:
		return c.TCP.Port
	case c.TLS != nil:
		return c.TLS.Port
	case c.UDP != nil:
		return c.UDP.Port
	case c.DNS != nil:
		return c.DNS.Port
	case c.HTTP != nil && c.HTTP.Port == 0:
		return schemePort(c.HTTP.Scheme)
	case c.HTTP != nil:
		return c.HTTP.Port
	case c.GRPC != nil:
		return c.GRPC.Port
	}
	return 0
}

// Address is what is probed on t as "ip:port" or "[ipv6]:port"; the bare
// address for types without ports.
func (c Check) Address(t Target) string {
	addr := t.Addr.Unmap()
	port := c.Port(t)
	if c.ICMP != nil || c.File != nil || c.Exec != nil && port == 0 {
		return addr.String()
	}
	return netip.AddrPortFrom(addr, port).String()
}

func schemePort(scheme string) uint16 {
	if scheme == "https" {
		return 443
	}
	return 80
}
