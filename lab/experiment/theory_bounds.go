package experiment

import (
	"context"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"grfgp/internal/parallel"
	"grfgp/internal/rng"
	"grfgp/kernel"
	"grfgp/kernel/lowrank"
	"grfgp/solve"
	"grfgp/sparse"
	"grfgp/walk"
)

// Observed quantities. The names are part of cached results.
const (
	deviation      = "deviation of a kernel entry that 5 % of runs exceed"
	exceeding      = "share of runs beyond the deviation of chance 5 %"
	nonzeros       = "non-zeros that 5 % of features exceed"
	denser         = "share of features with more non-zeros than the bound of chance 5 %"
	featureSum     = "largest ‖φ(i)‖₁"
	entriesPerNode = "non-zeros of Φ a node"
	condition      = "condition number"
	iterations     = "CG iterations"
	rankKernel     = "relative error of the kernel"
	rankSolve      = "relative error of the solution"
	rankMean       = "relative error of the posterior mean"
)

// concentration observes φ(i)ᵀφ(j) − K_ij for two neighbours over many runs
// (inequality 5).
func (s theorySettings) concentration(ctx context.Context) (*Result, error) {
	m, err := s.prepare()
	if err != nil {
		return nil, err
	}
	i := m.graph.Len() / 2
	j := -1 // the next neighbour by number
	cols, _ := m.w.Row(i)
	for _, k := range cols {
		if int(k) > i && (j < 0 || int(k) < j) {
			j = int(k)
		}
	}
	if j < 0 {
		i, j = int(cols[0]), i
	}
	exact := floats.Dot(exactRow(m.w, m.coeff, i), exactRow(m.w, m.coeff, j))
	off := make([]float64, s.Runs)
	if err := parallel.Blocks(ctx, s.Runs, func(_, run int) error {
		opts := s.options()
		opts.Seed = rng.New(s.Seed, "concentration", uint64(run)).Uint64()
		rows := [2]map[int]float64{}
		for k, node := range []int{i, j} {
			opts.Lo, opts.Hi = node, node+1
			f, err := walk.Sample(ctx, m.w, opts)
			if err != nil {
				return err
			}
			rows[k] = combined(f, node, m.coeff)
		}
		sum := 0.0
		for _, k := range slices.Sorted(maps.Keys(rows[0])) { // fixed order of summation
			sum += rows[0][k] * rows[1][k]
		}
		off[run] = math.Abs(sum - exact)
		return nil
	}); err != nil {
		return nil, err
	}
	n := float64(s.Walks)
	t := math.Sqrt(math.Log(2/s.Chance) * 2 * (2*n - 1) * (2*n - 1) * math.Pow(m.c, 4) / (n * n * n))
	far := 0.0
	for _, v := range off {
		if v > t {
			far += 1 / float64(s.Runs)
		}
	}
	slices.Sort(off)
	return &Result{Rows: []Row{
		s.row(m.graph.Len(), deviation, stat.Quantile(1-s.Chance, stat.Empirical, off, nil), t),
		s.row(m.graph.Len(), exceeding, far, s.Chance),
	}}, nil
}

// exactRow is a row of Ψ = Σ f_l W^l, which is symmetric.
func exactRow(w *sparse.CSR, coeff []float64, i int) []float64 {
	n, _ := w.Dims()
	x, next, psi := mat.NewDense(n, 1, nil), mat.NewDense(n, 1, nil), make([]float64, n)
	x.Set(i, 0, 1)
	for _, f := range coeff {
		floats.AddScaled(psi, f, x.RawMatrix().Data)
		w.Mul(next, x)
		x, next = next, x
	}
	return psi
}

// combined is φ(i) = Σ f_l Ψ_l of one node.
func combined(f *walk.Features, i int, coeff []float64) map[int]float64 {
	phi := map[int]float64{}
	for e := range f.Row(i) {
		for k, l := range e.Lengths {
			phi[e.Node] += coeff[l] * float64(e.Values[k])
		}
	}
	return phi
}

// sparsity counts the non-zeros of features with walks of unlimited length.
func (s theorySettings) sparsity(ctx context.Context) (*Result, error) {
	m, err := s.prepare()
	if err != nil {
		return nil, err
	}
	opts := s.options()
	opts.MaxLen = walk.MaxMaxLen // a walk is longer with probability 2e-12
	f, err := walk.Sample(ctx, m.w, opts)
	if err != nil {
		return nil, err
	}
	n := float64(s.Walks)
	bound := n * math.Log(1-math.Pow(1-s.Chance, 1/n)) / math.Log(1-s.Halt)
	counts, more := make([]float64, m.graph.Len()), 0.0
	for i := range counts {
		for range f.Row(i) {
			counts[i]++
		}
		if counts[i] > bound {
			more += 1 / float64(len(counts))
		}
	}
	slices.Sort(counts)
	return &Result{Rows: []Row{
		s.row(m.graph.Len(), nonzeros, stat.Quantile(1-s.Chance, stat.Empirical, counts, nil), bound),
		s.row(m.graph.Len(), denser, more, s.Chance),
	}}, nil
}

const (
	powerSteps  = 300
	solveTol    = 1e-6
	solveMost   = 20_000
	repetitions = 5                      // of a timed product; the fastest counts
	patience    = 100 * time.Millisecond // time for which short solves are repeated; the fastest counts
)

// conditioning observes the norms of features, the condition number of K̂ + σ²I, the time
// of a product, and iterations and time of a solve.
func (s theorySettings) conditioning(ctx context.Context) (*Result, error) {
	m, err := s.prepare()
	if err != nil {
		return nil, err
	}
	f, err := walk.Sample(ctx, m.w, s.options())
	if err != nil {
		return nil, err
	}
	nodes := m.graph.Len()
	phi, err := f.Combine(m.coeff)
	if err != nil {
		return nil, err
	}
	widest := 0.0
	for i := range nodes {
		_, vals := phi.Row(i)
		widest = max(widest, floats.Norm(vals, 1))
	}
	op, err := s.operator(f)
	if err != nil {
		return nil, err
	}
	top, seconds, err := largest(ctx, op, s.Seed)
	if err != nil {
		return nil, err
	}
	// σ² is at most the smallest eigenvalue, and top is below the largest by the error of
	// the power method, a relative 1e-7 per step.
	kappa, promised := (top+s.Noise)/s.Noise, 1+float64(nodes)*m.c*m.c/s.Noise
	noise, b := slices.Repeat([]float64{s.Noise}, nodes), gaussian(nodes, s.Seed)
	var stats solve.Stats
	solved := math.Inf(1)
	for begin := time.Now(); math.IsInf(solved, 1) || time.Since(begin) < patience; {
		start := time.Now()
		opts := solve.Options{Tol: solveTol, MaxIter: solveMost}
		if stats, err = solve.CG(ctx, mat.NewDense(nodes, 1, nil), op, noise, b, nil, opts); err != nil {
			return nil, err
		}
		solved = min(solved, time.Since(start).Seconds())
	}
	r := &Result{Rows: []Row{
		s.row(nodes, featureSum, widest, m.c),
		s.row(nodes, entriesPerNode, float64(f.Size().Entries)/float64(nodes), math.NaN()),
		s.row(nodes, condition, kappa, promised),
		s.row(nodes, iterations, float64(stats.Iterations), iterationBound(promised)),
	}}
	r.Rows[1]["seconds"], r.Rows[3]["seconds"] = seconds, solved
	return r, nil
}

// iterationBound bounds the iterations that reduce the residual to solveTol:
// 2√κ ((√κ−1)/(√κ+1))^k ≤ tol after ½√κ ln(2√κ/tol) of them.
func iterationBound(kappa float64) float64 {
	root := math.Sqrt(kappa)
	return math.Ceil(root / 2 * math.Log(2*root/solveTol))
}

// operator is K̂ over all nodes.
func (s theorySettings) operator(f *walk.Features) (solve.Operator, error) {
	k, err := kernel.NewGRF(f, kernel.Diffusion{})
	if err != nil {
		return nil, err
	}
	cov, err := k.At([]float64{1, s.Beta})
	if err != nil {
		return nil, err
	}
	all := allNodes(f.Nodes())
	return cov.Cross(all, all), nil
}

// gaussian returns a random right-hand side.
func gaussian(n int, seed uint64) *mat.Dense {
	random, b := rand.New(rng.New(seed, "theory right-hand side")), mat.NewDense(n, 1, nil)
	for i := range n {
		b.Set(i, 0, random.NormFloat64())
	}
	return b
}

// largest returns a lower bound of the largest eigenvalue, by the power method, and the
// shortest time of a product.
func largest(ctx context.Context, op solve.Operator, seed uint64) (value, seconds float64, err error) {
	n, _ := op.Dims()
	x, y := gaussian(n, seed), mat.NewDense(n, 1, nil)
	seconds = math.Inf(1)
	for step := range powerSteps {
		x.Scale(1/mat.Norm(x, 2), x)
		start := time.Now()
		if err := op.Apply(ctx, y, x); err != nil {
			return 0, 0, err
		}
		if step < repetitions {
			seconds = min(seconds, time.Since(start).Seconds())
		}
		next := mat.Norm(y, 2)
		if step > 20 && next-value < 1e-7*next {
			return next, seconds, nil
		}
		value = next
		x, y = y, x
	}
	return value, seconds, nil
}

// woodbury compares K₁K₁ᵀ with K̂, and the solution by the Woodbury formula with that of
// conjugate gradients.
func (s theorySettings) woodbury(ctx context.Context) (*Result, error) {
	m, err := s.prepare()
	if err != nil {
		return nil, err
	}
	f, err := walk.Sample(ctx, m.w, s.options())
	if err != nil {
		return nil, err
	}
	op, err := s.operator(f)
	if err != nil {
		return nil, err
	}
	nodes := m.graph.Len()
	noise, b := slices.Repeat([]float64{s.Noise}, nodes), gaussian(nodes, s.Seed)
	if err := s.measure(ctx, f, b); err != nil {
		return nil, err
	}
	exact, rough := mat.NewDense(nodes, 1, nil), mat.NewDense(nodes, 1, nil)
	if _, err := solve.CG(ctx, exact, op, noise, b, nil, solve.Options{Tol: 1e-10, MaxIter: solveMost}); err != nil {
		return nil, err
	}
	low, err := lowrank.New(f, kernel.Diffusion{}, lowrank.Options{Dim: s.Rank, Seed: s.Seed})
	if err != nil {
		return nil, err
	}
	cov, err := low.At([]float64{1, s.Beta})
	if err != nil {
		return nil, err
	}
	all := allNodes(nodes)
	start := time.Now()
	projected := cov.Cross(all, all)
	inverse, err := kernel.AbilitiesOf(cov).Precondition(ctx, all, 0, noise)
	if err != nil {
		return nil, err
	}
	defer inverse.Free()
	if _, err := solve.CG(ctx, rough, projected, noise, b, inverse, solve.DefaultOptions()); err != nil {
		return nil, err
	}
	seconds := time.Since(start).Seconds()
	// K̂v and K₁K₁ᵀv, which are b − σ²v each.
	var mean, wrong mat.Dense
	mean.Scale(-s.Noise, exact)
	mean.Add(&mean, b)
	rough.Sub(rough, exact)
	wrong.Scale(s.Noise, rough)
	observed, expected, err := projectionError(ctx, op, projected, s.Rank)
	if err != nil {
		return nil, err
	}
	r := &Result{Rows: []Row{
		s.row(nodes, rankKernel, observed, expected),
		s.row(nodes, rankSolve, mat.Norm(rough, 2)/mat.Norm(exact, 2), math.NaN()),
		s.row(nodes, rankMean, mat.Norm(&wrong, 2)/mat.Norm(&mean, 2), math.NaN()),
	}}
	r.Rows[1]["seconds"] = seconds
	return r, nil
}

// measure turns b, standard normal numbers, into noisy measurements of a prior draw.
func (s theorySettings) measure(ctx context.Context, f *walk.Features, b *mat.Dense) error {
	k, err := kernel.NewGRF(f, kernel.Diffusion{})
	if err != nil {
		return err
	}
	cov, err := k.At([]float64{1, s.Beta})
	if err != nil {
		return err
	}
	draw := mat.NewDense(f.Nodes(), 1, nil)
	if err := cov.Prior(ctx, draw, s.Seed); err != nil {
		return err
	}
	b.Scale(math.Sqrt(s.Noise), b)
	b.Add(b, draw)
	return nil
}

// projectionError returns ‖K₁K₁ᵀ − K̂‖/‖K̂‖ in the Frobenius norm, and its expectation
// for a Gaussian projection: E‖K₁K₁ᵀ − K̂‖² = (‖K̂‖² + (tr K̂)²)/m.
func projectionError(ctx context.Context, full, projected solve.Operator, rank int) (observed, expected float64, err error) {
	n, _ := full.Dims()
	const columns = 64
	whole, difference, trace := 0.0, 0.0, 0.0
	for lo := 0; lo < n; lo += columns {
		k := min(columns, n-lo)
		unit, a, b := mat.NewDense(n, k, nil), mat.NewDense(n, k, nil), mat.NewDense(n, k, nil)
		for c := range k {
			unit.Set(lo+c, c, 1)
		}
		if err := full.Apply(ctx, a, unit); err != nil {
			return 0, 0, err
		}
		if err := projected.Apply(ctx, b, unit); err != nil {
			return 0, 0, err
		}
		for c := range k {
			trace += a.At(lo+c, c)
		}
		whole += sumSquares(a)
		b.Sub(b, a)
		difference += sumSquares(b)
	}
	return math.Sqrt(difference / whole), math.Sqrt((whole + trace*trace) / float64(rank) / whole), nil
}

func sumSquares(m *mat.Dense) float64 {
	v := mat.Norm(m, 2)
	return v * v
}
