package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/url"
	"os"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"grfgp/server"
	"grfgp/store"
)

// serveFlags are the flags of the verb.
type serveFlags struct {
	store     string
	listen    string
	remote    bool
	tokenFile string
	hosts     []string
	readOnly  bool
	log       choice
	verbose   bool
	memory    size
	limits    server.Limits
}

func serveVerb(a *app) *cobra.Command {
	f := serveFlags{limits: server.DefaultLimits()}
	cmd := &cobra.Command{
		Use:   "serve --store FILE [--listen ADDRESS]",
		Short: "Serve studies over HTTP, with a web page",
		Long: `Serve makes the studies of a store available over HTTP, and shows them on a web
page. Use 'grfgp study … --store http://ADDRESS' to work on them.

By default only this machine can connect. To let other machines connect, give
--listen a network address, with --allow-remote and --token-file FILE: clients need
the token, and with it they may do everything. The traffic is not encrypted; use a
TLS proxy.

Ctrl-C or SIGTERM shuts the server down; the exit code is then 0. Every change that
was answered with success is on disk, also after a crash.`,
		Example: `  grfgp serve --store team.db
  grfgp serve --store postgres://grfgp@db/studies --listen 0.0.0.0:8080 --allow-remote --token-file token.txt --allow-host lab.example.org`,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.serve(cmd.Context(), &f) },
	}
	f.flags(cmd)
	cmd.AddCommand(serveLoad(a))
	return cmd
}

func (f *serveFlags) flags(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&f.store, "store", "", "store of the studies: a `file`, or a postgres:// URL (default: the environment variable "+storeEnv+")")
	flags.StringVar(&f.listen, "listen", "127.0.0.1:8080", "`address` to listen on; port 0 chooses a free port")
	flags.BoolVar(&f.remote, "allow-remote", false, "allow other machines to connect; needs --token-file")
	flags.StringVar(&f.tokenFile, "token-file", "", "`file` with the token that clients must send")
	flags.StringArrayVar(&f.hosts, "allow-host", nil, "host `name` by which clients may address this server, besides localhost and IP addresses; may be repeated")
	flags.BoolVar(&f.readOnly, "read-only", false, "refuse all changes")
	f.log.flag(cmd, "log", "format of the log on standard error", "text", "json")
	flags.BoolVar(&f.verbose, "verbose", false, "log every request, not only changes")
	flags.Var(&f.memory, "memory", "memory limit of the server: models that would take more wait for others, or are not fitted (default: 80 % of the free memory)")
	flags.Lookup("memory").DefValue = ""
	l := &f.limits
	flags.DurationVar(&l.ModelTime, "model-time", l.ModelTime, "longest time of one processor that the walks or eigenvectors of a model may take, by estimate")
	flags.Int64Var(&l.Body, "max-body", l.Body, "largest request in `bytes`, uncompressed")
	flags.Int64Var(&l.Graph, "max-graph", l.Graph, "largest graph or exported study in `bytes`, uncompressed")
	flags.IntVar(&l.Rows, "max-rows", l.Rows, "largest number of observations in a request")
	flags.IntVar(&l.Page, "max-page", l.Page, "largest number of rows in an answer")
	flags.IntVar(&l.Concurrent, "max-requests", l.Concurrent, "largest number of concurrent requests; others are told to retry")
	flags.IntVar(&l.Uploads, "max-uploads", l.Uploads, "largest number of concurrent uploads of graphs and exported studies")
	flags.IntVar(&l.Downloads, "max-downloads", l.Downloads, "largest number of concurrent downloads of graphs and exported studies")
	flags.IntVar(&l.Streams, "max-streams", l.Streams, "largest number of concurrent event streams")
	flags.IntVar(&l.MapNodes, "max-map", l.MapNodes, "largest number of nodes drawn on a map")
	flags.DurationVar(&l.Patience, "patience", l.Patience, "how long a request waits for a model or a graph, before it is told to retry")
	flags.DurationVar(&l.BodyTime, "body-timeout", l.BodyTime, "time limit for receiving a request")
	flags.DurationVar(&l.IdleTime, "idle-timeout", l.IdleTime, "time limit between requests of a connection, and for a client to receive a part of an answer")
}

// tokenLeast is the least length of a token: shorter ones can be guessed.
const tokenLeast = 16

// grace is the time that requests have when the server ends, and then the background
// work.
const grace = 800 * time.Millisecond

func (a *app) serve(ctx context.Context, f *serveFlags) error {
	a.Err = &lines{w: a.Err}
	a.talk.w = a.Err
	secret, err := f.check()
	if err != nil {
		return err
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", f.listen)
	if errors.Is(err, syscall.EADDRINUSE) {
		return usagef("--listen %s: the port is in use; give another port, or 0 for a free one", f.listen)
	}
	if err != nil {
		return usagef("--listen %s: %v; give an address of this machine and a port up to 65535, as in 127.0.0.1:8080", f.listen, err)
	}
	if open, err := os.Stat(f.tokenFile); err == nil && open.Mode().Perm()&0o077 != 0 {
		a.talk.Say("note: other users of this machine can read %s; 'chmod 600 %s' keeps the token private", f.tokenFile, f.tokenFile)
	}
	address := "http://" + f.address(listener)
	kept, err := store.Open(ctx, f.store, store.Options{MustExist: f.readOnly, URL: address, Migrated: a.migrated})
	if err != nil {
		listener.Close()
		return studyError(ctx, err)
	}
	s := server.New(server.Options{
		Store: kept, Log: f.logger(a.Err, a.quiet), Version: version(), Limits: f.limits, Token: secret.text, Hosts: f.hosts, ReadOnly: f.readOnly,
		Memory: int64(f.memory.most()),
	})
	err = a.answerUntil(ctx, s, listener, address, withoutPassword(f.store))
	// The store is closed before background work has ended: fitting a model may take
	// minutes, and closing merges SQLite's log into its file.
	s.Stop()
	err = errors.Join(err, studyError(context.WithoutCancel(ctx), kept.Close()))
	waitFor(s.Close, grace)
	if err == nil {
		a.talk.Say("shut down; all changes are on disk")
	}
	return err
}

// answerUntil prints the URL of the server, and serves until ctx ends.
func (a *app) answerUntil(ctx context.Context, s *server.Server, l net.Listener, address, place string) error {
	answer := struct {
		Version int    `json:"version"`
		URL     string `json:"url"`
	}{1, address}
	if err := a.answer(answer, func(w io.Writer) error {
		_, err := fmt.Fprintln(w, address)
		return err
	}); err != nil {
		l.Close()
		return err
	}
	a.talk.Say("serving the studies of %s; press Ctrl-C to stop", place)
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

// lines serializes the writes of the log and of notes.
type lines struct {
	mu sync.Mutex
	w  io.Writer
}

func (l *lines) Write(line []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.w.Write(line)
}

// address is the host that was given and the port that is used.
func (f *serveFlags) address(l net.Listener) string {
	host, _, _ := net.SplitHostPort(f.listen) // check has seen to it
	_, port, _ := net.SplitHostPort(l.Addr().String())
	return net.JoinHostPort(cmp.Or(host, "0.0.0.0"), port)
}

// withoutPassword removes the password of the URL of a store, also among its
// parameters.
func withoutPassword(place string) string {
	if u, err := url.Parse(place); err == nil && u.Scheme != "" {
		u.RawQuery, u.ForceQuery, u.Fragment = "", false, ""
		return u.Redacted()
	}
	return place
}

// check refuses contradictory flags, and reads the token.
func (f *serveFlags) check() (token, error) {
	var none token
	if f.store = cmp.Or(f.store, os.Getenv(storeEnv)); f.store == "" {
		return none, usagef("no store: give --store FILE.db or a postgres:// URL, or set %s", storeEnv)
	}
	if isServer(f.store) {
		return none, usagef("--store %s is the URL of a server; serve needs a file or a database", f.store)
	}
	host, _, err := net.SplitHostPort(f.listen)
	if err != nil {
		return none, usagef("--listen %s: give an address and a port, as in 127.0.0.1:8080", f.listen)
	}
	if ip := net.ParseIP(host); host != "localhost" && (ip == nil || !ip.IsLoopback()) {
		switch {
		case !f.remote:
			return none, usagef("--listen %s: other machines can reach this address; to allow that, give --allow-remote and --token-file FILE", f.listen)
		case f.tokenFile == "":
			return none, usagef("--allow-remote needs --token-file FILE, the token that clients must send")
		}
	}
	l := f.limits
	for _, limit := range []struct {
		flag  string
		value int64
	}{
		{"max-body", l.Body}, {"max-graph", l.Graph}, {"max-rows", int64(l.Rows)}, {"max-page", int64(l.Page)}, {"max-requests", int64(l.Concurrent)},
		{"max-uploads", int64(l.Uploads)}, {"max-downloads", int64(l.Downloads)}, {"max-streams", int64(l.Streams)}, {"max-map", int64(l.MapNodes)},
	} {
		if limit.value < 1 {
			return none, usagef("--%s %d: give 1 or more", limit.flag, limit.value)
		}
	}
	for _, limit := range []struct {
		flag  string
		value time.Duration
	}{{"patience", l.Patience}, {"model-time", l.ModelTime}, {"body-timeout", l.BodyTime}, {"idle-timeout", l.IdleTime}} {
		if limit.value <= 0 {
			return none, usagef("--%s %v: give a duration such as 30s", limit.flag, limit.value)
		}
	}
	return readToken(f.tokenFile)
}

// token is the secret of a server, and the file that it was read from.
type token struct{ file, text string }

// readToken reads a file with a token; no file, no token.
func readToken(file string) (token, error) {
	if file == "" {
		return token{}, nil
	}
	raw, err := os.ReadFile(file)
	if err != nil {
		return token{}, unreadable("--token-file", file, err, "name the file with the token of the server")
	}
	text := string(bytes.TrimSpace(raw))
	if len(text) < tokenLeast || strings.ContainsAny(text, " \t\r\n") {
		return token{}, usagef("--token-file %s: a token is one line of %d characters or more, without blanks", file, tokenLeast)
	}
	return token{file, text}, nil
}

func (f *serveFlags) logger(w io.Writer, quiet bool) *slog.Logger {
	opts := &slog.HandlerOptions{Level: slog.LevelInfo}
	switch {
	case quiet:
		opts.Level = slog.LevelError
	case f.verbose:
		opts.Level = slog.LevelDebug
	}
	if f.log.chosen() == "json" {
		return slog.New(slog.NewJSONHandler(w, opts))
	}
	return slog.New(slog.NewTextHandler(w, opts))
}
