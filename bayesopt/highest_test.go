package bayesopt

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

func TestHighest(t *testing.T) {
	t.Parallel()
	nan := math.NaN()
	for _, c := range []struct {
		ranks []float64
		most  int
		want  []int
	}{
		{[]float64{3, 1, 2}, 1, []int{0}},
		{[]float64{1, 2, 2, 2, 0}, 2, []int{1, 2}},
		{[]float64{2, 1, 1, 3, 1}, 4, []int{0, 1, 2, 3}},
		{[]float64{nan, 1, nan, math.Inf(-1)}, 3, []int{0, 1, 3}},
		{[]float64{nan, nan}, 1, []int{0}},
	} {
		if got := highest(len(c.ranks), c.most, func(k int) float64 { return c.ranks[k] }); !slices.Equal(got, c.want) {
			t.Errorf("%d of %v: %v, want %v", c.most, c.ranks, got, c.want)
		}
	}
	random := rand.New(rand.NewPCG(1, 1))
	for range 100 {
		ranks := make([]float64, 1+random.IntN(50))
		for k := range ranks {
			ranks[k] = float64(random.IntN(8))
		}
		most := 1 + random.IntN(len(ranks))
		order := allNodes(len(ranks))
		slices.SortStableFunc(order, func(a, b int) int { return int(ranks[b] - ranks[a]) })
		want := slices.Sorted(slices.Values(order[:most]))
		if got := highest(len(ranks), most, func(k int) float64 { return ranks[k] }); !slices.Equal(got, want) {
			t.Fatalf("%d of %v: %v, want %v", most, ranks, got, want)
		}
	}
}
