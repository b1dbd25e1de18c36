package config

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"gslbd/health/probe"

	"go.yaml.in/yaml/v3"
)

// maxGlued is how many bytes of a text are searched for a key.
const maxGlued = 1000

// gluedKey finds "port:9201" at the start of a text or after a blank. URLs are none.
func gluedKey(text string) (key, value string, ok bool) {
	text = text[:min(len(text), maxGlued)]
	m := regexp.MustCompile(`(?:^|[\s{,])([A-Za-z_]+):([^\s/:,}]+)`).FindStringSubmatch(text)
	if m == nil || !slices.Contains(keyNames(), strings.ToLower(m[1])) {
		return "", "", false
	}
	return m[1], m[2], true
}

// keyNames lists every key that some section has.
func keyNames() []string {
	names := []string{"name", "file"}
	var add func(table []option)
	add = func(table []option) {
		for _, o := range table {
			names = append(names, o.name)
			add(o.sub)
		}
	}
	c := defaults("")
	add(settings(c))
	p := c.Policies["failover"]
	add(policyOptions(&p))
	for _, t := range checkTypes() {
		var check probe.Check
		add(append(commonOptions(&check, new(probe.Window)), t.options(&check)...))
	}
	return names
}

// blankHint says that a blank is missing after a colon, where that made a key
// or an unquoted value what it is; "" elsewhere.
func blankHint(text string) string {
	if key, value, ok := gluedKey(text); ok {
		return fmt.Sprintf("a blank is missing after the colon: write %s: %s", key, shown(value))
	}
	return ""
}

// plainText gives the text of an unquoted value which may hold a key: without
// its first word where that stands behind the key, as in host: name:80.
func plainText(f field) string {
	if f.node == nil || f.node.Kind != yaml.ScalarNode || f.node.Style != 0 || f.env != "" {
		return ""
	}
	if f.node.Line > f.line {
		return f.node.Value
	}
	_, rest, _ := strings.Cut(f.node.Value, " ")
	return rest
}

// near gives the line of a syntax error and the one before it.
func near(data []byte, line int) string {
	lines := bytes.Split(data, []byte("\n"))
	from, to := min(max(line-2, 0), len(lines)), min(max(line, 0), len(lines))
	return string(bytes.Join(lines[from:to], []byte("\n")))
}
