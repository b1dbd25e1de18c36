package answer_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/miekg/dns"

	"gslbd/dnsserver"
)

// TestCases asks what the files in testdata/cases ask of the zones in
// testdata/zones, over each transport. A case is a line "> NAME TYPE OPTIONS",
// a line "RCODE FLAGS", and the records expected: AN, AU or AD and the record,
// in order; records of one RRset in any order. "udp" or "tcp" behind the flags
// holds the expectation for that transport only; "..." matches any records.
func TestCases(t *testing.T) {
	s := rich(t)
	f := newReference(s)
	files, err := filepath.Glob("testdata/cases/*")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for i, c := range strings.Split("\n"+string(text), "\n> ")[1:] {
			ask, want, _ := strings.Cut(c, "\n")
			t.Run(fmt.Sprintf("%s/%d/%s", filepath.Base(file), i+1, ask), func(t *testing.T) {
				run(t, s, ask, want)
				check(t, s, f, query(t, ask))
			})
		}
	}
}

func run(t *testing.T, s *server, ask, want string) {
	lines := slices.DeleteFunc(strings.Split(want, "\n"), func(l string) bool { return l == "" || l[0] == '#' })
	status := strings.Fields(lines[0])
	transports := []dnsserver.Transport{dnsserver.UDP, dnsserver.TCP}
	if last := status[len(status)-1]; last == "udp" || last == "tcp" {
		transports = transports[:1]
		if last == "tcp" {
			transports[0] = dnsserver.TCP
		}
		status = status[:len(status)-1]
	}
	for _, transport := range transports {
		m, _ := s.ask(t, query(t, ask), transport)
		if got := flags(m); got != strings.Join(status, " ") {
			t.Errorf("over %v: %q, want %q", transport, got, status)
		}
		if slices.Contains(lines, "...") {
			continue
		}
		if got, want := shown(m), wanted(t, lines[1:]); !slices.Equal(got, want) {
			t.Errorf("over %v:\n%s\nwant:\n%s", transport, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	}
}

// flags gives rcode and flags as a case writes them.
func flags(m *dns.Msg) string {
	list := []string{dns.RcodeToString[m.Rcode]}
	if m.Rcode == dns.RcodeBadVers {
		list[0] = "BADVERS" // the library's name for 16 is that of TSIG
	}
	add := func(on bool, flag string) {
		if on {
			list = append(list, flag)
		}
	}
	add(m.Authoritative, "aa")
	add(m.Truncated, "tc")
	add(m.RecursionDesired, "rd")
	add(m.RecursionAvailable, "ra")
	add(m.AuthenticatedData, "ad")
	add(m.CheckingDisabled, "cd")
	opt := m.IsEdns0()
	add(opt != nil, "edns")
	if opt != nil {
		add(opt.Do(), "do")
		for _, o := range opt.Option {
			list = append(list, fmt.Sprintf("option%d", o.Option()))
			if e, ok := o.(*dns.EDNS0_EDE); ok {
				list = append(list, fmt.Sprintf("ede%d", e.InfoCode))
			}
		}
	}
	return strings.Join(list, " ")
}

// shown lists the records of a reply, those of one RRset sorted.
func shown(m *dns.Msg) []string {
	var list []string
	section := func(name string, rrs []dns.RR) {
		for len(rrs) > 0 {
			n := 1
			for n < len(rrs) && dns.IsRRset(rrs[:n+1]) {
				n++
			}
			var set []string
			for _, rr := range rrs[:n] {
				if rr.Header().Rrtype != dns.TypeOPT {
					set = append(set, name+" "+text(rr))
				}
			}
			slices.Sort(set)
			list = append(list, set...)
			rrs = rrs[n:]
		}
	}
	section("AN", m.Answer)
	section("AU", m.Ns)
	section("AD", m.Extra)
	return list
}

// wanted lists the records of a case in the form of shown.
func wanted(t *testing.T, lines []string) []string {
	m := new(dns.Msg)
	for _, line := range lines {
		section, text, _ := strings.Cut(line, " ")
		rr, err := dns.NewRR(text)
		if err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		switch section {
		case "AN":
			m.Answer = append(m.Answer, rr)
		case "AU":
			m.Ns = append(m.Ns, rr)
		case "AD":
			m.Extra = append(m.Extra, rr)
		default:
			t.Fatalf("section %q", section)
		}
	}
	return shown(m)
}
