package spread_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

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
		if cols == 0 {
			n = 0
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
func own[F sparse.Float](a *sparse.CSR, lo, hi int) (ptr []int, col []uint32, val []F) {
	p, c, v := a.Raw()
	for _, at := range p[lo : hi+1] {
		ptr = append(ptr, at-p[lo])
	}
	for _, x := range v[p[lo]:p[hi]] {
		val = append(val, F(x))
	}
	return ptr, c[p[lo]:p[hi]], val
}

// Products with a spread matrix and with its transpose have the bits of those on one
// rank, in float64 and in float32, also where a rank owns no rows or no columns.
func TestProductsHaveTheSameBits(t *testing.T) {
	t.Parallel()
	t.Run("float64", testProducts[float64])
	t.Run("float32", testProducts[float32])
}

const columns = 5

func testProducts[F sparse.Float](t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 9))
	for _, shape := range [][2]int{{5 * 1024, 5 * 1024}, {1500, 7000}, {7000, 100}, {10, 10}, {10, 0}, {0, 10}} {
		rows, cols := shape[0], shape[1]
		a := matrix(t, rows, cols, random)
		x, y, ax, aty := block[F](cols), block[F](rows), block[F](rows), block[F](cols)
		for _, b := range []sparse.Block[F]{x, y} {
			for q := range b.Data {
				b.Data[q] = F(random.NormFloat64())
			}
		}
		sparse.ValuesOf[F](a).Multiply(ax, x, 0, false)
		sparse.ValuesOf[F](a.T()).Multiply(aty, y, 0, false)
		for size := 1; size <= 5; size++ {
			byRow, byCol := ranks.Even(rows, size), ranks.Even(cols, size)
			err := ranks.Together(t.Context(), size, func(ctx context.Context, g *ranks.Group) error {
				lo, hi := byRow.Range(g.Rank())
				first, end := byCol.Range(g.Rank())
				ptr, col, val := own[F](a, lo, hi)
				p, err := spread.NewPattern(ctx, g, byRow, byCol, ptr, col)
				if err != nil {
					return err
				}
				m, err := spread.With(p, slices.Clone(val))
				if err != nil {
					return err
				}
				t, err := p.Transposed(ctx)
				if err != nil {
					return err
				}
				valT := make([]F, t.Entries())
				mt, err := spread.With(t.Pattern, valT)
				if err != nil {
					return err
				}
				for range 2 { // values move again where hyperparameters change
					clear(valT)
					if err := spread.Carry(ctx, t, valT, val); err != nil {
						return err
					}
					err := errors.Join(same(ctx, "A·x", m, rowsOf(x, first, end), rowsOf(ax, lo, hi)),
						same(ctx, "Aᵀ·y", mt, rowsOf(y, lo, hi), rowsOf(aty, first, end)))
					if err != nil {
						return err
					}
				}
				return rowsMeet(ctx, m, a, rowsOf(x, first, end), x, lo)
			})
			if err != nil {
				t.Fatalf("%d×%d on %d ranks: %v", rows, cols, size, err)
			}
		}
	}
}

// block returns a block of zeros, in the middle of a wider one.
func block[F sparse.Float](rows int) sparse.Block[F] {
	const stride = columns + 3
	return sparse.Block[F]{Rows: rows, Cols: columns, Stride: stride, Data: make([]F, rows*stride)}
}

// rowsOf returns rows [lo, hi) of a block.
func rowsOf[F sparse.Float](b sparse.Block[F], lo, hi int) sparse.Block[F] {
	return sparse.Block[F]{Rows: hi - lo, Cols: b.Cols, Stride: b.Stride, Data: b.Data[lo*b.Stride : hi*b.Stride]}
}

// same compares products, set and added, with those of one rank, bit by bit. What is beside the columns stays as it was.
func same[F sparse.Float](ctx context.Context, name string, m *spread.Matrix[F], x, want sparse.Block[F]) error {
	if rows, cols := m.Dims(); rows != want.Rows || cols != x.Rows {
		return fmt.Errorf("%s: a matrix of %d×%d for %d×%d", name, rows, cols, want.Rows, x.Rows)
	}
	for _, add := range []bool{false, true} {
		got := block[F](want.Rows)
		for q := range got.Data {
			got.Data[q] = F(q%7) / 3
		}
		if err := m.Multiply(ctx, got, x, add); err != nil {
			return err
		}
		for q, v := range got.Data {
			right, inside := F(q%7)/3, q%got.Stride < got.Cols
			switch {
			case inside && add:
				right += want.Data[q]
			case inside:
				right = want.Data[q]
			}
			if v != right {
				return fmt.Errorf("%s, added %v: number %d is %v, not %v", name, add, q, v, right)
			}
		}
	}
	return nil
}

// rowsMeet compares the rows of a block that Row and Widen find for each entry with those of the whole block.
func rowsMeet[F sparse.Float](ctx context.Context, m *spread.Matrix[F], a *sparse.CSR, x, whole sparse.Block[F], lo int) error {
	met, release, err := m.Widen(ctx, x)
	defer release()
	if err != nil {
		return err
	}
	rows, _ := m.Dims()
	for i := range rows {
		cols, widened := m.Row(i)
		from := x
		if widened {
			from = met
		}
		want, _ := a.Row(lo + i)
		if len(cols) != len(want) || m.From(i+1)-m.From(i) != len(want) {
			return fmt.Errorf("row %d has %d entries, not %d", i, len(cols), len(want))
		}
		for e, j := range cols {
			if !slices.Equal(from.Data[int(j)*from.Stride:][:columns], whole.Data[int(want[e])*whole.Stride:][:columns]) {
				return fmt.Errorf("entry %d of row %d meets another row", e, i)
			}
		}
	}
	return nil
}

// A rank that is lost, and values that do not fit the pattern, are errors.
func TestErrors(t *testing.T) {
	t.Parallel()
	broken := errors.New("out of paper")
	lost := make(chan error, 1)
	err := ranks.Together(t.Context(), 2, func(ctx context.Context, g *ranks.Group) error {
		layout := ranks.Even(2048, 2)
		col := make([]uint32, 1024)
		ptr := make([]int, 1025)
		for i := range col {
			col[i], ptr[i+1] = uint32(i+1024*(1-g.Rank())), i+1 // all of the other rank
		}
		p, err := spread.NewPattern(ctx, g, layout, layout, ptr, col)
		if err != nil {
			return err
		}
		if in, out := p.Rim().Rows(); in != 1024 || out != 1024 {
			return fmt.Errorf("a rank receives %d rows and sends %d", in, out)
		}
		if _, err := spread.With(p, make([]float32, 3)); !errors.Is(err, sparse.ErrFormat) {
			return fmt.Errorf("three values: %w", err)
		}
		m, err := spread.With(p, make([]float32, 1024))
		if err != nil {
			return err
		}
		if g.Rank() == 1 {
			return broken
		}
		x := block[float32](1024)
		err = m.Multiply(ctx, block[float32](1024), x, false)
		lost <- err
		return err
	})
	if !errors.Is(err, broken) {
		t.Errorf("the run ended with %v", err)
	}
	if err := <-lost; !errors.Is(err, ranks.ErrLost) {
		t.Errorf("the other rank says %v", err)
	}
}
