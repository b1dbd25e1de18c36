package zone

// ruleCases are the rules of a zone, each met and broken.
var ruleCases = []zoneCase{
	{
		name: "one annotated record",
		zone: `www A 192.0.2.1 ; @primary check=web
`,
		want: ``,
	},
	{
		name: "a group in three pools",
		zone: `www A 192.0.2.1 ; @primary check=web
www A 192.0.2.2 ; @secondary check=web
www A 192.0.2.3 ; @tertiary check=web
www A 192.0.2.4 ; @fallback
`,
		want: ``,
	},
	{
		name: "annotated and not, the first is without",
		zone: `www A 192.0.2.1
www A 192.0.2.2 ; @primary check=web
`,
		want: `5 error www.example.com/A: record has no annotation, but others of its RRset have (example.zone:6)
`,
	},
	{
		name: "annotated A beside plain AAAA",
		zone: `www A 192.0.2.1 ; @primary check=web
www AAAA 2001:db8::1
`,
		want: ``,
	},
	{
		name: "annotated and not, far apart and in other case",
		zone: `www A 192.0.2.1 ; @primary check=web
ftp A 192.0.2.9
WWW A 192.0.2.2
`,
		want: `7 error www.example.com/A: record has no annotation, but others of its RRset have (example.zone:5)
`,
	},
	{
		name: "static on one of three",
		zone: `www A 192.0.2.1
www A 192.0.2.2 ; @static
www A 192.0.2.3
`,
		want: `5 error www.example.com/A: record has no annotation, but others of its RRset say @static (example.zone:6)
`,
	},
	{
		name: "static on a single record and on other types",
		zone: `www A 192.0.2.1 ; @static
www TXT x ; @static
@ NS ns.example.net. ; @static
`,
		want: `3 error example.com/NS: record has no annotation, but others of its RRset say @static (example.zone:7)
`,
	},
	{
		name: "the same policy twice",
		zone: `www A 192.0.2.1 ; @primary check=web policy=sticky
www A 192.0.2.2 ; @secondary check=web policy=STICKY
`,
		want: ``,
	},
	{
		name: "two policies, the default written out",
		zone: `www A 192.0.2.1 ; @primary check=web policy=sticky
www A 192.0.2.2 ; @primary check=web policy=failover
`,
		want: `6 error www.example.com/A: policy "failover" differs from policy "sticky" at example.zone:5
`,
	},
	{
		name: "policy on the last record",
		zone: `www A 192.0.2.1 ; @blue
www A 192.0.2.2 ; @green policy=blue-green
`,
		want: ``,
	},
	{
		name: "pool that the policy lacks",
		zone: `www A 192.0.2.1 ; @primary check=web policy=sticky
www A 192.0.2.2 ; @tertiary check=web
`,
		want: `6 error www.example.com/A: policy "sticky" does not use pool "tertiary"
`,
	},
	{
		name: "fallback that the policy lacks",
		zone: `www A 192.0.2.1 ; @primary check=web policy=sticky
www A 192.0.2.2 ; @fallback
`,
		want: `6 error www.example.com/A: policy "sticky" does not use pool "fallback"
`,
	},
	{
		name: "everything wrong in one annotation",
		zone: `www A 192.0.2.1 ; @primry check=wbe weight=x id=- target=y policy=z colour=red
`,
		want: `5 error unknown pool "primry"
5 error unknown check "wbe"
5 error bad weight "x"
5 error bad id "-"
5 error bad target "y"
5 error unknown policy "z"
5 error unknown key "colour"
`,
	},
	{
		name: "group with one TTL",
		zone: `www 30 A 192.0.2.1 ; @primary check=web
www 30 A 192.0.2.2 ; @primary check=web
`,
		want: ``,
	},
	{
		name: "group with three TTLs",
		zone: `www 30 A 192.0.2.1 ; @primary check=web
www 40 A 192.0.2.2 ; @primary check=web
www 50 A 192.0.2.3 ; @primary check=web
`,
		want: `6 error www.example.com/A: TTL 40 differs from TTL 30 at example.zone:5
7 error www.example.com/A: TTL 50 differs from TTL 30 at example.zone:5
`,
	},
	{
		name: "A and AAAA may have their own TTLs",
		zone: `www 30 A 192.0.2.1 ; @primary check=web
www 40 AAAA 2001:db8::1 ; @primary check=web
`,
		want: ``,
	},
	{
		name: "plain RRset with two TTLs",
		zone: `www 30 TXT a
www 20 TXT b
`,
		want: `6 warning www.example.com/TXT: TTL 20 differs from TTL 30 at example.zone:5; 20 is used for all
`,
	},
	{
		name: "signatures with several TTLs",
		zone: `@ 60 RRSIG A 8 2 60 20300101000000 20200101000000 1 example.com. AAAA
@ 30 RRSIG TXT 8 2 30 20300101000000 20200101000000 1 example.com. AAAA
`,
		want: ``,
	},
	{
		name: "CNAME in one group without address",
		zone: `www CNAME a.example.net. ; @primary check=web target=192.0.2.1
www CNAME b.example.net. ; @secondary check=web
`,
		want: `6 error www.example.com/CNAME: member has no address to probe
`,
	},
	{
		name: "MX steered",
		zone: `@ MX 10 a.example.net. ; @primary check=web target=192.0.2.1:25
@ MX 10 b.example.net. ; @secondary check=none
`,
		want: ``,
	},
	{
		name: "HTTPS steered by port alone",
		zone: `www HTTPS 1 . port=8443 ; @primary check=web target=:8443
`,
		want: `5 error www.example.com/HTTPS: member has no address to probe
`,
	},
	{
		name: "addresses that cannot be probed",
		zone: `www AAAA :: ; @primary check=web
www AAAA ff02::1 ; @primary check=web
`,
		want: `5 error www.example.com/AAAA: "::" cannot be probed
6 error www.example.com/AAAA: "ff02::1" cannot be probed
`,
	},
	{
		name: "unspecified address that is not probed",
		zone: `www A 0.0.0.0 ; @fallback
`,
		want: ``,
	},
	{
		name: "id like another member's data is no name",
		zone: `www A 192.0.2.1 ; @primary check=web id=192.0.2.2
`,
		want: `5 error bad id "192.0.2.2"
`,
	},
	{
		name: "same id in two groups",
		zone: `www A 192.0.2.1 ; @primary check=web id=a
www AAAA 2001:db8::1 ; @primary check=web id=a
ftp A 192.0.2.1 ; @primary check=web id=a
`,
		want: ``,
	},
	{
		name: "same record in two spellings",
		zone: `www AAAA 2001:db8::1 ; @primary check=web
www AAAA 2001:DB8:0::1 ; @secondary check=web
`,
		want: `6 error www.example.com/AAAA: duplicate record in a group: it stands at example.zone:5 too
`,
	},
	{
		name: "duplicate of which one is annotated",
		zone: `www A 192.0.2.1
www A 192.0.2.1 ; @primary check=web
`,
		want: `6 error www.example.com/A: duplicate record in a group: it stands at example.zone:5 too
`,
	},
	{
		name: "duplicate in other case",
		zone: `www CNAME a.example.net.
www CNAME A.EXAMPLE.net.
`,
		want: `6 warning www.example.com/CNAME: duplicate record: it stands at example.zone:5 too, and is kept once
`,
	},
	{
		name: "TXT differs by case",
		zone: `www TXT a
www TXT A
`,
		want: ``,
	},
	{
		name: "CNAME beside signatures",
		zone: `www CNAME a.example.net.
www RRSIG CNAME 8 3 60 20300101000000 20200101000000 1 example.com. AAAA
www NSEC example.com. CNAME RRSIG NSEC
`,
		want: ``,
	},
	{
		name: "steered CNAMEs beside data",
		zone: `www CNAME a.example.net. ; @primary check=none
www CNAME b.example.net. ; @primary check=none
www A 192.0.2.1
`,
		want: `5 error www.example.com: CNAME beside A
`,
	},
	{
		name: "one of two CNAMEs annotated",
		zone: `www CNAME a.example.net. ; @primary check=none
www CNAME b.example.net.
`,
		want: `6 error www.example.com/CNAME: record has no annotation, but others of its RRset have (example.zone:5)
`,
	},
	{
		name: "DNAME beside other data",
		zone: `old DNAME new
old A 192.0.2.1
`,
		want: ``,
	},
	{
		name: "DNAME at the apex",
		zone: `@ DNAME example.net.
`,
		want: `4 warning ns1.example.com/A is never answered: it is below the DNAME of example.com
`,
	},
	{
		name: "SOA twice and elsewhere",
		zone: `@ SOA ns1 hostmaster 8 3600 600 604800 60
www SOA ns1 hostmaster 9 3600 600 604800 60
`,
		want: `5 error example.com/SOA: second SOA; the first stands at example.zone:2
6 error SOA of www.example.com is not at the apex, example.com
`,
	},
	{
		name: "name server outside the zone",
		zone: `@ NS ns.example.net.
`,
		want: ``,
	},
	{
		name: "name server of a sibling zone that ends alike",
		zone: `@ NS ns.anexample.com.
`,
		want: ``,
	},
	{
		name: "name server without address",
		zone: `@ NS ns3
ns3 TXT x
`,
		want: `5 error example.com/NS: name server ns3.example.com has no address in the zone
`,
	},
	{
		name: "name server with a steered IPv6 address",
		zone: `@ NS ns3
ns3 AAAA 2001:db8::1 ; @primary check=web
`,
		want: ``,
	},
	{
		name: "name server is an alias",
		zone: `@ NS ns3
ns3 CNAME ns1 ; @primary check=none
`,
		want: `5 error example.com/NS: name server ns3.example.com is an alias (CNAME)
`,
	},
	{
		name: "names outside",
		zone: `example.net. A 192.0.2.1
com. A 192.0.2.1
  A 192.0.2.2
xexample.com. A 192.0.2.1
`,
		want: `5 error name example.net is outside the zone
6 error name com is outside the zone
8 error name xexample.com is outside the zone
`,
	},
	{
		name: "origin outside, names inside",
		zone: `$ORIGIN com.
www.example A 192.0.2.1
`,
		want: ``,
	},
	{
		name: "delegation with glue",
		zone: `sub NS ns.sub
ns.sub A 192.0.2.1
ns.sub AAAA 2001:db8::1
sub DS 1 8 2 00
`,
		want: ``,
	},
	{
		name: "delegation whose name server is at the cut",
		zone: `sub NS sub
sub A 192.0.2.1
`,
		want: ``,
	},
	{
		name: "glue of another delegation",
		zone: `sub NS ns.other
other NS ns.other
ns.other A 192.0.2.1
`,
		want: ``,
	},
	{
		name: "delegation below a delegation",
		zone: `sub NS ns.example.net.
deep.sub NS ns.example.net.
`,
		want: `6 warning deep.sub.example.com/NS is never answered: it is below the delegation of sub.example.com
`,
	},
	{
		name: "group below a delegation",
		zone: `sub NS ns.example.net.
www.sub A 192.0.2.1 ; @primary check=web
www.sub A 192.0.2.2 ; @primary check=web
`,
		want: `6 warning www.sub.example.com/A is never answered: it is below the delegation of sub.example.com
`,
	},
	{
		name: "plain RRset below a delegation warns once",
		zone: `sub NS ns.example.net.
www.sub A 192.0.2.1
www.sub A 192.0.2.2
`,
		want: `6 warning www.sub.example.com/A is never answered: it is below the delegation of sub.example.com
`,
	},
	{
		name: "two records of glue are not to be steered",
		zone: `sub NS ns.sub
ns.sub A 192.0.2.1
ns.sub A 192.0.2.2
`,
		want: ``,
	},
	{
		name: "several MX need no annotation",
		zone: `@ MX 10 a.example.net.
@ MX 20 b.example.net.
`,
		want: ``,
	},
	{
		name: "plain A and AAAA of several records",
		zone: `www A 192.0.2.1
www A 192.0.2.2
www AAAA 2001:db8::1
www AAAA 2001:db8::2
`,
		want: `5 warning www.example.com/A has several records and no annotation: all are answered, dead or alive
7 warning www.example.com/AAAA has several records and no annotation: all are answered, dead or alive
`,
	},
	{
		name: "stray annotations",
		zone: `; @primary check=web

; @static
; @secondary
; @nobody=x
;@home
`,
		want: `5 warning annotation stands on no record and has no effect
7 warning annotation stands on no record and has no effect
8 warning annotation stands on no record and has no effect
`,
	},
	{
		name: "faulty record does not hide the others",
		zone: `www A 192.0.2
  A 192.0.2.1
  AAA 192.0.2.1
ftp A 192.0.2.1 ; @nobody
`,
		want: `5 error "192.0.2" is not an IPv4 address
7 error unknown type "AAA"
8 error unknown pool "nobody"
`,
	},
	{
		name: "faulty SOA is not also missing",
		zone: `$ORIGIN sub
x ( 60 A
`,
		want: `6 error opening parenthesis is never closed
`,
	},
	{
		name: "lines after a faulty owner belong to nobody",
		zone: `a..b A 192.0.2.1
  A 192.0.2.2
  A 192.0.2
`,
		want: `5 error bad name "a..b": empty label
7 error "192.0.2" is not an IPv4 address
`,
	},
	{
		name: "lines after an unbalanced quote belong to nobody",
		zone: `a TXT "x
  A 192.0.2.2
  A 192.0.2.3
`,
		want: `5 error quote is not closed on its line
`,
	},
	{
		name: "one finding for all records of a directive",
		zone: `$GENERATE 1-3 www A 192.0.2.$ ; @blue check=web
$GENERATE 1-3 ftp A 192.0.2.$ ; @primary check=web weight=x$
$GENERATE 1-2 a$ A 192.0.2.300
`,
		want: `5 error www.example.com/A: policy "failover" does not use pool "blue"
6 error bad weight "x1"
6 error bad weight "x2"
6 error bad weight "x3"
7 error "192.0.2.300" is not an IPv4 address
`,
	},
}
