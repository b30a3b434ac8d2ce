package kernel

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"grfgp/internal/dense"
	"grfgp/internal/parallel"
	"grfgp/space"
	"grfgp/sparse"
	"grfgp/walk"
)

// pattern is the pattern of the features of a list of nodes.
type pattern struct {
	*space.Pattern
	err error // of making it; the pattern is then empty

	fullOnce sync.Once
	full     fullColumns // in products with the own transpose
}

// pattern returns the pattern of a list, or why there is none.
func (k *sampledRows) pattern(ctx context.Context, rows []int) (*space.Pattern, error) {
	p := k.patternOf(rows)
	if p.err != nil {
		return nil, fmt.Errorf("%w: %w", ErrFeatures, p.err)
	}
	return p.Pattern, ctx.Err()
}

func (k *sampledRows) patternOf(rows []int) *pattern {
	if k.isAll(rows) {
		return k.whole()
	}
	return k.patterns.Get(rows, k.newPattern)
}

// isAll reports whether rows are all nodes in order. Their pattern costs most and is used often, so it is kept outside
// the cache.
func (k *sampledRows) isAll(rows []int) bool { return len(rows) == k.Nodes() && increasing(rows) }

func (k *sampledRows) newPattern(rows []int) *pattern {
	p, err := space.NewPattern(context.Background(), k.features, rows, &k.labels)
	if err != nil {
		p = &space.Pattern{Rows: rows, Nodes: []uint32{}, Ptr: make([]int, len(rows)+1)}
	}
	return &pattern{Pattern: p, err: err}
}

// fulls returns the columns that are full in ΦΦᵀ.
func (p *pattern) fulls() *fullColumns {
	p.fullOnce.Do(func() {
		counts := make([]int, p.Width)
		for _, c := range p.Col {
			counts[c]++
		}
		p.full = newFullColumns(p.Width, len(p.Rows), func(c int) int { return counts[c] })
	})
	return &p.full
}

// factor is Φ[rows, :] at one theta, for entries of K. Its columns have the numbers of a pattern.
type factor struct {
	*pattern
	cov   *grfCovariance
	rows  int
	width int
	nodes []uint32
	phi   *sparse.CSR
	err   error

	once sync.Once
	phiT *sparse.CSR
}

func (c *grfCovariance) factor(rows []int) *factor { return c.factors.Get(rows, c.newFactor) }

func (c *grfCovariance) newFactor(rows []int) *factor {
	p := c.patternOf(rows)
	f := &factor{pattern: p, cov: c, rows: len(rows), width: p.Width, nodes: p.Nodes}
	val, err := make([]float64, len(p.Col)), p.err
	if err == nil {
		var shape *sparse.Pattern
		if shape, err = p.Shape(); err == nil {
			p.Combine(val, c.coeff)
			f.phi, err = shape.With(val)
		}
	}
	return f.checked(err)
}

// checked returns the factor with an error; its matrix is then empty.
func (f *factor) checked(err error) *factor {
	if err != nil {
		f.err = fmt.Errorf("%w: %w", ErrFeatures, err)
		f.phi, _ = sparse.NewCSR(f.rows, f.width, make([]int, f.rows+1), nil, nil)
	}
	return f
}

// transpose returns Φᵀ.
func (f *factor) transpose() *sparse.CSR {
	f.once.Do(func() {
		if f.pattern != nil {
			if turned, err := f.Turned(); err == nil && len(turned.From) == f.phi.NNZ() {
				f.phiT = turned.Shape.Picked(f.phi, turned.From)
				return
			}
		}
		f.phiT = f.phi.T()
	})
	return f.phiT
}

// squares returns the squared norms of the rows.
func (f *factor) squares() []float64 {
	all := make([]float64, f.rows)
	eachPlace(f.rows, func(a int) {
		_, phi := f.phi.Row(a)
		all[a] = squares(phi)
	})
	return all
}

// fulls returns the columns that are full in ΦΦᵀ.
func (f *factor) fulls() *fullColumns {
	if f.pattern != nil {
		return f.pattern.fulls()
	}
	counts := make([]int, f.width)
	_, col, _ := f.phi.Raw()
	for _, c := range col {
		counts[c]++
	}
	full := newFullColumns(f.width, f.rows, func(c int) int { return counts[c] })
	return &full
}

// gramRows is the number of rows of a Gram matrix in a block. It is small,
// because the rows of a triangle have different lengths.
const gramRows = 8

// Gram sets dst = K[rows, rows].
func (c *grfCovariance) Gram(ctx context.Context, dst *mat.SymDense, rows []int) error {
	if t, ok, err := c.pairs.get(ctx, c.sampledRows, rows); ok || err != nil {
		if err == nil {
			checkOrder(dst, rows)
			t.sum(dst.RawSymmetric(), c.pairWeights())
		}
		return err
	}
	f := c.factor(rows)
	if f.err != nil {
		return f.err
	}
	checkOrder(dst, rows)
	raw := dst.RawSymmetric()
	everyRow(raw.N, gramRows, func(i int) {
		clear(raw.Data[i*raw.Stride+i:][:raw.N-i])
	})
	return f.addGram(ctx, raw, 1)
}

// addGram adds scale·ΦΦᵀ to the upper triangle of dst.
func (f *factor) addGram(ctx context.Context, dst blas64.Symmetric, scale float64) error {
	phiT, full := f.transpose(), f.fulls()
	var turned space.Turned
	if f.pattern != nil {
		turned, _ = f.Turned() // transpose has used it
	}
	ptrT, others, weights := phiT.Raw()
	err := eachRow(ctx, dst.N, gramRows, func(_, i int) {
		out := dst.Data[i*dst.Stride:][:dst.N]
		nodes, vals := f.phi.Row(i)
		for p, node := range nodes {
			if full.has(node) {
				continue
			}
			from, end := 0, ptrT[node+1]
			if turned.To != nil { // rows of a column are sorted
				from = int(turned.To[f.Ptr[i]+p])
			} else {
				at, _ := slices.BinarySearch(others[ptrT[node]:end], uint32(i))
				from = ptrT[node] + at
			}
			v, columns := scale*vals[p], others[from:end]
			for q, w := range weights[from:end] {
				out[columns[q]] += float64(v * w)
			}
		}
	})
	if err == nil && full.count > 0 {
		block := full.of(f.phi)
		dense.AddLower(dense.OfSymmetric(dst).T(), scale, block, block.T()) // the upper triangle is the lower one of the transpose
	}
	return err
}

// GramGrad adds ⟨g, ∂K/∂θ_j⟩ to grad[j]: ∂/∂f_l = 2⟨Ψ_l, gΦ⟩, with gΦ taken only
// where Ψ_l is not zero.
func (c *grfCovariance) GramGrad(ctx context.Context, grad []float64, rows []int, g *mat.SymDense) error {
	if t, ok, err := c.pairs.get(ctx, c.sampledRows, rows); ok || err != nil {
		if err == nil {
			checkOrder(g, rows)
			c.chain(grad, c.pairSlopes(t.inner(g.RawSymmetric(), len(t))))
		}
		return err
	}
	f := c.factor(rows)
	if f.err != nil {
		return f.err
	}
	checkOrder(g, rows)
	slope := make([]float64, len(c.coeff))
	err := space.Project(ctx, slope, f.List, len(rows), f.gramWeights(g))
	if err == nil {
		c.chain(grad, slope)
	}
	return err
}

// gramWeights returns a function that sets q to 2·gΦ at the entries of a row.
func (f *factor) gramWeights(g *mat.SymDense) func(worker int, q []float64, i int) []float64 {
	whole, hubs, phiT := fullRows(g), f.fulls(), f.transpose()
	var at *mat.Dense // gΦ at the full columns
	if hubs.count > 0 {
		at = mat.NewDense(f.rows, hubs.count, nil)
		dense.Mul(dense.View(at), dense.View(whole), hubs.of(f.phi))
	}
	return func(_ int, q []float64, i int) []float64 {
		cols, gi := f.Col[f.Ptr[i]:f.Ptr[i+1]], whole.RawRowView(i)
		q = room(&q, len(cols))
		for e, col := range cols {
			if hubs.has(col) {
				q[e] = 2 * at.At(i, int(hubs.place[col]))
				continue
			}
			others, vals := phiT.Row(int(col))
			sum := 0.0
			for p, k := range others {
				sum += float64(vals[p] * gi[k])
			}
			q[e] = 2 * sum
		}
		return q
	}
}

// rowsOnce are rows of Φ that are used once.
type rowsOnce interface {
	// reached returns the columns of the row at place a, in the memory it is given if that is needed.
	reached(room []uint32, a int) []uint32
	// values sets dst to its values.
	values(dst []float64, a int)
}

// rowsOnce returns rows of Φ. Those of a large graph are float32, whether Φ of all nodes is there or not: what was computed
// before must not show.
func (c *grfCovariance) rowsOnce(rows []int) (rowsOnce, error) {
	if c.large {
		c.compactMu.Lock()
		phi := c.compactPhi
		c.compactMu.Unlock()
		if phi != nil {
			return compactRows{phi, rows}, nil
		}
	}
	own, err := c.features.ListOnce(context.Background(), rows)
	return sampledOnce{own, c}, err
}

// compactRows are rows of a compact Φ.
type compactRows struct {
	phi  *sparse.Compact
	rows []int
}

func (r compactRows) reached(room []uint32, a int) []uint32 { return r.phi.Columns(room, r.rows[a]) }
func (r compactRows) values(dst []float64, a int)           { r.phi.Values(dst, r.rows[a]) }

// sampledOnce are rows of Φ from features.
type sampledOnce struct {
	own *walk.List
	cov *grfCovariance
}

func (r sampledOnce) reached(_ []uint32, a int) []uint32 { return r.own.Reached(a) }

func (r sampledOnce) values(dst []float64, a int) {
	r.own.CombineRow(dst, r.cov.coeff, a)
	if r.cov.large {
		for e, v := range dst {
			dst[e] = float64(float32(v))
		}
	}
}

// beside returns Φ[rows, :] with the columns of f. Entries in other columns are
// dropped: they do not contribute to products with f.
func (f *factor) beside(rows []int) *factor {
	c := f.cov
	labels, giveBack := c.labels.Borrow(c.Nodes())
	defer giveBack()
	label := func(node uint32) uint32 { return node + 1 }
	if f.nodes != nil {
		for j, node := range f.nodes {
			labels[node] = uint32(j + 1)
		}
		defer func() {
			for _, node := range f.nodes {
				labels[node] = 0
			}
		}()
		label = func(node uint32) uint32 { return labels[node] }
	}
	out := &factor{cov: c, rows: len(rows), width: f.width, nodes: f.nodes}
	own, err := c.rowsOnce(rows)
	if err != nil {
		return out.checked(err)
	}
	const size = 256
	ptr := make([]int, len(rows)+1)
	parallel.Ranges(len(rows), size, func(lo, hi int) {
		var room []uint32
		for a := lo; a < hi; a++ {
			reached := own.reached(room, a)
			for _, node := range reached {
				if label(node) != 0 {
					ptr[a+1]++
				}
			}
			room = reached[:0]
		}
	})
	for a := range rows {
		ptr[a+1] += ptr[a]
	}
	col, val := make([]uint32, ptr[len(rows)]), make([]float64, ptr[len(rows)])
	parallel.Ranges(len(rows), size, func(lo, hi int) {
		var nodes []uint32
		var values []float64
		q := ptr[lo]
		for a := lo; a < hi; a++ {
			if ptr[a] == ptr[a+1] {
				continue
			}
			reached := own.reached(nodes, a)
			phi := room(&values, len(reached))
			own.values(phi, a)
			for e, node := range reached {
				if j := label(node); j != 0 {
					col[q], val[q] = j-1, phi[e]
					q++
				}
			}
			nodes = reached[:0]
		}
	})
	out.phi, err = sparse.NewCSR(len(rows), f.width, ptr, col, val)
	return out.checked(err)
}

// entries sets dst = K[rows, cols], which costs as much as rows of Φ have entries in common columns.
func (c *grfCovariance) entries(ctx context.Context, dst *mat.Dense, rows, cols []int) error {
	right := c.factor(cols)
	left := right
	if !slices.Equal(rows, cols) {
		left = right.beside(rows)
	}
	if err := cmp.Or(left.err, right.err); err != nil {
		return err
	}
	return sparseTimes(ctx, dst, left.phi, right.transpose())
}

// eachPlace calls do for all places of a list, in parallel.
func eachPlace(n int, do func(a int)) { everyRow(n, 1024, do) }

// everyRow calls do for the rows 0 … n−1 in parallel, by blocks of the given size.
func everyRow(n, size int, do func(i int)) {
	parallel.Ranges(n, size, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			do(i)
		}
	})
}

// eachRow calls do(worker, i) for every i in [0, n), by blocks of the given size.
func eachRow(ctx context.Context, n, size int, do func(worker, i int)) error {
	return parallel.Blocks(ctx, (n+size-1)/size, func(worker, b int) error {
		for i := b * size; i < min(n, (b+1)*size); i++ {
			do(worker, i)
		}
		return nil
	})
}

// checkOrder panics unless the order of a is the length of the list.
func checkOrder(a mat.Symmetric, rows []int) {
	if n := a.SymmetricDim(); n != len(rows) {
		panic(fmt.Sprintf("kernel: a matrix of order %d for %d nodes", n, len(rows)))
	}
}

// room returns *buf with n elements, after growing it if it is too small.
func room(buf *[]float64, n int) []float64 {
	if cap(*buf) < n {
		*buf = make([]float64, n)
	}
	return (*buf)[:n]
}
