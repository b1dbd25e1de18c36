package probe

import (
	"slices"
	"strconv"
	"strings"
)

// Key names what a check does to a target: probes with equal keys are run
// once and shared. Name, Interval, Fall, Rise and Window are not part of it,
// since each user applies its own.
func (c Check) Key(t Target) string {
	k := make(key, 0, 160)
	k.str(c.Type)
	k.str(c.Address(t))
	k.str(c.Timeout.String())
	k.num(c.Retries)
	k.num(len(c.Source))
	for _, a := range c.Source {
		k.str(a.String())
	}
	switch {
	case c.ICMP != nil:
		k.num(c.ICMP.Count)
		k.num(c.ICMP.Size)
	case c.TCP != nil:
		k.str(string(c.TCP.Send))
		k.str(string(c.TCP.Expect))
	case c.TLS != nil:
		k.str(c.TLS.serverName(t))
		k.flag(c.TLS.Verify)
		k.str(c.TLS.CAFile)
		k.num(c.TLS.MinDays)
	case c.UDP != nil:
		k.str(string(c.UDP.Send))
		k.str(string(c.UDP.Expect))
	case c.DNS != nil:
		k.dns(c.DNS, t)
	case c.HTTP != nil:
		k.http(c.HTTP, t)
	case c.GRPC != nil:
		k.str(c.GRPC.Service)
		k.flag(c.GRPC.TLS)
		k.flag(c.GRPC.Verify)
		k.str(c.GRPC.serverName(t))
		k.str(c.GRPC.CAFile)
	case c.Exec != nil:
		k.exec(c.Exec, t)
	case c.File != nil:
		k.str(c.File.Path)
		k.str(c.File.MaxAge.String())
	}
	return string(k)
}

// key is a list of values in which no two different lists look alike.
type key []byte

func (k *key) str(s string) { *k = append(strconv.AppendQuote(*k, s), ' ') }
func (k *key) num(n int)    { *k = append(strconv.AppendInt(*k, int64(n), 10), ' ') }
func (k *key) flag(b bool)  { *k = append(strconv.AppendBool(*k, b), ' ') }

func (k *key) dns(o *DNS, t Target) {
	k.str(strings.ToLower(o.queryName(t)))
	k.num(int(o.QType))
	k.num(o.RCode)
	k.num(len(o.Expect))
	for _, data := range o.Expect {
		k.str(data)
	}
	k.flag(o.TCP)
}

func (k *key) exec(o *Exec, t Target) {
	k.num(len(o.Command))
	for _, a := range append(slices.Clone(o.Command[:min(1, len(o.Command))]), o.arguments(t)...) {
		k.str(a)
	}
	k.num(len(o.Env))
	for _, e := range o.Env {
		k.str(e[0])
		k.str(e[1])
	}
	k.str(o.Dir)
	k.num(o.MaxRunning)
}

func (k *key) http(o *HTTP, t Target) {
	k.str(o.Scheme)
	k.str(o.Method)
	k.str(o.Path)
	k.str(o.effectiveHost(t))
	k.str(o.serverName(t))
	k.num(len(o.Headers))
	for _, h := range o.Headers {
		k.str(h[0])
		k.str(h[1])
	}
	k.str(o.Body)
	k.num(len(o.Status))
	for _, s := range o.Status {
		k.num(s.Low)
		k.num(s.High)
	}
	k.str(o.ExpectBody)
	k.flag(o.ExpectBodyRegex != nil)
	if o.ExpectBodyRegex != nil {
		k.str(o.ExpectBodyRegex.String())
	}
	k.num(o.Redirects)
	k.num(int(o.RedirectTo))
	k.str(o.Version)
	k.flag(o.Verify)
	k.flag(o.OwnAgent)
	if !o.OwnAgent {
		k.str(o.UserAgent)
	}
	for _, s := range []string{o.CAFile, o.CertFile, o.KeyFile, o.Username, o.PasswordFile} {
		k.str(s)
	}
}
