package config

import (
	"fmt"
	"strings"

	"gslbd/health/probe"

	"go.yaml.in/yaml/v3"
)

// headerValue stores a field value (RFC 9110 §5.5).
func headerValue(dst *string) setter {
	return func(r *reader, f field) {
		s, ok := r.scalar(f, "a header value")
		s = strings.Trim(s, " \t")
		switch {
		case !ok:
		case strings.IndexFunc(s, func(c rune) bool { return c < ' ' && c != '\t' || c == 0x7f }) >= 0:
			r.fail(f, "one line of text", "%s holds a control character", quote(s))
		case len(s) > maxPayload:
			r.fail(f, fmt.Sprintf("at most %d bytes", maxPayload), "%d bytes are too long", len(s))
		default:
			*dst = s
		}
	}
}

// headers stores request headers as they are written, in the order of the file.
func headers(dst *[][2]string) setter {
	return func(r *reader, f field) {
		if f.node.Kind == yaml.SequenceNode {
			r.fail(f, "headers: { X-Probe: gslbd }", "a list where a map of names and values belongs")
			return
		}
		for _, e := range r.entries(f) {
			name := e.key.Value
			at := field{path: f.path + "." + shown(name), line: e.key.Line, node: e.value}
			if e.name == "content-length" || e.name == "transfer-encoding" {
				r.fail(at, "leave it out; the probe sends what the body needs", "this header is not for a check to set")
				continue
			}
			if !isToken(name) {
				r.fail(at, "letters, digits and hyphens", "%s is not a header name", quote(name))
				continue
			}
			value := ""
			set := headerValue(&value)
			if e.name == "host" {
				set = hostPort(&value)
			}
			set(r, at)
			*dst = append(*dst, [2]string{name, value})
		}
	}
}

// isToken reports whether s is a token (RFC 9110 §5.6.2).
func isToken(s string) bool {
	return s != "" && strings.IndexFunc(s, func(c rune) bool {
		return !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.ContainsRune("!#$%&'*+-.^_`|~", c))
	}) < 0
}

// headerConflicts reports headers that have an option of their own which is
// set too, and those that the version forbids.
func (r *reader) headerConflicts(f field, h *probe.HTTP, given map[string]field) {
	for _, header := range h.Headers {
		at := field{path: f.path + ".headers." + shown(header[0]), line: r.seen[f.path+".headers"]}
		option := map[string]string{"host": "host", "user-agent": "user_agent", "authorization": "username"}[strings.ToLower(header[0])]
		if _, double := given[option]; double {
			r.fail(at, "keep one of them", "the option %s sets this header too", option)
		}
		if name := strings.ToLower(header[0]); h.Version == "2" && (name == "connection" || name == "upgrade") {
			r.fail(at, "leave it out, or choose version 1.1", "HTTP/2 does not allow this header (RFC 9113 section 8.2.2)")
		}
	}
}
