package dnsserver

import (
	"encoding/hex"
	"testing"
)

// TestSipHash compares with vectors of the authors: key 00 01 … 0f, message 00 01 … of each length.
func TestSipHash(t *testing.T) {
	var key [16]byte
	message := make([]byte, 64)
	for i := range key {
		key[i] = byte(i)
	}
	for i := range message {
		message[i] = byte(i)
	}
	for length, want := range map[int]string{0: "310e0edd47db6f72", 1: "fd67dc93c539f874", 7: "37d1018bf50002ab", 8: "6224939a79f5f593", 15: "e545be4961ca29a1"} {
		hash := newSipKey(key).hash(message[:length])
		var got []byte
		for range 8 { // lowest octet first, as the authors print it
			got = append(got, byte(hash))
			hash >>= 8
		}
		if hex.EncodeToString(got) != want {
			t.Errorf("%d octets: %x, want %s", length, got, want)
		}
	}
}

// BenchmarkSipHash hashes what a cookie of an IPv4 client is made from.
func BenchmarkSipHash(b *testing.B) {
	key, message := sipKey{1, 2}, make([]byte, 20)
	for b.Loop() {
		key.hash(message)
	}
}
