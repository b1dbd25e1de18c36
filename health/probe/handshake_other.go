//go:build !linux

package probe

import (
	"context"
	"net/netip"
)

// handshake completes a TCP handshake and resets the connection.
func (c *common) handshake(ctx context.Context, local netip.Addr, remote netip.AddrPort) *failure {
	return c.dialOnly(ctx, local, remote)
}
