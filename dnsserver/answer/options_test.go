package answer_test

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math/big"
	"math/rand/v2"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/miekg/dns"

	"gslbd/dnsserver"
)

// What the servers of the tests are told, and who asks them when.
const (
	testNow    = 1559731985
	testSecret = "e5e973e5a6b2a43f48e7dc849e37bfcf"
	oldSecret  = "445536bcd2513298075a5d379663c962"
)

func testClient() netip.AddrPort { return netip.MustParseAddrPort("198.51.100.100:5353") }

func testSettings() dnsserver.Settings {
	set := dnsserver.DefaultSettings()
	for _, s := range []string{testSecret, oldSecret} {
		b, _ := hex.DecodeString(s)
		set.CookieSecrets = append(set.CookieSecrets, [16]byte(b))
	}
	set.NSID, set.Version, set.Hostname, set.ID = "tokyo-1", "gslbd 1.2.3", "tokyo-1", "tokyo-1"
	return set
}

// told makes a server answer by set at the time of the tests.
func (s *server) told(set dnsserver.Settings) {
	shared := dnsserver.NewShared()
	shared.Set(set)
	shared.Tick(time.Unix(testNow, 0))
	s.set = set
	s.With(shared)
}

// rawOption is an option as it stands in a message.
type rawOption struct {
	code uint16
	data string
}

func (o rawOption) size() int { return 4 + len(o.data) }

// rawOptions gives the options of the first OPT that stands in a well-formed message, as they are.
func rawOptions(message []byte) (list []rawOption, version uint8) {
	at := 12
	for range binary.BigEndian.Uint16(message[4:]) {
		_, at, _ = dns.UnpackDomainName(message, at)
		at += 4
	}
	for at < len(message) {
		name, next, err := dns.UnpackDomainName(message, at)
		if err != nil {
			return nil, 0
		}
		head := message[next:]
		data := head[10 : 10+binary.BigEndian.Uint16(head[8:])]
		if at = next + 10 + len(data); name != "." || binary.BigEndian.Uint16(head) != dns.TypeOPT {
			continue
		}
		for len(data) > 0 {
			n := 4 + int(binary.BigEndian.Uint16(data[2:]))
			list = append(list, rawOption{binary.BigEndian.Uint16(data), string(data[4:n])})
			data = data[n:]
		}
		return list, head[5]
	}
	return nil, 0
}

// first gives the first option of a code.
func first(list []rawOption, code uint16) (rawOption, bool) {
	i := slices.IndexFunc(list, func(o rawOption) bool { return o.code == code })
	if i < 0 {
		return rawOption{}, false
	}
	return list[i], true
}

// expectedOptions is what the OPT of a reply must say beside the extended error.
type expectedOptions struct {
	malformed    bool        // FORMERR, and no options
	certain      []rawOption // there whatever the length of the reply
	nsid         string      // there if it fits
	padded       bool
	serverCookie bool // the query has one
	validCookie  bool // and it is good
}

// options gives what set says about the options of a query.
func options(set dnsserver.Settings, packet []byte, transport dnsserver.Transport) (e expectedOptions) {
	asked, version := rawOptions(packet)
	if version > 0 {
		return e
	}
	if o, ok := first(asked, dns.EDNS0COOKIE); ok && set.Cookies {
		if n := len(o.data); n != 8 && (n < 16 || n > 40) {
			return expectedOptions{malformed: true}
		}
		var made string
		e.serverCookie = len(o.data) > 8
		made, e.validCookie = cookie(set, o.data, testClient().Addr(), testNow)
		e.certain = append(e.certain, rawOption{o.code, made})
	}
	if o, ok := first(asked, dns.EDNS0SUBNET); ok && set.ECS {
		if !goodSubnet(o.data) {
			return expectedOptions{malformed: true}
		}
		e.certain = append(e.certain, o)
	}
	if o, ok := first(asked, dns.EDNS0TCPKEEPALIVE); ok && transport != dnsserver.UDP {
		if o.data != "" {
			return expectedOptions{malformed: true}
		}
		e.certain = append(e.certain, rawOption{o.code, "\x00\x64"})
	}
	if _, ok := first(asked, dns.EDNS0NSID); ok {
		e.nsid = set.NSID
	}
	_, e.padded = first(asked, dns.EDNS0PADDING)
	e.padded = e.padded && transport == dnsserver.TLS
	return e
}

// goodSubnet tells by way of a number whether a client subnet is well-formed.
func goodSubnet(data string) bool {
	if len(data) < 4 || data[3] != 0 {
		return false
	}
	most, known := map[string]int{"\x00\x00": 0, "\x00\x01": 32, "\x00\x02": 128}[data[:2]]
	bits, address := int(data[2]), data[4:]
	if !known || bits > most || len(address) != (bits+7)/8 {
		return false
	}
	beyond := 8*len(address) - bits
	n := new(big.Int).SetBytes([]byte(address))
	return new(big.Int).Lsh(new(big.Int).Rsh(n, uint(beyond)), uint(beyond)).Cmp(n) == 0
}

// cookie gives the reply to a cookie and whether its server part is good (RFC 9018 §4.3).
func cookie(set dnsserver.Settings, sent string, client netip.Addr, now uint32) (string, bool) {
	if len(sent) == 24 && sent[8] == 1 {
		for i, secret := range set.CookieSecrets {
			age := int(now) - int(binary.BigEndian.Uint32([]byte(sent[12:])))
			if age < -300 || age > 3600 || sipHash(secret, sent[:16]+string(client.AsSlice())) != sent[16:] {
				continue
			}
			if i == 0 && age <= 1800 {
				return sent, true
			}
			return serverCookie(set.CookieSecrets[0], sent[:8], client, now), true
		}
	}
	return serverCookie(set.CookieSecrets[0], sent[:8], client, now), false
}

func serverCookie(secret [16]byte, sent string, client netip.Addr, now uint32) string {
	made := string(binary.BigEndian.AppendUint32([]byte(sent+"\x01\x00\x00\x00"), now))
	return made + sipHash(secret, made+string(client.AsSlice()))
}

// sipHash is SipHash-2-4 as its paper writes it, on four words.
func sipHash(key [16]byte, message string) string {
	k := [2]uint64{binary.LittleEndian.Uint64(key[:8]), binary.LittleEndian.Uint64(key[8:])}
	v := [4]uint64{k[0], k[1], k[0], k[1]}
	for i, text := range []string{"somepseu", "dorandom", "lygenera", "tedbytes"} {
		v[i] ^= binary.BigEndian.Uint64([]byte(text))
	}
	mix := func(a, b, left int) {
		v[a] += v[b]
		v[b] = v[b]<<left | v[b]>>(64-left)
		v[b] ^= v[a]
	}
	swap := func(a int) { v[a] = v[a]<<32 | v[a]>>32 }
	round := func() {
		mix(0, 1, 13)
		mix(2, 3, 16)
		swap(0)
		mix(2, 1, 17)
		mix(0, 3, 21)
		swap(2)
	}
	whole := append([]byte(message), make([]byte, 7-len(message)%8)...)
	whole = append(whole, byte(len(message)))
	for ; len(whole) > 0; whole = whole[8:] {
		m := binary.LittleEndian.Uint64(whole)
		v[3] ^= m
		round()
		round()
		v[0] ^= m
	}
	v[2] ^= 0xff
	for range 4 {
		round()
	}
	return string(binary.LittleEndian.AppendUint64(nil, v[0]^v[1]^v[2]^v[3]))
}

// sameOptions compares the options of a reply, which may have limit bytes, with those expected.
func sameOptions(e expectedOptions, reply []byte, limit int) error {
	got, _ := rawOptions(reply)
	got = slices.DeleteFunc(got, func(o rawOption) bool { return o.code == dns.EDNS0EDE })
	want, size := slices.Clone(e.certain), len(reply)
	padding, padded := first(got, dns.EDNS0PADDING)
	if padded {
		size -= padding.size()
	}
	if n := (rawOption{dns.EDNS0NSID, e.nsid}); e.nsid != "" {
		if _, has := first(got, n.code); has || size+n.size() <= limit {
			want = append(want, n)
		}
	}
	if e.padded {
		if fill := (468 - (size+4)%468) % 468; size+4+fill <= limit {
			want = append(want, rawOption{dns.EDNS0PADDING, strings.Repeat("\x00", fill)})
		}
	}
	byCode := func(a, b rawOption) int { return cmp.Compare(a.code, b.code) }
	slices.SortStableFunc(got, byCode)
	slices.SortStableFunc(want, byCode)
	if !slices.Equal(got, want) {
		return fmt.Errorf("options %x, want %x", got, want)
	}
	return nil
}

// randomOptions gives options as clients send them, and as they should not.
func randomOptions(rnd *rand.Rand) (list []dns.EDNS0) {
	add := func(code uint16, data string) { list = append(list, &dns.EDNS0_LOCAL{Code: code, Data: []byte(data)}) }
	client := "\x24\x64\xc4\xab\xcf\x10\xc9\x57"
	secrets := testSettings().CookieSecrets
	secrets = append(secrets, [16]byte{1})
	for rnd.IntN(3) > 0 {
		switch rnd.IntN(9) {
		case 0:
			add(dns.EDNS0NSID, "")
		case 1:
			add(dns.EDNS0COOKIE, client)
		case 2, 3:
			ages := []int{0, 1800, 1801, 3600, 3601, -300, -301}
			made := uint32(testNow - ages[rnd.IntN(len(ages))])
			add(dns.EDNS0COOKIE, serverCookie(secrets[rnd.IntN(3)], client, testClient().Addr(), made))
		case 4:
			add(dns.EDNS0COOKIE, strings.Repeat("c", rnd.IntN(43)))
		case 5:
			bits := rnd.IntN(33)
			add(dns.EDNS0SUBNET, "\x00\x01"+string([]byte{byte(bits), 0})+"\xc0\x00\x02\x81"[:(bits+7)/8])
		case 6:
			add(dns.EDNS0SUBNET, "\x00\x02\x30\x00\x20\x01\x0d\xb8\x00"+string([]byte{byte(rnd.IntN(3))}))
		case 7:
			add(dns.EDNS0TCPKEEPALIVE, strings.Repeat("\x00", 2*(rnd.IntN(4)/3)))
		case 8:
			add(dns.EDNS0PADDING, strings.Repeat("\x00", rnd.IntN(40)))
		}
	}
	if rnd.IntN(8) == 0 {
		add(uint16(rnd.IntN(20)), string(bytes.Repeat([]byte{byte(rnd.Uint32())}, rnd.IntN(5))))
	}
	return list
}
