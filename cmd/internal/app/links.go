package app

import (
	"os"
	"path/filepath"
	"strings"
)

// step is one directory entry on the way to a file: the file itself, or a
// symbolic link that leads to it.
type step struct{ dir, name string }

func (s step) path() string { return filepath.Join(s.dir, s.name) }

// maxLinks ends loops of links, as the kernel does (path_resolution(7)).
const maxLinks = 40

// steps lists the entries whose replacement changes what file means: links on
// the way (to a release directory, of a mounted ConfigMap), its directory, and
// the file itself. Directories further up are left out: they may be busy ones.
func steps(file string) []step {
	abs, err := filepath.Abs(file)
	if err != nil {
		return nil
	}
	var found []step
	dir, rest := string(filepath.Separator), parts(abs)
	for links := 0; len(rest) > 0; {
		s := step{dir, rest[0]}
		rest = rest[1:]
		target, err := os.Readlink(s.path())
		switch {
		case err != nil && len(rest) == 0:
			found = append(found, s)
		case err != nil && len(rest) == 1 && s.name != ".." && rest[0] != "..":
			found = append(found, s)
			dir = s.path()
		case err != nil:
			dir = s.path()
		default:
			if links++; links > maxLinks {
				return found
			}
			found = append(found, s)
			if filepath.IsAbs(target) {
				dir = string(filepath.Separator)
			}
			rest = append(parts(target), rest...)
		}
	}
	return found
}

// parts splits a path into names; ".." stays, since it is a step of its own.
func parts(path string) []string {
	return strings.FieldsFunc(path, func(r rune) bool { return r == filepath.Separator })
}
