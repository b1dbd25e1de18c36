package answer

import (
	"encoding/binary"
	"fmt"
	"strings"

	"github.com/miekg/dns"

	"gslbd/dnsserver/wire"
)

// rdata appends the data of rr.
func (p *packer) rdata(rr dns.RR) error {
	switch rr := rr.(type) {
	case *dns.A:
		if ip := rr.A.To4(); ip != nil {
			p.data = append(p.data, ip...)
			return nil
		}
		return fmt.Errorf("%q is not an IPv4 address", rr.A)
	case *dns.AAAA:
		if ip := rr.AAAA.To16(); ip != nil {
			p.data = append(p.data, ip...)
			return nil
		}
		return fmt.Errorf("%q is not an IPv6 address", rr.AAAA)
	case *dns.NS:
		return p.domain(rr.Ns)
	case *dns.CNAME:
		return p.domain(rr.Target)
	case *dns.PTR:
		return p.domain(rr.Ptr)
	case *dns.MX:
		p.data = binary.BigEndian.AppendUint16(p.data, rr.Preference)
		return p.domain(rr.Mx)
	case *dns.SOA:
		if err := p.domain(rr.Ns); err != nil {
			return err
		}
		if err := p.domain(rr.Mbox); err != nil {
			return err
		}
		for _, v := range []uint32{rr.Serial, rr.Refresh, rr.Retry, rr.Expire, rr.Minttl} {
			p.data = binary.BigEndian.AppendUint32(p.data, v)
		}
		return nil
	}
	return p.other(rr)
}

// other appends the data of a type whose names are not compressed.
func (p *packer) other(rr dns.RR) error {
	if p.rr == nil {
		p.rr = make([]byte, 64<<10+wire.MaxName)
	}
	end, err := dns.PackRR(rr, p.rr, 0, nil, false)
	if err != nil {
		return fmt.Errorf("packing %s: %w", strings.ReplaceAll(rr.String(), "\t", " "), err)
	}
	off := 0
	for p.rr[off] != 0 {
		off += 1 + int(p.rr[off])
	}
	p.data = append(p.data, p.rr[off+11:end]...)
	return nil
}

// target gives the name that a CNAME or DNAME leads to, in lower-case wire form, nil for other
// types. It is valid until the next call.
func (p *packer) target(rr dns.RR) ([]byte, error) {
	var text string
	switch rr := rr.(type) {
	case *dns.CNAME:
		text = rr.Target
	case *dns.DNAME:
		text = rr.Target
	default:
		return nil, nil
	}
	var err error
	p.name, err = appendName(p.name[:0], text)
	return lower(p.name), err
}
