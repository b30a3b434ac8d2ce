package graph

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"grfgp/internal/parallel"
	"grfgp/sparse"
)

// Normalization names the matrix W: kernels are functions of it, and random walks
// follow it. A is the matrix of weights, D_i = Σ_j A_ij.
type Normalization int

const (
	NormalizedAdjacency Normalization = iota // Ã = D^-½ A D^-½, the default; 1 on the diagonal of an isolated node
	NormalizedLaplacian                      // I − Ã
	RawAdjacency                             // A
	RawDiffusion                             // I − L/d_max, L = D − A, d_max the largest D_i; I without edges
)

var normalizationNames = []string{"normalized-adjacency", "normalized-laplacian", "raw-adjacency", "raw-diffusion"}

// String returns the name that ParseNormalization takes.
func (n Normalization) String() string {
	if n < 0 || int(n) >= len(normalizationNames) {
		return fmt.Sprintf("Normalization(%d)", int(n))
	}
	return normalizationNames[n]
}

// ParseNormalization returns the normalisation of that name.
func ParseNormalization(name string) (Normalization, error) {
	if k := slices.Index(normalizationNames, name); k >= 0 {
		return Normalization(k), nil
	}
	return 0, fmt.Errorf("no normalisation is called %q: use %s", name, strings.Join(normalizationNames, ", "))
}

// Normalized returns W. Entries (i, j) and (j, i) are equal to the bit. The Laplacian
// of an isolated node is 0: walks stay there, and a kernel gives it a variance of its
// own. Normalized panics if n is not one of the constants.
func (g *Graph) Normalized(n Normalization) *sparse.CSR {
	if n == RawAdjacency {
		return g.adj
	}
	return g.normalized(n, g.Strengths())
}

// normalized is Normalized with the given strengths.
func (g *Graph) normalized(n Normalization, d []float64) *sparse.CSR {
	switch n {
	case NormalizedAdjacency:
		value := func(i, j int, w float64) float64 { return sparse.Scaled(w, d[i], d[j]) }
		if !slices.Contains(d, 0) {
			return g.reweighted(value)
		}
		return g.withDiagonal(value, func(i int, loop float64) float64 {
			if d[i] == 0 {
				return 1
			}
			return loop / d[i]
		})
	case NormalizedLaplacian:
		return g.withDiagonal(
			func(i, j int, w float64) float64 { return -sparse.Scaled(w, d[i], d[j]) },
			func(i int, loop float64) float64 {
				if d[i] == 0 {
					return 0
				}
				return 1 - loop/d[i]
			})
	case RawAdjacency:
		return g.adj
	case RawDiffusion:
		most := slices.Max(append(d, 0))
		if most == 0 {
			most = 1
		}
		return g.withDiagonal(
			func(_, _ int, w float64) float64 { return w / most },
			func(i int, loop float64) float64 { return 1 - (d[i]-loop)/most })
	}
	panic("graph: no such normalisation: " + n.String())
}

// WalkScale returns the positive vector v for walk.Options.Scale: the loads of
// walks on W stay bounded if they step from i to j in proportion to |W_ij|·v_j.
// If W is made of Ã, v is √D, and 1 at isolated nodes. Nil means all ones.
func (g *Graph) WalkScale(n Normalization) []float64 { return walkScale(n, g.Strengths()) }

// WalkMatrix returns the matrix and the vectors for random walks on W: walk.Options.Scale, or the strengths of
// walk.Options.Strengths, whose roots are the scale (walk.Options.Rooted). It does not copy the graph where W is
// D^-½AD^-½ and no node is isolated: the matrix is then that of the weights, and walks scale what they use by the
// strengths. Otherwise strengths are nil.
func (g *Graph) WalkMatrix(n Normalization) (w *sparse.CSR, scale, strengths []float64) {
	d := g.Strengths()
	if n == NormalizedAdjacency && !slices.Contains(d, 0) {
		return g.adj, nil, d
	}
	return g.Normalized(n), walkScale(n, d), nil
}

// walkScale is WalkScale of nodes with the given strengths, which it overwrites.
func walkScale(n Normalization, v []float64) []float64 {
	if n != NormalizedAdjacency && n != NormalizedLaplacian {
		return nil
	}
	parallel.Ranges(len(v), rowBlock, func(lo, hi int) {
		for i, d := range v[lo:hi] {
			v[lo+i] = math.Sqrt(d)
			if d == 0 {
				v[lo+i] = 1
			}
		}
	})
	return v
}

// reweighted returns the adjacency pattern with other values.
func (g *Graph) reweighted(value func(i, j int, w float64) float64) *sparse.CSR {
	rowPtr, col, old := g.adj.Raw()
	val := make([]float64, len(old))
	parallel.Ranges(g.Len(), rowBlock, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			for p := rowPtr[i]; p < rowPtr[i+1]; p++ {
				val[p] = value(i, int(col[p]), old[p])
			}
		}
	})
	return mustCSR(g.Len(), rowPtr, col, val)
}

// withDiagonal returns the adjacency pattern with other values, and what is not
// zero of another diagonal, which is given the weight of the self loop.
func (g *Graph) withDiagonal(value func(i, j int, w float64) float64, diagonal func(i int, loop float64) float64) *sparse.CSR {
	n := g.Len()
	oldPtr, _, _ := g.adj.Raw()
	rowPtr := make([]int, n+1)
	for i := range n {
		rowPtr[i+1] = rowPtr[i] + oldPtr[i+1] - oldPtr[i]
		loop := g.loop(i)
		if loop != 0 {
			rowPtr[i+1]--
		}
		if diagonal(i, loop) != 0 {
			rowPtr[i+1]++
		}
	}
	col, val := make([]uint32, rowPtr[n]), make([]float64, rowPtr[n])
	parallel.Ranges(n, rowBlock, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			cols, vals := g.adj.Row(i)
			at, found := slices.BinarySearch(cols, uint32(i))
			after, loop := at, 0.0
			if found {
				after, loop = at+1, vals[at]
			}
			q := rowPtr[i]
			put := func(from, to int) {
				for p := from; p < to; p++ {
					col[q], val[q] = cols[p], value(i, int(cols[p]), vals[p])
					q++
				}
			}
			put(0, at)
			if d := diagonal(i, loop); d != 0 {
				col[q], val[q] = uint32(i), d
				q++
			}
			put(after, len(cols))
		}
	})
	return mustCSR(n, rowPtr, col, val)
}
