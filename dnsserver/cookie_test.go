package dnsserver

import (
	"encoding/hex"
	"net/netip"
	"testing"

	"gslbd/dnsserver/wire"
)

// keysOf turns secrets of hex digits into keys.
func keysOf(t testing.TB, secrets ...string) (keys cookieKeys) {
	t.Helper()
	for _, s := range secrets {
		keys = append(keys, newSipKey([16]byte(unhex(t, s))))
	}
	return keys
}

func unhex(t testing.TB, s string) []byte {
	t.Helper()
	b, err := hex.DecodeString(s)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// reply gives the cookie that answers sent, in hex, and whether sent is good.
func reply(t testing.TB, keys cookieKeys, sent, client string, now uint32) (string, bool) {
	t.Helper()
	option, valid := keys.appendCookie(nil, unhex(t, sent), netip.MustParseAddr(client), now)
	return hex.EncodeToString(option[wire.OptionHead:]), valid
}

// TestCookieVectors are the examples of RFC 9018, appendix A. The cookie of the third is older than an hour when it is shown.
func TestCookieVectors(t *testing.T) {
	const first = "e5e973e5a6b2a43f48e7dc849e37bfcf"
	const old, rolled = "dd3bdf9344b678b185a6f5cb60fca715", "445536bcd2513298075a5d379663c962"
	for _, c := range []struct {
		name    string
		secrets []string
		client  string
		sent    string
		now     uint32
		want    string
		valid   bool
	}{
		{"A.1 learning", []string{first}, "198.51.100.100", "2464c4abcf10c957", 1559731985, "2464c4abcf10c957010000005cf79f111f8130c3eee29480", false},
		{"A.2 renewed", []string{first}, "198.51.100.100", "2464c4abcf10c957010000005cf79f111f8130c3eee29480", 1559734385, "2464c4abcf10c957010000005cf7a871d4a564a1442aca77", true},
		{"A.3 reserved", []string{first}, "203.0.113.203", "fc93fc62807ddb8601abcdef5cf78f71a314227b6679ebf5", 1559734700, "fc93fc62807ddb86010000005cf7a9acf73a7810aca2381e", false},
		{"A.3 in its hour", []string{first}, "203.0.113.203", "fc93fc62807ddb8601abcdef5cf78f71a314227b6679ebf5", 1559727985, "fc93fc62807ddb8601abcdef5cf78f71a314227b6679ebf5", true},
		{"A.4 rolled", []string{rolled, old}, "2001:db8:220:1:59de:d0f4:8769:82b8", "22681ab97d52c298010000005cf7c57926556bd0934c72f8", 1559741961, "22681ab97d52c298010000005cf7c609a6bb79d16625507a", true},
		{"A.4 old gone", []string{rolled}, "2001:db8:220:1:59de:d0f4:8769:82b8", "22681ab97d52c298010000005cf7c57926556bd0934c72f8", 1559741961, "22681ab97d52c298010000005cf7c609a6bb79d16625507a", false},
	} {
		if got, valid := reply(t, keysOf(t, c.secrets...), c.sent, c.client, c.now); got != c.want || valid != c.valid {
			t.Errorf("%s: %s, %v; want %s, %v", c.name, got, valid, c.want, c.valid)
		}
	}
}

// TestCookieAge checks the ends of the time in which a cookie counts, and of that in which it is kept, also where the clock wraps.
func TestCookieAge(t *testing.T) {
	const secret, client, address = "e5e973e5a6b2a43f48e7dc849e37bfcf", "2464c4abcf10c957", "192.0.2.1"
	keys := keysOf(t, secret)
	for _, made := range []uint32{1559731985, 1<<32 - 60, 100} {
		cookie, _ := reply(t, keys, client, address, made)
		for _, c := range []struct {
			age         int
			valid, kept bool
		}{{-301, false, false}, {-300, true, true}, {-1, true, true}, {0, true, true}, {1800, true, true}, {1801, true, false}, {3600, true, false}, {3601, false, false}} {
			got, valid := reply(t, keys, cookie, address, made+uint32(c.age))
			if valid != c.valid || (got == cookie) != c.kept {
				t.Errorf("made at %d, %d s old: valid %v, kept %v", made, c.age, valid, got == cookie)
			}
		}
	}
}

// TestCookieForged changes each bit of a good cookie, its length, its client and its key.
func TestCookieForged(t *testing.T) {
	const secret, now = "e5e973e5a6b2a43f48e7dc849e37bfcf", 1559731985
	keys := keysOf(t, secret)
	client := netip.MustParseAddr("2001:db8::1")
	option, _ := keys.appendCookie(nil, []byte("12345678"), client, now)
	cookie := option[wire.OptionHead:]
	if valid, fresh := keys.check(cookie, client, now); !valid || !fresh {
		t.Fatal("a good cookie is refused")
	}
	for i := range len(cookie) * 8 {
		cookie[i/8] ^= 1 << (i % 8)
		if valid, _ := keys.check(cookie, client, now); valid {
			t.Errorf("valid with bit %d changed", i)
		}
		cookie[i/8] ^= 1 << (i % 8)
	}
	for _, length := range []int{8, 16, 23, 25, 40} {
		if valid, _ := keys.check(append(cookie[:24:24], make([]byte, 16)...)[:length], client, now); valid {
			t.Errorf("valid with %d octets", length)
		}
	}
	for _, other := range []string{"2001:db8::2", "192.0.2.1", "::ffff:192.0.2.1"} {
		if valid, _ := keys.check(cookie, netip.MustParseAddr(other), now); valid {
			t.Errorf("valid from %s", other)
		}
	}
	if valid, _ := keysOf(t, "e5e973e5a6b2a43f48e7dc849e37bfce").check(cookie, client, now); valid {
		t.Error("valid with another key")
	}
}
