package app

import (
	"os"
	"testing"
	"time"
)

func TestChecksum(t *testing.T) {
	t.Chdir(t.TempDir())
	put(t, "a", "one")
	put(t, "b", "two")
	sum := sumOf([]string{"a", "b"}, time.Time{})
	if sum == (checksum{}) {
		t.Fatal("readable files have no checksum")
	}
	if sumOf([]string{"b", "a"}, time.Time{}) == sum {
		t.Error("the order does not count")
	}
	put(t, "c", "onetw")
	put(t, "d", "o")
	if sumOf([]string{"c", "d"}, time.Time{}) == sum {
		t.Error("the border between two files does not count")
	}
	past := time.Now().Add(-time.Hour)
	if err := os.Chtimes("a", past, past); err != nil {
		t.Fatal(err)
	}
	if sumOf([]string{"a", "b"}, time.Time{}) != sum {
		t.Error("the time of a file counts")
	}
	if got := sumOf([]string{"a"}, past.Add(time.Minute)); got == (checksum{}) {
		t.Error("a file that was there before has no checksum")
	}
	for name, got := range map[string]checksum{
		"a missing file":             sumOf([]string{"a", "nix"}, time.Time{}),
		"a directory":                sumOf([]string{"."}, time.Time{}),
		"a file written afterwards":  sumOf([]string{"b"}, past),
		"one of several afterwards":  sumOf([]string{"a", "b"}, past.Add(time.Minute)),
		"a file written by the hour": sumOf([]string{"a"}, past.Add(-time.Minute)),
	} {
		if got != (checksum{}) {
			t.Errorf("%s has a checksum", name)
		}
	}
}
