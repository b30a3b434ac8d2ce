package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"net"
	"os"
	"strings"
	"time"

	"grfgp/graphio"
	"grfgp/internal/plain"
	"grfgp/store"
	"grfgp/study"
)

// studies is a place where studies live: a store that this process owns, or
// whoever does.
type studies interface {
	// Create makes a study on a packed graph; making it again is harmless. It
	// reports whether the study is new.
	Create(ctx context.Context, s study.Settings, packed []byte, by string) (bool, error)
	List(ctx context.Context) ([]studySummary, error)
	Study(ctx context.Context, name string) (sharedStudy, error)
	// Import takes what sharedStudy.Export wrote, under another name if there is
	// one, and returns the name.
	Import(ctx context.Context, r io.Reader, name string) (string, error)
	Close() error
}

// sharedStudy is a study, wherever it lives. A *study.Study has most of it.
type sharedStudy interface {
	Ask(ctx context.Context, r study.AskRequest) (study.Ask, error)
	Tell(ctx context.Context, trial int, o study.Outcome, by string) (study.Trial, error)
	Observe(ctx context.Context, key string, readings []study.Measurement, note, by string) ([]study.Record, error)
	Renew(ctx context.Context, trial int, lease time.Duration, by string) (study.Trial, error)
	Release(ctx context.Context, trial int, by string) (study.Trial, error)
	Abandon(ctx context.Context, trial int, note, by string) (study.Trial, error)
	Retract(ctx context.Context, observation int, note, by string) (study.Record, error)
	Pause(ctx context.Context, note, by string) error
	Resume(ctx context.Context, by string) error
	Close(ctx context.Context, note, by string) error

	Settings() study.Settings
	Show(ctx context.Context) (*studyShown, error)
	Events(ctx context.Context, after int64) iter.Seq2[study.Event, error]
	// Network returns the graph of the study.
	Network(ctx context.Context) (*graphio.Network, error)
	Export(ctx context.Context, w io.Writer, withGraph bool) error
	// Verify replays all events and, if wanted, makes all suggestions again.
	Verify(ctx context.Context, suggestions bool) (study.Verification, error)
}

// openStudies opens the place of studies.
func (a *app) openStudies(ctx context.Context, f *studyFlags, place string, mustExist bool) (studies, error) {
	if isServer(place) {
		token, err := readToken(cmp.Or(f.tokenFile, os.Getenv(tokenEnv)))
		if err != nil {
			return nil, err
		}
		return a.remoteStudies(place, token)
	}
	if host, port, err := net.SplitHostPort(place); err == nil && host != "" && isNumber(port) {
		if _, err := os.Stat(place); err != nil {
			return nil, usagef("--store %s: there is no such file; if it is a server, give --store http://%s", place, place)
		}
	}
	all := &storedStudies{app: a, place: place}
	if !mustExist {
		return all, nil
	}
	return all, all.need(ctx, true)
}

// isServer reports whether a place is the URL of a server.
func isServer(place string) bool {
	return strings.HasPrefix(place, "http://") || strings.HasPrefix(place, "https://")
}

func isNumber(text string) bool { return text != "" && strings.Trim(text, "0123456789") == "" }

// storedStudies are those of a store that this process owns. What may make a store
// opens it when all else is known to be well: no command that fails leaves one.
type storedStudies struct {
	app   *app
	place string
	store store.Store // nil: not opened yet
}

// heldWait is how long a command waits for another one to end that has the store.
const heldWait = 3 * time.Second

// need opens the store.
func (l *storedStudies) need(ctx context.Context, mustExist bool) (err error) {
	if l.store == nil {
		l.store, err = store.Open(ctx, l.place, store.Options{MustExist: mustExist, Wait: heldWait})
	}
	return err
}

func (l *storedStudies) Close() error {
	if l.store == nil {
		return nil
	}
	return l.store.Close()
}

func (l *storedStudies) Create(ctx context.Context, s study.Settings, packed []byte, by string) (bool, error) {
	if err := l.need(ctx, false); err != nil {
		return false, err
	}
	id, err := l.store.PutGraph(ctx, packed)
	if err != nil {
		return false, err
	}
	s.Graph = id
	return study.Create(ctx, l.store.Log(s.Name), s, by, time.Now())
}

func (l *storedStudies) List(ctx context.Context) ([]studySummary, error) {
	infos, err := l.store.Studies(ctx)
	if err != nil {
		return nil, err
	}
	all := []studySummary{}
	for _, i := range infos {
		switch s, err := l.open(ctx, i.Name); {
		case errors.Is(err, study.ErrCorrupt): // the others are listed all the same
			all = append(all, studySummary{
				Name: i.Name, Status: study.StatusDamaged, Problem: plain.Words(err), Events: i.Events, Trials: new(study.State).Counts(), Created: i.Created, Updated: i.Updated,
			})
		case err != nil:
			return nil, fmt.Errorf("study %s: %w", i.Name, err)
		default:
			s.View(func(st *study.State) { all = append(all, summaryOf(st)) })
		}
	}
	return all, nil
}

func (l *storedStudies) Study(ctx context.Context, name string) (sharedStudy, error) {
	return l.open(ctx, name)
}

func (l *storedStudies) open(ctx context.Context, name string) (*storedStudy, error) {
	s := &storedStudy{place: l}
	var err error
	s.Study, err = study.Open(ctx, l.store.Log(name), study.Options{Engine: s.engine})
	if errors.Is(err, study.ErrNotFound) {
		return nil, usagef("there is no study %q in this store; 'grfgp study list' lists them", name)
	}
	return s, err
}

func (l *storedStudies) Import(ctx context.Context, r io.Reader, name string) (string, error) {
	a, err := study.ReadArchive(r)
	if err != nil {
		return "", err
	}
	if name != "" {
		if err := a.Rename(name); err != nil {
			return "", err
		}
	}
	id := a.State.Settings.Graph
	if a.Graph == nil {
		err := l.need(ctx, true) // a new store has no graph
		if err == nil {
			_, err = l.store.Graph(ctx, id)
		}
		if err != nil {
			return "", fmt.Errorf("the graph was not exported: %w; export it again with its graph", err)
		}
	} else {
		net, err := graphio.Unpack(a.Graph)
		if err != nil {
			return "", err
		}
		if err := study.CheckIDs(net.Graph.IDs()); err != nil {
			return "", dataf("%w", err)
		}
		if store.GraphID(a.Graph) != id {
			return "", fmt.Errorf("%w: the graph in the file is not the one of the study", study.ErrCorrupt)
		}
		if err := l.need(ctx, false); err != nil {
			return "", err
		}
		if _, err := l.store.PutGraph(ctx, a.Graph); err != nil {
			return "", err
		}
	}
	name = a.State.Settings.Name
	return name, a.Write(ctx, l.store.Log(name))
}

// storedStudy is a study in a store of this process.
type storedStudy struct {
	*study.Study
	place *storedStudies
	net   *graphio.Network // once it was asked for
}

func (s *storedStudy) Network(ctx context.Context) (*graphio.Network, error) {
	if s.net != nil {
		return s.net, nil
	}
	stage := s.place.app.talk.Stage("loading the graph")
	packed, err := s.place.store.Graph(ctx, s.Settings().Graph)
	if err != nil {
		return nil, err
	}
	if s.net, err = graphio.Unpack(packed); err == nil {
		stage.Done("%d nodes and %d edges", s.net.Graph.Len(), s.net.Graph.Edges())
	}
	return s.net, err
}

// engine returns one that goes on from what was learned before.
func (s *storedStudy) engine(ctx context.Context) (study.Engine, error) {
	o, err := s.newEngine(ctx)
	if err != nil {
		return nil, err
	}
	o.KeepIn(s.place.store.Checkpoints(s.Settings().Name))
	return o, nil
}

func (s *storedStudy) newEngine(ctx context.Context) (*study.Optimizer, error) {
	net, err := s.Network(ctx)
	if err != nil {
		return nil, err
	}
	return study.NewOptimizer(net.Graph, net.Nodes, s.Settings())
}

func (s *storedStudy) Show(ctx context.Context) (shown *studyShown, err error) {
	if err := s.Expire(ctx); err != nil {
		return nil, err
	}
	s.View(func(st *study.State) { shown = showState(st) })
	return shown, nil
}

func (s *storedStudy) Export(ctx context.Context, w io.Writer, withGraph bool) error {
	var packed []byte
	if withGraph {
		var err error
		if packed, err = s.place.store.Graph(ctx, s.Settings().Graph); err != nil {
			return err
		}
	}
	return study.Export(w, packed, s.Events(ctx, 0))
}

func (s *storedStudy) Verify(ctx context.Context, suggestions bool) (study.Verification, error) {
	if _, err := s.Network(ctx); err != nil {
		return study.Verification{}, err
	}
	var engine study.Engine
	if suggestions {
		var err error
		if engine, err = s.newEngine(ctx); err != nil {
			return study.Verification{}, err
		}
	}
	stage := s.place.app.talk.Stage("replaying")
	total := s.Seq()
	v, err := study.Verify(ctx, s.Events(ctx, 0), engine, func(done int64) { stage.Update(done, total) })
	if err == nil {
		stage.Done("%d events, %d suggestions made again", v.Events, v.Suggestions)
	}
	return v, err
}
