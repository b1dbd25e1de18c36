package main

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// rival is a server that is measured.
type rival struct {
	name    string // as in the tables
	program string // as in PATH
	debian  string // its package
	// files are the configuration, by name in the server's folder; args start
	// the server in the foreground. In all of them {dir}, {port}, {zone} (its
	// name without dot) and {file} (of the zone) are filled in.
	files map[string]string
	args  []string
	// oneLink: the answer to a CNAME's owner is the CNAME alone.
	oneLink bool
}

// rivals are the other servers, each with one thread for UDP, without query
// log, rate limit or anything else that costs time and can be left out.
func rivals() []rival {
	return []rival{
		{"NSD", "nsd", "nsd", map[string]string{"nsd.conf": `server:
    server-count: 1
    ip-address: 127.0.0.1@{port}
    username: ""
    chroot: ""
    database: ""
    pidfile: ""
    zonesdir: "{dir}"
    xfrdfile: "{dir}/xfrd.state"
    xfrdir: "{dir}"
    zonelistfile: "{dir}/zone.list"
    receive-buffer-size: 4194304
    minimal-responses: yes
    rrl-ratelimit: 0
    rrl-whitelist-ratelimit: 0
remote-control:
    control-enable: no
zone:
    name: "{zone}"
    zonefile: "{file}"
`}, []string{"-d", "-c", "{dir}/nsd.conf"}, false},
		{"Knot", "knotd", "knot", map[string]string{"knot.conf": `server:
    listen: 127.0.0.1@{port}
    udp-workers: 1
    tcp-workers: 1
    background-workers: 1
    rundir: "{dir}"
log:
  - target: stderr
    any: error
database:
    storage: "{dir}"
zone:
  - domain: {zone}
    file: "{file}"
    zonefile-sync: -1
    journal-content: none
`}, []string{"-c", "{dir}/knot.conf"}, false},
		{"gdnsd", "gdnsd", "gdnsd", map[string]string{"config": `options => {
    listen => 127.0.0.1:{port}
    udp_threads => 1
    tcp_threads => 1
    udp_rcvbuf => 1048576
    run_dir => "{dir}/run"
    state_dir => "{dir}/state"
}
`, "run/.keep": "", "state/.keep": "", "zones/{zone}": "$INCLUDE {file}\n"}, []string{"-c", "{dir}", "start"}, true},
		{"BIND", "named", "bind9", map[string]string{"named.conf": `options {
    directory "{dir}";
    listen-on port {port} { 127.0.0.1; };
    listen-on-v6 { none; };
    pid-file none;
    session-keyfile none;
    recursion no;
    minimal-responses yes;
    dnssec-validation no;
    empty-zones-enable no;
    zone-statistics none;
    notify no;
    querylog no;
};
controls { };
logging { category default { null; }; };
zone "{zone}" { type primary; file "{file}"; };
`}, []string{"-f", "-n", "1", "-c", "{dir}/named.conf"}, false},
		{"PowerDNS", "pdns_server", "pdns-server pdns-backend-bind", map[string]string{"pdns.conf": `launch=bind
bind-config={dir}/zones.conf
local-address=127.0.0.1
local-port={port}
socket-dir={dir}
daemon=no
guardian=no
setuid=
setgid=
receiver-threads=1
distributor-threads=1
cache-ttl=3600
query-cache-ttl=3600
negquery-cache-ttl=3600
zone-cache-refresh-interval=0
security-poll-suffix=
disable-syslog=yes
loglevel=0
`, "zones.conf": "zone \"{zone}\" { type master; file \"{file}\"; };\n"}, []string{"--config-dir={dir}"}, false},
	}
}

// ours is gslbd, built before.
func ours(program string) rival {
	return rival{"gslbd", program, "", map[string]string{"gslbd.yaml": `listen: [ "127.0.0.1:{port}" ]
zones: [ { name: {zone}, file: {file} } ]
watch: false
admin: { socket: gslbd.sock }
log: { level: error }
`}, []string{"serve", "-c", "{dir}/gslbd.yaml"}, false}
}

// configure writes the files into dir and gives the arguments.
func (r rival) configure(dir string, port int, zone, file string) (args []string, err error) {
	fill := strings.NewReplacer("{dir}", dir, "{port}", strconv.Itoa(port), "{zone}", zone, "{file}", file).Replace
	for name, text := range r.files {
		path := filepath.Join(dir, fill(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return nil, err
		}
		if err := os.WriteFile(path, []byte(fill(text)), 0o600); err != nil {
			return nil, err
		}
	}
	for _, a := range r.args {
		args = append(args, fill(a))
	}
	return args, nil
}
