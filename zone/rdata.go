package zone

import (
	"bytes"
	"fmt"
	"io"
	"net/netip"
	"strings"

	"github.com/miekg/dns"
)

// rdata turns the type and data of one record into an RR, through one
// dns.ZoneParser that is fed a record at a time and lives until an error or a
// new origin. Owner, TTL and class are the caller's to set.
type rdata struct {
	zp     *dns.ZoneParser
	origin string
	feed   feed
	wire   []byte // room for packing one RR
}

// feed is what the ZoneParser reads. Reading past the end of a record means
// that the record lacks data; the parser must then not see the next one.
type feed struct {
	buf []byte
	pos int
	dry bool
}

func (f *feed) ReadByte() (byte, error) {
	if f.pos == len(f.buf) {
		f.dry = true
		return 0, io.EOF
	}
	f.pos++
	return f.buf[f.pos-1], nil
}

// Read exists for dns.NewZoneParser, which uses ReadByte alone.
func (f *feed) Read(p []byte) (int, error) {
	n := copy(p, f.buf[f.pos:])
	f.pos += n
	if n == 0 && len(p) > 0 {
		f.dry = true
		return 0, io.EOF
	}
	return n, nil
}

// parse gives the RR whose type and data stand in the file as kind and data.
func (r *rdata) parse(typ uint16, kind, data []byte, origin string) (dns.RR, *fault) {
	if rr := addressRR(typ, data); rr != nil {
		return rr, nil
	}
	if r.zp == nil || r.origin != origin {
		r.zp, r.origin = dns.NewZoneParser(&r.feed, origin, ""), origin
	}
	f := &r.feed
	f.buf = append(append(append(append(append(f.buf[:0], ' '), kind...), ' '), data...), '\n')
	f.pos, f.dry = 0, false
	rr, err := r.next()
	switch {
	case rr == nil || err != nil:
		r.zp = nil
		return nil, badData(kind, data, err)
	case f.dry:
		r.zp = nil
		if !readsOn(typ) {
			return nil, badData(kind, data, nil)
		}
	case f.pos < len(f.buf):
		r.zp = nil
		return nil, badData(kind, data, nil)
	}
	if bytes.HasPrefix(data, []byte(`\#`)) && !r.whole(rr, kind, data, origin) {
		return nil, badData(kind, data, nil)
	}
	return rr, nil
}

// readsOn reports whether the library looks past the end of complete records
// of a type.
func readsOn(t uint16) bool { return t == dns.TypeIPSECKEY || t == dns.TypeAMTRELAY }

// addressRR gives the A or AAAA record of an address, nil for anything else.
// Most records of large zones are such, and this is several times faster than
// the library for the same result.
func addressRR(typ uint16, data []byte) dns.RR {
	if typ != dns.TypeA && typ != dns.TypeAAAA || len(data) > len("ffff:ffff:ffff:ffff:ffff:ffff:255.255.255.255") {
		return nil
	}
	addr, err := netip.ParseAddr(string(data))
	if err != nil || addr.Zone() != "" || addr.Is4() != (typ == dns.TypeA) {
		return nil
	}
	h := dns.RR_Header{Rrtype: typ, Class: dns.ClassINET}
	if typ == dns.TypeA {
		rr := &struct {
			dns.A
			ip [4]byte
		}{dns.A{Hdr: h}, addr.As4()}
		rr.A.A = rr.ip[:]
		return &rr.A
	}
	rr := &struct {
		dns.AAAA
		ip [16]byte
	}{dns.AAAA{Hdr: h}, addr.As16()}
	rr.AAAA.AAAA = rr.ip[:]
	return &rr.AAAA
}

// next guards against a panic of the library on data that it does not expect.
func (r *rdata) next() (rr dns.RR, err error) {
	defer func() {
		if p := recover(); p != nil {
			rr, err = nil, fmt.Errorf("%v", p)
		}
	}()
	rr, _ = r.zp.Next()
	return rr, r.zp.Err()
}

// fixedPart is the octets of an RR before its data, with the root as owner.
const fixedPart = 11

// room gives space for any RR.
func (r *rdata) room() []byte {
	if r.wire == nil {
		r.wire = make([]byte, 1<<16+512)
	}
	return r.wire
}

// settle takes a parsed RR through its wire form: that finds what the library's
// parser lets pass, and gives names with escapes their one spelling. The owner
// is the caller's to set afterwards.
func (r *rdata) settle(rr dns.RR) (dns.RR, *fault) {
	switch rr.(type) {
	case *dns.A, *dns.AAAA:
		return rr, nil
	}
	kind := dns.Type(rr.Header().Rrtype).String()
	if f := amend(rr, kind); f != nil {
		return nil, f
	}
	rr.Header().Name = "."
	n, err := dns.PackRR(rr, r.room(), 0, nil, false)
	if err == nil && n < fixedPart+leastData(rr.Header().Rrtype) {
		return nil, &fault{"incomplete " + kind + " data", dataHint(kind)}
	}
	if err == nil {
		rr, _, err = dns.UnpackRR(r.wire[:n], 0)
	}
	if err != nil {
		return nil, &fault{kind + " data cannot be encoded: " + strings.TrimPrefix(err.Error(), "dns: "), dataHint(kind)}
	}
	rr.Header().Rdlength = 0
	return rr, nil
}

// leastData gives the octets of the shortest RDATA that make sense, for types
// whose last field, a digest, a key or text, the library lets be empty.
func leastData(t uint16) int {
	switch t {
	case dns.TypeDS, dns.TypeCDS, dns.TypeDLV, dns.TypeTA, dns.TypeDNSKEY, dns.TypeCDNSKEY, dns.TypeKEY:
		return 5
	case dns.TypeTLSA, dns.TypeSMIMEA:
		return 4
	case dns.TypeSSHFP:
		return 3
	case dns.TypeCERT:
		return 6
	case dns.TypeZONEMD:
		return 7
	case dns.TypeTXT, dns.TypeSPF, dns.TypeAVC, dns.TypeNINFO, dns.TypeRESINFO, dns.TypeOPENPGPKEY, dns.TypeDHCID:
		return 1
	}
	return 0
}

// whole reports whether an RR from the form \# LENGTH HEX (RFC 3597 §5) has all
// its data and no more. The library takes any part of them, as dynamic updates
// need, and drops what is left; what lacks some does not survive being written
// as text.
func (r *rdata) whole(rr dns.RR, kind, data []byte, origin string) bool {
	t := rr.Header().Rrtype
	if _, known := dns.TypeToRR[t]; !known || t == dns.TypeAPL || t == dns.TypeNULL {
		return true
	}
	cur := cursor{rest: data}
	cur.word()
	length, _ := decimal(string(cur.word()), 65535)
	rr.Header().Name = "."
	if n, err := dns.PackRR(rr, r.room(), 0, nil, false); err != nil || n != fixedPart+int(length) {
		return false
	}
	again, f := r.parse(t, kind, []byte(dataOf(rr)), origin)
	if f == nil {
		again.Header().Name = "."
	}
	return f == nil && dns.IsDuplicate(rr, again)
}

// badData words the library's error for people.
func badData(kind, data []byte, err error) *fault {
	name := strings.ToUpper(string(kind))
	if bytes.HasPrefix(data, []byte(`\#`)) {
		return &fault{"bad " + name + " data " + quote(data), `it is \# LENGTH HEX (RFC 3597), with all the octets that the type has`}
	}
	if i := bytes.Index(data, []byte(" @")); i >= 0 {
		return &fault{"bad " + name + " data " + quote(data), "annotations stand in a comment: write ; before " + quote(bytes.TrimLeft(data[i:], " "))}
	}
	switch name {
	case "A":
		f := &fault{quote(data) + " is not an IPv4 address", "write four numbers, as in 192.0.2.10"}
		if bytes.IndexByte(data, ':') >= 0 {
			f.hint = "IPv6 addresses go into AAAA records"
		}
		return f
	case "AAAA":
		f := &fault{quote(data) + " is not an IPv6 address", "write it as in 2001:db8::10"}
		if bytes.IndexByte(data, ':') < 0 {
			f.hint = "IPv4 addresses go into A records"
		}
		return f
	}
	at := ""
	if err != nil {
		at = culprit(err.Error())
	}
	if at == "" {
		return &fault{"incomplete " + name + " data " + quote(data), dataHint(name)}
	}
	return &fault{"bad " + name + " data at " + quote(at), dataHint(name)}
}

// culprit finds the word that an error of the library quotes.
func culprit(text string) string {
	text, _, _ = strings.Cut(text, " at line: ")
	i := strings.Index(text, `: "`)
	if i < 0 {
		return ""
	}
	return strings.TrimSpace(strings.ReplaceAll(strings.Trim(text[i+2:], `"`), `\n`, ""))
}

// dataHint says what the data of a type look like.
func dataHint(kind string) string {
	form := ""
	switch kind {
	case "CNAME", "DNAME", "NS", "PTR":
		form = "NAME"
	case "MX":
		form = "PREFERENCE NAME"
	case "SRV":
		form = "PRIORITY WEIGHT PORT NAME"
	case "SOA":
		form = "MNAME RNAME SERIAL REFRESH RETRY EXPIRE MINIMUM"
	case "TXT", "SPF":
		form = `"TEXT" ...`
	case "CAA":
		form = `FLAGS TAG "VALUE"`
	case "SVCB", "HTTPS":
		form = "PRIORITY NAME [KEY=VALUE] ..."
	case "NAPTR":
		form = `ORDER PREFERENCE "FLAGS" "SERVICE" "REGEXP" NAME`
	case "DS", "CDS":
		form = "TAG ALGORITHM DIGEST-TYPE DIGEST"
	case "TLSA":
		form = "USAGE SELECTOR MATCHING DATA"
	case "SSHFP":
		form = "ALGORITHM TYPE FINGERPRINT"
	default:
		return `see the type's own form, or write \# LENGTH HEX (RFC 3597)`
	}
	return kind + " data are: " + form
}
