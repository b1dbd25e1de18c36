package zone

import "strings"

// Nearest gives the known name that word most likely was meant to be, for
// hints: the one with the fewest edits (letters put in, left out, replaced or
// exchanged with their neighbour) if those are at most a third of the word, or
// else the only one that begins with word. It is "" if there is none. Case
// does not matter.
func Nearest(word string, known []string) string {
	const longest = 64 // no name that is configured by hand is longer
	if word == "" || len(word) > longest {
		return ""
	}
	lower := strings.ToLower(word)
	best, least := "", (len(word)+2)/3+1
	prefixed, count := "", 0
	for _, k := range known {
		lk := strings.ToLower(k)
		if len(lk) > longest {
			continue
		}
		if d := edits(lower, lk); d < least {
			best, least = k, d
		}
		if strings.HasPrefix(lk, lower) {
			prefixed = k
			count++
		}
	}
	if best == "" && count == 1 && len(word) > 1 {
		return prefixed
	}
	return best
}

// edits is the optimal string alignment distance of a and b.
func edits(a, b string) int {
	before, last, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := range len(a) {
		row[0] = i + 1
		for j := range len(b) {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			row[j+1] = min(last[j]+cost, last[j+1]+1, row[j]+1)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				row[j+1] = min(row[j+1], before[j-1]+1)
			}
		}
		before, last, row = last, row, before
	}
	return last[len(b)]
}
