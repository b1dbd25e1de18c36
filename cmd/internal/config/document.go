package config

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// maxAliased bounds the values that aliases add to those of a file.
const maxAliased = 1 << 18

// maxKeys bounds one map, since the YAML library looks for repeated keys in
// time quadratic in their number.
const maxKeys = 10_000

// parse reads the one YAML document of the file. It returns nil after a
// problem; the node is a map, acyclic, and of bounded size with its aliases
// written out.
func (r *reader) parse(data []byte) *yaml.Node {
	if line := binaryLine(data); line > 0 {
		r.fail(field{line: line}, "the configuration is a YAML file in UTF-8", "is not a text file")
		return nil
	}
	decoder := yaml.NewDecoder(bytes.NewReader(bytes.TrimPrefix(data, []byte("\uFEFF"))))
	var document yaml.Node
	if err := decoder.Decode(&document); errors.Is(err, io.EOF) {
		return &yaml.Node{Kind: yaml.MappingNode}
	} else if err != nil {
		r.syntax(data, err)
		return nil
	}
	var second yaml.Node
	if err := decoder.Decode(&second); err == nil {
		r.fail(field{line: second.Line}, "keep everything in one document, without a line ---", "a second YAML document")
		return nil
	} else if !errors.Is(err, io.EOF) {
		r.syntax(data, err)
		return nil
	}
	return r.root(document.Content[0])
}

// root checks that a document is a map which is safe to walk.
func (r *reader) root(node *yaml.Node) *yaml.Node {
	sizer := sizer{sizes: map[*yaml.Node]int{}}
	total, err := sizer.size(node)
	switch {
	case err != nil:
		r.fail(field{line: err.line}, err.hint, "%s", err.message)
		return nil
	case total-len(sizer.sizes) > maxAliased:
		r.fail(field{line: node.Line}, "use fewer aliases", "its aliases stand for more than %d values", maxAliased)
		return nil
	case isNull(node):
		return &yaml.Node{Kind: yaml.MappingNode}
	case node.Kind != yaml.MappingNode:
		r.fail(field{line: node.Line}, `the file is a map of keys such as "zones:"`, "%s where the settings belong", describe(node))
		return nil
	}
	return node
}

// binaryLine gives the line of the first byte that no YAML file holds (YAML
// 1.2 §5.1), or 0.
func binaryLine(data []byte) int {
	for i := 0; i < len(data); {
		c, size := utf8.DecodeRune(data[i:])
		control := c < ' ' && c != '\t' && c != '\n' && c != '\r' || c >= 0x7f && c < 0xa0 && c != 0x85
		if c == utf8.RuneError && size == 1 || control || c == 0xfffe || c == 0xffff {
			return lineAt(data, i)
		}
		i += size
	}
	return 0
}

// lineAt gives the line of an offset.
func lineAt(data []byte, offset int) int {
	return 1 + bytes.Count(data[:offset], []byte("\n"))
}

// syntax reports an error of the YAML library, which names the line in its
// text: mostly the right one, none for the first, and one too low where its
// grammar, not its scanner, found the error.
func (r *reader) syntax(data []byte, err error) {
	message := strings.TrimPrefix(err.Error(), "yaml: ")
	line := 1
	hint := `check the indentation and brackets from this line on; quote values such as "[::1]:53"`
	if m := regexp.MustCompile(`^(?:unmarshal errors:\s*)?line (\d+): `).FindStringSubmatch(message); m != nil {
		line, _ = strconv.Atoi(m[1])
		message = message[len(m[0]):]
		if isGrammar(message) {
			line = min(line+1, 1+bytes.Count(data, []byte("\n")))
		}
	}
	blank := blankHint(near(data, line))
	switch {
	case blank != "":
		hint = blank
	case strings.Contains(message, "cannot start any token"):
		hint = "quote the value; indent with spaces, not tabs"
	case strings.Contains(message, "incompatible YAML document"):
		hint = "leave out the line %YAML"
	case strings.HasPrefix(message, "unknown anchor '"):
		name := strings.Split(message, "'")[1]
		line = lineAt(data, max(0, bytes.Index(data, []byte("*"+name))))
		hint = "define it above with &" + name + `; a text that begins with * needs quotes`
	}
	r.fail(field{line: line}, hint, "not valid YAML: %s", shownText(message))
}

// isGrammar tells the messages of the library's grammar from its scanner's.
func isGrammar(message string) bool {
	for _, found := range []string{"<stream-start>", "<document start>", "node content", "'-' indicator", "key", "',' or ']'", "',' or '}'"} {
		if message == "did not find expected "+found {
			return true
		}
	}
	return strings.HasPrefix(message, "found undefined tag handle")
}

// structureError is an alias or a map that cannot be worked with.
type structureError struct {
	line          int
	message, hint string
}

// sizer counts the nodes of a document with aliases written out, in time
// linear in the document as it stands.
type sizer struct {
	sizes map[*yaml.Node]int // -1 while a node is being counted
}

func (s *sizer) size(node *yaml.Node) (int, *structureError) {
	if known, ok := s.sizes[node]; ok {
		if known < 0 {
			return 0, &structureError{node.Line, fmt.Sprintf("the anchor %q contains itself", node.Anchor), "write the value out"}
		}
		return known, nil
	}
	if n := len(node.Content) / 2; node.Kind == yaml.MappingNode && n > maxKeys {
		return 0, &structureError{node.Line, fmt.Sprintf("a map of %d keys", n), fmt.Sprintf("at most %d", maxKeys)}
	}
	s.sizes[node] = -1
	total := 1
	children := node.Content
	if node.Kind == yaml.AliasNode {
		children = []*yaml.Node{node.Alias}
	}
	for _, child := range children {
		n, err := s.size(child)
		if err != nil {
			return 0, err
		}
		total = min(total+n, 1<<29)
	}
	s.sizes[node] = total
	return total, nil
}
