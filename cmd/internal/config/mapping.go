package config

import (
	"strings"

	"go.yaml.in/yaml/v3"
)

// entry is one key of a map and its value, aliases resolved.
type entry struct {
	name       string // the key in lower case
	key, value *yaml.Node
}

// entries gives the keys of a map in the order of the file, those of merge
// keys (<<) last and only where the map itself has none of that name. A
// section without content is an empty map.
func (r *reader) entries(f field) []entry {
	m := merger{r: r, f: f, lines: map[string]int{}}
	switch {
	case isNull(f.node):
	case f.node.Kind != yaml.MappingNode:
		r.fail(f, "indent its keys below it", "%s where a map of keys belongs", describe(f.node))
	default:
		m.add(f.node, true)
	}
	return m.entries
}

// merger collects the entries of a map.
type merger struct {
	r       *reader
	f       field
	entries []entry
	lines   map[string]int // of the keys so far, by name
}

// add takes the keys of a map, then those of the maps that it merges. A key
// that stands there already is a mistake in the map itself (own), and
// overrides in one that is merged.
func (m *merger) add(node *yaml.Node, own bool) {
	var merged []*yaml.Node
	within := map[string]bool{}
	for i := 0; i+1 < len(node.Content); i += 2 {
		key, value := target(node.Content[i]), target(node.Content[i+1])
		if key.Kind != yaml.ScalarNode {
			m.r.fail(field{path: m.f.path, line: key.Line}, "a key is a plain word", "%s as a key", describe(key))
			continue
		}
		if key.ShortTag() == "!!merge" {
			merged = append(merged, value)
			continue
		}
		e := entry{strings.ToLower(key.Value), key, value}
		line, double := m.lines[e.name]
		if double && (own || within[e.name]) {
			m.r.fail(m.f.at(e), "keep one of them", "repeated; first given on line %d", line)
		}
		if !double {
			m.lines[e.name] = key.Line
			m.entries = append(m.entries, e)
		}
		within[e.name] = true
	}
	for _, value := range merged {
		m.merge(value)
	}
}

// merge adds the keys of a merge value: a map or a list of maps, the first of
// which wins.
func (m *merger) merge(value *yaml.Node) {
	maps := []*yaml.Node{value}
	if value.Kind == yaml.SequenceNode {
		maps = value.Content
	}
	for _, node := range maps {
		if node = target(node); node.Kind == yaml.MappingNode {
			m.add(node, false)
			continue
		}
		m.r.fail(field{path: m.f.path, line: node.Line}, "<<: takes an alias of a map, or a list of them",
			"%s cannot be merged", describe(node))
	}
}

// named reads a map whose keys are names chosen by the operator and calls each
// for every one that is well formed.
func (r *reader) named(f field, what string, each func(name string, at field)) {
	for _, e := range r.entries(f) {
		if !isName(e.name) {
			r.fail(f.at(e), nameHint, "%q is not a name for a %s", e.key.Value, what)
			continue
		}
		each(e.name, f.at(e))
	}
}

// nameHint says what isName accepts.
const nameHint = "letters, digits and hyphens, the first not a hyphen"

// isName reports whether a lower-case name can stand in an annotation.
func isName(name string) bool {
	for i, c := range name {
		if !(c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c == '-' && i > 0) {
			return false
		}
	}
	return name != ""
}

// target follows aliases; a parsed document has no cycle of them.
func target(node *yaml.Node) *yaml.Node {
	for node.Kind == yaml.AliasNode {
		node = node.Alias
	}
	return node
}

// isNull reports whether a value is absent: "key:" or null.
func isNull(node *yaml.Node) bool {
	return node.Kind == yaml.ScalarNode && node.ShortTag() == "!!null"
}
