package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"grfgp/client"
	"grfgp/internal/cli"
	"grfgp/lab/load"
)

// loadFlags are the flags of the verb.
type loadFlags struct {
	tokenFile string
	load.Options
	ratios          bool
	rounds, streams int
}

func loadVerb(a *app) *cobra.Command {
	var f loadFlags
	cmd := &cobra.Command{
		Use:   "load URL",
		Short: "Measure a running server: results and suggestions a second, and their latency",
		Long: `Load sends requests to a server from several clients at once and measures how long
each takes. It creates two studies there, on a ring, with names that begin with
load-: one is told results, the other has a hundred measurements and is asked for
suggestions of a model. A server answers only when a result is on disk. The studies
are closed afterwards and stay in the store, so use a server with a store of its
own.

With --ratios it measures, in several rounds, how much faster all clients tell results
than one of them, and how much streams of events that nobody reads slow them down.`,
		Example: `  grfgp-lab load http://127.0.0.1:8080 --time 5s
  grfgp-lab load http://127.0.0.1:8080 --ratios --clients 64 --time 2s`,
		Args: cli.Named(1, "URL"),
		RunE: func(cmd *cobra.Command, args []string) error { return a.load(cmd.Context(), &f, args[0]) },
	}
	flags := cmd.Flags()
	flags.StringVar(&f.tokenFile, "token-file", "", "`file` with the server's token, if it needs one")
	flags.IntVar(&f.Clients, "clients", 8, "number of clients")
	flags.IntVar(&f.Nodes, "nodes", 10_000, "number of nodes of the ring")
	flags.BoolVar(&f.ratios, "ratios", false, "compare many clients with one, and unread streams of events with none")
	flags.IntVar(&f.rounds, "rounds", 3, "with --ratios: number of rounds")
	flags.IntVar(&f.streams, "streams", 200, "with --ratios: number of unread streams")
	flags.DurationVar(&f.Time, "time", 5*time.Second, "time for each kind of request, at most")
	return cmd
}

func (a *app) load(ctx context.Context, f *loadFlags, place string) error {
	if f.Clients < 1 || f.Nodes < load.MinNodes || f.Time <= 0 {
		return cli.Usagef("give 1 client or more, %d nodes or more, and a time > 0", load.MinNodes)
	}
	f.Seed = a.Seed
	f.Begin = func(stage string) func(string) {
		s := a.Talk.Stage(stage)
		return func(result string) { s.Done("%s", result) }
	}
	token, err := cli.ReadToken(f.tokenFile)
	if err != nil {
		return err
	}
	all, err := client.New(place, client.Options{Token: token})
	if err != nil {
		return cli.Usagef("%s: %w", place, err)
	}
	defer all.Close()
	if f.ratios {
		return a.loadRatios(ctx, f, all)
	}
	results, err := load.Run(ctx, all, f.Options)
	if err != nil {
		return unanswered(err)
	}
	return a.Answer(struct {
		Version int           `json:"version"`
		Clients int           `json:"clients"`
		Nodes   int           `json:"nodes"`
		Load    []load.Result `json:"load"`
	}{1, f.Clients, f.Nodes, results}, func(w io.Writer) error {
		t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
		fmt.Fprintln(t, "request\tanswered\tper second\tmedian\t99th percentile\tlongest")
		for _, r := range results {
			fmt.Fprintf(t, "%s\t%d\t%.0f\t%.1f ms\t%.1f ms\t%.0f ms\n", r.Kind, r.Requests, r.Rate, r.P50, r.P99, r.Longest)
		}
		return t.Flush()
	})
}

// loadRatios compares ways to tell results.
func (a *app) loadRatios(ctx context.Context, f *loadFlags, all *client.Client) error {
	if f.rounds < 1 || f.streams < 0 {
		return cli.Usagef("give 1 round or more, and 0 streams or more")
	}
	ratios, err := load.Ratios(ctx, all, load.RatioOptions{Options: f.Options, Rounds: f.rounds, Streams: f.streams, Follow: all.Follow})
	if err != nil {
		return unanswered(err)
	}
	return a.Answer(struct {
		Version int          `json:"version"`
		Rounds  int          `json:"rounds"`
		Ratios  []load.Ratio `json:"ratios"`
	}{1, f.rounds, ratios}, func(w io.Writer) error {
		t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
		fmt.Fprintln(t, "tell\tper second\tmedian\tratio")
		for _, r := range ratios {
			ratio := ""
			if r.Of != "" {
				ratio = fmt.Sprintf("%.2f × %s", r.Times, r.Of)
			}
			fmt.Fprintf(t, "%s\t%.0f\t%.1f ms\t%s\n", r.What, r.Rate, r.P50, ratio)
		}
		return t.Flush()
	})
}

// unanswered gives an error of a server that does not answer, or refuses to, its exit code.
func unanswered(err error) error {
	var lost *client.ConnectionError
	var refused *client.Problem
	if errors.As(err, &lost) || errors.As(err, &refused) {
		return cli.Exit(cli.ExitUnreachable, err)
	}
	return err
}
