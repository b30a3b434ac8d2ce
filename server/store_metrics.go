package server

import (
	"runtime"
	"time"

	"grfgp/internal/exposition"
	"grfgp/store"
	"grfgp/study"
)

// collectTime is how long figures of the store may take.
const collectTime = 3 * time.Second

// storeMetrics are figures of the store, read when somebody asks for them. If the store does not answer, all but
// whether it is up are left out.
func (s *Server) storeMetrics() []*exposition.Metric {
	s.mu.Lock()
	crashes := len(s.crashes)
	s.mu.Unlock()
	all := []*exposition.Metric{
		exposition.New("grfgp_build_info", "1, with the version of the program.", exposition.Gauge, "go", "version").Add(1, runtime.Version(),
			s.opts.Version),
		gauge("quarantined_studies", "Studies that the server found in quarantine when it started, and that are not deleted.",
			float64(crashes)),
	}
	found := make(chan []*exposition.Metric, 1)
	s.background(func() { found <- s.storeFigures() })
	up := 0.0
	select {
	case figures := <-found:
		all = append(all, figures...)
		if figures != nil && s.opts.Store.Present() == nil {
			up = 1
		}
	case <-time.After(collectTime):
	case <-s.ctx.Done():
	}
	return append(all, gauge("store_up", "1 if the store can be read, else 0.", up))
}

// storeFigures returns the figures that the store has; nil if it does not answer.
func (s *Server) storeFigures() []*exposition.Metric {
	stats, err := s.opts.Store.Stats(s.ctx)
	if err != nil {
		return nil
	}
	infos, err := s.opts.Store.Studies(s.ctx)
	if err != nil {
		return nil
	}
	var bounds []float64
	for _, bound := range store.TimeBounds() {
		bounds = append(bounds, bound.Seconds())
	}
	return append(studyFigures(infos),
		gauge("store_bytes", "Bytes that the store takes on disk.", float64(stats.Bytes)),
		exposition.NewHistogram("grfgp_commit_seconds", "Time of transactions until they were on disk.", bounds).Observed(
			stats.Commits.Count, stats.Commits.Sum.Seconds(), stats.Commits.Within[:]),
		exposition.New("grfgp_commit_failures_total", "Transactions that failed.", exposition.Counter).Add(float64(stats.Commits.Failed)))
}

// studyFigures sums up the studies of the store.
func studyFigures(infos []store.StudyInfo) []*exposition.Metric {
	byStatus := exposition.New("grfgp_store_studies", "Studies in the store, by status.", exposition.Gauge, "status")
	for _, status := range []study.Status{study.StatusOpen, study.StatusPaused, study.StatusClosed, study.StatusArchived} {
		byStatus.Add(0, string(status))
	}
	byState := exposition.New("grfgp_store_trials", "Trials of all studies in the store, by state.", exposition.Gauge, "state")
	for _, state := range study.TrialStates() {
		byState.Add(0, string(state))
	}
	var events, values, queued float64
	for _, i := range infos {
		events += float64(i.Events)
		if i.Summary == nil {
			byStatus.Add(1, "unknown")
			continue
		}
		byStatus.Add(1, string(i.Summary.Status))
		values += float64(i.Summary.Values)
		queued += float64(i.Summary.Queued)
		for state, n := range i.Summary.Trials {
			byState.Add(float64(n), string(state))
		}
	}
	return []*exposition.Metric{byStatus, byState,
		gauge("store_events", "Events of all studies in the store.", events),
		gauge("store_values", "Measurements of all studies in the store that were not retracted.", values),
		gauge("store_queued", "Nodes of all studies that the next asks get first.", queued),
	}
}
