package server

import (
	"cmp"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"grfgp"
	"grfgp/study"
)

// nodeView is the prediction of a node and what happened there.
type nodeView struct {
	Number       int      `json:"number"`
	Node         string   `json:"node"`
	Mean         number   `json:"mean"`
	SD           number   `json:"sd"`
	Lower        number   `json:"lower"` // 95 % interval of the quantity,
	Upper        number   `json:"upper"`
	ReadingLower number   `json:"reading_lower"` // and of a reading, a new measurement
	ReadingUpper number   `json:"reading_upper"`
	Measured     bool     `json:"measured"`
	Value        *float64 `json:"value,omitempty"` // mean of its measurements, or their rate
	N            int      `json:"n"`
	Pending      bool     `json:"pending,omitempty"`
	Abandoned    bool     `json:"abandoned,omitempty"`
	Above        *number  `json:"above,omitempty"`   // probability of being above the level of the study
	Nearest      *nearest `json:"nearest,omitempty"` // of nodes that were asked for by id
	whereabouts
}

// position is the map position of a node, if it has one.
type position struct {
	X *float64 `json:"x,omitempty"`
	Y *float64 `json:"y,omitempty"`
}

func (n *network) position(i int) (p position) {
	if n.isLaidOut() && n.hasPosition(i) {
		p.X, p.Y = &n.points.X[i], &n.points.Y[i]
	}
	return p
}

// average is the mean of n measurements of a node, or their sum over that of the
// exposures: on the scale of predictions.
type average struct {
	mean     float64
	n        int
	exposure float64 // sum; 0 without exposures
}

// add adds a measurement.
func (a *average) add(m study.Measurement) {
	weight := 1.0 / float64(a.n+1)
	if m.Exposure > 0 {
		a.exposure += m.Exposure
		weight = m.Exposure / a.exposure
	}
	a.n++
	a.mean += (m.Rate() - a.mean) * weight
}

// nodeStates tell what happened at nodes, by id.
type nodeStates struct {
	measured           map[string]average
	class              map[string]string // told last, in studies of classes
	pending, abandoned map[string]bool
	level              *float64 // of a study that looks for nodes above it
	exposure           float64  // median of the exposures of measurements, that of a reading; 1 without any
}

func (o *openStudy) nodeStates() nodeStates {
	b := nodeStates{measured: map[string]average{}, class: map[string]string{}, pending: map[string]bool{}, abandoned: map[string]bool{},
		exposure: 1}
	var exposures []float64
	o.View(func(st *study.State) {
		if level, ok := st.Settings.Goal.Level(); ok {
			b.level = &level
		}
		for _, r := range st.Measurements() {
			a := b.measured[r.Node]
			a.add(r)
			if r.Exposure > 0 {
				exposures = append(exposures, r.Exposure)
			}
			b.measured[r.Node] = a
			if r.Class != "" {
				b.class[r.Node] = r.Class
			}
		}
		for _, node := range st.Pending() {
			b.pending[node] = true
		}
		for _, node := range st.AbandonedNodes() {
			b.abandoned[node] = true
		}
	})
	if len(exposures) > 0 {
		slices.Sort(exposures)
		b.exposure = exposures[len(exposures)/2]
	}
	return b
}

// view returns the prediction and state of a node.
func (b nodeStates) view(net *network, p *study.Predictions, i int) nodeView {
	id := net.Graph.IDs().At(i)
	quantity := p.At(i)
	lower, upper := quantity.Interval(0.95)
	from, to := quantity.Measurement(b.exposure).Interval(0.95)
	v := nodeView{Number: net.number[i], Node: id, Mean: number(p.Mean[i]), SD: number(p.SD[i]), Lower: number(lower), Upper: number(upper),
		ReadingLower: number(from), ReadingUpper: number(to),
		Pending: b.pending[id], Abandoned: b.abandoned[id], whereabouts: net.whereabouts(i)}
	if b.level != nil {
		above := number(quantity.Above(*b.level))
		v.Above = &above
	}
	if a := b.measured[id]; a.n > 0 {
		v.Measured, v.N = true, a.n
		if finite(a.mean) {
			v.Value = &a.mean
		}
	}
	return v
}

// predictions sends the predictions of a page of nodes, of some, or of all.
func (s *Server) predictions(w http.ResponseWriter, r *http.Request) error {
	q := only(r, "after", "limit", "node", "sort", "format")
	format := q.choice("format", "json", "csv", "columns")
	order := q.choice("sort", "", "mean", "-mean", "sd", "-sd", "above", "-above", "probability", "-probability")
	after := q.count("after", -1, -1, math.MaxInt)
	limit := q.count("limit", s.opts.Limits.Page, 1, s.opts.Limits.Page)
	ids := r.URL.Query()["node"]
	if q.err == nil && len(ids) > s.opts.Limits.Page {
		q.err = malformed.because("%d nodes; the limit of this server is %d per request", len(ids), s.opts.Limits.Page)
	}
	if q.err == nil && order != "" && (after >= 0 || format == "columns") {
		q.err = malformed.because("sort cannot be combined with after or with columns")
	}
	if q.err != nil {
		return q.err
	}
	o, err := s.named(r)
	if err != nil {
		return err
	}
	ctx, cancel := s.waitContext(r)
	defer cancel()
	p, err := o.awaitPredictions(ctx)
	if err != nil {
		return err
	}
	if unchanged(w, r, o.etag("predictions", p.Seq, o.Seq())) {
		return nil
	}
	if of := strings.TrimPrefix(order, "-"); of != "" && (of == "probability") != (p.Classes != nil) {
		return malformed.because("a study of values is sorted by mean, sd or above, and one of classes by probability")
	}
	if p.Classes != nil {
		nodes, err := o.net.chooseNodes(p, nil, ids, order, after, limit)
		if err != nil {
			return err
		}
		return classPredictions(w, o, p, format, order, nodes, len(ids) > 0)
	}
	total := o.net.Graph.Len()
	above, err := o.above(p, order)
	if err != nil {
		return err
	}
	switch format {
	case "csv":
		return predictionTable(w, o, p, o.net.sorted(p, above, order))
	case "columns":
		var c columns
		c.floats("mean", len(p.Mean), func(k int) float64 { return p.Mean[o.net.order[k]] })
		c.floats("sd", len(p.SD), func(k int) float64 { return p.SD[o.net.order[k]] })
		return c.send(w, map[string]any{"kind": "predictions", "seq": p.Seq, "readings": p.Measurements, "noise_sd": number(p.NoiseSD),
			"terms": termsOf(p.Spec.Terms.Names())})
	}
	answer := struct {
		Seq      int64      `json:"seq"`
		Readings int        `json:"readings"`
		NoiseSD  number     `json:"noise_sd"`
		Spec     grfgp.Spec `json:"spec"`
		Terms    []string   `json:"terms"`
		Total    int        `json:"total"`
		Level    *float64   `json:"level,omitempty"`
		Above    *int       `json:"above,omitempty"` // nodes that are above the level rather than below
		Nodes    []nodeView `json:"nodes"`
		Next     *int       `json:"next,omitempty"`
	}{Seq: p.Seq, Readings: p.Measurements, NoiseSD: number(p.NoiseSD), Spec: p.Spec, Terms: termsOf(p.Spec.Terms.Names()), Total: total,
		Nodes: []nodeView{}}
	nodes, err := o.net.chooseNodes(p, above, ids, order, after, limit)
	if err != nil {
		return err
	}
	if above != nil {
		count := countAbove(above)
		answer.Above = &count
	}
	if last := len(nodes) - 1; len(ids) == 0 && order == "" && last >= 0 && o.net.number[nodes[last]]+1 < total {
		answer.Next = &o.net.number[nodes[last]]
	}
	b := o.nodeStates()
	answer.Level = b.level
	for _, i := range nodes {
		v := b.view(o.net, p, i)
		if len(ids) > 0 {
			v.Nearest = o.surroundings(o.net).nearest(i)
		}
		answer.Nodes = append(answer.Nodes, v)
	}
	return respond(w, http.StatusOK, answer)
}

// above returns the probability of being above the level of the study for each node, nil if it
// has none, or if the order does not need them.
func (o *openStudy) above(p *study.Predictions, order string) ([]float64, error) {
	if order != "above" && order != "-above" {
		return nil, nil
	}
	level, ok := o.Settings().Goal.Level()
	if !ok {
		return nil, malformed.because("sort by above needs a study that looks for nodes above a level")
	}
	return p.Above(level), nil
}

func countAbove(above []float64) (n int) {
	for _, p := range above {
		if p > 0.5 {
			n++
		}
	}
	return n
}

// chooseNodes returns the nodes of a request: those with the given ids, the first in
// the given order, or those that follow after by number.
func (n *network) chooseNodes(p *study.Predictions, above []float64, ids []string, order string, after, limit int) ([]int, error) {
	var nodes []int
	switch {
	case len(ids) > 0:
		for _, id := range ids {
			i, ok := n.Graph.IDs().Lookup([]byte(id))
			if !ok {
				return nil, notFound.because("the graph has no node %q", id)
			}
			nodes = append(nodes, i)
		}
	case order != "":
		nodes = n.sorted(p, above, order)
		nodes = nodes[:min(limit, len(nodes))]
	default:
		if first := min(after, len(n.order)) + 1; first < len(n.order) {
			nodes = n.order[first:min(len(n.order), first+limit)]
		}
	}
	return nodes, nil
}

// sorted returns all nodes in an order, "": that of the file.
func (n *network) sorted(p *study.Predictions, above []float64, order string) []int {
	if order == "" {
		return n.order
	}
	word, falls := strings.CutPrefix(order, "-")
	by := map[string][]float64{"mean": p.Mean, "sd": p.SD, "above": above, "probability": p.Mean}[word]
	sign := 1
	if falls {
		sign = -1
	}
	nodes := slices.Clone(n.order)
	slices.SortStableFunc(nodes, func(i, j int) int { return sign * cmp.Compare(by[i], by[j]) })
	return nodes
}

// predictionTable sends all nodes as CSV, with the columns for which there is something to say.
func predictionTable(w http.ResponseWriter, o *openStudy, p *study.Predictions, nodes []int) error {
	type column struct {
		name string
		cell func(v *nodeView) string
	}
	b, known := o.nodeStates(), o.net.Nodes
	all := []column{{"node", func(v *nodeView) string { return cell(v.Node) }}}
	if known != nil && known.Name != nil {
		all = append(all, column{"label", func(v *nodeView) string { return cell(v.Label) }})
	}
	switch coordinates(known) {
	case "geographic":
		all = append(all, column{"lat", func(v *nodeView) string { return figureAt(v.Lat) }},
			column{"lon", func(v *nodeView) string { return figureAt(v.Lon) }})
	case "planar":
		all = append(all, column{"x", func(v *nodeView) string { return figureAt(v.X) }},
			column{"y", func(v *nodeView) string { return figureAt(v.Y) }})
	}
	of := func(get func(v *nodeView) number) func(v *nodeView) string {
		return func(v *nodeView) string { return figure(float64(get(v))) }
	}
	all = append(all,
		column{"mean", of(func(v *nodeView) number { return v.Mean })}, column{"sd", of(func(v *nodeView) number { return v.SD })},
		column{"lower", of(func(v *nodeView) number { return v.Lower })}, column{"upper", of(func(v *nodeView) number { return v.Upper })},
		column{"reading_lower", of(func(v *nodeView) number { return v.ReadingLower })},
		column{"reading_upper", of(func(v *nodeView) number { return v.ReadingUpper })})
	if b.level != nil {
		all = append(all, column{"above", of(func(v *nodeView) number { return *v.Above })})
	}
	all = append(all,
		column{"measured", func(v *nodeView) string { return strconv.FormatBool(v.Measured) }},
		column{"value", func(v *nodeView) string { return figureAt(v.Value) }},
		column{"n", func(v *nodeView) string { return strconv.Itoa(v.N) }})
	head, cells := make([]string, len(all)), make([]string, len(all))
	for k, c := range all {
		head[k] = c.name
	}
	return table(w, o.name+"-predictions", head, func(row func(...string)) {
		for _, i := range nodes {
			v := b.view(o.net, p, i)
			for k, c := range all {
				cells[k] = c.cell(&v)
			}
			row(cells...)
		}
	})
}
