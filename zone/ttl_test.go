package zone

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestTTLRules reads whole zones and holds which TTL each record takes.
func TestTTLRules(t *testing.T) {
	for _, tt := range ttlCases {
		t.Run(tt.name, func(t *testing.T) {
			z, problems := Load(Source{"example.com", write(t, tt.zone)}, testVocabulary())
			if problems.Failed(false) {
				t.Fatal(problems)
			}
			var got []string
			for _, s := range z.RRsets {
				for _, rr := range s.RRs {
					fields := strings.Fields(rr.String())
					got = append(got, fields[3]+" "+fields[1])
				}
			}
			// NS sorts before SOA; the zones above begin with the SOA.
			got[0], got[1] = got[1], got[0]
			if diff := cmp.Diff(tt.want, strings.Join(got, ", ")); diff != "" {
				t.Error("-want +got:\n" + diff)
			}
		})
	}
}

// ttlCases are whole zones, and the types and TTLs of their records.
var ttlCases = []struct{ name, zone, want string }{
	{
		name: "$TTL",
		zone: `$TTL 5
@ SOA a b 1 2 3 4 5
@ NS x.
www TXT x
`,
		want: "SOA 5, NS 5, TXT 5",
	},
	{
		name: "$TTL does not give way to explicit ones",
		zone: `$TTL 5
@ 7 SOA a b 1 2 3 4 5
@ NS x.
www 9 TXT x
ftp TXT x
`,
		want: "SOA 7, NS 5, TXT 9, TXT 5",
	},
	{
		name: "$TTL in the middle",
		zone: `@ 7 SOA a b 1 2 3 4 5
@ NS x.
$TTL 1m
www TXT x
$TTL 0
ftp TXT x
`,
		want: "SOA 7, NS 7, TXT 60, TXT 0",
	},
	{
		name: "last explicit one",
		zone: `@ 7 SOA a b 1 2 3 4 5
@ NS x.
www 9 TXT x
ftp TXT x
ftp 11 MX 1 x.
`,
		want: "SOA 7, NS 7, TXT 9, MX 11, TXT 9",
	},
	{
		name: "SOA MINIMUM",
		zone: `@ SOA a b 1 2 3 4 77
@ NS x.
www 9 TXT x
ftp TXT x
`,
		want: "SOA 77, NS 77, TXT 9, TXT 9",
	},
	{
		name: "lowest of a plain RRset",
		zone: `@ 7 SOA a b 1 2 3 4 77
@ NS x.
www 30 TXT x
www 20 TXT y
www 25 TXT z
`,
		want: "SOA 7, NS 7, TXT 20, TXT 20, TXT 20",
	},
	{
		name: "of $GENERATE",
		zone: `@ 7 SOA a b 1 2 3 4 77
@ NS x.
$GENERATE 1-2 a$ TXT x
$TTL 8
$GENERATE 1-2 b$ TXT x
$GENERATE 1-1 c$ 1h IN TXT x
`,
		want: "SOA 7, NS 7, TXT 7, TXT 7, TXT 8, TXT 8, TXT 3600",
	},
}

// TestGenerateRecords expands whole directives.
func TestGenerateRecords(t *testing.T) {
	for _, tt := range generateCases {
		t.Run(tt.name, func(t *testing.T) {
			var got []string
			for _, s := range load(t, head+tt.zone).RRsets {
				for _, rr := range s.RRs {
					if owner, below := strings.CutSuffix(s.Name, ".example.com."); below && owner != "ns1" {
						got = append(got, owner+" "+strings.Trim(dataOf(rr), `"`))
					}
				}
			}
			if diff := cmp.Diff(tt.want, strings.Join(got, ", ")); diff != "" {
				t.Error("-want +got:\n" + diff)
			}
		})
	}
}

// generateCases are directives, and the owners and texts of the TXT records.
var generateCases = []struct{ name, zone, want string }{
	{
		name: "step",
		zone: "$GENERATE 1-7/3 a$ TXT $\n",
		want: "a1 1, a4 4, a7 7",
	},
	{
		name: "step that passes the end",
		zone: "$GENERATE 1-6/4 a$ TXT $\n",
		want: "a1 1, a5 5",
	},
	{
		name: "one value",
		zone: "$GENERATE 2147483647-2147483647 a TXT $\n",
		want: "a 2147483647",
	},
	{
		name: "one owner",
		zone: "$GENERATE 1-2 a TXT $\n",
		want: "a 1, a 2",
	},
	{
		name: "origin",
		zone: "$ORIGIN sub\n$GENERATE 1-1 a TXT $\n$ORIGIN example.com.\nb TXT x\n",
		want: "a.sub 1, b x",
	},
	{
		name: "the owner before it stays",
		zone: "b TXT y\n$GENERATE 1-2 a$ TXT $\n  TXT x\nb TXT z\n",
		want: "b y, b x, b z, a1 1, a2 2",
	},
	{
		name: "over several lines",
		zone: "$GENERATE 1-2 ( a$ ; @static\n TXT $ )\nb TXT x\n",
		want: "a1 1, a2 2, b x",
	},
	{
		name: "case of the directive",
		zone: "$generate 1-1 a TXT $\n",
		want: "a 1",
	},
}

// TestGenerateBound counts the records of all directives of a zone.
func TestGenerateBound(t *testing.T) {
	file := write(t, head+"$GENERATE 1-60 a$ TXT x\n$GENERATE 1-40 b$ TXT x\n")
	if _, problems := loadBounded(Source{"example.com", file}, testVocabulary(), 100, func() {}); len(problems) > 0 {
		t.Error(problems)
	}
	_, problems := loadBounded(Source{"example.com", file}, testVocabulary(), 99, func() {})
	if len(problems) != 1 || problems[0].Line != 6 {
		t.Error(problems)
	}
}
