package zone

// maxTTL is the greatest TTL, in seconds (RFC 2181 §8).
const maxTTL = 1<<31 - 1

// ttls is what a record without a TTL takes: $TTL (RFC 2308 §4), else the last
// one that stood on a record (RFC 1035 §5.1), else the SOA's MINIMUM.
type ttls struct {
	value     uint32
	known     bool
	directive bool // value comes from $TTL
}

func (t *ttls) set(ttl uint32, directive bool) {
	if directive || !t.directive {
		*t = ttls{value: ttl, known: true, directive: directive}
	}
}

// parseTTL reads seconds, or BIND's form of numbers with the units w, d, h, m
// and s, as in 1h30m.
func parseTTL(w []byte) (uint32, bool) {
	var total, n uint64
	digits, units := false, false
	for _, b := range w {
		if '0' <= b && b <= '9' {
			n, digits = n*10+uint64(b-'0'), true
		} else {
			u := unit(b)
			if u == 0 || !digits {
				return 0, false
			}
			total, n, digits, units = total+n*u, 0, false, true
		}
		if n > maxTTL || total > maxTTL {
			return 0, false
		}
	}
	total += n
	return uint32(total), (digits || units) && total <= maxTTL
}

// unit gives the seconds of a unit, 0 for none.
func unit(b byte) uint64 {
	switch b | 0x20 {
	case 's':
		return 1
	case 'm':
		return 60
	case 'h':
		return 3600
	case 'd':
		return 86400
	case 'w':
		return 7 * 86400
	}
	return 0
}
