package app

import (
	"strings"
	"testing"
)

// everyType has one record of each type that can be steered, and of odd ones.
func everyType() string {
	long := strings.Repeat(strings.Repeat("a", 63)+".", 3)
	rows := []string{
		`A 192.0.2.1`, `A \# 4 c0000201`, `AAAA 2001:db8::1`, `AAAA ::ffff:192.0.2.1`, `AFSDB 1 Host.`, `APL 1:192.0.2.0/24 !2:2001:db8::/32`, `APL`, `APL 1:0.0.0.0/0`, `APL \# 4 00010001`,
		`CAA 0 issue ";"`, `CAA 128 tbs "a\"b\255"`, `CERT PGP 0 0 AAAA`, `CERT 65535 1 200 AAAA`, `CSYNC 1 3 A NS TYPE65280`, `DHCID AAAA`, `DLV 1 8 2 ` + strings.Repeat("ab", 32),
		`DS 1 8 2 ` + strings.Repeat("ab", 32), `EUI48 00-00-5e-00-53-2a`, `EUI64 00-00-5e-ef-10-00-00-2a`, `HINFO "" "b\000"`, `HIP 2 200100107B1A74DF365639CC39F1D578 AwEA rv1.example. Rv2.`,
		`IPSECKEY 10 3 2 mygateway.Example. AQNR`, `IPSECKEY 10 0 2 . AQNR`, `IPSECKEY 10 1 2 192.0.2.1 AQNR`, `IPSECKEY 10 2 2 2001:db8::1 AQNR`, `KX 1 .`, `L32 10 10.1.2.0`, `L64 10 2001:0DB8:1140:1000`, `LP 10 l64. `, `NID 10 0014:4fff:ff20:ee64`,
		`LOC 52 22 23.000 N 4 53 32.000 E -2.00m 0.00m 10000m 10m`, `LOC 0 0 0 S 0 0 0 W 42849672.95m 90000000m`, `MB a`, `MD a`, `MF a`, `MG a`, `MINFO a b`, `MR a`, `MX 0 .`, `MX 65535 ` + long + strings.Repeat("b", 48),
		`NAPTR 100 50 "s" "z3950+I2L+I2C" "" _z3950._tcp.Gatech.edu.`, `NAPTR 0 0 "" "" "!^.*$!\\1\;\"!" .`, `NINFO "a" ""`, `NSAP 0x47000580005a0000000001e133ffffff00016100`, `NSAP-PTR foo.`, `OPENPGPKEY AAAA`, `PTR \000\.\255x.\@`, `PTR *.UPPER`, `PX 10 a. b.`,
		`RKEY 0 255 1 AAAA`, `RP a. .`, `RT 1 a`, `SMIMEA 3 1 1 ` + strings.Repeat("ab", 32), `SPF "v=spf1 -all"`, `SRV 0 0 0 .`, `SRV 1 2 3 Sip.Example.`, `SSHFP 1 1 ` + strings.Repeat("ab", 20), `SVCB 0 foo.`, `SVCB 1 .`, `TA 1 8 2 ` + strings.Repeat("ab", 32),
		`SVCB 1 . key65000 alpn=h2 port=0`, `HTTPS 1 . ech="AAAA" ipv6hint=2001:db8::1,::ffff:1.2.3.4 ipv4hint=1.2.3.4 no-default-alpn alpn="f\\\\oo\\,bar,h2" mandatory=ipv4hint,alpn key667="hello\210qoo" key668=`, `HTTPS 1 . dohpath=/q{?dns} ohttp`,
		`TALINK a. b.`, `TLSA 0 0 0 00`, `TLSA 3 1 1 ` + strings.Repeat("ab", 32), `TXT ""`, `TXT "" "" ""`, `TXT \000\255`, `TXT "` + strings.Repeat("x", 255) + `" y`, `TXT \# 1 00`, `UID 5`, `GID 5`, `UINFO a`, `URI 10 1 "ftp://ftp1.example.com/public"`, `URI 0 0 ""`, `X25 311061700956`, `ISDN "150862028003217" "004"`, `ISDN "1"`, `GPOS -32.6882 116.8652 10.0`,
		`EID AAAA`, `NIMLOC AAAA`, `NXNAME \# 0`, `TYPE65280 \# 0`, `TYPE65534 \# 1 ff`, `RESINFO qnamemin`, `AMTRELAY 10 0 0 .`, `AMTRELAY 10 1 3 A.example.`, `AMTRELAY 10 0 1 192.0.2.1`, `AMTRELAY 10 0 2 2001:db8::1`, `AVC "a"`, `NULL \# 3 010203`, `TYPE10 \# 0`, `DOA \# 3 010203`, `WKS \# 5 0102030405`, `SINK \# 3 010203`, `TYPE262 \# 3 010203`, `KEY 256 3 8 AAAA`, `SIG A 8 2 1 20300101000000 20200101000000 1 a. AAAA`,
		`TYPE64 \# 7 0001 00 0001 0000`, `TYPE64 \# 3 000100`, `TYPE42 \# 0`, `TYPE49 \# 0`, `TYPE62 \# 6 000000000000`, `DSYNC CDS NOTIFY 53 a.`, `TYPE16 \# 3 0161 00`, `CNAME ` + long + strings.Repeat("b", 48), `DNAME Other.Example.`,
	}
	var text strings.Builder
	for i, row := range rows {
		text.WriteString("T" + string(rune('a'+i/26)) + string(rune('a'+i%26)) + " " + row + " ; @primary check=none\n")
	}
	return text.String()
}

// A group of any type that can be steered answers from a zone that is loaded
// apart as it does from one that is loaded here.
func TestApartEveryType(t *testing.T) {
	loaded := 0
	for line := range strings.Lines(everyType()) {
		cfg := configured(t, checksText, header+line)
		here, problems := loadZone(cfg.Zones[0], cfg.Vocabulary(), nil)
		if here == nil || len(here.groups) == 0 { // no such type, or not to be steered
			continue
		}
		loaded++
		apart, found := delivered(t, order{Source: cfg.Zones[0], Vocabulary: cfg.Vocabulary()})
		if apart == nil || len(found) != len(problems) {
			t.Errorf("%s: %v", line, found)
			continue
		}
		name, _, _ := strings.Cut(line, " ")
		question := name + " " + here.groups[0].Key.TypeName()
		got, want := answerOf(t, cfg, apart, question), answerOf(t, cfg, here, question)
		if got != want || here.groups[0].Members[0].RR.String() != apart.groups[0].Members[0].RR.String() {
			t.Errorf("%s:\ngot  %s\nwant %s", line, got, want)
		}
	}
	if loaded < 90 {
		t.Errorf("only %d records", loaded)
	}
}
