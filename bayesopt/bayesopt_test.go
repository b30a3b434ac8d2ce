package bayesopt_test

import (
	"cmp"
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat/distuv"

	"grfgp/bayesopt"
	"grfgp/gp"
	"grfgp/graph"
	"grfgp/internal/rng"
	"grfgp/internal/testkit"
	"grfgp/kernel"
	"grfgp/walk"
)

var background = context.Background()

func must[V any](v V, err error) V {
	if err != nil {
		panic(err)
	}
	return v
}

// dense is the exact diffusion kernel of a graph.
func dense(g *graph.Graph) kernel.Kernel {
	return must(kernel.NewDense(g.Normalized(graph.NormalizedAdjacency), kernel.Diffusion{}))
}

// grf is the same kernel by random features of few walks.
func grf(g *graph.Graph, hops, walks int) kernel.Kernel {
	return features(g, hops, walks, walk.Default().HubWalks)
}

func features(g *graph.Graph, hops, walks int, hubWalks float64) kernel.Kernel {
	opts := walk.Default()
	opts.MaxLen, opts.Walks, opts.Budget, opts.HubWalks = hops, walks, 2*walks, hubWalks
	opts.Scale = g.WalkScale(graph.NormalizedAdjacency)
	f := must(walk.Sample(background, g.Normalized(graph.NormalizedAdjacency), opts))
	return must(kernel.NewGRF(f, kernel.Diffusion{}))
}

// model has the given variance, length scale and noise, all standardised.
func model(k kernel.Kernel, variance, beta, noise float64) *gp.Model {
	return must(gp.NewModel(k, gp.State{Theta: []float64{variance, beta}, Noise: noise, Units: gp.Units{Center: 0, Scale: 1},
		Solver: gp.Exact}))
}

func all(n int) []int {
	nodes := make([]int, n)
	for i := range nodes {
		nodes[i] = i
	}
	return nodes
}

func candidates(of int, nodes []int, l bayesopt.Limits) *bayesopt.Candidates {
	return must(bayesopt.NewCandidates(of, nodes, l, nil))
}

func nodesOf(picks []bayesopt.Suggestion) []int {
	var nodes []int
	for _, p := range picks {
		nodes = append(nodes, p.Node)
	}
	return nodes
}

// posterior returns a small posterior with some measurements.
func posterior(t testing.TB, k kernel.Kernel, count int, seed uint64) *gp.Posterior {
	t.Helper()
	random := rand.New(rng.New(seed, "bayesopt test"))
	d := gp.Data{}
	for _, i := range random.Perm(k.Nodes())[:count] {
		d.Nodes, d.Y = append(d.Nodes, i), append(d.Y, random.NormFloat64())
	}
	return must(model(k, 1, 4, 0.05).Condition(background, d))
}

// Thompson sampling picks each node with the probability that it is the best.
// Over 20,000 seeds, compared with probabilities from 200,000 draws by a dense
// formula, χ² is below its 0.999 quantile. Nodes that are rarely the best are
// counted together.
func TestThompsonPicksByTheChanceOfBeingBest(t *testing.T) {
	t.Parallel()
	testkit.Unraced(t)
	k := dense(must(graph.Grid(3, 4)))
	p := posterior(t, k, 4, 1)
	n := k.Nodes()
	mean := must(p.Mean(background, all(n)))
	cov := must(p.Covariance(background, all(n), all(n)))
	sym := mat.NewSymDense(n, nil)
	for i := range n {
		for j := i; j < n; j++ {
			sym.SetSym(i, j, cov.At(i, j))
		}
		sym.SetSym(i, i, cov.At(i, i)+1e-12)
	}
	var chol mat.Cholesky
	if !chol.Factorize(sym) {
		t.Fatal("no factor")
	}
	var l mat.TriDense
	chol.LTo(&l)
	const wanted, seeds = 200_000, 20_000
	chance := make([]float64, n)
	random := rand.New(rng.New(2, "formula"))
	w := make([]float64, n)
	for range wanted {
		for i := range w {
			w[i] = random.NormFloat64()
		}
		best, most := 0, math.Inf(-1)
		for i := range n {
			v := mean[i]
			for j := range i + 1 {
				v += l.At(i, j) * w[j]
			}
			if v > most {
				best, most = i, v
			}
		}
		chance[best] += 1.0 / wanted
	}
	count := make([]float64, n)
	for seed := range uint64(seeds) {
		picks := must(bayesopt.Thompson{}.Pick(background, p, candidates(n, all(n), bayesopt.Limits{}), 1, seed))
		count[picks[0].Node]++
	}
	rarest := all(n)
	slices.SortFunc(rarest, func(a, b int) int { return cmp.Compare(chance[a], chance[b]) })
	chi2, cells, got, want := 0.0, 0, 0.0, 0.0
	for _, i := range rarest {
		if got, want = got+count[i], want+seeds*chance[i]; want < 10 {
			continue
		}
		// The chances themselves have an error: seeds/wanted of this.
		chi2 += (got - want) * (got - want) / want / (1 + float64(seeds)/wanted)
		cells, got, want = cells+1, 0, 0
	}
	bound := distuv.ChiSquared{K: float64(cells - 1)}.Quantile(0.999)
	t.Logf("χ² %.1f of %d cells; chances %.3f", chi2, cells, chance)
	if chi2 > bound || cells < 6 {
		t.Errorf("χ² is %.1f of %d cells, want less than %.1f: counts %v, chances %.4f", chi2, cells, bound, count, chance)
	}
}

// A batch consists of distinct nodes from separate draws: the first picks do not
// depend on the size of the batch.
func TestBatches(t *testing.T) {
	t.Parallel()
	g := must(graph.Grid(6, 6))
	p := posterior(t, dense(g), 8, 3)
	for _, name := range bayesopt.PolicyNames() {
		policy := must(bayesopt.PolicyNamed(name, bayesopt.Threshold(0.3), g.Adjacency()))
		pick := func(n int) []int {
			return nodesOf(must(policy.Pick(background, p, candidates(36, all(36), bayesopt.Limits{}), n, 5)))
		}
		many := pick(20)
		seen := map[int]bool{}
		for _, i := range many {
			if seen[i] {
				t.Errorf("%s: node %d twice in %v", name, i, many)
			}
			seen[i] = true
		}
		if len(many) != 20 {
			t.Errorf("%s: %d picks", name, len(many))
		}
		for k, i := range pick(3) {
			if many[k] != i {
				t.Errorf("%s: pick %d is %d of three and %d of twenty", name, k, i, many[k])
			}
		}
		if every := pick(50); len(every) != 36 {
			t.Errorf("%s: %d picks of 36 candidates", name, len(every))
		}
	}
}

// Greedy picks by covariances equal those from conditioning on each candidate in
// turn and summing exact variances, also if candidates are compared in rounds,
// and with costs.
func TestVarianceReductionEqualsBruteForce(t *testing.T) {
	t.Parallel()
	g := must(graph.Grid(5, 6))
	k := dense(g)
	n := k.Nodes()
	start := posterior(t, k, 6, 4)
	costs := make([]float64, n)
	for i := range costs {
		costs[i] = 1 + float64(i%3)
	}
	total := func(p *gp.Posterior) float64 {
		sum := 0.0
		for _, v := range must(p.Variance(background, all(n))) {
			sum += v
		}
		return sum
	}
	for what, l := range map[string]bayesopt.Limits{"no costs": {}, "costs": {Cost: costs}} {
		p := start
		var want []int
		var falls []float64
		for range 5 {
			before := total(p)
			best, most := -1, -1.0
			var after *gp.Posterior
			for i := range n {
				q := must(p.Condition(background, gp.Data{Nodes: []int{i}, Y: []float64{0}}))
				fall := before - total(q)
				if l.Cost != nil {
					fall /= l.Cost[i]
				}
				taken := false
				for _, j := range want {
					taken = taken || i == j
				}
				if !taken && fall > most {
					best, most, after = i, fall, q
				}
			}
			want, falls, p = append(want, best), append(falls, before-total(after)), after
		}
		for _, pool := range []int{0, n} {
			picks := must(bayesopt.WithPool(pool).Pick(background, start, candidates(n, all(n), l), 5, 1))
			for r, p := range picks {
				if p.Node != want[r] || math.Abs(p.Value*float64(n)-falls[r]) > 1e-9 {
					t.Errorf("%s: pick %d is node %d for %v, want %d for %v", what, r, p.Node, p.Value*float64(n), want[r], falls[r])
				}
			}
		}
	}
	// In rounds of one: what was picked before is conditioned on.
	picks := must(bayesopt.WithPool(7).Pick(background, start, candidates(n, all(n), bayesopt.Limits{}), 6, 1))
	p := start
	for _, c := range picks {
		q := must(p.Condition(background, gp.Data{Nodes: []int{c.Node}, Y: []float64{0}}))
		if fall := total(p) - total(q); math.Abs(fall-c.Value*float64(n)) > 1e-9 {
			t.Errorf("node %d takes %v from the variance, not %v", c.Node, fall, c.Value*float64(n))
		}
		p = q
	}
}

// Ten picks of VarianceReduction leave less variance than ten of HighestVariance,
// and far less than ten random picks.
func TestLearningBeatsBaselines(t *testing.T) {
	t.Parallel()
	g := must(graph.Grid(12, 12))
	p := posterior(t, dense(g), 6, 9)
	left := func(policy bayesopt.Policy) float64 {
		picks := nodesOf(must(policy.Pick(background, p, candidates(144, all(144), bayesopt.Limits{}), 10, 1)))
		sum := 0.0
		for _, v := range must(must(p.Condition(background, gp.Data{Nodes: picks, Y: make([]float64, 10)})).Variance(background, all(144))) {
			sum += v
		}
		return sum
	}
	learn, variance, random := left(bayesopt.VarianceReduction{}), left(bayesopt.HighestVariance{}), left(bayesopt.Random{})
	t.Logf("total variance left: %.2f by learning, %.2f by highest variance, %.2f at random", learn, variance, random)
	if learn >= variance || learn >= random {
		t.Errorf("%v by learning, %v by highest variance, %v at random", learn, variance, random)
	}
}

// The variances that lookahead computes from columns of the covariance equal
// those of posteriors conditioned on the picks.
func TestRankedBatchesEqualConditioning(t *testing.T) {
	t.Parallel()
	g := must(graph.Grid(5, 6))
	p := posterior(t, dense(g), 6, 6)
	picks := must(bayesopt.HighestVariance{}.Pick(background, p, candidates(30, all(30), bayesopt.Limits{}), 8, 0))
	for r, c := range picks {
		v := must(p.Variance(background, all(30)))
		most := 0.0
		for _, one := range v {
			most = max(most, one)
		}
		if math.Abs(c.Value-v[c.Node]) > 1e-9 || most-v[c.Node] > 1e-9 {
			t.Errorf("pick %d, node %d, has a variance of %v, is said to have %v, and the highest is %v", r, c.Node, v[c.Node], c.Value, most)
		}
		p = must(p.Condition(background, gp.Data{Nodes: []int{c.Node}, Y: []float64{0}}))
	}
}

// Scores agree with their formulas, on numbers small enough to check by hand.
func TestScores(t *testing.T) {
	t.Parallel()
	g := must(graph.Grid(4, 4))
	p := posterior(t, dense(g), 5, 7)
	nodes := all(16)
	mean, variance := must(p.Mean(background, nodes)), must(p.Variance(background, nodes))
	best := math.Inf(-1)
	for _, i := range p.Measured() {
		best = max(best, mean[i])
	}
	random := rand.New(rng.New(1, "improvement"))
	z := make([]float64, 100_000)
	for k := range z {
		z[k] = random.NormFloat64()
	}
	argmax := func(score func(i int) float64) (int, float64) {
		at := 0
		for i := range nodes {
			if score(i) > score(at) {
				at = i
			}
		}
		return at, score(at)
	}
	for _, c := range []struct {
		policy bayesopt.Policy
		score  func(i int) float64
		tol    float64
	}{
		{bayesopt.UCB{}, func(i int) float64 { return mean[i] + 2*math.Sqrt(variance[i]) }, 1e-12},
		{bayesopt.UCB{Minimize: true, Beta: 1}, func(i int) float64 { return -mean[i] + math.Sqrt(variance[i]) }, 1e-12},
		{bayesopt.Straddle{Level: 0.2}, func(i int) float64 { return 1.96*math.Sqrt(variance[i]) - math.Abs(mean[i]-0.2) }, 1e-12},
		{bayesopt.ExpectedImprovement{}, func(i int) float64 {
			sum := 0.0
			for _, v := range z {
				sum += max(0, mean[i]+math.Sqrt(variance[i])*v-best)
			}
			return sum / float64(len(z))
		}, 5 / math.Sqrt(100_000)},
	} {
		node, value := argmax(c.score)
		pick := must(c.policy.Pick(background, p, candidates(16, nodes, bayesopt.Limits{}), 1, 0))[0]
		if pick.Node != node || math.Abs(pick.Value-value) > c.tol {
			t.Errorf("%T picks node %d for %v, want %d for %v", c.policy, pick.Node, pick.Value, node, value)
		}
	}
}

func TestBaselines(t *testing.T) {
	t.Parallel()
	//	0 - 1 - 2 - 3   and a star round 4: 5, 6, 7
	var e graph.Edges
	for _, uv := range [][2]uint32{{0, 1}, {1, 2}, {2, 3}, {4, 5}, {4, 6}, {4, 7}} {
		e.U, e.V = append(e.U, uv[0]), append(e.V, uv[1])
	}
	g, _, err := graph.FromEdges(graph.NumberIDs(8), e, graph.BuildOptions{})
	if err != nil {
		t.Fatal(err)
	}
	k := dense(g)
	d := gp.Data{Nodes: []int{1, 4}, Y: []float64{0, 1}}
	p := must(model(k, 1, 2, 0.1).Condition(background, d))
	pick := func(name string, n int) []int {
		policy := must(bayesopt.PolicyNamed(name, bayesopt.Maximize, g.Adjacency()))
		if _, ok := policy.(bayesopt.ModelFree); !ok {
			t.Errorf("%s needs a model", name)
		}
		return nodesOf(must(policy.Pick(background, p, candidates(8, []int{0, 2, 3, 5, 6, 7}, bayesopt.Limits{}), n, 3)))
	}
	for name, want := range map[string][]int{
		"bfs":    {0, 2, 5, 6, 7, 3},
		"dfs":    {5, 6, 7, 0, 2, 3},
		"degree": {2, 0, 3, 5, 6, 7},
	} {
		got := pick(name, 6)
		for r := range want {
			if got[r] != want[r] {
				t.Errorf("%s visits %v, want %v", name, got, want)
				break
			}
		}
	}
	if got := pick("random", 9); len(got) != 6 {
		t.Errorf("random picks %v of six", got)
	}
	// Nothing measured: a random start, then its neighbours.
	o := must(bayesopt.New(bayesopt.Train(k, gp.FitOptions{}), bayesopt.Options{Policy: bayesopt.BreadthFirst{Graph: g.Adjacency()}, Seed: 1}))
	nodes, short, err := o.Next(background, bayesopt.Request{Count: 20})
	if err != nil || len(nodes) != 8 || short != bayesopt.NoNodesLeft {
		t.Errorf("%v, %q, %v", nodes, short, err)
	}
}

// With costs, random picks are in proportion to 1/cost: of 6,000 first picks, the
// share of the cheap node is 1/(1+¼) within 5 standard errors.
func TestRandomByCost(t *testing.T) {
	t.Parallel()
	const n = 6000
	cheap := 0
	for seed := range uint64(n) {
		c := candidates(2, all(2), bayesopt.Limits{Cost: []float64{1, 4}})
		if must(bayesopt.Random{}.Pick(background, nil, c, 1, seed))[0].Node == 0 {
			cheap++
		}
	}
	if share := float64(cheap) / n; math.Abs(share-0.8) > 5*math.Sqrt(0.8*0.2/n) {
		t.Errorf("the cheap node has a share of %v", share)
	}
}

// On a graph too large to compare all candidates over all nodes, the best candidates
// over one sample of nodes are compared over another sample. The estimated reduction
// of the mean variance is right within 30 %, and the reduction is at least three
// quarters of that of the best of the same candidates. A kernel of few hops is the
// hardest case, because a sample contains few of the nodes that a pick affects.
func TestVarianceReductionOverASample(t *testing.T) {
	t.Parallel()
	testkit.Unraced(t)
	side := testkit.Size(130, 180) // more nodes than the last comparison has
	p := posterior(t, grf(must(graph.Grid(side, side)), 10, 50), 100, 1)
	nodes := all(side * side)
	picks := must(bayesopt.VarianceReduction{}.Pick(background, p, candidates(len(nodes), nodes, bayesopt.Limits{}), 5, 1))
	if len(picks) != 5 {
		t.Fatalf("%d picks, want 5", len(picks))
	}
	variance := func(p *gp.Posterior) (sum float64) {
		for _, v := range must(p.Variance(background, nodes)) {
			sum += v / float64(len(nodes))
		}
		return sum
	}
	after := must(p.Condition(background, gp.Data{Nodes: nodesOf(picks), Y: make([]float64, len(picks))}))
	said, got := 0.0, variance(p)-variance(after)
	for _, c := range picks {
		said += c.Value
	}
	if math.Abs(said/got-1) > 0.3 {
		t.Errorf("the mean variance falls by %.5g, said was %.5g", got, said)
	}
	best := 0.0
	for _, c := range must(bayesopt.WithPool(251).Pick(background, p, candidates(len(nodes), nodes, bayesopt.Limits{}), 5, 1)) {
		best += c.Value
	}
	if got < 0.75*best {
		t.Errorf("the mean variance falls by %.5g, by %.5g with the best of the same candidates", got, best)
	}
}

// drawn is a surrogate whose draws and means are known.
type drawn struct {
	bayesopt.Surrogate
	measured []int
	values   []float64
}

func (d drawn) Nodes() int      { return len(d.values) }
func (d drawn) Measured() []int { return d.measured }
func (d drawn) Mean(_ context.Context, nodes []int) ([]float64, error) {
	mean := make([]float64, len(nodes))
	for k, i := range nodes {
		mean[k] = d.values[i]
	}
	return mean, nil
}
func (d drawn) Sample(_ context.Context, nodes []int, draws int, _ uint64) (*mat.Dense, error) {
	s := mat.NewDense(len(nodes), draws, nil)
	for k, i := range nodes {
		for c := range draws {
			s.Set(k, c, d.values[i])
		}
	}
	return s, nil
}

// With costs, the gain is the draw less the best mean of a measured node, here 10: a
// gain of 15 at cost 10 comes before a gain of 1 at cost 1, and that before no gain.
func TestThompsonGainsPerCost(t *testing.T) {
	t.Parallel()
	values, cost := []float64{10, 11, 25, 9.5, 3}, []float64{1, 1, 10, 1, 1}
	for _, least := range []bool{false, true} {
		s := drawn{measured: []int{0, 4}, values: slices.Clone(values)}
		if least {
			for i, v := range values {
				s.values[i] = -v
			}
		}
		picks := must(bayesopt.Thompson{Minimize: least}.Pick(background, s, candidates(5, []int{1, 2, 3}, bayesopt.Limits{Cost: cost}), 3, 1))
		if got := nodesOf(picks); !slices.Equal(got, []int{2, 1, 3}) {
			t.Errorf("least %v: picked %v", least, got)
		}
	}
}
