package main

import (
	"context"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"grfgp/client"
	"grfgp/internal/cli"
	"grfgp/internal/plural"
	"grfgp/internal/printable"
	"grfgp/study"
)

func studyList(a *app, f *studyFlags) *cobra.Command {
	var archived bool
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the studies of a store",
		Args:  cli.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.withStudies(cmd.Context(), f, true, func(ctx context.Context, all client.Studies) error {
				list, err := all.List(ctx, archived)
				if err != nil {
					return err
				}
				return a.Answer(struct {
					Version int              `json:"version"`
					Studies []client.Summary `json:"studies"`
				}{1, list}, func(w io.Writer) error { return a.listTable(w, list) })
			})
		},
	}
	cmd.Flags().BoolVar(&archived, "archived", false, "list archived studies too")
	return cmd
}

func (a *app) listTable(w io.Writer, list []client.Summary) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "study\tstatus\tgoal\tobservations\tpending\tspent\tleft\tlast event")
	for _, s := range list {
		if s.Problem != "" {
			fmt.Fprintf(t, "%s\t%s\t–\t–\t–\t–\t–\t%s\n", s.Name, s.Status, clockTime(s.Updated))
			a.Talk.Say("note: study %s is damaged: %s", s.Name, s.Problem)
			continue
		}
		if s.Model != "" {
			a.Talk.Say("note: study %s has no model: %s", s.Name, s.Model)
		}
		left := "no limit"
		if s.Left != nil {
			left = fmt.Sprintf("%.4g", *s.Left)
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%d\t%d\t%.4g\t%s\t%s\n", s.Name, s.Status, s.Goal, s.Values, s.Trials[study.TrialPending], s.Spent, left,
			clockTime(s.Updated))
	}
	return t.Flush()
}

// stopWords say who paused or closed a study, when and why.
func stopWords(s *study.Stop) string {
	words := "on " + clockTime(s.Time)
	if s.By != "" {
		words = "by " + printable.Line(s.By) + " " + words
	}
	if s.Note != "" {
		words += ": " + printable.Line(s.Note)
	}
	return words
}

// clockTime formats a time for people.
func clockTime(t time.Time) string { return t.Local().Format("2006-01-02 15:04") }

func studyShow(a *app, f *studyFlags) *cobra.Command {
	var trials, observations bool
	cmd := &cobra.Command{
		Use:   "show NAME",
		Short: "Show a study: pending trials, results, budget",
		Args:  cli.Named(1, "NAME"),
		RunE: a.withStudy(f, func(ctx context.Context, s client.Study, _ []string) error {
			shown, err := s.Show(ctx)
			if err != nil {
				return err
			}
			return a.Answer(shown, func(w io.Writer) error {
				if err := showText(w, shown, trials); err != nil || !observations {
					return err
				}
				return observationTable(w, shown.Observations)
			})
		}),
	}
	cmd.Flags().BoolVar(&trials, "trials", false, "show all trials, not only pending ones")
	cmd.Flags().BoolVar(&observations, "observations", false, "show all observations, with the numbers that retract takes")
	return cmd
}

func showText(w io.Writer, s *client.Overview, trials bool) error {
	fmt.Fprintf(w, "study %s, %s, goal %s\n", s.Name, s.Status, s.Goal)
	if s.Stopped != nil {
		fmt.Fprintf(w, "%s %s\n", s.Status, stopWords(s.Stopped))
	}
	if s.Model != "" {
		fmt.Fprintf(w, "no model: %s\n", s.Model)
	}
	fmt.Fprint(w, plural.Count(s.Values, "observations"))
	if s.Best != nil {
		fmt.Fprintf(w, ", best %.6g at node %s", s.Best.Rate(), printable.Line(s.Best.Node))
	}
	for k, c := range s.Classes {
		if k == 0 {
			fmt.Fprint(w, "\nclasses: ")
		} else {
			fmt.Fprint(w, ", ")
		}
		fmt.Fprintf(w, "%s %d", printable.Line(c.Class), c.Count)
	}
	fmt.Fprintf(w, "\ncost: %.6g spent, pending trials included", s.Spent)
	if s.Left != nil {
		fmt.Fprintf(w, ", %.6g left", *s.Left)
	}
	if s.Queued > 0 {
		fmt.Fprintf(w, "\nqueue: %s", plural.Count(s.Queued, "nodes"))
	}
	fmt.Fprintf(w, "\ntrials: ")
	for k, state := range study.TrialStates() {
		if k > 0 {
			fmt.Fprint(w, ", ")
		}
		fmt.Fprintf(w, "%d %s", s.Trials[state], state)
	}
	fmt.Fprintln(w)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	rows := 0
	for _, trial := range s.AllTrials {
		if !trials && trial.State != study.TrialPending {
			continue
		}
		if rows++; rows == 1 {
			fmt.Fprintln(t, "\ntrial\tnode\tstate\tvalue\tholder\tlease ends\tnote")
		}
		value := "–"
		if trial.State == study.TrialDone || trial.State == study.TrialRetracted {
			value = sixDigits(resultOf(trial))
		}
		fmt.Fprintf(t, "%d\t%s\t%s\t%s\t%s\t%s\t%s\n", trial.Trial, printable.Line(trial.Node), trial.State, value, printable.Line(trial.Holder),
			clockTime(trial.Until), printable.Line(trial.Note))
	}
	return t.Flush()
}

// sixDigits is resultText for tables.
func sixDigits(m study.Measurement) string {
	switch {
	case m.Class != "":
		return printable.Line(m.Class)
	case m.Exposure == 0:
		return fmt.Sprintf("%.6g", m.Value)
	}
	return fmt.Sprintf("%.6g/%.6g", m.Value, m.Exposure)
}

func observationTable(w io.Writer, values []study.Record) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "\nobservation\tnode\tvalue\ttrial\tby\ttime\tnote")
	for _, v := range values {
		trial, note := "–", v.Note
		if v.Trial > 0 {
			trial = fmt.Sprint(v.Trial)
		}
		if v.Retracted {
			note = strings.TrimSuffix("retracted: "+v.Note, ": ")
		}
		fmt.Fprintf(t, "%d\t%s\t%s\t%s\t%s\t%s\t%s\n", v.Number, printable.Line(v.Node), sixDigits(v.Measurement), trial, printable.Line(v.By),
			clockTime(v.Time), printable.Line(note))
	}
	return t.Flush()
}
