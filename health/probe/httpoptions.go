package probe

import (
	"bytes"
	"context"
	"encoding/base64"
	"fmt"
	"net"
	"net/textproto"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/net/http/httpguts"
)

// fill gives zero options their defaults and refuses what cannot be sent.
func (o *HTTP) fill() error {
	for _, d := range []struct {
		option *string
		values [3]string // the default first
	}{
		{&o.Scheme, [3]string{"http", "https"}},
		{&o.Method, [3]string{"HEAD", "GET", "POST"}},
		{&o.Version, [3]string{"1.1", "1.0", "2"}},
	} {
		if *d.option == "" {
			*d.option = d.values[0]
		}
		if v := d.values; *d.option != v[0] && *d.option != v[1] && *d.option != v[2] {
			return fmt.Errorf("%s is not one of %s", quote(*d.option), strings.TrimSpace(strings.Join(v[:], " ")))
		}
	}
	if o.Path == "" {
		o.Path = "/"
	}
	if len(o.Status) == 0 {
		o.Status = []StatusRange{{200, 299}}
	}
	return nil
}

// effectiveHost is what the Host header says: the option, else a configured
// Host header, else the owner name, else the address.
func (o *HTTP) effectiveHost(t Target) string {
	if o.Host != "" {
		return o.Host
	}
	for _, h := range o.Headers {
		if strings.EqualFold(h[0], "Host") {
			return h[1]
		}
	}
	name := t.askedName()
	if t.Name == "" && t.Addr.Unmap().Is6() {
		name = "[" + name + "]"
	}
	return name
}

// serverName is the name sent as SNI and looked for in the certificate.
func (o *HTTP) serverName(t Target) string {
	if o.SNI != "" {
		return o.SNI
	}
	return hostName(o.effectiveHost(t))
}

// hostName strips port, brackets and the final dot from a Host value.
func hostName(host string) string {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	return strings.TrimSuffix(strings.Trim(host, "[]"), ".")
}

// requestFields are the header fields of a request to the member, credentials
// of username excepted.
func (o *HTTP) requestFields(host string) ([][2]string, error) {
	if host == "" || !httpguts.ValidHostHeader(host) {
		return nil, fmt.Errorf("host %s cannot be sent as a Host header (set host)", quote(host))
	}
	fields := make([][2]string, 0, len(o.Headers)+3)
	for _, h := range o.Headers {
		name := textproto.CanonicalMIMEHeaderKey(h[0])
		if !httpguts.ValidHeaderFieldName(name) || !httpguts.ValidHeaderFieldValue(h[1]) {
			return nil, fmt.Errorf("header %s cannot be sent", quote(h[0]+": "+h[1]))
		}
		switch {
		case name == "Host":
			continue
		case name == "Content-Length", name == "Transfer-Encoding",
			o.Version == "2" && (name == "Connection" || name == "Upgrade"):
			return nil, fmt.Errorf("header %s is not for a check to set", name)
		}
		fields = append(fields, [2]string{name, h[1]})
	}
	if !httpguts.ValidHeaderFieldValue(o.UserAgent) {
		return nil, fmt.Errorf("user_agent %s cannot be sent", quote(o.UserAgent))
	}
	defaults := [][2]string{{"User-Agent", o.UserAgent}, {"Accept", "*/*"}}
	if o.Version == "1.1" {
		defaults = append(defaults, [2]string{"Connection", "close"})
	}
	for _, d := range defaults {
		if d[1] != "" && !slices.ContainsFunc(fields, func(f [2]string) bool { return f[0] == d[0] }) {
			fields = append(fields, d)
		}
	}
	return fields, nil
}

// authorization reads the password at every try, so that a rotated one works
// without a reload.
func (p *httpProber) authorization(ctx context.Context) (string, *failure) {
	o := &p.opts
	if o.Username == "" {
		return "", nil
	}
	var password string
	var err error
	if o.PasswordFile != "" && !p.turns.do(ctx, func() { password, err = p.password(o.PasswordFile) }) {
		return "", fault("password_file: not read in %s", p.timeout)
	}
	if err != nil {
		return "", fault("password_file: %s", err)
	}
	pair := o.Username + ":" + strings.TrimRight(password, "\r\n")
	return "Basic " + base64.StdEncoding.EncodeToString([]byte(pair)), nil
}

func readPassword(path string) (string, error) {
	text, err := readFile(path, maxPassword)
	return string(text), err
}

func (o *HTTP) accepts(status int) bool {
	return slices.ContainsFunc(o.Status, func(s StatusRange) bool {
		return s.Low <= status && status <= s.High
	})
}

// judge decides by the last response.
func (o *HTTP) judge(r *reply) *failure {
	if !o.accepts(r.status) {
		switch {
		case o.Redirects > 0 && r.location != "":
			return failed("more than %d redirect%s", o.Redirects, plural(o.Redirects))
		case o.Redirects > 0 && redirectStatus(r.status):
			return failed("status %03d without Location, want %s", r.status, statusText(o.Status))
		}
		return failed("status %03d, want %s", r.status, statusText(o.Status))
	}
	where := ""
	if r.cut {
		where = " in its first 64 KiB"
	}
	if o.ExpectBody != "" && !bytes.Contains(r.body, []byte(o.ExpectBody)) {
		return failed("body does not contain %s%s", quote(o.ExpectBody), where)
	}
	if o.ExpectBodyRegex != nil && !o.ExpectBodyRegex.Match(r.body) {
		return failed("body does not match %s%s", quote(o.ExpectBodyRegex.String()), where)
	}
	return nil
}

func plural(n int) string {
	if n == 1 {
		return ""
	}
	return "s"
}

// maxStatuses is how many ranges a reason names.
const maxStatuses = 8

// statusText words ranges as they are configured: 2xx, 301, 200-399.
func statusText(ranges []StatusRange) string {
	words := make([]string, min(len(ranges), maxStatuses))
	for i, s := range ranges[:len(words)] {
		switch {
		case s.Low == s.High:
			words[i] = strconv.Itoa(s.Low)
		case s.Low%100 == 0 && s.High == s.Low+99:
			words[i] = strconv.Itoa(s.Low/100) + "xx"
		default:
			words[i] = fmt.Sprintf("%d-%d", s.Low, s.High)
		}
	}
	if more := len(ranges) - len(words); more > 0 {
		words = append(words, fmt.Sprintf("one of %d more", more))
	}
	return strings.Join(words, " or ")
}
