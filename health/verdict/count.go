package verdict

// Count tells how many parts of a combination are in which state. Its zero
// value counts nothing.
type Count struct{ Up, Down, Unknown int }

// Add counts one more part.
func (c *Count) Add(s State) {
	switch s {
	case Up:
		c.Up++
	case Down:
		c.Down++
	default:
		c.Unknown++
	}
}

// Total is how many parts were counted.
func (c Count) Total() int { return c.Up + c.Down + c.Unknown }

// AtLeast is the state of a combination that needs n of its parts, in
// three-valued logic: Up once n are up, Down once n can no longer be reached,
// and Unknown as long as the unknown parts decide. All of no parts, AtLeast(0),
// is Up.
func (c Count) AtLeast(n int) State {
	switch {
	case c.Up >= n:
		return Up
	case c.Up+c.Unknown < n:
		return Down
	}
	return Unknown
}

// All is the state of a combination that needs every part.
func (c Count) All() State { return c.AtLeast(c.Total()) }
