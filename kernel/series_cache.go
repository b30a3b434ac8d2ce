package kernel

import (
	"context"
	"slices"
	"sync"

	"gonum.org/v1/gonum/blas/blas64"

	"grfgp/internal/parallel"
	"grfgp/plan"
)

// Training offers a cache of T_k(W/ρ)[rows, rows], 4 bytes for each k and pair of
// rows: 0.7 GB for 1,424 rows and β = 60, a quarter of it in reserve for a longer
// reach. Gram and GramGrad of these rows then need no products with W.
func (s *Series) Training() Training { return Training{Cache: s.cached} }

func (s *Series) cached(rows []int, maxBytes int) Kernel {
	k, most := *s, maxBytes/max(1, 8*triangleSize(len(rows)))
	k.cache = s.home().caches.get(func(m *seriesCache) bool { return m.most >= most && slices.Equal(m.rows, rows) }, func() *seriesCache {
		return &seriesCache{rows: slices.Clone(rows), most: most}
	})
	return &k
}

// home returns the recurrence that holds the caches: this one, or that of −W.
func (r *recurrence) home() *recurrence {
	if r.mirror != nil {
		return r.mirror
	}
	return r
}

// mirrored returns the coefficients of the same function for the caches of home: those of odd terms change
// their sign if these belong to −W.
func (r *recurrence) mirrored(c []float64) []float64 {
	if r.mirror == nil {
		return c
	}
	c = slices.Clone(c)
	for k := 1; k < len(c); k += 2 {
		c[k] = -c[k]
	}
	return c
}

// ShareCaches makes all kernels on this W share the caches of Training, until release
// is called: several families are then trained on the same rows with one computation
// of the T_k.
func (s *Series) ShareCaches() (release func()) { return s.home().caches.share() }

// seriesCache holds triangles of T_0, T_1, … over rows, up to the term needed so
// far.
type seriesCache struct {
	rows []int
	most int // terms
	mu   sync.Mutex
	t    triangles  // replaced, never changed
	at   []progress // of the blocks of columns, to go on from; nil: begin again
}

// triangles are upper triangles of the T_k, row after row, without gaps.
type triangles [][]float64

// get returns at least the given number of triangles; ok is false where these rows
// or this many terms are not cached.
func (m *seriesCache) get(ctx context.Context, r *recurrence, rows []int, terms int) (t triangles, ok bool, err error) {
	if m == nil || terms > m.most || !slices.Equal(rows, m.rows) {
		return nil, false, nil
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.t) >= terms {
		return m.t, true, nil
	}
	n, width := len(rows), r.width()
	keep := plan.Default().Resumes(r.Nodes(), n)
	if m.at == nil {
		m.t = nil // frees the old triangles before the new ones are allocated
		if keep {
			m.at = make([]progress, (n+width-1)/width)
		}
	}
	t = make(triangles, min(m.most, terms+terms/8)) // the next theta may need a few more
	for k := copy(t, m.t); k < len(t); k++ {
		t[k] = make([]float64, n*(n+1)/2)
	}
	err = r.columns(ctx, n, func(block, lo, hi int) error {
		visit := func(k int, x blas64.General) {
			for a, i := range rows[:hi] {
				first := max(a, lo)
				copy(t.row(k, a, n)[first-a:hi-a], x.Data[i*x.Stride+first-lo:])
			}
		}
		if keep {
			return r.resume(ctx, &m.at[block], hi-lo, len(t), units(rows[lo:hi]), visit)
		}
		return r.recur(ctx, hi-lo, len(t), units(rows[lo:hi]), visit)
	})
	if err != nil {
		m.t, m.at = nil, nil
		return nil, false, err
	}
	m.t = t
	return t, true, nil
}

// row returns columns a … n−1 of row a of triangle k.
func (t triangles) row(k, a, n int) []float64 {
	at := a*n - a*(a-1)/2
	return t[k][at : at+n-a]
}

// sum sets dst = Σ p_k T_k, adding in the order of recurrence.
func (t triangles) sum(dst blas64.Symmetric, p polynomial) {
	parallel.Ranges(dst.N, 16, func(lo, hi int) {
		for k, c := range p {
			for a := lo; a < hi; a++ {
				out := dst.Data[a*dst.Stride+a:][:dst.N-a]
				if k == 0 {
					clear(out)
				}
				blas64.Axpy(c, vector(t.row(k, a, dst.N)), vector(out))
			}
		}
	})
}

// inner returns ⟨g, T_k⟩ for the first terms.
func (t triangles) inner(g blas64.Symmetric, terms int) []float64 {
	m := make([]float64, terms)
	parallel.Ranges(terms, 1, func(k, _ int) {
		sum, diagonal := 0.0, 0.0
		for a := range g.N {
			in := t.row(k, a, g.N)
			diagonal += g.Data[a*g.Stride+a] * in[0]
			sum += dot(g.Data[a*g.Stride+a+1:][:g.N-a-1], in[1:])
		}
		m[k] = 2*sum + diagonal
	})
	return m
}

func vector(x []float64) blas64.Vector { return blas64.Vector{N: len(x), Data: x, Inc: 1} }
