package covariate

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"grfgp/graph"
	"grfgp/internal/parallel"
	"grfgp/sparse"
)

// Neighbourhood returns D⁻¹A·X: for each node the mean of its neighbours' rows of X,
// weighted by the edges, and its own row if it has no neighbours. It is nil without X.
// It panics unless g has the nodes of the set.
func (s *Set) Neighbourhood(g *graph.Graph) *mat.Dense {
	s.checkNodes(g)
	if s.X == nil {
		return nil
	}
	out := mat.NewDense(s.Nodes, s.Dim(), nil)
	g.Adjacency().Mul(out, s.X)
	strengths := g.Strengths()
	parallel.Ranges(s.Nodes, 256, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			row := out.RawRowView(i)
			if strengths[i] == 0 {
				copy(row, s.X.RawRowView(i))
				continue
			}
			for j := range row {
				row[j] = clip(row[j] / strengths[i]) // a mean leaves the range by rounding only
			}
		}
	})
	return out
}

func (s *Set) checkNodes(g *graph.Graph) {
	if g.Len() != s.Nodes {
		panic(fmt.Sprintf("covariate: a graph of %d nodes for covariates of %d", g.Len(), s.Nodes))
	}
}

// Words of a neighbourhood that are kept: not below a share of the largest entry, and
// so many at most.
const (
	wordShare = 0.05
	wordsKept = 100
)

// NeighbourhoodWords returns the words of neighbours: the rows of D⁻¹A·Words, scaled to
// unit length, and the row of the node itself if it has no neighbours. Entries below
// a twentieth of the largest of their row are cut off, and all but the 100 largest (of
// equal ones, those of the first words), so that hubs do not fill the matrix. It is nil
// without words. It panics unless g has the nodes of the set.
func (s *Set) NeighbourhoodWords(g *graph.Graph) *sparse.CSR {
	s.checkNodes(g)
	if s.Words == nil {
		return nil
	}
	const size = 256
	parts := make([]wordRows, (s.Nodes+size-1)/size)
	parallel.Ranges(s.Nodes, size, func(lo, hi int) {
		r := &parts[lo/size]
		r.sums = make([]float64, len(s.Vocabulary))
		for i := lo; i < hi; i++ {
			r.row(s.Words, g.Adjacency(), i)
		}
		r.sums = nil
	})
	rowPtr := make([]int, 1, s.Nodes+1)
	var cols []uint32
	var vals []float64
	for _, r := range parts {
		for _, end := range r.ends {
			rowPtr = append(rowPtr, len(cols)+end)
		}
		cols, vals = append(cols, r.cols...), append(vals, r.vals...)
	}
	m, err := sparse.NewCSR(s.Nodes, len(s.Vocabulary), rowPtr, cols, vals)
	if err != nil {
		panic("covariate: " + err.Error()) // rows of finite numbers, in order
	}
	return m
}

// wordRows are some rows of a matrix of words.
type wordRows struct {
	ends []int
	cols []uint32
	vals []float64

	sums    []float64 // per word, all 0 between rows
	touched []uint32
}

// row appends the row of node i.
func (r *wordRows) row(words, adj *sparse.CSR, i int) {
	nodes, weights := adj.Row(i)
	if len(nodes) == 0 {
		cols, vals := words.Row(i)
		r.cols, r.vals = append(r.cols, cols...), append(r.vals, vals...)
		r.ends = append(r.ends, len(r.cols))
		return
	}
	heaviest := slices.Max(weights) // divided out, so that no sum overflows
	for k, j := range nodes {
		cols, vals := words.Row(int(j))
		for p, w := range cols {
			if r.sums[w] == 0 {
				r.touched = append(r.touched, w)
			}
			r.sums[w] += weights[k] / heaviest * vals[p]
		}
	}
	slices.Sort(r.touched)
	r.touched = slices.Compact(r.touched) // a sum of tiny weights may stay 0
	largest := 0.0
	for _, w := range r.touched {
		largest = max(largest, r.sums[w])
	}
	keep := make([]uint32, 0, min(len(r.touched), wordsKept))
	for _, w := range r.touched {
		if v := r.sums[w]; v > 0 && v >= wordShare*largest {
			keep = append(keep, w)
		}
	}
	if len(keep) > wordsKept {
		slices.SortStableFunc(keep, func(a, b uint32) int { return cmp.Compare(r.sums[b], r.sums[a]) })
		keep = keep[:wordsKept]
		slices.Sort(keep)
	}
	squares := 0.0
	for _, w := range keep {
		squares += r.sums[w] / largest * (r.sums[w] / largest)
	}
	length := math.Sqrt(squares)
	for _, w := range keep {
		r.cols, r.vals = append(r.cols, w), append(r.vals, r.sums[w]/largest/length)
	}
	r.ends = append(r.ends, len(r.cols))
	for _, w := range r.touched {
		r.sums[w] = 0
	}
	r.touched = r.touched[:0]
}
