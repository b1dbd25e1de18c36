package config

import (
	"errors"
	"io/fs"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"

	"gslbd/health/probe"

	"go.yaml.in/yaml/v3"
)

// execOptions is the table of type exec.
func execOptions(c *probe.Check) []option {
	e := &probe.Exec{MaxRunning: 16}
	c.Exec = e
	return []option{
		{name: "command", set: command(&e.Command)},
		{name: "env", set: environ(&e.Env)},
		{name: "max_running", set: integer(&e.MaxRunning, 1, 1000)},
	}
}

// command stores a program and its arguments: a list, or the program alone.
func command(dst *[]string) setter {
	return func(r *reader, f field) {
		if f.node.Kind == yaml.ScalarNode && strings.ContainsAny(f.node.Value, " \t") {
			r.fail(f, `a list, as in [ check-it, "-H", "{address}" ]; there is no shell`, "%s is one word", quote(f.node.Value))
			return
		}
		words := []string{}
		for _, item := range r.list(f) {
			if item.node.Kind == yaml.MappingNode {
				r.fail(item, `quote it, as in "{address}"`, "a map where an argument belongs")
				return
			}
			word := argument{}
			if word.read(r, item, len(words) == 0); !word.ok {
				return
			}
			words = append(words, word.text)
		}
		if len(words) == 0 {
			r.fail(f, `a list, as in [ check-it, "-H", "{address}" ]`, "an empty command")
			return
		}
		*dst = words
	}
}

// argument is one word of a command.
type argument struct {
	text string
	ok   bool
}

var placeholder = regexp.MustCompile(`\{([a-z]+)\}`)

func (a *argument) read(r *reader, f field, program bool) {
	if !r.oneLine(f, &a.text) {
		return
	}
	for _, found := range placeholder.FindAllStringSubmatch(a.text, -1) {
		switch name := found[1]; name {
		case "address", "port", "name":
			if program {
				r.fail(f, "use it in an argument", "%s in the name of the program", found[0])
				return
			}
		default:
			if near := didYouMean(name, []string{"address", "port", "name"}); near != "" {
				r.warn(f, near, "%s is passed on as it stands", found[0])
			}
		}
	}
	if program && a.text == "" {
		r.fail(f, `a list, as in [ check-it, "-H", "{address}" ]`, "an empty name of a program")
		return
	}
	a.ok = true
}

// oneLine reads text that a process can be given.
func (r *reader) oneLine(f field, dst *string) bool {
	s, ok := r.scalar(f, "text")
	switch {
	case !ok:
	case strings.ContainsRune(s, 0):
		r.fail(f, "leave it out", "%s holds a zero byte", quote(s))
	case len(s) > maxPayload:
		r.fail(f, "at most 4096 bytes", "%d bytes are too long", len(s))
	default:
		*dst = s
		return true
	}
	return false
}

var variable = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// environ stores environment variables as they are written.
func environ(dst *[][2]string) setter {
	return func(r *reader, f field) {
		if f.node.Kind == yaml.SequenceNode {
			r.fail(f, "env: { LC_ALL: C }", "a list where a map of names and values belongs")
			return
		}
		for _, e := range r.entries(f) {
			name, value := e.key.Value, ""
			at := field{path: f.path + "." + shown(name), line: e.key.Line, node: e.value}
			if !variable.MatchString(name) {
				r.fail(at, "letters, digits and underscores, the first not a digit", "%s is not the name of a variable", quote(name))
				continue
			}
			if r.oneLine(at, &value) {
				*dst = append(*dst, [2]string{name, value})
			}
		}
	}
}

// finishExec resolves the program, which stands beside the configuration or is
// found in PATH. One that is not there may be installed before its first run.
func finishExec(r *reader, f field, c *probe.Check, given map[string]field) {
	r.sourceless(given)
	at, ok := given["command"]
	if !ok {
		r.fail(f, `add command: [ check-it, "-H", "{address}" ]`, "a check of type exec without command")
		return
	}
	e := c.Exec
	if len(e.Command) == 0 {
		return // reported where it was read
	}
	if strings.Contains(e.Command[0], "/") {
		e.Command[0] = absolute(r.resolve(e.Command[0]))
	}
	e.Dir = absolute(r.dir)
	if _, err := exec.LookPath(e.Command[0]); err != nil {
		var look *exec.Error
		if errors.As(err, &look) {
			err = look.Err
		}
		var path *fs.PathError
		if errors.As(err, &path) {
			err = path.Err
		}
		r.warn(at, "install it, or name it with its path", "%s cannot be run: %s", e.Command[0], err)
	}
}

// absolute gives a path that does not depend on the working directory.
func absolute(path string) string {
	if abs, err := filepath.Abs(path); err == nil {
		return abs
	}
	return path
}
