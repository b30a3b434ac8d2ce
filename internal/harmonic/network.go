package harmonic

import "grfgp/internal/parallel"

// network is a set of equations, one per node, between neighbours of positive
// weight w_ij = w_ji:
//
//	ground_i·x_i + Σ_j w_ij·(x_i − x_j) = source_i.
//
// Known neighbours are part of ground and source. Keeping the ground apart from
// the weights, and multiplying differences, loses no digits however long the way
// to a known node is.
type network struct {
	from           []int // of each node's first neighbour
	to             []uint32
	weight         []float64
	ground, source []float64
}

const networkRows = 8192

// row returns the neighbours of node i and their weights.
func (n *network) row(i int) ([]uint32, []float64) {
	return n.to[n.from[i]:n.from[i+1]], n.weight[n.from[i]:n.from[i+1]]
}

// diagonal returns ground_i + Σ_j w_ij.
func (n *network) diagonal() []float64 {
	diag := make([]float64, len(n.ground))
	for i, g := range n.ground {
		_, weight := n.row(i)
		for _, w := range weight {
			g += w
		}
		diag[i] = g
	}
	return diag
}

// residual sets r = b − (ground and weights)·x.
func (n *network) residual(r, b, x []float64) {
	parallel.Ranges(len(r), networkRows, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			sum := b[i] - n.ground[i]*x[i]
			to, weight := n.row(i)
			for k, j := range to {
				sum -= weight[k] * (x[i] - x[j])
			}
			r[i] = sum
		}
	})
}
