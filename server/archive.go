package server

import (
	"fmt"
	"net/http"
	"net/url"

	"grfgp/graphio"
	"grfgp/store"
	"grfgp/study"
)

// export sends a study as a file, with its graph unless graph=no.
func (s *Server) export(w http.ResponseWriter, r *http.Request) error {
	q := only(r, "graph")
	with := q.choice("graph", "yes", "no") == "yes"
	if q.err != nil {
		return q.err
	}
	o, err := s.named(r)
	if err != nil {
		return err
	}
	var packed []byte
	if with {
		var done func()
		if packed, done, err = s.borrow(r.Context(), o.Settings().Graph); err != nil {
			return err
		}
		defer done()
	}
	w.Header().Set("Content-Type", "application/x-ndjson")
	w.Header().Set("Content-Disposition", "attachment; filename*=UTF-8''"+url.PathEscape(o.name)+".jsonl")
	return study.Export(w, packed, o.Events(r.Context(), 0))
}

// importStudy adds an exported study, under another name if the request gives one.
func (s *Server) importStudy(w http.ResponseWriter, r *http.Request) error {
	q := only(r, "name")
	if q.err != nil {
		return q.err
	}
	body, err := s.uploaded(w, r)
	if err != nil {
		return err
	}
	defer body.memory.release()
	a, err := study.ReadArchive(body)
	if err := body.done(w, err); err != nil {
		return err
	}
	if name := q.text("name"); name != "" {
		if err := a.Rename(name); err != nil {
			return err
		}
	}
	s.lives.RLock()
	defer s.lives.RUnlock()
	if err := s.importGraph(r, a); err != nil {
		return err
	}
	name := a.State.Settings.Name
	if err := a.Write(r.Context(), s.opts.Store.Log(name)); err != nil {
		return err
	}
	o, err := s.study(r.Context(), name)
	if err != nil {
		return err
	}
	return s.created(w, o, true)
}

// unfit is the problem of an archive that does not fit its graph.
func unfit(err error) error {
	if err == nil {
		return nil
	}
	return badData.because("%s", err.Error())
}

// importGraph stores the graph of an archive, or checks that the store has it.
func (s *Server) importGraph(r *http.Request, a *study.Archive) error {
	wanted := a.State.Settings.Graph
	if a.Graph == nil {
		packed, done, err := s.borrow(r.Context(), wanted)
		if err != nil {
			return err
		}
		defer done()
		net, err := graphio.Decode(packed)
		if err != nil {
			return err
		}
		return unfit(a.CheckNodes(net.Graph.IDs()))
	}
	if id := store.GraphID(a.Graph); id != wanted {
		return badData.because("the study is on graph %s, but the file contains graph %s", wanted, id)
	}
	net, err := graphio.Decode(a.Graph)
	if err != nil {
		return err
	}
	if err := checkIDs(net); err != nil {
		return err
	}
	if err := unfit(a.CheckNodes(net.Graph.IDs())); err != nil {
		return err
	}
	if _, _, err := s.keep(r.Context(), a.Graph); err != nil {
		return fmt.Errorf("the graph of a study: %w", err)
	}
	return nil
}
