// Package exposition counts what a server does and writes it in the text format of Prometheus
// (https://prometheus.io/docs/instrumenting/exposition_formats/).
//
// A Registry has metrics. A metric has a name, a help text, and one series for each combination of values of its
// labels. Most metrics change as things happen; those of a Collector are computed at each scrape.
package exposition

import (
	"bufio"
	"io"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// ContentType is the media type of what Registry.Write writes.
const ContentType = "text/plain; version=0.0.4; charset=utf-8"

// Kind says how the numbers of a metric are read.
type Kind string

// The kinds. A counter only rises; a gauge may fall too.
const (
	Counter   Kind = "counter"
	Gauge     Kind = "gauge"
	Histogram Kind = "histogram"
)

// Metric is a family of series. Its methods may be called by several goroutines.
type Metric struct {
	name, help string
	kind       Kind
	labels     []string
	bounds     []float64 // upper bounds of a histogram's buckets

	mu     sync.Mutex
	series map[string]*series // by the text of their labels
}

type series struct {
	value  float64 // of a histogram: the sum of what was observed
	count  uint64
	within []uint64 // observations at or below each bound
}

// New returns a metric without series. A metric without labels has one from the beginning.
func New(name, help string, kind Kind, labels ...string) *Metric {
	m := &Metric{name: name, help: help, kind: kind, labels: labels, series: map[string]*series{}}
	if len(labels) == 0 && kind != Histogram {
		m.Add(0)
	}
	return m
}

// NewHistogram returns a histogram with upper bounds of its buckets, in ascending order.
func NewHistogram(name, help string, bounds []float64, labels ...string) *Metric {
	m := New(name, help, Histogram, labels...)
	m.bounds = bounds
	return m
}

// at returns the series of some values of the labels. The caller holds m.mu.
func (m *Metric) at(values []string) *series {
	if len(values) != len(m.labels) {
		panic("exposition: " + m.name + " has " + strconv.Itoa(len(m.labels)) + " labels")
	}
	var b strings.Builder
	for k, v := range values {
		if k > 0 {
			b.WriteByte(',')
		}
		b.WriteString(m.labels[k] + `="` + escaped.Replace(v) + `"`)
	}
	s := m.series[b.String()]
	if s == nil {
		s = &series{within: make([]uint64, len(m.bounds))}
		m.series[b.String()] = s
	}
	return s
}

var escaped = strings.NewReplacer(`\`, `\\`, "\n", `\n`, `"`, `\"`)

// Add adds to the series with these values of the labels.
func (m *Metric) Add(v float64, values ...string) *Metric {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.at(values).value += v
	return m
}

// Observe counts an observation of a histogram.
func (m *Metric) Observe(v float64, values ...string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	s := m.at(values)
	s.value += v
	s.count++
	for k, bound := range m.bounds {
		if v <= bound {
			s.within[k]++
		}
	}
}

// Observed sets a histogram without labels that was counted elsewhere.
func (m *Metric) Observed(count uint64, sum float64, within []uint64) *Metric {
	m.mu.Lock()
	defer m.mu.Unlock()
	*m.at(nil) = series{value: sum, count: count, within: within}
	return m
}

// Registry is a set of metrics.
type Registry struct {
	metrics    []*Metric
	collectors []Collector
}

// Collector returns metrics as they are at the moment.
type Collector func() []*Metric

// Register adds metrics. It is not for use beside Write.
func (r *Registry) Register(metrics ...*Metric) { r.metrics = append(r.metrics, metrics...) }

// Collect adds a collector. It is not for use beside Write.
func (r *Registry) Collect(c Collector) { r.collectors = append(r.collectors, c) }

// Write writes all metrics in the order of their names.
func (r *Registry) Write(to io.Writer) error {
	all := slices.Clone(r.metrics)
	for _, c := range r.collectors {
		all = append(all, c()...)
	}
	slices.SortFunc(all, func(a, b *Metric) int { return strings.Compare(a.name, b.name) })
	w := bufio.NewWriter(to)
	for _, m := range all {
		m.write(w)
	}
	return w.Flush()
}

func (m *Metric) write(w *bufio.Writer) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.series) == 0 {
		return
	}
	w.WriteString("# HELP " + m.name + " " + strings.NewReplacer(`\`, `\\`, "\n", `\n`).Replace(m.help) + "\n# TYPE " + m.name + " " +
		string(m.kind) + "\n")
	for _, labels := range slices.Sorted(maps.Keys(m.series)) {
		s := m.series[labels]
		if m.kind != Histogram {
			sample(w, m.name, labels, number(s.value))
			continue
		}
		before := labels
		if before != "" {
			before += ","
		}
		for k, bound := range m.bounds {
			sample(w, m.name+"_bucket", before+`le="`+number(bound)+`"`, strconv.FormatUint(s.within[k], 10))
		}
		sample(w, m.name+"_bucket", before+`le="+Inf"`, strconv.FormatUint(s.count, 10))
		sample(w, m.name+"_sum", labels, number(s.value))
		sample(w, m.name+"_count", labels, strconv.FormatUint(s.count, 10))
	}
}

func sample(w *bufio.Writer, name, labels, value string) {
	w.WriteString(name)
	if labels != "" {
		w.WriteString("{" + labels + "}")
	}
	w.WriteString(" " + value + "\n")
}

func number(v float64) string {
	switch {
	case math.IsInf(v, 1):
		return "+Inf"
	case math.IsInf(v, -1):
		return "-Inf"
	}
	return strconv.FormatFloat(v, 'g', -1, 64)
}
