package dense

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
)

// TestSolveAgainstGonum: forward errors of both are some n·2⁻⁵³ of the condition
// of the triangles here, which is below 100.
func TestSolveAgainstGonum(t *testing.T) {
	t.Parallel()
	for _, n := range []int{0, 1, 2, 3, 4, 5, 23, 24, 50, 95, 96} {
		for _, m := range []int{0, 1, 11, 12, 13, 40} {
			for way := range 4 {
				l := random(n, n, way&1 > 0, 1)
				b := random(n, m, way&2 > 0, 2)
				for i := range n {
					for j := range n {
						*l.At(i, j) /= float64(4 * n)
						if j > i {
							*l.At(i, j) = math.NaN() // not to be read
						}
					}
					*l.At(i, i) += 2
				}
				for _, transposed := range []bool{false, true} {
					got, want := clone(b), copied(b)
					how, do := blas.NoTrans, Solve
					if transposed {
						how, do = blas.Trans, SolveT
					}
					do(l, got)
					if n > 0 && m > 0 {
						full := copied(l)
						blas64.Trsm(blas.Left, how, 1, blas64.Triangular{Uplo: blas.Lower, Diag: blas.NonUnit, N: n, Stride: n, Data: full.Data}, want)
					}
					for i := range n {
						for j := range m {
							g, w := *got.At(i, j), want.Data[i*want.Stride+j]
							if math.Abs(g-w) > 1e-13*(1+math.Abs(w)) {
								t.Fatalf("%d rows, %d columns, way %d, transposed %v: (%d, %d) is %v, want %v", n, m, way, transposed, i, j, g, w)
							}
						}
					}
				}
			}
		}
	}
}

// copied is m row by row.
func copied(m Matrix) blas64.General {
	g := blas64.General{Rows: m.Rows, Cols: m.Cols, Stride: max(1, m.Cols), Data: make([]float64, m.Rows*m.Cols)}
	for i := range m.Rows {
		for j := range m.Cols {
			g.Data[i*g.Stride+j] = *m.At(i, j)
		}
	}
	return g
}

func TestSolvePanics(t *testing.T) {
	t.Parallel()
	for name, call := range map[string]func(){
		"triangle":        func() { Solve(random(97, 97, false, 1), random(97, 2, false, 2)) },
		"rectangle":       func() { SolveT(random(9, 7, false, 1), random(7, 2, false, 2)) },
		"right-hand side": func() { Solve(random(9, 9, false, 1), random(8, 2, false, 2)) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("a %s of the wrong size passes", name)
				}
			}()
			call()
		}()
	}
}
