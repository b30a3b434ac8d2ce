package chol

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"grfgp/internal/rng"
	"grfgp/internal/testkit"
	"grfgp/sparse"
)

// TestUpdate: updates at nodes and edges equal a factor of the changed matrix, and downdates lead back.
func TestUpdate(t *testing.T) {
	t.Parallel()
	for k, g := range testkit.FewIfRaced(30, shapes()) {
		q := matrix(g.n, g.edges, 0.1, uint64(k))
		a := must(Analyze(q))
		f := must(a.Factor(t.Context(), q))
		h := denseOf(q)
		r := rand.New(rng.New(uint64(k), "updates"))
		var nodes [][]int
		var values [][]float64
		for i := range 6 {
			at, x := []int{r.IntN(g.n)}, []float64{1 + r.Float64()}
			if len(g.edges) > 0 && i%2 == 0 {
				if e := g.edges[r.IntN(len(g.edges))]; e.u != e.v {
					at, x = []int{e.u, e.v}, []float64{x[0], -x[0]}
				}
			}
			nodes, values = append(nodes, at), append(values, x)
			if err := f.Update(at, x); err != nil {
				t.Fatalf("%s: %v", g.name, err)
			}
			for p, u := range at {
				for s, v := range at {
					if u <= v {
						h.SetSym(u, v, h.At(u, v)+x[p]*x[s])
					}
				}
			}
		}
		compareFactor(t, f, h)
		for i := range nodes {
			if err := f.Downdate(nodes[i], values[i]); err != nil {
				t.Fatalf("%s: %v", g.name, err)
			}
		}
		compareFactor(t, f, denseOf(q))
		if t.Failed() {
			t.Fatalf("first in %s", g.name)
		}
	}
}

// TestDowndateRefused: a downdate that leaves no factor changes nothing and names a row; one without a place is refused.
func TestDowndateRefused(t *testing.T) {
	t.Parallel()
	q := matrix(100, gridEdges(10, 10), 0.1, 1)
	f := must(must(Analyze(q)).Factor(t.Context(), q))
	before := slices.Clone(f.l)
	var indefinite *NotPositiveDefinite
	if err := f.Downdate([]int{44, 45}, []float64{100, 1}); !errors.As(err, &indefinite) || indefinite.Pivot > 0 ||
		!strings.Contains(err.Error(), fmt.Sprintf("row %d", indefinite.Row)) {
		t.Errorf("downdate: %v", err)
	}
	if err := f.Update([]int{0, 99}, []float64{1, 1}); !errors.Is(err, ErrPattern) {
		t.Errorf("far nodes: %v", err)
	}
	if err := f.Update([]int{100}, []float64{1}); !errors.Is(err, ErrPattern) {
		t.Errorf("no such node: %v", err)
	}
	if err := f.Update([]int{0, 99}, []float64{0, 0}); err != nil {
		t.Errorf("nothing: %v", err)
	}
	if !slices.Equal(before, f.l) {
		t.Error("a refused change changed the factor")
	}
}

// TestIndefinite: the error names the row in which elimination ends: without it, and all that follow it, the matrix is
// positive definite, and with it not.
func TestIndefinite(t *testing.T) {
	t.Parallel()
	for k, g := range shapes() {
		if g.n < 3 {
			continue
		}
		q := matrix(g.n, g.edges, 0.1, uint64(k))
		a := must(Analyze(q))
		bad := rand.New(rng.New(uint64(k), "bad")).IntN(g.n)
		ptr, col, val := q.Raw()
		val = slices.Clone(val)
		for p := ptr[bad]; p < ptr[bad+1]; p++ {
			if int(col[p]) == bad {
				val[p] -= 0.3 * float64(g.n) * 10
			}
		}
		q = must(sparse.NewCSR(g.n, g.n, ptr, col, val))
		_, err := a.Factor(t.Context(), q)
		var e *NotPositiveDefinite
		if !errors.As(err, &e) || e.Pivot > 0 {
			t.Fatalf("%s: %v", g.name, err)
		}
		h, order := denseOf(q), a.order
		at := slices.Index(order, int32(e.Row))
		for size, want := range map[int]bool{at: true, at + 1: false} {
			if size == 0 {
				continue
			}
			part := mat.NewSymDense(size, nil)
			for i := range size {
				for j := range i + 1 {
					part.SetSym(i, j, h.At(int(order[i]), int(order[j])))
				}
			}
			var chol mat.Cholesky
			if got := chol.Factorize(part); got != want {
				t.Errorf("%s: the first %d of the order are positive definite: %v, want %v", g.name, size, got, want)
			}
		}
	}
	q := matrix(4, gridEdges(2, 2), 0.1, 1)
	_, _, val := q.Raw()
	val[0] = math.Inf(1)
	if _, err := must(Analyze(q)).Factor(t.Context(), q); err == nil {
		t.Error("infinite diagonal: no error")
	}
}

// TestPatterns: what is no pattern of a symmetric matrix is refused, and so is a matrix of another pattern.
func TestPatterns(t *testing.T) {
	t.Parallel()
	for name, q := range map[string]*sparse.CSR{
		"oblong":    must(sparse.NewCSR(1, 2, []int{0, 1}, []uint32{0}, []float64{1})),
		"one-sided": must(sparse.NewCSR(2, 2, []int{0, 2, 3}, []uint32{0, 1, 1}, []float64{1, 1, 1})),
		"other":     must(sparse.NewCSR(2, 2, []int{0, 1, 3}, []uint32{0, 0, 1}, []float64{1, 1, 1})),
		"unordered": must(sparse.NewCSR(2, 2, []int{0, 2, 4}, []uint32{1, 0, 0, 1}, []float64{1, 2, 1, 2})),
		"repeated":  must(sparse.NewCSR(1, 1, []int{0, 2}, []uint32{0, 0}, []float64{1, 1})),
	} {
		if _, err := Analyze(q); !errors.Is(err, ErrPattern) {
			t.Errorf("%s: %v", name, err)
		}
	}
	a := must(Analyze(matrix(4, gridEdges(2, 2), 0.1, 1)))
	if _, err := a.Factor(t.Context(), matrix(4, gridEdges(1, 4), 0.1, 1)); !errors.Is(err, ErrPattern) {
		t.Errorf("another pattern: %v", err)
	}
	empty := must(sparse.NewCSR(0, 0, []int{0}, nil, nil))
	f := must(must(Analyze(empty)).Factor(t.Context(), empty))
	f.Solve(sparse.Block[float64]{Cols: 1, Stride: 1}, sparse.Block[float64]{Cols: 1, Stride: 1})
	if f.LogDet() != 0 || len(must(f.InverseDiag(t.Context()))) != 0 {
		t.Error("the empty matrix has a log-determinant or variances")
	}
}
