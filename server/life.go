package server

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"

	"grfgp/study"
)

func (s *Server) archive(w http.ResponseWriter, r *http.Request) error {
	return s.change(w, r, func(o *openStudy, m remark) error { return o.Archive(r.Context(), m.Note, m.By) })
}

func (s *Server) restore(w http.ResponseWriter, r *http.Request) error {
	return s.change(w, r, func(o *openStudy, m remark) error { return o.Restore(r.Context(), m.By) })
}

// deleteStudy removes a study for good, also one that is damaged. Its name must be repeated.
func (s *Server) deleteStudy(w http.ResponseWriter, r *http.Request) error {
	q := only(r, "confirm", "by")
	name := r.PathValue("s")
	if q.err != nil {
		return q.err
	}
	o, err := s.named(r)
	damaged := errors.Is(err, study.ErrCorrupt)
	switch {
	case err != nil && !damaged:
		return err
	case q.text("confirm") != name:
		return invalid.because("this deletes the study and all its measurements for good; export it first, and repeat its name: ?confirm=%s",
			name)
	}
	s.lives.Lock()
	defer s.lives.Unlock()
	remove := func(ctx context.Context) error {
		if err := s.opts.Store.DeleteStudy(context.WithoutCancel(ctx), name); err != nil {
			return err
		}
		s.forget(name)
		return nil
	}
	if damaged {
		err = remove(r.Context())
	} else {
		err = o.Delete(r.Context(), remove)
	}
	if err != nil {
		return err
	}
	s.log.Info("study deleted", "study", name, "by", by(r, q.text("by")))
	return respond(w, http.StatusOK, map[string]string{"name": name})
}

// forget removes all that the server knows of a study that was deleted.
func (s *Server) forget(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.studies, name)
	delete(s.crashes, name)
	delete(s.damaged, name)
}

// deleteGraph removes a graph that no study is on.
func (s *Server) deleteGraph(w http.ResponseWriter, r *http.Request) error {
	id := r.PathValue("g")
	if !isGraphID(id) {
		return noGraph(id)
	}
	s.lives.Lock()
	defer s.lives.Unlock()
	if err := s.opts.Store.DeleteGraph(context.WithoutCancel(r.Context()), id); err != nil {
		return err
	}
	s.mu.Lock()
	delete(s.graphs, id)
	s.mu.Unlock()
	s.log.Info("graph deleted", "graph", id)
	return respond(w, http.StatusOK, map[string]string{"id": id})
}

// changeSettings changes settings of a study by a JSON merge patch. Settings of the model are
// checked as when a study is created.
func (s *Server) changeSettings(w http.ResponseWriter, r *http.Request) error {
	var body struct {
		Settings json.RawMessage `json:"settings"`
		remark
	}
	if err := s.readJSON(w, r, &body); err != nil {
		return err
	}
	o, err := s.named(r)
	if err != nil {
		return err
	}
	was := o.Settings()
	to, err := was.Merge(body.Settings)
	if err != nil {
		return err
	}
	var net *network
	var engine study.Engine
	if !was.SameEngine(to) {
		if net, engine, err = s.prepare(r, to); err != nil {
			return err
		}
	}
	if _, err := o.Change(r.Context(), was, to, body.Note, by(r, body.By)); err != nil {
		return err
	}
	if engine != nil {
		o.replace(net, engine, to)
	}
	return respond(w, http.StatusOK, o.view())
}

// replace sets the engine of changed settings, unless they were changed once more.
func (o *openStudy) replace(net *network, engine study.Engine, of study.Settings) {
	at := o.ModelSeq()
	if !o.Settings().SameEngine(of) {
		return
	}
	o.work.forget()
	o.mu.Lock()
	o.net, o.engine, o.err, o.modelAt = net, guarded{engine, o}, nil, at
	o.setStatus(o.rested())
	o.mu.Unlock()
	o.fitSoon(true)
}

// forget forgets the costs and failures of a model that was replaced. A quarantine stays.
func (b *workbook) forget() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.failed, b.upTo, b.settled = nil, 0, nil
}
