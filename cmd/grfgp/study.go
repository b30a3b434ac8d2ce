package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/user"

	"github.com/spf13/cobra"

	"grfgp/graphio"
	"grfgp/store"
	"grfgp/study"
)

// studyFlags are those of all that is done with studies.
type studyFlags struct {
	store     string
	tokenFile string
	by        string
}

// Where the environment names the store, and the file with the token of a server,
// if flags do not.
const (
	storeEnv = "GRFGP_STORE"
	tokenEnv = "GRFGP_TOKEN_FILE"
)

func studyVerb(a *app) *cobra.Command {
	f := new(studyFlags)
	cmd := &cobra.Command{
		Use:   "study COMMAND --store PLACE",
		Short: "Share a search: several people or machines ask for nodes and tell results",
		Long: `A study is a search for nodes to measure that several people or machines share.
They ask for nodes, which are then reserved for them, and tell what came of it, in
any order and at any time. All that happens is kept as events in a store: a SQLite
file, or a PostgreSQL database by its URL. One process at a time owns a store; let
that be 'grfgp serve' where several people work, and give its URL as the store. The next suggestion depends on nothing
but the study's seed and the events so far.

A reservation is a lease. When it runs out the node may be handed out again; a
result that comes late is taken all the same.`,
		Example: `  grfgp study create pipes --store studies.db --edges pipes.csv --goal maximize --budget 40
  grfgp study ask pipes -n 5 --store studies.db --by anna
  grfgp study tell pipes 1=0.52 2=-1.3 3=failed --store studies.db --by anna
  grfgp study show pipes --store studies.db`,
		ValidArgs: []string{},
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 0 {
				return usagef("there is no command %q of study; 'grfgp study --help' lists them", args[0])
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	flags := cmd.PersistentFlags()
	flags.StringVar(&f.store, "store", "", "where studies are kept, the `PLACE`: a file, a postgres:// URL, or the http:// URL of 'grfgp serve' (default: "+storeEnv+" in the environment)")
	flags.StringVar(&f.tokenFile, "token-file", "", "`file` with the token of that server, if it needs one (default: "+tokenEnv+" in the environment)")
	flags.StringVar(&f.by, "by", "", "who does this, for the log and as holder of what is asked for (default: your name on this machine)")
	for _, command := range []func(*app, *studyFlags) *cobra.Command{
		studyCreate, studyList, studyShow, studyAsk, studyTell, studyObserve, studyRenew, studyRelease, studyAbandon, studyRetract,
		studyPause, studyResume, studyClose, studyExport, studyImport, studyVerify,
	} {
		cmd.AddCommand(command(a, f))
	}
	return cmd
}

// who is the one that does this.
func (f *studyFlags) who() string {
	if who := cmp.Or(f.by, os.Getenv("USER"), os.Getenv("USERNAME")); who != "" {
		return who
	}
	if u, err := user.Current(); err == nil {
		return u.Username
	}
	return ""
}

// named takes the name of a study and perhaps more words.
func named(least int, words string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) < least {
			return usagef("give %s, as in '%s %s'", words, cmd.CommandPath(), words)
		}
		if least == 1 && len(args) > 1 {
			return usagef("%q is a word too many: one %s is taken, as in '%s %s'", args[1], words, cmd.CommandPath(), words)
		}
		return nil
	}
}

// withStudy opens the study of args[0] and lets do work with it.
func (a *app) withStudy(f *studyFlags, do func(ctx context.Context, s sharedStudy, args []string) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		return a.withStudies(cmd.Context(), f, true, func(ctx context.Context, all studies) error {
			s, err := all.Study(ctx, args[0])
			if err != nil {
				return err
			}
			return do(ctx, s, args[1:])
		})
	}
}

// withStudies opens the place of studies and gives errors their exit code.
func (a *app) withStudies(ctx context.Context, f *studyFlags, mustExist bool, do func(ctx context.Context, all studies) error) error {
	place := cmp.Or(f.store, os.Getenv(storeEnv))
	if place == "" {
		return usagef("no store: give --store FILE.db, a postgres:// URL or the URL of a server, or set %s", storeEnv)
	}
	all, err := a.openStudies(ctx, f, place, mustExist)
	if err != nil {
		return studyError(ctx, err)
	}
	err = do(ctx, all)
	if closed := all.Close(); err == nil {
		err = closed
	}
	return studyError(ctx, err)
}

// studyError gives errors of studies and stores their exit code.
func studyError(ctx context.Context, err error) error {
	var coded *exitError
	code := func(c int) error { return &exitError{c, err} }
	switch {
	case err == nil, ctx.Err() != nil, errors.As(err, &coded), errors.Is(err, graphio.ErrUsage), errors.Is(err, graphio.ErrData):
		return err
	case errors.Is(err, store.ErrHeld):
		return code(exitHeld)
	case errors.Is(err, store.ErrUnavailable):
		return code(exitUnreachable)
	case errors.Is(err, study.ErrConflict):
		return code(exitConflict)
	case errors.Is(err, study.ErrNotFinite), errors.Is(err, study.ErrUnknownNode), errors.Is(err, study.ErrCorrupt), errors.Is(err, store.ErrForeign):
		return code(exitBadData)
	case errors.Is(err, study.ErrInvalid), errors.Is(err, study.ErrNotFound), errors.Is(err, store.ErrNotFound), errors.Is(err, store.ErrFull), errors.Is(err, store.ErrAccess):
		return code(exitUsage)
	}
	return err
}

// answer writes JSON if it was asked for, and what text writes if not.
func (a *app) answer(v any, text func(w io.Writer) error) error {
	if a.json {
		return json.NewEncoder(a.Out).Encode(v)
	}
	return text(a.Out)
}
