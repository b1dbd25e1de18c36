package zone

import (
	"bytes"
	"strings"

	"github.com/miekg/dns"
)

// maxName is the greatest length of a name in wire form, in octets (RFC 1035 §2.3.4).
const maxName = 255

// absolute gives the fully qualified form of a name as written in a file, in
// the file's case; equal names have equal forms but for case. The result is
// valid until dst is used again. The fault says what is wrong with the name.
func absolute(dst, word []byte, origin string) ([]byte, *fault) {
	dst = dst[:0]
	switch {
	case len(word) == 1 && word[0] == '@':
		return append(dst, origin...), nil
	case len(word) == 1 && word[0] == '.':
		return append(dst, '.'), nil
	case bytes.IndexByte(word, '"') >= 0 && unescapedQuote(word):
		return dst, &fault{"name " + quote(word) + " holds a quote", "names stand without quotes"}
	}
	dst = append(dst, word...)
	if !dotted(dst) {
		dst = append(dst, '.')
		if origin != "." {
			dst = append(dst, origin...)
		}
	}
	plain, problem := checkPlain(dst)
	if plain {
		if problem == "" {
			return dst, nil
		}
		return dst, badName(word, problem)
	}
	name, problem := normal(string(dst))
	if problem != "" {
		return dst, badName(word, problem)
	}
	return append(dst[:0], name...), nil
}

func badName(word []byte, problem string) *fault {
	return &fault{"bad name " + quote(word) + ": " + problem, "labels have 1 to 63 octets, names up to 255 with the origin"}
}

// checkPlain checks a fully qualified name that holds no escapes, blanks or
// octets beyond ASCII; plain is false for others.
func checkPlain(name []byte) (plain bool, problem string) {
	label := 0
	for _, b := range name {
		switch {
		case b == '.' && label == 0:
			problem = "empty label"
		case b == '.' && label > 63:
			problem = "label longer than 63 octets"
		case b == '.':
			label = 0
			continue
		case b <= ' ' || b == '\\' || b >= 0x7f:
			return false, ""
		}
		label++
	}
	if len(name)+1 > maxName && problem == "" {
		problem = "longer than 255 octets"
	}
	return true, problem
}

// normal gives the one spelling of a fully qualified name that may hold
// escapes, in the case in which it stands.
func normal(name string) (string, string) {
	var wire [maxName + 1]byte
	n, err := dns.PackDomainName(name, wire[:], 0, nil, false)
	if err != nil || n > maxName {
		return "", "not a domain name"
	}
	out, _, err := dns.UnpackDomainName(wire[:n], 0)
	if err != nil {
		return "", "not a domain name"
	}
	return out, ""
}

func unescapedQuote(word []byte) bool {
	for i := 0; i < len(word); i++ {
		switch word[i] {
		case '\\':
			i++
		case '"':
			return true
		}
	}
	return false
}

// dotted reports whether a name ends with a dot that is not escaped.
func dotted(name []byte) bool {
	n := len(name)
	return n > 0 && name[n-1] == '.' && !escaped(name, n-1)
}

// escaped reports whether an odd number of backslashes stands before name[i].
func escaped[T string | []byte](name T, i int) bool {
	odd := false
	for i--; i >= 0 && name[i] == '\\'; i-- {
		odd = !odd
	}
	return odd
}

// within reports whether a canonical name is zone or below it.
func within(name, zone string) bool {
	if zone == "." || name == zone {
		return true
	}
	cut := len(name) - len(zone) - 1
	return cut > 0 && name[cut] == '.' && strings.HasSuffix(name, zone) && !escaped(name, cut)
}

// parent gives the name one label up; "" above the root.
func parent(name string) string {
	if name == "." {
		return ""
	}
	for i := range len(name) {
		if name[i] == '.' && !escaped(name, i) {
			if i == len(name)-1 {
				return "."
			}
			return name[i+1:]
		}
	}
	return ""
}

// lower puts a name in canonical case (RFC 4034 §6.2), in place, and reports
// whether that changed it.
func lower(name []byte) bool {
	changed := false
	for i, b := range name {
		if 'A' <= b && b <= 'Z' {
			name[i] = b + 'a' - 'A'
			changed = true
		}
	}
	return changed
}
