package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// rival is a server that is measured.
type rival struct {
	name    string // as in the tables, and of its folder in testdata/bench/servers
	program string // as in PATH
	debian  string // its package
	args    []string
	// oneLink: the answer to a CNAME's owner is the CNAME alone.
	oneLink bool
}

// rivals are the other servers. Their configurations give each one thread for
// UDP, and no query log, rate limit or anything else that costs time and can
// be left out; they start in the foreground.
func rivals() []rival {
	return []rival{
		{"NSD", "nsd", "nsd", []string{"-d", "-c", "{dir}/nsd.conf"}, false},
		{"Knot", "knotd", "knot", []string{"-c", "{dir}/knot.conf"}, false},
		{"gdnsd", "gdnsd", "gdnsd", []string{"-c", "{dir}", "start"}, true},
		{"BIND", "named", "bind9", []string{"-f", "-n", "1", "-c", "{dir}/named.conf"}, false},
		{"PowerDNS", "pdns_server", "pdns-server pdns-backend-bind", []string{"--config-dir={dir}"}, false},
	}
}

// ours is gslbd, built before.
func ours(program string) rival {
	return rival{"gslbd", program, "", []string{"serve", "-c", "{dir}/gslbd.yaml"}, false}
}

// configure copies the server's folder to dir, and gives its arguments. In
// all of them, and in the names of files, {dir}, {port}, {zone} (its name
// without final dot) and {file} (of the zone) are filled in.
func (r rival) configure(dir string, port int, zone, file string) (args []string, err error) {
	fill := strings.NewReplacer("{dir}", dir, "{port}", strconv.Itoa(port), "{zone}", zone, "{file}", file).Replace
	from := filepath.Join("testdata/bench/servers", r.name)
	err = filepath.WalkDir(from, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		to := filepath.Join(dir, fill(strings.TrimPrefix(path, from)))
		if entry.IsDir() {
			return os.MkdirAll(to, 0o700)
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		return os.WriteFile(to, []byte(fill(string(text))), 0o600)
	})
	for _, a := range r.args {
		args = append(args, fill(a))
	}
	return args, err
}
