package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// plan is what the two files say, so that ports are written there alone.
type plan struct {
	listen   string // host:port
	name     string // a steered name
	backends []server
}

// readPlan finds the address to ask, the name to ask for, and one backend for
// each member with target= and id=.
func readPlan(dir string) (plan, error) {
	config, err := os.ReadFile(filepath.Join(dir, "gslbd.yaml"))
	if err != nil {
		return plan{}, err
	}
	const zone = "gslb.example.com"
	text, err := os.ReadFile(filepath.Join(dir, zone+".zone"))
	if err != nil {
		return plan{}, err
	}
	p := plan{name: "www." + zone}
	if m := regexp.MustCompile(`(?m)^listen: \[ "(.*?)"`).FindSubmatch(config); m != nil {
		p.listen = string(m[1])
	}
	for _, m := range regexp.MustCompile(`target=(\S+) +id=(\S+)`).FindAllSubmatch(text, -1) {
		p.backends = append(p.backends, server{name: string(m[2]), addr: string(m[1])})
	}
	if p.listen == "" || len(p.backends) == 0 {
		return plan{}, fmt.Errorf("%s: no listen address in gslbd.yaml, or no target= and id= in the zone file", dir)
	}
	return p, nil
}

func (p plan) dig() string {
	host, port, _ := strings.Cut(p.listen, ":")
	return fmt.Sprintf("dig @%s -p %s %s", host, port, p.name)
}
