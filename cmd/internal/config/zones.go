package config

import (
	"fmt"
	"strings"

	"gslbd/zone"

	"go.yaml.in/yaml/v3"
)

const zoneForm = "- { name: gslb.example.com, file: gslb.example.com.zone }"

// zones stores the list of zones, names in lower case without the final dot.
func zones(dst *[]zone.Source) setter {
	return func(r *reader, f field) {
		if f.node.Kind != yaml.SequenceNode {
			r.fail(f, "zones: followed by lines such as "+zoneForm, "%s where a list of zones belongs", describe(f.node))
			return
		}
		if len(f.node.Content) == 0 {
			r.fail(f, zoneForm, "no zones")
		}
		first := map[string]int{}
		for _, item := range r.list(f) {
			z, ok := r.zone(item)
			if !ok {
				continue
			}
			if line, double := first[z.Name]; double {
				r.fail(item, "keep one of them", "zone %s is repeated; first given on line %d", z.Name, line)
				continue
			}
			first[z.Name] = item.line
			r.note(field{path: fmt.Sprintf("zones[%d].file", len(*dst)), line: r.seen["zones.file"]})
			*dst = append(*dst, z)
		}
	}
}

// zone reads one item of the list.
func (r *reader) zone(f field) (zone.Source, bool) {
	var z zone.Source
	if f.node.Kind != yaml.MappingNode {
		r.fail(f, zoneForm, "%s where a zone belongs", describe(f.node))
		return z, false
	}
	given := r.section(f, []option{
		{name: "name", set: domain(&z.Name)},
		{name: "file", set: path(&z.File)},
	})
	for _, key := range []string{"name", "file"} {
		if _, ok := given[key]; !ok {
			r.fail(f, zoneForm, "a zone without %s", key)
		}
	}
	return z, z.Name != "" && z.File != ""
}

// domain stores a domain name in lower case, without the final dot.
func domain(dst *string) setter {
	return func(r *reader, f field) {
		s, ok := r.scalar(f, "a domain name")
		if !ok {
			return
		}
		name := strings.ToLower(s)
		if name != "." {
			name = strings.TrimSuffix(name, ".")
		}
		if fault, hint := domainFault(name); fault != "" {
			r.fail(f, hint, "%s is not a domain name: %s", quote(s), fault)
			return
		}
		*dst = name
	}
}

// domainFault says what is wrong with a name without the final dot (RFC 1035
// §2.3.4), and how to mend it; "" if nothing is.
func domainFault(name string) (fault, hint string) {
	if name == "." {
		return "", ""
	}
	if len(name) > 253 {
		return "longer than 253 characters", "shorten it"
	}
	for label := range strings.SplitSeq(name, ".") {
		switch {
		case label == "":
			return "an empty label", "a name such as gslb.example.com"
		case len(label) > 63:
			return "a label longer than 63 characters", "shorten it"
		case strings.Trim(label, " \t\\\"();@$") != label || strings.ContainsAny(label, " \t\\\"();"):
			return "a character that no such name holds", "a name such as gslb.example.com"
		case !printable(label):
			return "a character outside ASCII", "write such labels in their xn-- form"
		}
	}
	return "", ""
}
