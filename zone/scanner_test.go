package zone

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestScanner holds what the lexical front end makes of a text: a line for
// each entry, with its place, its text and its annotation or fault.
func TestScanner(t *testing.T) {
	for _, tt := range scannerCases {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, scan(tt.text)); diff != "" {
				t.Error("-want +got:\n" + diff)
			}
		})
	}
}

// scannerCases are texts and their entries.
var scannerCases = []struct {
	name, text string
	want       []string
}{
	{
		name: "nothing",
		text: "\n \t\r\n; only\n  ; comments",
	},
	{
		name: "plain lines",
		text: "a 1\n b 2  \r\nc",
		want: []string{"1 <a 1>", "2 < b 2>", "3 <c>"},
	},
	{
		name: "annotations",
		text: "a;@x\nb ; @y z  \r\nc ;  plain\nd ;; @no\n;@alone",
		want: []string{"1 <a> 1 <@x>", "2 <b> 2 <@y z>", "3 <c>", "4 <d>", "5 <> 5 <@alone>"},
	},
	{
		name: "several lines",
		text: "a ( 1 ; one\n 2 ; @x\n\n ) 3\nb",
		want: []string{"1 <a   1   2      3> 2 <@x>", "5 <b>"},
	},
	{
		name: "parentheses within each other",
		text: "a ( ( 1\n ) 2\n ) 3\nb",
		want: []string{"1 <a     1    2    3>", "4 <b>"},
	},
	{
		name: "parenthesis first",
		text: "( a 1\n)\n(\n b 2 )\n ( c 3 )",
		want: []string{"1 <a 1>", "3 <b 2>", "5 <   c 3>"},
	},
	{
		name: "quotes and escapes",
		text: `a "x;(\"" \; \( \" \\ ; @n`,
		want: []string{`1 <a "x;(\"" \; \( \" \\> 1 <@n>`},
	},
	{
		name: "quotes within a comment",
		text: "a ; \"( \nb ; )\"\nc",
		want: []string{"1 <a>", "2 <b>", "3 <c>"},
	},
	{
		name: "quote left open",
		text: "a \"x ; @y\nb",
		want: []string{"1 quote is not closed on its line", "2 <b>"},
	},
	{
		name: "quote left open within parentheses",
		text: "a ( 1\n \"x\n 2 )\nb",
		want: []string{"2 quote is not closed on its line", "4 <b>"},
	},
	{
		name: "backslash at the end of a quoted line",
		text: "a \"x\\\nb",
		want: []string{"1 quote is not closed on its line", "2 <b>"},
	},
	{
		name: "backslash at the end of a line and of the text",
		text: "a \\\nb \\",
		want: []string{`1 <a \>`, `2 <b \>`},
	},
	{
		name: "parenthesis left open",
		text: "a\nb ( 1\nc )\nd ( 2\ne \"\nf",
		want: []string{"1 <a>", "2 <b   1 c>", "4 opening parenthesis is never closed"},
	},
	{
		name: "parenthesis not opened",
		text: "a ) 1\nb",
		want: []string{"1 closing parenthesis without an opening one", "2 <b>"},
	},
	{
		name: "two annotations",
		text: "a ( ; @x\n1 ; @y\n) ; @z\nb ; @x",
		want: []string{"2 second annotation in one record", "4 <b> 4 <@x>"},
	},
	{
		name: "escapes",
		text: "\\000\\255 a\n\\256\n\\1\n\\12a\n\"\\300\"\n\\1",
		want: []string{`1 <\000\255 a>`, `2 bad escape "\256"`, `3 bad escape "\1"`, `4 bad escape "\12a"`, `5 bad escape "\300"`, `6 bad escape "\1"`},
	},
	{
		name: "long lines",
		text: strings.Repeat("a", maxEntry+1) + "\n" + strings.Repeat("\\a", maxEntry) + "\n(" + strings.Repeat("\n;\n", maxEntry+1) + ")\nb",
		want: []string{"1 record is longer than any record can be", "2 record is longer than any record can be", fmt.Sprintf("%d <b>", 4+2*(maxEntry+1))},
	},
}

func scan(text string) []string {
	var all []string
	s := newScanner([]byte(text))
	for e, ok := s.next(); ok; e, ok = s.next() {
		switch {
		case e.fault != nil:
			all = append(all, fmt.Sprintf("%d %s", e.line, e.fault.message))
		case e.note != nil:
			all = append(all, fmt.Sprintf("%d <%s> %d <%s>", e.line, e.text, e.noteL, e.note))
		default:
			all = append(all, fmt.Sprintf("%d <%s>", e.line, e.text))
		}
	}
	return all
}

// TestCursor takes words apart.
func TestCursor(t *testing.T) {
	for text, want := range map[string][]string{
		"":                     nil,
		"  \t":                 nil,
		"a":                    {"a"},
		" a\tb  c ":            {"a", "b", "c"},
		`a\ b c`:               {`a\ b`, "c"},
		`"a b" c`:              {`"a b"`, "c"},
		`x="a \" b"y c`:        {`x="a \" b"y`, "c"},
		`a\`:                   {`a\`},
		`"open end`:            {`"open end`},
		"a\rb":                 {"a", "b"},
		`\"a b`:                {`\"a`, "b"},
		strings.Repeat("x", 9): {"xxxxxxxxx"},
	} {
		var got []string
		cur := cursor{rest: []byte(text)}
		for w := cur.word(); w != nil; w = cur.word() {
			got = append(got, string(w))
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%q: %s", text, diff)
		}
	}
}

// TestKeywords tells types from classes.
func TestKeywords(t *testing.T) {
	for word, want := range map[string]string{
		"A": "type 1", "aaaa": "type 28", "NSEC3PARAM": "type 51", "type65280": "type 65280", "TYPE1": "type 1", "TYPE0": "type 0",
		"IN": "class 1", "in": "class 1", "CH": "class 3", "CLASS1": "class 1", "class255": "class 255", "ANY": "type 255 class 255",
		"TYPE": "", "TYPE65536": "", "TYPE1x": "", "TYPE-1": "", "CLASS": "", "CLASS70000": "", "": "", "averyveryverylongword": "", "x": "",
	} {
		got := ""
		if n, ok := typeOf([]byte(word)); ok {
			got = fmt.Sprint("type ", n)
		}
		if n, ok := classOf([]byte(word)); ok {
			got = strings.TrimSpace(got + fmt.Sprint(" class ", n))
		}
		if got != want {
			t.Errorf("%q: %q, want %q", word, got, want)
		}
	}
}
