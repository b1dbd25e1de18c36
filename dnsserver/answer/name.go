package answer

import (
	"errors"
	"fmt"

	"gslbd/dnsserver/wire"
)

// appendName appends the wire form of a fully qualified name in presentation
// form (RFC 1035 §5.1), its case kept.
func appendName(b []byte, text string) ([]byte, error) {
	start := len(b)
	if text == "" {
		return b, errors.New("name is empty")
	}
	if text != "." {
		var err error
		if b, err = appendLabels(b, text); err != nil {
			return b, err
		}
	}
	b = append(b, 0)
	if len(b)-start > wire.MaxName {
		return b, fmt.Errorf("name %q is longer than %d bytes", text, wire.MaxName)
	}
	return b, nil
}

// appendLabels appends labels that end with a dot each, without the root.
func appendLabels(b []byte, text string) ([]byte, error) {
	at := len(b)
	b = append(b, 0)
	for i := 0; i < len(text); i++ {
		c := text[i]
		if c == '.' {
			size := len(b) - at - 1
			if size == 0 || size > 63 {
				return b, fmt.Errorf("name %q has a label of %d bytes", text, size)
			}
			b[at] = byte(size)
			at = len(b)
			c = 0
		} else if c == '\\' {
			i++
			switch {
			case i+2 < len(text) && digits(text[i:i+3]):
				c = byte(int(text[i]-'0')*100 + int(text[i+1]-'0')*10 + int(text[i+2]-'0'))
				i += 2
			case i < len(text):
				c = text[i]
			}
		}
		b = append(b, c)
	}
	if len(b)-at != 1 {
		return b, fmt.Errorf("name %q does not end with a dot", text)
	}
	return b[:at], nil
}

func digits(s string) bool {
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return true
}

// lower makes a name in wire form lower case, in place.
func lower(name []byte) []byte {
	for i, c := range name {
		name[i] = wire.Lower(c)
	}
	return name
}
