package covariate

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/mat"

	"grfgp/internal/parallel"
	"grfgp/internal/rng"
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
	var e mat.EigenSym
	if !e.Factorize(sym, true) {
		return nil, fmt.Errorf("singular vectors of %d nodes do not converge", len(nodes))
	}
	var u mat.Dense
	e.VectorsTo(&u)
	values := e.Values(nil)
	order := byMagnitude(values)
	p := &pairs{values: make([]float64, len(values)), v: mat.NewDense(n, len(values), nil), residuals: make([]float64, len(values))}
	for to, from := range order {
		p.values[to] = values[from]
		for at, i := range nodes {
			p.v.Set(i, to, u.At(at, from))
		}
	}
	return p, nil
}

// byMagnitude returns the indices of values, falling by magnitude; of equal
// magnitudes, the positive value is first.
func byMagnitude(values []float64) []int {
	order := make([]int, len(values))
	for k := range order {
		order[k] = k
	}
	slices.SortStableFunc(order, func(i, j int) int {
		return cmp.Or(cmp.Compare(math.Abs(values[j]), math.Abs(values[i])), cmp.Compare(values[j], values[i]))
	})
	return order
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

// leadingPairs returns leading pairs of a, found by block.iterate. The last step solves the
// eigenproblem of a, which separates eigenvalues of opposite signs.
func leadingPairs(ctx context.Context, a *sparse.CSR, nodes []int, want int) (*pairs, error) {
	b := newBlock(a, nodes, min(len(nodes), want+max(8, want/8)))
	b.power = 2
	work := effort{perColumn: 2 * float64(a.NNZ()), products: leastProducts}
	if _, err := b.iterate(ctx, want, work); err != nil || b.width() == 0 {
		return nil, err
	}
	return b.pairs()
}

// effort says how long block.iterate may take.
type effort struct {
	perColumn float64 // multiplications of a product of a^power with a vector
	products  float64 // that are allowed at least, whatever the multiplications
}

// iterate makes x an orthonormal basis of the leading singular vectors of a. The block has more
// columns than are wanted. Each round applies a Chebyshev polynomial of a^power that is at
// most 1 up to the square of a singular value below those wanted and grows beyond, makes the
// block orthonormal, and solves the eigenproblem of a^power within it. It returns the eigenvalues
// if the columns of x are their vectors, else nil. A block of no columns means that a is zero.
func (b *block) iterate(ctx context.Context, want int, work effort) ([]float64, error) {
	b.multiply()
	product := work.perColumn * float64(b.width())
	left := max(mostWork, work.products*product)
	var before []float64
	for round := 0; ; round++ {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		b.orthonormalize()
		switch {
		case b.width() == 0:
			return nil, nil
		case b.width() <= want && round > 0, left < product:
			// Fewer than wanted: the block spans the range of a, so the pairs are exact.
			return nil, nil
		case before == nil && left < 3*product:
			// Plain products are the best use of a few: a filter takes one more to know its bound.
			b.multiply()
			left -= product
			continue
		}
		squares, err := b.ritz(b.power)
		if err != nil {
			return nil, err
		}
		if round == mostRounds || settled(squares, before, min(want, b.width())) {
			return squares, nil
		}
		before = squares
		value := func(k int) float64 { return math.Sqrt(max(0, squares[min(k, b.width()-1)])) }
		low := max(1e-8*value(0), value((want+b.width())/2))
		if low == 0 {
			return squares, nil
		}
		m := min(degree(value(0), low), int(left/product))
		if err := b.filter(ctx, m, low); err != nil {
			return nil, err
		}
		n, _ := b.x.Dims()
		left -= float64(m)*product + float64(n*b.width()*b.width())
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

// rate returns by how many e-folds a filter raises singular value s above those up to
// low with every degree: T_m(y) ≈ exp(m·arcosh y)/2.
func rate(s, low float64) float64 { return math.Acosh(max(1+1e-9, 2*(s/low)*(s/low)-1)) }

// degree returns the degree of a filter that raises the largest singular value by
// filterGain above those up to low.
func degree(most, low float64) int {
	const filterGain, largest = 1e10, 400
	return max(1, min(largest, int(math.Acosh(filterGain)/rate(most, low))))
}

// startBlock returns random numbers at nodes and zeros elsewhere. A row depends on
// its place among the nodes only.
func startBlock(n int, nodes []int, width int) *mat.Dense {
	x := mat.NewDense(n, width, nil)
	random := rand.New(rng.New(0, "singular vectors"))
	for _, i := range nodes {
		row := x.RawRowView(i)
		for c := range row {
			row[c] = random.NormFloat64()
		}
	}
	return x
}
