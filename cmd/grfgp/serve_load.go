package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"sync/atomic"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"grfgp/bayesopt"
	"grfgp/client"
	"grfgp/graph"
	"grfgp/graphio"
	"grfgp/study"
)

// loadFlags are the flags of serve load.
type loadFlags struct {
	studyFlags
	clients int
	nodes   int
	time    time.Duration
}

func serveLoad(a *app) *cobra.Command {
	var f loadFlags
	cmd := &cobra.Command{
		Use:   "load URL",
		Short: "Measure a running server: results and suggestions a second, and how long they take",
		Long: `Load sends requests to a server from several clients at once and measures how long
each takes. It makes two studies of its own there, on a ring, with names that begin
with load-: one whose results are told, and one with a hundred values whose suggestions
come from a model. Every result is on disk before it is answered. The two studies are
closed afterwards and stay in the store, so measure a server with a store of its own.`,
		Example: "  grfgp serve load http://127.0.0.1:8080 --time 5s",
		Args:    named(1, "URL"),
		RunE:    func(cmd *cobra.Command, args []string) error { return a.load(cmd.Context(), &f, args[0]) },
	}
	flags := cmd.Flags()
	flags.StringVar(&f.tokenFile, "token-file", "", "`file` with the token of the server, if it needs one (default: "+tokenEnv+" in the environment)")
	flags.IntVar(&f.clients, "clients", 8, "clients at once")
	flags.IntVar(&f.nodes, "nodes", 10_000, "of the ring")
	flags.DurationVar(&f.time, "time", 5*time.Second, "for each kind of request, at most")
	return cmd
}

// loaded is what was measured of one kind of request.
type loaded struct {
	Kind     string  `json:"kind"`
	Requests int     `json:"requests"`
	Rate     float64 `json:"per_second"`
	P50      float64 `json:"p50_ms"`
	P99      float64 `json:"p99_ms"`
	Longest  float64 `json:"longest_ms"`
}

const (
	loadValues = 100 // that the model of suggestions knows
	loadTrials = 10_000
)

func (a *app) load(ctx context.Context, f *loadFlags, place string) error {
	f.store = place
	if f.clients < 1 || f.nodes < 2*loadValues || f.time <= 0 {
		return usagef("give 1 client or more, %d nodes or more, and a time > 0", 2*loadValues)
	}
	all, err := a.server(place, f.token())
	if err != nil {
		return err
	}
	defer all.Close()
	tells, asks, err := f.prepare(ctx, a, all)
	if err != nil {
		return f.refused(ctx, err)
	}
	results, err := f.measure(ctx, a, "tell", min(loadTrials, f.nodes), func(k int) error {
		_, err := tells.Tell(ctx, k+1, study.Outcome{Value: float64(k % 97)}, "load")
		return err
	})
	if err != nil {
		return f.refused(ctx, err)
	}
	suggestions, err := f.measure(ctx, a, "ask", f.nodes-loadValues-1, func(int) error {
		answer, err := asks.Ask(ctx, study.AskRequest{Count: 1, Holder: "load"})
		if err == nil && len(answer.Trials) != 1 {
			err = errors.New("an ask got nothing")
		}
		return err
	})
	if err != nil {
		return f.refused(ctx, err)
	}
	for _, s := range []client.Study{tells, asks} {
		if err := s.Close(ctx, "measured", "load"); err != nil {
			return f.refused(ctx, err)
		}
	}
	answer := []loaded{results, suggestions}
	return a.answer(struct {
		Version int      `json:"version"`
		Clients int      `json:"clients"`
		Nodes   int      `json:"nodes"`
		Load    []loaded `json:"load"`
	}{1, f.clients, f.nodes, answer}, func(w io.Writer) error {
		t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
		fmt.Fprintln(t, "request\tanswered\ta second\thalf within\t99 % within\tlongest")
		for _, l := range answer {
			fmt.Fprintf(t, "%s\t%d\t%.0f\t%.1f ms\t%.1f ms\t%.0f ms\n", l.Kind, l.Requests, l.Rate, l.P50, l.P99, l.Longest)
		}
		return t.Flush()
	})
}

// prepare makes the two studies.
func (f *loadFlags) prepare(ctx context.Context, a *app, all client.Studies) (tells, asks client.Study, err error) {
	s := a.talk.Stage("preparing")
	ring, err := graph.Ring(f.nodes)
	if err != nil {
		return nil, nil, err
	}
	packed, err := graphio.Pack(graphio.NewNetwork(ring, nil, nil))
	if err != nil {
		return nil, nil, err
	}
	name := "load-" + rand.Text()[:8]
	create := func(name, policy string) (client.Study, error) {
		settings := study.Settings{Name: name, Graph: "not known yet", Goal: bayesopt.Maximize, Policy: policy, Seed: a.seed}
		if settings, err = settings.Complete(); err != nil {
			return nil, err
		}
		if _, err := all.Create(ctx, settings, packed, "load"); err != nil {
			return nil, err
		}
		return all.Study(ctx, name)
	}
	if tells, err = create(name+"-tell", "random"); err != nil {
		return nil, nil, err
	}
	if asks, err = create(name+"-ask", ""); err != nil {
		return nil, nil, err
	}
	if _, err := tells.Ask(ctx, study.AskRequest{Count: min(loadTrials, f.nodes), Holder: "load"}); err != nil {
		return nil, nil, err
	}
	var first []study.Measurement
	for k := range loadValues {
		i := k * f.nodes / loadValues
		first = append(first, study.Measurement{Node: fmt.Sprint(i), Value: float64(k*k%31) / 10})
	}
	if _, err := asks.Observe(ctx, "first", first, "", "load"); err != nil {
		return nil, nil, err
	}
	if _, err := asks.Ask(ctx, study.AskRequest{Count: 1, Holder: "load"}); err != nil { // the model is learned
		return nil, nil, err
	}
	s.Done("studies %s-tell and %s-ask on %d nodes", name, name, f.nodes)
	return tells, asks, nil
}

// measure sends requests from all clients until the time is over or there are no
// more.
func (f *loadFlags) measure(ctx context.Context, a *app, kind string, most int, send func(k int) error) (loaded, error) {
	stage := a.talk.Stage("measuring " + kind)
	took := make([][]time.Duration, f.clients)
	errs := make([]error, f.clients)
	var next atomic.Int64
	var wg sync.WaitGroup
	began := time.Now()
	for c := range f.clients {
		wg.Go(func() {
			for errs[c] == nil && time.Since(began) < f.time && ctx.Err() == nil {
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
		return loaded{}, err
	}
	all := slices.Concat(took...)
	slices.Sort(all)
	at := func(share float64) float64 {
		return all[min(len(all)-1, int(share*float64(len(all))))].Seconds() * 1000
	}
	l := loaded{kind, len(all), float64(len(all)) / whole.Seconds(), at(0.5), at(0.99), at(1)}
	stage.Done("%d requests", l.Requests)
	return l, nil
}
