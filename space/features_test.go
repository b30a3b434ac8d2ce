package space_test

import (
	"math"
	"slices"
	"testing"

	"grfgp/graph"
	"grfgp/space"
	"grfgp/walk"
)

// features returns the walks of a grid.
func features(t testing.TB, rows, columns int) *walk.Features {
	t.Helper()
	g, err := graph.Grid(rows, columns)
	if err != nil {
		t.Fatal(err)
	}
	f, err := walk.Sample(t.Context(), g.Normalized(graph.NormalizedAdjacency), walk.Options{Walks: 5, Budget: 4, MaxLen: 4, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// loops is Φ = Σ f_l Ψ_l and its derivatives by f, for a list of nodes, by plain loops.
type loops struct {
	f    *walk.Features
	rows []int
	unit bool
}

// each calls do for the entries of row a: Φ there, and its derivatives, of rows that may be scaled to norm one.
func (l loops) each(coeff []float64, do func(a, node int, phi float64, slopes []float64)) {
	for a, i := range l.rows {
		var nodes []int
		var phi []float64
		var psi [][]float64
		square, along := 0.0, make([]float64, len(coeff)) // and the products of Φ with every Ψ
		for entry := range l.f.Row(i) {
			v, all := 0.0, make([]float64, len(coeff))
			for q, length := range entry.Lengths {
				all[length] = float64(entry.Values[q])
				v += coeff[length] * all[length]
			}
			nodes, phi, psi = append(nodes, entry.Node), append(phi, v), append(psi, all)
			square += v * v
			for length, w := range all {
				along[length] += v * w
			}
		}
		norm := math.Sqrt(square)
		for e, node := range nodes {
			if l.unit {
				for length := range coeff {
					psi[e][length] = psi[e][length]/norm - phi[e]*along[length]/(norm*norm*norm)
				}
				phi[e] /= norm
			}
			do(a, node, phi[e], psi[e])
		}
	}
}

// squares returns the squared norms of the rows of Φ before they are scaled.
func (l loops) squares(coeff []float64) []float64 {
	out := make([]float64, len(l.rows))
	loops{l.f, l.rows, false}.each(coeff, func(a, _ int, phi float64, _ []float64) { out[a] += phi * phi })
	return out
}

func (l loops) times(coeff, x []float64, k int) []float64 {
	out := make([]float64, len(l.rows)*k)
	l.each(coeff, func(a, node int, phi float64, _ []float64) { addRow(out[a*k:][:k], phi, x[node*k:]) })
	return out
}

func (l loops) timesT(coeff, x []float64, k int) []float64 {
	out := make([]float64, l.f.Nodes()*k)
	l.each(coeff, func(a, node int, phi float64, _ []float64) { addRow(out[node*k:][:k], phi, x[a*k:]) })
	return out
}

// slopes returns the derivatives of Σ_s weight_s·u_sᵀΦΦᵀw_s, and the sum of the sizes of their terms; and the sum itself.
func (l loops) slopes(coeff, weight, u, w []float64) (slopes []float64, size, sum float64) {
	k := len(weight)
	a, b := l.timesT(coeff, u, k), l.timesT(coeff, w, k)
	slopes = make([]float64, len(coeff))
	l.each(coeff, func(at, node int, _ float64, derivatives []float64) {
		for s, v := range weight {
			q := v * (u[at*k+s]*b[node*k+s] + w[at*k+s]*a[node*k+s])
			for length, d := range derivatives {
				slopes[length] += q * d
				size += math.Abs(q * d)
			}
		}
	})
	for q := range a {
		sum += weight[q%k] * a[q] * b[q]
		size += math.Abs(weight[q%k] * a[q] * b[q])
	}
	return slopes, size, sum
}

// Features are Φ for one set of coefficients after another: products, norms and slopes; with few columns, a node for each,
// and with all.
func TestFeatures(t *testing.T) {
	f := features(t, 50, 60)
	examine(t, func(e *exam) {
		for _, n := range []int{0, 1, 10, 1500} {
			rows := make([]int, n)
			for a := range rows {
				rows[a] = e.random.IntN(f.Nodes()) // some are measured twice
			}
			for _, unit := range []bool{false, true} {
				e.features(loops{f, rows, unit})
			}
		}
	})
}

// features checks features of a list of nodes, of which this process has its rows.
func (e *exam) features(of loops) {
	n := len(of.rows)
	a := e.axis(n)
	p, err := space.NewPattern(e, of.f, own(a, 1, of.rows), new(space.Labels))
	must(err)
	phi, err := e.space.Features(e, a, p, of.unit)
	must(err)
	columns, nodes := phi.Weights()
	if len(nodes) > 0 && columns.Own != len(nodes) {
		panic("other columns than nodes")
	}
	all := make([]uint32, of.f.Nodes()) // the nodes of this process
	for i := range all {
		all[i] = uint32(i)
	}
	if nodes == nil {
		nodes = own(columns, 1, all)
	}
	for _, coeff := range [][]float64{{1, 0.5, 0.25, 0.125, 0.0625}, {1, -0.3, 0.8, 0, 0.4}} {
		must(phi.Set(e, coeff))
		e.check("Squares", e.all(phi.Squares()), e.loop(func() []float64 { return of.squares(coeff) }))
		for _, k := range []int{4, 17} {
			w := e.numbers(of.f.Nodes() * k)
			weights := e.space.Block(columns, k)
			weights.Set(rowsOf(w, k, nodes))
			x := e.numbers(n * k)
			to := e.block(a, k, x)
			phi.Mul(to, weights, 0, 0.7, true)
			e.check("Φw", e.all(to), e.loop(func() []float64 {
				out := of.times(coeff, w, k)
				for q := range out {
					out[q] = 0.7*out[q] + x[q]
				}
				return out
			}))
			to.Set(own(a, k, x))
			phi.MulT(weights, to, -1, false)
			back := make([]float64, columns.Own*k)
			weights.Get(back)
			e.check("Φᵀx", e.everywhere(back, k, nodes, columns), e.loop(func() []float64 {
				out := of.timesT(coeff, x, k)
				for q := range out {
					out[q] = -out[q]
				}
				return out
			}))
			y, weight, before := e.numbers(n*k), e.numbers(k), e.numbers(len(coeff))
			slope, other := slices.Clone(before), e.block(a, k, y)
			twice := phi.Slopes(slope, weight, to, other)
			want, scale := make([]float64, len(coeff)+1), 1.0
			if e.way == plain {
				slopes, size, sum := of.slopes(coeff, weight, x, y)
				for l, v := range slopes {
					want[l] = before[l] + v
				}
				if of.unit {
					want[len(coeff)] = 2 * sum
				}
				scale += size
			}
			e.results = append(e.results, result{"Slopes", append(slope, twice), want, scale})
			free(weights, to, other)
		}
	}
	phi.Free()
}

// loop returns what plain loops compute, where it is needed.
func (e *exam) loop(do func() []float64) []float64 {
	if e.way != plain {
		return nil
	}
	return do()
}

// rowsOf returns the rows of x of the given nodes.
func rowsOf(x []float64, k int, nodes []uint32) []float64 {
	out := make([]float64, 0, len(nodes)*k)
	for _, i := range nodes {
		out = append(out, x[int(i)*k:][:k]...)
	}
	return out
}

// everywhere returns the numbers of all nodes, zeros where there are none.
func (e *exam) everywhere(rows []float64, k int, nodes []uint32, columns space.Axis) []float64 {
	if columns.Shared() {
		all, err := space.Gather(e, e.space, rows)
		must(err)
		return all
	}
	out := make([]float64, 3000*k)
	for a, i := range nodes {
		copy(out[int(i)*k:], rows[a*k:][:k])
	}
	return out
}

// Coefficients whose variances a memory of the process does not hold are an error of all processes, also of those without
// rows; later ones are good again.
func TestFeaturesOutOfRange(t *testing.T) {
	f := features(t, 5, 6)
	examine(t, func(e *exam) {
		rows := []int{3, 4, 5, 6}
		a := e.axis(len(rows))
		p, err := space.NewPattern(e, f, own(a, 1, rows), new(space.Labels))
		must(err)
		phi, err := e.space.Features(e, a, p, false)
		must(err)
		huge := 1e200
		if e.space.Single() {
			huge = 1e25
		}
		if err := phi.Set(e, []float64{huge, 0, 0, 0, 0}); err == nil && space.DeviceOf(e.space) == nil {
			panic("variances out of range")
		}
		must(phi.Set(e, []float64{2, 0, 0, 0, 0}))
		e.check("Squares", e.all(phi.Squares()), []float64{4, 4, 4, 4})
		phi.Free()
	})
}

// Project adds the products of every Ψ_l with a weight for each entry.
func TestProject(t *testing.T) {
	f := features(t, 50, 60)
	examineAlone(t, func(e *exam) {
		for _, n := range []int{0, 1, 2500} {
			rows := make([]int, n)
			for a := range rows {
				rows[a] = e.random.IntN(f.Nodes())
			}
			list, err := f.List(e, rows)
			must(err)
			weight := func(a, node int) float64 { return math.Sin(float64(a + node)) }
			slope, want, size := []float64{1, 2, 3, 4, 5}, []float64{1, 2, 3, 4, 5}, 1.0
			must(space.Project(e, slope, list, n, func(_ int, q []float64, a int) []float64 {
				q = q[:0]
				for _, node := range list.Reached(a) {
					q = append(q, weight(a, int(node)))
				}
				return q
			}))
			for a, i := range rows {
				for entry := range f.Row(i) {
					for s, length := range entry.Lengths {
						v := weight(a, entry.Node) * float64(entry.Values[s])
						want[length] += v
						size += math.Abs(v)
					}
				}
			}
			e.results = append(e.results, result{"Project", slope, want, size})
		}
	})
	if err := space.Project(ended(t), nil, nil, 0, nil); err == nil {
		t.Error("sums after the end")
	}
}

// A pattern has the entries of the rows of walks; its columns are the nodes that they reach, in the order of first
// occurrence, or all nodes if these are many.
func TestPattern(t *testing.T) {
	f := features(t, 150, 151)
	tables := new(space.Labels)
	for _, c := range []struct{ n, nodes int }{{0, 1}, {1, 1}, {300, 300}, {800, 800}, {1000, 1000}, {20_000, 20_000}, {20_000, 800}} {
		n, rows := c.n, make([]int, c.n) // 800 nodes reach less than half of all, 1000 more
		for a := range rows {
			rows[a] = a % c.nodes * 7919 % f.Nodes()
		}
		p, err := space.NewPattern(t.Context(), f, rows, tables)
		if err != nil {
			t.Fatal(err)
		}
		if labels, giveBack := tables.Borrow(f.Nodes()); slices.Max(labels) != 0 {
			t.Fatalf("%d rows: labels are left", n)
		} else {
			giveBack()
		}
		var first []uint32 // nodes in the order of first occurrence
		column := map[int]int{}
		for _, i := range rows {
			for entry := range f.Row(i) {
				if _, ok := column[entry.Node]; !ok {
					column[entry.Node] = len(first)
					first = append(first, uint32(entry.Node))
				}
			}
		}
		every := 2*len(first) > f.Nodes()
		switch {
		case every && (p.Nodes != nil || p.Width != f.Nodes()):
			t.Fatalf("%d rows reach %d of %d nodes, and have %d columns", n, len(first), f.Nodes(), p.Width)
		case !every && (!slices.Equal(p.Nodes, first) || p.Nodes == nil || p.Width != len(first)):
			t.Fatalf("%d rows: %d columns of %d nodes", n, p.Width, len(first))
		}
		coeff := []float64{1, 0.5, 0.25, 0.125, 0.0625}
		val := make([]float64, len(p.Col))
		p.Combine(val, coeff)
		q := 0
		for a, i := range rows {
			if p.Ptr[a] != q {
				t.Fatalf("row %d begins at %d, not %d", a, p.Ptr[a], q)
			}
			for entry := range f.Row(i) {
				want, j := 0.0, column[entry.Node]
				if every {
					j = entry.Node
				}
				for s, length := range entry.Lengths {
					want += coeff[length] * float64(entry.Values[s])
				}
				if int(p.Col[q]) != j || math.Abs(val[q]-want) > 1e-12 {
					t.Fatalf("%d rows: entry %d is %v in column %d, not %v in column %d", n, q, val[q], p.Col[q], want, j)
				}
				q++
			}
		}
		if p.Ptr[n] != q || len(p.Col) != q {
			t.Fatalf("%d entries, not %d", len(p.Col), q)
		}
		turned, err := p.Turned()
		if err != nil {
			t.Fatal(err)
		}
		ptr, col := turned.Shape.Raw()
		for j := range p.Width {
			for at := ptr[j]; at < ptr[j+1]; at++ {
				from := turned.From[at]
				if int(p.Col[from]) != j || int(turned.To[from]) != at || int(from) < p.Ptr[col[at]] || int(from) >= p.Ptr[col[at]+1] {
					t.Fatalf("%d rows: entry %d of the transpose comes from entry %d", n, at, from)
				}
			}
		}
		if len(col) != q || len(ptr) != p.Width+1 {
			t.Errorf("%d rows: a transpose of %d rows and %d entries", n, len(ptr)-1, len(col))
		}
	}
}
