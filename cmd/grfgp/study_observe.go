package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"grfgp/client"
	"grfgp/gp"
	"grfgp/graphio"
	"grfgp/internal/cli"
	"grfgp/internal/printable"
	"grfgp/study"
)

func studyObserve(a *app, f *studyFlags) *cobra.Command {
	var key, note string
	var in observeFlags
	cmd := &cobra.Command{
		Use:   "observe NAME NODE=VALUE … | --measurements FILE | --labels FILE",
		Short: "Add measurements that were not asked for, all or none",
		Long: `Observe adds measurements of nodes that were not asked for, repeated measurements
included. A file with unusable rows is refused as a whole; with --on-bad-row skip
those rows are left out.

In a study of counts with exposures or of shares, a value has its exposure or the number
tested behind it, as in a7=3/20; of a file --exposure or --tested names the column.

In a study of classes give a class in place of the value, as in a7=oak, or --labels FILE.`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) < 1 || (len(args) == 1) == (in.measurements == "" && in.labels == "") || in.measurements != "" && in.labels != "" {
				return cli.Usagef("give NAME and either values as in a7=0.52, or --measurements FILE, or --labels FILE")
			}
			return nil
		},
		RunE: a.withStudy(f, func(ctx context.Context, s client.Study, args []string) error {
			readings, err := a.readings(ctx, s, &in, args)
			if err != nil {
				return err
			}
			values, err := s.Observe(ctx, key, readings, note, f.who())
			var row *study.RowError
			if errors.As(err, &row) {
				return fmt.Errorf("%w; nothing was added", err)
			}
			if err != nil {
				return err
			}
			return a.answerValues(values, 0)
		}),
	}
	flags := cmd.Flags()
	in.flagsOfStudy(cmd)
	in.fileFlag(cmd)
	in.Reading.Flags(cmd)
	in.sizeFlags(cmd)
	flags.StringVar(&key, "key", "", "idempotency key: the same key takes effect once")
	flags.StringVar(&note, "note", "", "note to store with the values")
	return cmd
}

// observeFlags are the flags by which study observe reads a file.
type observeFlags struct {
	measurementFlags
	classFlags
	valueFlags
	cli.Reading
}

// sizes checks the flags that name the column of exposures against the settings.
func (in *observeFlags) sizes(s study.Settings) error {
	flag, column, other := "exposure", in.exposure, in.tested
	if s.About().Exposure == gp.ExposureRequired {
		flag, column, other = "tested", in.tested, in.exposure
	}
	switch {
	case other != "" || column != "" && !s.Exposures:
		return cli.Usagef("--exposure is for studies of counts with exposures, and --tested for studies of shares; study %s is of neither kind, "+
			"or of the other", s.Name)
	case s.Exposures && column == "":
		return cli.Usagef("study %s takes an exposure with every value: name the column, as in --%s COLUMN", s.Name, flag)
	}
	return nil
}

// readings returns the measurements of the arguments or of a file.
func (a *app) readings(ctx context.Context, s client.Study, in *observeFlags, args []string) ([]study.Measurement, error) {
	var all []study.Measurement
	for _, arg := range args {
		m, err := readingOf(s.Settings(), arg)
		if err != nil {
			return nil, err
		}
		all = append(all, m)
	}
	switch labels := s.Settings().Labels; {
	case in.measurements == "" && in.labels == "":
		return all, nil
	case labels && in.labels == "":
		return nil, cli.Usagef("study %s is one of classes: give --labels FILE", s.Settings().Name)
	case !labels && in.labels != "":
		return nil, cli.Usagef("study %s measures values: give --measurements FILE", s.Settings().Name)
	case labels:
		return a.labelsOf(ctx, s, in)
	}
	if err := in.sizes(s.Settings()); err != nil {
		return nil, err
	}
	opts, err := in.Reading.Options()
	if err != nil {
		return nil, err
	}
	net, err := s.Network(ctx)
	if err != nil {
		return nil, err
	}
	var read *graphio.Measurements
	err = in.Rejecting(&a.App, func(w io.Writer) (err error) {
		opts.Rejects = w
		read, err = in.readMeasurements(ctx, a, net.Graph, in.readingOptions(s.Settings().Spec, in.Of("measurements", opts)))
		return err
	})
	if err != nil {
		return nil, err
	}
	return in.observations(a, net.Graph, read, &in.Reading)
}

// answerValues prints observations, and the number of observations not processed.
func (a *app) answerValues(values []study.Record, left int) error {
	return a.Answer(struct {
		Version int            `json:"version"`
		Values  []study.Record `json:"observations"`
		Left    int            `json:"not_done,omitempty"`
	}{1, values, left}, func(w io.Writer) error {
		for _, v := range values {
			state := ""
			if v.Retracted {
				state = ", retracted"
			}
			fmt.Fprintf(w, "observation %d, node %s: %s%s\n", v.Number, printable.Line(v.Node), resultText(v.Measurement), state)
		}
		return nil
	})
}

func studyRetract(a *app, f *studyFlags) *cobra.Command {
	var note string
	cmd := onObservations(a, f, "retract", "Withdraw wrong observations; they stay in the log",
		func(ctx context.Context, s client.Study, number int) (study.Record, error) {
			return s.Retract(ctx, number, note, f.who())
		})
	cmd.Flags().StringVar(&note, "note", "", "why")
	return cmd
}

func studyReinstate(a *app, f *studyFlags) *cobra.Command {
	return onObservations(a, f, "reinstate", "Take back that observations were retracted",
		func(ctx context.Context, s client.Study, number int) (study.Record, error) {
			return s.Reinstate(ctx, number, f.who())
		})
}

// onObservations is a command on observations, by their numbers.
func onObservations(a *app, f *studyFlags, use, short string,
	do func(ctx context.Context, s client.Study, number int) (study.Record, error)) *cobra.Command {
	return &cobra.Command{
		Use:   use + " NAME OBSERVATION …",
		Short: short,
		Long:  short + ".\n\n'grfgp study show NAME --observations' lists the numbers of observations.",
		Args:  cli.Named(2, "NAME OBSERVATION …"),
		RunE: a.withStudy(f, func(ctx context.Context, s client.Study, args []string) error {
			ids, err := numbersOf(args, "--observations")
			if err != nil {
				return err
			}
			return each(ctx, s, ids, itself, observationCount, a.answerValues, func(id int) (study.Record, error) { return do(ctx, s, id) })
		}),
	}
}
