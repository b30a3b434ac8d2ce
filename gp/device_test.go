package gp

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"grfgp/graph"
	"grfgp/internal/gpu"
	"grfgp/internal/rng"
	"grfgp/kernel"
	"grfgp/walk"
	"math/rand/v2"
)

// cardKernels are kernels that a card can compute, on a ring of 2,000 nodes.
func cardKernels(t *testing.T) map[string]kernel.Kernel {
	t.Helper()
	ring := step[*graph.Graph](t)(graph.Ring(2000))
	sample := func(g *graph.Graph) *walk.Features {
		opts := walk.Default()
		opts.MaxLen, opts.Scale = 5, g.WalkScale(graph.NormalizedAdjacency)
		return step[*walk.Features](t)(walk.Sample(background, g.Normalized(graph.NormalizedAdjacency), opts))
	}
	fine := step[*kernel.GRF](t)(kernel.NewGRF(sample(ring), kernel.Diffusion{}))
	var scales []kernel.Scale
	for _, l := range ring.Coarsen(60) {
		scales = append(scales, kernel.Scale{Prolong: l.Prolong, Features: sample(l.Graph)})
	}
	return map[string]kernel.Kernel{"one scale": fine,
		"many scales": step[*kernel.Multiscale](t)(kernel.NewMultiscale(fine, kernel.Diffusion{}, scales, kernel.MultiscaleOptions{}))}
}

// cardData measures a smooth function at 60 % of the nodes, one of them twice.
func cardData(n int) Data {
	random := rand.New(rng.New(1, "card"))
	var d Data
	for i := range n {
		if random.Float64() < 0.6 {
			d.Nodes = append(d.Nodes, i)
			d.Y = append(d.Y, 3+math.Sin(12*math.Pi*float64(i)/float64(n))+0.1*random.NormFloat64())
		}
	}
	d.Nodes, d.Y = append(d.Nodes, d.Nodes[0]), append(d.Y, d.Y[0]+0.05)
	return d
}

// onCardAndHere are the results of a fit and of its posterior.
type onCardAndHere struct {
	report   FitReport
	mean, sd []float64
	draws    *mat.Dense
	some     *mat.Dense
	likely   float64
}

// everything fits and predicts.
func everything(t *testing.T, ctx context.Context, k kernel.Kernel, d Data, solver Solver, c *Card, store Checkpoints) (r onCardAndHere, err error) {
	t.Helper()
	m, report, err := Fit(ctx, k, d, FitOptions{Solver: solver, Epochs: 12, Seed: 3, Device: c, Checkpoints: store})
	if err != nil {
		return r, err
	}
	r.report = report
	p, err := m.Condition(ctx, d)
	if err != nil {
		return r, err
	}
	nodes := allNodes(k.Nodes())
	if r.mean, err = p.Mean(ctx, nodes); err != nil {
		return r, err
	}
	if r.sd, err = p.sampledVariance(ctx, p.wholeList(nodes), nil); err != nil {
		return r, err
	}
	for i, v := range r.sd {
		r.sd[i] = math.Sqrt(v)
	}
	if r.draws, err = p.Sample(ctx, nodes, 3, 5); err != nil {
		return r, err
	}
	r.some, err = p.Sample(ctx, nodes[10:90], 70, 5)
	return r, err
}

// TestCardEqualsProcessor: a fit on a card learns the hyperparameters of the processor, and means, draws and
// standard deviations are equal to 1e-6 of the standard deviation of the data. The processor learns in
// float64 here, because there are fewer than singleFrom measurements; solves end at the same iterations.
func TestCardEqualsProcessor(t *testing.T) {
	defer func(before int) { cardFrom = before }(cardFrom)
	cardFrom = 1
	for name, k := range cardKernels(t) {
		for _, solver := range []Solver{Iterative, Exact} {
			t.Run(name+"/"+solver.String(), func(t *testing.T) {
				d := cardData(k.Nodes())
				if solver == Exact {
					d = d.Slice(0, 200)
				}
				card := NewCard(gpu.Simulate(gpu.Simulated{}), false)
				want, err := everything(t, background, k, d, solver, nil, nil)
				if err != nil {
					t.Fatal(err)
				}
				got, err := everything(t, background, k, d, solver, card, nil)
				if err != nil {
					t.Fatal(err)
				}
				near(t, "hyperparameters", got.report.Theta, want.report.Theta, 1e-6)
				near(t, "likelihood", []float64{got.report.LogLikelihood}, []float64{want.report.LogLikelihood}, 1e-5*math.Abs(want.report.LogLikelihood))
				near(t, "mean", got.mean, want.mean, 1e-6)
				near(t, "sd", got.sd, want.sd, 1e-6)
				near(t, "draws", got.draws.RawMatrix().Data, want.draws.RawMatrix().Data, 1e-6)
				near(t, "draws at some nodes", got.some.RawMatrix().Data, want.some.RawMatrix().Data, 1e-6)
				if !card.Used() || len(card.Failures()) > 0 {
					t.Error(card.Notes())
				}
				card.forget()
				if n := card.Device.InUse(); n != 0 {
					t.Errorf("%d bytes were not given back", n)
				}
			})
		}
	}
}

// TestCardFails: whenever the card is lost, or its memory is too small, the processor goes on with
// the same results as without a card to 1e-3 of a standard deviation (steps of learning start from other
// solutions), or the fit ends with the error of the card if there must be one.
func TestCardFails(t *testing.T) {
	defer func(before int) { cardFrom = before }(cardFrom)
	cardFrom = 1
	k := cardKernels(t)["many scales"]
	d := cardData(k.Nodes())
	want, err := everything(t, background, k, d, Iterative, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	cases := map[string]gpu.Simulated{
		"at once":          {FailAfter: 1},
		"while learning":   {FailAfter: 3000},
		"after learning":   {FailAfter: 30000},
		"no memory":        {Memory: 1 << 16},
		"memory for a few": {Memory: 1 << 22},
	}
	for name, how := range cases {
		t.Run(name, func(t *testing.T) {
			card := NewCard(gpu.Simulate(how), false)
			got, err := everything(t, background, k, d, Iterative, card, nil)
			if err != nil {
				t.Fatal(err)
			}
			near(t, "mean", got.mean, want.mean, 1e-3)
			near(t, "sd", got.sd, want.sd, 1e-3)
			if len(card.Failures()) == 0 || !strings.Contains(card.Failures()[0], "went on with the processor") {
				t.Errorf("notes: %q", card.Notes())
			}
			must := NewCard(gpu.Simulate(how), true)
			if _, err := everything(t, background, k, d, Iterative, must, nil); !errors.Is(err, gpu.ErrLost) && !errors.Is(err, gpu.ErrMemory) {
				t.Errorf("a card was required: %v", err)
			}
		})
	}
}
