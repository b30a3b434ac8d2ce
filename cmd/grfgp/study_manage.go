package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"grfgp/client"
	"grfgp/internal/cli"
	"grfgp/internal/plural"
	"grfgp/study"
)

// onStudy is a command on a whole study.
func onStudy(a *app, f *studyFlags, use, short string, do func(ctx context.Context, s client.Study) error) *cobra.Command {
	return &cobra.Command{
		Use:   use + " NAME",
		Short: short,
		Args:  cli.Named(1, "NAME"),
		RunE: a.withStudy(f, func(ctx context.Context, s client.Study, _ []string) error {
			if err := do(ctx, s); err != nil {
				return err
			}
			shown, err := s.Show(ctx)
			if err != nil {
				return err
			}
			return a.Answer(struct {
				Version int          `json:"version"`
				Name    string       `json:"name"`
				Status  study.Status `json:"status"`
			}{1, shown.Name, shown.Status}, func(w io.Writer) error {
				_, err := fmt.Fprintf(w, "study %s is %s\n", shown.Name, shown.Status)
				return err
			})
		}),
	}
}

func studyPause(a *app, f *studyFlags) *cobra.Command {
	var note string
	cmd := onStudy(a, f, "pause", "Stop suggestions until resume; results are still accepted",
		func(ctx context.Context, s client.Study) error {
			return s.Pause(ctx, note, f.who())
		})
	cmd.Flags().StringVar(&note, "note", "", "why")
	return cmd
}

func studyResume(a *app, f *studyFlags) *cobra.Command {
	return onStudy(a, f, "resume", "Resume suggestions", func(ctx context.Context, s client.Study) error { return s.Resume(ctx, f.who()) })
}

func studyRetry(a *app, f *studyFlags) *cobra.Command {
	cmd := onStudy(a, f, "retry", "Fit the model again after a failure, and end its quarantine",
		func(ctx context.Context, s client.Study) error { return s.Retry(ctx, f.who()) })
	cmd.Long = `Retry makes a server fit a model again that could not be fitted before.

If a server ends while it works on a model, because it was killed for its memory for
example, the model is in quarantine from the next start on: the study can be read and
takes results, and nodes are drawn at random, but the model is not fitted. Retry ends
the quarantine. If the server ends again, the model is in quarantine again.`
	return cmd
}

func studyClose(a *app, f *studyFlags) *cobra.Command {
	var note string
	cmd := onStudy(a, f, "close", "Stop suggestions for good; results of trials are still accepted",
		func(ctx context.Context, s client.Study) error {
			return s.Close(ctx, note, f.who())
		})
	cmd.Flags().StringVar(&note, "note", "", "why")
	return cmd
}

func studyExport(a *app, f *studyFlags) *cobra.Command {
	var out string
	var bare bool
	cmd := &cobra.Command{
		Use:   "export NAME [-o FILE]",
		Short: "Write a study with its events and graph as JSON lines",
		Args: func(cmd *cobra.Command, args []string) error {
			if ext := filepath.Ext(out); ext == ".gz" || ext == ".zst" {
				return cli.Usagef("-o %s: the export is not compressed; name it %s, and compress it afterwards", out, strings.TrimSuffix(out, ext))
			}
			return cli.Named(1, "NAME")(cmd, args)
		},
		RunE: a.withStudy(f, func(ctx context.Context, s client.Study, _ []string) error {
			if out == "" || out == "-" {
				return s.Export(ctx, a.Out, !bare)
			}
			lines := 0
			err := a.Kept.WritePrivate(out, func(w io.Writer) error { return s.Export(ctx, lineCounter{w, &lines}, !bare) })
			if err != nil {
				return err
			}
			events := lines - 2 // beside the head and the foot
			a.Talk.Say("exported %d events to %s", events, out)
			if !a.JSON {
				return nil
			}
			return json.NewEncoder(a.Out).Encode(struct {
				Version int    `json:"version"`
				File    string `json:"file"`
				Events  int    `json:"events"`
			}{1, out, events})
		}),
	}
	cmd.Flags().StringVarP(&out, "out", "o", "", "`file` to write, which only you can read (default, and -: standard output)")
	cmd.Flags().BoolVar(&bare, "without-graph", false, "leave out the graph; the importing store must have it")
	return cmd
}

// lineCounter counts the lines written through it.
type lineCounter struct {
	io.Writer
	lines *int
}

func (c lineCounter) Write(p []byte) (int, error) {
	*c.lines += bytes.Count(p, []byte("\n"))
	return c.Writer.Write(p)
}

func studyImport(a *app, f *studyFlags) *cobra.Command {
	var name string
	cmd := &cobra.Command{
		Use:   "import FILE",
		Short: "Import an exported study, with its history",
		Args:  cli.Named(1, "FILE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			in := a.In
			if args[0] != "-" {
				file, err := os.Open(args[0])
				if errors.Is(err, fs.ErrNotExist) {
					return cli.Usagef("there is no file %s; name a file that 'grfgp study export' wrote", args[0])
				}
				if err != nil {
					return cli.Usagef("%v; name a readable file", err)
				}
				defer file.Close()
				in = file
			}
			return a.withStudies(cmd.Context(), f, false, func(ctx context.Context, all client.Studies) error {
				as, err := all.Import(ctx, in, name)
				if err != nil {
					return fmt.Errorf("%s: %w", args[0], err)
				}
				s, err := all.Study(ctx, as)
				if err != nil {
					return err
				}
				shown, err := s.Show(ctx)
				if err != nil {
					return err
				}
				return a.Answer(shown, func(w io.Writer) error {
					_, err := fmt.Fprintf(w, "study %s is imported: %s, %s\n", shown.Name, plural.Count(int(shown.Events), "events"),
						plural.Count(shown.Values, "observations"))
					return err
				})
			})
		},
	}
	cmd.Flags().StringVar(&name, "name", "", "new name of the study")
	return cmd
}

func studyVerify(a *app, f *studyFlags) *cobra.Command {
	var suggestions, whole bool
	cmd := &cobra.Command{
		Use:   "verify NAME | --all",
		Short: "Replay a study, or all of a store, and check the events",
		Long: `Verify replays the events of a study and checks that each is valid after the events
before it, and that the stored graph is the one of the study. With --suggestions it
computes every suggestion again from the seed and the events before it, and compares
nodes, costs, means and sds. A value that was altered in the store changes the next
suggestion of a model, so verify detects it. With --all it checks every study of a store,
a backup for example.`,
		Args: func(cmd *cobra.Command, args []string) error {
			switch {
			case whole && suggestions:
				return cli.Usagef("--suggestions takes one study; name it, without --all")
			case whole:
				return cli.NoArguments(cmd, args)
			}
			return cli.Named(1, "NAME")(cmd, args)
		},
	}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if whole {
			return a.withStudies(cmd.Context(), f, true, func(ctx context.Context, all client.Studies) error {
				c, err := a.checkStudies(ctx, all, withoutPassword(f.place()), nil)
				if err != nil {
					return err
				}
				return a.Answer(c, c.text)
			})
		}
		return a.withStudy(f, func(ctx context.Context, s client.Study, _ []string) error {
			stage := a.Talk.Stage("replaying")
			v, err := s.Verify(ctx, suggestions, stage.Update)
			if err != nil {
				return err
			}
			stage.Done("%s, %s recomputed", plural.Count(v.Events, "events"), plural.Count(v.Suggestions, "suggestions"))
			return a.Answer(struct {
				Version int `json:"version"`
				study.Verification
			}{1, v}, func(w io.Writer) error {
				_, err := fmt.Fprintf(w, "verified: %s, %s recomputed\n", plural.Count(v.Events, "events"), plural.Count(v.Suggestions, "suggestions"))
				return err
			})
		})(cmd, args)
	}
	cmd.Flags().BoolVar(&whole, "all", false, "check all studies of the store")
	cmd.Flags().BoolVar(&suggestions, "suggestions", false, "compute every suggestion again")
	return cmd
}
