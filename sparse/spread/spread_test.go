package spread_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/mat"

	"grfgp/internal/ranks"
	"grfgp/sparse"
	"grfgp/sparse/spread"
)

// matrix returns a random matrix with entries near the diagonal and far from it, empty
// rows, columns that repeat and are not sorted, and one full row.
func matrix(t *testing.T, rows, cols int, random *rand.Rand) *sparse.CSR {
	t.Helper()
	ptr, col, val := []int{0}, []uint32{}, []float64{}
	for i := range rows {
		n := random.IntN(8)
		if i == rows/3 {
			n = cols / 2
		}
		for range n {
			j := random.IntN(cols)
			if random.IntN(4) > 0 {
				j = min(cols-1, i*cols/rows+random.IntN(20))
			}
			col, val = append(col, uint32(j)), append(val, random.NormFloat64())
		}
		ptr = append(ptr, len(col))
	}
	a, err := sparse.NewCSR(rows, cols, ptr, col, val)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// own returns the rows of a rank.
func own(a *sparse.CSR, lo, hi int) (ptr []int, col []uint32, val []float64) {
	p, c, v := a.Raw()
	for _, at := range p[lo : hi+1] {
		ptr = append(ptr, at-p[lo])
	}
	return ptr, c[p[lo]:p[hi]], v[p[lo]:p[hi]]
}

func rowsOf(x *mat.Dense, lo, hi int) *mat.Dense {
	if lo == hi {
		return &mat.Dense{}
	}
	_, c := x.Dims()
	return mat.DenseCopyOf(x.Slice(lo, hi, 0, c))
}

// Products with a spread matrix and with its transpose have the bits of those on one
// rank, also where a rank owns no rows or no columns.
func TestProductsHaveTheSameBits(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 9))
	for _, shape := range [][2]int{{5 * 1024, 5 * 1024}, {1500, 7000}, {7000, 100}, {10, 10}} {
		rows, cols := shape[0], shape[1]
		a := matrix(t, rows, cols, random)
		const k = 5
		x, y := mat.NewDense(cols, k, nil), mat.NewDense(rows, k, nil)
		for _, m := range []*mat.Dense{x, y} {
			for i := range m.RawMatrix().Data {
				m.RawMatrix().Data[i] = random.NormFloat64()
			}
		}
		ax, aty := mat.NewDense(rows, k, nil), mat.NewDense(cols, k, nil)
		a.Mul(ax, x)
		a.T().Mul(aty, y)
		for size := 1; size <= 5; size++ {
			byRow, byCol := ranks.Even(rows, size), ranks.Even(cols, size)
			err := ranks.Together(t.Context(), size, func(ctx context.Context, g *ranks.Group) error {
				lo, hi := byRow.Range(g.Rank())
				first, end := byCol.Range(g.Rank())
				ptr, col, val := own(a, lo, hi)
				p, err := spread.NewPattern(ctx, g, byRow, byCol, ptr, col)
				if err != nil {
					return err
				}
				m, err := p.With(val)
				if err != nil {
					return err
				}
				if err := same(ctx, "A·x", m, rowsOf(x, first, end), rowsOf(ax, lo, hi)); err != nil {
					return err
				}
				t, err := p.Transposed(ctx)
				if err != nil {
					return err
				}
				for range 2 { // values move again where hyperparameters change
					mt, err := t.Of(ctx, val)
					if err != nil {
						return err
					}
					if err := same(ctx, "Aᵀ·y", mt, rowsOf(y, lo, hi), rowsOf(aty, first, end)); err != nil {
						return err
					}
				}
				return nil
			})
			if err != nil {
				t.Fatalf("%d×%d on %d ranks: %v", rows, cols, size, err)
			}
		}
	}
}

// same compares products of float64 bit by bit, and those of float32 with them.
func same(ctx context.Context, name string, m *spread.Matrix, x, want *mat.Dense) error {
	r, c := m.Dims()
	const k = 5
	got := &mat.Dense{}
	if r > 0 {
		got = mat.NewDense(r, k, nil)
	}
	in := x
	if c == 0 {
		in = &mat.Dense{}
	}
	if err := m.Mul(ctx, got, in, k); err != nil {
		return err
	}
	if !slices.Equal(got.RawMatrix().Data, want.RawMatrix().Data) {
		return fmt.Errorf("%s has other bits", name)
	}
	single := blas32.General{Rows: r, Cols: k, Stride: k, Data: make([]float32, r*k)}
	from := blas32.General{Rows: c, Cols: k, Stride: k, Data: make([]float32, c*k)}
	for i, v := range in.RawMatrix().Data {
		from.Data[i] = float32(v)
	}
	if err := m.MulSingle(ctx, single, from); err != nil {
		return err
	}
	return errors.Join(added(ctx, name, m, in, got, from, single), near(name, single, want))
}

// added compares sums with products with the products and sums.
func added(ctx context.Context, name string, m *spread.Matrix, x, product *mat.Dense, from, single blas32.General) error {
	sum, sumSingle := mat.DenseCopyOf(product), slices.Clone(single.Data)
	data := sum.RawMatrix().Data
	for i := range data {
		data[i] = float64(i%7) / 3
		sumSingle[i] = float32(i%7) / 3
	}
	if err := m.MulAdd(ctx, sum, x, single.Cols); err != nil {
		return err
	}
	val := make([]float32, m.Entries())
	for e, v := range m.Values() {
		val[e] = float32(v)
	}
	s, err := m.Pattern.Single(val)
	if err != nil {
		return err
	}
	if err := s.MulAdd(ctx, blas32.General{Rows: single.Rows, Cols: single.Cols, Stride: single.Stride, Data: sumSingle}, from); err != nil {
		return err
	}
	for i, v := range data {
		if v != float64(i%7)/3+product.RawMatrix().Data[i] {
			return fmt.Errorf("sum with %s has other bits", name)
		}
		if sumSingle[i] != float32(i%7)/3+single.Data[i] {
			return fmt.Errorf("sum with %s in float32 has other bits", name)
		}
	}
	return nil
}

// near compares products of float32 with those of float64.
func near(name string, single blas32.General, want *mat.Dense) error {
	for i, v := range single.Data {
		if d := float64(v) - want.RawMatrix().Data[i]; d > 1e-2 || d < -1e-2 {
			return fmt.Errorf("%s in float32 is %g, not %g", name, v, want.RawMatrix().Data[i])
		}
	}
	return nil
}
