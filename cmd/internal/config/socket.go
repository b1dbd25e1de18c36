package config

import (
	"bytes"
	"path/filepath"
	"regexp"

	"gslbd/zone"
)

// Socket gives the path of the admin socket of the server that runs on a
// configuration, even when the file has mistakes by now: admin.socket where
// that can be read, else the default place. The file is found as by Load; the
// path is "" exactly when there is none. The problems are those of Load.
func Socket(file string) (path string, problems zone.Problems) {
	place, data, problems := find(places(file))
	if place == "" {
		return "", problems
	}
	if problems == nil {
		c, found := load(place, data)
		if c != nil {
			return c.Admin.Socket, found
		}
		problems = found
	}
	c := defaults(place)
	admin := settings(c)
	for i, o := range admin {
		if o.name == "admin" {
			admin = admin[i : i+1]
			break
		}
	}
	// What is wrong is told already, so this reader's problems are dropped.
	r := &reader{file: place, dir: filepath.Dir(place)}
	root := r.parse(data)
	if root == nil {
		root = r.parse(adminLines(data))
	}
	if root != nil {
		r.section(field{node: root, line: root.Line}, admin)
	}
	r.environment(nil, admin)
	return c.Admin.Socket, problems
}

// adminLines cuts the section admin out of a file that is no YAML elsewhere.
func adminLines(data []byte) []byte {
	at := regexp.MustCompile(`(?mi)^admin[ \t]*:`).FindIndex(data)
	if at == nil {
		return nil
	}
	section := data[at[0]:]
	for next := 0; ; {
		n := bytes.IndexByte(section[next:], '\n')
		if n < 0 {
			return section
		}
		next += n + 1
		if line := section[next:]; len(line) > 0 && !bytes.ContainsAny(line[:1], " \t\r\n#}") {
			return section[:next]
		}
	}
}
