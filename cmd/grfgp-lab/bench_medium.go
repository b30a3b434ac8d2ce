package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"grfgp/internal/cli"
	"grfgp/lab/bench"
	"grfgp/lab/dataset"
)

func mediumVerb(a *app) *cobra.Command {
	var o bench.MediumOptions
	var product productFlag
	cmd := &cobra.Command{
		Use:   "medium",
		Short: "Time whole runs of predict and classify on graphs of medium size",
		Long: `Medium runs the program on files, with every setting chosen automatically, as a user
does, and prints seconds, processor seconds and peak memory as medians over runs, the ratio to
one dense Cholesky factor with a row per measurement, and the error at the other nodes.

The cases of Facebook and Enron need their data sets, see 'grfgp-lab dataset'.`,
		Example: "  grfgp-lab bench medium --quick\n  GRFGP_DATA=~/data grfgp-lab bench medium --case mesh --case enron\n  grfgp-lab bench " +
			"medium --program ./grfgp-before",
		Args: cli.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			for _, name := range o.Cases {
				if !slices.Contains(mediumNames(), name) {
					return cli.Usagef("--case %s: there is no such case; the cases are %s", name, strings.Join(mediumNames(), ", "))
				}
			}
			if o.Repeats < 1 {
				return cli.Usagef("--runs %d: give 1 or more", o.Repeats)
			}
			return product.with(cmd.Context(), a, func(program string) error { return a.benchMedium(cmd.Context(), o, program) })
		},
	}
	cmd.Flags().StringSliceVar(&o.Cases, "case", nil, "only this `NAME`, may be repeated: "+strings.Join(mediumNames(), ", "))
	cmd.Flags().IntVar(&o.Repeats, "runs", 3, "runs `N` of each case; medians are printed")
	cmd.Flags().BoolVar(&o.Quick, "quick", false, "small generated graphs, one run of each")
	product.flag(cmd)
	return cmd
}

func mediumNames() []string {
	var names []string
	for _, c := range bench.Mediums() {
		names = append(names, c.Name)
	}
	return names
}

func (a *app) benchMedium(ctx context.Context, o bench.MediumOptions, program string) error {
	o.Seed, o.Store, o.Say = a.Seed, dataset.Default(), a.Talk.Say
	o.Stage = func(name string) func() {
		s := a.Talk.Stage(name)
		return func() { s.Done("measured") }
	}
	o.Program = func(ctx context.Context, job bench.MediumJob) (bench.MediumCost, error) {
		return runProgram(ctx, program, a.Threads, job)
	}
	r, err := bench.RunMedium(ctx, o)
	if err != nil {
		return datasetError(err)
	}
	if a.JSON {
		return json.NewEncoder(a.Out).Encode(r)
	}
	return printMedium(a.Out, r)
}

// runProgram runs the program on files in a folder of its own.
func runProgram(ctx context.Context, program string, threads int, job bench.MediumJob) (cost bench.MediumCost, err error) {
	dir, err := os.MkdirTemp("", "grfgp-medium")
	if err != nil {
		return cost, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	edges, given, answer := filepath.Join(dir, "edges.csv"), filepath.Join(dir, "given.csv"), filepath.Join(dir, "answer.json")
	if err := errors.Join(writeTo(edges, job.Edges), writeTo(given, job.Given)); err != nil {
		return cost, err
	}
	flag := map[string]string{"predict": "--measurements", "classify": "--labels"}[job.Verb]
	cmd := exec.CommandContext(ctx, program, job.Verb, "--edges", edges, flag, given, "--json", "--quiet", "--threads", strconv.Itoa(threads),
		"-o", answer)
	var said strings.Builder
	cmd.Stderr = &said
	start := time.Now()
	if err := cmd.Run(); err != nil {
		return cost, fmt.Errorf("%s: %w: %s", job.Verb, err, strings.TrimSpace(said.String()))
	}
	cost.Seconds = time.Since(start).Seconds()
	cost.CPU = (cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Seconds()
	cost.Peak = peakOf(cmd.ProcessState)
	in, err := os.Open(answer)
	if err != nil {
		return cost, err
	}
	defer in.Close()
	return cost, job.Answer(in)
}

func writeTo(name string, write func(io.Writer) error) error {
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	return errors.Join(write(f), f.Close())
}

func printMedium(w io.Writer, r *bench.MediumReport) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintf(t, "case\tnodes\tedges\tmeasured\tseconds\tCPU seconds\t/ Cholesky\tpeak\terror\tin 95 %% intervals\tlog likelihood\tchosen\n")
	for _, c := range r.Cases {
		inside, likelihood := "", ""
		if c.Coverage > 0 {
			inside, likelihood = fmt.Sprintf("%.1f %%", 100*c.Coverage), fmt.Sprintf("%.1f", c.LogLikelihood)
		}
		fmt.Fprintf(t, "%s\t%d\t%d\t%d\t%.1f\t%.1f\t%.0f\t%s\t%.4f\t%s\t%s\t%s\n", c.Title, c.Nodes, c.Edges, c.Measured,
			c.Seconds, c.CPU, c.Ratio, cli.Size(c.Peak), c.Error, inside, likelihood, c.Chosen)
	}
	return t.Flush()
}
