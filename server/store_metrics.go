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
	for _, d := range []*prometheus.Desc{buildInfo, storeUp, storeBytes, storeStudies, storeEvents, storeTrials, storeValues, storeQueue,
		commitSeconds, commitFailed, quarantine} {
		to <- d
	}
}

// collectTime is how long figures of the store may take.
const collectTime = 3 * time.Second

// Collect implements prometheus.Collector. If the store does not answer, its figures are left
// out.
func (m storeMetrics) Collect(to chan<- prometheus.Metric) {
	s := m.of
	to <- gauge(buildInfo, 1, s.opts.Version, runtime.Version())
	s.mu.Lock()
	crashes := len(s.crashes)
	s.mu.Unlock()
	to <- gauge(quarantine, float64(crashes))
	found := make(chan []prometheus.Metric, 1)
	s.background(func() { found <- m.figures() })
	up := 0.0
	select {
	case figures := <-found:
		for _, f := range figures {
			to <- f
		}
		if figures != nil && s.opts.Store.Present() == nil {
			up = 1
		}
	case <-time.After(collectTime):
	case <-s.ctx.Done():
	}
	to <- gauge(storeUp, up)
}

func gauge(d *prometheus.Desc, v float64, labels ...string) prometheus.Metric {
	return prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v, labels...)
}

// figures returns the figures that the store has; nil if it does not answer.
func (m storeMetrics) figures() []prometheus.Metric {
	stats, err := m.of.opts.Store.Stats(m.of.ctx)
	if err != nil {
		return nil
	}
	all, err := m.studies()
	if err != nil {
		return nil
	}
	buckets := map[float64]uint64{}
	for k, bound := range store.TimeBounds() {
		buckets[bound.Seconds()] = stats.Commits.Within[k]
	}
	return append(all, gauge(storeBytes, float64(stats.Bytes)),
		prometheus.MustNewConstHistogram(commitSeconds, stats.Commits.Count, stats.Commits.Sum.Seconds(), buckets),
		prometheus.MustNewConstMetric(commitFailed, prometheus.CounterValue, float64(stats.Commits.Failed)))
}

// studies sums up the studies of the store.
func (m storeMetrics) studies() ([]prometheus.Metric, error) {
	infos, err := m.of.opts.Store.Studies(m.of.ctx)
	if err != nil {
		return nil, err
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
	all := []prometheus.Metric{gauge(storeEvents, events), gauge(storeValues, values), gauge(storeQueue, queued)}
	for status, n := range byStatus {
		all = append(all, gauge(storeStudies, float64(n), string(status)))
	}
	for state, n := range byState {
		all = append(all, gauge(storeTrials, float64(n), string(state)))
	}
	return all, nil
}

// work counts work with a model.
func (m *metrics) work(what string, took time.Duration, failed bool) {
	if failed {
		m.failed.WithLabelValues(what).Inc()
	} else {
		m.worked.WithLabelValues(what).Observe(took.Seconds())
	}
}
