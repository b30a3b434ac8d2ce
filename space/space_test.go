package space_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"grfgp/internal/gpu"
	"grfgp/internal/ranks"
	"grfgp/space"
	"grfgp/sparse"
)

func ended(t testing.TB) context.Context {
	ctx, end := context.WithCancel(t.Context())
	end()
	return ctx
}

// What memories are, and what is like them.
func TestKindsOfMemory(t *testing.T) {
	t.Parallel()
	d := gpu.Simulate(gpu.Simulated{})
	host, single, card := space.Host(), space.Host32(), space.Card(d)
	for _, c := range []struct {
		name           string
		s              space.Space
		single, isHost bool
		columns        int
		device         *gpu.Device
	}{
		{"float64", host, false, true, math.MaxInt, nil},
		{"float32", single, true, false, math.MaxInt, nil},
		{"card", card, false, false, gpu.MaxColumns, d},
		{"alone", space.Together(t.Context(), nil, false), false, true, math.MaxInt, nil},
		{"narrow", space.Narrow(host), true, false, math.MaxInt, nil},
		{"narrow of float32", space.Narrow(single), true, false, math.MaxInt, nil},
		{"narrow of a card", space.Narrow(card), false, false, gpu.MaxColumns, d},
		{"local", space.Local(host), false, true, math.MaxInt, nil},
		{"local of float32", space.Local(single), true, false, math.MaxInt, nil},
		{"local of a card", space.Local(card), false, false, gpu.MaxColumns, d},
	} {
		if c.s.Single() != c.single || space.IsHost(c.s) != c.isHost || c.s.MaxColumns() != c.columns || space.DeviceOf(c.s) != c.device ||
			space.Processes(c.s) != 1 || c.s.Err() != nil {
			t.Errorf("%s: single %v, host %v, %d columns, on a card %v, %d processes, %v", c.name, c.s.Single(), space.IsHost(c.s), c.s.MaxColumns(),
				space.DeviceOf(c.s) != nil, space.Processes(c.s), c.s.Err())
		}
		a, err := c.s.Axis(t.Context(), 7)
		if all, first := a.All(); err != nil || all != 7 || first != 0 || a.Shared() {
			t.Errorf("%s: an axis of %d rows from %d on: %v", c.name, all, first, err)
		}
	}
	err := ranks.Together(t.Context(), 3, func(ctx context.Context, g *ranks.Group) error {
		for _, single := range []bool{false, true} {
			s := space.Together(ctx, g, single)
			local := space.Local(s)
			if s.Single() != single || local.Single() != single || !space.Narrow(s).Single() || space.IsHost(s) || space.IsHost(local) == single ||
				space.Processes(s) != 3 || space.Processes(space.Narrow(s)) != 3 || space.Processes(local) != 1 {
				return errors.New("another kind of memory")
			}
			a, err := s.Axis(ctx, 10*g.Rank())
			if err != nil {
				return err
			}
			all, first := a.All()
			if all != 30 || first != []int{0, 0, 10}[g.Rank()] || !a.Shared() {
				return fmt.Errorf("an axis of %d rows from %d on", all, first)
			}
			even := space.EvenAxis(s, 2500)
			if all, first := even.All(); all != 2500 || first != 1024*g.Rank() || even.Own != min(1024, 2500-first) {
				return fmt.Errorf("an even axis of %d rows, %d from %d on", all, even.Own, first)
			}
			if s.Compact(a, space.Rows(3), sparse.NewCompact(a.Own, 3, 1024)) != nil {
				return errors.New("a compact matrix that processes share")
			}
			own := []uint32{uint32(g.Rank()), 7}
			if everyone, err := space.Gather(ctx, s, own); err != nil || !slices.Equal(everyone, []uint32{0, 7, 1, 7, 2, 7}) {
				return fmt.Errorf("gathered %v: %w", everyone, err)
			}
			if v := space.SumOf(s, a, float64(g.Rank())); v != 3 {
				return fmt.Errorf("a sum of %v", v)
			}
			if v := space.SumOf(s, space.Rows(4), float64(g.Rank())); v != float64(g.Rank()) { // not shared
				return fmt.Errorf("a sum of this process of %v", v)
			}
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

// Matrices of gonum and blocks of float64 share numbers.
func TestViews(t *testing.T) {
	t.Parallel()
	s, a := space.Host(), space.Rows(3)
	b := s.Block(a, 2)
	b.Set([]float64{1, 2, 3, 4, 5, 6})
	x := space.DenseOf(b)
	x.Set(1, 1, 40)
	y := space.View(s, a, x)
	y.Scale(y, nil, 2)
	got := make([]float64, 6)
	if b.Get(got); !slices.Equal(got, []float64{2, 4, 6, 80, 10, 12}) || y.Columns() != 2 || y.Axis().Own != 3 {
		t.Errorf("numbers %v", got)
	}
	if r, c := space.DenseOf(s.Block(space.Rows(0), 4)).Dims(); r != 0 || c != 0 {
		t.Errorf("no rows are %d×%d", r, c)
	}
	if v := space.View(s, space.Rows(0), &mat.Dense{}); v.Axis().Own != 0 {
		t.Errorf("a view of nothing has %d rows", v.Axis().Own)
	}
	if r, c := space.DenseView(sparse.Block[float64]{Rows: 2, Cols: 3, Stride: 3, Data: make([]float64, 6)}).Dims(); r != 2 || c != 3 {
		t.Errorf("a matrix of %d×%d", r, c)
	}
	one := mat.NewDense(3, 5, nil).Slice(1, 2, 1, 3).(*mat.Dense) // a row has no gaps
	if v := space.View(s, space.Rows(1), one); v.Columns() != 2 {
		t.Errorf("a view of a row has %d columns", v.Columns())
	}
	for name, call := range map[string]func(){
		"gaps":    func() { space.View(s, a, mat.NewDense(3, 5, nil).Slice(0, 3, 0, 2).(*mat.Dense)) },
		"rows":    func() { space.View(s, space.Rows(4), x) },
		"float32": func() { space.View(space.Host32(), a, x) },
		"a card":  func() { space.DenseOf(space.Card(gpu.Simulate(gpu.Simulated{})).Block(a, 2)) },
	} {
		panics(t, name, call)
	}
}

// panics fails unless a call panics.
func panics(t *testing.T, name string, call func()) {
	t.Helper()
	defer func() {
		if recover() == nil {
			t.Errorf("%s: no panic", name)
		}
	}()
	call()
}

// Blocks of every memory become those of every other.
func TestConvert(t *testing.T) {
	t.Parallel()
	for _, n := range []int{0, 1, 5000} {
		const k = 3
		x, y := make([]float64, n*k), make([]float64, n*k)
		for q := range x {
			x[q], y[q] = math.Sin(float64(q)), math.Cos(float64(q))
		}
		for _, from := range memories() {
			for _, to := range memories() {
				for _, add := range []bool{false, true} {
					src, dst := from.open(t.Context(), nil).Block(space.Rows(n), k), to.open(t.Context(), nil).Block(space.Rows(n), k)
					src.Set(x)
					dst.Set(y)
					space.Convert(dst, src, add)
					got, rounding := make([]float64, n*k), max(from.rounding, to.rounding)
					dst.Get(got)
					for q, v := range got {
						want := x[q]
						if add {
							want += y[q]
						}
						if math.Abs(v-want) > rounding {
							t.Fatalf("%s to %s, added %v: number %d is %v, not %v", from.name, to.name, add, q, v, want)
						}
					}
					free(src, dst)
				}
			}
		}
	}
}

// Sizes that do not fit are bugs of the caller, who hears of them.
func TestSizesThatDoNotFit(t *testing.T) {
	t.Parallel()
	for _, m := range memories() {
		s := m.open(t.Context(), nil)
		block := func(n, k int) space.Block {
			b := s.Block(space.Rows(n), k)
			b.Zero()
			return b
		}
		b, d, sums, list := block(4, 3), block(4, 1), make([]float64, 3), s.Places([]uint32{0, 1, 2, 3})
		a, err := sparse.NewCSR(4, 5, make([]int, 5), nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		matrix, err := s.Sparse(t.Context(), space.Rows(4), space.Rows(5), space.Of(a))
		if err != nil {
			t.Fatal(err)
		}
		for _, other := range []struct{ n, k int }{{3, 3}, {5, 3}, {4, 2}, {4, 4}} {
			o, diag, numbers := block(other.n, other.k), block(other.n, 1), make([]float64, other.n*other.k)
			calls := map[string]func(){
				"Set":         func() { b.Set(numbers) },
				"Get":         func() { b.Get(numbers) },
				"Reshape":     func() { b.Reshape(space.Rows(other.n), other.k) },
				"CopyFrom":    func() { b.CopyFrom(o) },
				"Scale":       func() { b.Scale(o, nil, 1) },
				"AddScaled":   func() { b.AddScaled(o, nil, 1) },
				"Subtract":    func() { b.Subtract(o, d, d) },
				"Observe":     func() { b.Observe(d, o, d) },
				"Extrapolate": func() { b.Extrapolate(o, 1) },
				"Sums":        func() { b.Sums(o, nil) },
				"Begin":       func() { b.Begin(sums, o, nil) },
				"Turn":        func() { b.Turn(o, nil, sums) },
				"Curvature":   func() { b.Curvature(sums, o, d) },
				"Step":        func() { b.Step(sums, sums, b, o, b, d, nil, sums) },
				"Recur":       func() { b.Recur(sums, o, b, d, sums, sums, sums) },
				"Rest":        func() { b.Rest(sums, o, b, b, d, sums) },
				"Mul":         func() { matrix.Mul(o, block(5, 5), 0, 1, false) },
				"MulT":        func() { matrix.MulT(block(5, 5), o, 1, false) },
			}
			if other.n != 4 {
				calls["Scale by rows"] = func() { b.Scale(b, diag, 1) }
				calls["AddScaled by rows"] = func() { b.AddScaled(b, diag, 1) }
				calls["Subtract by rows"] = func() { b.Subtract(b, d, diag) }
				calls["Observe by rows"] = func() { b.Observe(diag, b, d) }
				calls["AddSpread"] = func() { d.AddSpread(o, d) }
				calls["weighted Sums"] = func() { b.Sums(nil, diag) }
				calls["Begin by rows"] = func() { b.Begin(sums, b.Like(), diag) }
				calls["Turn by rows"] = func() { b.Turn(b.Like(), diag, sums) }
				calls["Curvature by rows"] = func() { b.Curvature(sums, b, diag) }
				calls["SetColumn"] = func() { b.SetColumn(0, o, 0) }
				calls["AddColumns"] = func() { b.AddColumns(o, []int{0, 1, 2}, sums) }
				calls["Gather"] = func() { o.Gather(b, list) }
				calls["Scatter"] = func() { b.Scatter(o, list) }
			}
			if space.DeviceOf(s) == nil { // factors and sums
				calls["AddLevels"] = func() { b.AddLevels(numbers) }
				calls["Curvature, sums"] = func() { b.Curvature(numbers, b.Like(), d) }
				calls["Step, factors"] = func() { b.Step(sums, sums, b.Like(), b.Like(), b.Like(), d, d, numbers) }
				calls["Turn, factors"] = func() { b.Turn(b.Like(), nil, numbers[:2]) }
			}
			for name, call := range calls {
				panics(t, fmt.Sprintf("%s: %s of 4×3 and %d×%d", m.name, name, other.n, other.k), call)
			}
		}
	}
}

// A process that is lost makes sums, products and messages of the others undefined, and Err says so from then on, also
// that of the same memory in float32.
func TestLostProcess(t *testing.T) {
	t.Parallel()
	f := features(t, 50, 60)
	const n, k = 3 * ranks.BlockRows, 2
	type member struct {
		in      space.Space
		axis    space.Axis
		x       space.Block
		m, few  space.Matrix // of shared rows and columns, and of shared rows
		phi     space.Features
		columns space.Axis // of the features
	}
	calls := map[string]func(m member) []float64{
		"sums":    func(m member) []float64 { return m.x.Sums(nil, nil) },
		"sweep":   func(m member) []float64 { return m.x.Sums(m.x, nil) },
		"SumRows": func(m member) []float64 { return []float64{space.Sum(m.in, m.axis, make([]float64, m.axis.Own))} },
		"SumOf":   func(m member) []float64 { return []float64{space.SumOf(m.in, m.axis, 1)} },
		"product": func(m member) []float64 {
			m.m.Mul(m.x.Like(), m.x, 0, 1, false)
			return nil
		},
		"transposed product": func(m member) []float64 {
			m.m.MulT(m.x.Like(), m.x, 1, true)
			return nil
		},
		"product of shared rows": func(m member) []float64 {
			m.few.MulT(m.in.Block(space.Rows(5), k), m.x, 1, false)
			return nil
		},
		"features": func(m member) []float64 {
			m.phi.MulT(m.in.Block(m.columns, k), m.x, 1, false)
			return nil
		},
		"slopes": func(m member) []float64 {
			m.phi.Slopes(make([]float64, 5), make([]float64, k), m.x, m.x)
			return nil
		},
		"Gram": func(m member) []float64 {
			a, err := sparse.NewCSR(m.axis.Own, 1, make([]int, m.axis.Own+1), nil, nil)
			must(err)
			if _, err := space.Gram(m.in, m.axis, a, make([]float64, m.axis.Own)); err == nil {
				panic("a Gram matrix of lost processes")
			}
			return nil
		},
	}
	for name, call := range calls {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, single := range []bool{false, true} {
				broken := errors.New("out of paper")
				lost := make(chan error, 1)
				err := ranks.Together(t.Context(), 2, func(ctx context.Context, g *ranks.Group) error {
					s := space.Together(ctx, g, single)
					a := space.EvenAxis(s, n)
					_, lo := a.All()
					e := &exam{Context: ctx, space: s, group: g}
					all, some := space.Entries{Ptr: []int{0}}, space.Entries{Ptr: []int{0}}
					rows := make([]int, a.Own)
					for i := range rows {
						all.Col, all.Val = append(all.Col, uint32((lo+i+n/2)%n)), append(all.Val, 1) // that of the other process
						some.Col, some.Val = append(some.Col, uint32(i%5)), append(some.Val, 1)
						all.Ptr, some.Ptr, rows[i] = append(all.Ptr, i+1), append(some.Ptr, i+1), (lo+i)%f.Nodes()
					}
					m, err := s.Sparse(ctx, a, a, all)
					must(err)
					few, err := s.Sparse(ctx, a, space.Rows(5), some)
					must(err)
					p, err := space.NewPattern(ctx, f, rows, new(space.Labels))
					must(err)
					phi, err := s.Features(ctx, a, p, true)
					must(err)
					must(phi.Set(ctx, []float64{1, 1, 1, 1, 1}))
					x := e.block(a, k, make([]float64, n*k))
					if g.Rank() == 1 {
						return broken
					}
					columns, _ := phi.Weights()
					for _, v := range call(member{s, a, x, m, few, phi, columns}) {
						if !math.IsNaN(v) {
							return fmt.Errorf("a sum of %v", v)
						}
					}
					other := space.Narrow(s).Err()
					if got := s.Err(); !errors.Is(other, got) {
						return fmt.Errorf("%w, and in float32 %w", got, other)
					}
					lost <- s.Err()
					if sums := x.Sums(nil, nil); !math.IsNaN(sums[0]) {
						return fmt.Errorf("a later sum of %v", sums[0])
					}
					if _, err := space.Gather(ctx, s, []int{1}); err == nil {
						return errors.New("numbers of lost processes")
					}
					if _, err := s.Axis(ctx, 5); err == nil {
						return errors.New("an axis of lost processes")
					}
					return nil
				})
				if !errors.Is(err, broken) {
					t.Errorf("float32 %v: the run ended with %v", single, err)
				}
				select {
				case err := <-lost:
					if !errors.Is(err, ranks.ErrLost) {
						t.Errorf("float32 %v: the other process says %v", single, err)
					}
				default:
					t.Errorf("float32 %v: the other process says nothing", single)
				}
			}
		})
	}
}

// Axes that split a block of rows are refused when sums are taken.
func TestSplitBlocks(t *testing.T) {
	t.Parallel()
	err := ranks.Together(t.Context(), 2, func(ctx context.Context, g *ranks.Group) error {
		s := space.Together(ctx, g, false)
		a, err := s.Axis(ctx, 300)
		if err != nil {
			return err
		}
		if sums := s.Block(a, 1).Sums(nil, nil); !math.IsNaN(sums[0]) || s.Err() == nil {
			return fmt.Errorf("a sum of %v: %w", sums[0], s.Err())
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

// After During, messages to other processes end with another context.
func TestDuring(t *testing.T) {
	t.Parallel()
	err := ranks.Together(t.Context(), 2, func(ctx context.Context, g *ranks.Group) error {
		s := space.Together(ctx, g, false)
		b := s.Block(space.EvenAxis(s, 3000), 1)
		b.Zero()
		if sums := b.Sums(nil, nil); sums[0] != 0 || s.Err() != nil {
			return fmt.Errorf("a sum of %v: %w", sums[0], s.Err())
		}
		space.During(ended(t), s)
		if sums := b.Sums(nil, nil); !math.IsNaN(sums[0]) || s.Err() == nil {
			return fmt.Errorf("after the end: a sum of %v: %w", sums[0], s.Err())
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

// A card that fails, whenever it does and whether launches or copies alone tell, makes numbers undefined: whoever reads some
// finds Err, and numbers that are none. So does one whose memory is too small.
func TestFailingCard(t *testing.T) {
	t.Parallel()
	const n, k = 100, 3
	run := func(how gpu.Simulated) (s space.Space, sums, data []float64) {
		s = space.Card(gpu.Simulate(how))
		a := space.Rows(n)
		x, d := s.Block(a, k), s.Block(a, 1)
		x.Zero()
		d.Zero()
		y := x.Like()
		y.CopyFrom(x)
		y.AddScaled(x, d, 2)
		y.Normals(1, "test", 0, nil)
		m := s.Dense(a, mat.NewDense(n, 5, nil))
		small := s.Block(space.Rows(5), k)
		m.MulT(small, y, 1, false)
		m.Mul(y, small, 0, 1, true)
		y = y.Pick([]int{0, 2})
		sums, data = y.Sums(y, nil), make([]float64, n*2)
		y.Get(data)
		return s, sums, data
	}
	launches := 0
	for after := 1; ; after++ {
		s, _, _ := run(gpu.Simulated{FailAfter: after})
		if s.Err() == nil {
			launches = after
			break
		}
	}
	if launches < 8 {
		t.Fatalf("%d launches: nothing to compare", launches)
	}
	for after := 1; after < launches; after++ {
		for _, late := range []bool{false, true} {
			s, sums, data := run(gpu.Simulated{FailAfter: after, FailLate: late})
			if !errors.Is(s.Err(), gpu.ErrLost) || !math.IsNaN(sums[0]) || !math.IsNaN(data[0]) {
				t.Errorf("lost after %d launches, late %v: %v, sum %v, number %v", after, late, s.Err(), sums[0], data[0])
			}
		}
	}
	s, sums, data := run(gpu.Simulated{Memory: 4 << 10})
	if !errors.Is(s.Err(), gpu.ErrMemory) || !math.IsNaN(sums[0]) || !math.IsNaN(data[0]) {
		t.Errorf("memory: %v, sum %v, number %v", s.Err(), sums[0], data[0])
	}
}
