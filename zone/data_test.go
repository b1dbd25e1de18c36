package zone

import "testing"

// TestData reads one record of each type and shape, and says what is wrong
// with it if anything is.
func TestData(t *testing.T) {
	for _, tt := range dataCases {
		_, problems := Load(Source{"example.com", write(t, head+"x "+tt.text+"\ny TXT next\n")}, testVocabulary())
		got := ""
		for _, p := range problems {
			if p.Line != 5 || p.Hint == "" {
				t.Errorf("%s: %+v", tt.text, p)
			}
			got += p.Message
		}
		if got != tt.want {
			t.Errorf("%s: got %s, want %s", tt.text, got, tt.want)
		}
	}
}

// dataCases are records without their owner, and the message that they bring.
var dataCases = []struct{ text, want string }{
	{
		text: `A 192.0.2.1`,
	},
	{
		text: `A 192.0.2.1 ;x`,
	},
	{
		text: `A 192.0.2.0001`,
		want: `"192.0.2.0001" is not an IPv4 address`,
	},
	{
		text: `A 192.0.2`,
		want: `"192.0.2" is not an IPv4 address`,
	},
	{
		text: `A ::1`,
		want: `"::1" is not an IPv4 address`,
	},
	{
		text: `A "192.0.2.1"`,
		want: `""192.0.2.1"" is not an IPv4 address`,
	},
	{
		text: `AAAA ::1`,
	},
	{
		text: `AAAA 2001:db8::1::2`,
		want: `"2001:db8::1::2" is not an IPv6 address`,
	},
	{
		text: `AAAA fe80::1%eth0`,
		want: `"fe80::1%eth0" is not an IPv6 address`,
	},
	{
		text: `CNAME x`,
	},
	{
		text: `NSEC y AAAA A TYPE65534 NSEC A`,
	},
	{
		text: `NSEC3 1 1 12 aabb 2t7b4g4vsa5smi47k61mv5bv1a22bojr MX DNSKEY NS SOA`,
	},
	{
		text: `CSYNC 66 3 NS A AAAA`,
	},
	{
		text: `TXT \# 0`,
		want: `incomplete TXT data`,
	},
	{
		text: `TXT \# 1 00`,
	},
	{
		text: `RESINFO \# 0`,
		want: `incomplete RESINFO data`,
	},
	{
		text: `HTTPS 1 . mandatory=alpn,port alpn=h2 port=8443`,
	},
	{
		text: `HTTPS 1 . mandatory=port alpn=h2`,
		want: `HTTPS data name "port" as mandatory and do not have it`,
	},
	{
		text: `SVCB 1 x mandatory=key65333`,
		want: `SVCB data name "key65333" as mandatory and do not have it`,
	},
	{
		text: `HTTPS 1 . mandatory=mandatory`,
		want: `HTTPS data name "mandatory" itself as mandatory`,
	},
	{
		text: `HTTPS 1 . mandatory=alpn,alpn alpn=h2`,
		want: `HTTPS data name "alpn" twice as mandatory`,
	},
	{
		text: `HTTPS 1 . no-default-alpn`,
		want: `HTTPS data have no-default-alpn without alpn`,
	},
	{
		text: `CNAME x y`,
		want: `bad CNAME data at "y"`,
	},
	{
		text: `CNAME x..y`,
		want: `bad CNAME data at "x..y"`,
	},
	{
		text: `MX 10 x`,
	},
	{
		text: `MX 65536 x`,
		want: `bad MX data at "65536"`,
	},
	{
		text: `MX x`,
		want: `bad MX data at "x"`,
	},
	{
		text: `MX 10`,
		want: `incomplete MX data "10"`,
	},
	{
		text: `SRV 1 2 3 x`,
	},
	{
		text: `SRV 1 2 3`,
		want: `incomplete SRV data "1 2 3"`,
	},
	{
		text: `SRV 1 2 99999 x`,
		want: `bad SRV data at "99999"`,
	},
	{
		text: `TXT x`,
	},
	{
		text: `TXT ""`,
	},
	{
		text: `TXT "a" "b" c`,
	},
	{
		text: `TXT "a`,
		want: `quote is not closed on its line`,
	},
	{
		text: `CAA 0 issue "x"`,
	},
	{
		text: `CAA 0 issue`,
		want: `bad CAA data at "issue"`,
	},
	{
		text: `CAA 256 issue "x"`,
		want: `bad CAA data at "256"`,
	},
	{
		text: `PTR x.`,
	},
	{
		text: `DS 1 8 2 00`,
	},
	{
		text: `DS 1 8 2`,
		want: `incomplete DS data`,
	},
	{
		text: `DS 1 8 2 0`,
		want: `DS data cannot be encoded: encoding/hex: odd length hex string`,
	},
	{
		text: `TLSA 3 1 1 00`,
	},
	{
		text: `TLSA 3 1 1`,
		want: `incomplete TLSA data`,
	},
	{
		text: `TLSA 3 1`,
		want: `incomplete TLSA data "3 1"`,
	},
	{
		text: `SSHFP 1 1 00`,
	},
	{
		text: `SSHFP 1 1`,
		want: `incomplete SSHFP data "1 1"`,
	},
	{
		text: `OPENPGPKEY AwEAAQ==`,
	},
	{
		text: `OPENPGPKEY A=`,
		want: `OPENPGPKEY data cannot be encoded: illegal base64 data at input byte 1`,
	},
	{
		text: `HTTPS 1 . alpn=h2`,
	},
	{
		text: `HTTPS 1 x port=x`,
		want: `bad HTTPS data at "port=x"`,
	},
	{
		text: `SVCB 1`,
		want: `incomplete SVCB data "1"`,
	},
	{
		text: `NAPTR 1 1 "s" "x" "" y`,
	},
	{
		text: `NAPTR 1 1 s x y z`,
		want: `bad NAPTR data at "s"`,
	},
	{
		text: `LOC 52 22 23.000 N 4 53 32.000 E -2.00m 0.00m 10000m 10m`,
	},
	{
		text: `LOC 91 0 0 N 0 0 0 E 0m`,
		want: `bad LOC data at "91"`,
	},
	{
		text: `RP a b`,
	},
	{
		text: `RP a`,
		want: `incomplete RP data "a"`,
	},
	{
		text: `HINFO a b`,
	},
	{
		text: `APL 1:192.0.2.0/24`,
	},
	{
		text: `APL 1:192.0.2.0/33`,
		want: `bad APL data at "1:192.0.2.0/33"`,
	},
	{
		text: `TYPE65280 \# 0`,
	},
	{
		text: `TYPE65280 \# 2 0102`,
	},
	{
		text: `TYPE65280 \# 3 0102`,
		want: `bad TYPE65280 data "\# 3 0102"`,
	},
	{
		text: `TYPE65280 x`,
		want: `bad TYPE65280 data at "x"`,
	},
	{
		text: `TYPE1 \# 4 c0000201`,
	},
	{
		text: `A \# 4 c0000201`,
	},
	{
		text: `A \# 3 c00002`,
		want: `bad A data "\# 3 c00002"`,
	},
	{
		text: `A \# 5 c000020100`,
		want: `bad A data "\# 5 c000020100"`,
	},
	{
		text: `TYPE15 \# 4 000a0100`,
		want: `bad TYPE15 data "\# 4 000a0100"`,
	},
	{
		text: `TYPE70000 \# 0`,
		want: `unknown type "TYPE70000"`,
	},
	{
		text: `TYPE`,
		want: `unknown type "TYPE"`,
	},
	{
		text: `TYPE255 \# 0`,
		want: `type TYPE255 cannot stand in a zone`,
	},
	{
		text: `TSIG x`,
		want: `type TSIG cannot stand in a zone`,
	},
	{
		text: `AXFR x`,
		want: `type AXFR cannot stand in a zone`,
	},
	{
		text: `FOO x`,
		want: `unknown type "FOO"`,
	},
	{
		text: `A`,
		want: `record has no data`,
	},
	{
		text: `IN`,
		want: `record has no type`,
	},
	{
		text: `CH TXT x`,
		want: `class CH is not served`,
	},
	{
		text: `HS A 192.0.2.1`,
		want: `class HS is not served`,
	},
	{
		text: `NONE A 192.0.2.1`,
		want: `class NONE is not served`,
	},
	{
		text: `CLASS2 A 192.0.2.1`,
		want: `class CLASS2 is not served`,
	},
	{
		text: `IN IN A 192.0.2.1`,
		want: `unknown type "IN"`,
	},
	{
		text: `5 6 A 192.0.2.1`,
		want: `unknown type "6"`,
	},
	{
		text: `5m IN A 192.0.2.1`,
	},
	{
		text: `IN 5m A 192.0.2.1`,
	},
	{
		text: `-5 A 192.0.2.1`,
		want: `unknown type "-5"`,
	},
	{
		text: `1y A 192.0.2.1`,
		want: `bad TTL "1y"`,
	},
}
