package solve

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/mat"

	"grfgp/internal/ranks"
)

// chain is the own rows of a matrix that couples every row with the next, and with the
// one 1,500 rows on.
type chain struct {
	rim    *ranks.Rim
	lo, hi int
	near   [][]int // the places of a row's neighbours: of this rank, then of the rim
}

func newChain(ctx context.Context, g *ranks.Group, l ranks.Layout) (*chain, error) {
	c := &chain{}
	c.lo, c.hi = l.Range(g.Rank())
	n := l.Rows()
	neighbours := func(i int) []int { return []int{(i + n - 1500) % n, (i + n - 1) % n, (i + 1) % n, (i + 1500) % n} }
	var need []uint32
	for i := c.lo; i < c.hi; i++ {
		for _, j := range neighbours(i) {
			if j < c.lo || j >= c.hi {
				need = append(need, uint32(j))
			}
		}
	}
	slices.Sort(need)
	need = slices.Compact(need)
	for i := c.lo; i < c.hi; i++ {
		places := neighbours(i)
		for p, j := range places {
			places[p] = j - c.lo
			if j < c.lo || j >= c.hi {
				at, _ := slices.BinarySearch(need, uint32(j))
				places[p] = c.hi - c.lo + at
			}
		}
		c.near = append(c.near, places)
	}
	var err error
	c.rim, err = g.NewRim(ctx, l, need)
	return c, err
}

func (c *chain) Dims() (r, k int) { return c.hi - c.lo, c.hi - c.lo }

func (c *chain) Apply(ctx context.Context, dst, x *mat.Dense) error {
	_, k := x.Dims()
	return product(ctx, c, dst.RawMatrix().Data, x.RawMatrix().Data, k)
}

func (c *chain) Single() func(ctx context.Context, dst, x blas32.General) error {
	return func(ctx context.Context, dst, x blas32.General) error {
		return product(ctx, c, dst.Data, x.Data, x.Cols)
	}
}

func product[F floats](ctx context.Context, c *chain, dst, x []F, k int) error {
	wide := make([]F, len(x)+len(c.rim.Need())*k)
	copy(wide, x)
	if err := ranks.Fill(ctx, c.rim, wide[len(x):], x, k, k); err != nil {
		return err
	}
	for i, near := range c.near {
		for t := range k {
			sum := 2.2 * wide[i*k+t]
			for _, j := range near {
				sum += -0.5 * wide[j*k+t]
			}
			dst[i*k+t] = sum
		}
	}
	return nil
}

// Solutions, statistics and log-determinants on several ranks have the bits of those on
// one, with blocks of float64 and of float32.
func TestRanksShareARowSystem(t *testing.T) {
	t.Parallel()
	const n, k = 9*blockRows + 300, 3
	random := rand.New(rand.NewPCG(1, 8))
	b := mat.NewDense(n, k, nil)
	noise, diag := make([]float64, n), make([]float64, n)
	for i := range n {
		noise[i], diag[i] = 0.05+0.1*random.Float64(), 2.2
		for j := range k {
			b.Set(i, j, random.NormFloat64())
		}
	}
	type result struct {
		x          []float64
		stats      Stats
		logDet, se float64
	}
	solve := func(ctx context.Context, g *ranks.Group, l ranks.Layout, single bool) (r result, err error) {
		a, err := newChain(ctx, g, l)
		if err != nil {
			return r, err
		}
		own := mat.DenseCopyOf(b.Slice(a.lo, a.hi, 0, k))
		x := mat.NewDense(a.hi-a.lo, k, nil)
		precond, err := NewJacobi(diag[a.lo:a.hi], noise[a.lo:a.hi])
		if err != nil {
			return r, err
		}
		rows := &Rows{g, l}
		opts := Options{Tol: 1e-8, MaxIter: 1000, Precond: precond, Single: single, Rows: rows}
		if r.stats, err = CG(ctx, x, a, noise[a.lo:a.hi], own, opts); err != nil {
			return r, err
		}
		if r.x, _, err = ranks.Gather(ctx, g, x.RawMatrix().Data); err != nil {
			return r, err
		}
		r.logDet, r.se, err = LogDet(ctx, a, noise[a.lo:a.hi], LogDetOptions{Probes: 4, Steps: 20, Seed: 3, Rows: rows})
		return r, err
	}
	for _, single := range []bool{false, true} {
		want, err := solve(t.Context(), nil, ranks.Even(n, 1), single)
		if err != nil {
			t.Fatal(err)
		}
		if want.stats.Iterations < 20 {
			t.Fatalf("only %d iterations: nothing to compare", want.stats.Iterations)
		}
		for size := 2; size <= 5; size++ {
			err := ranks.Together(t.Context(), size, func(ctx context.Context, g *ranks.Group) error {
				got, err := solve(ctx, g, ranks.Even(n, size), single)
				switch {
				case err != nil:
					return err
				case !slices.Equal(got.x, want.x):
					return errors.New("other solutions")
				case got.stats.Iterations != want.stats.Iterations || !slices.Equal(got.stats.Residuals, want.stats.Residuals):
					return fmt.Errorf("other statistics: %v, alone %v", got.stats, want.stats)
				case got.logDet != want.logDet || got.se != want.se:
					return fmt.Errorf("log-determinant %v ± %v, alone %v ± %v", got.logDet, got.se, want.logDet, want.se)
				}
				return nil
			})
			if err != nil {
				t.Errorf("%d ranks, float32 %v: %v", size, single, err)
			}
		}
	}
}

// A rank that is lost in the middle of a solve ends it on the others: with that reason, or
// with that of the context, which ends at the same time, for one that looks there first.
func TestLostRankEndsASolve(t *testing.T) {
	t.Parallel()
	const n = 6 * blockRows
	l := ranks.Even(n, 2)
	lost := make(chan error, 1)
	_ = ranks.Together(t.Context(), 2, func(ctx context.Context, g *ranks.Group) error {
		a, err := newChain(ctx, g, l)
		if err != nil {
			return err
		}
		b, x := mat.NewDense(n/2, 1, nil), mat.NewDense(n/2, 1, nil)
		for i := range n / 2 {
			b.Set(i, 0, math.Sin(float64(a.lo+i)))
		}
		var op Operator = a
		if g.Rank() == 1 {
			op = &breaking{a, 3}
		}
		_, err = CG(ctx, x, op, constant(n/2, 0.01), b, Options{Tol: 1e-10, MaxIter: 1000, Rows: &Rows{g, l}})
		if g.Rank() == 0 {
			lost <- err
		}
		return err
	})
	if err := <-lost; !errors.Is(err, ranks.ErrLost) && !errors.Is(err, context.Canceled) {
		t.Errorf("the other rank says %v", err)
	}
}

// breaking is an operator whose products fail after some.
type breaking struct {
	*chain
	left int
}

func (f *breaking) Apply(ctx context.Context, dst, x *mat.Dense) error {
	if f.left--; f.left < 0 {
		return errors.New("out of paper")
	}
	return f.chain.Apply(ctx, dst, x)
}

// A coarse preconditioner over several ranks has the bits of that of one: its determinant,
// inverse, and factors. Columns meet rows of one block, of some, of all, and of none.
func TestRanksShareACoarseMatrix(t *testing.T) {
	t.Parallel()
	const n, m, k = 7*blockRows + 300, 40, 3
	random := rand.New(rand.NewPCG(3, 8))
	ptr, cols, vals := []int{0}, []uint32(nil), []float64(nil)
	for i := range n {
		near := i * (m - 8) / n
		for _, j := range []int{near, near + 1, m - 6 + i/(2*blockRows), m - 8 + i%2} { // the last column is empty
			cols, vals = append(cols, uint32(j)), append(vals, random.NormFloat64())
		}
		ptr = append(ptr, len(cols))
	}
	d := variances(n)
	c := gramOf(m, m+3, 1)
	x := normals(n, k, 2)
	type result struct {
		logDet                    float64
		inverse, white, whiteBack []float64
	}
	compute := func(ctx context.Context, g *ranks.Group, l ranks.Layout) (r result, err error) {
		lo, hi := l.Range(g.Rank())
		own := make([]int, hi-lo+1)
		for i := range own {
			own[i] = ptr[lo+i] - ptr[lo]
		}
		a := newCSR(t, hi-lo, m, own, cols[ptr[lo]:ptr[hi]], vals[ptr[lo]:ptr[hi]])
		p, err := NewCoarseOver(ctx, &Rows{g, l}, a, c, d[lo:hi])
		if err != nil {
			return r, err
		}
		r.logDet = p.LogDet()
		for _, to := range []struct {
			all *[]float64
			do  func(dst, x *mat.Dense)
		}{{&r.inverse, p.Apply}, {&r.white, p.Whiten}, {&r.whiteBack, p.WhitenT}} {
			y := mat.NewDense(hi-lo, k, nil)
			to.do(y, mat.DenseCopyOf(x.Slice(lo, hi, 0, k)))
			if *to.all, _, err = ranks.Gather(ctx, g, y.RawMatrix().Data); err != nil {
				return r, err
			}
		}
		return r, nil
	}
	want, err := compute(t.Context(), nil, ranks.Even(n, 1))
	if err != nil {
		t.Fatal(err)
	}
	for _, sizes := range [][]int{{n}, {2 * blockRows, n - 2*blockRows}, {3 * blockRows, blockRows, n - 4*blockRows},
		{blockRows, 4 * blockRows, blockRows, n - 6*blockRows}} {
		err := ranks.Together(t.Context(), len(sizes), func(ctx context.Context, g *ranks.Group) error {
			got, err := compute(ctx, g, ranks.OfSizes(sizes))
			if err != nil {
				return err
			}
			if got.logDet != want.logDet {
				return fmt.Errorf("log-determinant %v, want %v", got.logDet, want.logDet)
			}
			if !slices.Equal(got.inverse, want.inverse) || !slices.Equal(got.white, want.white) || !slices.Equal(got.whiteBack, want.whiteBack) {
				return errors.New("other bits")
			}
			return nil
		})
		if err != nil {
			t.Errorf("ranks of %v rows: %v", sizes, err)
		}
	}
}
