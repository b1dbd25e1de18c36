package main

import (
	"fmt"
	"slices"
	"time"
)

// contrast is what one server did while all was quiet and while it was disturbed, in turn.
type contrast struct{ quiet, disturbed condition }

// condition is a server's figures in one condition, one of each turn.
type condition struct {
	p50, p99, p999, longest []float64 // µs
	busy                    []float64 // cores
	took, asleep            []float64 // s
	answers, lost, wrong    int
	left                    int
}

// add takes over what a loop has kept.
func (c *condition) add(l *openLoop) {
	p, n := l.percentiles()
	for i, to := range []*[]float64{&c.p50, &c.p99, &c.p999, &c.longest} {
		*to = append(*to, float64(p[i])/float64(time.Microsecond))
	}
	c.busy, c.took, c.asleep = append(c.busy, l.busy), append(c.took, l.length.Seconds()), append(c.asleep, l.asleep.Seconds())
	c.answers, c.lost, c.wrong, c.left = c.answers+n, c.lost+l.lost, c.wrong+l.wrong, c.left+l.left
	l.lost, l.wrong, l.left, l.asleep = 0, 0, 0, 0
}

func (c *contrast) print(server, what string) {
	c.quiet.print(server + ", quiet")
	c.disturbed.print(server + ", " + what)
	ratios := make([]float64, len(c.quiet.p99))
	for i := range ratios {
		ratios[i] = c.disturbed.p99[i] / c.quiet.p99[i]
	}
	fmt.Printf("  %-22s p99 %.2f × quiet (%.2f–%.2f)\n", "", median(ratios), slices.Min(ratios), slices.Max(ratios))
}

func (c *condition) print(what string) {
	fmt.Printf("  %-22s p50 %5.0f µs, p99 %6.0f µs (%.0f–%.0f), p99.9 %6.0f µs, longest %6.0f µs; %d answers in %.1f s each, %d lost, %d wrong; server %.2f cores; generator held up for %.1f %%, %d answers left out\n",
		what, median(c.p50), median(c.p99), slices.Min(c.p99), slices.Max(c.p99), median(c.p999), slices.Max(c.longest),
		c.answers, median(c.took), c.lost, c.wrong, median(c.busy), 100*median(c.asleep)/median(c.took), c.left)
}
