package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"grfgp/bayesopt"
	"grfgp/client"
	"grfgp/internal/cli"
	"grfgp/internal/plural"
	"grfgp/internal/printable"
	"grfgp/study"
)

func studyAsk(a *app, f *studyFlags) *cobra.Command {
	var r study.AskRequest
	cmd := &cobra.Command{
		Use:   "ask NAME [-n 1 | --node NODE …]",
		Short: "Ask for nodes to measure, and reserve them",
		Long: `Ask picks nodes and reserves them until the lease expires. With --key an ask can be
repeated, for example after a lost connection: the same key gets the same nodes.
With --node it reserves a node of your own choice.`,
		Args: cli.Named(1, "NAME"),
		RunE: a.withStudy(f, func(ctx context.Context, s client.Study, _ []string) error {
			if r.Nodes != nil {
				r.Count = len(r.Nodes)
			}
			if r.Count < 1 {
				return cli.Usagef("-n %d: give 1 or more", r.Count)
			}
			if r.Lease < 0 {
				return cli.Usagef("--lease %v: give a duration such as 90m or 48h", r.Lease)
			}
			r.Holder = f.who()
			stage := a.Talk.Stage("suggesting")
			a.asking = stage
			answer, err := s.Ask(ctx, r)
			if err != nil {
				return err
			}
			answer.Key = r.Key // a server is given a key in any case
			stage.Done("%d of %d nodes", len(answer.Trials), r.Count)
			why := askShort(answer.Short, s.Settings().Budget != nil)
			if answer.Short == study.ReasonPaused || answer.Short == study.ReasonClosed {
				shown, err := s.Show(ctx)
				if err != nil {
					return err
				}
				if shown.Stopped != nil { // it may have been resumed meanwhile
					why += " (" + string(shown.Status) + " " + stopWords(shown.Stopped) + ")"
				}
			}
			return a.answerAsk(s.Settings(), answer, why)
		}),
	}
	flags := cmd.Flags()
	flags.IntVarP(&r.Count, "count", "n", 1, "number of nodes")
	flags.StringArrayVar(&r.Nodes, "node", nil, "reserve this `node` of your own choice; may be repeated")
	flags.StringVar(&r.Key, "key", "", "idempotency key: the same key gets the same answer")
	flags.DurationVar(&r.Lease, "lease", 0, "duration of the reservation (default: that of the study)")
	return cmd
}

// answerAsk prints the trials, and why there are fewer than asked for.
func (a *app) answerAsk(of study.Settings, answer study.Ask, why string) error {
	name, labels, result := of.Name, of.Labels, "VALUE"
	if labels {
		result = "CLASS"
	}
	err := a.Answer(struct {
		Version int `json:"version"`
		study.Ask
		ShortWhy string `json:"short_why,omitempty"`
	}{1, answer, why}, func(w io.Writer) error {
		if len(answer.Trials) == 0 {
			return nil
		}
		t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
		head := "trial\tnode\tmean\tsd\tcost\treason"
		if labels {
			head = "trial\tnode\tmost probable\tprobability\tcost\treason"
		}
		fmt.Fprintln(t, head)
		for _, i := range answer.Trials {
			mean, sd := predictedText(i)
			fmt.Fprintf(t, "%d\t%s\t%s\t%s\t%.4g\t%s\n", i.Trial, printable.Line(i.Node), printable.Line(mean), sd, i.Cost, printable.Line(i.Why))
		}
		return t.Flush()
	})
	switch {
	case err != nil:
		return err
	case len(answer.Trials) == 0:
		return cli.Exit(cli.ExitNothing, fmt.Errorf("nothing to suggest: %s", why))
	case answer.Short != bayesopt.Enough:
		a.Talk.Say("%d of the %d nodes asked for: %s", len(answer.Trials), answer.Count, why)
	}
	if answer.Random != "" {
		a.Talk.Say("note: drawn at random, not by the policy: %s", answer.Random)
	}
	for _, i := range answer.Trials {
		if state := answer.Ended[i.Trial]; state != "" {
			a.Talk.Say("note: trial %d, node %s, is %s already; a node whose trial has ended may be reserved for somebody else", i.Trial,
				printable.Line(i.Node), state)
		}
	}
	if len(answer.Ended) == len(answer.Trials) {
		return nil
	}
	a.Talk.Say("reserved until %s; tell the results as in 'grfgp study tell %s %d=%s'", clockTime(answer.Until), name, answer.Trials[0].Trial,
		result)
	return nil
}

// askShort says why there are fewer nodes than asked for. With a budget, some of the
// nodes besides those in full groups may cost too much.
func askShort(r study.Reason, budgeted bool) string {
	switch r {
	case bayesopt.Enough:
		return ""
	case bayesopt.NoNodesLeft:
		return "every allowed node is measured, reserved or abandoned"
	case bayesopt.BudgetReached:
		return "the other nodes cost more than is left of the budget, pending trials included"
	case bayesopt.GroupsFull:
		if budgeted {
			return "the other nodes are in groups that have reached their number of pending trials, or cost more than is left of the budget"
		}
		return "the other nodes are in groups that have reached their number of pending trials"
	case study.ReasonPaused:
		return "the study is paused; 'grfgp study resume' resumes it"
	case study.ReasonClosed:
		return "the study is closed"
	}
	return string(r)
}

func studyTell(a *app, f *studyFlags) *cobra.Command {
	var note string
	cmd := &cobra.Command{
		Use:   "tell NAME TRIAL=VALUE[/EXPOSURE] …",
		Short: "Tell the results of trials: a value or a class each, or failed",
		Long: `Tell ends trials. Telling the same result again is harmless; another value is a
conflict: retract the first, then tell the second. Results of expired trials are
accepted. If a trial is unknown, no result is stored; if a result is in conflict, the
results before it are stored.

A study of shares, or of counts with exposures, takes the number tested or the exposure
behind the value: 1=3/20 is 3 positives of 20 tested. A study of classes takes the name
of a class, as in 1=oak.`,
		Example: `  grfgp study tell pipes 1=0.52 2=-1.3 3=failed --store studies.db
  grfgp study tell worms 1=3/20 2=0/15 --store studies.db`,
		Args: cli.Named(2, "NAME TRIAL=VALUE …"),
		RunE: a.withStudy(f, func(ctx context.Context, s client.Study, args []string) error {
			type result struct {
				trial   int
				outcome study.Outcome
			}
			var all []result
			for _, arg := range args { // all are read before any is told
				id, value, ok := strings.Cut(arg, "=")
				if !ok {
					return cli.Usagef("%q: give a trial and its value, as in 3=0.52 or 3=failed", arg)
				}
				trial, err := strconv.Atoi(id)
				if err != nil {
					return cli.Usagef("%q: a trial is a number, as 'grfgp study show' lists them", arg)
				}
				o, err := readOutcome(s.Settings(), arg, value, note)
				if err != nil {
					return err
				}
				all = append(all, result{trial, o})
			}
			number := func(r result) int { return r.trial }
			return each(ctx, s, all, number, trialCount, a.answerTrials, func(r result) (study.Trial, error) {
				return s.Tell(ctx, r.trial, r.outcome, f.who())
			})
		}),
	}
	cmd.Flags().StringVar(&note, "note", "", "note to store with the results")
	return cmd
}

// readResult parses a value, and its exposure if there is one: 0.52 or 3/20.
func readResult(arg, text string) (value, exposure float64, err error) {
	number, size, exposed := strings.Cut(text, "/")
	if value, err = readValue(arg, number); err != nil || !exposed {
		return value, 0, err
	}
	if exposure, err = readValue(arg, size); err == nil && exposure <= 0 {
		err = cli.Dataf("%s: the exposure %s is not above 0", arg, size)
	}
	return value, exposure, err
}

// resultText writes a value as readResult reads it.
func resultText(m study.Measurement) string {
	switch {
	case m.Class != "":
		return printable.Line(m.Class)
	case m.Exposure == 0:
		return fmt.Sprint(m.Value)
	}
	return fmt.Sprintf("%v/%v", m.Value, m.Exposure)
}

// resultOf returns the result of a trial that has one.
func resultOf(t study.Trial) study.Measurement {
	m := study.Measurement{Node: t.Node, Exposure: t.Exposure, Class: t.Class}
	if t.Value != nil {
		m.Value = *t.Value
	}
	return m
}

// readValue parses the finite number of an argument, in decimal notation.
func readValue(arg, text string) (float64, error) {
	v, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsNaN(v) || math.IsInf(v, 0) || strings.ContainsAny(text, "xX_pP") {
		return 0, cli.Dataf("%s: %q is not a finite number; write it as in 0.52 or -1.3e-4", arg, text)
	}
	return v, nil
}

// answerTrials prints trials, and the number of trials not processed.
func (a *app) answerTrials(trials []study.Trial, left int) error {
	return a.Answer(struct {
		Version int           `json:"version"`
		Trials  []study.Trial `json:"trials"`
		Left    int           `json:"not_done,omitempty"`
	}{1, trials, left}, func(w io.Writer) error {
		for _, t := range trials {
			fmt.Fprintf(w, "trial %d, node %s: %s", t.Trial, printable.Line(t.Node), t.State)
			if t.State == study.TrialDone {
				fmt.Fprintf(w, ", %s (observation %d)", resultText(resultOf(t)), t.Number)
			}
			if t.State == study.TrialPending {
				fmt.Fprintf(w, " until %s", clockTime(t.Until))
			}
			fmt.Fprintln(w)
		}
		return nil
	})
}

// onTrials is a command on trials, by their numbers.
func onTrials(a *app, f *studyFlags, use, short string,
	do func(ctx context.Context, s client.Study, trial int) (study.Trial, error)) *cobra.Command {
	return &cobra.Command{
		Use:   use + " NAME TRIAL …",
		Short: short,
		Args:  cli.Named(2, "NAME TRIAL …"),
		RunE: a.withStudy(f, func(ctx context.Context, s client.Study, args []string) error {
			ids, err := numbersOf(args, "--trials")
			if err != nil {
				return err
			}
			return each(ctx, s, ids, itself, trialCount, a.answerTrials, func(id int) (study.Trial, error) { return do(ctx, s, id) })
		}),
	}
}

// counted describes trials or observations, which are numbered from 1.
type counted struct {
	name, flag string // the flag of study show
	count      func(*client.Overview) int
}

var (
	trialCount       = counted{"trial", "--trials", func(s *client.Overview) int { return len(s.AllTrials) }}
	observationCount = counted{"observation", "--observations", func(s *client.Overview) int { return len(s.Observations) }}
)

func itself(n int) int { return n }

// each applies a command to several trials or observations: to none if a number is
// unknown, and else up to the first error. It shows the results.
func each[A, B any](ctx context.Context, s client.Study, all []A, number func(A) int, of counted, show func(done []B, left int) error,
	do func(A) (B, error)) error {
	if len(all) > 1 {
		shown, err := s.Show(ctx)
		if err != nil {
			return err
		}
		for _, x := range all {
			if n := number(x); n < 1 || n > of.count(shown) {
				return cli.Usagef("there is no %s %d; the study has %s; nothing was done ('grfgp study show %s %s' lists them)", of.name, n,
					plural.Count(of.count(shown), of.name+"s"), shown.Name, of.flag)
			}
		}
	}
	var done []B
	for k, x := range all {
		b, err := do(x)
		switch {
		case err != nil && k == 0:
			return err
		case err != nil:
			return errors.Join(show(done, len(all)-k), fmt.Errorf("%w; %d of %d were processed before it", err, k, len(all)))
		}
		done = append(done, b)
	}
	return show(done, 0)
}

func numbersOf(args []string, flag string) ([]int, error) {
	var all []int
	for _, arg := range args {
		n, err := strconv.Atoi(arg)
		if err != nil {
			return nil, cli.Usagef("%q is not a number; 'grfgp study show NAME %s' lists the numbers", arg, flag)
		}
		all = append(all, n)
	}
	return all, nil
}

func studyRenew(a *app, f *studyFlags) *cobra.Command {
	var lease time.Duration
	cmd := onTrials(a, f, "renew", "Extend leases", func(ctx context.Context, s client.Study, trial int) (study.Trial, error) {
		return s.Renew(ctx, trial, lease, f.who())
	})
	cmd.Flags().DurationVar(&lease, "lease", 0, "duration from now (default: that of the study)")
	return cmd
}

func studyRelease(a *app, f *studyFlags) *cobra.Command {
	return onTrials(a, f, "release", "Release nodes that you will not measure",
		func(ctx context.Context, s client.Study, trial int) (study.Trial, error) {
			return s.Release(ctx, trial, f.who())
		})
}

func studyAbandon(a *app, f *studyFlags) *cobra.Command {
	var note string
	cmd := onTrials(a, f, "abandon", "Give up nodes that cannot be measured; they are not suggested again",
		func(ctx context.Context, s client.Study, trial int) (study.Trial, error) {
			return s.Abandon(ctx, trial, note, f.who())
		})
	cmd.Flags().StringVar(&note, "note", "", "why")
	return cmd
}

func studyReopen(a *app, f *studyFlags) *cobra.Command {
	var note string
	cmd := onTrials(a, f, "reopen", "Take back how trials ended: they are pending again, and their values are retracted",
		func(ctx context.Context, s client.Study, trial int) (study.Trial, error) {
			return s.Reopen(ctx, trial, note, f.who())
		})
	cmd.Flags().StringVar(&note, "note", "", "why")
	return cmd
}
