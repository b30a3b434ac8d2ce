package bench

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"grfgp"
	"grfgp/bayesopt"
	"grfgp/gp"
	"grfgp/graph"
	"grfgp/internal/rng"
)

// CardSteps are steps of Thompson sampling on a grid: a measurement is told, and a node is
// suggested. Both devices have the model that the processor learned.
type CardSteps struct {
	Nodes     int        `json:"nodes"`
	Measured  int        `json:"measured"` // before the first step
	Chosen    string     `json:"chosen"`   // the kernel, in words
	Training  float64    `json:"training_seconds"`
	Card      StepTimes  `json:"card"`
	Where     []string   `json:"where"` // what was computed where, in words
	Processor *StepTimes `json:"processor,omitempty"`
	SpeedUp   float64    `json:"speed_up,omitempty"` // of medians, over the processor
	Same      int        `json:"same"`               // suggestions before the first that differs; that many if the processor is left out
}

// StepTimes are those of steps, in seconds.
type StepTimes struct {
	Steps  int     `json:"steps"`
	Median float64 `json:"median_seconds"`
	Least  float64 `json:"least_seconds"`
	Most   float64 `json:"most_seconds"`
}

const (
	thompsonSteps = 20
	thompsonFirst = 3 // steps before those that are timed: they put things into place
)

func cardThompson(ctx context.Context, o GPUOptions) (*CardSteps, error) {
	side, told := 1000, 2000
	if o.Quick {
		side, told = 30, 60
	}
	g, err := graph.Grid(side, side)
	if err != nil {
		return nil, err
	}
	search := &gridSearch{side: side, seed: o.Seed}
	random := rand.New(rng.New(o.Seed, "thompson"))
	for k, i := range random.Perm(side * side)[:told] {
		search.data.Nodes, search.data.Y = append(search.data.Nodes, i), append(search.data.Y, search.value(i, k))
	}
	learn, err := grfgp.NewOptimizer(g, grfgp.Spec{Seed: o.Seed, Device: "cpu"}, search.options())
	if err != nil {
		return nil, err
	}
	if err := learn.TellAll(search.data); err != nil {
		return nil, err
	}
	start := time.Now()
	p, err := learn.Update(ctx)
	if err != nil {
		return nil, err
	}
	c := &CardSteps{Nodes: g.Len(), Measured: told, Training: time.Since(start).Seconds()}
	if spec, ok := learn.Chosen(); ok {
		c.Chosen = chosenWords(grfgp.Choice{Method: spec.Method, Family: spec.Family, Scales: spec.Scales, Variance: spec.Variance,
			Trend: spec.Trend})
	}
	card := gp.NewCard(o.Device, true)
	times, nodes, err := search.steps(ctx, p.Model().On(card))
	if err != nil {
		return nil, err
	}
	c.Card, c.Where, c.Same = times, card.Notes(), len(nodes)
	if o.Alone {
		return c, nil
	}
	times, beside, err := search.steps(ctx, p.Model().On(nil))
	if err != nil {
		return nil, err
	}
	c.Processor, c.SpeedUp = &times, times.Median/c.Card.Median
	for c.Same = 0; c.Same < len(nodes) && nodes[c.Same] == beside[c.Same]; c.Same++ {
	}
	return c, nil
}

// gridSearch looks for the top of a hill on a grid, whose height is measured with noise.
type gridSearch struct {
	side int
	seed uint64
	data gp.Data // of the beginning
}

// options are those of an Optimizer that learns once.
func (s *gridSearch) options() bayesopt.Options {
	return bayesopt.Options{Goal: bayesopt.Maximize, Seed: s.seed,
		Retrain: bayesopt.Schedule{First: s.data.Len(), Every: math.MaxInt32, Drift: -1}}
}

// value is the k-th measurement, at node i.
func (s *gridSearch) value(i, k int) float64 {
	half := float64(s.side) / 2
	x, y := float64(i/s.side)/half-1.2, float64(i%s.side)/half-0.7
	noise := rand.New(rng.New(s.seed, "hill", uint64(k))).NormFloat64()
	return 2*math.Exp(-x*x/0.18-y*y/0.32) + 0.1*noise
}

// steps suggests and measures with a model.
func (s *gridSearch) steps(ctx context.Context, m *gp.Model) (t StepTimes, nodes []int, err error) {
	o, err := bayesopt.New(learned{m, s.side * s.side}, s.options())
	if err != nil {
		return t, nil, err
	}
	if err := o.TellAll(s.data); err != nil {
		return t, nil, err
	}
	var took []float64
	for k := range thompsonFirst + thompsonSteps {
		start := time.Now()
		next, _, err := o.Next(ctx, bayesopt.Request{Count: 1})
		if err != nil {
			return t, nil, err
		}
		if err := o.Tell(next[0], s.value(next[0], s.data.Len()+k)); err != nil {
			return t, nil, err
		}
		if nodes = append(nodes, next[0]); k >= thompsonFirst {
			took = append(took, time.Since(start).Seconds())
		}
	}
	return StepTimes{len(took), median(took), slices.Min(took), slices.Max(took)}, nodes, nil
}

// learned is a Trainer that has learned already.
type learned struct {
	model *gp.Model
	nodes int
}

func (l learned) Nodes() int { return l.nodes }

func (l learned) Fit(context.Context, gp.Data, *bayesopt.Trained) (*bayesopt.Trained, error) {
	return &bayesopt.Trained{Model: l.model}, nil
}

func (l learned) Restore(context.Context, bayesopt.Checkpoint) (*gp.Model, error) {
	return nil, errors.New("there is nothing to restore")
}
