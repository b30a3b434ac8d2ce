package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/netip"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"grfgp/internal/cli"
	"grfgp/internal/version"
	"grfgp/server"
	"grfgp/store"
)

// serveFlags are the flags of the verb.
type serveFlags struct {
	store     string
	listen    string
	remote    bool
	tokenFile string
	tokens    string // file of named tokens
	goesOpen  bool
	hosts     []string

	socketMode octal
	tlsCert    string
	tlsKey     string
	basePath   string
	proxies    []string
	trusted    []netip.Prefix // of proxies
	proxyPipe  bool           // clients of the unix socket are proxies

	basemap    string // file of map tiles
	readOnly   bool
	log        cli.Choice
	device     deviceFlag
	memory     cli.Size
	clockError string // hidden: for tests
	limits     server.Limits
}

func serveVerb(a *app) *cobra.Command {
	f := serveFlags{limits: server.DefaultLimits()}
	cmd := &cobra.Command{
		Use:   "serve --store FILE [--listen ADDRESS]",
		Short: "Serve studies over HTTP, with a web page",
		Long: `Serve makes the studies of a store available over HTTP, and shows them on a web
page. Use 'grfgp study … --store http://ADDRESS' to work on them.

Without tokens, only you can use the server, and only from this machine. To let
others in, give them tokens, each with a name and a role ('grfgp token --help').
To let other machines connect, give --listen a network address, with --allow-remote,
and --tls-cert and --tls-key: without these the traffic is not encrypted. With
--listen unix:FILE, the server listens on a unix socket, and --socket-mode says who
can connect.

The log on standard error has a line for each change, with --verbose for each request.
Ctrl-C or SIGTERM shuts the server down; the exit code is then 0. Every change that
was answered with success is on disk, also after a crash.`,
		Example: `  grfgp serve --store team.db
  grfgp serve --store team.db --listen unix:/run/grfgp/grfgp.sock --socket-mode 0660
  grfgp serve --store postgres://grfgp@db/studies --tokens people.tokens --listen 0.0.0.0:8443 --allow-remote --allow-host lab.example.org --tls-cert lab.pem --tls-key lab.key`,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.serve(cmd.Context(), &f) },
	}
	f.flags(cmd)
	cmd.AddCommand(movedVerbs("serve")...)
	return cmd
}

func (f *serveFlags) flags(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&f.store, "store", "", "store of the studies: a `file`, or a postgres:// URL (default: the environment variable "+storeEnv+
		")")
	flags.StringVar(&f.listen, "listen", "127.0.0.1:8080", "`address` to listen on, or unix:FILE; port 0 chooses a free port")
	f.socketMode = 0o600
	flags.Var(&f.socketMode, "socket-mode", "mode of the unix socket: 0660 lets the group connect, 0666 everybody on this machine")
	flags.BoolVar(&f.remote, "allow-remote", false, "allow other machines to connect; needs tokens")
	flags.StringVar(&f.tokens, "tokens", "", "`file` with named tokens that 'grfgp token add' made (default: that of the store, with "+
		".tokens at its end)")
	flags.StringVar(&f.tokenFile, "token-file", "", "`file` with one token without a name, which allows everything")
	flags.BoolVar(&f.goesOpen, "open", false, "let every user and program of this machine in without a token")
	flags.StringVar(&f.tlsCert, "tls-cert", "", "`file` with the TLS certificate and its chain, in PEM; read again when it changes")
	flags.StringVar(&f.tlsKey, "tls-key", "", "`file` with the key of the certificate, in PEM")
	flags.StringVar(&f.basePath, "base-path", "", "`path` under which a proxy shows this server, as in /grfgp")
	flags.StringArrayVar(&f.proxies, "proxy", nil, "`address` or network of a proxy whose X-Forwarded-For and X-Forwarded-Host are "+
		"believed, or unix for clients of the unix socket; may be repeated")
	flags.StringArrayVar(&f.hosts, "allow-host", nil, "host `name` by which clients may address this server, besides localhost and IP "+
		"addresses; may be repeated")
	flags.StringVar(&f.basemap, "basemap", "",
		"`file` of map tiles (PMTiles) that the page can show under nodes with latitudes and longitudes")
	flags.BoolVar(&f.readOnly, "read-only", false, "refuse all changes")
	f.log.Flag(cmd, "log", "format of the log on standard error", "text", "json")
	f.device.flagOfStudies(cmd, flags)
	flags.Var(&f.memory, "memory", "memory limit of the server: models that would take more wait for others, or are not fitted (default: "+
		"80 % of the free memory)")
	flags.Lookup("memory").DefValue = ""
	flags.StringVar(&f.clockError, "clock-error", "", "`file` with the number of seconds by which the clock is wrong, for tests")
	flags.MarkHidden("clock-error")
	l := &f.limits
	flags.DurationVar(&l.ModelTime, "model-time", l.ModelTime,
		"longest time of one processor that the walks or eigenvectors of a model may take, by estimate")
	flags.Int64Var(&l.Body, "max-body", l.Body, "largest request in `bytes`, uncompressed")
	flags.Int64Var(&l.Graph, "max-graph", l.Graph, "largest graph or exported study in `bytes`, uncompressed")
	flags.IntVar(&l.Rows, "max-rows", l.Rows, "largest number of observations in a request")
	flags.IntVar(&l.Page, "max-page", l.Page, "largest number of rows in an answer")
	flags.IntVar(&l.Concurrent, "max-requests", l.Concurrent, "largest number of concurrent requests; others are told to retry")
	flags.IntVar(&l.Uploads, "max-uploads", l.Uploads, "largest number of concurrent uploads of graphs and exported studies")
	flags.IntVar(&l.Downloads, "max-downloads", l.Downloads, "largest number of concurrent downloads of graphs and exported studies")
	flags.IntVar(&l.Streams, "max-streams", l.Streams, "largest number of concurrent event streams")
	flags.IntVar(&l.Studies, "max-studies", l.Studies, "largest number of studies in memory; more only while they are in use")
	flags.DurationVar(&l.Keep, "keep", l.Keep, "how long a study or graph that nobody uses stays in memory")
	flags.IntVar(&l.MapNodes, "max-map", l.MapNodes, "largest number of nodes drawn on a map; of more, an even sample is drawn")
	flags.DurationVar(&l.Patience, "patience", l.Patience, "how long a request waits for a model or a graph, before it is told to retry")
	flags.DurationVar(&l.BodyTime, "body-timeout", l.BodyTime, "time limit for receiving a request")
	flags.DurationVar(&l.IdleTime, "idle-timeout", l.IdleTime,
		"time limit between requests of a connection, and for a client to receive a part of an answer")
}

// grace is the time that requests have when the server ends, and then the background
// work.
const grace = 800 * time.Millisecond

func (a *app) serve(ctx context.Context, f *serveFlags) error {
	log := newLogPipe(a.Err, grace)
	defer log.end()
	a.Redirect(log)
	secret, err := f.check()
	if err != nil {
		return err
	}
	basemap, endBasemap, err := f.openBasemap()
	if err != nil {
		return err
	}
	defer endBasemap()
	plain, err := f.open(ctx)
	if err != nil {
		return err
	}
	listener, err := f.secured(plain, a)
	if err == nil {
		err = f.guarded(plain)
	}
	if err != nil {
		plain.Close()
		return err
	}
	if open, err := os.Stat(f.tokenFile); err == nil && open.Mode().Perm()&0o077 != 0 {
		a.Talk.Say("note: other users of this machine can read %s; 'chmod 600 %s' keeps the token private", f.tokenFile, f.tokenFile)
	}
	if open, err := os.Stat(f.tlsKey); err == nil && open.Mode().Perm()&0o007 != 0 { // a group for keys is usual
		a.Talk.Say("note: every user of this machine can read %s; 'chmod 600 %s' keeps the key private", f.tlsKey, f.tlsKey)
	}
	address := f.address(plain)
	kept, err := store.Open(ctx, f.store, store.Options{MustExist: f.readOnly, ReadOnly: f.readOnly, URL: address})
	if err != nil {
		listener.Close()
		return studyError(ctx, err)
	}
	s := server.New(server.Options{
		Store: kept, Log: f.logger(a.Err, a.Quiet, a.Verbose), Version: version.Current().String(), Limits: f.limits, Hosts: f.hosts,
		ReadOnly: f.readOnly, Memory: int64(f.memory.Most()),
		Token: secret, Tokens: f.people(), TokenNeeded: !f.isLocal(), Admit: f.admit(), Open: f.goesOpen,
		Proxies: f.trusted, ProxySocket: f.proxyPipe, BasePath: f.basePath, LogDropped: log.Dropped, Now: wrongClock(f.clockError),
		Basemap: basemap, Device: f.device.Value,
	})
	err = a.answerUntil(ctx, s, listener, address, withoutPassword(f.store)+f.whoMay())
	// The store is closed before background work has ended: fitting a model may take
	// minutes, and closing merges SQLite's log into its file.
	s.Stop()
	err = errors.Join(err, studyError(context.WithoutCancel(ctx), kept.Close()))
	waitFor(s.Close, grace)
	if err == nil {
		a.Talk.Say("shut down; all changes are on disk")
	}
	return err
}

// answerUntil prints the URL of the server, and serves until ctx ends.
func (a *app) answerUntil(ctx context.Context, s *server.Server, l net.Listener, address, place string) error {
	answer := struct {
		Version int    `json:"version"`
		URL     string `json:"url"`
	}{1, address}
	if err := a.Answer(answer, func(w io.Writer) error {
		_, err := fmt.Fprintln(w, address)
		return err
	}); err != nil {
		l.Close()
		return err
	}
	a.Talk.Say("serving the studies of %s; press Ctrl-C to stop", place)
	return s.Serve(ctx, l, grace)
}

// waitFor runs f, and returns when it ends or after a while.
func waitFor(f func(), a time.Duration) {
	done := make(chan struct{})
	go func() { f(); close(done) }()
	select {
	case <-done:
	case <-time.After(a):
	}
}

// withoutPassword removes the password of the URL of a store, also among its
// parameters.
func withoutPassword(place string) string {
	if u, err := url.Parse(place); err == nil && u.Scheme != "" {
		u.RawQuery, u.ForceQuery, u.Fragment = "", false, ""
		return u.Redacted()
	}
	if scheme, rest, ok := strings.Cut(place, "://"); ok { // it cannot be read as a URL
		if at := strings.LastIndex(rest, "@"); at >= 0 {
			rest = "…" + rest[at:]
		}
		rest, _, _ = strings.Cut(rest, "?")
		return scheme + "://" + rest
	}
	return place
}

// check refuses contradictory flags, and reads the token.
func (f *serveFlags) check() (token string, err error) {
	if f.store = cmp.Or(f.store, os.Getenv(storeEnv)); f.store == "" {
		return "", cli.Usagef("no store: give --store FILE.db or a postgres:// URL, or set %s", storeEnv)
	}
	if isServer(f.store) {
		return "", cli.Usagef("--store %s is the URL of a server; serve needs a file or a database", withoutPassword(f.store))
	}
	if err := f.checkAccess(); err != nil {
		return "", err
	}
	l := f.limits
	for _, limit := range []struct {
		flag  string
		value int64
	}{
		{"max-body", l.Body}, {"max-graph", l.Graph}, {"max-rows", int64(l.Rows)}, {"max-page", int64(l.Page)},
		{"max-requests", int64(l.Concurrent)},
		{"max-uploads", int64(l.Uploads)}, {"max-downloads", int64(l.Downloads)}, {"max-streams", int64(l.Streams)},
		{"max-map", int64(l.MapNodes)},
	} {
		if limit.value < 1 {
			return "", cli.Usagef("--%s %d: give 1 or more", limit.flag, limit.value)
		}
	}
	for _, limit := range []struct {
		flag  string
		value time.Duration
	}{{"patience", l.Patience}, {"model-time", l.ModelTime}, {"body-timeout", l.BodyTime}, {"idle-timeout", l.IdleTime}} {
		if limit.value <= 0 {
			return "", cli.Usagef("--%s %v: give a duration such as 30s", limit.flag, limit.value)
		}
	}
	return cli.ReadToken(f.tokenFile)
}

func (f *serveFlags) logger(w io.Writer, quiet, verbose bool) *slog.Logger {
	opts := &slog.HandlerOptions{Level: slog.LevelInfo}
	switch {
	case quiet:
		opts.Level = slog.LevelError
	case verbose:
		opts.Level = slog.LevelDebug
	}
	if f.log.Chosen() == "json" {
		return slog.New(slog.NewJSONHandler(w, opts))
	}
	return slog.New(slog.NewTextHandler(w, opts))
}
