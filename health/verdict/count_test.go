package verdict

import "testing"

func countOf(states string) (c Count) {
	for _, s := range states {
		c.Add(map[rune]State{'u': Up, 'd': Down, '?': Unknown}[s])
	}
	return c
}

func TestAll(t *testing.T) {
	for in, want := range map[string]State{
		"": Up, "u": Up, "?": Unknown, "d": Down, "uu": Up, "u?": Unknown, "?d": Down, "d?u": Down,
	} {
		if got := countOf(in).All(); got != want {
			t.Errorf("all of %q: %v, want %v", in, got, want)
		}
	}
}

func TestAtLeast(t *testing.T) {
	for _, c := range []struct {
		n    int
		in   string
		want State
	}{
		{1, "u", Up}, {1, "d", Down}, {1, "?", Unknown},
		{1, "dd?", Unknown}, {1, "ddd", Down}, {1, "d?u", Up}, {1, "", Down},
		{2, "uud", Up}, {2, "ud?", Unknown}, {2, "udd", Down}, {2, "??d", Unknown}, {2, "?dd", Down},
		{3, "uuu", Up}, {3, "uu?", Unknown}, {3, "uud", Down},
	} {
		if got := countOf(c.in).AtLeast(c.n); got != c.want {
			t.Errorf("at least %d of %q: %v, want %v", c.n, c.in, got, c.want)
		}
	}
}

// Three-valued logic says what all outcomes of the unknown parts agree on.
func TestAtLeastAgainstOutcomes(t *testing.T) {
	for up := range 4 {
		for down := range 4 {
			for unknown := range 4 {
				c := Count{up, down, unknown}
				for n := 1; n <= c.Total(); n++ {
					want := Unknown
					if worst, best := up >= n, up+unknown >= n; worst == best {
						want = stateOf(worst)
					}
					if got := c.AtLeast(n); got != want {
						t.Errorf("%+v, at least %d: %v, want %v", c, n, got, want)
					}
				}
			}
		}
	}
}
