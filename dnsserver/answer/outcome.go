package answer

import (
	"gslbd/dnsserver/wire"
)

// hinfo is the record that answers ANY, behind its owner (RFC 8482 §4.2): type
// 13, class IN, TTL 3600, CPU "RFC8482", OS "".
const hinfo = "\x00\x0d\x00\x01\x00\x00\x0e\x10\x00\x09\x07RFC8482\x00"

// any answers QTYPE ANY for the name at pos.
func (r *Reply) any(pos int) {
	if len(r.Msg)+2+len(hinfo) > r.limit {
		r.truncate()
		return
	}
	r.Msg = append(r.Msg, byte(0xc0|pos>>8), byte(pos))
	r.Msg = append(r.Msg, hinfo...)
	r.Header.Answer++
}

// negative ends the answer with the zone's SOA (RFC 2308 §3).
func (r *Reply) negative(kind Kind, rcode uint16) {
	r.Kind, r.Header.RCode = kind, rcode
	if soa := &r.zone.negative; !r.put(soa.data, soa.names.ptrs, int(soa.base), r.apex) {
		r.truncate()
		return
	}
	r.Header.Authority = 1
}

// without ends the answer where a group has no record to give.
func (r *Reply) without(status status) {
	if status == noData {
		r.negative(NoData, wire.NoError)
		return
	}
	r.clear()
	r.Kind = Failed
	r.Header = wire.Header{RCode: wire.ServFail}
}

// truncate drops every record and sets TC, so that the client asks over TCP.
func (r *Reply) truncate() {
	r.clear()
	r.Header.TC = true
}

func (r *Reply) clear() {
	r.Msg = r.Msg[:r.question]
	r.Header.Answer, r.Header.Authority, r.Header.Additional = 0, 0, 0
}
