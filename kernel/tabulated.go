package kernel

import (
	"context"
	"math"
	"slices"
	"sync"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"grfgp/internal/parallel"
	"grfgp/plan"
)

// table holds the matrices C(ℓ)[rows, rows] of a covariance with one length ℓ for lengths
// on a grid, computed when first needed, and interpolates between them: an evaluation adds
// up a few matrices, whatever C itself costs. C is a smooth function of log ℓ. Grid points are
// an eighth apart there, and the polynomial through the ten nearest is within about 1e-7
// of C (TestTableInterpolates).
type table struct {
	rows   []int
	origin float64 // log ℓ of grid point 0
	most   int     // grid points
	of     func(ctx context.Context, dst *mat.SymDense, length float64) error

	mu sync.Mutex
	at map[int][]float64 // triangles by grid point; never ranged over
}

const (
	tableStep   = 0.125 // of log ℓ
	tableWindow = 10    // grid points that are interpolated
)

// newTable returns a table for matrices that of computes, or nil where memory is too small. The length
// start is on the grid.
func newTable(rows []int, start float64, maxBytes int, of func(ctx context.Context, dst *mat.SymDense, length float64) error) *table {
	most := plan.Default().Table(len(rows), maxBytes)
	if most == 0 || !(start > 0) {
		return nil
	}
	return &table{rows: slices.Clone(rows), origin: math.Log(start), most: most, of: of, at: map[int][]float64{}}
}

// stencil is a polynomial through neighbouring grid points, at one length.
type stencil struct {
	t       triangles
	w, dw   polynomial // weights of the triangles in C and in its derivative by ℓ
	onPoint bool       // C is triangle 0
}

// stencil returns how to interpolate at a length, with the derivative if that is asked for. ok is false where
// the table has no room, or a matrix on the grid cannot be computed.
func (m *table) stencil(ctx context.Context, rows []int, length float64, slope bool) (s stencil, ok bool, err error) {
	if m == nil || !slices.Equal(rows, m.rows) {
		return s, false, nil
	}
	x := (math.Log(length) - m.origin) / tableStep
	near := math.Round(x)
	if math.Abs(near) > 1e4 || math.IsNaN(x) {
		return s, false, nil
	}
	if s.onPoint = math.Abs(x-near) < 1e-9 && !slope; s.onPoint {
		t, ok, err := m.points(ctx, int(near), 1)
		return stencil{t: t, w: polynomial{1}, onPoint: true}, ok, err
	}
	first := int(math.Floor(x)) - tableWindow/2 + 1
	if s.t, ok, err = m.points(ctx, first, tableWindow); !ok || err != nil {
		return s, false, err
	}
	s.w, s.dw = lagrange(x-float64(first), tableWindow)
	for k := range s.dw {
		s.dw[k] /= tableStep * length
	}
	return s, true, nil
}

// points returns the triangles of neighbouring grid points.
func (m *table) points(ctx context.Context, first, count int) (t triangles, ok bool, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	n := len(m.rows)
	for k := range count {
		one, found := m.at[first+k]
		if !found {
			if len(m.at) >= m.most {
				return nil, false, nil
			}
			c := borrowSymmetric(n)
			err := m.of(ctx, c, math.Exp(m.origin+float64(first+k)*tableStep))
			if err == nil {
				one = upperTriangle(c.RawSymmetric())
			}
			giveBack(c)
			if ctx.Err() != nil {
				return nil, false, ctx.Err()
			}
			m.at[first+k] = one // nil: there is none
		}
		if one == nil {
			return nil, false, nil
		}
		t = append(t, one)
	}
	return t, true, nil
}

// lagrange returns the weights of the values at 0, 1, … n−1 in the interpolating polynomial at x, and in its
// derivative.
func lagrange(x float64, n int) (w, dw polynomial) {
	w, dw = make(polynomial, n), make(polynomial, n)
	for i := range n {
		below := 1.0
		for j := range n {
			if j != i {
				below *= float64(i - j)
			}
		}
		product, slope := 1.0, 0.0
		for j := range n {
			if j != i {
				slope = slope*(x-float64(j)) + product
				product *= x - float64(j)
			}
		}
		w[i], dw[i] = product/below, slope/below
	}
	return w, dw
}

// add adds scale·C to the upper triangle of dst.
func (s stencil) add(dst blas64.Symmetric, scale float64) {
	parallel.Ranges(dst.N, 16, func(lo, hi int) {
		for k, c := range s.w {
			for a := lo; a < hi; a++ {
				blas64.Axpy(scale*c, vector(s.t.row(k, a, dst.N)), vector(dst.Data[a*dst.Stride+a:][:dst.N-a]))
			}
		}
	})
}

// moments returns ⟨g, C⟩ and ⟨g, ∂C/∂ℓ⟩.
func (s stencil) moments(g blas64.Symmetric) (value, slope float64) {
	m := s.t.inner(g, len(s.t))
	return s.w.dot(m), s.dw.dot(m)
}

// shared are caches of one kind that several kernels use while they are trained on the same rows.
type shared[C any] struct {
	mu    sync.Mutex
	users int // of share; 0: caches are not shared
	list  []C // the last used last
}

// sharedLists is the most lists of rows that are shared: all rows, and a few patches.
const sharedLists = 8

// share keeps caches until release is called.
func (s *shared[C]) share() (release func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.users++
	return sync.OnceFunc(func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.users--; s.users == 0 {
			s.list = nil
		}
	})
}

// get returns the cache that fits, or a new one.
func (s *shared[C]) get(fits func(C) bool, fresh func() C) C {
	s.mu.Lock()
	defer s.mu.Unlock()
	if at := slices.IndexFunc(s.list, fits); at >= 0 {
		c := s.list[at]
		s.list = append(slices.Delete(s.list, at, at+1), c)
		return c
	}
	c := fresh()
	if s.users > 0 {
		s.list = append(s.list, c)
		if len(s.list) > sharedLists {
			s.list = slices.Delete(s.list, 0, 1)
		}
	}
	return c
}
