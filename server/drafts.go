package server

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"net/http"
	"sync"
	"time"

	"grfgp/study"
)

// draft is what was read from files for a new study. Nothing of it is stored until a study is
// created from it.
type draft struct {
	packed       []byte              // the network
	measurements []study.Measurement // those to begin with
	made         time.Time
}

// drafts are those that no study was created from yet.
type drafts struct {
	mu  sync.Mutex
	all map[string]*draft
}

const (
	mostDrafts = 16
	draftTime  = 30 * time.Minute
)

// keep keeps a draft and returns its id. Older ones make room for it: there are at most
// mostDrafts, of so many bytes together.
func (d *drafts) keep(made *draft, bytes int64) string {
	random := make([]byte, 16)
	rand.Read(random) // never fails
	id := hex.EncodeToString(random)
	d.mu.Lock()
	defer d.mu.Unlock()
	for len(d.all) >= mostDrafts || len(d.all) > 0 && d.size()+int64(len(made.packed)) > bytes {
		d.dropOldest()
	}
	if d.all == nil {
		d.all = map[string]*draft{}
	}
	d.all[id] = made
	return id
}

func (d *drafts) size() (bytes int64) {
	for _, draft := range d.all {
		bytes += int64(len(draft.packed))
	}
	return bytes
}

func (d *drafts) dropOldest() {
	oldest := ""
	for id, draft := range d.all {
		if oldest == "" || draft.made.Before(d.all[oldest].made) {
			oldest = id
		}
	}
	delete(d.all, oldest)
}

// find returns a draft, nil if it is not there.
func (d *drafts) find(id string) *draft {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.all[id]
}

// expire removes drafts that are too old.
func (d *drafts) expire(now time.Time) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for id, draft := range d.all {
		if now.Sub(draft.made) > draftTime {
			delete(d.all, id)
		}
	}
}

// createFromDraft creates a study from files that were read before.
func (s *Server) createFromDraft(w http.ResponseWriter, r *http.Request, id string, settings study.Settings, by string) error {
	d := s.drafts.find(id)
	switch {
	case d == nil:
		return noDraft.because("what was read from the files is no longer here; send them again")
	case settings.Graph != "":
		return invalid.because("the settings name a graph, but the draft has one of its own")
	}
	o, isNew, err := s.studyFrom(r, d, settings, by)
	if err != nil {
		return err
	}
	return s.created(w, o, isNew)
}

// studyFrom creates a study from a draft: it stores the network, and adds the measurements, all
// or nothing. Doing so again has no effect.
func (s *Server) studyFrom(r *http.Request, d *draft, settings study.Settings, by string) (o *openStudy, isNew bool, err error) {
	ctx := r.Context()
	newGraph, id, err := s.keep(ctx, d.packed)
	if err != nil {
		return nil, false, err
	}
	settings.Graph = id
	if settings, err = settings.Complete(); err == nil {
		err = settings.CheckMeasurements(d.measurements)
	}
	if err == nil {
		o, isNew, err = s.newStudy(r, settings, by)
	}
	if err != nil {
		if newGraph && !errors.Is(err, errLoading) { // otherwise the client comes again
			s.discard(ctx, id)
		}
		return nil, false, err
	}
	if len(d.measurements) > 0 {
		if _, err := o.Observe(ctx, "create", d.measurements, "", by); err != nil {
			return nil, isNew, err
		}
		s.metrics.told.Add(float64(len(d.measurements)))
		o.fitSoon(false)
	}
	return o, isNew, nil
}

// discard removes a graph that was stored for a study that could not be created.
func (s *Server) discard(ctx context.Context, id string) {
	s.lives.Lock()
	defer s.lives.Unlock()
	if err := s.opts.Store.DeleteGraph(context.WithoutCancel(ctx), id); err != nil {
		return // another study is on it
	}
	s.mu.Lock()
	delete(s.graphs, id)
	s.mu.Unlock()
}
