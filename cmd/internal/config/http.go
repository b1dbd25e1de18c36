package config

import (
	"net"
	"net/netip"
	"net/url"
	"regexp"
	"runtime/debug"
	"strconv"
	"strings"

	"gslbd/health/probe"
)

// httpOptions is the table of type http.
func httpOptions(c *probe.Check) []option {
	h := &probe.HTTP{Scheme: "http", Method: "HEAD", Path: "/", Version: "1.1", Verify: true,
		Status: []probe.StatusRange{{Low: 200, High: 299}}, UserAgent: userAgent(), OwnAgent: true}
	c.HTTP = h
	return []option{
		{name: "scheme", set: choice(&h.Scheme, same("http", "https"))},
		{name: "port", set: port(&h.Port)},
		{name: "method", set: choice(&h.Method, same("HEAD", "GET", "POST"))},
		{name: "path", set: urlPath(&h.Path)},
		{name: "host", set: hostPort(&h.Host)},
		{name: "headers", set: headers(&h.Headers)},
		{name: "body", set: text(&h.Body, 64<<10)},
		{name: "status", set: statuses(&h.Status)},
		{name: "expect_body", set: text(&h.ExpectBody, maxPayload)},
		{name: "expect_body_regex", set: expression(&h.ExpectBodyRegex)},
		{name: "redirects", set: integer(&h.Redirects, 0, 10)},
		{name: "redirect_to", set: choice(&h.RedirectTo,
			[]word[probe.RedirectTo]{{"same-host", probe.SameHost}, {"any", probe.AnyHost}})},
		{name: "version", set: choice(&h.Version, []word[string]{{"1.0", "1.0"}, {"1.1", "1.1"}, {"2", "2"}})},
		{name: "verify", set: boolean(&h.Verify)},
		{name: "sni", set: hostName(&h.SNI)},
		{name: "ca_file", set: path(&h.CAFile)},
		{name: "cert_file", set: path(&h.CertFile)},
		{name: "key_file", set: path(&h.KeyFile)},
		{name: "user_agent", set: headerValue(&h.UserAgent)},
		{name: "username", set: text(&h.Username, 255)},
		{name: "password_file", set: path(&h.PasswordFile)},
	}
}

// userAgent is gslbd and the version that the go command stamped.
func userAgent() string {
	if info, ok := debug.ReadBuildInfo(); ok && strings.HasPrefix(info.Main.Version, "v") {
		return "gslbd/" + info.Main.Version
	}
	return "gslbd/devel"
}

// urlPath stores the path, and query, of the request line (RFC 9112 §3.2.1).
func urlPath(dst *string) setter {
	return func(r *reader, f field) {
		s, ok := r.scalar(f, "a path")
		switch {
		case !ok:
		case !strings.HasPrefix(s, "/"):
			r.fail(f, quote("/"+s), "%s does not begin with /", quote(s))
		case !printable(s):
			r.fail(f, "percent-encode it: a space is %20", "%s holds a space or a character outside ASCII", quote(s))
		case strings.Contains(s, "#"):
			r.fail(f, "leave out the part after #, which is never sent", "%s holds a fragment", quote(s))
		case len(s) > 2048:
			r.fail(f, "at most 2048 bytes", "%d bytes are too long", len(s))
		default:
			if _, err := url.ParseRequestURI(s); err != nil {
				r.fail(f, "% and two hexadecimal digits; a percent sign itself is %25", "%s holds a bad escape", quote(s))
				return
			}
			*dst = s
		}
	}
}

// hostName stores a host name or an IP address for the server name indication
// (RFC 6066 §3).
func hostName(dst *string) setter {
	return func(r *reader, f field) {
		s, ok := r.scalar(f, "a host name")
		if !ok {
			return
		}
		if fault, hint := hostFault(s); fault != "" {
			r.fail(f, hint, "%s is not a host name: %s", quote(s), fault)
			return
		}
		*dst = strings.TrimSuffix(s, ".")
	}
}

// hostPort stores what a Host header says: a name or an address, and perhaps a
// port (RFC 9110 §7.2).
func hostPort(dst *string) setter {
	return func(r *reader, f field) {
		s, ok := r.scalar(f, "a host name")
		if !ok {
			return
		}
		host, service, err := net.SplitHostPort(s)
		if err != nil || strings.Contains(s, "/") {
			hostName(dst)(r, f)
			if addr, err := netip.ParseAddr(*dst); err == nil && addr.Is6() {
				*dst = "[" + *dst + "]"
			}
			return
		}
		if fault, hint := hostFault(host); fault != "" {
			r.fail(f, hint, "%s is not a host name: %s", quote(host), fault)
			return
		}
		if n, err := strconv.ParseUint(service, 10, 16); err != nil || n == 0 {
			r.fail(f, "1 to 65535", "%s: port %s is out of range", quote(s), quote(service))
			return
		}
		*dst = s
	}
}

// hostFault says what is wrong with a host name or an IP address, and how to
// mend it; "" if nothing is.
func hostFault(s string) (fault, hint string) {
	if _, err := netip.ParseAddr(s); err == nil {
		return "", ""
	}
	name := strings.TrimSuffix(s, ".")
	if strings.ContainsAny(name, ":/[]") {
		return "more than a name", "the name alone; path and scheme have their own keys"
	}
	if name == "" {
		return "it is empty", "a name such as www.example.com"
	}
	if fault, hint = domainFault(name); fault == "" && !regexp.MustCompile(`^[A-Za-z0-9_.-]+$`).MatchString(name) {
		return "a character that no such name holds", "letters, digits, hyphens and dots"
	}
	return fault, hint
}

// statuses stores the accepted statuses: 301, "2xx", "200-399".
func statuses(dst *[]probe.StatusRange) setter {
	return func(r *reader, f field) {
		var ranges []probe.StatusRange
		for _, item := range r.list(f) {
			s, ok := r.scalar(item, "a status")
			if !ok {
				return
			}
			for _, one := range strings.Split(s, ",") {
				status, ok := parseStatus(strings.TrimSpace(one))
				if !ok {
					r.fail(item, `statuses from 100 to 599, as in [ 2xx, 301, "400-403" ]`, "%s is not a status", quote(one))
					return
				}
				ranges = append(ranges, status)
			}
		}
		if len(ranges) == 0 {
			r.fail(f, "leave it out for 2xx", "an empty list accepts no status")
			return
		}
		*dst = ranges
	}
}

func parseStatus(s string) (probe.StatusRange, bool) {
	if len(s) == 3 && s[0] >= '1' && s[0] <= '5' && strings.EqualFold(s[1:], "xx") {
		low := int(s[0]-'0') * 100
		return probe.StatusRange{Low: low, High: low + 99}, true
	}
	from, to, isRange := strings.Cut(s, "-")
	if !isRange {
		to = from
	}
	low, err1 := strconv.Atoi(strings.TrimSpace(from))
	high, err2 := strconv.Atoi(strings.TrimSpace(to))
	ok := err1 == nil && err2 == nil && low >= 100 && low <= high && high <= 599
	return probe.StatusRange{Low: low, High: high}, ok
}

// expression stores a compiled regular expression.
func expression(dst **regexp.Regexp) setter {
	return func(r *reader, f field) {
		var s string
		if text(&s, maxPayload)(r, f); s == "" {
			return
		}
		re, err := regexp.Compile(s)
		if err != nil {
			r.fail(f, "the syntax is that of https://pkg.go.dev/regexp/syntax", "%s",
				strings.TrimPrefix(err.Error(), "error parsing regexp: "))
			return
		}
		*dst = re
	}
}

// finishHTTP fills in what depends on other options and reports those that
// contradict each other.
func finishHTTP(r *reader, f field, c *probe.Check, given map[string]field) {
	h := c.HTTP
	if _, ok := given["user_agent"]; ok {
		h.OwnAgent = false
	}
	if h.Port == 0 {
		h.Port = 80
		if h.Scheme == "https" {
			h.Port = 443
		}
	}
	for _, key := range []string{"expect_body", "expect_body_regex"} {
		if at, ok := given[key]; ok && h.Method == "HEAD" {
			r.fail(at, "method: GET", "a HEAD response has no body, so this can never match")
		}
	}
	if at, ok := given["body"]; ok && h.Method != "POST" {
		r.fail(at, "method: POST", "a %s request has no body", h.Method)
	}
	if at, ok := given["redirect_to"]; ok && h.Redirects == 0 {
		r.warn(at, "redirects: 1 or more", "has no effect, since redirects is 0")
	}
	for _, key := range []string{"sni", "ca_file", "cert_file", "key_file"} {
		if at, ok := given[key]; ok && h.Scheme == "http" && h.Redirects == 0 {
			r.warn(at, "scheme: https", "has no effect with scheme http")
		}
	}
	if at, ok := given["verify"]; ok && !h.Verify && h.Scheme == "http" && h.Redirects == 0 {
		r.warn(at, "scheme: https", "has no effect with scheme http")
	}
	r.pair(given, "cert_file", "key_file")
	r.pair(given, "username", "password_file")
	if at, ok := given["username"]; ok && strings.Contains(h.Username, ":") {
		r.fail(at, "RFC 7617 allows none", "a user name with a colon")
	}
	r.headerConflicts(f, h, given)
	r.credentials(h, given)
}

// pair reports one of two keys that stands without the other.
func (r *reader) pair(given map[string]field, one, other string) {
	a, hasOne := given[one]
	b, hasOther := given[other]
	switch {
	case hasOne && !hasOther:
		r.fail(a, "add "+other, "%s without %s", one, other)
	case hasOther && !hasOne:
		r.fail(b, "add "+one, "%s without %s", other, one)
	}
}
