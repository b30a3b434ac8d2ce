package bench

import (
	"context"
	"fmt"
	"testing"

	"grfgp/internal/ranks"
	"grfgp/internal/testkit"
)

// The scaling task has the same answer, to the bit, at any number of ranks.
func TestRingOverRanks(t *testing.T) {
	nodes := 1 << 16
	if testkit.Raced {
		nodes = 1 << 13
	}
	tasks := map[string]RingRun{
		"authors'": {Nodes: nodes, Hops: 2, Epochs: 5, Authors: true, Seed: 1}, // features of all nodes are compact
		"clean":    {Nodes: 1 << 14, Hops: 5, Epochs: 3, Many: true, Seed: 1},
	}
	for name, task := range tasks {
		if !testkit.IsFull() && task.Many {
			continue
		}
		alone := task
		want, err := alone.Regress(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if err := ranks.Together(t.Context(), 2, func(ctx context.Context, g *ranks.Group) error {
			own := task
			own.Ranks = g
			got, err := own.Regress(ctx)
			if err != nil {
				return err
			}
			if got.Digest != want.Digest || got.RMSE != want.RMSE || got.NoiseSD != want.NoiseSD || got.Stored != want.Stored {
				return fmt.Errorf("digest %s, error %g, noise %g, alone %s, %g, %g", got.Digest, got.RMSE, got.NoiseSD, want.Digest, want.RMSE,
					want.NoiseSD)
			}
			return nil
		}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
