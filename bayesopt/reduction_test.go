package bayesopt

import "testing"

// Memory and time stay bounded, and there are always more candidates than picks.
func TestVarianceReductionSizes(t *testing.T) {
	for _, nodes := range []int{1, 500, 10_000, 1_000_000, 10_000_000} {
		for _, n := range []int{1, 20, 200, 2000} {
			for _, candidates := range []int{n, nodes} {
				if candidates < n || candidates > nodes {
					continue
				}
				size := VarianceReduction{}.sizes(n, candidates, nodes)
				columns, over := size.pool, size.last
				if size.short > 0 {
					columns, over = size.short+n, max(size.over, size.last)
					if (size.pool+n)*size.over > reductionEntries {
						t.Errorf("%d of %d nodes, %d candidates: a sample of %+v", n, nodes, candidates, size)
					}
				}
				if columns*over > reductionMost+n || over < 1 || over > nodes || size.pool < min(candidates, n) || size.short > 0 && size.short < n {
					t.Errorf("%d of %d nodes, %d candidates: %+v", n, nodes, candidates, size)
				}
			}
		}
	}
}
