package gp

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"gonum.org/v1/gonum/mat"

	"grfgp/graph"
	"grfgp/internal/gpu"
	"grfgp/internal/rng"
	"grfgp/internal/testkit"
	"grfgp/kernel"
	"grfgp/walk"
)

// cardKernels are kernels that a card can compute, on a ring.
func cardKernels(t *testing.T, nodes int) map[string]kernel.Kernel {
	t.Helper()
	ring := step[*graph.Graph](t)(graph.Ring(nodes))
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
		"many scales": step[*kernel.Multiscale](t)(kernel.NewMultiscale(fine, kernel.Diffusion{}, scales))}
}

// cardNodes has one wave of cardData, or six.
func cardNodes() int { return testkit.Size(334, 2000) }

// cardData measures a smooth function at 60 % of the nodes, one of them twice.
func cardData(n int) Data {
	random := rand.New(rng.New(1, "card"))
	var d Data
	for i := range n {
		if random.Float64() < 0.6 {
			d.Nodes = append(d.Nodes, i)
			d.Y = append(d.Y, 3+math.Sin(6*math.Pi*float64(i)/1000)+0.1*random.NormFloat64())
		}
	}
	d.Nodes, d.Y = append(d.Nodes, d.Nodes[0]), append(d.Y, d.Y[0]+0.05)
	return d
}

// cardForAll returns a card that posteriors of few nodes use as well.
func cardForAll(d *gpu.Device, must bool) *Card {
	c := NewCard(d, must)
	c.from = 1
	return c
}

// predicted are the predictions of a posterior.
type predicted struct {
	mean, sd    []float64
	draws, some *mat.Dense
}

// predictions conditions a model and predicts.
func predictions(ctx context.Context, m *Model, d Data) (r predicted, err error) {
	p, err := m.Condition(ctx, d)
	if err != nil {
		return r, err
	}
	nodes := allNodes(p.Nodes())
	if r.mean, err = p.Mean(ctx, nodes); err != nil {
		return r, err
	}
	if r.sd, err = p.sampledVariance(ctx, wholeList(nodes), nil); err != nil {
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

// TestCardEqualsProcessor: with the same hyperparameters, means, draws and standard deviations of a card and of the
// processor are equal to 1e-6, where the data have a standard deviation of 0.7. Hyperparameters that are learned
// on the card are those of the processor to 1 %, and as likely to a tenth of a nat: both stop solves at the same residuals,
// but with preconditioners of other steps, and rounding grows in some hundred iterations. The processor works in float64 here; its float32
// differs from both by more.
func TestCardEqualsProcessor(t *testing.T) {
	t.Parallel()
	testkit.Unraced(t)
	for name, k := range cardKernels(t, cardNodes()) {
		for _, solver := range []Solver{Iterative, Exact} {
			t.Run(name+"/"+solver.String(), func(t *testing.T) {
				d := cardData(k.Nodes())
				if solver == Exact {
					d = d.Slice(0, 200)
				} else if name == "one scale" {
					testkit.Full(t) // of few nodes the means differ by 1e-5: the noise is small and there is no good preconditioner
				}
				opts := FitOptions{Solver: solver, Epochs: 12, Seed: 3, Stochastic: Stochastic{double: true}}
				m, report, err := Fit(background, k, d, opts)
				if err != nil {
					t.Fatal(err)
				}
				card := cardForAll(gpu.Simulate(gpu.Simulated{}), false)
				opts.Device = card
				_, other, err := Fit(background, k, d, opts)
				if err != nil {
					t.Fatal(err)
				}
				for j, v := range report.Theta {
					if math.Abs(other.Theta[j]/v-1) > 0.01 {
						t.Errorf("%s is %v on the card and %v on the processor", report.Names[j], other.Theta[j], v)
					}
				}
				if se := report.LogLikelihoodSE + 0.1; math.Abs(other.LogLikelihood-report.LogLikelihood) > se {
					t.Errorf("log likelihoods %v and %v differ by more than %v", other.LogLikelihood, report.LogLikelihood, se)
				}
				m = m.Within(1e-10) // rounding decides where within a tolerance a solve ends
				want, err := predictions(background, m, d)
				if err != nil {
					t.Fatal(err)
				}
				got, err := predictions(background, m.On(card), d)
				if err != nil {
					t.Fatal(err)
				}
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

// TestCardGrows: a posterior that gets one measurement after the other, as in a search, has the draws and means of
// the processor on a card, which keeps the first measurements and adds the others.
func TestCardGrows(t *testing.T) {
	t.Parallel()
	testkit.Unraced(t)
	for name, k := range cardKernels(t, 2000) {
		all := cardData(k.Nodes())
		m, _, err := Fit(background, k, all.Slice(0, 300), FitOptions{Solver: Exact, MaxIter: 3})
		if err != nil {
			t.Fatal(err)
		}
		card := cardForAll(gpu.Simulate(gpu.Simulated{}), false)
		p, err := m.Condition(background, all.Slice(0, 300))
		if err != nil {
			t.Fatal(err)
		}
		q := step[*Posterior](t)(m.On(card).Condition(background, all.Slice(0, 300)))
		for now := 300; now < 372; now += 1 + now%7 { // beyond what is added to those that are kept
			d := all.Slice(p.data.Len(), now)
			p, q = step[*Posterior](t)(p.Condition(background, d)), step[*Posterior](t)(q.Condition(background, d))
			nodes := allNodes(k.Nodes())
			near(t, name+": mean", step[[]float64](t)(q.Mean(background, nodes)), step[[]float64](t)(p.Mean(background, nodes)), 1e-6)
			near(t, name+": draw", step[*mat.Dense](t)(q.Sample(background, nodes, 1, uint64(now))).RawMatrix().Data,
				step[*mat.Dense](t)(p.Sample(background, nodes, 1, uint64(now))).RawMatrix().Data, 1e-6)
		}
		if rows := card.kept.rows; len(rows.nodes) == 300 {
			t.Errorf("%s: %d of %d measurements are kept", name, len(rows.nodes), p.data.Len())
		}
		card.forget()
		if n := card.Device.InUse(); n != 0 {
			t.Errorf("%s: %d bytes were not given back", name, n)
		}
	}
}

// TestCardTogether: several posteriors that use one card with little memory at the same time have the results of the
// processor, whichever of them finds no room.
func TestCardTogether(t *testing.T) {
	t.Parallel()
	kernels := cardKernels(t, 2000)
	device := gpu.Simulate(gpu.Simulated{Memory: 6 << 20})
	var wait sync.WaitGroup
	for name, k := range kernels {
		for part := range 3 {
			d := cardData(k.Nodes()).Slice(100*part, 100*part+300)
			m, _, err := Fit(background, k, d, FitOptions{Solver: Exact, MaxIter: 2})
			if err != nil {
				t.Fatal(err)
			}
			want, err := predictions(background, m, d)
			if err != nil {
				t.Fatal(err)
			}
			wait.Go(func() {
				for range testkit.Size(1, 3) {
					got, err := predictions(background, m.On(cardForAll(device, false)), d)
					if err != nil {
						t.Error(err)
						return
					}
					near(t, name+": mean", got.mean, want.mean, 1e-6)
					near(t, name+": sd", got.sd, want.sd, 1e-6)
					near(t, name+": draws", got.draws.RawMatrix().Data, want.draws.RawMatrix().Data, 1e-6)
				}
			})
		}
	}
	wait.Wait()
	if err := device.Err(); err != nil {
		t.Error(err)
	}
}

// TestCardProbes: more probes than a card takes at a time are for the processor.
func TestCardProbes(t *testing.T) {
	t.Parallel()
	testkit.Unraced(t)
	k := cardKernels(t, 2000)["one scale"]
	card := NewCard(gpu.Simulate(gpu.Simulated{}), true)
	if _, _, err := Fit(background, k, cardData(k.Nodes()),
		FitOptions{Solver: Iterative, Epochs: 1, Device: card, Stochastic: Stochastic{Probes: MaxProbes}}); err != nil {
		t.Error(err)
	}
}

// TestCardResumes: a fit on a card that was interrupted goes on from its checkpoint with the same bits, and one of the
// processor can go on on a card.
func TestCardResumes(t *testing.T) {
	t.Parallel()
	testkit.Unraced(t)
	k := cardKernels(t, cardNodes())["many scales"]
	d := cardData(k.Nodes())
	fit := func(ctx context.Context, c *Card, store Checkpoints) (FitReport, error) {
		_, r, err := Fit(ctx, k, d, FitOptions{Solver: Iterative, Epochs: 8, Seed: 3, Device: c, Checkpoints: store})
		return r, err
	}
	card := func() *Card { return NewCard(gpu.Simulate(gpu.Simulated{}), true) }
	want, err := fit(background, card(), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, before := range []*Card{card(), nil} {
		ctx, stop := context.WithCancel(background)
		store := &stopping{after: 3, stop: stop, kept: map[string][]byte{}}
		if _, err := fit(ctx, before, store); !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
		got, err := fit(background, card(), store)
		if err != nil || store.resumed != 3 {
			t.Fatal(err, store.resumed)
		}
		tol := 0.0
		if before == nil {
			tol = 0.01
		}
		for j, v := range want.Theta {
			if math.Abs(got.Theta[j]/v-1) > tol {
				t.Errorf("%s is %v after an interruption, %v without", want.Names[j], got.Theta[j], v)
			}
		}
	}
}

// stopping keeps checkpoints in memory, and stops a fit after some.
type stopping struct {
	after, saves, resumed int
	stop                  func()
	kept                  map[string][]byte
}

func (s *stopping) Load(name string) ([]byte, error) { return s.kept[name], nil }
func (s *stopping) Remove(name string) error         { delete(s.kept, name); return nil }
func (s *stopping) Every() time.Duration             { return 0 }
func (s *stopping) Resumed(epochs int)               { s.resumed = epochs }

func (s *stopping) Save(name string, state []byte) error {
	s.kept[name] = state
	if s.saves++; s.saves == s.after {
		s.stop()
	}
	return nil
}

// TestCardFails: whenever the card is lost, or its memory is too small, the processor goes on with
// the same results as without a card, to a tenth of a standard deviation (steps of learning start from
// other solutions), or the fit ends with the error of the card if there must be one.
func TestCardFails(t *testing.T) {
	t.Parallel()
	testkit.Unraced(t)
	k := cardKernels(t, cardNodes())["many scales"]
	d := cardData(k.Nodes())
	everything := func(c *Card) (predicted, error) {
		m, _, err := Fit(background, k, d, FitOptions{Solver: Iterative, Epochs: 12, Seed: 3, Device: c})
		if err != nil {
			return predicted{}, err
		}
		return predictions(background, m, d)
	}
	want, err := everything(nil)
	if err != nil {
		t.Fatal(err)
	}
	cases := map[string]gpu.Simulated{
		"at once":          {FailAfter: 1},
		"while learning":   {FailAfter: 400},
		"after learning":   {FailAfter: 2000},
		"told late":        {FailAfter: 700, FailLate: true},
		"no memory":        {Memory: 1 << 16},
		"memory for a few": {Memory: 1 << 22},
	}
	for name, how := range cases {
		t.Run(name, func(t *testing.T) {
			if how.FailAfter > 400 || how.Memory > 1<<16 {
				testkit.Full(t)
			}
			card := cardForAll(gpu.Simulate(how), false)
			got, err := everything(card)
			if err != nil {
				t.Fatal(err)
			}
			near(t, "mean", got.mean, want.mean, 0.01)
			near(t, "sd", got.sd, want.sd, 0.01)
			if len(card.Failures()) == 0 || !strings.Contains(card.Failures()[0], "went on with the processor") {
				t.Errorf("notes: %q", card.Notes())
			}
			must := cardForAll(gpu.Simulate(how), true)
			if _, err := everything(must); !errors.Is(err, gpu.ErrLost) && !errors.Is(err, gpu.ErrMemory) {
				t.Errorf("a card was required: %v", err)
			}
		})
	}
}
