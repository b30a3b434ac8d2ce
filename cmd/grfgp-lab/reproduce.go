package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"grfgp/internal/cli"
	"grfgp/internal/version"
	"grfgp/lab/dataset"
	"grfgp/lab/experiment"
	"grfgp/lab/output"
)

// reproduceFlags are the flags of the verb.
type reproduceFlags struct {
	quick    bool
	seeds    int
	only     string
	finished bool
	dir      string
}

func reproduceVerb(a *app) *cobra.Command {
	var f reproduceFlags
	var names []string
	for _, e := range experiment.All() {
		names = append(names, e.Name)
	}
	var about strings.Builder
	for _, e := range experiment.All() {
		fmt.Fprintf(&about, "\n  %-10s %s", e.Name, e.Title)
	}
	cmd := &cobra.Command{
		Use:   "reproduce EXPERIMENT... | all",
		Short: "Reproduce the paper's tables and figures and compare the numbers",
		Long: `Reproduce runs experiments of the paper and compares its numbers with ours, by the
authors' protocol and by a clean one, and says how the two protocols differ.
` + about.String() + `

The folder given by -o receives, for each experiment, a CSV file with the results of every
seed, a CSV file with times and memory use, which differ from run to run, and figures; and
one report on all experiments in the folder, as report.html and report.md. Finished parts
are cached there: an interrupted run continues where it stopped, and only parts whose
settings have changed are computed again.`,
		Example:   "  grfgp-lab reproduce ablation\n  grfgp-lab reproduce all --quick -o first-look",
		ValidArgs: append(slices.Clone(names), "all"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return cli.Usagef("no experiment given: name one or more of %s, or all", strings.Join(names, ", "))
			}
			for _, name := range args {
				if name != "all" && !slices.Contains(names, name) {
					return cli.Usagef("there is no experiment %q; the experiments are %s and all", name, strings.Join(names, ", "))
				}
			}
			if f.seeds < 0 {
				return cli.Usagef("--seeds %d: give 1 or more", f.seeds)
			}
			var chosen []*experiment.Experiment
			for _, e := range experiment.All() {
				if slices.Contains(args, e.Name) || slices.Contains(args, "all") {
					chosen = append(chosen, e)
				}
			}
			if !a.Ranks.Alone() {
				return a.reproduceTogether(cmd.Context(), chosen, &f)
			}
			return a.reproduce(cmd.Context(), experiment.All(), chosen, &f)
		},
	}
	flags := cmd.Flags()
	flags.BoolVar(&f.quick, "quick", false, "small sizes and few seeds: minutes instead of hours, with less precise results")
	flags.IntVar(&f.seeds, "seeds", 0, "number of random repetitions (default: set by each experiment)")
	flags.StringVar(&f.only, "only", "", "run only parts whose names match this `pattern` (a regular expression); the files in "+
		"DIR/EXPERIMENT are named after the parts")
	flags.BoolVar(&f.finished, "finished", false, "compute nothing: show tables and figures of the finished parts")
	flags.StringVarP(&f.dir, "dir", "o", "reproduction", "`folder` for results, finished parts and the report")
	return cmd
}

// reproduceTogether runs experiments as one of several ranks: rank 0 keeps the folder, and the
// others compute with it.
func (a *app) reproduceTogether(ctx context.Context, chosen []*experiment.Experiment, f *reproduceFlags) error {
	for _, e := range chosen {
		if !e.Shared {
			return cli.Usagef("%s is for one process, and there are %d ranks: start it without mpirun", e.Name, a.Ranks.Size())
		}
	}
	if a.Ranks.Rank() == 0 {
		return a.reproduce(ctx, experiment.All(), chosen, f)
	}
	for _, e := range chosen {
		if err := e.Follow(ctx, experiment.Options{Quick: f.quick, Seeds: f.seeds, Seed: a.Seed, Ranks: a.Ranks}); err != nil {
			return reproduceError(err)
		}
	}
	return nil
}

// reproduceAnswer is the answer in JSON.
type reproduceAnswer struct {
	Version     int               `json:"version"`
	Dir         string            `json:"dir"`
	Experiments []*output.Summary `json:"experiments"`
	Failed      []failure         `json:"failed,omitempty"`
}

// failure is an experiment that could not be run, and the reason.
type failure struct {
	Name string `json:"name"`
	Why  string `json:"why"`
}

// reproduce runs the chosen experiments one after the other; one that fails does not
// stop the others. The report covers all known experiments with results in the folder.
func (a *app) reproduce(ctx context.Context, known, chosen []*experiment.Experiment, f *reproduceFlags) error {
	var only *regexp.Regexp
	if f.only != "" {
		var err error
		if only, err = regexp.Compile(f.only); err != nil {
			return cli.Usagef("--only %s: %v", f.only, err)
		}
	}
	folder, err := output.Open(f.dir)
	switch {
	case errors.Is(err, output.ErrInUse):
		return cli.Exit(cli.ExitHeld, fmt.Errorf("another grfgp-lab is running in %s; wait for it, or name another folder with -o", f.dir))
	case err != nil:
		return cli.Usagef("-o %s: %v; name another folder", f.dir, err)
	}
	defer folder.Close()
	opts := experiment.Options{Quick: f.quick, Seeds: f.seeds, Seed: a.Seed, Only: only, Finished: f.finished, Ranks: a.Ranks}
	plans, errs := make([]*experiment.Plan, len(chosen)), make([]error, len(chosen))
	work := 0.0
	for k, e := range chosen {
		if s, err := folder.Summary(e.Name); f.quick && err == nil && s != nil && !s.Options.Quick {
			return cli.Usagef("-o %s has results of a full run of %s, which a quick run would overwrite; name another folder", f.dir, e.Name)
		}
		if plans[k], errs[k] = folder.Plan(e, opts, a.Talk.Say); errs[k] == nil {
			work += plans[k].Work()
		}
	}
	if work > 60 {
		a.Talk.Say("about %s of work on two idle cores; if interrupted, the same command continues", output.Duration(work))
	}
	answer := reproduceAnswer{Version: 1, Dir: f.dir, Experiments: []*output.Summary{}}
	var failed, unmatched []error
	for k, e := range chosen {
		var s *output.Summary
		err := errs[k]
		if err == nil {
			s, err = a.runExperiment(ctx, e, plans[k], opts, folder)
		}
		plans[k] = nil // with the arrays of all its parts
		if ctx.Err() != nil {
			a.Talk.Say("Finished parts are in %s; the same command continues from there.", f.dir)
			return ctx.Err()
		}
		if errors.Is(err, experiment.ErrNoPart) {
			unmatched = append(unmatched, err)
			continue
		}
		if err != nil {
			if len(chosen) > 1 { // a single error is printed at the end
				a.Talk.Say("%s: skipped: %s", e.Name, err.Error())
			}
			answer.Failed = append(answer.Failed, failure{e.Name, err.Error()})
			failed = append(failed, err)
			continue
		}
		answer.Experiments = append(answer.Experiments, s)
	}
	if len(unmatched) == len(chosen) && len(chosen) > 0 {
		return cli.Exit(cli.ExitUsage, fmt.Errorf("--only %s: %w", f.only, errors.Join(unmatched...)))
	}
	if err := folder.WriteReport(known, reproduceCommand); err != nil {
		if errors.Is(err, output.ErrDamaged) {
			return cli.Exit(cli.ExitBadData, err)
		}
		return err
	}
	if err := a.answerReproduce(&answer); err != nil || len(failed) == 0 {
		return err
	}
	var names []string
	for _, f := range answer.Failed {
		names = append(names, f.Name)
	}
	return reproduceError(fmt.Errorf("%d of %d experiments are missing (%s): %w", len(failed), len(chosen), strings.Join(names, ", "),
		errors.Join(failed...)))
}

// reproduceError gives the errors of experiments their exit code.
func reproduceError(err error) error {
	if errors.Is(err, experiment.ErrUnfinished) {
		err = fmt.Errorf("%w; run it without --finished, or name another folder with -o", err)
	}
	for _, data := range []error{experiment.ErrNoData, experiment.ErrUnfinished, dataset.ErrMissing, dataset.ErrDamaged} {
		if errors.Is(err, data) {
			return cli.Exit(cli.ExitBadData, err)
		}
	}
	return cli.Exit(cli.ExitInternal, err)
}

// runExperiment runs one experiment and writes its results.
func (a *app) runExperiment(ctx context.Context, e *experiment.Experiment, plan *experiment.Plan, opts experiment.Options,
	folder *output.Folder) (*output.Summary, error) {
	s := a.Talk.Stage(e.Name)
	results, err := plan.Run(ctx, experiment.Watch{
		Say: a.Talk.Say,
		Progress: func(p experiment.Progress) {
			const grain = 1e6
			s.Update(int64(grain*p.Done), int64(grain*p.Work))
			s.Work().Step(fmt.Sprintf("%d of %d parts", p.Cached+p.Finished, p.Parts))
		},
	})
	if err != nil {
		return nil, err
	}
	summary, err := folder.Write(e, opts, results, version.Current().String())
	if err != nil {
		return nil, err
	}
	note := ""
	if results.Cached > 0 {
		note = fmt.Sprintf(", %d of them from an earlier run", results.Cached)
	}
	if out := results.Listed - len(results.Parts); out > 0 {
		note += fmt.Sprintf("; %d more have not been run", out)
	}
	s.Done("%d parts%s", len(results.Parts), note)
	return summary, nil
}

// reproduceCommand is the command line that computes a summary.
func reproduceCommand(s *output.Summary) string {
	words := []string{"grfgp-lab", "reproduce", s.Name}
	if s.Options.Quick {
		words = append(words, "--quick")
	}
	if s.Options.Seeds > 0 {
		words = append(words, fmt.Sprintf("--seeds %d", s.Options.Seeds))
	}
	if s.Options.Only != nil {
		words = append(words, fmt.Sprintf("--only '%s'", s.Options.Only))
	}
	if s.Options.Seed != 1 {
		words = append(words, fmt.Sprintf("--seed %d", s.Options.Seed))
	}
	return strings.Join(words, " ")
}

func (a *app) answerReproduce(answer *reproduceAnswer) error {
	if a.JSON {
		return json.NewEncoder(a.Out).Encode(answer)
	}
	for k, c := range answer.Experiments {
		if k > 0 {
			fmt.Fprintln(a.Out)
		}
		fmt.Fprintln(a.Out, c.Title)
		for _, t := range c.Section.Tables {
			fmt.Fprintf(a.Out, "\n%s\n", t.Title)
			if err := t.Fprint(a.Out); err != nil {
				return err
			}
		}
		if len(c.Section.Findings) > 0 {
			fmt.Fprintln(a.Out)
		}
		for _, text := range c.Section.Findings {
			fmt.Fprintln(a.Out, text)
		}
	}
	if len(answer.Experiments) > 0 {
		a.Talk.Say("all tables and figures are in %s/report.html", answer.Dir)
	}
	return nil
}
