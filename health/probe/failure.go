package probe

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"syscall"
	"time"
)

// cancelled is the reason of a try that its caller gave up.
const cancelled = "cancelled"

// failure is why a try did not pass: Fail when the target is to blame, Fault
// when this machine or its configuration is.
type failure struct {
	outcome Outcome
	reason  string
}

// Error makes a failure an error, so that it can pass through libraries.
func (f *failure) Error() string { return f.reason }

func failed(format string, args ...any) *failure {
	return &failure{Fail, fmt.Sprintf(format, args...)}
}

func fault(format string, args ...any) *failure {
	return &failure{Fault, fmt.Sprintf(format, args...)}
}

// classify turns an error met in a phase ("connect", "tls", …, or "" while a
// reply is awaited) into a failure. README.md holds the table.
func classify(ctx context.Context, phase string, err error, timeout time.Duration) *failure {
	var f *failure
	errno := errnoOf(err)
	prefix := ""
	if phase != "" {
		prefix = phase + ": "
	}
	switch {
	case errors.Is(ctx.Err(), context.Canceled), errors.Is(err, context.Canceled):
		return fault(cancelled)
	case errors.As(err, &f):
		return f
	case closed(err) && phase != "connect":
		return failed("%sconnection closed before a reply", prefix)
	case errno != 0:
		outcome, text := blame(err, errno)
		return &failure{outcome, prefix + text}
	case timedOut(err):
		return failed("%sno reply in %s", prefix, timeout)
	}
	text, alert := strings.CutPrefix(rootText(err), "tls: ")
	if alert && phase == "" { // TLS 1.3 may refuse after the handshake
		prefix = "tls: "
	}
	return failed("%s%s", prefix, plain(text))
}

// blame says whose fault a system error is, and words it.
func blame(err error, errno syscall.Errno) (Outcome, string) {
	switch errno {
	case syscall.EMFILE, syscall.ENFILE:
		return Fault, "no file descriptors left (raise LimitNOFILE or lower health.max_in_flight)"
	case syscall.ENOBUFS, syscall.ENOMEM:
		return Fault, "no buffer space on this machine"
	case syscall.EACCES, syscall.EPERM:
		return Fault, errno.Error() + " (a local firewall or route forbids it)"
	case syscall.EAFNOSUPPORT, syscall.EPROTONOSUPPORT:
		return Fault, "this machine lacks the address family"
	case syscall.ENETDOWN:
		return Fault, "this machine's network is down"
	case syscall.EADDRNOTAVAIL, syscall.EADDRINUSE:
		return Fault, "no local address or port free"
	}
	var call *os.SyscallError
	if errors.As(err, &call) && (call.Syscall == "socket" || call.Syscall == "bind" || call.Syscall == "setsockopt") {
		return Fault, call.Syscall + ": " + errno.Error()
	}
	return Fail, errno.Error()
}

// closed says that the peer ended the connection. Which of end, reset and
// broken pipe is seen depends on who was faster, so they are told as one.
func closed(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) ||
		errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE)
}

// errnoOf is the system error in err; 0 without one.
func errnoOf(err error) syscall.Errno {
	var errno syscall.Errno
	errors.As(err, &errno)
	return errno
}

func timedOut(err error) bool {
	var t interface{ Timeout() bool }
	return errors.Is(err, context.DeadlineExceeded) || errors.Is(err, os.ErrDeadlineExceeded) ||
		errors.As(err, &t) && t.Timeout()
}

// rootText is the innermost text of an error of the network libraries,
// without addresses, which the reader knows.
func rootText(err error) string {
	var op *net.OpError
	if errors.As(err, &op) && op.Err != nil {
		err = op.Err
	}
	return err.Error()
}
