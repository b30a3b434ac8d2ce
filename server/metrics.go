package server

import (
	"net/http"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// metrics are the Prometheus metrics of the server.
type metrics struct {
	registry *prometheus.Registry
	handler  http.Handler
	requests *prometheus.CounterVec
	took     *prometheus.HistogramVec
	streams  prometheus.Gauge
	issued   prometheus.Counter
	told     prometheus.Counter
	worked   *prometheus.HistogramVec
	failed   *prometheus.CounterVec
	unloaded prometheus.Counter
}

func newMetrics(s *Server) *metrics {
	m := &metrics{
		registry: prometheus.NewRegistry(),
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "grfgp_requests_total", Help: "Requests answered, by route, method and status."}, []string{"route", "method", "status"}),
		took: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "grfgp_request_seconds", Help: "Time to answer, by route.", Buckets: []float64{0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1, 3, 10, 30},
		}, []string{"route"}),
		streams: prometheus.NewGauge(prometheus.GaugeOpts{Name: "grfgp_event_streams", Help: "Event streams that are open."}),
		issued: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "grfgp_trials_issued_total", Help: "Trials in answers to asks, repeated answers included."}),
		told: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "grfgp_values_told_total", Help: "Results and observations taken, repeated ones included."}),
	}
	m.worked = prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name: "grfgp_model_seconds", Help: "Time of work with models that succeeded, by kind of work.",
		Buckets: []float64{0.01, 0.03, 0.1, 0.3, 1, 3, 10, 30, 100, 300, 1000},
	}, []string{"work"})
	m.failed = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "grfgp_model_failures_total", Help: "Work with models that failed, by kind of work; too few measurements are no failure."},
		[]string{"work"})
	m.unloaded = prometheus.NewCounter(prometheus.CounterOpts{
		Name: "grfgp_load_failures_total", Help: "Studies and graphs that could not be loaded."})
	open := prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "grfgp_studies_open", Help: "Studies in memory."},
		func() float64 { return float64(len(s.openStudies())) })
	underWay := prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "grfgp_requests_in_flight", Help: "Requests being answered, streams not counted."},
		func() float64 { return float64(len(s.gates[small]) + len(s.gates[uploads]) + len(s.gates[downloads])) })
	m.registry.MustRegister(m.requests, m.took, m.streams, m.issued, m.told, m.worked, m.failed, m.unloaded, open, underWay, storeMetrics{s},
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	if s.opts.LogDropped != nil {
		m.registry.MustRegister(prometheus.NewCounterFunc(prometheus.CounterOpts{
			Name: "grfgp_log_lines_dropped_total", Help: "Lines of the log that were not written, because its reader was slow or gone."},
			func() float64 { return float64(s.opts.LogDropped()) }))
	}
	m.handler = promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{})
	return m
}

// methods are the HTTP methods that are counted by name.
var methods = map[string]bool{"GET": true, "HEAD": true, "POST": true, "PUT": true, "PATCH": true, "DELETE": true}

// request counts a request. The set of labels is fixed, whatever clients send.
func (m *metrics) request(route, method string, status int, took time.Duration) {
	if !methods[method] {
		method = "other"
	}
	m.requests.WithLabelValues(route, method, strconv.Itoa(status)).Inc()
	if route != "GET "+eventsPath { // streams last as long as their clients want
		m.took.WithLabelValues(route).Observe(took.Seconds())
	}
}

func (s *Server) showMetrics(w http.ResponseWriter, r *http.Request) error {
	s.metrics.handler.ServeHTTP(w, r)
	return nil
}
