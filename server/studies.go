package server

import (
	"context"
	"errors"
	"io/fs"
	"net/http"
	"net/url"
	"strings"
	"time"

	"grfgp/study"
)

// studyView is a study as the API shows it.
type studyView struct {
	Name     string                   `json:"name"`
	Settings study.Settings           `json:"settings,omitzero"`
	Seq      int64                    `json:"seq"`
	Status   study.Status             `json:"status"`
	Stopped  *study.Stop              `json:"stopped,omitempty"` // if the study is paused, closed or archived
	Problem  string                   `json:"problem,omitempty"` // if the study is damaged
	Created  time.Time                `json:"created"`
	Updated  time.Time                `json:"updated"`
	Trials   map[study.TrialState]int `json:"trials"`
	Values   int                      `json:"values"` // measurements that were not retracted
	Spent    float64                  `json:"spent"`
	Left     *float64                 `json:"left,omitempty"`
	Queued   int                      `json:"queued,omitempty"` // nodes that the next asks get first
	Best     *study.Record            `json:"best,omitempty"`
	Classes  []study.ClassCount       `json:"classes,omitempty"` // of a study of classes
	Graph    graphView                `json:"graph"`
	Engine   engineStatus             `json:"engine"`
}

type graphView struct {
	ID          string `json:"id"`
	Nodes       int    `json:"nodes,omitempty"`
	Edges       int    `json:"edges,omitempty"`
	Coordinates string `json:"coordinates,omitempty"`
}

func (o *openStudy) view() studyView {
	var v studyView
	o.View(func(st *study.State) {
		v = summaryView(st.Summary())
		v.Settings = st.Settings
	})
	o.mu.Lock()
	defer o.mu.Unlock()
	v.Engine = o.status
	if o.net != nil {
		v.Graph.describe(o.net)
	}
	return v
}

// describe adds what is known of a graph in memory.
func (v *graphView) describe(n *network) {
	if n.isLoaded() {
		v.Nodes, v.Edges = n.Graph.Len(), n.Graph.Edges()
	}
	if n.isLaidOut() {
		v.Coordinates = n.coordinates
	}
}

// named returns the study that the path of a request names.
func (s *Server) named(r *http.Request) (*openStudy, error) {
	return s.study(r.Context(), r.PathValue("s"))
}

// damage is the text of an error for clients, who need not know where the store is.
func damage(err error) string {
	var file *fs.PathError
	if errors.As(err, &file) {
		return strings.ReplaceAll(err.Error(), file.Path, "the store")
	}
	return err.Error()
}

func (s *Server) showStudy(w http.ResponseWriter, r *http.Request) error {
	o, err := s.named(r)
	if err != nil {
		return err
	}
	o.start()
	return respond(w, http.StatusOK, o.view())
}

// createStudy creates a study. It makes the engine first, so that settings that do not
// fit the graph are refused.
func (s *Server) createStudy(w http.ResponseWriter, r *http.Request) error {
	q := only(r, "by", "draft")
	var settings study.Settings
	if err := errors.Join(q.err, s.readJSON(w, r, &settings)); err != nil {
		return err
	}
	if id := q.text("draft"); id != "" {
		return s.createFromDraft(w, r, id, settings, by(r, q.text("by")))
	}
	settings, err := settings.Complete()
	if err != nil {
		return err
	}
	o, isNew, err := s.newStudy(r, settings, by(r, q.text("by")))
	if err != nil {
		return err
	}
	return s.created(w, o, isNew)
}

// newStudy creates a study on a graph of the store, with complete settings.
func (s *Server) newStudy(r *http.Request, settings study.Settings, by string) (o *openStudy, isNew bool, err error) {
	var net *network
	var engine study.Engine
	if _, err := s.study(r.Context(), settings.Name); err != nil {
		if net, engine, err = s.prepare(r, settings); err != nil {
			return nil, false, err
		}
	}
	if isNew, err = s.create(r.Context(), settings, by, engine != nil); err != nil {
		return nil, false, err
	}
	if o, err = s.study(r.Context(), settings.Name); err != nil {
		return nil, isNew, err
	}
	if engine != nil {
		o.adopt(net, engine)
	}
	return o, isNew, nil
}

// create writes the first event of a study. Its settings were checked on the graph, unless
// the study existed; neither may have been deleted meanwhile.
func (s *Server) create(ctx context.Context, settings study.Settings, by string, checked bool) (isNew bool, err error) {
	s.lives.RLock()
	defer s.lives.RUnlock()
	if !checked {
		if _, err := s.study(ctx, settings.Name); err != nil {
			return false, conflict.because("the study was deleted meanwhile; try again")
		}
	} else if there, err := s.hasGraph(ctx, settings.Graph); err != nil || !there {
		return false, errors.Join(err, noGraph(settings.Graph))
	}
	return study.Create(ctx, s.opts.Store.Log(settings.Name), settings, by, s.opts.Now())
}

// prepare returns the engine of a study that is to be created.
func (s *Server) prepare(r *http.Request, settings study.Settings) (*network, study.Engine, error) {
	net := s.network(settings.Graph)
	ctx, cancel := s.waitContext(r)
	defer cancel()
	if err := net.wait(ctx, false); err != nil {
		return nil, nil, err
	}
	if err := settings.CheckOn(net.Graph, net.Nodes); err != nil {
		return nil, nil, err
	}
	engine, err := s.newEngine(net, settings)
	if err != nil {
		return nil, nil, err
	}
	return net, engine, s.affordable(ctx, engine)
}

func (s *Server) created(w http.ResponseWriter, o *openStudy, isNew bool) error {
	status := http.StatusOK
	if isNew {
		status = http.StatusCreated
		w.Header().Set("Location", "studies/"+url.PathEscape(o.name)) // relative: a proxy may have removed a part of the path
		s.log.Info("study created", "study", o.name)
	}
	return respond(w, status, o.view())
}

// remark is the part of a body that most commands have.
type remark struct {
	Note string `json:"note"`
	By   string `json:"by"`
}

// change runs a command on a study and sends the study afterwards.
func (s *Server) change(w http.ResponseWriter, r *http.Request, do func(o *openStudy, m remark) error) error {
	var m remark
	if err := s.readJSON(w, r, &m); err != nil {
		return err
	}
	m.By = by(r, m.By)
	o, err := s.named(r)
	if err != nil {
		return err
	}
	if err := do(o, m); err != nil {
		return err
	}
	return respond(w, http.StatusOK, o.view())
}

func (s *Server) pause(w http.ResponseWriter, r *http.Request) error {
	return s.change(w, r, func(o *openStudy, m remark) error { return o.Pause(r.Context(), m.Note, m.By) })
}

func (s *Server) resume(w http.ResponseWriter, r *http.Request) error {
	return s.change(w, r, func(o *openStudy, m remark) error { return o.Resume(r.Context(), m.By) })
}

// retry fits a model again that failed, or that is in quarantine.
func (s *Server) retry(w http.ResponseWriter, r *http.Request) error {
	return s.change(w, r, func(o *openStudy, m remark) error {
		s.log.Info("a model is tried again", "study", o.name, "by", m.By)
		o.retry()
		return nil
	})
}

func (s *Server) close(w http.ResponseWriter, r *http.Request) error {
	return s.change(w, r, func(o *openStudy, m remark) error { return o.Close(r.Context(), m.Note, m.By) })
}
