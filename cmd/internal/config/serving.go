package config

import (
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"gslbd/zone"
)

const (
	minUDP      = 512  // bytes that every client takes (RFC 1035 §2.3.4)
	maxUDP      = 4096 // bytes of the longest reply that is ever sent over UDP
	maxTextByte = 255  // bytes of one text in a TXT record, and of an NSID here
	maxSecrets  = 2    // one to make cookies, one that is on its way in or out
)

// DNS says how queries are answered beside what zones say. All of it takes
// effect at a reload.
type DNS struct {
	UDPSize              int // bytes of the longest reply over UDP, and announced, 512–4096
	UDPSizeWithoutCookie int // the same for clients without a cookie of ours, 512–4096; 0 = no difference
	Cookies              bool
	CookieSecretFile     string   // "" = a secret made at the start
	CookieSecrets        []Secret // what that file holds: 1 or 2, the first makes
	NSID                 string   // at most 255 bytes; "" = none
	Version              bool     // answer version.bind and version.server
	Hostname             bool     // answer hostname.bind
	ID                   bool     // answer id.server
	RefuseANY            bool     // REFUSED instead of HINFO (RFC 8482)
}

// Secret is one from which server cookies are made (RFC 9018). It prints as
// nothing but the word.
type Secret [16]byte

// Format hides the bytes from every verb.
func (Secret) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, "(secret)") }

// serving is the table of the section dns.
func serving(c *Config) []option {
	d := &c.DNS
	return []option{
		{name: "udp_size", set: integer(&d.UDPSize, minUDP, maxUDP), env: true},
		{name: "udp_size_without_cookie", set: sizeOrNone(&d.UDPSizeWithoutCookie), env: true},
		{name: "cookies", set: boolean(&d.Cookies), env: true},
		{name: "cookie_secret_file", set: secrets(d), env: true},
		{name: "nsid", set: optional(&c.nsid, maxTextByte), env: true},
		{name: "version", set: boolean(&d.Version), env: true},
		{name: "hostname", set: boolean(&d.Hostname), env: true},
		{name: "id", set: boolean(&d.ID), env: true},
		{name: "any", set: choice(&d.RefuseANY, []word[bool]{{"hinfo", false}, {"refuse", true}}), env: true},
	}
}

// sizeOrNone stores a size of UDP replies, or 0.
func sizeOrNone(dst *int) setter {
	return func(r *reader, f field) {
		n := 0
		if integer(&n, 0, maxUDP)(r, f); n > 0 && n < minUDP {
			r.fail(f, fmt.Sprintf("%d to %d, or 0 for no difference", minUDP, maxUDP), "%d is out of range", n)
			return
		}
		*dst = n
	}
}

// optional stores a text whose absence is not the same as "".
func optional(dst **string, max int) setter {
	return func(r *reader, f field) {
		s := ""
		text(&s, max)(r, f)
		*dst = &s
	}
}

// secrets stores the name of the file of cookie secrets and what it holds.
func secrets(d *DNS) setter {
	return func(r *reader, f field) {
		var file string
		path(&file)(r, f)
		if _, err := os.Stat(file); err != nil && isSecret(filepath.Base(file)) { // not told as a missing file: its name is not to be shown
			r.fail(f, "write it into a file that only gslbd can read, and name that file here", "a cookie secret itself where the name of its file belongs")
			return
		}
		data, ok := r.content(f, file)
		if !ok {
			return
		}
		if info, err := os.Stat(file); err == nil && info.Mode().Perm()&0o007 != 0 {
			r.warn(f, "chmod o= "+file, "%s: every user of this machine may use the cookie secrets", file)
		}
		d.CookieSecretFile, d.CookieSecrets = file, r.secretLines(file, string(data))
	}
}

// isSecret reports whether s could be a cookie secret.
func isSecret(s string) bool {
	b, err := hex.DecodeString(s)
	return err == nil && len(b) == len(Secret{})
}

// secretLines reads one secret from each line. No message shows any of it.
func (r *reader) secretLines(file, text string) (list []Secret) {
	fail := func(line int, message string) {
		r.problems = append(r.problems, zone.Problem{File: file, Line: line, Severity: zone.Error, Message: message,
			Hint: "one line of 32 hexadecimal digits, or two while secrets are changed; `openssl rand -hex 16` makes one"})
	}
	for i, line := range strings.Split(text, "\n") {
		digits := strings.TrimSpace(line)
		if digits == "" {
			continue
		}
		secret, err := hex.DecodeString(digits)
		switch {
		case len(list) == maxSecrets:
			fail(i+1, "a third cookie secret")
			return nil
		case err != nil || len(secret) != len(Secret{}):
			fail(i+1, "not a cookie secret")
			return nil
		case len(list) == 1 && list[0] == Secret(secret):
			fail(i+1, "the same cookie secret again")
			return nil
		}
		list = append(list, Secret(secret))
	}
	if len(list) == 0 {
		fail(1, "no cookie secret")
	}
	return list
}

// completeServing fills in what depends on other settings.
func (r *reader) completeServing(c *Config) {
	d := &c.DNS
	d.NSID = c.Node
	if c.nsid != nil {
		d.NSID = *c.nsid
	}
	at := func(path string) field { return field{path: path, line: r.seen[path]} }
	if d.UDPSizeWithoutCookie > d.UDPSize {
		r.warn(at("dns.udp_size_without_cookie"), "make it smaller than udp_size, or leave it out", "has no effect: udp_size is %d", d.UDPSize)
	}
	if d.UDPSizeWithoutCookie > 0 && !d.Cookies {
		r.warn(at("dns.udp_size_without_cookie"), "set udp_size, or cookies: true", "holds for every client, as cookies are off")
	}
	if d.CookieSecretFile != "" && !d.Cookies {
		r.warn(at("dns.cookie_secret_file"), "leave it out, or set cookies: true", "has no effect: cookies are off")
	}
}
