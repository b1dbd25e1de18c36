package dnsserver

import (
	"crypto/rand"
	"math"
	"sync/atomic"
	"time"

	"gslbd/dnsserver/wire"
)

// Settings say what replies depend on beside the zones. They may be replaced at any time.
type Settings struct {
	// UDPSize is the longest reply over UDP, and the size announced to clients, 512–4096 octets (RFC 6891 section 6.2.3).
	UDPSize int
	// UDPSizeWithoutCookie is the longest reply over UDP to a client that did not send a server cookie of ours, 512–4096 octets; a longer
	// one sets TC. 0 means UDPSize.
	UDPSizeWithoutCookie int
	// Cookies says whether COOKIE options are understood (RFC 7873).
	Cookies bool
	// CookieSecrets make server cookies: the first makes, each one checks (RFC 9018 section 5). None means one made at random when the
	// Shared was.
	CookieSecrets [][16]byte
	// NSID names the server to clients that ask by option (RFC 5001), at most 255 octets; "" leaves the option out.
	NSID string
	// ECS says whether client subnets are understood (RFC 7871).
	ECS bool
	// RefuseANY answers queries of type ANY with REFUSED instead of one HINFO record (RFC 8482).
	RefuseANY bool
	// Version, Hostname and ID are the texts of version.bind and version.server, hostname.bind, and id.server in class CHAOS (RFC 4892),
	// at most 255 octets; "" is REFUSED.
	Version, Hostname, ID string
}

// DefaultSettings are those of a server that was told nothing: 1232 octets, cookies and client subnets understood, no name given.
func DefaultSettings() Settings { return Settings{UDPSize: 1232, Cookies: true, ECS: true} }

// settings are Settings in the form that Respond uses. They are never changed.
type settings struct {
	Settings
	udpSize, uncookied uint16
	keys               cookieKeys
	nsid               []byte
	ignored            wire.OptionSet // options to be passed over
}

// Shared is what the Responders of a server have in common: the settings and a coarse clock, so that no query asks for the time. Its
// methods may be called at any time.
type Shared struct {
	settings  atomic.Pointer[settings]
	now       atomic.Uint32 // seconds since 1970, modulo 2^32
	keepalive atomic.Uint32 // how long an idle TCP connection is kept, in 100 ms
	secret    [16]byte      // of cookies, as long as no other is set
}

// NewShared makes a Shared with the default settings and the time that it is. Its clock stands until Tick.
func NewShared() *Shared {
	s := new(Shared)
	_, _ = rand.Read(s.secret[:]) // never fails
	s.Set(DefaultSettings())
	s.Tick(time.Now())
	s.setIdle(TCPLimits{}.withDefaults().IdleTimeout)
	return s
}

// Set replaces the settings: each query sees the old ones or the new ones, whole.
func (s *Shared) Set(set Settings) {
	limit := func(n int) uint16 { return uint16(min(max(n, wire.MinUDPSize), maxUDP)) }
	c := &settings{Settings: set, udpSize: limit(set.UDPSize), nsid: []byte(set.NSID)}
	c.uncookied = c.udpSize
	if set.UDPSizeWithoutCookie > 0 {
		c.uncookied = min(c.udpSize, limit(set.UDPSizeWithoutCookie))
	}
	secrets := set.CookieSecrets
	if len(secrets) == 0 {
		secrets = [][16]byte{s.secret}
	}
	for _, secret := range secrets {
		c.keys = append(c.keys, newSipKey(secret))
	}
	if !set.Cookies {
		c.ignored |= wire.HasCookie | wire.BadCookie
	}
	if !set.ECS {
		c.ignored |= wire.HasSubnet | wire.BadSubnet
	}
	if set.NSID == "" {
		c.ignored |= wire.HasNSID
	}
	s.settings.Store(c)
}

// Tick sets the clock. A Server does so once a second while it runs.
func (s *Shared) Tick(now time.Time) { s.now.Store(uint32(now.Unix())) }

// setIdle sets what clients are told about idle connections (RFC 7828 section 3.1).
func (s *Shared) setIdle(d time.Duration) {
	s.keepalive.Store(uint32(min(d/(100*time.Millisecond), math.MaxUint16)))
}

// tick moves the clock until stopping is closed.
func (s *Shared) tick(stopping <-chan struct{}) {
	ticker := time.NewTicker(time.Second)
	defer ticker.Stop()
	for {
		select {
		case now := <-ticker.C:
			s.Tick(now)
		case <-stopping:
			return
		}
	}
}
