package crossval

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"grfgp/covariate"
	"grfgp/gp"
	"grfgp/graph"
	"grfgp/internal/rng"
	"grfgp/internal/testkit"
	"grfgp/sparse"
)

// someColumns returns random dense columns and words of n nodes.
func someColumns(t *testing.T, n, width, vocabulary int, seed uint64) columns {
	t.Helper()
	random := rand.New(rng.New(seed, "columns"))
	c := columns{nodes: n}
	for w := width; w > 0; w -= 3 {
		x := mat.NewDense(n, min(w, 3), nil)
		for i := range n {
			row := x.RawRowView(i)
			for k := range row {
				row[k] = 1 + random.NormFloat64()
			}
		}
		c.dense = append(c.dense, x)
	}
	if vocabulary == 0 {
		return c
	}
	ptr := []int{0}
	var col []uint32
	var val []float64
	for range n {
		for v := range vocabulary {
			if random.Float64() < 0.2 {
				col, val = append(col, uint32(v)), append(val, random.Float64())
			}
		}
		ptr = append(ptr, len(col))
	}
	words, err := sparse.NewCSR(n, vocabulary, ptr, col, val)
	if err != nil {
		t.Fatal(err)
	}
	c.words = words
	return c
}

// definition solves the ridge regression with an explicit intercept, as one dense system.
func definition(c columns, nodes []int, y *mat.Dense, weight []float64, penalty float64) *mat.Dense {
	every := make([]int, c.nodes)
	for i := range every {
		every[i] = i
	}
	_, k := y.Dims()
	at := func(nodes []int) *mat.Dense {
		d := c.pick(nodes)
		x := mat.NewDense(len(nodes), 1+d.size(), nil)
		for r := range nodes {
			x.Set(r, 0, 1)
			for j := range d.width {
				x.Set(r, 1+j, d.x.At(r, j))
			}
			for j := range d.vocabulary {
				x.Set(r, 1+d.width+j, d.words.At(r, j))
			}
		}
		return x
	}
	x := at(nodes)
	_, size := x.Dims()
	scaled := mat.NewDense(len(nodes), size, nil)
	mean := make([]float64, size)
	total := 0.0
	for r, w := range weight {
		total += w
		for j := range size {
			scaled.Set(r, j, w*x.At(r, j))
			mean[j] += w * x.At(r, j)
		}
	}
	// The unit of the penalty: the average square of columns, dense ones centred.
	squares := 0.0
	for r, w := range weight {
		for j := 1; j < size; j++ {
			v := x.At(r, j)
			if j <= c.width() {
				v -= mean[j] / total
			}
			squares += w * v * v
		}
	}
	var h, b, beta, all mat.Dense
	h.Mul(scaled.T(), x)
	for j := 1; j < size; j++ {
		h.Set(j, j, h.At(j, j)+penalty*squares/float64(size-1))
	}
	b.Mul(scaled.T(), y)
	if err := beta.Solve(&h, &b); err != nil {
		panic(err)
	}
	all.Mul(at(every), &beta)
	if _, got := all.Dims(); got != k {
		panic("targets")
	}
	return &all
}

// TestRidge compares both solvers with the definition.
func TestRidge(t *testing.T) {
	t.Parallel()
	const n, rows = 60, 40
	random := rand.New(rng.New(1, "rows"))
	nodes, weight, y := make([]int, rows), make([]float64, rows), mat.NewDense(rows, 2, nil)
	for r := range rows {
		nodes[r], weight[r] = random.IntN(n), float64(1+random.IntN(3))
		y.SetRow(r, []float64{5 + random.NormFloat64(), 100 * random.NormFloat64()})
	}
	every := make([]int, n)
	for i := range every {
		every[i] = i
	}
	for name, c := range map[string]columns{
		"dense":           someColumns(t, n, 7, 0, 2),
		"more than rows":  someColumns(t, n, 70, 0, 3),
		"words":           someColumns(t, n, 0, 90, 4),
		"dense and words": someColumns(t, n, 5, 30, 5),
	} {
		for _, penalty := range []float64{1, 0.01} {
			r := newRidge(c.pick(nodes), mat.DenseCopyOf(y), weight)
			beta, err := r.solve(context.Background(), penalty)
			if err != nil {
				t.Fatal(name, err)
			}
			got, want := r.predict(beta, c.pick(every)), definition(c, nodes, y, weight, penalty)
			got.Sub(got, want)
			// Conjugate gradients stop at a relative residual of 1e-6.
			if e := mat.Max(got) - mat.Min(got); e > 1e-4*mat.Max(want) {
				t.Errorf("%s, penalty %g: predictions differ by %.2g from %.2g", name, penalty, e, mat.Max(want))
			}
		}
	}
}

// covariates returns a set of one dense matrix and no words.
func covariates(x *mat.Dense) *covariate.Set {
	n, w := x.Dims()
	return &covariate.Set{Nodes: n, X: x, Names: make([]string, w)}
}

// TestLeastSquaresIsExact: a linear function is predicted without error, also where columns
// depend on each other.
func TestLeastSquaresIsExact(t *testing.T) {
	t.Parallel()
	g, err := graph.Ring(50)
	if err != nil {
		t.Fatal(err)
	}
	random := rand.New(rng.New(3, "x"))
	x := mat.NewDense(50, 4, nil)
	y := make([]float64, 50)
	for i := range 50 {
		a, b := random.NormFloat64(), random.NormFloat64()
		x.SetRow(i, []float64{a, b, a - b, 0})
		y[i] = 3 + 2*a - b
	}
	d := gp.Data{}
	for i := 0; i < 50; i += 4 {
		d.Nodes, d.Y = append(d.Nodes, i), append(d.Y, y[i])
	}
	got, err := LeastSquares.Predict(context.Background(), &Inputs{Graph: g, Covariates: covariates(x)}, d)
	if err != nil {
		t.Fatal(err)
	}
	for i, v := range got {
		if math.Abs(v-y[i]) > 1e-5 {
			t.Fatalf("node %d: %v, want %v", i, v, y[i])
		}
	}
}

// TestPossibleBaselines: a rule that lacks its inputs is left out, and says so if asked.
func TestPossibleBaselines(t *testing.T) {
	t.Parallel()
	g, err := graph.Ring(10)
	if err != nil {
		t.Fatal(err)
	}
	bare, d := &Inputs{Graph: g}, gp.Data{Nodes: []int{1, 2}, Y: []float64{1, 2}}
	if all := bare.Baselines(); slices.Contains(all, LeastSquares) || !slices.Contains(all, SingularRidge) {
		t.Errorf("baselines without covariates: %q", all)
	}
	if _, err := LeastSquares.Predict(context.Background(), bare, d); err == nil {
		t.Error("least squares without covariates")
	}
	rich := &Inputs{Graph: g, Covariates: covariates(mat.NewDense(10, 1, []float64{1, 2, 3, 4, 5, 6, 7, 8, 9, 0}))}
	if all := rich.Baselines(); !slices.Equal(all, Baselines()) {
		t.Errorf("baselines with covariates: %q", all)
	}
	for _, b := range rich.Baselines() {
		for _, d := range []gp.Data{d, {Nodes: []int{3}, Y: []float64{7}}, {Nodes: []int{3, 3}, Y: []float64{7, 8}, Count: []int{2, 1}}} {
			all, err := b.Predict(context.Background(), rich, d)
			if err != nil || len(all) != 10 || slices.ContainsFunc(all, func(v float64) bool { return math.IsNaN(v) || math.Abs(v) > 10 }) {
				t.Errorf("%s from %v: %v, %v", b, d.Y, all, err)
			}
		}
	}
}

// TestFifth: a fifth of the nodes, whole, whatever the order of rows.
func TestFifth(t *testing.T) {
	t.Parallel()
	var nodes []int
	for i := range 100 {
		nodes = append(nodes, i, i)
	}
	in, out := fifth(nodes)
	if len(in) != 160 || len(out) != 40 {
		t.Fatalf("%d in, %d out", len(in), len(out))
	}
	held := map[int]bool{}
	for _, r := range out {
		held[nodes[r]] = true
	}
	for _, r := range in {
		if held[nodes[r]] {
			t.Fatalf("node %d is on both sides", nodes[r])
		}
	}
	slices.Reverse(nodes)
	_, again := fifth(nodes)
	for _, r := range again {
		if !held[nodes[r]] {
			t.Fatalf("node %d is held out only if rows are reversed", nodes[r])
		}
	}
}

// TestGraphRidge compares with the definition as a dense system, at one λ, on a graph with a component and
// a node that have no measurements.
func TestGraphRidge(t *testing.T) {
	t.Parallel()
	e := graph.Edges{}
	for i := range uint32(20) {
		for _, j := range []uint32{(i + 1) % 20, (i * 7) % 20} {
			if i != j {
				e.U, e.V, e.W = append(e.U, i), append(e.V, j), append(e.W, float64(1+i%3))
			}
		}
	}
	e.U, e.V, e.W = append(e.U, 20), append(e.V, 21), append(e.W, 1)
	g, _, err := graph.FromEdges(graph.NumberIDs(23), e, graph.BuildOptions{})
	if err != nil {
		t.Fatal(err)
	}
	d := gp.Data{Nodes: []int{0, 3, 9, 3}, Y: []float64{1, -2, 4, -1}, Count: []int{1, 2, 1, 1}}
	mean := (1.0 - 2 + 4 - 1) / 4
	for _, lambda := range []float64{0.1, 3} {
		f := mat.NewDense(23, 1, nil)
		got, err := newPenalised(g).solve(context.Background(), d, lambda, f)
		if err != nil {
			t.Fatal(err)
		}
		laplacian := g.Normalized(graph.NormalizedLaplacian)
		h, b := mat.NewDense(20, 20, nil), mat.NewVecDense(20, nil)
		for i := range 20 {
			for j := range 20 {
				h.Set(i, j, lambda*laplacian.At(i, j))
			}
		}
		for r, i := range d.Nodes {
			c := float64(d.Count[r])
			h.Set(i, i, h.At(i, i)+c)
			b.SetVec(i, b.AtVec(i)+c*(d.Y[r]-mean))
		}
		var want mat.VecDense
		if err := want.SolveVec(h, b); err != nil {
			t.Fatal(err)
		}
		for i := range 23 {
			expected := mean
			if i < 20 {
				expected += want.AtVec(i)
			}
			if math.Abs(got[i]-expected) > 1e-4 {
				t.Errorf("λ = %g, node %d: %v, want %v", lambda, i, got[i], expected)
			}
		}
	}
}

// TestLinearClasses: labels that follow a column are predicted from it, with
// probabilities that add up to 1.
func TestLinearClasses(t *testing.T) {
	t.Parallel()
	g, err := graph.Ring(300)
	if err != nil {
		t.Fatal(err)
	}
	random := rand.New(rng.New(8, "classes"))
	x, class := mat.NewDense(300, 3, nil), make([]int, 300)
	for i := range 300 {
		class[i] = random.IntN(3)
		for k := range 3 {
			x.Set(i, k, random.NormFloat64()/3)
		}
		x.Set(i, class[i], x.At(i, class[i])+1)
	}
	in := &Inputs{Graph: g, Covariates: covariates(x)}
	var train gp.Labels
	train.Classes = 3
	for i := range 100 {
		train.Nodes, train.Class = append(train.Nodes, 3*i), append(train.Class, class[3*i])
	}
	p, err := LeastSquares.Classify(context.Background(), in, train, g.Nodes())
	if err != nil {
		t.Fatal(err)
	}
	for i := range 300 {
		if s := mat.Sum(p.RowView(i)); math.Abs(s-1) > 1e-12 {
			t.Fatalf("probabilities of node %d add up to %v", i, s)
		}
	}
	for _, b := range []Baseline{ClassFrequencies, Mean, Nearest, Harmonic, GraphRidge, SingularRidge} {
		p, err := b.Classify(context.Background(), in, train, g.Nodes())
		if err != nil {
			t.Fatal(err)
		}
		for i := range 300 {
			if s := mat.Sum(p.RowView(i)); math.Abs(s-1) > 1e-12 || mat.Min(p.RowView(i)) < 0 {
				t.Fatalf("%s: probabilities of node %d are %v", b, i, p.RawRowView(i))
			}
		}
	}
	if _, err := Baseline("guessing").Classify(context.Background(), in, train, g.Nodes()); err == nil {
		t.Error("there is a baseline guessing")
	}
	// The best rule errs where noise of sd 0.47 between two columns exceeds 1: in about 3 % of nodes.
	if s := ScoreClasses(p, class); s.Accuracy < 0.9 || s.NLL > 0.4 {
		t.Errorf("accuracy %.3f, NLL %.3f", s.Accuracy, s.NLL)
	}
}

// TestSingularRidge: values that depend on which hub a node is joined to are predicted by the singular vectors,
// and not by the mean.
func TestSingularRidge(t *testing.T) {
	t.Parallel()
	testkit.Unraced(t)
	sizes := []int{150, 150, 150}
	g, err := graph.StochasticBlock(sizes, func(a, b int) float64 {
		if (a+b)%3 == 0 { // blocks 0–0, 1–2: not all near is alike
			return 0.1
		}
		return 0.01
	}, 1)
	if err != nil {
		t.Fatal(err)
	}
	random := rand.New(rng.New(9, "values"))
	d, truth := gp.Data{}, make([]float64, g.Len())
	for i := range truth {
		truth[i] = []float64{0, 3, -3}[i/150]
		if i%3 == 0 {
			d.Nodes, d.Y = append(d.Nodes, i), append(d.Y, truth[i]+0.3*random.NormFloat64())
		}
	}
	in := &Inputs{Graph: g}
	rmse := map[Baseline]float64{}
	for _, b := range []Baseline{Mean, Harmonic, SingularRidge} {
		all, err := b.Predict(context.Background(), in, d)
		if err != nil {
			t.Fatal(err)
		}
		for i, v := range all {
			rmse[b] += (v - truth[i]) * (v - truth[i]) / float64(len(all))
		}
		rmse[b] = math.Sqrt(rmse[b])
	}
	if rmse[SingularRidge] > 0.5*rmse[Mean] || rmse[SingularRidge] > rmse[Harmonic] {
		t.Errorf("errors %v", rmse)
	}
	if in.Roles == nil {
		t.Error("roles are not kept for the next fold")
	}
}
