package config

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const (
	secretA = "e5e973e5a6b2a43f48e7dc849e37bfcf"
	secretB = "445536bcd2513298075a5d379663c962"
)

// withSecrets loads a configuration beside a file of cookie secrets.
func withSecrets(t *testing.T, text string, mode os.FileMode) (*Config, string) {
	t.Helper()
	file := write(t, oneZone+"dns: { cookie_secret_file: secrets }\n")
	secrets := filepath.Join(filepath.Dir(file), "secrets")
	if err := os.WriteFile(secrets, []byte(text), mode); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(secrets, mode); err != nil {
		t.Fatal(err)
	}
	c, problems := Load(file)
	return c, strings.ReplaceAll(problems.Error(), filepath.Dir(file)+"/", "")
}

func TestCookieSecrets(t *testing.T) {
	a := Secret{0xe5, 0xe9, 0x73, 0xe5, 0xa6, 0xb2, 0xa4, 0x3f, 0x48, 0xe7, 0xdc, 0x84, 0x9e, 0x37, 0xbf, 0xcf}
	b := Secret{0x44, 0x55, 0x36, 0xbc, 0xd2, 0x51, 0x32, 0x98, 0x07, 0x5a, 0x5d, 0x37, 0x96, 0x63, 0xc9, 0x62}
	for text, want := range map[string][]Secret{
		secretA: {a}, secretA + "\n": {a}, secretA + "\n" + secretB + "\n": {a, b},
		"\n  " + strings.ToUpper(secretB) + "\r\n\r\n" + secretA + "\r\n": {b, a},
	} {
		c, problems := withSecrets(t, text, 0o600)
		if c == nil || problems != "" || !cmp.Equal(c.DNS.CookieSecrets, want) || filepath.Base(c.DNS.CookieSecretFile) != "secrets" {
			t.Errorf("%q: %v, %s", text, c, problems)
		}
	}
}

// TestCookieSecretsBad holds what is said of a bad file, and that nothing of it is shown.
func TestCookieSecretsBad(t *testing.T) {
	const hint = "\n  hint: one line of 32 hexadecimal digits, or two while secrets are changed; `openssl rand -hex 16` makes one"
	for text, want := range map[string]string{
		"":                                 "secrets:1: no cookie secret",
		"\n\n":                             "secrets:1: no cookie secret",
		secretA[1:]:                        "secrets:1: not a cookie secret",
		secretA + "00":                     "secrets:1: not a cookie secret",
		"\n" + secretA + "\nx" + secretB:   "secrets:3: not a cookie secret",
		secretA + " " + secretB:            "secrets:1: not a cookie secret",
		secretA + "\n" + secretA:           "secrets:2: the same cookie secret again",
		secretA + "\n" + secretB + "\n\n0": "secrets:4: a third cookie secret",
	} {
		c, problems := withSecrets(t, text, 0o600)
		if c != nil || problems != want+hint {
			t.Errorf("%q: %v\n%s\nwant\n%s", text, c, problems, want+hint)
		}
	}
	c, problems := withSecrets(t, secretA, 0o644)
	if c == nil || problems != "gslbd.yaml:2: warning: dns.cookie_secret_file: secrets: every user of this machine may use the cookie secrets\n  hint: chmod o= secrets" {
		t.Errorf("readable by all: %v, %s", c, problems)
	}
}

// TestCookieSecretInPlace: a secret in place of the file's name is not shown, from wherever it comes.
func TestCookieSecretInPlace(t *testing.T) {
	const want = "dns.cookie_secret_file: a cookie secret itself where the name of its file belongs\n  hint: write it into a file that only gslbd can read, and name that file here"
	file := write(t, oneZone+"dns: { cookie_secret_file: "+secretA+" }\n")
	c, problems := Load(file)
	if got := strings.ReplaceAll(problems.Error(), filepath.Dir(file)+"/", ""); c != nil || got != "gslbd.yaml:2: "+want {
		t.Errorf("got %v, %s", c, got)
	}
	t.Setenv("GSLBD_DNS_COOKIE_SECRET_FILE", strings.ToUpper(secretB))
	c, problems = Load(write(t, oneZone))
	if got := problems.Error(); c != nil || strings.Contains(strings.ToLower(got), secretB) || !strings.HasPrefix(got, "environment: GSLBD_DNS_COOKIE_SECRET_FILE: a cookie secret") {
		t.Errorf("got %v, %s", c, got)
	}
}

// TestSecretHidden prints secrets in every way there is.
func TestSecretHidden(t *testing.T) {
	c, _ := withSecrets(t, secretA, 0o600)
	for _, verb := range []string{"%v", "%+v", "%#v", "%x", "%X", "%s", "%d", "%q"} {
		for _, v := range []any{c.DNS.CookieSecrets[0], c.DNS} {
			got := strings.ToLower(fmt.Sprintf(verb, v))
			if strings.Contains(got, "e5e973") || strings.Contains(got, "229 233") || strings.Contains(got, "0xe5") || !strings.Contains(got, "(secret)") {
				t.Errorf("%s: %s", verb, got)
			}
		}
	}
}

func TestServingNSID(t *testing.T) {
	for text, want := range map[string]string{
		"node: ns1\n": "ns1", "node: ns1\ndns: { cookies: true }\n": "ns1", "node: ns1\ndns: { nsid: \"\" }\n": "", "dns: { nsid: 7 b }\nnode: ns1\n": "7 b",
	} {
		if c := mustLoad(t, oneZone+text); c.DNS.NSID != want {
			t.Errorf("%q: %q, want %q", text, c.DNS.NSID, want)
		}
	}
	t.Setenv("GSLBD_DNS_NSID", "osaka")
	t.Setenv("GSLBD_DNS_ANY", "REFUSE")
	t.Setenv("GSLBD_ECS", "false")
	if c := mustLoad(t, oneZone+"dns: { nsid: tokyo }\n"); c.DNS.NSID != "osaka" || !c.DNS.RefuseANY || c.ECS {
		t.Errorf("from the environment: %+v", c.DNS)
	}
}

// TestServingWarnings holds what is taken but has no effect.
func TestServingWarnings(t *testing.T) {
	for text, want := range map[string]string{
		"dns: { udp_size_without_cookie: 0 }\n":                    "",
		"dns: { udp_size_without_cookie: 1232 }\n":                 "",
		"dns: { udp_size_without_cookie: 1233 }\n":                 "gslbd.yaml:2: warning: dns.udp_size_without_cookie: has no effect: udp_size is 1232\n  hint: make it smaller than udp_size, or leave it out",
		"dns: { cookies: false, udp_size_without_cookie: 512 }\n":  "gslbd.yaml:2: warning: dns.udp_size_without_cookie: holds for every client, as cookies are off\n  hint: set udp_size, or cookies: true",
		"dns: { udp_size: 4096, udp_size_without_cookie: 4096 }\n": "",
	} {
		file := write(t, oneZone+text)
		c, problems := Load(file)
		if got := strings.ReplaceAll(problems.Error(), filepath.Dir(file)+"/", ""); c == nil || got != want {
			t.Errorf("%q: %v\n%s\nwant\n%s", text, c, got, want)
		}
	}
}
