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
				pool, over := VarianceReduction{}.sizes(n, candidates, nodes)
				columns := pool
				if pool < candidates {
					columns += n
				}
				if columns*over > reductionEntries || n*columns*over > reductionFlops || over < 1 || over > nodes || pool < min(candidates, n) {
					t.Errorf("%d of %d nodes: %d of %d candidates over %d nodes", n, nodes, pool, candidates, over)
				}
			}
		}
	}
}
