package main

import (
	"fmt"
	"slices"
)

// sample is one measurement.
type sample struct {
	seconds   float64
	megabytes float64 // peak resident memory; 0 = not measured
}

// series is all measurements of one thing.
type series struct {
	name    string
	run     func() (sample, error) // nil where another run fills it in
	samples []sample
}

// median takes time and memory apart.
func (s *series) median() sample {
	return sample{s.column(func(x sample) float64 { return x.seconds })[len(s.samples)/2],
		s.column(func(x sample) float64 { return x.megabytes })[len(s.samples)/2]}
}

func (s *series) column(of func(sample) float64) []float64 {
	var values []float64
	for _, x := range s.samples {
		values = append(values, of(x))
	}
	slices.Sort(values)
	return values
}

// String is one line of the result.
func (s *series) String() string {
	seconds := s.column(func(x sample) float64 { return x.seconds })
	line := fmt.Sprintf("%-12s %6.2f s (%.2f–%.2f)", s.name, s.median().seconds, seconds[0], seconds[len(seconds)-1])
	if peak := s.median().megabytes; peak > 0 {
		line += fmt.Sprintf("  peak %4.0f MiB", peak)
	}
	return line
}
