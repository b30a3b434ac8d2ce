package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"grfgp/internal/paper/dataset"
	"grfgp/internal/paper/experiment"
	"grfgp/internal/plain"
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
		fmt.Fprintf(&about, "\n  %-10s %s", e.Name, strings.ToLower(e.Title[:1])+e.Title[1:])
	}
	cmd := &cobra.Command{
		Use:   "reproduce EXPERIMENT... | all",
		Short: "Run the paper's tables and figures again, beside the paper's numbers",
		Long: `Reproduce runs experiments of the paper, and puts beside its numbers ours by the
authors' protocol and by a clean one, with what differs between the two.
` + about.String() + `

In the folder of -o it writes for each experiment a CSV with every seed, figures, and
one report over all that was run there, as report.html and report.md. Seconds and bytes,
which are never the same twice, have a CSV of their own. Finished parts are kept: an interrupted run goes on
where it was, and a part whose settings have changed is run anew.`,
		Example:   "  grfgp reproduce ablation\n  grfgp reproduce all --quick -o first-look",
		ValidArgs: append(slices.Clone(names), "all"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usagef("no experiment: name some of %s, or all", strings.Join(names, ", "))
			}
			for _, name := range args {
				if name != "all" && !slices.Contains(names, name) {
					return usagef("there is no experiment %q; there are %s and all", name, strings.Join(names, ", "))
				}
			}
			if f.seeds < 0 {
				return usagef("--seeds %d: give 1 or more", f.seeds)
			}
			var chosen []*experiment.Experiment
			for _, e := range experiment.All() {
				if slices.Contains(args, e.Name) || slices.Contains(args, "all") {
					chosen = append(chosen, e)
				}
			}
			return a.reproduce(cmd.Context(), experiment.All(), chosen, &f)
		},
	}
	flags := cmd.Flags()
	flags.BoolVar(&f.quick, "quick", false, "small sizes and few seeds: minutes instead of hours, and less telling")
	flags.IntVar(&f.seeds, "seeds", 0, "repetitions of what is random (default: as many as each experiment needs)")
	flags.StringVar(&f.only, "only", "", "only parts whose names match this `pattern` (a regular expression); names are those of the files in DIR/EXPERIMENT")
	flags.BoolVar(&f.finished, "finished", false, "run nothing: tables and figures of the parts that are finished")
	flags.StringVarP(&f.dir, "dir", "o", "reproduction", "`folder` for results, finished parts and the report")
	return cmd
}

// reproduceAnswer is the answer in JSON.
type reproduceAnswer struct {
	Version     int        `json:"version"`
	Dir         string     `json:"dir"`
	Experiments []*chapter `json:"experiments"`
	Failed      []failure  `json:"failed,omitempty"`
}

// failure is an experiment that could not be run, and why.
type failure struct {
	Name string `json:"name"`
	Why  string `json:"why"`
}

// reproduce runs the chosen experiments one after the other. One that fails does
// not keep the others from running. The report is over all that are known and have
// results.
func (a *app) reproduce(ctx context.Context, known, chosen []*experiment.Experiment, f *reproduceFlags) error {
	var only *regexp.Regexp
	if f.only != "" {
		var err error
		if only, err = regexp.Compile(f.only); err != nil {
			return usagef("--only %s: %v", f.only, err)
		}
	}
	b, err := openBinder(f.dir)
	if err != nil {
		return err
	}
	defer b.close()
	if f.quick {
		if err := b.keepsFull(chosen); err != nil {
			return err
		}
	}
	opts := experiment.Options{Quick: f.quick, Seeds: f.seeds, Seed: a.seed, Only: only, Finished: f.finished}
	a.sayWork(chosen, opts, b)
	answer := reproduceAnswer{Version: 1, Dir: f.dir, Experiments: []*chapter{}}
	var failed, unmatched []error
	for _, e := range chosen {
		c, err := a.runExperiment(ctx, e, opts, b)
		if ctx.Err() != nil {
			a.talk.Say("What is finished is kept in %s; the same command goes on from there.", f.dir)
			return ctx.Err()
		}
		if errors.Is(err, experiment.ErrNoPart) {
			unmatched = append(unmatched, err)
			continue
		}
		if err != nil {
			if len(chosen) > 1 { // or else it is the last word
				a.talk.Say("%s: left out: %s", e.Name, plain.Words(err))
			}
			answer.Failed = append(answer.Failed, failure{e.Name, plain.Words(err)})
			failed = append(failed, err)
			continue
		}
		answer.Experiments = append(answer.Experiments, c)
	}
	if len(unmatched) == len(chosen) && len(chosen) > 0 {
		return &exitError{exitUsage, fmt.Errorf("--only %s: %w", f.only, errors.Join(unmatched...))}
	}
	if err := b.writeReport(known); err != nil {
		return err
	}
	if err := a.answerReproduce(&answer); err != nil {
		return err
	}
	return a.incomplete(len(chosen), answer.Failed, errors.Join(failed...))
}

// incomplete says at the end which experiments are missing.
func (a *app) incomplete(chosen int, failures []failure, err error) error {
	if err == nil {
		return nil
	}
	var names []string
	for _, f := range failures {
		names = append(names, f.Name)
	}
	code := exitInternal
	for _, data := range []error{experiment.ErrNoData, experiment.ErrUnfinished, dataset.ErrMissing, dataset.ErrDamaged} {
		if errors.Is(err, data) {
			code = exitBadData
		}
	}
	return &exitError{code, fmt.Errorf("%d of %d experiments are missing (%s): %w", len(failures), chosen, strings.Join(names, ", "), err)}
}

// sayWork says how long what is not finished will take, if that is long.
func (a *app) sayWork(chosen []*experiment.Experiment, opts experiment.Options, b *binder) {
	left := 0.0
	for _, e := range chosen {
		left += experiment.Left(e, opts, b.shelf(e.Name))
	}
	if left > 60 {
		a.talk.Say("some %s of work on two idle cores; interrupted, the same command goes on", inWords(left))
	}
}

// inWords shows seconds in units of their own.
func inWords(seconds float64) string {
	switch {
	case seconds < 100:
		return fmt.Sprintf("%.0f s", seconds)
	case seconds < 100*60:
		return fmt.Sprintf("%.0f min", seconds/60)
	}
	return fmt.Sprintf("%.0f h", seconds/3600)
}

// runExperiment runs one experiment and writes what came of it.
func (a *app) runExperiment(ctx context.Context, e *experiment.Experiment, opts experiment.Options, b *binder) (*chapter, error) {
	s := a.talk.Stage(e.Name)
	told := time.Now()
	results, err := experiment.Run(ctx, e, opts, b.shelf(e.Name), experiment.Watch{
		Say: a.talk.Say,
		Progress: func(p experiment.Progress) {
			const grain = 1e6 // of the bar
			s.Update(int64(grain*p.Done), int64(grain*p.Work))
			if now := time.Now(); !a.talk.terminal && now.Sub(told) > lineEvery {
				told = now
				a.talk.Say("%s: %d of %d parts, %s left", e.Name, p.Kept+p.Ended, p.Cells, timeLeft(now.Sub(s.begin), p))
			}
		},
	})
	if err != nil {
		return nil, err
	}
	section, err := e.Show(opts, results)
	if err != nil {
		return nil, fmt.Errorf("showing %s: %w", e.Name, err)
	}
	section.Tables = slices.DeleteFunc(section.Tables, func(t experiment.Table) bool { return len(t.Rows) == 0 }) // of parts that have not run
	c := &chapter{
		Version: 1, Name: e.Name, Title: e.Title, About: e.About, Options: opts, Cells: len(results.Cells), Listed: results.Listed,
		Seconds: e.Seconds(results.Rows), Program: thisProgram(), Columns: columnFacts(e.Columns), Section: section,
	}
	if err := b.write(e, results, c); err != nil {
		return nil, err
	}
	note := ""
	if results.Kept > 0 {
		note = fmt.Sprintf(", %d of them from before", results.Kept)
	}
	if out := results.Listed - len(results.Cells); out > 0 {
		note += fmt.Sprintf("; %d more are not there", out)
	}
	s.Done("%d parts%s", len(results.Cells), note)
	return c, nil
}

// lineEvery is how often a run that is not watched on a terminal says how far it is.
const lineEvery = 20 * time.Second

// timeLeft goes by the work that is done.
func timeLeft(elapsed time.Duration, p experiment.Progress) string {
	if p.Done <= 0 {
		return "some " + inWords(p.Work)
	}
	return "about " + (time.Duration(float64(elapsed) * (p.Work - p.Done) / p.Done)).Round(time.Second).String()
}

func (a *app) answerReproduce(answer *reproduceAnswer) error {
	if a.json {
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
		a.talk.Say("%s/report.html has all tables and figures", answer.Dir)
	}
	return nil
}
