package load

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync/atomic"
	"time"

	"grfgp/bayesopt"
	"grfgp/client"
	"grfgp/graph"
	"grfgp/graphio"
	"grfgp/study"
)

// RatioOptions are the options of Ratios; all but Streams must be set.
type RatioOptions struct {
	Options
	Rounds  int // in each of which all is measured once
	Streams int // of events, that nobody reads; 0: these are not measured
	// Follow opens a stream of a study's events.
	Follow func(ctx context.Context, name string, after int64) (io.ReadCloser, error)
}

// Ratio is how fast results are told in one way, compared with another in the same rounds.
type Ratio struct {
	What    string  `json:"what"`
	Clients int     `json:"clients"`
	Streams int     `json:"streams"`
	Rate    float64 `json:"per_second"` // median over the rounds
	P50     float64 `json:"p50_ms"`     // median over the rounds
	Of      string  `json:"of,omitempty"`
	Times   float64 `json:"times,omitempty"` // the rate, as a multiple of that; median over the rounds
}

// trialsEach is the number of trials of a study that is told results.
const trialsEach = 20_000

// Ratios measures how much faster many clients tell results than one, and how much streams of
// events that nobody reads slow them. The ways follow one another in every round, so that
// what else the machine does concerns all. Each round has a study of its own, closed in the
// end; streams begin with its first event.
func Ratios(ctx context.Context, all client.Studies, opts RatioOptions) ([]Ratio, error) {
	ways := []Ratio{
		{What: "one client", Clients: 1},
		{What: fmt.Sprintf("%d clients", opts.Clients), Clients: opts.Clients, Of: "one client"},
	}
	if opts.Streams > 0 {
		ways = append(ways, Ratio{What: fmt.Sprintf("%d clients, %d unread streams", opts.Clients, opts.Streams), Clients: opts.Clients,
			Streams: opts.Streams, Of: ways[1].What})
	}
	rates, medians := make([][]float64, len(ways)), make([][]float64, len(ways))
	for round := range opts.Rounds {
		told, name, err := tellable(ctx, all, opts, round)
		if err != nil {
			return nil, err
		}
		var next atomic.Int64
		for k, w := range ways {
			r, err := opts.tellRound(ctx, told, name, w, &next)
			if err != nil {
				return nil, err
			}
			rates[k], medians[k] = append(rates[k], r.Rate), append(medians[k], r.P50)
		}
		if err := told.Close(ctx, "measured", who); err != nil {
			return nil, err
		}
	}
	for k := range ways {
		ways[k].Rate, ways[k].P50 = median(rates[k]), median(medians[k])
		if k > 0 {
			times := make([]float64, opts.Rounds)
			for round := range times {
				times[round] = rates[k][round] / rates[k-1][round]
			}
			ways[k].Times = median(times)
		}
	}
	return ways, nil
}

// tellable makes a study with trials to tell the results of.
func tellable(ctx context.Context, all client.Studies, opts RatioOptions, round int) (client.Study, string, error) {
	done := opts.Begin(fmt.Sprintf("preparing round %d of %d", round+1, opts.Rounds))
	ring, err := graph.Ring(trialsEach)
	if err != nil {
		return nil, "", err
	}
	packed, err := graphio.Encode(graphio.NewNetwork(ring, nil, nil))
	if err != nil {
		return nil, "", err
	}
	name := "load-" + rand.Text()[:8]
	settings, err := study.Settings{Name: name, Graph: "not known yet", Goal: bayesopt.Maximize, Policy: "random", Seed: opts.Seed}.Complete()
	if err != nil {
		return nil, "", err
	}
	if _, err := all.Create(ctx, settings, packed, who); err != nil {
		return nil, "", err
	}
	told, err := all.Study(ctx, name)
	if err != nil {
		return nil, "", err
	}
	for left := trialsEach; left > 0; left -= study.MaxCount {
		if _, err := told.Ask(ctx, study.AskRequest{Count: min(left, study.MaxCount), Holder: who}); err != nil {
			return nil, "", err
		}
	}
	done("study " + name)
	return told, name, nil
}

// tellRound tells results in one way. Each way has its share of the trials.
func (o RatioOptions) tellRound(ctx context.Context, told client.Study, name string, w Ratio, next *atomic.Int64) (Result, error) {
	for range w.Streams {
		s, err := o.Follow(ctx, name, 0)
		if err != nil {
			return Result{}, fmt.Errorf("a stream of events: %w", err)
		}
		defer s.Close()
	}
	if w.Streams > 0 { // until all that fits between server and client is sent
		select {
		case <-time.After(o.Time):
		case <-ctx.Done():
			return Result{}, ctx.Err()
		}
	}
	opts := o.Options
	opts.Clients = w.Clients
	r, err := measure(ctx, opts, "tell, "+w.What, trialsEach/3, func(int) error {
		k := int(next.Add(1))
		if k > trialsEach {
			return errors.New("all trials have results")
		}
		_, err := told.Tell(ctx, k, study.Outcome{Value: float64(k % 97)}, who)
		return err
	})
	return r, err
}

func median(v []float64) float64 {
	v = slices.Clone(v)
	slices.Sort(v)
	if n := len(v); n%2 == 0 {
		return (v[n/2-1] + v[n/2]) / 2
	}
	return v[len(v)/2]
}
