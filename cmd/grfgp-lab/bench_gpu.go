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
	"time"

	"github.com/spf13/cobra"

	"grfgp/internal/cli"
	"grfgp/internal/gpu"
	"grfgp/lab/bench"
)

func benchGPUVerb(a *app) *cobra.Command {
	var o bench.GPUOptions
	var folder string
	var product productFlag
	cmd := &cobra.Command{
		Use:   "gpu [PART …]",
		Short: "Measure a graphics card beside the processor of its machine",
		Long: `Gpu measures these parts on the graphics card and then on the processor, and prints the
ratios of their times and the largest differences of their results:

  products  products of sparse matrices with 1 to 64 vectors, as shares of the rate at
            which the card copies its memory
  rings     whole regressions on rings of up to 2^20 nodes, by the authors' protocol and by
            the clean one of 'grfgp-lab reproduce scaling'
  thompson  steps of Thompson sampling on a million nodes after 2,000 measurements
  predict   'grfgp predict' on a grid of ten million nodes with 1,000 measurements, in
            processes of their own

Without arguments it runs all parts, in about four minutes on 16 cores; --alone leaves out
the processor. The program must have been built with -tags gpu.`,
		Example:   "  grfgp-lab bench gpu\n  grfgp-lab bench gpu rings thompson --alone --runs 5",
		ValidArgs: bench.GPUParts(),
		RunE: func(cmd *cobra.Command, parts []string) error {
			for _, p := range parts {
				if !slices.Contains(bench.GPUParts(), p) {
					return cli.Usagef("there is no part %q; the parts are %s", p, strings.Join(bench.GPUParts(), ", "))
				}
			}
			if o.Runs < 1 {
				return cli.Usagef("--runs %d: give 1 or more", o.Runs)
			}
			var err error
			if o.Device, err = gpu.Open(); err != nil {
				return cardMissing(err)
			}
			o.Parts = parts
			o.Predict = func(ctx context.Context, job bench.GridJob) (cost bench.GridCost, err error) {
				err = product.with(ctx, a, func(program string) error {
					cost, err = a.predictGrid(ctx, folder, job, func(ctx context.Context, args ...string) (bench.Predicted, error) {
						return runStages(ctx, program, args...)
					})
					return err
				})
				return cost, err
			}
			return cardMissing(errors.Join(a.benchGPU(cmd.Context(), o), o.Device.Close()))
		},
	}
	cmd.Flags().BoolVar(&o.Quick, "quick", false, "small graphs: seconds instead of minutes, with figures that say little")
	cmd.Flags().BoolVar(&o.Alone, "alone", false, "leave out the processor: neither ratios nor differences")
	cmd.Flags().IntVar(&o.Runs, "runs", 3, "runs `N` of each regression on the card, of which the median is printed")
	product.flag(cmd)
	cmd.Flags().StringVar(&folder, "folder", "", "`folder` for the files of predict, some 4 GB (default: that for temporary files)")
	return cmd
}

// cardMissing returns an error about a card without the advice to use the processor.
func cardMissing(err error) error {
	if cli.IsCardError(err) {
		return cli.TooLargef("%v", err)
	}
	return err
}

func (a *app) benchGPU(ctx context.Context, o bench.GPUOptions) error {
	o.Seed = a.Seed
	o.Stage = func(part string) func() {
		s := a.Talk.Stage(part)
		return func() { s.Done("measured") }
	}
	r, err := bench.RunGPU(ctx, o)
	if err != nil {
		return err
	}
	if a.JSON {
		return json.NewEncoder(a.Out).Encode(r)
	}
	return printGPU(a.Out, r)
}

// predictGrid packs a graph and predicts from the packed file.
func (a *app) predictGrid(ctx context.Context, folder string, job bench.GridJob,
	run func(context.Context, ...string) (bench.Predicted, error)) (cost bench.GridCost, err error) {
	dir, err := os.MkdirTemp(folder, "grfgp-gpu")
	if err != nil {
		return cost, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	at := func(name string) string { return filepath.Join(dir, name) }
	if err := errors.Join(writeTo(at("edges.csv"), job.Edges), writeTo(at("given.csv"), job.Given)); err != nil {
		return cost, err
	}
	common := []string{"--threads", strconv.Itoa(a.Threads), "--seed", strconv.FormatUint(a.Seed, 10)}
	packed, err := run(ctx, append([]string{"pack", "--edges", at("edges.csv"), "-o", at("packed")}, common...)...)
	if err != nil {
		return cost, err
	}
	cost.Pack = packed.Seconds
	predict := func(device string) (bench.Predicted, error) {
		return run(ctx, append([]string{"predict", "--edges", at("packed"), "--measurements", at("given.csv"), "--device", device, "-o",
			at(device + ".csv")}, common...)...)
	}
	if cost.Card, err = predict("gpu"); err != nil || job.Alone {
		return cost, err
	}
	beside, err := predict("cpu")
	if err != nil {
		return cost, err
	}
	cost.Processor = &beside
	card, err := os.Open(at("gpu.csv"))
	if err != nil {
		return cost, err
	}
	defer card.Close()
	processor, err := os.Open(at("cpu.csv"))
	if err != nil {
		return cost, err
	}
	defer processor.Close()
	return cost, job.Compare(card, processor)
}

// runStages runs the program, with the times of its stages.
func runStages(ctx context.Context, program string, args ...string) (p bench.Predicted, err error) {
	cmd := exec.CommandContext(ctx, program, args...)
	var said strings.Builder
	cmd.Stdout, cmd.Stderr = io.Discard, &said
	start := time.Now()
	if err := cmd.Run(); err != nil {
		return p, fmt.Errorf("%s: %w: %s", args[0], err, strings.TrimSpace(said.String()))
	}
	p.Seconds = time.Since(start).Seconds()
	p.CPU = (cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Seconds()
	p.Peak = peakOf(cmd.ProcessState)
	p.Stages = stagesIn(said.String())
	return p, nil
}

// stagesIn finds the lines that finished stages leave, as in "fitting: diffusion (5.9s)".
func stagesIn(text string) []bench.StageTime {
	all := []bench.StageTime{}
	for line := range strings.Lines(text) {
		name, rest, ok := strings.Cut(strings.TrimSpace(line), ": ")
		open := strings.LastIndex(rest, " (")
		if !ok || open < 0 {
			continue
		}
		if took, err := time.ParseDuration(strings.TrimSuffix(rest[open+2:], ")")); err == nil {
			all = append(all, bench.StageTime{Name: name, Seconds: took.Seconds()})
		}
	}
	return all
}
