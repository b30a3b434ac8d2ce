package gpu

import (
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"grfgp/internal/testkit"
)

// normalNumbers are the only results that agree with those of the twins up to rounding: they
// depend on logarithms.
const normalNumbers = "Normals"

// result is what an operation returned.
type result struct {
	operation string
	numbers   []float64
}

// trial calls operations on random numbers: the same on every card.
type trial struct {
	*rand.Rand
	d       *Device
	results []result
}

// block returns a block of random numbers.
func (t *trial) block(rows, cols int) *Block { return t.d.Upload(cols, t.numbers(rows*cols)) }

func (t *trial) numbers(n int) []float64 {
	x := make([]float64, n)
	for i := range x {
		x[i] = t.NormFloat64()
	}
	return x
}

// keep notes the numbers of a block, and frees it.
func (t *trial) keep(operation string, blocks ...*Block) {
	for _, b := range blocks {
		x := make([]float64, b.rows*b.cols)
		b.Get(x)
		t.results = append(t.results, result{operation, x})
		b.Free()
	}
}

// sums notes sums.
func (t *trial) sums(operation string, all ...[]float64) {
	for _, x := range all {
		t.results = append(t.results, result{operation, x})
	}
}

// pattern returns the places of the entries of a random matrix. Of every other matrix, one row in forty is
// long, and one is a hub.
func (t *trial) pattern(rows, cols int) (ptr []int, col []uint32) {
	few := t.IntN(2) == 0
	ptr = make([]int, 1, rows+1)
	for i := range rows {
		entries := t.IntN(9)
		if t.IntN(40) == 0 && !few {
			entries = longRow - 2 + t.IntN(800)
		}
		if i == 600 && !few {
			entries = 30_000
		}
		for range entries {
			col = append(col, uint32(t.IntN(cols)))
		}
		ptr = append(ptr, len(col))
	}
	return ptr, col
}

// sweeps calls the operations on blocks of n rows and k columns.
func (t *trial) sweeps(n, k int) {
	noise, scale := t.block(n, 1), t.block(n, 1)
	factor := func() []float64 { return t.numbers(k) }
	p, q, r, e := t.block(n, k), t.block(n, k), t.block(n, k), t.block(n, k)
	for _, diag := range []*Block{nil, scale} {
		rz, rr, again := make([]float64, k), make([]float64, k), make([]float64, k)
		Begin(rz, p, r, diag)
		Turn(p, r, diag, factor())
		Step(rr, again, e, r, p, q, noise, diag, factor())
		t.sums("Begin, Step", rz, rr, again)
		p.Sums(rz, nil, diag)
		p.Sums(rr, q, diag)
		t.sums("Sums", rz, rr)
		p.Scale(q, diag, 0.3)
		r.AddScaled(q, diag, -0.7)
	}
	sums := [][]float64{make([]float64, k), make([]float64, k), make([]float64, k), make([]float64, k)}
	Curvature(sums[0], p, q, noise)
	Recur(sums[1], e, p, q, noise, factor(), factor(), factor())
	t.sums("Curvature, Recur", sums[0], sums[1])
	x := t.block(n, k)
	Rest(sums[2], r, p, q, x, noise, factor())
	Rest(sums[3], p, r, nil, nil, nil, factor())
	t.sums("Rest", sums[2], sums[3])
	q.AddConstant(x, 0.4)
	e.AddLevels(factor(), 0.6)
	e.Observe(noise, q, scale)
	e.SetColumn(k-1, q, 0)
	r.Subtract(x, noise, scale)
	before, inverse := t.block(n, k), t.block(n, k)
	x.Extrapolate(before, 1.0/3)
	inverse.Invert(p, q, 0.1)
	scale.AddSpread(p, noise)
	copied, zero := t.d.Block(n, k), t.d.Zeros(n, k)
	copied.CopyFrom(x)

	list := t.Perm(k)[:1+t.IntN(k)]
	some := x.Columns(list)
	to, factors := t.Perm(k + 3)[:len(list)], t.numbers(len(list))
	wide := t.block(n, min(k+3, maxColumns))
	for i := range to {
		if to[i] >= wide.cols {
			to[i] = -1
		}
	}
	wide.AddColumns(some, to, factors)
	wide.SetColumn(0, some, t.IntN(some.cols))
	random := t.d.Block(n, k)
	random.Normals(t.Uint64(), "test", t.IntN(9), t.IntN(9))
	t.keep(normalNumbers, random)

	rows := make([]uint32, 0, n)
	for _, i := range t.Perm(n)[:n/2] {
		rows = append(rows, uint32(i))
	}
	places := t.d.Places(rows)
	few := t.d.Block(len(rows), k)
	few.Gather(p, places)
	q.Scatter(few, places)
	places.Free()
	t.keep("sweeps", p, q, r, e, x, before, inverse, scale, noise, copied, zero, some, wide, few)
}

// products calls products of matrices with blocks of k columns.
func (t *trial) products(rows, cols, k int) {
	ptr, col := t.pattern(rows, cols)
	val := t.numbers(len(col))
	narrow := make([]float32, len(val))
	for i, v := range val {
		narrow[i] = float32(v)
	}
	x := t.block(cols, k)
	for _, m := range []*Matrix{t.d.Matrix(rows, cols, ptr, col, val), t.d.Narrow(rows, cols, ptr, col, narrow)} {
		dst := t.d.Block(rows, k)
		m.Mul(dst, x, 0.7)
		m.MulAdd(dst, x, -1.1)
		t.keep("products", dst, m.InverseNorms())
		m.Free()
	}
	dense := t.d.Dense(k+2, cols, t.numbers((k+2)*cols))
	dst := t.d.Block(k+2, k)
	dense.Mul(dst, x)
	dense.Free()
	t.keep("Dense", dst, x)
}

// features calls the operations of features.
func (t *trial) features(rows, cols, lengths, k int, unit bool) {
	l := Listed{Rows: rows, Cols: cols, Lengths: lengths, Unit: unit}
	l.Ptr, l.Col = t.pattern(rows, cols)
	byColumn := make([][][2]uint32, cols) // row and place of the entries
	for i := range rows {
		l.First = append(l.First, uint32(len(l.Lens)))
		for e := l.Ptr[i]; e < l.Ptr[i+1]; e++ {
			byColumn[l.Col[e]] = append(byColumn[l.Col[e]], [2]uint32{uint32(i), uint32(e)})
			num := 1 + t.IntN(3)
			l.Num = append(l.Num, uint8(num))
			for range num {
				l.Lens = append(l.Lens, uint8(t.IntN(lengths)))
				l.Psi = append(l.Psi, float32(t.NormFloat64()))
			}
		}
	}
	l.PtrT = []int{0}
	for _, entries := range byColumn {
		for _, e := range entries {
			l.ColT, l.From = append(l.ColT, e[0]), append(l.From, e[1])
		}
		l.PtrT = append(l.PtrT, len(l.ColT))
	}
	f := t.d.Features(l)
	f.Set(t.numbers(lengths))
	u, w := t.block(rows, k), t.block(rows, k)
	a, b := t.d.Block(cols, k), t.d.Block(cols, k)
	f.PhiT.Mul(a, u, 1)
	f.PhiT.Mul(b, w, 1)
	slope := make([]float64, lengths)
	twice := f.Slopes(slope, t.numbers(k), u, w, a, b)
	t.sums("Slopes", slope, []float64{twice})
	squares := t.d.Block(rows, 1)
	squares.CopyFrom(f.Squares())
	t.keep("features", u, w, a, b, squares)
	f.Free()
}

// operations calls all operations of a card, on the same random numbers each time.
func operations(t *testing.T, d *Device) []result {
	t.Helper()
	all := &trial{Rand: rand.New(rand.NewPCG(5, 6)), d: d}
	for _, k := range []int{1, 2, 3, 4, 7, 12, 16, 33, 64} {
		for _, n := range []int{1, 63, 1000, 9001} {
			all.sweeps(n, k)
		}
		all.products(1, 5, k)
		all.products(700, 300, k)
		all.features(1500, 400, 3+k/3, k, k%2 == 0)
	}
	if err := d.Err(); err != nil {
		t.Fatal(err)
	}
	if d.InUse() != 0 {
		t.Errorf("%d bytes are in use at the end", d.InUse())
	}
	d.Trim()
	return all.results
}

// same compares results: their bits, but for normal numbers.
func same(got, want []result) error {
	if len(got) != len(want) {
		return fmt.Errorf("%d results, not %d", len(got), len(want))
	}
	for i, g := range got {
		if len(g.numbers) != len(want[i].numbers) {
			return fmt.Errorf("result %d (%s) has %d numbers, not %d", i, g.operation, len(g.numbers), len(want[i].numbers))
		}
		for j, v := range g.numbers {
			w := want[i].numbers[j]
			if g.operation == normalNumbers && math.Abs(v-w) <= 1e-14*math.Abs(w) {
				continue
			}
			if math.IsNaN(w) || math.Float64bits(v) != math.Float64bits(w) {
				return fmt.Errorf("result %d (%s): number %d is %v, not %v", i, g.operation, j, v, w)
			}
		}
	}
	return nil
}

// TestLaunches checks that all kernels are launched, with the arguments that they take.
func TestLaunches(t *testing.T) {
	t.Parallel()
	d := Simulate(Simulated{})
	c := check(t, d.driver)
	d.driver = c
	first := operations(t, d)
	if got, want := slices.Sorted(maps.Keys(c.launched)), slices.Sorted(maps.Keys(twins)); !slices.Equal(got, want) {
		t.Errorf("kernels %q were launched, and there are %q", got, want)
	}
	if got, want := slices.Sorted(maps.Keys(c.entries)), slices.Sorted(maps.Keys(twins)); !slices.Equal(got, want) {
		t.Errorf("kernels.ptx has the kernels %q, and there are twins of %q", got, want)
	}
	if testkit.Raced {
		return
	}
	if err := same(operations(t, Simulate(Simulated{})), first); err != nil {
		t.Error("a second time: ", err)
	}
}
