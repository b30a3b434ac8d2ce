package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"grfgp/client"
	"grfgp/internal/cli"
	"grfgp/internal/printable"
	"grfgp/study"
)

func studyArchive(a *app, f *studyFlags) *cobra.Command {
	var note string
	cmd := onStudy(a, f, "archive", "Make a study read-only and leave it out of the list, until restore",
		func(ctx context.Context, s client.Study) error {
			return s.Archive(ctx, note, f.who())
		})
	cmd.Flags().StringVar(&note, "note", "", "why")
	return cmd
}

func studyRestore(a *app, f *studyFlags) *cobra.Command {
	return onStudy(a, f, "restore", "Take an archived study back",
		func(ctx context.Context, s client.Study) error { return s.Restore(ctx, f.who()) })
}

func studyDelete(a *app, f *studyFlags) *cobra.Command {
	var confirm string
	cmd := &cobra.Command{
		Use:   "delete NAME --confirm NAME",
		Short: "Delete a study with all its measurements, for good",
		Long: `Delete removes a study from the store: all its events, measurements and what was learned
from them. Nothing brings it back but an export or a backup. The graph stays;
'grfgp study graphs --delete-unused' removes those that no study is on.`,
		Args: cli.Named(1, "NAME"),
		RunE: func(cmd *cobra.Command, args []string) error {
			name := args[0]
			if confirm != name {
				return cli.Usagef("this deletes study %s and all its measurements for good; to do that, repeat its name: 'grfgp study delete %s "+
					"--confirm %s'", name, name, name)
			}
			return a.withStudies(cmd.Context(), f, true, func(ctx context.Context, all client.Studies) error {
				err := all.Delete(ctx, name, f.who())
				if errors.Is(err, study.ErrNotFound) {
					return cli.Usagef("there is no study %q in %s; 'grfgp study list --archived' lists all studies", name, f.place())
				}
				if err != nil {
					return err
				}
				return a.Answer(struct {
					Version int    `json:"version"`
					Deleted string `json:"deleted"`
				}{1, name}, func(w io.Writer) error {
					_, err := fmt.Fprintf(w, "study %s is deleted\n", name)
					return err
				})
			})
		},
	}
	cmd.Flags().StringVar(&confirm, "confirm", "", "the `name` of the study once more")
	return cmd
}

func studyGraphs(a *app, f *studyFlags) *cobra.Command {
	var one string
	var unused bool
	cmd := &cobra.Command{
		Use:   "graphs [--delete ID | --delete-unused]",
		Short: "List the graphs of a store and the studies on them; delete those that no study is on",
		Args: func(cmd *cobra.Command, args []string) error {
			if one != "" && unused {
				return cli.Usagef("give --delete ID or --delete-unused, not both")
			}
			return cli.NoArguments(cmd, args)
		},
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.withStudies(cmd.Context(), f, true, func(ctx context.Context, all client.Studies) error {
				graphs, err := all.Graphs(ctx)
				if err != nil {
					return err
				}
				left, deleted := []client.Graph{}, []string{}
				for _, g := range graphs {
					if g.ID != one && !(unused && len(g.Studies) == 0) {
						left = append(left, g)
						continue
					}
					if err := all.DeleteGraph(ctx, g.ID); err != nil {
						return err
					}
					deleted = append(deleted, g.ID)
				}
				if one != "" && len(deleted) == 0 {
					return cli.Usagef("there is no graph %s in %s; 'grfgp study graphs' lists them", one, f.place())
				}
				return a.Answer(struct {
					Version int            `json:"version"`
					Graphs  []client.Graph `json:"graphs"`
					Deleted []string       `json:"deleted"`
				}{1, left, deleted}, func(w io.Writer) error { return graphTable(w, left, deleted) })
			})
		},
	}
	cmd.Flags().StringVar(&one, "delete", "", "delete the graph with this `id`")
	cmd.Flags().BoolVar(&unused, "delete-unused", false, "delete all graphs that no study is on")
	return cmd
}

func graphTable(w io.Writer, left []client.Graph, deleted []string) error {
	for _, id := range deleted {
		fmt.Fprintf(w, "graph %s is deleted\n", id)
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "graph\tbytes\tstudies")
	for _, g := range left {
		names := strings.Join(g.Studies, ", ")
		if names == "" {
			names = "none"
		}
		fmt.Fprintf(t, "%s\t%d\t%s\n", g.ID, g.Size, names)
	}
	return t.Flush()
}

// changeFlags are the flags of study change.
type changeFlags struct {
	budget, policy, settings, note string
	lease                          time.Duration
	goal                           string
}

func studyChange(a *app, f *studyFlags) *cobra.Command {
	var c changeFlags
	cmd := &cobra.Command{
		Use:   "change NAME [--budget N] [--lease D] …",
		Short: "Change the budget, the lease or other settings of a study",
		Long: `Change sets new settings for all later suggestions. Trials and measurements stay as they
are. The settings are checked as when a study is created, and the change is an event of
the study: 'verify --suggestions' computes suggestions before it by the old settings. Name
and graph of a study cannot be changed.

--settings takes any of the fields that 'grfgp study show --json' lists under settings, as
a JSON merge patch: null removes a field.`,
		Example: `  grfgp study change pipes --budget 60 --lease 48h --store studies.db
  grfgp study change pipes --settings '{"spec": {"rank": 64}, "group_cap": null}' --store studies.db`,
		Args: cli.Named(1, "NAME"),
	}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		patch, err := c.patch(cmd.Flags().Changed)
		if err != nil {
			return err
		}
		return a.withStudy(f, func(ctx context.Context, s client.Study, _ []string) error {
			now, err := s.Change(ctx, patch, c.note, f.who())
			if err != nil {
				return err
			}
			return a.Answer(struct {
				Version  int            `json:"version"`
				Settings study.Settings `json:"settings"`
			}{1, now}, func(w io.Writer) error {
				budget := "no limit"
				if now.Budget != nil {
					budget = fmt.Sprintf("%.6g", *now.Budget)
				}
				_, err := fmt.Fprintf(w, "study %s: goal %v, budget %s, lease %v\n", now.Name, now.Goal, budget, time.Duration(now.Lease))
				return err
			})
		})(cmd, args)
	}
	flags := cmd.Flags()
	flags.StringVar(&c.budget, "budget", "", "most that pending and done trials may cost together: a `number`, or none")
	flags.DurationVar(&c.lease, "lease", 0, "duration of reservations")
	flags.StringVar(&c.goal, "goal", "", "`goal`: maximize, minimize, learn or threshold=V")
	flags.StringVar(&c.policy, "policy", "", "`policy` of suggestions")
	flags.StringVar(&c.settings, "settings", "", "other settings, as a `JSON` merge patch")
	flags.StringVar(&c.note, "note", "", "why")
	return cmd
}

// patch returns the merge patch of the flags that were given.
func (c *changeFlags) patch(given func(flag string) bool) ([]byte, error) {
	change := map[string]any{}
	if given("settings") {
		if err := json.Unmarshal([]byte(c.settings), &change); err != nil || change == nil {
			return nil, cli.Usagef(`--settings: give a JSON object, as in '{"group_cap": 2}'`)
		}
	}
	if given("budget") {
		change["budget"] = nil
		if c.budget != "none" {
			v, err := strconv.ParseFloat(c.budget, 64)
			if err != nil || !(v >= 0) || v > 1e300 {
				return nil, cli.Usagef("--budget %s: give a number, or none", c.budget)
			}
			change["budget"] = v
		}
	}
	if given("lease") {
		if c.lease <= 0 {
			return nil, cli.Usagef("--lease %v: give a duration such as 90m or 48h", c.lease)
		}
		change["lease"] = c.lease.String()
	}
	if given("goal") {
		change["goal"] = c.goal
	}
	if given("policy") {
		change["policy"] = c.policy
	}
	if len(change) == 0 {
		return nil, cli.Usagef("nothing to change: give --budget, --lease, --goal, --policy or --settings")
	}
	return json.Marshal(change)
}

func studyQueue(a *app, f *studyFlags) *cobra.Command {
	var note string
	cmd := &cobra.Command{
		Use:   "queue NAME [NODE …]",
		Short: "Queue nodes of your own choice, which the next asks get first; list the queue",
		Long: `Queue adds nodes to the queue of a study. The next asks, of whoever, get them first, in
that order, before any suggestion; the reason of the trial says who queued it. To reserve
a node for yourself, use 'grfgp study ask NAME --node NODE'. Without nodes, queue lists.`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return cli.Usagef("give NAME, as in '%s NAME NODE'", cmd.CommandPath())
			}
			return nil
		},
		RunE: a.withStudy(f, func(ctx context.Context, s client.Study, nodes []string) error {
			queue, err := s.Queue(ctx, nodes, note, f.who())
			if err != nil {
				return err
			}
			return a.answerQueue(queue)
		}),
	}
	cmd.Flags().StringVar(&note, "note", "", "why")
	return cmd
}

func studyUnqueue(a *app, f *studyFlags) *cobra.Command {
	return &cobra.Command{
		Use:   "unqueue NAME NODE …",
		Short: "Take nodes out of the queue",
		Args:  cli.Named(2, "NAME NODE …"),
		RunE: a.withStudy(f, func(ctx context.Context, s client.Study, nodes []string) error {
			queue, err := s.Unqueue(ctx, nodes, f.who())
			if err != nil {
				return err
			}
			return a.answerQueue(queue)
		}),
	}
}

func (a *app) answerQueue(queue []study.QueuedNode) error {
	return a.Answer(struct {
		Version int                `json:"version"`
		Queue   []study.QueuedNode `json:"queue"`
	}{1, append([]study.QueuedNode{}, queue...)}, func(w io.Writer) error {
		if len(queue) == 0 {
			_, err := fmt.Fprintln(w, "the queue is empty")
			return err
		}
		t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
		fmt.Fprintln(t, "node\tcost\tby\ttime\tnote")
		for _, q := range queue {
			fmt.Fprintf(t, "%s\t%.4g\t%s\t%s\t%s\n", printable.Line(q.Node), q.Cost, printable.Line(q.By), clockTime(q.Time), printable.Line(q.Note))
		}
		return t.Flush()
	})
}
