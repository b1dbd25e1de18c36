package zone

import (
	"cmp"
	"fmt"
	"slices"
)

// maxProblems bounds how many errors, and how many warnings, one load lists.
const maxProblems = 100

// report gathers the problems of one load.
type report struct {
	errors, warnings         Problems
	moreErrors, moreWarnings bool
}

// add keeps p unless the list is full. A problem equal to the last one is the
// same finding met again, by another record of one $GENERATE.
func (r *report) add(p Problem) {
	list, more := &r.errors, &r.moreErrors
	if p.Severity == Warning {
		list, more = &r.warnings, &r.moreWarnings
	}
	switch n := len(*list); {
	case n > 0 && (*list)[n-1] == p:
	case n >= maxProblems:
		*more = true
	default:
		*list = append(*list, p)
	}
}

// full reports whether so many errors are known that reading on is idle.
func (r *report) full() bool { return r.moreErrors }

// list gives all problems in the order of the files and their lines; the last
// ones say what was left out.
func (r *report) list(files []string) Problems {
	all := slices.Concat(r.errors, r.warnings)
	place := make(map[string]int, len(files))
	for i, f := range files {
		place[f] = i
	}
	slices.SortStableFunc(all, func(a, b Problem) int {
		return cmp.Or(cmp.Compare(place[a.File], place[b.File]), cmp.Compare(a.Line, b.Line))
	})
	if r.moreErrors {
		all = append(all, leftOut(files, Error))
	}
	if r.moreWarnings {
		all = append(all, leftOut(files, Warning))
	}
	return all
}

func leftOut(files []string, s Severity) Problem {
	return Problem{
		File:     files[0],
		Severity: s,
		Message:  fmt.Sprintf("only the first %d %ss are shown, there are more", maxProblems, s),
		Hint:     "mend these and run the check again",
	}
}

// quote shows a piece of a file in a message: in quotes, other octets than
// printable ASCII as \DDD like in zone files, and not endless.
func quote[T string | []byte](text T) string {
	const limit = 60
	b := []byte{'"'}
	for i := range len(text) {
		c := text[i]
		switch {
		case i == limit:
			return string(b) + `..."`
		case c < ' ' || c > '~':
			b = fmt.Appendf(b, "\\%03d", c)
		default:
			b = append(b, c)
		}
	}
	return string(append(b, '"'))
}
