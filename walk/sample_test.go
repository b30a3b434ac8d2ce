package walk

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"grfgp/internal/rng"
	"grfgp/internal/testkit"
	"grfgp/sparse"
)

// medium is a matrix to walk on, with the scale of its proportional steps.
type medium struct {
	name  string
	w     *sparse.CSR
	scale []float64
}

// fromDense drops zeros.
func fromDense(t testing.TB, a [][]float64) *sparse.CSR {
	t.Helper()
	rowPtr, col, val := []int{0}, []uint32(nil), []float64(nil)
	for _, row := range a {
		for j, v := range row {
			if v != 0 {
				col, val = append(col, uint32(j)), append(val, v)
			}
		}
		rowPtr = append(rowPtr, len(col))
	}
	w, err := sparse.NewCSR(len(a), len(a), rowPtr, col, val)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// normalized returns D^-½AD^-½ and √D (1 for lone nodes).
func normalized(t testing.TB, name string, a [][]float64) medium {
	n := len(a)
	root := make([]float64, n)
	for i := range a {
		for _, v := range a[i] {
			root[i] += v
		}
		if root[i] == 0 {
			root[i] = 1
		}
		root[i] = math.Sqrt(root[i])
	}
	w := make([][]float64, n)
	for i := range a {
		w[i] = make([]float64, n)
		for j, v := range a[i] {
			w[i][j] = v / (root[i] * root[j])
		}
	}
	return medium{name, fromDense(t, w), root}
}

func adjacency(n int, weight func(i, j int) float64) [][]float64 {
	a := make([][]float64, n)
	for i := range a {
		a[i] = make([]float64, n)
	}
	for i := range n {
		for j := range i {
			a[i][j] = weight(i, j)
			a[j][i] = a[i][j]
		}
	}
	return a
}

func ringAdjacency(n int) [][]float64 {
	return adjacency(n, func(i, j int) float64 {
		if i-j == 1 || i-j == n-1 {
			return 1
		}
		return 0
	})
}

// smallMedia are graphs on which W^l is known by dense products.
func smallMedia(t testing.TB) []medium {
	grid := adjacency(12, func(i, j int) float64 { // 4 rows of 3
		if i-j == 3 || i-j == 1 && i%3 != 0 {
			return 1
		}
		return 0
	})
	hubs := adjacency(12, func(i, j int) float64 { // two hubs, as in scale-free graphs
		if j == 0 || j == 1 && i%2 == 0 || i-j == 1 && i%4 == 3 {
			return 1
		}
		return 0
	})
	weighted := adjacency(9, func(i, j int) float64 {
		if (i+2*j)%3 == 0 {
			return 0
		}
		return 0.1 + float64((i*j)%7)
	})
	laplacian := adjacency(8, func(i, j int) float64 { return 0 })
	ring := normalized(t, "", ringAdjacency(8)).w
	for i := range laplacian {
		for j := range laplacian {
			laplacian[i][j] = -ring.At(i, j)
		}
		laplacian[i][i]++
	}
	signed := adjacency(7, func(i, j int) float64 { return math.Sin(float64(3*i + j)) })
	// Rows of two to four entries of either sign and of unlike size: a few steps are
	// exact, and walkers are then recruited by masses of either sign.
	sparseSigned := adjacency(14, func(i, j int) float64 {
		if (i-j)%6 != 1 {
			return 0
		}
		return float64(1-2*((i*j)%2)) * (0.1 + 0.2*float64((i+j)%5))
	})
	lonely := ringAdjacency(6)
	for i := range lonely {
		lonely[i] = append(lonely[i], 0)
	}
	lonely = append(lonely, make([]float64, 7))
	return []medium{
		normalized(t, "ring", ringAdjacency(9)),
		normalized(t, "grid", grid),
		normalized(t, "hubs", hubs),
		normalized(t, "weighted", weighted),
		{"raw weighted", fromDense(t, weighted), nil},
		{"laplacian", fromDense(t, laplacian), nil},
		{"signed", fromDense(t, signed), nil},
		{"sparse signed", fromDense(t, sparseSigned), nil},
		normalized(t, "two nodes", [][]float64{{0, 2}, {2, 0}}),
		normalized(t, "one node", [][]float64{{0}}),
		normalized(t, "lone node", lonely),
		{"one way", fromDense(t, [][]float64{{0, .5, .25}, {0, 0, 1}, {0, 0, 0}}), nil},
		{"sink", fromDense(t, [][]float64{{0, 1, 0}, {0, 0, 0}, {1, 0, 0}}), nil},
		{"stored zeros", storedZeros(t), nil},
	}
}

// storedZeros has a row that holds an entry of weight zero: 0 → 1 → nowhere.
func storedZeros(t testing.TB) *sparse.CSR {
	w, err := sparse.NewCSR(2, 2, []int{0, 1, 2}, []uint32{1, 0}, []float64{1, 0})
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// powers returns W^0 … W^L as dense matrices.
func powers(w *sparse.CSR, maxLen int) []*mat.Dense {
	n, _ := w.Dims()
	one, step := mat.NewDense(n, n, nil), mat.NewDense(n, n, nil)
	for i := range n {
		one.Set(i, i, 1)
		for j := range n {
			step.Set(i, j, w.At(i, j))
		}
	}
	all := []*mat.Dense{one}
	for l := range maxLen {
		next := mat.NewDense(n, n, nil)
		next.Mul(all[l], step)
		all = append(all, next)
	}
	return all
}

// dense returns Ψ_l as dense matrices.
func (f *Features) dense() []*mat.Dense {
	all := make([]*mat.Dense, f.MaxLen()+1)
	for l := range all {
		all[l] = mat.NewDense(f.nodes, f.nodes, nil)
	}
	for i := range f.nodes {
		for e := range f.Row(i) {
			for k, l := range e.Lengths {
				all[l].Set(i, e.Node, float64(e.Values[k]))
			}
		}
	}
	return all
}

type variant struct {
	sampler Sampler
	steps   Steps
	budget  int
	hub     float64
}

func (v variant) String() string {
	return fmt.Sprintf("%v,%v,budget %d,hub %g", v.sampler, v.steps, v.budget, v.hub)
}

var variants = []variant{
	{Independent, Proportional, 0, 0}, {Independent, Uniform, 0, 0},
	{Repelling, Proportional, 0, 0}, {Repelling, Uniform, 0, 0},
	{Repelling, Proportional, 5, 0}, {Repelling, Uniform, 5, 0},
	{Repelling, Proportional, 0, 1.5}, {Repelling, Proportional, 1000, 0},
}

// E[Ψ_l] = W^l for every sampler, kind of steps and graph: over R independent
// runs the mean of each entry lies within six standard errors of the exact one
// (and entries without any spread equal it to float32 accuracy), and the mean of
// the squared deviations in standard errors stays near one.
func TestUnbiased(t *testing.T) {
	t.Parallel()
	testkit.Unraced(t)
	const maxLen, runs = 4, 1500
	for a, m := range smallMedia(t) {
		want := powers(m.w, maxLen)
		n, _ := m.w.Dims()
		for b, v := range variants {
			t.Run(m.name+"/"+v.String(), func(t *testing.T) {
				if (a+b)%4 > 0 {
					testkit.Full(t)
				}
				opts := Options{Sampler: v.sampler, Steps: v.steps, Walks: 6, Halt: 0.2, MaxLen: maxLen, Budget: v.budget, HubWalks: v.hub,
					Scale: m.scale}
				size := (maxLen + 1) * n * n
				sum, square := make([]float64, size), make([]float64, size)
				for run := range runs {
					opts.Seed = uint64(run)
					f, err := Sample(context.Background(), m.w, opts)
					if err != nil {
						t.Fatal(err)
					}
					for l, psi := range f.dense() {
						for q, x := range psi.RawMatrix().Data {
							sum[l*n*n+q] += x
							square[l*n*n+q] += x * x
						}
					}
				}
				chi, count := 0.0, 0
				for l := range maxLen + 1 {
					for q, exact := range want[l].RawMatrix().Data {
						mean := sum[l*n*n+q] / runs
						spread := square[l*n*n+q]/runs - mean*mean
						off := math.Abs(mean - exact)
						if spread <= 1e-10*(1+exact*exact) {
							if off > 1e-6*(1+math.Abs(exact)) {
								t.Fatalf("length %d, entry %d: always %v, want %v", l, q, mean, exact)
							}
							continue
						}
						z := off / math.Sqrt(spread/runs)
						chi += z * z
						count++
						if z > 6 {
							t.Errorf("length %d, entry %d: mean %v, want %v: off by %.1f standard errors", l, q, mean, exact, z)
						}
					}
				}
				// Entries of a row are correlated: allow for a tenth as many
				// independent ones, at five standard deviations.
				if limit := 1 + 5*math.Sqrt(2*10/float64(count+1)); count > 20 && chi/float64(count) > limit {
					t.Errorf("mean squared deviation %.2f standard errors, limit %.2f", chi/float64(count), limit)
				}
			})
		}
	}
}

// Recruits keep the mass: of masses of either sign, each at least a walker's share
// stays as it is, and each smaller one gets none or walkers with its own sign, whose
// mass is the right one on average. With 4,000 draws of one uniform number the
// standard error is at most ½·gap/√4000; five of them are allowed.
func TestRecruitsKeepTheirSigns(t *testing.T) {
	t.Parallel()
	const draws, walks = 4000, 7
	front := []visit{{mass: 0.9, entry: 0}, {mass: -0.05, entry: 1}, {mass: -1.3, entry: 2}, {mass: 0.2, entry: 3}, {mass: -0.15, entry: 4}}
	node := []uint32{10, 11, 12, 13, 14}
	total := 0.0
	for _, v := range front {
		total += math.Abs(v.mass)
	}
	gap := total / walks
	r, mean, small := &repelling{walks: walks}, map[uint32]float64{}, 0
	for seed := range uint64(draws) {
		r.recruit(front, node, rng.New(seed, "recruits"))
		for _, c := range r.crowds {
			m := front[c.node-10].mass
			switch {
			case math.Signbit(c.mass) != math.Signbit(m):
				t.Fatalf("mass %v at node %d has walkers of mass %v", m, c.node, c.mass)
			case math.Abs(m) >= gap && c.mass != m:
				t.Fatalf("mass %v at node %d became %v", m, c.node, c.mass)
			case math.Abs(m) < gap:
				small++
			}
			mean[c.node] += c.mass / draws
		}
	}
	for _, v := range front {
		if got := mean[node[v.entry]]; math.Abs(got-v.mass) > 5*gap/2/math.Sqrt(draws) {
			t.Errorf("mass %v is %v on average", v.mass, got)
		}
	}
	if small == 0 {
		t.Error("no small mass was recruited")
	}
}

// With a budget that no row exceeds, features are W^l to float32 accuracy, and
// say so.
func TestExactWithinBudget(t *testing.T) {
	t.Parallel()
	for _, m := range smallMedia(t) {
		n, _ := m.w.Dims()
		f, err := Sample(context.Background(), m.w, Options{Walks: 1, MaxLen: 6, Budget: 1000, Scale: m.scale})
		if err != nil {
			t.Fatal(err)
		}
		want := powers(m.w, 6)
		for l, psi := range f.dense() {
			if !mat.EqualApprox(psi, want[l], 1e-6*(1+mat.Norm(want[l], 2))) {
				t.Errorf("%s: Ψ_%d is not W^%d", m.name, l, l)
			}
		}
		if s := f.Size(); int(s.ExactRows) != n {
			t.Errorf("%s: %d exact rows of %d", m.name, s.ExactRows, n)
		}
	}
}

// AdHoc has the expectation of walks without importance weights: on a graph
// with all degrees d, E[Ψ_l] = ((1−p)/d)^l·W^l.
func TestAdHocDropsTheImportanceWeight(t *testing.T) {
	t.Parallel()
	m := normalized(t, "ring", ringAdjacency(7))
	const runs, halt = 4000, 0.2
	mean := mat.NewDense(7, 7, nil)
	for run := range runs {
		f, err := Sample(context.Background(), m.w, Options{Sampler: AdHoc, Walks: 5, Halt: halt, MaxLen: 2, Seed: uint64(run)})
		if err != nil {
			t.Fatal(err)
		}
		mean.Add(mean, f.dense()[2])
	}
	mean.Scale(1.0/runs, mean)
	want := mat.NewDense(7, 7, nil)
	want.Scale(math.Pow((1-halt)/2, 2), powers(m.w, 2)[2])
	// A load is at most 1/4 with probability at most 0.32: 5 walks × 4000 runs
	// give a standard error below 0.0009.
	if !mat.EqualApprox(mean, want, 0.0045) {
		t.Errorf("mean\n%v\nwant\n%v", mat.Formatted(mean), mat.Formatted(want))
	}
}

func TestSameBytesAtAnyNumberOfThreads(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	m := bigRing(t, 3*blockRows+17)
	for _, v := range variants {
		opts := Options{Sampler: v.sampler, Steps: v.steps, Walks: testkit.Size(8, 20), Halt: 0.1, MaxLen: 6, Budget: v.budget, Seed: 3}
		runtime.GOMAXPROCS(1)
		one, err := Sample(context.Background(), m.w, opts)
		if err != nil {
			t.Fatal(err)
		}
		runtime.GOMAXPROCS(8)
		eight, err := Sample(context.Background(), m.w, opts)
		if err != nil {
			t.Fatal(err)
		}
		requireEqual(t, one, eight, 0, m.w)
	}
}

func TestShardsAreRowsOfTheWhole(t *testing.T) {
	t.Parallel()
	m := bigRing(t, 2*blockRows+100)
	n, _ := m.w.Dims()
	for _, v := range variants {
		opts := Options{Sampler: v.sampler, Steps: v.steps, Walks: 10, Halt: 0.1, MaxLen: 5, Budget: v.budget, Seed: 9}
		whole, err := Sample(context.Background(), m.w, opts)
		if err != nil {
			t.Fatal(err)
		}
		for _, cut := range [][2]int{{0, 1}, {5, 5 + blockRows + 3}, {n - 1, n}, {700, 700}} {
			opts.Lo, opts.Hi = cut[0], cut[1]
			part, err := Sample(context.Background(), m.w, opts)
			if err != nil {
				t.Fatal(err)
			}
			requireEqual(t, part, whole, cut[0], m.w)
		}
	}
}

// requireEqual checks that the rows of part are those of whole.
func requireEqual(t *testing.T, part, whole *Features, from int, w *sparse.CSR) {
	t.Helper()
	lo, hi := part.Rows()
	if lo != from {
		t.Fatalf("rows start at %d, want %d", lo, from)
	}
	for i := lo; i < hi; i++ {
		var a, b []Entry
		for e := range part.Row(i) {
			a = append(a, e)
		}
		for e := range whole.Row(i) {
			b = append(b, e)
		}
		if fmt.Sprint(a) != fmt.Sprint(b) || part.ExactTo(i) != whole.ExactTo(i) {
			t.Fatalf("row %d differs:\n%v\n%v", i, a, b)
		}
	}
}

// bigRing is a ring with chords of uneven weight, large enough for several blocks.
func bigRing(t testing.TB, n int) medium {
	rowPtr, col, val := []int{0}, []uint32(nil), []float64(nil)
	for i := range n {
		for _, step := range []int{1, n - 1, 7, n - 7} {
			j := (i + step) % n
			col = append(col, uint32(j))
			val = append(val, 0.2+0.05*float64((i+j)%2))
		}
		rowPtr = append(rowPtr, len(col))
	}
	w, err := sparse.NewCSR(n, n, rowPtr, col, val)
	if err != nil {
		t.Fatal(err)
	}
	return medium{"ring with chords", w, nil}
}

// star is a hub with the given number of neighbours, normalised.
func star(t testing.TB, leaves int) medium {
	n := leaves + 1
	rowPtr, col, val := make([]int, 0, n+1), make([]uint32, 0, 2*leaves), make([]float64, 0, 2*leaves)
	v := 1 / math.Sqrt(float64(leaves))
	rowPtr = append(rowPtr, 0)
	for j := 1; j < n; j++ {
		col, val = append(col, uint32(j)), append(val, v)
	}
	rowPtr = append(rowPtr, len(col))
	scale := []float64{math.Sqrt(float64(leaves))}
	for range leaves {
		col, val, scale = append(col, 0), append(val, v), append(scale, 1)
		rowPtr = append(rowPtr, len(col))
	}
	w, err := sparse.NewCSR(n, n, rowPtr, col, val)
	if err != nil {
		t.Fatal(err)
	}
	return medium{"star", w, scale}
}

// A hub of degree 30,000 is walked from, not expanded, and its rows stay within
// walkers and budget.
func TestHubStaysSparse(t *testing.T) {
	t.Parallel()
	m := star(t, 30_000)
	for _, v := range variants {
		opts := Options{Sampler: v.sampler, Steps: v.steps, Walks: 50, Halt: 0.1, MaxLen: 4, Budget: min(v.budget, 100), Scale: m.scale, Lo: 0,
			Hi: 20}
		f, err := Sample(context.Background(), m.w, opts)
		if err != nil {
			t.Fatal(err)
		}
		for i := range 20 {
			entries := 0
			for range f.Row(i) {
				entries++
			}
			if most := 1 + 4*opts.Walks + 4*opts.Budget; entries > most {
				t.Errorf("%v: row %d has %d entries, at most %d expected", v, i, entries, most)
			}
		}
	}
}

func TestNoHaltingAndNoSteps(t *testing.T) {
	t.Parallel()
	m := normalized(t, "ring", ringAdjacency(5))
	for _, v := range variants {
		f, err := Sample(context.Background(), m.w, Options{Sampler: v.sampler, Steps: v.steps, Walks: 3, Budget: v.budget, Scale: m.scale})
		if err != nil {
			t.Fatal(err)
		}
		if phi, err := f.Combine([]float64{2}); err != nil || phi.NNZ() != 5 || phi.At(3, 3) != 2 {
			t.Errorf("%v: L = 0 gives %v, %v; want twice the identity", v, phi, err)
		}
		f, err = Sample(context.Background(), m.w, Options{
			Sampler: v.sampler, Steps: v.steps, Walks: 3, MaxLen: 40, Budget: v.budget, Scale: m.scale})
		if err != nil {
			t.Fatal(err)
		}
		// Without halting all mass is still there after 40 steps.
		for i := range 5 {
			sum := 0.0
			for e := range f.Row(i) {
				if k := len(e.Lengths) - 1; e.Lengths[k] == 40 {
					sum += float64(e.Values[k])
				}
			}
			if math.Abs(sum-1) > 1e-5 {
				t.Errorf("%v: row %d of Ψ_40 sums to %v, want 1", v, i, sum)
			}
		}
	}
}

// Values beyond float32 are an error, not infinite features.
func TestOverflowIsAnError(t *testing.T) {
	t.Parallel()
	w := fromDense(t, [][]float64{{0, 1e10}, {1e10, 0}})
	for _, v := range variants {
		opts := Options{Sampler: v.sampler, Steps: v.steps, Walks: 3, MaxLen: 6, Budget: v.budget}
		if _, err := Sample(context.Background(), w, opts); !errors.Is(err, ErrOptions) {
			t.Errorf("%v: Sample gave %v", v, err)
		}
		if _, err := Pilot(context.Background(), w, opts, []float64{1}, 2); !errors.Is(err, ErrOptions) {
			t.Errorf("%v: Pilot gave %v", v, err)
		}
	}
}

// The last position of a row never leads into the next one.
func TestSearchStaysInItsRow(t *testing.T) {
	t.Parallel()
	m := smallMedia(t)[3]
	s := newSteps(m.w, Options{Scale: m.scale}, nil)
	for i := range uint32(9) {
		_, end := s.row(i)
		if p := s.search(i, 1); p >= end {
			t.Errorf("node %d: entry %d is beyond %d", i, p, end)
		}
	}
}

func TestOptionsAreChecked(t *testing.T) {
	t.Parallel()
	m := normalized(t, "ring", ringAdjacency(5))
	wide, err := sparse.NewCSR(1, 2, []int{0, 0}, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		w      *sparse.CSR
		change func(*Options)
	}{
		"not square":        {wide, func(*Options) {}},
		"no walks":          {m.w, func(o *Options) { o.Walks = 0 }},
		"too many walks":    {m.w, func(o *Options) { o.Walks = MaxWalks + 1 }},
		"certain halt":      {m.w, func(o *Options) { o.Halt = 1 }},
		"halt not a number": {m.w, func(o *Options) { o.Halt = math.NaN() }},
		"negative length":   {m.w, func(o *Options) { o.MaxLen = -1 }},
		"long walks":        {m.w, func(o *Options) { o.MaxLen = MaxMaxLen + 1 }},
		"huge budget":       {m.w, func(o *Options) { o.Budget = MaxBudget + 1 }},
		"negative budget":   {m.w, func(o *Options) { o.Budget = -1 }},
		"rows reversed":     {m.w, func(o *Options) { o.Lo, o.Hi = 3, 2 }},
		"rows outside":      {m.w, func(o *Options) { o.Hi = 6 }},
		"short scale":       {m.w, func(o *Options) { o.Scale = []float64{1} }},
		"zero scale":        {m.w, func(o *Options) { o.Scale = []float64{1, 1, 0, 1, 1} }},
		"unknown sampler":   {m.w, func(o *Options) { o.Sampler = 7 }},
		"unknown steps":     {m.w, func(o *Options) { o.Steps = -1 }},
	} {
		opts := Default()
		c.change(&opts)
		if _, err := Sample(context.Background(), c.w, opts); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

func TestCancel(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Sample(ctx, bigRing(t, 5000).w, Default()); err != context.Canceled {
		t.Errorf("got %v, want %v", err, context.Canceled)
	}
}

// Once its buffers have grown, a row sampler allocates nothing per row.
func TestRowsDoNotAllocate(t *testing.T) {
	m := bigRing(t, 5000)
	for _, v := range variants {
		opts := Options{Sampler: v.sampler, Steps: v.steps, Walks: 30, Halt: 0.1, MaxLen: 6, Budget: v.budget}
		if err := opts.validate(m.w); err != nil {
			t.Fatal(err)
		}
		p := newRun(m.w, opts)
		s := p.rowSampler()
		rows := func() {
			s.out.empty()
			for i := range uint32(50) {
				s.sample(i, p.key.At(uint64(i)))
			}
		}
		rows()
		if n := testing.AllocsPerRun(5, rows); n != 0 {
			t.Errorf("%v: %v allocations in 50 rows", v, n)
		}
	}
}

// Rows on request are those of a run over all; the others are empty.
func TestSampleRows(t *testing.T) {
	t.Parallel()
	m := bigRing(t, 2500)
	opts := Options{Walks: 7, Budget: 5, MaxLen: 6, Seed: 3, Lo: 100, Hi: 2400}
	all, err := Sample(t.Context(), m.w, opts)
	if err != nil {
		t.Fatal(err)
	}
	some, err := SampleRows(t.Context(), m.w, opts, []int{2399, 100, 1500, 100})
	if err != nil {
		t.Fatal(err)
	}
	for i := opts.Lo; i < opts.Hi; i++ {
		var want, got []string
		for e := range all.Row(i) {
			want = append(want, fmt.Sprint(e))
		}
		for e := range some.Row(i) {
			got = append(got, fmt.Sprint(e))
		}
		if wanted := i == 100 || i == 1500 || i == 2399; wanted && !slices.Equal(got, want) || !wanted && got != nil {
			t.Fatalf("row %d has %v, of all rows it is %v", i, got, want)
		}
	}
	if _, err := SampleRows(t.Context(), m.w, opts, []int{99}); !errors.Is(err, ErrOptions) {
		t.Errorf("a row outside: %v", err)
	}
}
