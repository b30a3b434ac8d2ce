package covariate

import (
	"context"
	"math"

	"gonum.org/v1/gonum/mat"

	"grfgp/graph"
	"grfgp/internal/eigen"
	"grfgp/internal/parallel"
	"grfgp/sparse"
)

// wordOperator is M·Mᵀ for M = S·(W − h·m): W has a row of words per node, h is 1 at nodes with
// words, m is the mean row of these nodes, and S spreads. M is never formed. It keeps
// scratch memory, so only one product at a time can be computed.
type wordOperator struct {
	words *sparse.CSR // W
	have  *sparse.CSR // h
	mean  *sparse.CSR // m
	walk  *sparse.CSR // P; nil: S is the identity

	most    float64 // (Σ W²)^½, the largest singular value that there could be
	byWord  *mat.Dense
	byNode  [3]*mat.Dense
	sum     *mat.Dense
	weights []float64 // of Chebyshev polynomials in S
}

// How words are spread.
const (
	goOn         = 0.9 // a, the probability that a walk goes on
	spreadDegree = 16  // of the polynomial
)

// newWordOperator spreads words unless g is nil. It returns nil if there are no words.
func newWordOperator(words *sparse.CSR, g *graph.Graph) *wordOperator {
	n, _ := words.Dims()
	o := &wordOperator{words: words}
	rowPtr, ones := make([]int, n+1), []float64{}
	squares := 0.0
	for i := range n {
		_, vals := words.Row(i)
		for _, v := range vals {
			squares += float64(v * v)
		}
		if len(vals) > 0 {
			ones = append(ones, 1)
		}
		rowPtr[i+1] = len(ones)
	}
	if squares == 0 {
		return nil
	}
	o.most = math.Sqrt(squares)
	o.have = matrix(n, 1, rowPtr, make([]uint32, len(ones)), ones)
	o.mean = meanRow(words, len(ones))
	if g != nil {
		o.walk = lazyWalk(g)
		o.weights = spreadWeights()
	}
	return o
}

// matrix is a sparse matrix of finite numbers.
func matrix(rows, cols int, rowPtr []int, colIdx []uint32, val []float64) *sparse.CSR {
	m, err := sparse.NewCSR(rows, cols, rowPtr, colIdx, val)
	if err != nil {
		panic("covariate: " + err.Error())
	}
	return m
}

// meanRow is the sum of rows over count, as a matrix of one row.
func meanRow(words *sparse.CSR, count int) *sparse.CSR {
	_, width := words.Dims()
	cols, mean := make([]uint32, width), make([]float64, width)
	for w := range width {
		cols[w] = uint32(w)
		_, vals := words.T().Row(w)
		for _, v := range vals {
			mean[w] += v
		}
		mean[w] /= float64(count)
	}
	return matrix(1, width, []int{0, width}, cols, mean)
}

// lazyWalk returns P = (D + L)⁻¹(A + L), where L are the mean weights of nodes' edges.
func lazyWalk(g *graph.Graph) *sparse.CSR {
	n, adj, strengths := g.Len(), g.Adjacency(), g.Strengths()
	rowPtr := make([]int, n+1)
	cols, vals := make([]uint32, 0, adj.NNZ()+n), make([]float64, 0, adj.NNZ()+n)
	for i := range n {
		nodes, weights := adj.Row(i)
		all := float64(len(nodes))
		cols, vals = append(cols, uint32(i)), append(vals, 1/(all+1))
		for p, j := range nodes {
			cols, vals = append(cols, j), append(vals, weights[p]/strengths[i]*(all/(all+1)))
		}
		rowPtr[i+1] = len(cols)
	}
	return matrix(n, n, rowPtr, cols, vals)
}

// spreadWeights are the coefficients of (1 − a)/(1 − a·λ) = c·(1 + 2·Σ_k r^k·T_k(λ)), r = (1 − √(1 − a²))/a,
// scaled such that the sum, the value at λ = 1, is 1. Before that, those that are left out
// sum to 2c·r^17/(1 − r) = 0.00044.
func spreadWeights() []float64 {
	r := (1 - math.Sqrt(1-goOn*goOn)) / goOn
	c, sum := make([]float64, spreadDegree+1), 0.0
	for k := range c {
		c[k] = 2 * math.Pow(r, float64(k))
		if k == 0 {
			c[k] = 1
		}
		sum += c[k]
	}
	for k := range c {
		c[k] /= sum
	}
	return c
}

// Dims returns the number of nodes twice.
func (o *wordOperator) Dims() (rows, cols int) {
	n, _ := o.words.Dims()
	return n, n
}

// perColumn returns the multiplications of a product with one vector.
func (o *wordOperator) perColumn() float64 {
	work := 2 * o.words.NNZ()
	if o.walk != nil {
		work += 2 * spreadDegree * o.walk.NNZ()
	}
	return float64(work)
}

// Mul sets dst = M·Mᵀ·x.
func (o *wordOperator) Mul(dst, x *mat.Dense) {
	o.size(x.RawMatrix().Cols)
	if o.walk != nil {
		o.spread(dst, x, o.walk.T())
		x = dst
	}
	o.have.T().Mul(o.sum, x)
	o.words.T().Mul(o.byWord, x)
	_, means := o.mean.Row(0)
	sum := o.sum.RawRowView(0)
	parallel.Ranges(len(means), rowBlock, func(lo, hi int) {
		for w := lo; w < hi; w++ {
			row := o.byWord.RawRowView(w)
			for c, v := range sum {
				row[c] -= float64(means[w] * v)
			}
		}
	})
	o.mean.Mul(o.sum, o.byWord)
	o.words.Mul(dst, o.byWord)
	n, _ := o.Dims()
	parallel.Ranges(n, rowBlock, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			if one, _ := o.have.Row(i); len(one) == 0 {
				continue
			}
			row := dst.RawRowView(i)
			for c, v := range sum {
				row[c] -= v
			}
		}
	})
	if o.walk != nil {
		o.spread(dst, dst, o.walk)
	}
}

// size allocates scratch memory for products with so many columns.
func (o *wordOperator) size(width int) {
	if o.sum != nil && o.sum.RawMatrix().Cols == width {
		return
	}
	n, words := o.words.Dims()
	o.sum, o.byWord = mat.NewDense(1, width, nil), mat.NewDense(words, width, nil)
	if o.walk != nil {
		for k := range o.byNode {
			o.byNode[k] = mat.NewDense(n, width, nil)
		}
	}
}

// spread sets dst, which may be x, to S·x for walk P, and to Sᵀ·x for its transpose.
func (o *wordOperator) spread(dst, x *mat.Dense, walk *sparse.CSR) {
	before, now, next := o.byNode[0], o.byNode[1], o.byNode[2]
	before.Zero()
	now.Copy(x)
	dst.Scale(o.weights[0], now)
	for k, weight := range o.weights[1:] {
		walk.Mul(next, now)
		eigen.Chebyshev(next, now, before, k, 1, 0)
		before, now, next = now, next, before
		addScaled(dst, weight, now)
	}
}

// addScaled adds f·x to dst.
func addScaled(dst *mat.Dense, f float64, x *mat.Dense) {
	n, _ := x.Dims()
	parallel.Ranges(n, rowBlock, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			to := dst.RawRowView(i)
			for c, v := range x.RawRowView(i) {
				to[c] += float64(f * v)
			}
		}
	})
}

// leading returns the leading left singular vectors and singular values of M; nil means that M is zero.
// Those kept are the first, at most want.
func (o *wordOperator) leading(ctx context.Context, want int) (*pairs, error) {
	const products = 1 // with M·Mᵀ at least, beside one at the start and one at the end
	n, _ := o.Dims()
	nodes := make([]int, n)
	for i := range nodes {
		nodes[i] = i
	}
	b := eigen.Start(o, nodes, min(n, want+max(8, want/4)), blockName)
	squares, err := iterate(ctx, b, o, want, o.perColumn(), products)
	if err != nil || b.Width() == 0 {
		return nil, err
	}
	if squares == nil {
		if squares, err = b.Ritz(eigen.Falling); err != nil {
			return nil, err
		}
	}
	p := &pairs{v: b.X, residuals: make([]float64, len(squares))}
	for _, s := range squares {
		p.values = append(p.values, math.Sqrt(max(0, s)))
	}
	if p.values[0] <= noValue*o.most {
		return nil, nil
	}
	if p.take(want); 2*len(p.kept) < want {
		p.keep(want)
	}
	return p, nil
}

// keep keeps as many pairs as are apart from zero, at most want.
func (p *pairs) keep(want int) {
	p.kept = nil
	for k := 0; k < min(want, len(p.values)) && p.values[k] > noValue*p.values[0]; k++ {
		p.kept = append(p.kept, k)
	}
}
