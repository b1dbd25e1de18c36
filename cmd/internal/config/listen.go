package config

import (
	"fmt"
	"net"
	"net/netip"
	"strconv"
	"strings"
)

// listenOn stores the addresses to serve on, each in one spelling, so that
// equal lists mean equal sockets.
func listenOn(dst *[]string) setter {
	return func(r *reader, f field) {
		var addresses []string
		failed := len(r.problems)
		for _, item := range r.list(f) {
			s, ok := r.scalar(item, "an address")
			for _, one := range strings.Split(s, ",") {
				if a, fine := r.address(item, strings.TrimSpace(one)); ok && fine {
					addresses = append(addresses, a)
				}
			}
		}
		if len(addresses) > maxList {
			r.fail(f, fmt.Sprintf(`at most %d; ":53" is every address`, maxList), "%d addresses", len(addresses))
			return
		}
		r.distinct(f, addresses)
		if len(addresses) == 0 && len(r.problems) == failed {
			r.fail(f, `":53" for every address`, "no address to listen on")
		}
		*dst = addresses
	}
}

// address checks one "ip:port", "[ip6]:port" or ":port".
func (r *reader) address(f field, s string) (string, bool) {
	if s == "" {
		return "", false
	}
	host, service, err := net.SplitHostPort(s)
	if err != nil {
		r.fail(f, addressHint(s), "%s is not an address with a port", quote(s))
		return "", false
	}
	n, err := strconv.ParseUint(service, 10, 16)
	if err != nil {
		r.fail(f, "a port from 1 to 65535; 0 takes any free one", "%s: %s is not a port", quote(s), quote(service))
		return "", false
	}
	service = strconv.FormatUint(n, 10)
	if host == "" || host == "*" {
		return ":" + service, true
	}
	ip, err := netip.ParseAddr(host)
	if err != nil {
		r.fail(f, "write its IP address; the server does not ask another one for names", "%s: %s is not an IP address", quote(s), quote(host))
		return "", false
	}
	return net.JoinHostPort(ip.Unmap().String(), service), true
}

// addressHint guesses what was meant by something without a port.
func addressHint(s string) string {
	quoted := func(host, port string) string { return strconv.Quote(net.JoinHostPort(host, port)) }
	if host, port, ok := strings.Cut(s, "@"); ok { // as NSD, Knot and Unbound write it
		ip, notIP := netip.ParseAddr(host)
		if _, notPort := strconv.ParseUint(port, 10, 16); notIP == nil && notPort == nil {
			return quoted(ip.String(), port)
		}
	}
	bare := strings.Trim(s, "[]")
	if _, err := netip.ParseAddr(bare); err == nil {
		if end := strings.LastIndexByte(bare, ':'); bare == s && end > 0 { // IPv6: its end may be meant as the port
			ip, notIP := netip.ParseAddr(bare[:end])
			if _, notPort := strconv.ParseUint(bare[end+1:], 10, 16); notIP == nil && notPort == nil {
				return quoted(ip.String(), bare[end+1:]) + " or " + quoted(bare, "53")
			}
		}
		return quoted(bare, "53")
	}
	if n, err := strconv.ParseUint(s, 10, 16); err == nil {
		return strconv.Quote(":" + strconv.FormatUint(n, 10))
	}
	return `IP:PORT, [IPv6]:PORT, or :PORT for every address`
}

// distinct reports addresses that others cover. Port 0 is a new port each time.
func (r *reader) distinct(f field, addresses []string) {
	for i, address := range addresses {
		host, service, _ := net.SplitHostPort(address)
		for _, other := range addresses[:i] {
			otherHost, otherService, _ := net.SplitHostPort(other)
			switch {
			case service != otherService || service == "0":
			case host == otherHost:
				r.fail(f, "keep one of them", "%s is repeated", address)
			case isAny(host) && isAny(otherHost) && (host == "" || otherHost == ""):
				r.fail(f, `":`+service+`" alone means every address, IPv4 and IPv6`, "%s overlaps with %s", address, other)
			}
		}
	}
}

// isAny reports whether a host means every address of a family or of both.
func isAny(host string) bool {
	return host == "" || host == "0.0.0.0" || host == "::"
}
