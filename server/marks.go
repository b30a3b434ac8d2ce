package server

import (
	"context"
	"encoding/json"

	"grfgp"
)

// readMarks finds the studies whose models were being fitted when the process before this
// one ended without a shutdown: they are in quarantine.
func (s *Server) readMarks() {
	s.crashes = map[string]*crash{}
	marks, err := s.opts.Store.Marks(s.ctx)
	if err != nil {
		s.log.Error("cannot read the marks of models at work", "error", err)
	}
	for name, text := range marks {
		c := new(crash)
		if json.Unmarshal([]byte(text), c) != nil || c.Times < 1 {
			c = &crash{Work: "unknown", Times: 1}
		}
		s.crashes[name] = c
		s.log.Warn("a model is in quarantine", "study", name, "reason", c.words())
	}
}

// mark writes the mark of a study, unless work that took about as much has ended before,
// and returns the function that removes it when the work has ended.
func (o *openStudy) mark(what string, need grfgp.Memory) (settle func()) {
	o.work.mu.Lock()
	before, known := o.work.settled[what]
	c := crash{Work: what, Since: o.server.opts.Now().UTC(), Times: o.work.attempts + 1}
	o.work.mu.Unlock()
	if known && float64(need.Bytes) <= growth*float64(before) || o.server.opts.ReadOnly {
		return func() {}
	}
	o.server.setMark(o.name, &c)
	return func() {
		o.work.mu.Lock()
		if o.work.settled == nil {
			o.work.settled = map[string]int64{}
		}
		o.work.settled[what] = max(before, need.Bytes)
		o.work.attempts = 0
		o.work.mu.Unlock()
		o.server.setMark(o.name, nil)
	}
}

// setMark writes or removes a mark. Several kinds of work of a study share its mark: the
// last that ends removes it. Without a mark work goes on: a store that cannot be written
// is told to those who write.
func (s *Server) setMark(name string, c *crash) {
	s.mu.Lock()
	was := s.marked[name]
	switch {
	case s.ctx.Err() != nil, c == nil && was == 0: // unmarkAll has removed it
	case c != nil:
		s.marked[name]++
	case was == 1:
		delete(s.marked, name)
	default:
		s.marked[name]--
	}
	now := s.marked[name]
	s.mu.Unlock()
	if (was == 0) == (now == 0) {
		return
	}
	if err := s.writeMark(name, c); err != nil {
		s.log.Warn("cannot mark a model at work", "study", name, "error", err)
	}
}

func (s *Server) writeMark(name string, c *crash) error {
	text := ""
	if c != nil {
		raw, err := json.Marshal(c)
		if err != nil {
			return err
		}
		text = string(raw)
	}
	return s.opts.Store.SetMark(context.WithoutCancel(s.ctx), name, text)
}

// unmarkAll removes the marks of this process when it ends: its work did not end it.
func (s *Server) unmarkAll() {
	s.mu.Lock()
	all := s.marked
	s.marked = map[string]int{}
	s.mu.Unlock()
	for name := range all {
		if err := s.writeMark(name, nil); err != nil {
			s.log.Warn("cannot remove the mark of a model at work", "study", name, "error", err)
		}
	}
}
