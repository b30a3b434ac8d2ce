package covariate

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"grfgp/internal/eigen"
	"grfgp/internal/parallel"
	"grfgp/sparse"
)

// Vectors are leading singular vectors of a symmetric matrix: its eigenvectors with
// eigenvalues of the largest magnitude.
type Vectors struct {
	// X has a row per node and a column per vector: sign(u)·log(1 + |u|/0.3) of its entries u, in
	// units of their root mean square, standardised to mean 0 and sd 1, clipped at ±4, and
	// times 1/√k for the vector of the k-th largest singular value. It is 0 for a vector that is the same at
	// all nodes, and at nodes outside large components.
	//
	// Of vectors with equal singular values only the span is determined. They are a group: logarithm and clip
	// act on the length of the part of a node in the group, with one scale and one weight for
	// the group. So signs, and the basis within a group, change X by signs and by a rotation only.
	X *mat.Dense
	// Values are the eigenvalues, falling in magnitude.
	Values []float64
	// Group is the group of each column: columns of equal singular value share one.
	Group []int
	// Residual is the largest ‖A·v − λ·v‖/|λ|.
	Residual float64

	unscaled *mat.Dense // the vectors of norm 1 themselves, for Directions
}

// mostSDs is the largest entry of a covariate, in standard deviations.
const mostSDs = 4.0

// pairs are orthonormal eigenvectors, falling by the magnitude of their eigenvalues.
type pairs struct {
	values    []float64
	v         *mat.Dense
	residuals []float64 // ‖A·v − λ·v‖/|λ|
	kept      []int     // by take
}

const (
	exactNodes = 320   // nodes up to which a dense matrix is decomposed
	sameValue  = 1e-6  // difference of singular values that count as equal, in units of the largest
	noValue    = 1e-10 // singular value that counts as zero, in the same unit
	enough     = 2e-3  // relative change of squares of singular values at which iterations end
	mostRounds = 20    // of filters
	mostWork   = 1.5e9 // multiplications in filters, some seconds; at least leastProducts with a² in any case
	rough      = 0.1   // residual, relative to the eigenvalue, from which a vector is left out

	leastProducts = 12
	mostDegree    = 400                // of a filter,
	filterGain    = 1e10               // by which it raises the largest eigenvalue, if that takes no higher degree
	blockName     = "singular vectors" // of the random numbers that blocks start from
	rowBlock      = 2048               // rows that are worked on as one
)

// singularVectors returns the leading singular vectors of a, at most want, with zeros
// outside nodes, which are components of a. Vectors of equal singular values are
// taken or left out together, so there may be fewer; nil means none.
//
// Subspace iteration with Chebyshev filters of a² starts from a seeded block of random
// numbers over the nodes in their order. It ends when no singular
// value changes by more than a thousandth, or after mostWork. Leading vectors
// are then exact to several digits; the last ones may be mixed with vectors of nearly
// the same singular value, which matters little. Vectors that have not converged so far,
// as on long rings, are left out.
func singularVectors(ctx context.Context, a *sparse.CSR, nodes []int, want int) (*Vectors, error) {
	want = min(want, len(nodes)/4)
	if want <= 0 || a.NNZ() == 0 {
		return nil, nil
	}
	// By a power of two, so that values scale back without rounding and squares stay in range.
	scale := math.Ldexp(1, exponent(a))
	a = a.Scaled(1 / scale)
	var p *pairs
	var err error
	if len(nodes) <= exactNodes {
		p, err = exactPairs(a, nodes)
	} else {
		p, err = leadingPairs(ctx, a, nodes, want)
	}
	if err != nil || p == nil {
		return nil, err
	}
	p.take(want)
	if len(p.kept) == 0 {
		return nil, nil
	}
	v := p.scaled(nodes)
	for k := range v.Values {
		v.Values[k] *= scale
	}
	return v, nil
}

// exponent returns the binary exponent of the largest magnitude in a.
func exponent(a *sparse.CSR) int {
	_, _, val := a.Raw()
	most := 0.0
	for _, w := range val {
		most = max(most, math.Abs(w))
	}
	_, e := math.Frexp(most)
	return min(e, 1000) // the inverse must stay in range
}

// exactPairs decomposes the part of a over nodes as a dense matrix.
func exactPairs(a *sparse.CSR, nodes []int) (*pairs, error) {
	n, _ := a.Dims()
	place := make([]int, n)
	for at, i := range nodes {
		place[i] = at
	}
	sym := mat.NewSymDense(len(nodes), nil)
	for at, i := range nodes {
		cols, vals := a.Row(i)
		for p, j := range cols {
			if to := place[j]; to >= at {
				sym.SetSym(at, to, vals[p])
			}
		}
	}
	// Draws depend on the signs of vectors: those of gonum stay as they are.
	var e mat.EigenSym
	if !e.Factorize(sym, true) {
		return nil, fmt.Errorf("singular vectors of %d nodes do not converge", len(nodes))
	}
	var u mat.Dense
	e.VectorsTo(&u)
	values := e.Values(nil)
	eigen.Sort(values, &u, eigen.Magnitude)
	p := &pairs{values: values, v: mat.NewDense(n, len(nodes), nil), residuals: make([]float64, len(nodes))}
	for at, i := range nodes {
		p.v.SetRow(i, u.RawRowView(at))
	}
	return p, nil
}

// take keeps at most want pairs: those that are apart from zero, have converged, and
// belong to a group of equal singular values that is known to be whole.
func (p *pairs) take(want int) {
	size := func(k int) float64 { return math.Abs(p.values[k]) }
	m := min(want, len(p.values))
	for m > 0 && size(m-1) <= noValue*size(0) {
		m--
	}
	if m < len(p.values) {
		for m > 0 && size(m-1)-size(m) <= sameValue*size(0) {
			m--
		}
	}
	for k := range m {
		if p.residuals[k] <= rough {
			p.kept = append(p.kept, k)
		}
	}
}

// compress is the part of the root mean square of entries from which their logarithm is taken.
//
// Singular vectors of graphs with hubs have entries of 30 sds at a few nodes and tiny ones at most. The
// logarithm makes use of both; it and the weights 1/√k were chosen on the views of streamers, where a ridge
// regression on the vectors has errors of 1.40 and 1.22 with clipped vectors of equal weight, and of 1.35
// and 1.18 with these.
const compress = 0.3

// scaled returns the vectors that were kept, compressed, standardised over nodes, bounded and weighted.
func (p *pairs) scaled(nodes []int) *Vectors {
	n, _ := p.v.Dims()
	m := len(p.kept)
	v := &Vectors{X: mat.NewDense(n, m, nil), Values: make([]float64, m), Group: make([]int, m)}
	for to, k := range p.kept {
		v.Values[to] = p.values[k]
		v.Residual = max(v.Residual, p.residuals[k])
		if to == 0 {
			continue
		}
		v.Group[to] = v.Group[to-1]
		if math.Abs(v.Values[to-1])-math.Abs(v.Values[to]) > sameValue*math.Abs(p.values[0]) {
			v.Group[to]++
		}
	}
	v.unscaled = mat.NewDense(n, m, nil)
	unit := math.Sqrt(float64(len(nodes)))
	eachBlock(nodes, func(_ int, nodes []int) {
		for _, i := range nodes {
			from, row, same := p.v.RawRowView(i), v.X.RawRowView(i), v.unscaled.RawRowView(i)
			for to, k := range p.kept {
				row[to], same[to] = unit*from[k], from[k]
			}
		}
	})
	for lo := 0; lo < m; {
		hi := lo
		for hi < m && v.Group[hi] == v.Group[lo] {
			hi++
		}
		v.scaleGroup(nodes, lo, hi)
		lo = hi
	}
	return v
}

// eachBlock calls do with the nodes, a numbered block at a time.
func eachBlock(nodes []int, do func(block int, nodes []int)) {
	parallel.Ranges(len(nodes), rowBlock, func(lo, hi int) { do(lo/rowBlock, nodes[lo:hi]) })
}

// scaleGroup compresses, standardises, bounds and weighs the columns lo to hi, a group. Sums are taken over blocks of
// nodes, in their order.
func (v *Vectors) scaleGroup(nodes []int, lo, hi int) {
	size, blocks := math.Sqrt(float64(hi-lo)), len(nodes)/rowBlock+1
	means, squares := make([][]float64, blocks), make([]float64, blocks)
	eachBlock(nodes, func(block int, nodes []int) {
		sums := make([]float64, hi-lo)
		for _, i := range nodes {
			part := v.X.RawRowView(i)[lo:hi]
			if r := length(part) / size; r > 0 {
				multiply(part, math.Log1p(r/compress)/r)
			}
			for k, x := range part {
				sums[k] += x
			}
		}
		means[block] = sums
	})
	mean := make([]float64, hi-lo)
	for _, sums := range means {
		for k, s := range sums {
			mean[k] += s / float64(len(nodes))
		}
	}
	eachBlock(nodes, func(block int, nodes []int) {
		for _, i := range nodes {
			part := v.X.RawRowView(i)[lo:hi]
			for k := range part {
				part[k] -= mean[k]
				squares[block] += float64(part[k] * part[k])
			}
		}
	})
	sum := 0.0
	for _, s := range squares {
		sum += s / float64(len(nodes))
	}
	sd := math.Sqrt(sum) / size
	weight := 1 / math.Sqrt(float64(1+lo+hi)/2) // at the middle of places lo + 1 to hi
	eachBlock(nodes, func(_ int, nodes []int) {
		for _, i := range nodes {
			part := v.X.RawRowView(i)[lo:hi]
			if !(sd > 1e-9) { // the same at all nodes
				clear(part)
				continue
			}
			f := 1 / sd
			if r := length(part) / sd / size; r > mostSDs {
				f *= mostSDs / r
			}
			multiply(part, f*weight)
		}
	})
}

func length(x []float64) float64 {
	sum := 0.0
	for _, v := range x {
		sum += float64(v * v)
	}
	return math.Sqrt(sum)
}

func multiply(x []float64, f float64) {
	for k := range x {
		x[k] *= f
	}
}

// leadingPairs returns leading pairs of a, found by iterate. The last step solves the
// eigenproblem of a, which separates eigenvalues of opposite signs.
func leadingPairs(ctx context.Context, a *sparse.CSR, nodes []int, want int) (*pairs, error) {
	b := eigen.Start(a, nodes, min(len(nodes), want+max(8, want/8)), blockName)
	if _, err := iterate(ctx, b, &squared{of: a}, want, 2*float64(a.NNZ()), leastProducts); err != nil || b.Width() == 0 {
		return nil, err
	}
	b.A = a
	values, err := b.Ritz(eigen.Magnitude)
	if err != nil {
		return nil, fmt.Errorf("singular vectors: %w", err)
	}
	p := &pairs{values: values, v: b.X, residuals: b.Residuals(values)}
	for k, v := range values {
		p.residuals[k] /= math.Abs(v) // NaN or infinite for a value of 0
	}
	return p, nil
}

// squared is the square of a symmetric matrix. It keeps scratch memory, so only one product at a time can be computed.
type squared struct {
	of   *sparse.CSR
	half *mat.Dense
}

// Dims returns the size of the matrix.
func (s *squared) Dims() (rows, cols int) { return s.of.Dims() }

// Mul sets dst to the product with x.
func (s *squared) Mul(dst, x *mat.Dense) {
	if rows, cols := x.Dims(); s.half == nil || s.half.RawMatrix().Cols != cols {
		s.half = mat.NewDense(rows, cols, nil)
	}
	s.of.Mul(s.half, x)
	s.of.Mul(dst, s.half)
}

// iterate makes b, a new block of b.A, an orthonormal basis of its leading singular vectors. It goes on with a matrix
// that has no negative eigenvalues, the square of b.A or b.A itself. The block has more columns than are wanted. Each round
// filters by a polynomial that is at most 1 up to an eigenvalue below those wanted, and solves the eigenproblem within the
// block. It returns the eigenvalues if the columns are their vectors, else nil. A block of no columns means that b.A is zero.
// There are at least so many products, whatever the multiplications that each takes per column.
func iterate(ctx context.Context, b *eigen.Block, matrix eigen.Operator, want int, perColumn, products float64) ([]float64,
	error) {
	product := perColumn * float64(b.Width())
	left := max(mostWork, products*product)
	if err := b.Filter(ctx, 1, 1, 0); err != nil {
		return nil, err
	}
	// Plain products are the best use of a few: a filter takes one more to know its bound.
	for ; b.Width() > 0 && left >= product && left < 3*product; left -= product {
		if err := b.Filter(ctx, 1, 1, 0); err != nil {
			return nil, err
		}
	}
	b.A = matrix
	var before []float64
	for round := 0; ; round++ {
		if b.Width() == 0 || b.Width() <= want && round > 0 || left < product {
			// Fewer than wanted: the block spans the range of the matrix, so the pairs are exact.
			return nil, nil
		}
		squares, err := b.Ritz(eigen.Falling)
		if err != nil {
			return nil, err
		}
		if round == mostRounds || settled(squares, before, min(want, b.Width())) {
			return squares, nil
		}
		before = squares
		low := max(1e-16*squares[0], squares[min((want+b.Width())/2, b.Width()-1)])
		if low <= 0 {
			return squares, nil
		}
		degree := max(1, min(mostDegree, int(math.Acosh(filterGain)/eigen.Rate(2*squares[0]/low-1)), int(left/product)))
		if err := b.Filter(ctx, degree, 2/low, 1); err != nil {
			return nil, err
		}
		n, _ := b.X.Dims()
		left -= float64(degree)*product + float64(n*b.Width()*b.Width())
	}
}

// settled reports whether no round could raise the first squares of singular values by
// much. Their errors are of the order of the squares of the errors of vectors.
func settled(squares, before []float64, first int) bool {
	if before == nil {
		return false
	}
	for k, s := range squares[:first] {
		if k >= len(before) || s-before[k] > enough*s {
			return false
		}
	}
	return true
}
