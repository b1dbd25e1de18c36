package config

import (
	"time"

	"gslbd/health/probe"
)

// fileOptions is the table of type file.
func fileOptions(c *probe.Check) []option {
	c.File = &probe.File{}
	return []option{
		{name: "path", set: path(&c.File.Path)},
		{name: "max_age", set: duration(&c.File.MaxAge, 0, 365*24*time.Hour)},
	}
}

// finishFile holds that there is a path. The file itself may come later.
func finishFile(r *reader, f field, _ *probe.Check, given map[string]field) {
	if _, ok := given["path"]; !ok {
		r.fail(f, "add path: and the file that holds the states", "a check of type file without path")
	}
	r.sourceless(given)
}

// sourceless reports a source address of a check that connects to nothing.
func (r *reader) sourceless(given map[string]field) {
	if at, ok := given["source"]; ok {
		r.warn(at, "leave it out", "has no effect, since gslbd itself does not connect")
	}
}
