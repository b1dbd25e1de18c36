package dnsserver

import (
	"encoding/hex"
	"net/netip"
	"runtime/debug"
	"sync"

	"go.uber.org/zap"
)

// guard keeps a panic in Respond from ending the daemon. The first one is logged with its packet, so that it can be replayed; a client
// that knows the packet cannot fill the log with it.
type guard struct {
	log  *zap.Logger
	once sync.Once
}

// caught reports what recover gave; packet is the message that was being answered.
func (g *guard) caught(v any, packet []byte, client netip.AddrPort, transport Transport) {
	g.once.Do(func() {
		g.log.Error("panic while answering; packet dropped, later ones are only counted", zap.Any("panic", v), zap.Stringer("transport", transport),
			zap.Stringer("client", client), zap.String("packet", hex.EncodeToString(packet)), zap.ByteString("stack", debug.Stack()))
	})
}
