package config

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"gslbd/zone"
	"gslbd/zone/steer"
)

const (
	maxFile   = 32 << 20 // bytes of a configuration file
	maxSocket = 107      // bytes of a Unix socket path on Linux, without the NUL
	systemDir = "/etc/gslbd"
)

// Load reads and checks the configuration file; with file "" it takes
// ./gslbd.yaml, or else /etc/gslbd/gslbd.yaml. The Config is nil exactly when
// the problems hold an error; warnings may stand beside a valid Config.
func Load(file string) (*Config, zone.Problems) { return loadFirst(places(file)) }

func places(file string) []string {
	if file != "" {
		return []string{file}
	}
	return []string{"gslbd.yaml", filepath.Join(systemDir, "gslbd.yaml")}
}

// loadFirst loads the first of the places that exists.
func loadFirst(places []string) (*Config, zone.Problems) {
	place, data, problems := find(places)
	if problems != nil {
		return nil, problems
	}
	return load(place, data)
}

// find reads the first of the places that exists; place is "" when none does.
func find(places []string) (place string, data []byte, problems zone.Problems) {
	for _, place := range places {
		data, err := readFile(place)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return place, nil, zone.Problems{{File: place, Severity: zone.Error, Message: reason(err),
				Hint: "the configuration is a readable YAML file"}}
		}
		return place, data, nil
	}
	p := zone.Problem{File: places[0], Severity: zone.Error, Message: "no such file",
		Hint: "name an existing configuration file with --config FILE"}
	if len(places) > 1 {
		p.Message = "no configuration file"
		p.Hint = "looked for " + strings.Join(places, " and ") + "; name another place with --config FILE"
	}
	return "", nil, zone.Problems{p}
}

// readFile reads a regular file of bounded size. It never waits, as opening a
// named pipe would.
func readFile(path string) ([]byte, error) {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return nil, err
	case info.IsDir():
		return nil, errors.New("is a directory")
	case !info.Mode().IsRegular():
		return nil, errors.New("is not a regular file")
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err == nil && len(data) > maxFile {
		err = fmt.Errorf("is larger than %d MiB", maxFile>>20)
	}
	return data, err
}

// reason gives the cause of a file error without the path, which messages
// carry already.
func reason(err error) string {
	if pathError, ok := errors.AsType[*fs.PathError](err); ok {
		return pathError.Err.Error()
	}
	return err.Error()
}

// load turns the text of a configuration file into a Config.
func load(file string, data []byte) (*Config, zone.Problems) {
	r := &reader{file: file, dir: filepath.Dir(file)}
	c := defaults(file)
	root := r.parse(data)
	if root == nil {
		return nil, r.problems
	}
	top := settings(c)
	r.section(field{node: root, line: root.Line}, top)
	r.environment(data, top)
	r.complete(c)
	c.lines, c.variables = r.seen, r.variables
	problems := r.report()
	if problems.Failed(false) {
		return nil, problems
	}
	return c, problems
}

// defaults is the configuration of an empty file.
func defaults(file string) *Config {
	node, err := os.Hostname()
	if err != nil || node == "" {
		node = "localhost"
	}
	c := &Config{File: file, Node: node, Watch: true, StateMaxAge: time.Hour}
	c.Listen = []string{"127.0.0.1:5353", "[::1]:5353"}
	c.Policies = map[string]steer.Policy{steer.Failover().Name: steer.Failover()}
	c.Admin.Socket = defaultSocket(filepath.Dir(file))
	c.Log = Log{Level: "info", Format: "auto"}
	c.Health.MaxInFlight = 1000
	c.DNS = DNS{UDPSize: 1232, Cookies: true, NSID: node, Version: true, Hostname: true, ID: true}
	c.ECS = true
	c.TCP, c.RateLimit = defaultTCP(), defaultRateLimit()
	return c
}

// defaultSocket depends on nothing but the place of the configuration file, so
// that the server and the commands that talk to it agree at any time.
func defaultSocket(dir string) string {
	if dir == systemDir {
		return "/run/gslbd/admin.sock"
	}
	return filepath.Join(dir, "gslbd.sock")
}

// complete makes the checks that need the whole configuration.
func (r *reader) complete(c *Config) {
	if len(c.Zones) == 0 && r.seen["zones"] == 0 {
		r.fail(field{path: "zones"}, "zones: [ { name: gslb.example.com, file: gslb.example.com.zone } ]", "no zones")
	}
	if c.Admin.Socket == defaultSocket(r.dir) { // else it was checked as it was read
		r.socketLength(field{path: "admin.socket"}, c.Admin.Socket)
	}
	r.completeServing(c)
	r.idleRateLimit(c.RateLimit)
	r.references()
	r.circles(c.Checks)
}
