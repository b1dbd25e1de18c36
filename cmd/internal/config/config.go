// Package config turns the YAML configuration file and the environment into a
// plain typed Config. Every problem it finds names the file, the line, the
// key's path and, where one exists, the way to mend it.
package config

import (
	"maps"
	"slices"
	"time"

	"gslbd/health/probe"
	"gslbd/zone"
	"gslbd/zone/steer"
)

// Config is one valid configuration with all defaults filled in. It is not
// changed after Load returns it. Paths are relative to the working directory
// of the process or absolute, never relative to the configuration file.
type Config struct {
	File     string   // the file read, as found or as given
	Node     string   // this server's name; the host name by default
	Listen   []string // "ip:port", "[ip6]:port" or ":port", in the order of the file
	UDP      UDP
	Zones    []zone.Source
	Checks   map[string]probe.Check  // by name, lower case
	Policies map[string]steer.Policy // by name, lower case; holds "failover" always
	Watch    bool
	StateDir string // where states are kept over a restart; "" = they are not
	// StateMaxAge is how old they may be to be used, 1s–8760h.
	StateMaxAge time.Duration
	Admin       Admin
	Log         Log
	Health      Health
	DNS         DNS
	ECS         bool // the client subnet option is understood (RFC 7871)
	TCP         TCP
	RateLimit   RateLimit

	lines     map[string]int
	variables map[string]string // what the environment set: its variables, by path
	nsid      *string           // dns.nsid; nil = not given
}

// Line gives the line of a key in the file: "checks.NAME", and "zones[0].file"
// for the first of Zones; 0 if it is not there.
func (c *Config) Line(path string) int { return c.lines[path] }

// Variable gives the environment variable that set a key in place of the file;
// "" if none did.
func (c *Config) Variable(path string) string { return c.variables[path] }

// Admin says where the running server takes commands.
type Admin struct {
	Socket string // path of a Unix socket, at most 107 bytes
}

// UDP says what serves the UDP side of each listen address.
type UDP struct {
	Workers       int // sockets, each with its goroutine, 1–256; 0 = as many as GOMAXPROCS
	ReceiveBuffer int // bytes asked of the kernel for each socket, 4 KiB–512 MiB; 0 = 4 MiB, or what there is
	SendBuffer    int // likewise; 0 = 1 MiB, or what there is
}

// Log says what is logged, and how.
type Log struct {
	Level  string // "debug", "info", "warn", "error"
	Format string // "auto", "console", "json"
}

// Health bounds the work of probing.
type Health struct {
	MaxInFlight int // probe rounds running at the same time, 1–100000
}

// Vocabulary gives the names that annotations in zone files may refer to.
func (c *Config) Vocabulary() zone.Vocabulary {
	policies := make(map[string]zone.PolicyNames, len(c.Policies))
	for name, p := range c.Policies {
		policies[name] = zone.PolicyNames{Pools: p.Order, Fallback: p.Fallback, Checks: p.Checks}
	}
	return zone.Vocabulary{Checks: slices.Sorted(maps.Keys(c.Checks)), Policies: policies}
}

// Changed lists the paths of the settings in which the two configurations
// differ, in the order of the documentation. Those that a reload puts into
// effect are left out: listen, zones, checks, policies, node, dns and ecs.
func (c *Config) Changed(other *Config) []string {
	var paths []string
	differs := func(path string, equal bool) {
		if !equal {
			paths = append(paths, path)
		}
	}
	differs("udp.workers", c.UDP.Workers == other.UDP.Workers)
	differs("udp.receive_buffer", c.UDP.ReceiveBuffer == other.UDP.ReceiveBuffer)
	differs("udp.send_buffer", c.UDP.SendBuffer == other.UDP.SendBuffer)
	differs("watch", c.Watch == other.Watch)
	differs("state_dir", c.StateDir == other.StateDir)
	differs("state_max_age", c.StateMaxAge == other.StateMaxAge)
	differs("admin.socket", c.Admin.Socket == other.Admin.Socket)
	differs("log.level", c.Log.Level == other.Log.Level)
	differs("log.format", c.Log.Format == other.Log.Format)
	differs("health.max_in_flight", c.Health.MaxInFlight == other.Health.MaxInFlight)
	return paths
}
