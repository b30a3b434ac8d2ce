package walk

import (
	"testing"
	"time"
)

// Walkers are chosen for the whole matrix: every shard has the same, and its
// estimate is of its own rows.
func TestPlansOfShardsAgree(t *testing.T) {
	t.Parallel()
	m := bigRing(t, 3000)
	coeff := make([]float64, 9)
	diffusion(coeff, 6)
	opts := Options{MaxLen: 8, Seed: 2}
	goal := Goal{Error: 0.2}
	whole, err := NewPlan(t.Context(), m.w, opts, coeff, goal)
	if err != nil || whole.Options.Walks < 1 || !whole.Reached || !whole.Fits {
		t.Fatalf("%+v, %v", whole, err)
	}
	shard := opts
	shard.Lo, shard.Hi = 1000, 1500
	part, err := NewPlan(t.Context(), m.w, shard, coeff, goal)
	if err != nil || part.Options.Walks != whole.Options.Walks || part.Options.Lo != 1000 || part.Estimate.Bytes*3 > whole.Estimate.Bytes {
		t.Errorf("%+v of a sixth, %+v of all; %v", part, whole, err)
	}
	given := opts
	given.Walks, given.Budget = 3, 6
	if p, err := NewPlan(t.Context(), m.w, given, coeff, Goal{Bytes: 1}); err != nil || p.Options.Walks != 3 || p.Fits {
		t.Errorf("3 walkers in a byte: %+v, %v", p, err)
	}
	if took, err := EstimateTime(t.Context(), m.w, whole.Options); err != nil || took <= 0 || took > time.Minute {
		t.Errorf("%v, %v", took, err)
	}
}
