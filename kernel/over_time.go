package kernel

import (
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"grfgp/internal/rng"
)

// OverTime returns the kernel of a function of node and period: k on the nodes,
// times an autoregression over the periods, whose positions in time are given in
// increasing order. With N nodes, node i in period p is number p·N + i, and
//
//	K[(i, p), (j, q)] = k(i, j)·ρ(t_p, t_q),  ρ(t, t′) = (1 + c·exp(−|t − t′|/τ))/(1 + c).
//
// So a function is the sum of one that stays and one that changes: a first-order
// autoregression (Matérn-½) in which a value is forgotten over the time scale τ.
// The ratio c of their variances is time/change, τ is time/scale; both follow the
// parameters of k. The variance at any one period is that of k.
//
// The cost of products, draws and gradients is linear in the number of periods,
// by recursion along time. OverTime panics unless times are finite and increasing.
func OverTime(k Kernel, times []float64) Kernel {
	if len(times) == 0 {
		panic("kernel: no periods")
	}
	for p, t := range times {
		if math.IsNaN(t) || math.IsInf(t, 0) || p > 0 && !(t > times[p-1]) {
			panic(fmt.Sprintf("kernel: times %v are not finite and increasing", times))
		}
	}
	gap := 1.0 // of periods, in the mean
	if n := len(times); n > 1 {
		gap = times[n-1]/float64(n-1) - times[0]/float64(n-1)
	}
	params := append(slices.Clone(k.Params()),
		Param{Name: "time/scale", Start: startGaps * gap, Positive: true},
		Param{Name: "time/change", Start: 1, Positive: true})
	return &overTime{k, slices.Clone(times), params, false}
}

// EachPeriod returns the kernel of independent functions, one for each of so many
// periods, with the same kernel k on nodes and the same hyperparameters, those of k:
//
//	K[(i, p), (j, q)] = k(i, j) if p = q, and 0 otherwise.
//
// Numbers are those of OverTime, of which it is the limit where everything changes at
// once. It panics without a period.
func EachPeriod(k Kernel, periods int) Kernel {
	if periods < 1 {
		panic("kernel: no periods")
	}
	times := make([]float64, periods)
	for p := range times {
		times[p] = float64(p)
	}
	return &overTime{k, times, k.Params(), true}
}

// atOnce is a time scale on which nothing is left after a gap of one: exp(−1000) is 0.
const atOnce = 1e-3

// startGaps is the number of mean gaps between periods after which a function has
// changed by much, before the data say more.
const startGaps = 4

// timeParams is the number of parameters of the time.
const timeParams = 2

type overTime struct {
	kernel Kernel
	times  []float64
	params []Param
	apart  bool // periods are independent: there are no parameters of time
}

// own returns the number of parameters of the kernel on nodes.
func (k *overTime) own() int {
	if k.apart {
		return len(k.params)
	}
	return len(k.params) - timeParams
}

func (k *overTime) Nodes() int      { return k.kernel.Nodes() * len(k.times) }
func (k *overTime) Params() []Param { return k.params }

// At returns the covariance at theta.
func (k *overTime) At(theta []float64) (Covariance, error) {
	if err := checkTheta(theta, k.params); err != nil {
		return nil, err
	}
	own := k.own()
	graph, err := k.kernel.At(theta[:own])
	if err != nil {
		return nil, err
	}
	c := &timeCovariance{overTime: k, graph: graph, scale: atOnce, changes: 1}
	c.byRoot = byRoot{k, slices.Clone(theta), c}
	if k.apart {
		return c, nil
	}
	c.scale, c.stays = theta[own], 1/(1+theta[own+1])
	c.changes = theta[own+1] * c.stays
	return c, nil
}

// Training is that of the kernel on nodes, whose cache serves the distinct nodes, and
// parts of tables.
func (k *overTime) Training() Training {
	own := TrainingOf(k.kernel)
	t := Training{Patches: k.patches, Tabular: k.tabular}
	for _, theta := range own.Starts {
		t.Starts = append(t.Starts, append(slices.Clone(theta), startOf(k.params)[len(theta):]...))
	}
	if own.Cache != nil {
		t.Cache = func(rows []int, maxBytes int) Kernel {
			return &overTime{own.Cache(k.list(rows).nodes, maxBytes), k.times, k.params, k.apart}
		}
		t.CacheBytes = own.CacheBytes
	}
	return t
}

// timeCovariance is an overTime at one theta.
type timeCovariance struct {
	*overTime
	byRoot
	graph          Covariance // on nodes
	scale          float64    // τ
	stays, changes float64    // shares of the variance: 1/(1+c), c/(1+c)
}

// decay returns exp(−gap/τ) and its derivative by τ.
func (c *timeCovariance) decay(gap float64) (a, slope float64) {
	x := gap / c.scale
	a = math.Exp(-x)
	return a, a * x / c.scale
}

// Diag is that of the kernel on nodes, whatever the period.
func (c *timeCovariance) Diag(ctx context.Context, dst []float64, rows []int) error {
	l := c.list(rows)
	own := make([]float64, len(l.nodes))
	if err := c.graph.Diag(ctx, own, l.nodes); err != nil {
		return err
	}
	for a, i := range l.node {
		dst[a] = own[i]
	}
	return nil
}

// periodSeed is the seed of the innovations of a period.
func periodSeed(seed uint64, p int) uint64 {
	return uint64(rng.Derive(seed, fmt.Sprintf("period %d", p)))
}

// innovation returns the factors of h_(p−1) and of e_p in h_p.
func (c *timeCovariance) innovation(p int) (before, new float64) {
	if p == 0 {
		return 0, 1
	}
	x := (c.times[p] - c.times[p-1]) / c.scale
	return math.Exp(-x), math.Sqrt(-math.Expm1(-2 * x))
}

// accumulate turns the innovations e_p in the periods of x into the sum of what
// stays and what changes. The rows of a period are as many as still has.
func (c *timeCovariance) accumulate(x, still *mat.Dense) {
	n, columns := still.Dims()
	for p := range c.times {
		before, new := c.innovation(p)
		everyRow(n, 256, func(i int) {
			row := x.RawRowView(p*n + i)
			if p == 0 {
				return
			}
			for s, v := range x.RawRowView((p-1)*n + i) {
				row[s] = before*v + new*row[s]
			}
		})
	}
	stays, changes := math.Sqrt(c.stays), math.Sqrt(c.changes)
	everyRow(n*len(c.times), 256, func(r int) {
		row := x.RawRowView(r)[:columns]
		for s, v := range still.RawRowView(r % n) {
			row[s] = stays*v + changes*row[s]
		}
	})
}

// randomStreams implements streamed.
func (c *timeCovariance) randomStreams() []string { return streamsOf(c.graph) }

// Abilities are the cost of the diagonal, the factor of a table and what is connected.
// Periods are far apart in the numbering, so K is of long range. A preconditioner of
// the kernel on nodes is none of K, and its features are those of another matrix.
func (c *timeCovariance) Abilities() Abilities {
	own := AbilitiesOf(c.graph)
	a := Abilities{LongRange: own.LongRange || len(c.times) > 1, Everywhere: own.Everywhere, Factor: c.factor, Approximate: c.approximate}
	if own.DiagFlops != nil {
		a.DiagFlops = func(rows int) float64 { return own.DiagFlops(min(rows, c.kernel.Nodes())) }
	}
	if own.Connected != nil {
		a.Connected = c.connected
	}
	return a
}

// connected is Connected on nodes: of independent periods, period by period.
func (c *timeCovariance) connected(ctx context.Context, rows, cols []int) ([]bool, error) {
	n := c.kernel.Nodes()
	in := func(numbers []int, p int) (nodes, places []int) {
		for a, r := range numbers {
			if !c.apart || r/n == p {
				nodes, places = append(nodes, r%n), append(places, a)
			}
		}
		return nodes, places
	}
	all, periods := make([]bool, len(rows)), 1
	if c.apart {
		periods = len(c.times)
	}
	for p := range periods {
		own, places := in(rows, p)
		others, _ := in(cols, p)
		connected, err := Connected(ctx, c.graph, own, others)
		if err != nil {
			return nil, err
		}
		for k, a := range places {
			all[a] = connected[k]
		}
	}
	return all, nil
}
