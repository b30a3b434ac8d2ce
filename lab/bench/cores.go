package bench

import (
	"context"
	"fmt"
	"runtime"

	"grfgp/internal/machine"
)

// Cores is a whole regression on a ring by some number of threads.
type Cores struct {
	Threads int     `json:"threads"`
	Triad   float64 `json:"triad_bytes_per_second"` // of these threads
	Regression
	SpeedUp float64 `json:"speed_up"`       // of the total, over one thread
	Memory  float64 `json:"triad_speed_up"` // of streaming, over one thread
}

// CoreCurve runs the paper's scaling task, by the authors' protocol with our solver, with
// 1, 2, 4, … threads, up to all processors. Results must be the same bytes; if they are
// not, it returns an error.
func CoreCurve(ctx context.Context, nodes int, seed uint64, say func(format string, args ...any)) ([]Cores, error) {
	before := runtime.GOMAXPROCS(0)
	defer runtime.GOMAXPROCS(before)
	var all []Cores
	for threads := 1; ; threads = min(2*threads, before) {
		runtime.GOMAXPROCS(threads)
		limits, err := machine.Bandwidth(ctx)
		if err != nil {
			return nil, err
		}
		c := Cores{Threads: threads, Triad: limits.Triad, SpeedUp: 1, Memory: 1}
		if c.Regression, err = (&RingRun{Nodes: nodes, Hops: 2, Epochs: ringEpochs, Authors: true, Seed: seed}).Regress(ctx); err != nil {
			return nil, err
		}
		if len(all) > 0 {
			c.SpeedUp, c.Memory = all[0].Total()/c.Total(), c.Triad/all[0].Triad
			if c.Digest != all[0].Digest {
				return nil, fmt.Errorf("%d threads give other results than one: %s, not %s", threads, c.Digest, all[0].Digest)
			}
		}
		say("%d threads: %.2f s, %.1f times as fast as one; memory is %.1f times as fast", threads, c.Total(), c.SpeedUp, c.Memory)
		all = append(all, c)
		if threads == before {
			return all, nil
		}
	}
}
