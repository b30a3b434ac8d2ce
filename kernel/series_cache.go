package kernel

import (
	"context"
	"slices"
	"sync"

	"gonum.org/v1/gonum/blas/blas64"

	"grfgp/internal/parallel"
)

// Training offers a cache of T_k(W/ρ)[rows, rows], 4 bytes for each k and pair of
// rows: 0.7 GB for 1,424 rows and β = 60, a quarter of it in reserve for a longer
// reach. Gram and GramGrad of these rows then need no products with W.
func (s *Series) Training() Training { return Training{Cache: s.cached} }

func (s *Series) cached(rows []int, maxBytes int) Kernel {
	n := len(rows)
	k := *s
	k.cache = &seriesCache{rows: slices.Clone(rows), most: maxBytes / max(1, 8*(n*(n+1)/2))}
	return &k
}

// seriesCache holds triangles of T_0, T_1, … over rows, up to the term needed so
// far.
type seriesCache struct {
	rows []int
	most int // terms
	mu   sync.Mutex
	t    triangles // replaced, never changed
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
	m.t = nil // frees the old triangles before the new ones are allocated
	n := len(rows)
	t = make(triangles, min(m.most, terms+terms/4)) // the next theta may need a few more
	for k := range t {
		t[k] = make([]float64, n*(n+1)/2)
	}
	err = r.columns(ctx, n, func(_, lo, hi int) error {
		return r.recur(ctx, hi-lo, len(t), units(rows[lo:hi]), func(k int, x blas64.General) {
			for a, i := range rows[:hi] {
				first := max(a, lo)
				copy(t.row(k, a, n)[first-a:hi-a], x.Data[i*x.Stride+first-lo:])
			}
		})
	})
	if err != nil {
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
				for b, v := range t.row(k, a, dst.N) {
					out[b] += c * v
				}
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
			for b, v := range g.Data[a*g.Stride+a+1:][:g.N-a-1] {
				sum += v * in[1+b]
			}
		}
		m[k] = 2*sum + diagonal
	})
	return m
}
