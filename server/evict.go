package server

import "time"

// evictEvery is how often the server looks for studies that nobody uses.
const evictEvery = 10 * time.Second

// evictIdle removes studies and graphs from memory that nobody uses.
func (s *Server) evictIdle() {
	tick := time.NewTicker(evictEvery)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			s.evict()
		case <-s.ctx.Done():
			return
		}
	}
}

// evict removes from memory the studies that nobody has used for Limits.Keep, and those
// that were not used longest if there are more than Limits.Studies; then the graphs of none.
// They are read again when somebody needs them.
func (s *Server) evict() {
	now := s.opts.Now()
	s.drafts.expire(now)
	s.mu.Lock()
	defer s.mu.Unlock()
	for name, e := range s.studies {
		if idle := now.Sub(e.used); idle > s.opts.Limits.Keep && e.mayGo() {
			s.drop(name, e.study)
		}
	}
	for len(s.studies) > s.opts.Limits.Studies {
		var oldest *studyEntry
		for _, e := range s.studies {
			if e.mayGo() && now.Sub(e.used) > evictEvery && (oldest == nil || e.used.Before(oldest.used)) {
				oldest = e
			}
		}
		if oldest == nil {
			break
		}
		s.drop(oldest.study.name, oldest.study)
	}
	inUse := map[string]bool{}
	for _, e := range s.studies {
		if !isClosed(e.opened) {
			return // its graph is not known yet
		}
		if e.err == nil {
			inUse[e.study.Settings().Graph] = true
		}
	}
	for id, n := range s.graphs {
		if !inUse[id] && isClosed(n.laidOut) && now.Sub(n.used) > s.opts.Limits.Keep {
			delete(s.graphs, id)
		}
	}
}

// drop removes a study from memory. The caller holds mu.
func (s *Server) drop(name string, o *openStudy) {
	delete(s.studies, name)
	o.work.mu.Lock()
	defer o.work.mu.Unlock()
	if o.work.crash == nil { // somebody has ended a quarantine
		delete(s.crashes, name)
	}
	s.log.Debug("study removed from memory", "study", name)
}

// mayGo reports whether nothing is under way for a study.
func (e *studyEntry) mayGo() bool {
	if !isClosed(e.opened) || e.err != nil {
		return false
	}
	o := e.study
	status, _ := o.progress()
	return o.users.Load() == 0 && status.State != engineLoading && status.State != engineLearning &&
		!o.fitting.underWay() && !o.predicting.underWay() && !o.validating.underWay() && !o.explaining.underWay() && o.AtRest()
}

// use keeps a study in memory until the function that it returns is called.
func (o *openStudy) use() (end func()) {
	o.users.Add(1)
	return func() { o.users.Add(-1) }
}
