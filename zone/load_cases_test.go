package zone

// loadCases are zones without problems, and their records apart from head: what
// was made of an annotation stands behind the bar.
var loadCases = []zoneCase{
	{
		name: "annotation",
		zone: `www A 192.0.2.1 ; @primary check=web
`,
		want: `www.example.com. 60 IN A 192.0.2.1 | failover primary 192.0.2.1 weight 1 [web] 192.0.2.1:0 line 5
`,
	},
	{
		name: "annotation without a blank",
		zone: `www A 192.0.2.1;@primary check=web
`,
		want: `www.example.com. 60 IN A 192.0.2.1 | failover primary 192.0.2.1 weight 1 [web] 192.0.2.1:0 line 5
`,
	},
	{
		name: "case does not matter",
		zone: `www A 192.0.2.1 ; @PRIMARY Check=WEB,Ping ID=Tokyo POLICY=Failover
`,
		want: `www.example.com. 60 IN A 192.0.2.1 | failover primary tokyo weight 1 [web ping] 192.0.2.1:0 line 5
`,
	},
	{
		name: "all keys",
		zone: `www A 192.0.2.1 ; @secondary check=web target=192.0.2.9:8080 id=a weight=0 policy=sticky
`,
		want: `www.example.com. 60 IN A 192.0.2.1 | sticky secondary a weight 0 [web] 192.0.2.9:8080 line 5
`,
	},
	{
		name: "greatest weight, no check",
		zone: `www A 192.0.2.1 ; @primary check=none weight=65535
`,
		want: `www.example.com. 60 IN A 192.0.2.1 | failover primary 192.0.2.1 weight 65535 [] 192.0.2.1:0 line 5
`,
	},
	{
		name: "target of another family",
		zone: `www A 192.0.2.1 ; @primary check=web target=2001:db8::1
`,
		want: `www.example.com. 60 IN A 192.0.2.1 | failover primary 192.0.2.1 weight 1 [web] 2001:db8::1:0 line 5
`,
	},
	{
		name: "target of another family with port",
		zone: `www A 192.0.2.1 ; @primary check=web target=[2001:db8::1]:53
`,
		want: `www.example.com. 60 IN A 192.0.2.1 | failover primary 192.0.2.1 weight 1 [web] 2001:db8::1:53 line 5
`,
	},
	{
		name: "port alone",
		zone: `www AAAA 2001:db8::1 ; @primary check=web target=:8443
`,
		want: `www.example.com. 60 IN AAAA 2001:db8::1 | failover primary 2001:db8::1 weight 1 [web] 2001:db8::1:8443 line 5
`,
	},
	{
		name: "fallback needs no check",
		zone: `www A 192.0.2.1 ; @fallback
`,
		want: `www.example.com. 60 IN A 192.0.2.1 | failover fallback 192.0.2.1 weight 1 [] 192.0.2.1:0 line 5
`,
	},
	{
		name: "check of the policy",
		zone: `www A 192.0.2.1 ; @blue policy=blue-green
www A 192.0.2.2 ; @green check=ping
www A 192.0.2.3 ; @grey
`,
		want: `www.example.com. 60 IN A 192.0.2.1 | blue-green blue 192.0.2.1 weight 1 [web] 192.0.2.1:0 line 5
www.example.com. 60 IN A 192.0.2.2 | blue-green green 192.0.2.2 weight 1 [ping] 192.0.2.2:0 line 6
www.example.com. 60 IN A 192.0.2.3 | blue-green grey 192.0.2.3 weight 1 [] 192.0.2.3:0 line 7
`,
	},
	{
		name: "several CNAMEs",
		zone: `www CNAME a.example.net. ; @primary check=web target=192.0.2.1
www CNAME b.example.net. ; @secondary check=none
`,
		want: `www.example.com. 60 IN CNAME a.example.net. | failover primary a.example.net. weight 1 [web] 192.0.2.1:0 line 5
www.example.com. 60 IN CNAME b.example.net. | failover secondary b.example.net. weight 1 [] invalid IP:0 line 6
`,
	},
	{
		name: "A and AAAA are separate groups",
		zone: `www A 192.0.2.1 ; @primary check=web
www AAAA 2001:db8::1 ; @primary check=web policy=sticky
`,
		want: `www.example.com. 60 IN A 192.0.2.1 | failover primary 192.0.2.1 weight 1 [web] 192.0.2.1:0 line 5
www.example.com. 60 IN AAAA 2001:db8::1 | sticky primary 2001:db8::1 weight 1 [web] 2001:db8::1:0 line 6
`,
	},
	{
		name: "records of a group need not stand together",
		zone: `www A 192.0.2.1 ; @primary check=web
ftp A 192.0.2.9
WWW A 192.0.2.2 ; @primary check=web
`,
		want: `www.example.com. 60 IN A 192.0.2.1 | failover primary 192.0.2.1 weight 1 [web] 192.0.2.1:0 line 5
www.example.com. 60 IN A 192.0.2.2 | failover primary 192.0.2.2 weight 1 [web] 192.0.2.2:0 line 7
ftp.example.com. 60 IN A 192.0.2.9
`,
	},
	{
		name: "static",
		zone: `www A 192.0.2.1 ; @static
    A 192.0.2.2 ; @Static
`,
		want: `www.example.com. 60 IN A 192.0.2.1
www.example.com. 60 IN A 192.0.2.2
`,
	},
	{
		name: "plain comments",
		zone: `www A 192.0.2.1 ; primary @home
ftp A 192.0.2.1 ;; @primary
;@ NS ns2
`,
		want: `www.example.com. 60 IN A 192.0.2.1
ftp.example.com. 60 IN A 192.0.2.1
`,
	},
	{
		name: "annotation on the first line of several",
		zone: `www ( A ; @primary check=web
  192.0.2.1 ; the first
  ) ; done
ftp A 192.0.2.9
`,
		want: `www.example.com. 60 IN A 192.0.2.1 | failover primary 192.0.2.1 weight 1 [web] 192.0.2.1:0 line 5
ftp.example.com. 60 IN A 192.0.2.9
`,
	},
	{
		name: "semicolon and at sign in quotes",
		zone: `www TXT "; @primary check=web" x\;@y
`,
		want: `www.example.com. 60 IN TXT "; @primary check=web" "x;@y"
`,
	},
	{
		name: "generate keeps TTL and annotation",
		zone: `$GENERATE 1-2 www A 192.0.2.$ ; @primary check=web id=web-$
`,
		want: `www.example.com. 60 IN A 192.0.2.1 | failover primary web-1 weight 1 [web] 192.0.2.1:0 line 5
www.example.com. 60 IN A 192.0.2.2 | failover primary web-2 weight 1 [web] 192.0.2.2:0 line 5
`,
	},
	{
		name: "generate over several names",
		zone: `$TTL 5
$GENERATE 1-2 www$ A 192.0.2.$ ; @primary check=web
`,
		want: `www1.example.com. 5 IN A 192.0.2.1 | failover primary 192.0.2.1 weight 1 [web] 192.0.2.1:0 line 6
www2.example.com. 5 IN A 192.0.2.2 | failover primary 192.0.2.2 weight 1 [web] 192.0.2.2:0 line 6
`,
	},
	{
		name: "name server with a steered address",
		zone: `@ NS ns9
ns9 A 192.0.2.1 ; @primary check=web
`,
		want: `ns9.example.com. 60 IN A 192.0.2.1 | failover primary 192.0.2.1 weight 1 [web] 192.0.2.1:0 line 6
`,
	},
	{
		name: "escapes have one spelling",
		zone: `\119ww A 192.0.2.1 ; @primary check=web
www A 192.0.2.2 ; @primary check=web
`,
		want: `www.example.com. 60 IN A 192.0.2.1 | failover primary 192.0.2.1 weight 1 [web] 192.0.2.1:0 line 5
www.example.com. 60 IN A 192.0.2.2 | failover primary 192.0.2.2 weight 1 [web] 192.0.2.2:0 line 6
`,
	},
	{
		name: "wildcard and apex",
		zone: `* A 192.0.2.1 ; @primary check=web
*.deep AAAA 2001:db8::1 ; @primary check=web
`,
		want: `*.example.com. 60 IN A 192.0.2.1 | failover primary 192.0.2.1 weight 1 [web] 192.0.2.1:0 line 5
*.deep.example.com. 60 IN AAAA 2001:db8::1 | failover primary 2001:db8::1 weight 1 [web] 2001:db8::1:0 line 6
`,
	},
	{
		name: "owner left out",
		zone: `www A 192.0.2.1 ; @primary check=web
    A 192.0.2.2 ; @primary check=web
    TXT x
`,
		want: `www.example.com. 60 IN A 192.0.2.1 | failover primary 192.0.2.1 weight 1 [web] 192.0.2.1:0 line 5
www.example.com. 60 IN A 192.0.2.2 | failover primary 192.0.2.2 weight 1 [web] 192.0.2.2:0 line 6
www.example.com. 60 IN TXT "x"
`,
	},
	{
		name: "owner left out after an origin",
		zone: `www A 192.0.2.1
$ORIGIN sub
 TXT still-www
www TXT another
`,
		want: `www.example.com. 60 IN A 192.0.2.1
www.example.com. 60 IN TXT "still-www"
www.sub.example.com. 60 IN TXT "another"
`,
	},
	{
		name: "TTL and class in either order",
		zone: `a 5 IN TXT x
b IN 6 TXT x
c 1m TXT x
d IN TXT x
e CLASS1 TXT x
`,
		want: `a.example.com. 5 IN TXT "x"
b.example.com. 6 IN TXT "x"
c.example.com. 60 IN TXT "x"
d.example.com. 60 IN TXT "x"
e.example.com. 60 IN TXT "x"
`,
	},
	{
		name: "names that are keywords",
		zone: `in A 192.0.2.1
a A 192.0.2.2
60 A 192.0.2.3
txt TXT a
`,
		want: `in.example.com. 60 IN A 192.0.2.1
a.example.com. 60 IN A 192.0.2.2
60.example.com. 60 IN A 192.0.2.3
txt.example.com. 60 IN TXT "a"
`,
	},
	{
		name: "names in data take the origin",
		zone: `$ORIGIN sub
a MX 10 @
b MX 10 x
c MX 10 x.
d SRV 1 2 3 y
`,
		want: `a.sub.example.com. 60 IN MX 10 sub.example.com.
b.sub.example.com. 60 IN MX 10 x.sub.example.com.
c.sub.example.com. 60 IN MX 10 x.
d.sub.example.com. 60 IN SRV 1 2 3 y.sub.example.com.
`,
	},
	{
		name: "parentheses anywhere",
		zone: `a ( TXT
  "one" ; two
( "three" ) ) ; @static
(b) TXT x
`,
		want: `a.example.com. 60 IN TXT "one" "three"
b.example.com. 60 IN TXT "x"
`,
	},
	{
		name: "unknown types",
		zone: `a TYPE65280 \# 3 0a0b0c
a TYPE65280 \# 2 0a 0b
b TYPE1 \# 4 c0000201
`,
		want: `a.example.com. 60 CLASS1 TYPE65280 \# 3 0a0b0c
a.example.com. 60 CLASS1 TYPE65280 \# 2 0a0b
b.example.com. 60 IN A 192.0.2.1
`,
	},
	{
		name: "types of one owner are in the order of their numbers",
		zone: `a AAAA 2001:db8::1
a TXT x
a A 192.0.2.1
`,
		want: `a.example.com. 60 IN A 192.0.2.1
a.example.com. 60 IN TXT "x"
a.example.com. 60 IN AAAA 2001:db8::1
`,
	},
	{
		name: "members keep the order of the file",
		zone: `www A 192.0.2.9 ; @secondary check=web
www A 192.0.2.1 ; @primary check=web
www A 192.0.2.5 ; @secondary check=web
`,
		want: `www.example.com. 60 IN A 192.0.2.9 | failover secondary 192.0.2.9 weight 1 [web] 192.0.2.9:0 line 5
www.example.com. 60 IN A 192.0.2.1 | failover primary 192.0.2.1 weight 1 [web] 192.0.2.1:0 line 6
www.example.com. 60 IN A 192.0.2.5 | failover secondary 192.0.2.5 weight 1 [web] 192.0.2.5:0 line 7
`,
	},
	{
		name: "IPv4-mapped address",
		zone: `www AAAA ::ffff:192.0.2.1 ; @primary check=web
`,
		want: `www.example.com. 60 IN AAAA ::ffff:192.0.2.1 | failover primary ::ffff:192.0.2.1 weight 1 [web] 192.0.2.1:0 line 5
`,
	},
}
