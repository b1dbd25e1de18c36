package main

import (
	"fmt"
	"slices"
)

// row is one server's measurements with one set of queries.
type row struct {
	name        string
	server      int // index of the contest's
	set         *querySet
	check       func(query int, reply []byte) bool
	queries     float64   // that a client has to ask
	nanoseconds []float64 // CPU time of their answers, one of each round
	busy        []float64 // percent of its core
	lost, wrong int
}

func median(values []float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	return sorted[len(sorted)/2]
}

// over is this row's times over another's, round by round.
func (r *row) over(floor *row) []float64 {
	ratios := make([]float64, len(r.nanoseconds))
	for i := range ratios {
		ratios[i] = r.nanoseconds[i] / floor.nanoseconds[i]
	}
	return ratios
}

// print shows the rows; lengths are those of gslbd's answers to each kind.
func (t *table) print(lengths []int) {
	total := 0
	for _, k := range t.set.kind {
		total += lengths[k]
	}
	fmt.Printf("\n%s: queries of %d bytes, gslbd's answers %.0f on average\n", t.set.name, t.set.size, float64(total)/setSize)
	fmt.Printf("  %-26s %9s  %-21s %-13s %-9s %6s\n", "", "ns/answer", "/ echo (range)", "/ sized echo", "gslbd /", "busy")
	var plain, sized, ours *row
	for _, r := range t.rows {
		switch r.name {
		case plainFloor:
			plain = r
		case sizedFloor:
			sized = r
		case "gslbd":
			ours = r
		}
	}
	for _, r := range t.rows {
		ratios := r.over(plain)
		fmt.Printf("  %-26s %9.0f  %4.2f (%.2f–%.2f)     %4.2f          %5.3f     %5.0f %%", r.name, median(r.nanoseconds), median(ratios),
			slices.Min(ratios), slices.Max(ratios), median(r.over(sized)), median(ours.over(r)), median(r.busy))
		if r.lost+r.wrong > 0 {
			fmt.Printf("  %d lost, %d wrong", r.lost, r.wrong)
		}
		fmt.Println()
	}
}
