package kernel

import (
	"context"
	"slices"
	"sync"

	"grfgp/internal/parallel"
	"grfgp/plan"
	"grfgp/space"
)

// Training offers a cache of the products of features of two walk lengths, 8 bytes for each pair of
// lengths and pair of rows: Gram and GramGrad of these rows then need no sparse products, at any
// hyperparameters and for any family.
func (k *GRF) Training() Training {
	return Training{Cache: k.cached, CacheBytes: func(rows int) int { return plan.Default().PairCache(k.features.MaxLen(), rows) }}
}

// pairCount is the number of pairs of walk lengths l ≤ m.
func (k *sampledRows) pairCount() int {
	lengths := k.features.MaxLen() + 1
	return lengths * (lengths + 1) / 2
}

func (k *GRF) cached(rows []int, maxBytes int) Kernel {
	if bytes := plan.Default().PairCache(k.features.MaxLen(), len(rows)); bytes == 0 || bytes > maxBytes {
		return k
	}
	c := *k
	c.pairs = k.caches.get(func(p *pairCache) bool { return slices.Equal(p.rows, rows) }, func() *pairCache {
		return &pairCache{rows: slices.Clone(rows)}
	})
	return &c
}

// ShareCaches makes all kernels by these features share the caches of Training, until release is called.
func (k *GRF) ShareCaches() (release func()) { return k.caches.share() }

// pairCache holds, for l ≤ m, the upper triangles of Ψ_lΨ_mᵀ + Ψ_mΨ_lᵀ over rows, and of Ψ_lΨ_lᵀ: K is
// the sum of f_l·f_m times these.
type pairCache struct {
	rows []int
	mu   sync.Mutex
	t    triangles // nil: not computed yet
}

// get returns the triangles; ok is false where these rows are not cached.
func (m *pairCache) get(ctx context.Context, k *sampledRows, rows []int) (t triangles, ok bool, err error) {
	if m == nil || !slices.Equal(rows, m.rows) {
		return nil, false, nil
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.t == nil {
		if m.t, err = k.pairProducts(ctx, m.rows); err != nil {
			m.t = nil
			return nil, false, err
		}
	}
	return m.t, true, nil
}

// step is Ψ_l of an entry.
type step struct {
	length uint8
	value  float64
}

// pairProducts computes the triangles of a pairCache. An entry of the features is reached at few lengths, so
// that all pairs together cost little more than one product.
func (k *sampledRows) pairProducts(ctx context.Context, rows []int) (triangles, error) {
	n, lengths, pairs := len(rows), k.features.MaxLen()+1, k.pairCount()
	t := make(triangles, pairs)
	for p := range t {
		t[p] = make([]float64, n*(n+1)/2)
	}
	p, err := k.pattern(ctx, rows)
	if err != nil {
		return nil, err
	}
	ptr, steps := k.steps(p)
	first, other, from := byColumn(p)
	place := make([]int, lengths*lengths) // of a pair of lengths, in either order
	for l, at := 0, 0; l < lengths; l++ {
		for m := l; m < lengths; m++ {
			place[l*lengths+m], place[m*lengths+l] = at, at
			at++
		}
	}
	scratch := make([][]float64, parallel.Workers((n+gramRows-1)/gramRows))
	err = eachRow(ctx, n, gramRows, func(worker, a int) {
		sums := room(&scratch[worker], (n-a)*pairs) // by row b ≥ a, then by pair
		clear(sums)
		for q := p.Ptr[a]; q < p.Ptr[a+1]; q++ {
			own := steps[ptr[q]:ptr[q+1]]
			c := p.Col[q]
			list := other[first[c]:first[c+1]]
			begin, _ := slices.BinarySearch(list, uint32(a))
			for at := begin; at < len(list); at++ {
				out := sums[(int(list[at])-a)*pairs:][:pairs]
				e := from[first[c]+at]
				for _, right := range steps[ptr[e]:ptr[e+1]] {
					for _, left := range own {
						out[place[int(left.length)*lengths+int(right.length)]] += float64(left.value * right.value)
					}
				}
			}
		}
		for pair := range t {
			out := t.row(pair, a, n)
			for b := range out {
				out[b] = sums[b*pairs+pair]
			}
		}
	})
	return t, err
}

// steps returns the values of all entries of a pattern at every length that is not zero, entry after entry.
func (k *sampledRows) steps(p *space.Pattern) (ptr []int, steps []step) {
	lengths := k.features.MaxLen() + 1
	ptr = make([]int, len(p.Col)+1)
	coeff := make([]float64, lengths)
	var values [][]float64
	for a := range p.Rows {
		count := p.Ptr[a+1] - p.Ptr[a]
		values = values[:0]
		for l := range lengths {
			coeff[l] = 1
			row := make([]float64, count)
			p.List.CombineRow(row, coeff, a)
			values = append(values, row)
			coeff[l] = 0
		}
		for e := range count {
			for l, row := range values {
				if row[e] != 0 {
					steps = append(steps, step{uint8(l), row[e]})
				}
			}
			ptr[p.Ptr[a]+e+1] = len(steps)
		}
	}
	return ptr, steps
}

// byColumn returns, for every column of a pattern, its rows in order and the places of their entries.
func byColumn(p *space.Pattern) (first []int, rows, places []uint32) {
	first = make([]int, p.Width+1)
	for _, c := range p.Col {
		first[c+1]++
	}
	for c := range p.Width {
		first[c+1] += first[c]
	}
	rows, places = make([]uint32, len(p.Col)), make([]uint32, len(p.Col))
	next := slices.Clone(first)
	for a := range p.Rows {
		for q := p.Ptr[a]; q < p.Ptr[a+1]; q++ {
			c := p.Col[q]
			rows[next[c]], places[next[c]] = uint32(a), uint32(q)
			next[c]++
		}
	}
	return first, rows, places
}

// pairWeights returns f_l·f_m for all pairs.
func (c *grfCovariance) pairWeights() polynomial {
	w := make(polynomial, 0, c.pairCount())
	for l, f := range c.coeff {
		for _, g := range c.coeff[l:] {
			w = append(w, f*g)
		}
	}
	return w
}

// pairSlopes turns derivatives by f_l·f_m into derivatives by f_l.
func (c *grfCovariance) pairSlopes(by []float64) []float64 {
	slope := make([]float64, len(c.coeff))
	at := 0
	for l, f := range c.coeff {
		for m := l; m < len(c.coeff); m++ {
			slope[l] += by[at] * c.coeff[m]
			slope[m] += by[at] * f
			at++
		}
	}
	return slope
}
