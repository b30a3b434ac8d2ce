package main

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"os"
	"os/user"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"grfgp/client"
	"grfgp/client/local"
	"grfgp/graphio"
	"grfgp/internal/atomicfile"
	"grfgp/internal/cli"
	"grfgp/internal/plural"
	"grfgp/store"
	"grfgp/study"
)

// studyFlags are the flags of all study commands.
type studyFlags struct {
	store     string
	tokenFile string
	by        string
	device    deviceFlag
}

// Environment variables with the store and the token file, where flags do not name
// them.
const (
	storeEnv = "GRFGP_STORE"
	tokenEnv = "GRFGP_TOKEN_FILE"
)

func studyVerb(a *app) *cobra.Command {
	f := new(studyFlags)
	cmd := &cobra.Command{
		Use:   "study COMMAND --store PLACE",
		Short: "Share a search: people and machines ask for nodes and report results",
		Long: `A study is a search for nodes to measure that several people or machines share.
They ask for nodes, which are reserved for them as trials, and tell the results, in
any order and at any time. Every command is stored as an event, in a SQLite file or
a PostgreSQL database. One process at a time can use a store; where several people
work, run 'grfgp serve' and give its URL as the store. The next suggestion depends
only on the study's seed and events.

A reservation is a lease. When it expires, the node may be suggested again; a late
result is accepted all the same.`,
		Example: `  grfgp study create pipes --store studies.db --edges pipes.csv --goal maximize --budget 40
  grfgp study ask pipes -n 5 --store studies.db --by anna
  grfgp study tell pipes 1=0.52 2=-1.3 3=failed --store studies.db --by anna
  grfgp study show pipes --store studies.db`,
		ValidArgs: []string{},
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 0 {
				return cli.Usagef("study has no command %q; 'grfgp study --help' lists the commands", args[0])
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	flags := cmd.PersistentFlags()
	flags.StringVar(&f.store, "store", "", "`PLACE` of the studies: a file, a postgres:// URL, or the http:// URL or unix:FILE of 'grfgp "+
		"serve' (default: the environment variable "+storeEnv+")")
	flags.StringVar(&f.tokenFile, "token-file", "", "`file` with the token of the server, if it needs one (default: the environment variable "+
		tokenEnv+")")
	flags.StringVar(&f.by, "by", "", "your name, for the log and as holder of trials (default: your user name)")
	f.device.flagOfStudies(cmd, flags)
	for _, command := range []func(*app, *studyFlags) *cobra.Command{
		studyCreate, studyList, studyShow, studyAsk, studyTell, studyObserve, studyRenew, studyRelease, studyAbandon, studyReopen, studyRetract,
		studyReinstate,
		studyQueue, studyUnqueue, studyPause, studyResume, studyRetry, studyClose, studyChange, studyArchive, studyRestore, studyDelete,
		studyGraphs, studyExport, studyImport, studyBackup, studyVerify,
	} {
		sub := command(a, f)
		if strings.Contains(sub.Use, " NAME") && sub.Name() != "create" {
			sub.ValidArgsFunction = a.completeStudies(f)
		}
		cmd.AddCommand(sub)
	}
	return cmd
}

// who is the name of the user.
func (f *studyFlags) who() string {
	if who := cmp.Or(f.by, os.Getenv("USER"), os.Getenv("USERNAME")); who != "" {
		return who
	}
	if u, err := user.Current(); err == nil {
		return u.Username
	}
	return ""
}

// withStudy opens the study of args[0] and lets do work with it.
func (a *app) withStudy(f *studyFlags, do func(ctx context.Context, s client.Study, args []string) error) func(*cobra.Command,
	[]string) error {
	return func(cmd *cobra.Command, args []string) error {
		return a.withStudies(cmd.Context(), f, true, func(ctx context.Context, all client.Studies) error {
			s, err := all.Study(ctx, args[0])
			if errors.Is(err, study.ErrNotFound) {
				return cli.Usagef("there is no study %q in %s; 'grfgp study list' lists the studies", args[0], f.place())
			}
			if err != nil {
				return err
			}
			return do(ctx, s, args[1:])
		})
	}
}

// place is where studies are kept.
func (f *studyFlags) place() string { return cmp.Or(f.store, os.Getenv(storeEnv)) }

// token is the file with the token of the server.
func (f *studyFlags) token() string { return cmp.Or(f.tokenFile, os.Getenv(tokenEnv)) }

// withStudies opens the place of studies and gives errors their exit code.
func (a *app) withStudies(ctx context.Context, f *studyFlags, mustExist bool,
	do func(ctx context.Context, all client.Studies) error) error {
	if f.place() == "" {
		return cli.Usagef("no store: give --store FILE.db, a postgres:// URL or the URL of a server, or set %s", storeEnv)
	}
	all, err := a.openStudies(ctx, f, mustExist)
	if err != nil {
		return f.refused(ctx, err)
	}
	err = do(ctx, all)
	if closed := all.Close(); err == nil {
		err = closed
	}
	return f.refused(ctx, err)
}

// storeWait is how long a command waits for another one that uses the store.
const storeWait = 3 * time.Second

// openStudies opens the place of studies: a server or a store.
func (a *app) openStudies(ctx context.Context, f *studyFlags, mustExist bool) (client.Studies, error) {
	place := f.place()
	if isServer(place) {
		return a.server(place, f.token(), f.device.Value)
	}
	if host, port, err := net.SplitHostPort(place); err == nil && host != "" && port != "" && strings.Trim(port, "0123456789") == "" {
		if _, err := os.Stat(place); err != nil {
			return nil, cli.Usagef("--store %s: there is no such file; if it is a server, give --store http://%s", place, place)
		}
	}
	return local.Open(ctx, place, local.Options{MustExist: mustExist, Wait: storeWait, Memory: int64(cli.Size(0).Most()),
		Device:   f.device.Value,
		Progress: a.studyProgress("loading the graph")})
}

// isServer reports whether a place is the URL of a server.
func isServer(place string) bool {
	return strings.HasPrefix(place, "http://") || strings.HasPrefix(place, "https://") || strings.HasPrefix(place, client.UnixScheme)
}

// server returns a client of a server.
func (a *app) server(place, tokenFile, device string) (*client.Client, error) {
	token, err := cli.ReadToken(tokenFile)
	if err != nil {
		return nil, err
	}
	c, err := client.New(place, client.Options{Token: token, Device: device, Progress: a.studyProgress("fetching the graph")})
	var bad *client.URLError
	if errors.As(err, &bad) {
		if bad.Use != "" {
			return nil, cli.Usagef("--store %s: %s, as in --store %s", withoutPassword(place), bad.Reason, withoutPassword(bad.Use))
		}
		return nil, cli.Usagef("--store %s: %s; a token comes from --token-file", withoutPassword(place), bad.Reason)
	}
	return c, err
}

// studyProgress tells of work for studies that takes a while.
func (a *app) studyProgress(load string) client.Progress {
	return client.Progress{
		Wait: func() func() {
			s := a.Talk.Stage("waiting for the server")
			return func() { s.Done("ready") }
		},
		Load: func() func(*graphio.Network) {
			s := a.Talk.Stage(load)
			return func(net *graphio.Network) {
				s.Done("%s and %s", plural.Count(net.Graph.Len(), "nodes"), plural.Count(net.Graph.Edges(), "edges"))
			}
		},
		Asked: func(reserved, count int) {
			if a.asking != nil {
				a.asking.Update(int64(reserved), int64(count))
			}
		},
	}
}

// studyError gives errors of studies, stores and servers their exit code.
func studyError(ctx context.Context, err error) error {
	var coded *cli.ExitError
	var lost *client.ConnectionError
	var p *client.Problem
	code := func(c int) error { return cli.Exit(c, err) }
	switch {
	case err == nil, ctx.Err() != nil, errors.As(err, &coded), errors.Is(err, graphio.ErrUsage), errors.Is(err, graphio.ErrData),
		errors.Is(err, atomicfile.ErrPath), cli.IsCardError(err):
		return err
	case errors.As(err, &lost):
		return cli.Exit(cli.ExitUnreachable, connectionWords(lost))
	case errors.As(err, &p) && slices.Contains(refusals, p.Kind):
		return code(cli.ExitUnreachable)
	case errors.As(err, &p) && p.Kind == client.KindFull:
		return code(cli.ExitUsage)
	case errors.Is(err, study.ErrTooLarge):
		return code(cli.ExitTooLarge)
	case errors.Is(err, study.ErrFit):
		return code(cli.ExitNotFitted)
	case errors.Is(err, store.ErrHeld):
		return code(cli.ExitHeld)
	case errors.Is(err, store.ErrUnavailable):
		return code(cli.ExitUnreachable)
	case errors.Is(err, study.ErrConflict), errors.Is(err, study.ErrNoModel):
		return code(cli.ExitConflict)
	case errors.Is(err, study.ErrNotFinite), errors.Is(err, study.ErrUnknownNode), errors.Is(err, study.ErrCorrupt),
		errors.Is(err, store.ErrForeign):
		return code(cli.ExitBadData)
	case errors.Is(err, study.ErrInvalid), errors.Is(err, study.ErrNotFound), errors.Is(err, store.ErrNotFound), errors.Is(err, store.ErrFull),
		errors.Is(err, store.ErrAccess), errors.Is(err, store.ErrGone):
		return code(cli.ExitUsage)
	}
	return err
}

// refusals are problems by which a server refuses this caller, whatever is asked.
var refusals = []string{client.KindCrossSite, client.KindWrongHost, client.KindReadOnly, client.KindBusy, client.KindStopping,
	client.KindUnavailable, client.KindSlowed, client.KindRole, client.KindUnknownProxy}

// refused is studyError for a server that may want another token.
func (f *studyFlags) refused(ctx context.Context, err error) error {
	var p *client.Problem
	switch {
	case !errors.As(err, &p) || p.Kind != client.KindUnauthorized:
		return studyError(ctx, err)
	case f.token() == "":
		err = fmt.Errorf("%s needs a token: give --token-file FILE, or name the file in %s", f.place(), tokenEnv)
	default:
		err = fmt.Errorf("the token in %s is not that of %s; ask the operator of the server for it", f.token(), f.place())
	}
	return cli.Exit(cli.ExitUnreachable, err)
}

// connectionWords say why a server does not answer, and what to do.
func connectionWords(e *client.ConnectionError) error {
	var untrusted *tls.CertificateVerificationError
	if errors.As(e, &untrusted) {
		return fmt.Errorf("the certificate of %s is not trusted: %w; if it is the right one, name its file in SSL_CERT_FILE", e.URL,
			untrusted.Err)
	}
	switch e.Kind {
	case client.ErrScheme:
		return fmt.Errorf("%s speaks http, not https; give --store http://%s", e.URL, strings.TrimPrefix(e.URL, "https://"))
	case client.ErrForeign:
		return fmt.Errorf("%s answers %w, which is not an answer of 'grfgp serve'; check the URL, which begins with https:// if the server "+
			"has a certificate", e.URL, e.Err)
	}
	return fmt.Errorf("%w; is 'grfgp serve' running there?", e)
}
