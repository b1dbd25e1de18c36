package config

import (
	"fmt"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// size stores a number of bytes from low to high, written plain or with KiB,
// MiB or GiB.
func size(dst *int, low, high int) setter {
	return func(r *reader, f field) {
		hint := fmt.Sprintf("%s to %s", sizeText(low), sizeText(high))
		if f.node.Kind != yaml.ScalarNode || f.node.ShortTag() == "!!int" || isNull(f.node) {
			integer(dst, low, high)(r, f)
			return
		}
		written := f.node.Value
		digits := strings.TrimRight(written, "KMGiB ")
		unit := strings.TrimSpace(written[len(digits):])
		shift, known := map[string]int{"": 0, "KiB": 10, "MiB": 20, "GiB": 30}[unit]
		n, err := strconv.ParseUint(digits, 10, 31)
		switch {
		case !known || digits == "" || strings.Trim(digits, "0123456789") != "":
			r.fail(f, "bytes, or a number with KiB, MiB or GiB such as 8MiB; "+hint, "%s is not a size", quote(written))
		case len(digits) > 1 && digits[0] == '0':
			r.fail(f, hint+", without leading zeros", "%s would be read as octal by some", written)
		case err != nil || n<<shift < uint64(low) || n<<shift > uint64(high):
			r.fail(f, hint, "%s is out of range", written)
		default:
			*dst = int(n << shift)
		}
	}
}

// sizeText writes a number of bytes with the largest unit that divides it.
func sizeText(n int) string {
	for _, u := range []struct {
		name  string
		shift int
	}{{"GiB", 30}, {"MiB", 20}, {"KiB", 10}} {
		if n >= 1<<u.shift && n&(1<<u.shift-1) == 0 {
			return strconv.Itoa(n>>u.shift) + u.name
		}
	}
	return strconv.Itoa(n)
}
