//go:build !linux

package dnsserver

// control lends the socket.
func (u *plainUDP) control(f func(fd uintptr)) {
	if raw, err := u.conn.SyscallConn(); err == nil {
		_ = raw.Control(f)
	}
}
