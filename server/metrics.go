package server

import (
	"bytes"
	"net/http"
	"strconv"
	"time"

	"grfgp/internal/exposition"
)

// metrics are the Prometheus metrics of the server.
type metrics struct {
	registry                                                        exposition.Registry
	requests, took, streams, issued, told, worked, failed, unloaded *exposition.Metric
}

func newMetrics(s *Server) *metrics {
	count := func(name, help string, labels ...string) *exposition.Metric {
		return exposition.New("grfgp_"+name, help, exposition.Counter, labels...)
	}
	m := &metrics{
		requests: count("requests_total", "Requests answered, by route, method and status.", "method", "route", "status"),
		took: exposition.NewHistogram("grfgp_request_seconds", "Time to answer, by route.",
			[]float64{0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1, 3, 10, 30}, "route"),
		streams: gauge("event_streams", "Event streams that are open.", 0),
		issued:  count("trials_issued_total", "Trials in answers to asks, repeated answers included."),
		told:    count("values_told_total", "Results and observations taken, repeated ones included."),
		worked: exposition.NewHistogram("grfgp_model_seconds", "Time of work with models that succeeded, by kind of work.",
			[]float64{0.01, 0.03, 0.1, 0.3, 1, 3, 10, 30, 100, 300, 1000}, "work"),
		failed:   count("model_failures_total", "Work with models that failed, by kind of work; too few measurements are no failure.", "work"),
		unloaded: count("load_failures_total", "Studies and graphs that could not be loaded."),
	}
	m.registry.Register(m.requests, m.took, m.streams, m.issued, m.told, m.worked, m.failed, m.unloaded)
	m.registry.Collect(exposition.Process)
	m.registry.Collect(s.storeMetrics)
	m.registry.Collect(func() []*exposition.Metric {
		now := []*exposition.Metric{
			gauge("studies_open", "Studies in memory.", float64(len(s.openStudies()))),
			gauge("requests_in_flight", "Requests being answered, streams not counted.",
				float64(len(s.gates[small])+len(s.gates[uploads])+len(s.gates[downloads]))),
		}
		if s.opts.LogDropped != nil {
			now = append(now, count("log_lines_dropped_total",
				"Lines of the log that were not written, because its reader was slow or gone.").Add(float64(s.opts.LogDropped())))
		}
		return now
	})
	return m
}

// gauge is a figure as it is now.
func gauge(name, help string, v float64) *exposition.Metric {
	return exposition.New("grfgp_"+name, help, exposition.Gauge).Add(v)
}

// methods are the HTTP methods that are counted by name.
var methods = map[string]bool{"GET": true, "HEAD": true, "POST": true, "PUT": true, "PATCH": true, "DELETE": true}

// request counts a request. The set of labels is fixed, whatever clients send.
func (m *metrics) request(route, method string, status int, took time.Duration) {
	if !methods[method] {
		method = "other"
	}
	m.requests.Add(1, method, route, strconv.Itoa(status))
	if route != "GET "+eventsPath { // streams last as long as their clients want
		m.took.Observe(took.Seconds(), route)
	}
}

// work counts work with a model.
func (m *metrics) work(what string, took time.Duration, failed bool) {
	if failed {
		m.failed.Add(1, what)
	} else {
		m.worked.Observe(took.Seconds(), what)
	}
}

func (s *Server) showMetrics(w http.ResponseWriter, _ *http.Request) error {
	var text bytes.Buffer
	if err := s.metrics.registry.Write(&text); err != nil {
		return err
	}
	w.Header().Set("Content-Type", exposition.ContentType)
	_, err := text.WriteTo(w)
	return err
}
