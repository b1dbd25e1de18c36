package probe

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/miekg/dns"
)

// ParseQType reads the type of a question: its name, or TYPE and its number
// (RFC 3597 section 5), in any case. It refuses meta types, which name no data
// (RFC 6895 section 3.1); known are the names to choose from.
func ParseQType(s string) (qtype uint16, known []string, ok bool) {
	s = strings.ToUpper(s)
	if t, found := dns.StringToType[s]; found && dataType(t) {
		return t, nil, true
	}
	if digits, isNumber := strings.CutPrefix(s, "TYPE"); isNumber {
		if n, err := strconv.ParseUint(digits, 10, 16); err == nil && dataType(uint16(n)) {
			return uint16(n), nil, true
		}
	}
	for name, t := range dns.StringToType {
		if dataType(t) {
			known = append(known, name)
		}
	}
	slices.Sort(known)
	return 0, known, false
}

func dataType(t uint16) bool {
	return t != dns.TypeNone && t != dns.TypeOPT && t != dns.TypeReserved && (t < 128 || t > 255)
}

// RCodes are the names of the response codes that a plain query can have, the
// place in the list being the code (RFC 1035 section 4.1.1, RFC 2136 section 2.2).
func RCodes() []string {
	var names []string
	for code := dns.RcodeSuccess; code <= dns.RcodeNotZone; code++ {
		names = append(names, dns.RcodeToString[code])
	}
	return names
}

// Validate says which expected datum is not data of the type asked for; nil if
// all are.
func (o *DNS) Validate() error {
	_, err := o.data()
	return err
}

func (o *DNS) data() ([]dns.RR, error) {
	var all []dns.RR
	for _, text := range o.Expect {
		rr, err := parseData(o.QType, text)
		if err != nil {
			return nil, fmt.Errorf("%s is not data of type %s", plain(text), dns.Type(o.QType))
		}
		all = append(all, rr)
	}
	return all, nil
}

// parseData reads the data of a record in presentation form. TXT without
// quotes is one text, spaces included.
func parseData(qtype uint16, text string) (rr dns.RR, err error) {
	defer func() {
		if p := recover(); p != nil { // the library on odd data
			rr, err = nil, fmt.Errorf("%v", p)
		}
	}()
	if strings.ContainsAny(text, "\r\n") || strings.TrimSpace(text) == "" {
		return nil, errors.New("not one line")
	}
	if qtype == dns.TypeTXT && !strings.HasPrefix(text, `"`) {
		text = quoted(text)
	}
	rr, err = dns.NewRR(". 0 IN " + dns.Type(qtype).String() + " " + text)
	if err != nil {
		return nil, err
	}
	return throughWire(rr)
}

// throughWire gives a record as the library holds those that it receives.
func throughWire(rr dns.RR) (dns.RR, error) {
	const fixed = 11 // octets of a record of the root without its data
	buf := make([]byte, dns.MaxMsgSize)
	n, err := dns.PackRR(rr, buf, 0, nil, false)
	if err == nil && n <= fixed {
		err = errors.New("no data")
	}
	if err == nil {
		rr, _, err = dns.UnpackRR(buf[:n], 0)
	}
	return rr, err
}

// quoted writes a text as the strings of a TXT record, of 255 bytes at most.
func quoted(text string) string {
	var b strings.Builder
	for part := range slices.Chunk([]byte(text), 255) {
		b.WriteString(` "`)
		for _, c := range part {
			fmt.Fprintf(&b, `\%03d`, c)
		}
		b.WriteString(`"`)
	}
	return b.String()
}

// sameData compares the data of two records of one type. Names in them compare
// without case. Where a TXT record is cut into strings does not matter.
func sameData(got, want dns.RR) bool {
	if got.Header().Rrtype != want.Header().Rrtype || got.Header().Class != want.Header().Class {
		return false
	}
	if a, ok := got.(*dns.TXT); ok {
		b, ok := want.(*dns.TXT)
		return ok && strings.Join(a.Txt, "") == strings.Join(b.Txt, "")
	}
	same := dns.Copy(got)
	same.Header().Name = want.Header().Name
	return dns.IsDuplicate(same, want)
}
