package server

import (
	"context"
	"errors"
	"net/http"

	"grfgp/store"
	"grfgp/study"
)

// listStudies sends all studies, without the lists of nodes in their settings. Studies that
// are not in memory are told from the summaries that the store keeps: nothing is replayed.
func (s *Server) listStudies(w http.ResponseWriter, r *http.Request) error {
	q := only(r, "archived")
	archived := q.choice("archived", "no", "yes") == "yes"
	if q.err != nil {
		return q.err
	}
	infos, err := s.opts.Store.Studies(r.Context())
	if err != nil {
		return err
	}
	open := map[string]*openStudy{}
	for _, o := range s.openStudies() {
		open[o.name] = o
	}
	all := make([]studyView, 0, len(infos))
	for _, i := range infos {
		v, err := s.listed(r.Context(), i, open[i.Name])
		if err != nil {
			return err
		}
		if archived || v.Status != study.StatusArchived {
			all = append(all, v)
		}
	}
	return respond(w, http.StatusOK, map[string]any{"studies": all})
}

// listed returns a study as a list shows it; open is nil if it is not in memory.
func (s *Server) listed(ctx context.Context, i store.StudyInfo, open *openStudy) (studyView, error) {
	if open != nil {
		v := open.view()
		v.Settings.Allowed, v.Settings.Cost, v.Settings.Group = nil, nil, nil
		return v, nil
	}
	m := i.Summary
	err := s.damage(i)
	if m == nil && err == nil {
		m, err = s.summarize(ctx, i)
	}
	switch {
	case errors.Is(err, study.ErrCorrupt): // the list has the others too
		return studyView{
			Name: i.Name, Seq: i.Events, Status: study.StatusDamaged, Problem: damage(err), Created: i.Created, Updated: i.Updated,
			Trials: new(study.State).Counts(), Engine: engineStatus{State: engineFailed, Since: i.Updated},
		}, nil
	case err != nil:
		return studyView{}, err
	}
	v := summaryView(m)
	v.Engine = engineStatus{State: engineIdle, Since: i.Updated}
	s.mu.Lock()
	defer s.mu.Unlock()
	if c := s.crashes[i.Name]; c != nil {
		v.Engine.State, v.Engine.Error = engineQuarantined, c.words()
	}
	if n := s.graphs[m.Settings.Graph]; n != nil {
		v.Graph.describe(n)
	}
	return v, nil
}

// summaryView is the view of a summary.
func summaryView(m *study.Summary) studyView {
	return studyView{
		Name: m.Settings.Name, Settings: m.Settings, Seq: m.Seq, Status: m.Status, Stopped: m.Stopped, Created: m.Created, Updated: m.Updated,
		Trials: m.Trials, Values: m.Values, Spent: m.Spent, Left: m.Left, Queued: m.Queued, Best: m.Best, Classes: m.Classes,
		Graph: graphView{ID: m.Settings.Graph},
	}
}

// damaged is a study that could not be replayed.
type damaged struct {
	events int64 // that it has; 0: not known
	err    error
}

// damage returns why a study could not be replayed, nil if nobody tried.
func (s *Server) damage(i store.StudyInfo) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if d := s.damaged[i.Name]; d.events == 0 || d.events == i.Events {
		return d.err
	}
	return nil
}

// noteDamage remembers that a study could not be replayed, for lists, which replay nothing.
func (s *Server) noteDamage(name string, events int64, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if errors.Is(err, study.ErrCorrupt) {
		s.damaged[name] = damaged{events, err}
	} else {
		delete(s.damaged, name)
	}
}

// summarize replays a study, one at a time, for a summary that the store does not have, and
// keeps it there.
func (s *Server) summarize(ctx context.Context, i store.StudyInfo) (*study.Summary, error) {
	select {
	case s.summarizing <- struct{}{}:
		defer func() { <-s.summarizing }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if err := s.damage(i); err != nil {
		return nil, err
	}
	summary, err := study.Summarize(ctx, s.opts.Store.Log(i.Name), !s.opts.ReadOnly)
	if errors.Is(err, study.ErrCorrupt) {
		s.log.Error("damaged study", "study", i.Name, "error", err)
		s.noteDamage(i.Name, i.Events, err)
	}
	return summary, err
}
