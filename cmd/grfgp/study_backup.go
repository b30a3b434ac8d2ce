package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/spf13/cobra"

	"grfgp/client"
	"grfgp/client/local"
	"grfgp/internal/atomicfile"
	"grfgp/internal/cli"
	"grfgp/internal/plural"
	"grfgp/study"
)

func studyBackup(a *app, f *studyFlags) *cobra.Command {
	var out string
	var unchecked bool
	cmd := &cobra.Command{
		Use:   "backup -o FILE",
		Short: "Copy the whole store to a file while it is in use, and check the copy",
		Long: `Backup copies all studies and graphs of a store, as they are at one moment, to a file that
is itself a store. A server goes on serving meanwhile. The copy is then checked: it has
every event that was stored before the backup began, each study can be replayed, and its
graph is the one that it was created on. To restore, stop the server and put the file in the
place of the store, or give it as the store.

For a store in PostgreSQL use pg_dump, which copies it as of one moment too.`,
		Example: "  grfgp study backup -o team-monday.db --store http://127.0.0.1:8080",
		Args: func(cmd *cobra.Command, args []string) error {
			if out == "" {
				return cli.Usagef("give -o FILE, the file to write")
			}
			if _, err := os.Lstat(out); !errors.Is(err, os.ErrNotExist) {
				return cli.Usagef("-o %s: there is such a file; a backup never replaces another file", out)
			}
			return cli.NoArguments(cmd, args)
		},
		RunE: func(cmd *cobra.Command, _ []string) error {
			var before []client.Summary
			err := a.withStudies(cmd.Context(), f, true, func(ctx context.Context, all client.Studies) (err error) {
				if before, err = all.List(ctx, true); err != nil {
					return err
				}
				stage := a.Talk.Stage("copying the store")
				err = atomicfile.WritePrivate(out, func(w io.Writer) error { return all.Backup(ctx, w) })
				if errors.Is(err, client.ErrNoBackup) {
					return cli.Exit(cli.ExitUsage, err)
				}
				if err == nil {
					stage.Done("%s", out)
				}
				return err
			})
			if err != nil {
				return err
			}
			answer := checked{Version: 1, Store: out, Studies: []checkedStudy{}}
			if !unchecked {
				if answer, err = a.checkStore(cmd.Context(), out, before); err != nil {
					return fmt.Errorf("%s is not a good copy: %w", out, err)
				}
			}
			return a.Answer(answer, func(w io.Writer) error {
				if unchecked {
					_, err := fmt.Fprintf(w, "%s is written, and not checked\n", out)
					return err
				}
				return answer.text(w)
			})
		},
	}
	cmd.Flags().StringVarP(&out, "out", "o", "", "`file` to write, which must not exist")
	cmd.Flags().BoolVar(&unchecked, "no-check", false, "do not check the copy")
	return cmd
}

// checked says what was found in a store.
type checked struct {
	Version int            `json:"version"`
	Store   string         `json:"store"`
	Events  int            `json:"events"`
	Last    *time.Time     `json:"last,omitempty"` // of the last event of all
	Studies []checkedStudy `json:"studies"`
}

type checkedStudy struct {
	Name   string    `json:"name"`
	Events int       `json:"events"`
	Last   time.Time `json:"last"`
}

func (c checked) text(w io.Writer) error {
	until := ""
	if c.Last != nil {
		until = ", the last on " + clockTime(*c.Last)
	}
	_, err := fmt.Fprintf(w, "%s: %s, %s%s; all good\n", c.Store, countStudies(len(c.Studies)), plural.Count(c.Events, "events"), until)
	return err
}

// checkStore is checkStudies of a store that this process opens.
func (a *app) checkStore(ctx context.Context, place string, before []client.Summary) (checked, error) {
	all, err := local.Open(ctx, place, local.Options{MustExist: true, Wait: storeWait})
	if err != nil {
		return checked{}, studyError(ctx, err)
	}
	defer all.Close()
	c, err := a.checkStudies(ctx, all, place, before)
	return c, studyError(ctx, err)
}

// checkStudies replays all studies, with their graphs. They must have at least the events that
// they had before; a study that was damaged then may be so.
func (a *app) checkStudies(ctx context.Context, all client.Studies, place string, before []client.Summary) (checked, error) {
	c := checked{Version: 1, Store: place, Studies: []checkedStudy{}}
	had := map[string]client.Summary{}
	for _, s := range before {
		had[s.Name] = s
	}
	stage := a.Talk.Stage("checking the studies")
	list, err := all.List(ctx, true)
	if err != nil {
		return c, err
	}
	for k, s := range list {
		if s.Problem != "" && had[s.Name].Problem != "" {
			a.Talk.Say("note: study %s was damaged before", s.Name)
			delete(had, s.Name)
			continue
		}
		v, err := verifyIn(ctx, all, s.Name)
		if err != nil {
			return c, fmt.Errorf("study %s: %w", s.Name, err)
		}
		if v.Events < int(had[s.Name].Events) {
			return c, fmt.Errorf("%w: study %s has %d events, and had %d before", study.ErrCorrupt, s.Name, v.Events, had[s.Name].Events)
		}
		delete(had, s.Name)
		c.Studies = append(c.Studies, checkedStudy{s.Name, v.Events, s.Updated})
		c.Events += v.Events
		if c.Last == nil || s.Updated.After(*c.Last) {
			c.Last = &list[k].Updated
		}
		stage.Update(int64(k+1), int64(len(list)))
	}
	for name := range had {
		a.Talk.Say("note: study %s was there when the backup began, and was deleted meanwhile", name)
	}
	stage.Done("%s, %s", countStudies(len(c.Studies)), plural.Count(c.Events, "events"))
	return c, nil
}

func countStudies(n int) string {
	if n == 1 {
		return "1 study"
	}
	return fmt.Sprintf("%d studies", n)
}

func verifyIn(ctx context.Context, all client.Studies, name string) (study.Verification, error) {
	s, err := all.Study(ctx, name)
	if err != nil {
		return study.Verification{}, err
	}
	return s.Verify(ctx, false, nil)
}
