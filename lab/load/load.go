// Package load measures a server of studies: requests a second, and how long they
// take.
package load

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"grfgp/bayesopt"
	"grfgp/client"
	"grfgp/graph"
	"grfgp/graphio"
	"grfgp/study"
)

// Options of a measurement; all must be set.
type Options struct {
	Clients int           // at once
	Nodes   int           // of the ring that the studies are on, MinNodes or more
	Time    time.Duration // for each kind of request, at most
	Seed    uint64        // of the studies
	// Begin is called when a stage of the work begins; the function that it returns,
	// with a result, when it ends.
	Begin func(stage string) (done func(result string))
}

// Result describes one kind of request.
type Result struct {
	Kind     string  `json:"kind"`
	Requests int     `json:"requests"`
	Rate     float64 `json:"per_second"`
	P50      float64 `json:"p50_ms"`
	P99      float64 `json:"p99_ms"`
	Longest  float64 `json:"longest_ms"`
}

const (
	values = 100    // that the model behind suggestions knows
	trials = 10_000 // told, at most

	// MinNodes is the smallest ring.
	MinNodes = 2 * values

	who = "load"
)

// Run makes two studies, measures how fast results are told to the one and nodes
// asked from the other, and closes both.
func Run(ctx context.Context, all client.Studies, opts Options) ([]Result, error) {
	tells, asks, err := prepare(ctx, all, opts)
	if err != nil {
		return nil, err
	}
	told, err := measure(ctx, opts, "tell", min(trials, opts.Nodes), func(k int) error {
		_, err := tells.Tell(ctx, k+1, study.Outcome{Value: float64(k % 97)}, who)
		return err
	})
	if err != nil {
		return nil, err
	}
	asked, err := measure(ctx, opts, "ask", opts.Nodes-values-1, func(int) error {
		answer, err := asks.Ask(ctx, study.AskRequest{Count: 1, Holder: who})
		if err == nil && len(answer.Trials) != 1 {
			err = errors.New("an ask got no node")
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return []Result{told, asked}, errors.Join(tells.Close(ctx, "measured", who), asks.Close(ctx, "measured", who))
}

// prepare makes the study that is told results, with its trials, and the one that
// is asked, with a fitted model.
func prepare(ctx context.Context, all client.Studies, opts Options) (tells, asks client.Study, err error) {
	done := opts.Begin("preparing")
	ring, err := graph.Ring(opts.Nodes)
	if err != nil {
		return nil, nil, err
	}
	packed, err := graphio.Encode(graphio.NewNetwork(ring, nil, nil))
	if err != nil {
		return nil, nil, err
	}
	create := func(name, policy string) (client.Study, error) {
		settings, err := study.Settings{Name: name, Graph: "not known yet", Goal: bayesopt.Maximize, Policy: policy, Seed: opts.Seed}.Complete()
		if err != nil {
			return nil, err
		}
		if _, err := all.Create(ctx, settings, packed, who); err != nil {
			return nil, err
		}
		return all.Study(ctx, name)
	}
	name := "load-" + rand.Text()[:8]
	if tells, err = create(name+"-tell", "random"); err != nil {
		return nil, nil, err
	}
	if asks, err = create(name+"-ask", ""); err != nil {
		return nil, nil, err
	}
	if _, err := tells.Ask(ctx, study.AskRequest{Count: min(trials, opts.Nodes), Holder: who}); err != nil {
		return nil, nil, err
	}
	var first []study.Measurement
	for k := range values {
		first = append(first, study.Measurement{Node: fmt.Sprint(k * opts.Nodes / values), Value: float64(k*k%31) / 10})
	}
	if _, err := asks.Observe(ctx, "first", first, "", who); err != nil {
		return nil, nil, err
	}
	if _, err := asks.Ask(ctx, study.AskRequest{Count: 1, Holder: who}); err != nil { // fits the model
		return nil, nil, err
	}
	done(fmt.Sprintf("studies %s-tell and %s-ask on %d nodes", name, name, opts.Nodes))
	return tells, asks, nil
}

// measure sends up to most requests from all clients until the time is over.
func measure(ctx context.Context, opts Options, kind string, most int, send func(k int) error) (Result, error) {
	done := opts.Begin("measuring " + kind)
	took := make([][]time.Duration, opts.Clients)
	errs := make([]error, opts.Clients)
	var next atomic.Int64
	var wg sync.WaitGroup
	began := time.Now()
	for c := range opts.Clients {
		wg.Go(func() {
			for errs[c] == nil && time.Since(began) < opts.Time && ctx.Err() == nil {
				k := int(next.Add(1)) - 1
				if k >= most {
					return
				}
				at := time.Now()
				errs[c] = send(k)
				took[c] = append(took[c], time.Since(at))
			}
		})
	}
	wg.Wait()
	whole := time.Since(began)
	if err := errors.Join(append(errs, ctx.Err())...); err != nil {
		return Result{}, err
	}
	all := slices.Concat(took...)
	slices.Sort(all)
	quantile := func(share float64) float64 {
		return all[min(len(all)-1, int(share*float64(len(all))))].Seconds() * 1000
	}
	r := Result{kind, len(all), float64(len(all)) / whole.Seconds(), quantile(0.5), quantile(0.99), quantile(1)}
	done(fmt.Sprintf("%d requests", r.Requests))
	return r, nil
}
