package app

import (
	"gslbd/cmd/internal/config"
	"gslbd/dnsserver"
)

// settings gives what the DNS server is told about answers beside the zones.
func settings(cfg *config.Config, version string) dnsserver.Settings {
	d := &cfg.DNS
	set := dnsserver.Settings{
		UDPSize:              d.UDPSize,
		UDPSizeWithoutCookie: d.UDPSizeWithoutCookie,
		Cookies:              d.Cookies,
		NSID:                 d.NSID,
		ECS:                  cfg.ECS,
		RefuseANY:            d.RefuseANY,
	}
	for _, secret := range d.CookieSecrets {
		set.CookieSecrets = append(set.CookieSecrets, secret)
	}
	if d.Version {
		set.Version = "gslbd " + version
	}
	if d.Hostname {
		set.Hostname = cfg.Node
	}
	if d.ID {
		set.ID = cfg.Node
	}
	return set
}

// publish makes next what is answered from, and its settings those in effect.
func (a *App) publish(next *state) {
	a.server.Shared().Set(settings(next.cfg, a.opts.Version))
	a.server.SetTable(next.table)
}
