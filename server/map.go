package server

import (
	"context"
	"errors"
	"math"
	"net/http"
	"slices"
	"time"

	"grfgp/study"
)

// Flags of a node on a map.
const (
	flagMeasured = 1 << iota
	flagPending
	flagAbandoned
	flagForbidden // not in the allowed nodes
)

// showMap sends what a study knows of the nodes, in the rows of showPlaces: predictions, as far as
// there are any, and marks. It does not wait for a model, unless the request says so.
func (s *Server) showMap(w http.ResponseWriter, r *http.Request) error {
	q := only(r, "wait")
	patient := q.choice("wait", "no", "yes") == "yes"
	if q.err != nil {
		return q.err
	}
	o, err := s.named(r)
	if err != nil {
		return err
	}
	ctx, cancel := s.waitContext(r)
	defer cancel()
	o.start()
	if err := o.net.wait(ctx, true); err != nil {
		return err
	}
	p, learning, err := o.mapPredictions(ctx, patient)
	if err != nil {
		return err
	}
	m := newMapView(o, p, learning, drawnOf(o.net.Graph.Len(), s.opts.Limits.MapNodes))
	if unchanged(w, r, o.etag("map", m.seq, m.known, int64(m.step), int64(m.readings), boolean(learning))) {
		return nil
	}
	return m.send(w)
}

func boolean(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

// glance is how long a map waits for predictions that are nearly there.
const glance = 250 * time.Millisecond

// mapPredictions returns the predictions to draw, and whether better ones are being computed: older
// ones, or nil, if those of the newest measurements take longer than a glance. Where somebody is
// patient, it waits for the newest.
func (o *openStudy) mapPredictions(ctx context.Context, patient bool) (p *study.Predictions, learning bool, err error) {
	short := ctx
	if !patient {
		var cancel context.CancelFunc
		short, cancel = context.WithTimeout(ctx, glance)
		defer cancel()
	}
	p, err = o.awaitPredictions(short)
	switch {
	case errors.Is(err, errLoading) && !patient:
		return o.LatestPredictions(), true, nil
	case errors.Is(err, study.ErrNoModel), errors.Is(err, study.ErrFit): // the status of the engine says why
		return nil, false, nil
	case err != nil && !errors.Is(err, errLoading) && o.hasFailed(): // the places are there all the same
		return nil, false, nil
	}
	return p, false, err
}

// hasFailed reports whether the engine could not be made.
func (o *openStudy) hasFailed() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.err != nil
}

// mapView is the content of a map.
type mapView struct {
	*network
	drawn
	seq      int64              // last event behind the marks
	known    int64              // last event behind the predictions; 0: there are none
	readings int                // measurements in the study
	p        *study.Predictions // nil: no model
	learning bool               // newer predictions are being computed
	marked   []int              // nodes with marks, by number
	marks    map[int]byte       // by node
	allowed  []bool             // to be suggested; nil: all
	values   []float64          // measured ones, on the scale of predictions
	level    *float64           // of a threshold study
}

func newMapView(o *openStudy, p *study.Predictions, learning bool, d drawn) *mapView {
	m := &mapView{network: o.net, drawn: d, p: p, learning: learning, marks: map[int]byte{}, allowed: o.allowedNodes()}
	if level, ok := o.Settings().Goal.Level(); ok {
		m.level = &level
	}
	ids := o.net.Graph.IDs()
	mark := func(id string, bit byte) {
		if i, ok := ids.Lookup([]byte(id)); ok {
			m.marks[i] |= bit
		}
	}
	o.View(func(st *study.State) {
		m.seq = st.Seq
		for _, r := range st.Measurements() {
			m.readings++
			mark(r.Node, flagMeasured)
			m.values = append(m.values, r.Rate())
		}
		for _, id := range st.Pending() {
			mark(id, flagPending)
		}
		for _, id := range st.AbandonedNodes() {
			mark(id, flagAbandoned)
		}
	})
	if p != nil {
		m.known = p.Seq
	}
	for i := range m.marks {
		m.marked = append(m.marked, i)
	}
	slices.SortFunc(m.marked, func(i, j int) int { return m.network.number[i] - m.network.number[j] })
	return m
}

// scale says how numbers become colours: Low and below is the first, High and above the last.
type scale struct {
	Low   number `json:"low"`
	High  number `json:"high"`
	Min   number `json:"min"` // of all nodes
	Max   number `json:"max"`
	Below int    `json:"below"` // nodes below Low
	Above int    `json:"above"`
}

// newScale is the scale of values, without what lies outside of fences.
func newScale(values []float64, lowest, highest float64) scale {
	low, high := slices.Min(values), slices.Max(values)
	s := scale{Low: number(max(low, lowest)), High: number(min(high, highest)), Min: number(low), Max: number(high)}
	if !(s.Low < s.High) { // all values are outside of the fences
		s.Low, s.High = s.Min, s.Max
	}
	for _, v := range values {
		if number(v) < s.Low {
			s.Below++
		}
		if number(v) > s.High {
			s.Above++
		}
	}
	return s
}

// at returns where a value lies on the scale, from 0 to top.
func (s scale) at(v float64, top uint32) uint32 {
	if !(s.High > s.Low) {
		return top / 2
	}
	share := (v - float64(s.Low)) / (float64(s.High) - float64(s.Low))
	return uint32(math.Round(max(0, min(1, share)) * float64(top)))
}

// fences returns the bounds of values that can be true: three interquartile ranges from the quartiles
// (Tukey, "Exploratory data analysis", 1977, calls what is beyond far out). One measurement with a
// wrong decimal point must not make all other nodes the same colour.
func fences(values []float64) (low, high float64) {
	const few = 5
	if len(values) < few {
		return math.Inf(-1), math.Inf(1)
	}
	sorted := slices.Sorted(slices.Values(values))
	quartile := func(k int) float64 { return sorted[k*(len(sorted)-1)/4] }
	reach := 3 * (quartile(3) - quartile(1))
	if !(reach > 0) || !finite(reach) {
		return math.Inf(-1), math.Inf(1)
	}
	return quartile(1) - reach, quartile(3) + reach
}

// mapHead is the header of a map.
type mapHead struct {
	Kind     string           `json:"kind"`
	Seq      int64            `json:"seq"`
	Known    int64            `json:"known,omitempty"` // last event behind the predictions
	Model    bool             `json:"model"`
	Learning bool             `json:"learning"`
	Readings int              `json:"readings"` // measurements in the study
	Rows     int              `json:"rows"`
	Step     int              `json:"step"`
	Level    *float64         `json:"level,omitempty"`
	Classes  []string         `json:"classes,omitempty"` // of a study of classes
	Scales   map[string]scale `json:"scales"`
}

// send sends the rows: mean with 16 bits, sd and chance with 8, and the same of the marked nodes with
// their positions. In a study of classes, the numbers of the most probable classes and their
// probabilities, with 8 bits each.
func (m *mapView) send(w http.ResponseWriter) error {
	head := mapHead{Kind: "map", Seq: m.seq, Known: m.known, Model: m.p != nil, Learning: m.learning, Readings: m.readings, Rows: m.rows(),
		Step: m.step, Level: m.level, Scales: map[string]scale{}}
	var c columns
	row := func(k int) int { return m.order[m.drawn.number(k)] }
	mark := func(k int) int { return m.marked[k] }
	both := func(name string, of scale, values []float64, top uint32) {
		head.Scales[name] = of
		m.quantised(&c, name, m.rows(), of, top, func(k int) float64 { return values[row(k)] })
		m.quantised(&c, "mark_"+name, len(m.marked), of, top, func(k int) float64 { return values[mark(k)] })
	}
	if m.p != nil && m.p.Classes != nil {
		head.Classes = m.p.Classes
		number := make([]float64, len(m.p.Class))
		for i, class := range m.p.Class {
			number[i] = float64(class)
		}
		both("class", scale{Low: 0, High: math.MaxUint8, Min: 0, Max: math.MaxUint8}, number, math.MaxUint8)
		both("probability", scale{Low: 0, High: 1, Min: 0, Max: 1}, m.p.Mean, math.MaxUint8)
	} else if m.p != nil && len(m.p.Mean) > 0 {
		lowest, highest := fences(m.values)
		both("mean", newScale(m.p.Mean, lowest, highest), m.p.Mean, math.MaxUint16)
		both("sd", newScale(m.p.SD, math.Inf(-1), math.Inf(1)), m.p.SD, math.MaxUint8)
		if m.level != nil {
			both("chance", scale{Low: 0, High: 1, Min: 0, Max: 1}, m.p.Above(*m.level), math.MaxUint8)
		}
	}
	if m.allowed != nil {
		flags := make([]byte, m.rows())
		for k := range flags {
			if !m.allowed[row(k)] {
				flags[k] = flagForbidden
			}
		}
		c.bytes("flags", flags)
	}
	numbers, flags := make([]uint32, len(m.marked)), make([]byte, len(m.marked))
	for k, i := range m.marked {
		numbers[k], flags[k] = uint32(m.network.number[i]), m.marks[i]
	}
	c.counts("mark_number", numbers)
	c.bytes("mark_flags", flags)
	m.lattice(m.rows()).columns(&c, "mark_", m.network, len(m.marked), mark)
	return c.send(w, head)
}

// quantised adds a column of places on a scale, as whole numbers up to top.
func (m *mapView) quantised(c *columns, name string, rows int, of scale, top uint32, at func(k int) float64) {
	if top == math.MaxUint8 {
		all := make([]byte, rows)
		for k := range all {
			all[k] = byte(of.at(at(k), top))
		}
		c.bytes(name, all)
		return
	}
	all := make([]uint32, rows)
	for k := range all {
		all[k] = of.at(at(k), top)
	}
	c.shorts(name, all)
}
