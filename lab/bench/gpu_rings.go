package bench

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"runtime"

	"grfgp/gp"
)

// CardRing is the regression on a ring, on the card and on the processor.
type CardRing struct {
	Protocol  string       `json:"protocol"`            // authors' or clean
	Card      []Regression `json:"card"`                // runs
	SameBytes bool         `json:"same_bytes"`          // results of all runs on the card
	Where     []string     `json:"where"`               // what was computed where, in words
	Processor *Regression  `json:"processor,omitempty"` // one run
	SpeedUp   float64      `json:"speed_up,omitempty"`  // of the median run on the card over the processor
	Learned   *Difference  `json:"learned,omitempty"`   // of the two runs, each with the hyperparameters that it learned
	Inferred  *Difference  `json:"inferred,omitempty"`  // with the hyperparameters that the processor learned
	OverTheir float64      `json:"published,omitempty"` // time of the authors' library over that on the card
}

// Difference is that of the card to the processor at test nodes, at most, in standard deviations of
// the posterior there.
type Difference struct {
	Mean   float64 `json:"mean"`
	Sample float64 `json:"sample"`
}

// Median returns the run on the card with the median time.
func (c CardRing) Median() Regression {
	totals := make([]float64, len(c.Card))
	for i, r := range c.Card {
		totals[i] = r.Total()
	}
	best := c.Card[0]
	for _, r := range c.Card { // the run nearest to the median
		if math.Abs(r.Total()-median(totals)) < math.Abs(best.Total()-median(totals)) {
			best = r
		}
	}
	return best
}

// ringProtocols are the tasks, as 'grfgp-lab reproduce scaling' has them.
func ringProtocols(o GPUOptions) map[string][]RingRun {
	large, less := 1<<20, 1<<18
	if o.Quick {
		large, less = 1<<8, 1<<7
	}
	authors := RingRun{Nodes: large, Hops: 2, Epochs: ringEpochs, Authors: true, Seed: o.Seed}
	smaller := authors
	smaller.Nodes = less
	return map[string][]RingRun{
		"authors'": {smaller, authors},
		"clean":    {{Nodes: large, Hops: 5, Epochs: ringEpochs, Many: true, Seed: o.Seed}},
	}
}

func cardRings(ctx context.Context, o GPUOptions) ([]CardRing, error) {
	var all []CardRing
	for _, protocol := range []string{"authors'", "clean"} {
		for _, run := range ringProtocols(o)[protocol] {
			c, err := cardRing(ctx, o, protocol, run)
			if err != nil {
				return nil, fmt.Errorf("ring of %d nodes, %s protocol: %w", run.Nodes, protocol, err)
			}
			all = append(all, c)
		}
	}
	return all, nil
}

func cardRing(ctx context.Context, o GPUOptions, protocol string, task RingRun) (CardRing, error) {
	c := CardRing{Protocol: protocol, SameBytes: true}
	var on RingRun
	for range cmp.Or(o.Runs, 3) {
		on = task
		on.Card, on.keep = gp.NewCard(o.Device, true), !o.Alone
		r, err := on.Regress(ctx)
		if err != nil {
			return c, err
		}
		c.Card, c.Where = append(c.Card, r), on.Card.Notes()
		c.SameBytes = c.SameBytes && r.Digest == c.Card[0].Digest
		runtime.GC() // what a run leaves behind is not for the next one to collect
	}
	mine := c.Median().Total()
	if p := publishedFor(task.Nodes); p != nil && task.Authors {
		c.OverTheir = p.Total() / mine
	}
	if o.Alone {
		return c, nil
	}
	beside := task
	beside.keep = true
	r, err := beside.Regress(ctx)
	if err != nil {
		return c, err
	}
	c.Processor, c.SpeedUp = &r, r.Total()/mine
	c.Learned = difference(on.answer, beside.answer)
	again, err := beside.infer(ctx, beside.model.On(gp.NewCard(o.Device, true)))
	if err != nil {
		return c, err
	}
	c.Inferred = difference(again, beside.answer)
	return c, nil
}

// difference returns that of an answer to the processor's; NaN if a number is.
func difference(got, want *ringAnswer) *Difference {
	var d Difference
	// The built-in max keeps NaN.
	for i, sd := range want.sd {
		d.Mean = max(d.Mean, math.Abs(got.mean[i]-want.mean[i])/sd)
		for s, v := range want.draws.RawRowView(i) {
			d.Sample = max(d.Sample, math.Abs(got.draws.At(i, s)-v)/sd)
		}
	}
	return &d
}
