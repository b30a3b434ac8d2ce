package kernel

import (
	"context"
	"slices"
	"sync"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"grfgp/internal/dense"
	"grfgp/internal/parallel"
)

// distanceCache remembers the squared distances within large groups of columns
// for one list of rows.
type distanceCache struct {
	*distances
	rows   []int
	groups []int // that are cached
	mu     sync.Mutex
	t      triangles // of the groups, once they are known
}

// newDistanceCache caches as many groups as maxBytes allow, those with the most
// columns first.
func newDistanceCache(d *distances, rows []int, maxBytes int) *distanceCache {
	c := &distanceCache{distances: d, rows: slices.Clone(rows)}
	for g, size := range d.sizes {
		if size >= cacheWidth {
			c.groups = append(c.groups, g)
		}
	}
	slices.SortStableFunc(c.groups, func(a, b int) int { return d.sizes[b] - d.sizes[a] })
	c.groups = c.groups[:min(len(c.groups), maxBytes/max(1, 8*triangleSize(len(rows))))]
	return c
}

// get returns the groups with known distances, and these; none for other rows than
// those of the cache.
func (c *distanceCache) get(ctx context.Context, rows []int) ([]int, triangles, error) {
	if c == nil || len(c.groups) == 0 || !slices.Equal(rows, c.rows) {
		return nil, nil, nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.t == nil {
		ones := slices.Repeat([]float64{1}, len(c.sizes))
		unscaled := c.scaledBy(ones)
		t := make(triangles, len(c.groups))
		for k, g := range c.groups {
			p := newPairs(unscaled, rows, c.columnsOf(func(of int) bool { return of == g }))
			whole := p.upper()
			p.squares(whole.RawSymmetric())
			t[k] = upperTriangle(whole.RawSymmetric())
			giveBack(whole)
			if err := ctx.Err(); err != nil {
				return nil, nil, err
			}
		}
		c.t = t
	}
	return c.groups, c.t, nil
}

// columnsOf returns the columns in the groups that are wanted.
func (d *distances) columnsOf(want func(group int) bool) []int {
	var columns []int
	for k, g := range d.group {
		if want(g) {
			columns = append(columns, k)
		}
	}
	return columns
}

// pairs are the squared distances of all pairs of rows: those of known groups from
// a cache, the others from a product of the scaled columns, |a − b|² = |a|² + |b|² −
// 2a·b. Rows that are equal have distance 0 exactly, because the three terms are
// the same sum.
type pairs struct {
	scaled
	columns []int      // of the groups that are not known
	x       *mat.Dense // these columns, scaled; nil without columns
	norms   []float64  // |a|² of its rows
	known   []int      // groups with known distances,
	weight  []float64  // 1/ℓ² of these,
	t       triangles  // and the distances
}

func newPairs(s scaled, rows, columns []int) *pairs {
	p := &pairs{scaled: s, columns: columns}
	if len(columns) > 0 {
		p.x = mat.NewDense(len(rows), len(columns), nil)
		s.at(p.x, rows, columns)
	}
	return p
}

// pairs returns those of the rows.
func (c *smoothCovariance) pairs(ctx context.Context, rows []int) (*pairs, error) {
	known, t, err := c.cache.get(ctx, rows)
	if err != nil {
		return nil, err
	}
	p := newPairs(c.scaled, rows, c.columnsOf(func(g int) bool { return !slices.Contains(known, g) }))
	p.known, p.t = known, t
	for _, g := range known {
		p.weight = append(p.weight, 1/(c.scaled.lengths[g]*c.scaled.lengths[g]))
	}
	if len(rows) > 0 && p.x == nil {
		p.norms = make([]float64, len(rows))
	}
	return p, ctx.Err()
}

// upper returns −2a·b for a ≤ b in a borrowed matrix.
func (p *pairs) upper() *mat.SymDense {
	n, _ := p.x.Dims()
	whole := borrowSymmetric(n)
	p.products(whole.RawSymmetric())
	return whole
}

// products sets the upper triangle of dst to −2a·b, and the norms.
func (p *pairs) products(dst blas64.Symmetric) {
	for a := range dst.N {
		clear(dst.Data[a*dst.Stride+a:][:dst.N-a])
	}
	if p.x == nil {
		return
	}
	x := dense.View(p.x)
	dense.AddLower(dense.OfSymmetric(dst).T(), -2, x, x.T())
	p.norms = make([]float64, dst.N)
	for a := range p.norms {
		p.norms[a] = -dst.Data[a*dst.Stride+a] / 2
	}
}

// squares turns the products of rows into squared distances.
func (p *pairs) squares(dst blas64.Symmetric) {
	everyRow(dst.N, 16, func(a int) {
		p.row(dst.Data[a*dst.Stride+a:][:dst.N-a], a)
	})
}

// row turns row a, from the diagonal on, into squared distances.
func (p *pairs) row(row []float64, a int) {
	n := a + len(row)
	own, others := p.norms[a], p.norms[a:n]
	for b, v := range row {
		row[b] = max(0, own+others[b]+v)
	}
	for k, w := range p.weight {
		for b, v := range p.t.row(k, a, n) {
			row[b] += w * v
		}
	}
}

func (c *smoothCovariance) Gram(ctx context.Context, dst *mat.SymDense, rows []int) error {
	p, err := c.pairs(ctx, rows)
	if err != nil || len(rows) == 0 {
		return err
	}
	raw := dst.RawSymmetric()
	p.products(raw)
	everyRow(raw.N, 16, func(a int) {
		row := raw.Data[a*raw.Stride+a:][:raw.N-a]
		p.row(row, a)
		c.shape.values(row, c.variance)
	})
	return ctx.Err()
}

// GramGrad takes one pass over the pairs. With H = g ∘ ∂k/∂(r²), the derivative by
// ℓ_g is −2s²/ℓ_g · Σ_ab H_ab·r²_g,ab, and in scaled columns
//
//	Σ_ab H_ab·r²_g,ab = 2 Σ_a |x_ga|²·Σ_b H_ab − 2 Σ_d x_dᵀHx_d.
func (c *smoothCovariance) GramGrad(ctx context.Context, grad []float64, rows []int, g *mat.SymDense) error {
	p, err := c.pairs(ctx, rows)
	if err != nil || len(rows) == 0 {
		return err
	}
	whole := borrowSymmetric(len(rows))
	defer giveBack(whole)
	h := whole.RawSymmetric()
	p.products(h)
	if err := ctx.Err(); err != nil {
		return err
	}
	single := len(c.sizes) == 1
	of := p.weigh(c.shape, h, g.RawSymmetric(), single)
	grad[0] += of.values
	byGroup := make([]float64, len(c.sizes))
	switch {
	case single:
		byGroup[0] = of.squares
	default:
		for k, v := range of.known {
			byGroup[p.known[k]] = v * p.weight[k]
		}
		p.addQuadratics(byGroup, h, of.rows)
	}
	for k, v := range byGroup {
		grad[1+k] -= 2 * c.variance / c.scaled.lengths[k] * v
	}
	return ctx.Err()
}

// weighed are sums over all pairs of rows.
type weighed struct {
	values  float64   // Σ g·k
	squares float64   // Σ H·r²
	known   []float64 // Σ H·|a − b|² for the known groups
	rows    []float64 // Σ_b H_ab for every row a; nil where it is not needed
}

// weigh turns the products in the upper triangle of h into H. With single, it sums
// H·r², otherwise what each group needs.
func (p *pairs) weigh(shape Shape, h, g blas64.Symmetric, single bool) weighed {
	const size = 32
	n := h.N
	blocks := (n + size - 1) / size
	parts := make([]weighed, blocks)
	parallel.Ranges(n, size, func(lo, hi int) {
		part := &parts[lo/size]
		part.known = make([]float64, len(p.known))
		if !single && p.x != nil {
			part.rows = make([]float64, n-lo)
		}
		r2 := make([]float64, n-lo)
		for a := lo; a < hi; a++ {
			row, weights := h.Data[a*h.Stride+a:][:n-a], g.Data[a*g.Stride+a:][:n-a]
			p.row(row, a)
			r2 := r2[:n-a]
			copy(r2, row)
			diagonal := weights[0] // k is 1 there, and distances are 0
			part.values += 2*shape.slopes(row, weights) - diagonal
			switch {
			case single:
				part.squares += 2 * dot(row, r2)
			default:
				for k := range p.known {
					part.known[k] += 2 * dot(row, p.t.row(k, a, n))
				}
			}
			if part.rows != nil {
				part.rows[a-lo] += row[0]
				for b, v := range row[1:] {
					part.rows[a-lo] += v
					part.rows[a-lo+1+b] += v
				}
			}
		}
	})
	all := weighed{known: make([]float64, len(p.known))}
	for k, part := range parts {
		all.values += part.values
		all.squares += part.squares
		for k, v := range part.known {
			all.known[k] += v
		}
		if part.rows != nil {
			if all.rows == nil {
				all.rows = make([]float64, n)
			}
			for b, v := range part.rows {
				all.rows[k*size+b] += v
			}
		}
	}
	return all
}

// addQuadratics adds Σ H·r²_g for the groups whose distances are not known.
func (p *pairs) addQuadratics(byGroup []float64, h blas64.Symmetric, rows []float64) {
	if p.x == nil {
		return
	}
	squares := p.squaresByGroup(p.x, p.columns)
	for a, v := range rows {
		for g, n := range squares.RawRowView(a) {
			byGroup[g] += 2 * v * n
		}
	}
	for k, v := range quadratics(h, p.x) {
		byGroup[p.group[p.columns[k]]] -= 2 * v
	}
}

// dot returns Σ x_i y_i in four interleaved sums, which a processor adds at once.
func dot(x, y []float64) float64 {
	var a, b, c, d float64
	y = y[:len(x)]
	i := 0
	for ; i+4 <= len(x); i += 4 {
		a += float64(x[i] * y[i])
		b += float64(x[i+1] * y[i+1])
		c += float64(x[i+2] * y[i+2])
		d += float64(x[i+3] * y[i+3])
	}
	for ; i < len(x); i++ {
		a += float64(x[i] * y[i])
	}
	return (a + b) + (c + d)
}
