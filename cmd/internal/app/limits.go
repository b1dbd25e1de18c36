package app

import (
	"gslbd/cmd/internal/config"
	"gslbd/dnsserver"
)

// limit gives the DNS server the limits of a configuration; it may be running.
func (a *App) limit(cfg *config.Config) {
	a.server.SetTCPLimits(dnsserver.TCPLimits{
		MaxConnections:          cfg.TCP.MaxConnections,
		MaxConnectionsPerClient: cfg.TCP.MaxConnectionsPerClient,
		MaxQueries:              cfg.TCP.MaxQueries,
		IdleTimeout:             cfg.TCP.IdleTimeout,
		MessageTimeout:          cfg.TCP.MessageTimeout,
	})
	a.server.SetRateLimit(dnsserver.RateLimit{
		ResponsesPerSecond: cfg.RateLimit.ResponsesPerSecond,
		ErrorsPerSecond:    cfg.RateLimit.ErrorsPerSecond,
		Slip:               cfg.RateLimit.Slip,
		IPv4Prefix:         cfg.RateLimit.IPv4Prefix,
		IPv6Prefix:         cfg.RateLimit.IPv6Prefix,
		TableSize:          cfg.RateLimit.TableSize,
		Exempt:             cfg.RateLimit.Exempt,
		LogOnly:            cfg.RateLimit.LogOnly,
	})
}
