// Package bench measures speed and accuracy relative to the machine's limits and to exact
// methods, within one run: on shared machines, only such ratios are reproducible.
package bench

import (
	"context"
	"time"

	"grfgp/internal/machine"
)

// Limits are the speeds of the machine's memory.
type Limits struct {
	Copy        float64 `json:"copy_bytes_per_second"`
	Triad       float64 `json:"triad_bytes_per_second"`
	Read        float64 `json:"read_bytes_per_second"`
	RandomReads float64 `json:"random_reads_per_second"` // over WorkingSet bytes
	WorkingSet  int     `json:"working_set_bytes"`
}

// workingSet is about the memory that walks on the Barabási–Albert graph of Sampling read
// at random: row pointers and columns.
const workingSet = 32 << 20

// Machine measures the limits.
func Machine(ctx context.Context) (Limits, error) {
	s, err := machine.Bandwidth(ctx)
	if err != nil {
		return Limits{}, err
	}
	reads, err := machine.RandomReads(ctx, workingSet)
	if err != nil {
		return Limits{}, err
	}
	return Limits{s.Copy, s.Triad, s.Read, reads, workingSet}, nil
}

// patience is the minimum total time of the repetitions of a measurement.
var patience = time.Second / 2

// quickest returns the shortest time in seconds of repeated calls of do: at least three
// calls, and at least patience in total.
func quickest(ctx context.Context, do func() error) (float64, error) {
	least, total := time.Duration(0), time.Duration(0)
	for r := 0; r < 3 || total < patience; r++ {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		start := time.Now()
		if err := do(); err != nil {
			return 0, err
		}
		took := time.Since(start)
		total += took
		if r == 0 || took < least {
			least = took
		}
	}
	return least.Seconds(), nil
}
