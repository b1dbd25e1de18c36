package zone

import (
	"fmt"
	"strings"
	"testing"
)

// TestAnnotation reads annotations alone: the note that each gives, with what
// differs from the defaults, or the messages of its faults.
func TestAnnotation(t *testing.T) {
	voc := newVocabulary(testVocabulary())
	for _, tt := range annotationCases {
		n, faults := voc.note(tt.text)
		got := describe(n)
		if len(faults) > 0 {
			var messages []string
			for _, f := range faults {
				messages = append(messages, f.message)
				if f.hint == "" {
					t.Errorf("%s: no hint for %q", tt.text, f.message)
				}
			}
			got = strings.Join(messages, "; ")
		}
		if got != tt.want {
			t.Errorf("%s: got %s, want %s", tt.text, got, tt.want)
		}
	}
}

// describe writes what a note says beside the defaults.
func describe(n note) string {
	if n.static {
		return "static"
	}
	parts := []string{"pool=" + n.pool}
	if n.checked {
		parts = append(parts, fmt.Sprintf("checks=%v", n.checks))
	}
	if n.id != "" {
		parts = append(parts, "id="+n.id)
	}
	if n.policy != "" {
		parts = append(parts, "policy="+n.policy)
	}
	if n.target != (Target{}) {
		parts = append(parts, fmt.Sprintf("target=%v:%d", n.target.Addr, n.target.Port))
	}
	if n.weight != 1 {
		parts = append(parts, fmt.Sprintf("weight=%d", n.weight))
	}
	return strings.Join(parts, " ")
}

// TestHints holds the hints that name what exists.
func TestHints(t *testing.T) {
	many := make([]string, 0, 11)
	for i := range cap(many) {
		many = append(many, fmt.Sprintf("check-%d", i))
	}
	for _, tt := range []struct {
		what, name string
		known      []string
		want       string
	}{
		{"check", "wbe", []string{"ping", "web"}, `did you mean "web"?`},
		{"check", "zzz", []string{"web", "ping", "web"}, "known checks: ping, web"},
		{"policy", "zzz", []string{"sticky"}, "known policies: sticky"},
		{"key", "zzz", keys(), "known keys: check, id, policy, target, weight"},
		{"check", "zzz", nil, "no checks are configured"},
		{"policy", "zzz", nil, "no policies are configured"},
		{"check", "zzz", many, "it is none of the checks that are configured"},
	} {
		if got := unknown(tt.what, tt.name, tt.known).hint; got != tt.want {
			t.Errorf("%s %s: %s, want %s", tt.what, tt.name, got, tt.want)
		}
	}
}

// annotationCases are annotations and what they say, or what is wrong with them.
var annotationCases = []struct{ text, want string }{
	{
		text: `@primary check=web`,
		want: `pool=primary checks=[web]`,
	},
	{
		text: `@primary`,
		want: `pool=primary`,
	},
	{
		text: `@PRIMARY`,
		want: `pool=primary`,
	},
	{
		text: `@primary check=none`,
		want: `pool=primary checks=[]`,
	},
	{
		text: `@primary check=NONE`,
		want: `pool=primary checks=[]`,
	},
	{
		text: `@primary check=web,ping`,
		want: `pool=primary checks=[web ping]`,
	},
	{
		text: `@primary check=Web,PING weight=7`,
		want: `pool=primary checks=[web ping] weight=7`,
	},
	{
		text: `@primary weight=0`,
		want: `pool=primary weight=0`,
	},
	{
		text: `@primary weight=65535`,
		want: `pool=primary weight=65535`,
	},
	{
		text: `@primary id=tokyo`,
		want: `pool=primary id=tokyo`,
	},
	{
		text: `@primary id=Tokyo-1`,
		want: `pool=primary id=tokyo-1`,
	},
	{
		text: `@primary id=1`,
		want: `pool=primary id=1`,
	},
	{
		text: `@primary policy=sticky`,
		want: `pool=primary policy=sticky`,
	},
	{
		text: `@primary policy=Blue-Green`,
		want: `pool=primary policy=blue-green`,
	},
	{
		text: `@primary target=192.0.2.1`,
		want: `pool=primary target=192.0.2.1:0`,
	},
	{
		text: `@primary target=192.0.2.1:80`,
		want: `pool=primary target=192.0.2.1:80`,
	},
	{
		text: `@primary target=[2001:db8::1]:80`,
		want: `pool=primary target=2001:db8::1:80`,
	},
	{
		text: `@primary target=:80`,
		want: `pool=primary target=invalid IP:80`,
	},
	{
		text: `@static`,
		want: `static`,
	},
	{
		text: `@STATIC`,
		want: `static`,
	},
	{
		text: `@primary   weight=2    id=x`,
		want: `pool=primary id=x weight=2`,
	},
	{
		text: `@`,
		want: `annotation without a pool`,
	},
	{
		text: `@ primary`,
		want: `annotation without a pool`,
	},
	{
		text: `@@primary`,
		want: `bad pool name "@primary"`,
	},
	{
		text: `@-primary`,
		want: `bad pool name "-primary"`,
	},
	{
		text: `@pri_mary`,
		want: `bad pool name "pri_mary"`,
	},
	{
		text: `@primary,secondary`,
		want: `bad pool name "primary,secondary"`,
	},
	{
		text: `@primary=1`,
		want: `bad pool name "primary=1"`,
	},
	{
		text: `@nobody`,
		want: `unknown pool "nobody"`,
	},
	{
		text: `@secondry`,
		want: `unknown pool "secondry"`,
	},
	{
		text: `@static check=web`,
		want: `@static takes no "check=web"`,
	},
	{
		text: `@primary check`,
		want: `"check" in an annotation is not KEY=VALUE`,
	},
	{
		text: `@primary =web`,
		want: `"=web" in an annotation is not KEY=VALUE`,
	},
	{
		text: `@primary = web x`,
		want: `"=" in an annotation is not KEY=VALUE`,
	},
	{
		text: `@primary check=`,
		want: `check= without a value`,
	},
	{
		text: `@primary weight= id= target= policy=`,
		want: `weight= without a value; id= without a value; target= without a value; policy= without a value`,
	},
	{
		text: `@primary check=web check=ping`,
		want: `second check= in one annotation`,
	},
	{
		text: `@primary check=web Check=web`,
		want: `second check= in one annotation`,
	},
	{
		text: `@primary foo=1 foo=2`,
		want: `unknown key "foo"; second foo= in one annotation`,
	},
	{
		text: `@primary foo=`,
		want: `unknown key "foo"`,
	},
	{
		text: `@primary weigth=1`,
		want: `unknown key "weigth"`,
	},
	{
		text: `@primary weight=-1`,
		want: `bad weight "-1"`,
	},
	{
		text: `@primary weight=+1`,
		want: `bad weight "+1"`,
	},
	{
		text: `@primary weight=1.5`,
		want: `bad weight "1.5"`,
	},
	{
		text: `@primary weight=65536`,
		want: `bad weight "65536"`,
	},
	{
		text: `@primary weight=99999999999999999999`,
		want: `bad weight "99999999999999999999"`,
	},
	{
		text: `@primary check=web,`,
		want: `check=web, holds an empty name`,
	},
	{
		text: `@primary check=,web`,
		want: `check=,web holds an empty name`,
	},
	{
		text: `@primary check=web,,ping`,
		want: `check=web,,ping holds an empty name`,
	},
	{
		text: `@primary check=none,web`,
		want: `check=none,web says none and more`,
	},
	{
		text: `@primary check=web,none`,
		want: `check=web,none says none and more`,
	},
	{
		text: `@primary check=web,web`,
		want: `check=web,web names "web" twice`,
	},
	{
		text: `@primary check=http`,
		want: `unknown check "http"`,
	},
	{
		text: `@primary check=web;`,
		want: `unknown check "web;"`,
	},
	{
		text: `@primary policy=none`,
		want: `unknown policy "none"`,
	},
	{
		text: `@primary id=a/b`,
		want: `bad id "a/b"`,
	},
	{
		text: `@primary id=*`,
		want: `bad id "*"`,
	},
	{
		text: `@primary id=a.b`,
		want: `bad id "a.b"`,
	},
	{
		text: `@primary target=web`,
		want: `bad target "web"`,
	},
	{
		text: `@primary target=192.0.2.1:x`,
		want: `bad target "192.0.2.1:x"`,
	},
	{
		text: `@primary target=http://192.0.2.1`,
		want: `bad target "http://192.0.2.1"`,
	},
	{
		text: `@primary target=192.0.2.1/24`,
		want: `bad target "192.0.2.1/24"`,
	},
	{
		text: `@primary weight=x check=y`,
		want: `bad weight "x"; unknown check "y"`,
	},
	{
		text: `@nobody weight=x`,
		want: `unknown pool "nobody"; bad weight "x"`,
	},
}
