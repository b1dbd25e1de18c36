package dnsserver

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"strings"
	"syscall"
)

// ListenError says which address could not be served, why, and how to mend it.
type ListenError struct {
	Transport string // "udp", "tcp", or empty when the address itself is wrong
	Address   string // as configured; empty when there is none
	Reason    string // what is wrong, lower case
	Hint      string // how to mend it; may be empty
	Err       error  // the system's error; may be nil
}

// Error gives the message, then the hint on a line of its own.
func (e *ListenError) Error() string {
	var b strings.Builder
	b.WriteString("listen")
	if e.Transport != "" {
		b.WriteString(" " + e.Transport)
	}
	if e.Address != "" {
		fmt.Fprintf(&b, " %q", e.Address)
	}
	b.WriteString(": " + e.Reason)
	if e.Hint != "" {
		b.WriteString("\n  hint: " + e.Hint)
	}
	return b.String()
}

// Unwrap gives the system's error.
func (e *ListenError) Unwrap() error { return e.Err }

// bindError explains why transport could not be bound to addr, which the configuration calls text; rivals are listeners that are to go,
// and overlap with it.
func bindError(transport Transport, text string, addr netip.AddrPort, err error, rivals []*listener) error {
	e := &ListenError{Transport: transport.String(), Address: text, Err: err, Reason: cause(err)}
	if text != addr.String() {
		e.Reason = fmt.Sprintf("%s: %s", addr, e.Reason)
	}
	family, flag := "IPv4", "t"
	if addr.Addr().Is6() {
		family = "IPv6"
	}
	if transport == UDP {
		flag = "u"
	}
	switch {
	case errors.Is(err, syscall.EADDRINUSE) && len(rivals) > 0:
		e.Hint = fmt.Sprintf("it overlaps with %q, which is still served: take that out and reload, then add this one and reload again; or restart", rivals[0].text)
	case errors.Is(err, syscall.EADDRINUSE):
		e.Hint = fmt.Sprintf("`ss -l%snp 'sport = :%d'` shows which process has the port; stop it, or listen on another address or port", flag, addr.Port())
	case errors.Is(err, syscall.EACCES), errors.Is(err, syscall.EPERM):
		e.Hint = "ports below 1024 need CAP_NET_BIND_SERVICE (systemd: AmbientCapabilities=CAP_NET_BIND_SERVICE), or choose a higher port"
	case errors.Is(err, syscall.EADDRNOTAVAIL):
		e.Hint = "this machine does not have the address (`ip address` lists those it has); correct it, or add it to an interface first"
	case familyMissing(err):
		e.Hint = fmt.Sprintf("this machine has no %s; remove the address from listen, or enable %s in the kernel", family, family)
	case errors.Is(err, syscall.EINVAL) && addr.Addr().Zone() != "":
		e.Hint = fmt.Sprintf("is there an interface %s, and is it up? `ip link` lists them", addr.Addr().Zone())
	case errors.Is(err, syscall.EINVAL) && addr.Addr().IsLinkLocalUnicast(), strings.Contains(e.Reason, "no such network interface"):
		e.Hint = "a link-local address needs its interface: write [fe80::1%eth0]:53"
	case errors.Is(err, syscall.EMFILE), errors.Is(err, syscall.ENFILE):
		e.Hint = "raise the limit of open files (systemd: LimitNOFILE=)"
	}
	return e
}

// familyMissing reports whether err says that the machine lacks the address family altogether.
func familyMissing(err error) bool {
	return errors.Is(err, syscall.EAFNOSUPPORT) || errors.Is(err, syscall.EPFNOSUPPORT) || errors.Is(err, syscall.EPROTONOSUPPORT)
}

// cause strips what package net and os put before the reason.
func cause(err error) string {
	var sys *os.SyscallError
	var op *net.OpError
	switch {
	case errors.As(err, &sys):
		return sys.Err.Error()
	case errors.As(err, &op):
		return op.Err.Error()
	}
	return err.Error()
}
