package probe

import (
	"errors"
	"fmt"
)

// New makes the Prober of one check against one target. With trace, results
// carry Steps. The error is a fault of our own: a file that cannot be used, no
// source address of the target's family, an option that cannot be sent.
func New(c Check, t Target, trace bool) (Prober, error) {
	p, err := newProber(c, t, trace)
	if err != nil {
		return nil, errors.New(tidy(err.Error())) // it becomes a reason
	}
	return p, nil
}

func newProber(c Check, t Target, trace bool) (Prober, error) {
	t.Addr = t.Addr.Unmap()
	if !t.Addr.IsValid() {
		return nil, fmt.Errorf("target has no address")
	}
	local, err := sourceFor(c.Source, t.Addr)
	if err != nil && c.Exec == nil && c.File == nil { // which do not connect
		return nil, err
	}
	base := common{timeout: c.Timeout, local: local, trace: trace}
	switch {
	case c.ICMP != nil:
		return newICMP(c, t, base)
	case c.TCP != nil:
		return newTCP(c, t, base)
	case c.TLS != nil:
		return newTLS(c, t, base)
	case c.UDP != nil:
		return newUDP(c, t, base)
	case c.DNS != nil:
		return newDNS(c, t, base)
	case c.HTTP != nil:
		return newHTTP(c, t, base)
	case c.GRPC != nil:
		return newGRPC(c, t, base)
	case c.Exec != nil:
		return newExec(c, t, base)
	case c.File != nil:
		return newFile(c, t, base)
	}
	return nil, fmt.Errorf("check type %s is unknown", quote(c.Type))
}
