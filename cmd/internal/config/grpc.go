package config

import "gslbd/health/probe"

// grpcOptions is the table of type grpc.
func grpcOptions(c *probe.Check) []option {
	g := &probe.GRPC{Port: 443, TLS: true, Verify: true}
	c.GRPC = g
	return []option{
		{name: "port", set: port(&g.Port)},
		{name: "service", set: text(&g.Service, 255)},
		{name: "tls", set: boolean(&g.TLS)},
		{name: "verify", set: boolean(&g.Verify)},
		{name: "sni", set: hostName(&g.SNI)},
		{name: "ca_file", set: path(&g.CAFile)},
	}
}

// finishGRPC opens the file of a check and reports what has no effect.
func finishGRPC(r *reader, _ field, c *probe.Check, given map[string]field) {
	for _, key := range []string{"verify", "ca_file"} {
		if at, ok := given[key]; ok && !c.GRPC.TLS {
			r.warn(at, "tls: true", "has no effect, since tls is false")
		}
	}
	if at, ok := given["ca_file"]; ok && c.GRPC.TLS && !c.GRPC.Verify {
		r.warn(at, "verify: true", "has no effect, since verify is false")
	}
	r.authorities(c.GRPC.CAFile, given)
}
