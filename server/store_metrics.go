package server

import (
	"runtime"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"grfgp/store"
	"grfgp/study"
)

// storeMetrics are figures of the store, read when somebody asks for them.
type storeMetrics struct{ of *Server }

func describe(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc("grfgp_"+name, help, labels, nil)
}

// The figures.
var (
	buildInfo     = describe("build_info", "1, with the version of the program.", "version", "go")
	storeUp       = describe("store_up", "1 if the store can be read, else 0.")
	storeBytes    = describe("store_bytes", "Bytes that the store takes on disk.")
	storeStudies  = describe("store_studies", "Studies in the store, by status.", "status")
	storeEvents   = describe("store_events", "Events of all studies in the store.")
	storeTrials   = describe("store_trials", "Trials of all studies in the store, by state.", "state")
	storeValues   = describe("store_values", "Measurements of all studies in the store that were not retracted.")
	storeQueue    = describe("store_queued", "Nodes of all studies that the next asks get first.")
	commitSeconds = describe("commit_seconds", "Time of transactions until they were on disk.")
	commitFailed  = describe("commit_failures_total", "Transactions that failed.")
	quarantine    = describe("quarantined_studies", "Studies that the server found in quarantine when it started, and that are not deleted.")
)

// Describe implements prometheus.Collector.
func (storeMetrics) Describe(to chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{buildInfo, storeUp, storeBytes, storeStudies, storeEvents, storeTrials, storeValues, storeQueue, commitSeconds, commitFailed, quarantine} {
		to <- d
	}
}

// Collect implements prometheus.Collector. If the store does not answer, its figures are left
// out.
func (m storeMetrics) Collect(to chan<- prometheus.Metric) {
	s := m.of
	gauge := func(d *prometheus.Desc, v float64, labels ...string) {
		to <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v, labels...)
	}
	gauge(buildInfo, 1, s.opts.Version, runtime.Version())
	s.mu.Lock()
	gauge(quarantine, float64(len(s.crashes)))
	s.mu.Unlock()
	stats, err := s.opts.Store.Stats(s.ctx)
	up := 1.0
	if err == nil {
		gauge(storeBytes, float64(stats.Bytes))
		err = m.studies(gauge)
	}
	if err != nil || s.opts.Store.Present() != nil {
		up = 0
	}
	gauge(storeUp, up)
	buckets := map[float64]uint64{}
	for k, bound := range store.TimeBounds() {
		buckets[bound.Seconds()] = stats.Commits.Within[k]
	}
	to <- prometheus.MustNewConstHistogram(commitSeconds, stats.Commits.Count, stats.Commits.Sum.Seconds(), buckets)
	to <- prometheus.MustNewConstMetric(commitFailed, prometheus.CounterValue, float64(stats.Commits.Failed))
}

// studies sums up the studies of the store.
func (m storeMetrics) studies(gauge func(d *prometheus.Desc, v float64, labels ...string)) error {
	infos, err := m.of.opts.Store.Studies(m.of.ctx)
	if err != nil {
		return err
	}
	var events, values, queued float64
	byStatus, byState := map[study.Status]int{}, map[study.TrialState]int{}
	for _, status := range []study.Status{study.StatusOpen, study.StatusPaused, study.StatusClosed, study.StatusArchived} {
		byStatus[status] = 0
	}
	for _, state := range study.TrialStates() {
		byState[state] = 0
	}
	for _, i := range infos {
		events += float64(i.Events)
		if i.Summary == nil {
			byStatus["unknown"]++
			continue
		}
		byStatus[i.Summary.Status]++
		values += float64(i.Summary.Values)
		queued += float64(i.Summary.Queued)
		for state, n := range i.Summary.Trials {
			byState[state] += n
		}
	}
	gauge(storeEvents, events)
	gauge(storeValues, values)
	gauge(storeQueue, queued)
	for status, n := range byStatus {
		gauge(storeStudies, float64(n), string(status))
	}
	for state, n := range byState {
		gauge(storeTrials, float64(n), string(state))
	}
	return nil
}

// work counts work with a model.
func (m *metrics) work(what string, took time.Duration, failed bool) {
	if failed {
		m.failed.WithLabelValues(what).Inc()
	} else {
		m.worked.WithLabelValues(what).Observe(took.Seconds())
	}
}
