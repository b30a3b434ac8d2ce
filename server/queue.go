package server

import (
	"net/http"

	"grfgp/study"
)

// sendQueue sends the nodes that wait for the next asks.
func sendQueue(w http.ResponseWriter, queue []study.QueuedNode) error {
	return respond(w, http.StatusOK, map[string]any{"queue": append([]study.QueuedNode{}, queue...)})
}

func (s *Server) showQueue(w http.ResponseWriter, r *http.Request) error {
	o, err := s.named(r)
	if err != nil {
		return err
	}
	var queue []study.QueuedNode
	o.View(func(st *study.State) { queue = st.Queue })
	return sendQueue(w, queue)
}

// enqueue adds nodes that somebody chose to the queue.
func (s *Server) enqueue(w http.ResponseWriter, r *http.Request) error {
	var body struct {
		Nodes []string `json:"nodes"`
		remark
	}
	if err := s.readJSON(w, r, &body); err != nil {
		return err
	}
	o, err := s.named(r)
	if err != nil {
		return err
	}
	ctx, cancel := s.waitContext(r)
	defer cancel()
	if _, err := o.awaitEngine(ctx); err != nil {
		return err
	}
	queue, err := o.Queue(r.Context(), body.Nodes, body.Note, by(r, body.By))
	if err != nil {
		return err
	}
	return sendQueue(w, queue)
}

// unqueue takes nodes out of the queue.
func (s *Server) unqueue(w http.ResponseWriter, r *http.Request) error {
	q := only(r, "node", "by")
	nodes := r.URL.Query()["node"]
	switch {
	case q.err != nil:
		return q.err
	case len(nodes) == 0:
		return malformed.because("name the nodes, as in ?node=j7&node=j8")
	}
	o, err := s.named(r)
	if err != nil {
		return err
	}
	queue, err := o.Unqueue(r.Context(), nodes, by(r, q.text("by")))
	if err != nil {
		return err
	}
	return sendQueue(w, queue)
}
