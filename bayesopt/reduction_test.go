package bayesopt

import "testing"

// Memory and time stay bounded, and there are always more candidates than picks.
func TestVarianceReductionSizes(t *testing.T) {
	t.Parallel()
	for _, nodes := range []int{1, 500, 10_000, 1_000_000, 10_000_000} {
		for _, n := range []int{1, 20, 200, 2000} {
			for _, candidates := range []int{n, nodes} {
				if candidates < n || candidates > nodes {
					continue
				}
				size := VarianceReduction{}.sizes(n, candidates, nodes)
				columns, over := size.pool, size.last
				if size.pool < candidates {
					columns += n // picked before
				}
				if size.short > 0 {
					if columns*size.over > reductionEntries || size.short*columns*size.over > 4*reductionFlops {
						t.Errorf("%d of %d nodes, %d candidates: a sample of %+v", n, nodes, candidates, size)
					}
					if size.short >= size.pool || size.over >= size.last {
						t.Errorf("%d of %d nodes, %d candidates: an idle short list: %+v", n, nodes, candidates, size)
					}
					columns = size.short + n
				}
				if columns*over > 2*reductionEntries || n*columns*over > reductionFlops || over < 1 || over > nodes || size.pool < min(candidates, n) ||
					size.short > 0 && size.short < n {
					t.Errorf("%d of %d nodes, %d candidates: %+v", n, nodes, candidates, size)
				}
			}
		}
	}
}
