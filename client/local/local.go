// Package local works with studies in a store that this process owns. It
// implements the interfaces of package client, so that one program can work with
// a store or with a server:
//
//	studies, err := local.Open(ctx, "team.db", local.Options{})
//	defer studies.Close()
//	s, err := studies.Study(ctx, "pipes")
//	ask, err := s.Ask(ctx, study.AskRequest{Count: 1, Holder: "anna"})
package local

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"grfgp/client"
	"grfgp/graphio"
	"grfgp/store"
	"grfgp/study"
)

// Options are the options of Open.
type Options struct {
	// MustExist makes a missing store an error of Open. Without it the first command
	// that needs the store opens it, and creates it if it does not exist; a command
	// that fails earlier creates none.
	MustExist bool
	// Wait is how long to wait for another process to close the store; 0: not at all.
	Wait time.Duration
	// Memory is how many bytes a model may take beside the graph, by estimate; 0: no limit.
	Memory int64
	// Device is where models are computed, as in grfgp.Spec; empty: on the processor.
	Device string
	// Progress reports long work; zero: to nobody.
	Progress client.Progress
}

// Open returns the studies of the store at a location, as in store.Open.
func Open(ctx context.Context, place string, opts Options) (*Studies, error) {
	l := &Studies{place: place, opts: opts}
	if !opts.MustExist {
		return l, nil
	}
	return l, l.need(ctx, true)
}

// device is where models are computed.
func (l *Studies) device() string { return cmp.Or(l.opts.Device, "cpu") }

// Studies implements client.Studies on a store that this process owns.
type Studies struct {
	place string
	opts  Options
	store store.Store // nil: not opened yet
}

// need opens the store.
func (l *Studies) need(ctx context.Context, mustExist bool) (err error) {
	if l.store == nil {
		l.store, err = store.Open(ctx, l.place, store.Options{MustExist: mustExist, Wait: l.opts.Wait})
	}
	return err
}

// Close closes the store, so that another process can open it.
func (l *Studies) Close() error {
	if l.store == nil {
		return nil
	}
	return l.store.Close()
}

// Create implements client.Studies.
func (l *Studies) Create(ctx context.Context, s study.Settings, packed []byte, by string) (bool, error) {
	net, err := graphio.Decode(packed)
	if err != nil {
		return false, err
	}
	if err := s.CheckOn(net.Graph, net.Nodes); err != nil {
		return false, err
	}
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

// List implements client.Studies.
func (l *Studies) List(ctx context.Context, archived bool) ([]client.Summary, error) {
	if err := l.need(ctx, l.opts.MustExist); err != nil {
		return nil, err
	}
	infos, err := l.store.Studies(ctx)
	if err != nil {
		return nil, err
	}
	all := []client.Summary{}
	for _, i := range infos {
		m, err := i.Summary, error(nil)
		if m == nil {
			m, err = study.Summarize(ctx, l.store.Log(i.Name), true)
		}
		switch {
		case errors.Is(err, study.ErrCorrupt): // the others are listed all the same
			all = append(all, client.Summary{
				Name: i.Name, Status: study.StatusDamaged, Problem: err.Error(), Events: i.Events, Trials: new(study.State).Counts(),
				Created: i.Created, Updated: i.Updated,
			})
		case err != nil:
			return nil, fmt.Errorf("study %s: %w", i.Name, err)
		case archived || m.Status != study.StatusArchived:
			all = append(all, summary(m))
		}
	}
	return all, nil
}

// Study implements client.Studies.
func (l *Studies) Study(ctx context.Context, name string) (client.Study, error) {
	s, err := l.open(ctx, name)
	if err != nil {
		return nil, err // and no interface that holds a nil pointer
	}
	return s, nil
}

func (l *Studies) open(ctx context.Context, name string) (*storedStudy, error) {
	err := l.need(ctx, l.opts.MustExist)
	if err != nil {
		return nil, err
	}
	s := &storedStudy{of: l}
	s.Study, err = study.Open(ctx, l.store.Log(name), study.Options{Engine: s.engine})
	return s, err
}

// Import implements client.Studies.
func (l *Studies) Import(ctx context.Context, r io.Reader, name string) (string, error) {
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
	packed := a.Graph
	if packed == nil {
		err := l.need(ctx, true) // a new store has no graph
		if err == nil {
			packed, err = l.store.Graph(ctx, id)
		}
		if err != nil {
			return "", fmt.Errorf("the graph was not exported: %w; export it again with its graph", err)
		}
	}
	net, err := graphio.Decode(packed)
	if err != nil {
		return "", err
	}
	if err := a.CheckNodes(net.Graph.IDs()); err != nil {
		return "", err
	}
	if a.Graph != nil {
		if err := study.CheckIDs(net.Graph.IDs()); err != nil {
			return "", fmt.Errorf("%w: %w", study.ErrCorrupt, err)
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

// storedStudy implements client.Study.
type storedStudy struct {
	*study.Study
	of  *Studies
	net *graphio.Network // nil: not loaded yet
}

func (s *storedStudy) Network(ctx context.Context) (*graphio.Network, error) {
	if s.net != nil {
		return s.net, nil
	}
	loaded := s.of.opts.Progress.Loading()
	packed, err := s.of.store.Graph(ctx, s.Settings().Graph)
	if err != nil {
		return nil, err
	}
	if s.net, err = graphio.Decode(packed); err == nil {
		loaded(s.net)
	}
	return s.net, err
}

// engine returns an optimizer that starts from its last checkpoint in the store.
func (s *storedStudy) engine(ctx context.Context) (study.Engine, error) {
	o, err := s.newEngine(ctx)
	if err != nil {
		return nil, err
	}
	if err := s.affordable(ctx, o, s.Settings()); err != nil {
		return nil, err
	}
	o.UseCheckpoints(s.of.store.Checkpoints(s.Settings().Name))
	return o, nil
}

// affordable refuses a model that takes too much memory.
func (s *storedStudy) affordable(ctx context.Context, e *study.ModelEngine, of study.Settings) error {
	if s.of.opts.Memory == 0 || !of.UsesModel() {
		return nil
	}
	measurements := 0
	s.View(func(st *study.State) { measurements = len(st.Measurements()) })
	need, err := e.EstimateMemory(ctx, measurements+1)
	if err == nil && need.Bytes > s.of.opts.Memory {
		err = fmt.Errorf("%w: its model takes about %d MiB beside the graph (method %s), and %d MiB may be taken; a smaller rank, fewer walks "+
			"or hops, or another method takes less",
			study.ErrTooLarge, need.Bytes>>20, need.Method, s.of.opts.Memory>>20)
	}
	return err
}

// Retry implements client.Study: it ends the quarantine of the model. A model that could
// not be fitted is tried again in every process.
func (s *storedStudy) Retry(ctx context.Context, _ string) error {
	return s.of.store.SetMark(ctx, s.Settings().Name, "")
}

func (s *storedStudy) newEngine(ctx context.Context) (*study.ModelEngine, error) {
	net, err := s.Network(ctx)
	if err != nil {
		return nil, err
	}
	return study.NewModelEngineOn(s.of.device(), net.Graph, net.Nodes, s.Settings())
}

func (s *storedStudy) Show(ctx context.Context) (shown *client.Overview, err error) {
	if err := s.Expire(ctx); err != nil {
		return nil, err
	}
	s.View(func(st *study.State) {
		shown = &client.Overview{
			Version: 1, Summary: summary(st.Summary()), Settings: st.Settings,
			AllTrials: append([]study.Trial{}, st.Trials...), Observations: append([]study.Record{}, st.Records...),
		}
	})
	return shown, nil
}

func summary(m *study.Summary) client.Summary {
	return client.Summary{
		Name: m.Settings.Name, Status: m.Status, Stopped: m.Stopped, Goal: m.Settings.Goal.String(), Events: m.Seq, Values: m.Values,
		Trials: m.Trials, Spent: m.Spent, Left: m.Left, Queued: m.Queued, Best: m.Best, Classes: m.Classes, Created: m.Created,
		Updated: m.Updated,
	}
}

func (s *storedStudy) Export(ctx context.Context, w io.Writer, withGraph bool) error {
	var packed []byte
	if withGraph {
		var err error
		if packed, err = s.of.store.Graph(ctx, s.Settings().Graph); err != nil {
			return err
		}
	}
	return study.Export(w, packed, s.Events(ctx, 0))
}

func (s *storedStudy) Verify(ctx context.Context, suggestions bool, progress func(done, total int64)) (study.Verification, error) {
	net, err := s.Network(ctx)
	if err != nil {
		return study.Verification{}, err
	}
	checks, total := study.ChecksOn(net.Graph, net.Nodes, suggestions, s.of.device()), s.Seq()
	checks.Progress = func(done int64) {
		if progress != nil {
			progress(done, total)
		}
	}
	return study.Verify(ctx, s.Events(ctx, 0), checks)
}
