package config

import (
	"net/netip"
	"slices"
	"strings"
	"time"

	"gslbd/zone"
)

// TCP bounds what TCP clients may take of the DNS server.
type TCP struct {
	MaxConnections          int           // of all addresses together, 1–65535
	MaxConnectionsPerClient int           // of one IPv4 address or IPv6 /64, 1–65535
	MaxQueries              int           // on one connection, 0–1000000; 0 = any number
	IdleTimeout             time.Duration // 1s–10m
	MessageTimeout          time.Duration // 100ms–1m
}

func defaultTCP() TCP {
	return TCP{MaxConnections: 1000, MaxConnectionsPerClient: 100, IdleTimeout: 10 * time.Second, MessageTimeout: 5 * time.Second}
}

func tcpLimitOptions(t *TCP) []option {
	return []option{
		{name: "max_connections", set: integer(&t.MaxConnections, 1, 65535), env: true},
		{name: "max_connections_per_client", set: integer(&t.MaxConnectionsPerClient, 1, 65535), env: true},
		{name: "max_queries", set: integer(&t.MaxQueries, 0, 1_000_000), env: true},
		{name: "idle_timeout", set: duration(&t.IdleTimeout, time.Second, 10*time.Minute), env: true},
		{name: "message_timeout", set: duration(&t.MessageTimeout, 100*time.Millisecond, time.Minute), env: true},
	}
}

// RateLimit bounds the answers that one UDP client gets.
type RateLimit struct {
	ResponsesPerSecond int // 0–30000; 0 = no limit at all
	ErrorsPerSecond    int // 0–30000; 0 = as ResponsesPerSecond
	Slip               int // 0–10; 0 = nothing slips
	IPv4Prefix         int // bits, 8–32
	IPv6Prefix         int // bits, 16–64
	TableSize          int // buckets, 1000–16777216
	Exempt             []netip.Prefix
	LogOnly            bool
}

func defaultRateLimit() RateLimit {
	return RateLimit{Slip: 2, IPv4Prefix: 24, IPv6Prefix: 56, TableSize: 1 << 19}
}

func rateLimitOptions(l *RateLimit) []option {
	return []option{
		{name: "responses_per_second", set: integer(&l.ResponsesPerSecond, 0, 30_000), env: true},
		{name: "errors_per_second", set: integer(&l.ErrorsPerSecond, 0, 30_000), env: true},
		{name: "slip", set: integer(&l.Slip, 0, 10), env: true},
		{name: "ipv4_prefix", set: integer(&l.IPv4Prefix, 8, 32), env: true},
		{name: "ipv6_prefix", set: integer(&l.IPv6Prefix, 16, 64), env: true},
		{name: "table_size", set: integer(&l.TableSize, 1000, 1<<24), env: true},
		{name: "exempt", set: prefixes(&l.Exempt)},
		{name: "log_only", set: boolean(&l.LogOnly), env: true},
	}
}

// idleRateLimit warns of a sound section that limits nothing and does not say so.
func (r *reader) idleRateLimit(l RateLimit) {
	if slices.ContainsFunc(r.problems, func(p zone.Problem) bool { return strings.HasPrefix(p.Message, "rate_limit") }) {
		return
	}
	line, given := r.seen["rate_limit"]
	if _, said := r.seen["rate_limit.responses_per_second"]; given && !said && l.ResponsesPerSecond == 0 {
		r.warn(field{path: "rate_limit", line: line}, "200 suits most servers; 0 says that no limit is meant", "without responses_per_second nothing is limited")
	}
}

// prefixes stores a list of networks; an address alone is a network of one.
func prefixes(dst *[]netip.Prefix) setter {
	return func(r *reader, f field) {
		var list []netip.Prefix
		words, ok := r.words(f, "a network")
		if !ok {
			return
		}
		for _, w := range words {
			p, err := netip.ParsePrefix(w)
			if addr, notAddr := netip.ParseAddr(w); notAddr == nil && addr.Zone() == "" {
				p, err = netip.PrefixFrom(addr, addr.BitLen()), nil
			}
			switch {
			case w == "":
			case err != nil || p.Addr().Is4In6():
				r.fail(f, "such as 192.0.2.0/24 or 2001:db8::/32", "%s is not a network", quote(w))
			case p != p.Masked():
				r.fail(f, "write "+p.Masked().String(), "%s has bits beyond its length", quote(w))
			default:
				list = append(list, p)
			}
		}
		if len(list) > maxList {
			r.fail(f, "at most 100: each one costs every query a comparison", "%d networks", len(list))
			return
		}
		*dst = list
	}
}
