package dnsserver

import (
	"fmt"
	"net"
	"net/netip"
	"strconv"
)

// endpoint is one address of one family to bind, and the string of the configuration that asked for it.
type endpoint struct {
	addr netip.AddrPort
	text string
	// optional endpoints stand for "every address": a machine without this family serves the other one.
	optional bool
}

// CheckListen reports the first mistake in a list of listen addresses, without touching the network: an empty list, bad syntax, a host
// name, a port above 65535, or an address that another one of the list covers already.
func CheckListen(listen []string) error {
	_, err := parseListen(listen)
	return err
}

// parseListen turns listen addresses into endpoints grouped by the string they came from.
func parseListen(listen []string) ([][]endpoint, error) {
	if len(listen) == 0 {
		return nil, &ListenError{Reason: "no address to listen on", Hint: `set listen, for example [ "127.0.0.1:5353", "[::1]:5353" ]`}
	}
	var groups [][]endpoint
	var seen []endpoint
	for _, text := range listen {
		group, err := parseOne(text)
		if err != nil {
			return nil, err
		}
		for _, e := range group {
			for _, old := range seen {
				if overlap(e.addr, old.addr) {
					return nil, &ListenError{Address: text, Reason: fmt.Sprintf("overlaps with %q", old.text), Hint: "keep one of the two"}
				}
			}
		}
		seen = append(seen, group...)
		groups = append(groups, group)
	}
	return groups, nil
}

// parseOne reads one listen string; an empty host gives an endpoint for each family.
func parseOne(text string) ([]endpoint, error) {
	bad := func(reason, hint string) error { return &ListenError{Address: text, Reason: reason, Hint: hint} }
	host, portText, err := net.SplitHostPort(text)
	if err != nil {
		if _, err := netip.ParseAddr(text); err == nil {
			return nil, bad("the port is missing", "write "+net.JoinHostPort(text, "53"))
		}
		return nil, bad("not an address and port", `write "192.0.2.1:53", "[2001:db8::1]:53", or ":53" for every address`)
	}
	port, err := strconv.ParseUint(portText, 10, 16)
	if err != nil {
		return nil, bad(fmt.Sprintf("port %q is not a number from 0 to 65535", portText), "the usual port is 53")
	}
	if host == "" {
		return []endpoint{
			{netip.AddrPortFrom(netip.IPv4Unspecified(), uint16(port)), text, true},
			{netip.AddrPortFrom(netip.IPv6Unspecified(), uint16(port)), text, true},
		}, nil
	}
	addr, err := netip.ParseAddr(host)
	if err != nil {
		return nil, bad(fmt.Sprintf("%q is not an IP address", host), "names are not looked up here: write the address")
	}
	return []endpoint{{netip.AddrPortFrom(addr.Unmap(), uint16(port)), text, false}}, nil
}

// overlap reports whether two addresses cannot be bound side by side. Port 0 never collides.
func overlap(a, b netip.AddrPort) bool {
	x, y := a.Addr(), b.Addr()
	if a.Port() != b.Port() || a.Port() == 0 || x.Is4() != y.Is4() {
		return false
	}
	return x == y || x.IsUnspecified() || y.IsUnspecified()
}
