package main

import (
	"fmt"

	"grfgp"
)

// much is the share of a standard deviation, or of a kernel's row, from which on
// the error of the walks is worth more walkers.
const much = 0.2

// limitWords say what predictions of so many things cannot know; nothing where
// measurements reach everywhere and the kernel is exact.
func limitWords(l *grfgp.Limits, things string) (all []string) {
	say := func(format string, args ...any) { all = append(all, fmt.Sprintf(format, args...)) }
	if l.PriorOnly > 0 {
		say("%d of %d %s (%.2g %%) are beyond the reach of every measurement: predictions there are the prior alone",
			l.PriorOnly, l.Nodes, things, 100*float64(l.PriorOnly)/float64(l.Nodes))
	}
	e := l.Walks
	if e == nil {
		return all
	}
	if e.Kernel > 0 {
		say("random walks: rows of the kernel are off by %.2g %% (%.2g to %.2g %% with a chance of 95 %%); %.2g %% of a node's prior variance is their noise",
			100*e.Kernel, 100*e.Low, 100*e.High, 100*e.NoiseShare)
	}
	if e.Nodes > 0 {
		say("random walks: their standard error of a mean is %.2g %% of its standard deviation, by other walks for %d nodes", 100*e.Mean, e.Nodes)
	}
	if e.Kernel > much || e.Mean > much {
		say("four times the walkers (--walks %d) would halve the error of the walks", 4*e.Walkers)
	}
	return all
}
