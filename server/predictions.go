package server

import (
	"cmp"
	"math"
	"net/http"
	"slices"
	"strconv"

	"grfgp"
	"grfgp/study"
)

// nodeView is the prediction of a node and what happened there.
type nodeView struct {
	Number    int      `json:"number"`
	Node      string   `json:"node"`
	Mean      number   `json:"mean"`
	SD        number   `json:"sd"`
	Lower     number   `json:"lower"`
	Upper     number   `json:"upper"`
	Measured  bool     `json:"measured"`
	Value     *float64 `json:"value,omitempty"` // mean of its measurements, or their rate
	N         int      `json:"n"`
	Pending   bool     `json:"pending,omitempty"`
	Abandoned bool     `json:"abandoned,omitempty"`
	position
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
	pending, abandoned map[string]bool
}

func (o *openStudy) nodeStates() nodeStates {
	b := nodeStates{map[string]average{}, map[string]bool{}, map[string]bool{}}
	o.View(func(st *study.State) {
		for _, r := range st.Measurements() {
			a := b.measured[r.Node]
			a.add(r)
			b.measured[r.Node] = a
		}
		for _, node := range st.Pending() {
			b.pending[node] = true
		}
		for _, node := range st.AbandonedNodes() {
			b.abandoned[node] = true
		}
	})
	return b
}

// view returns the prediction and state of a node.
func (b nodeStates) view(net *network, p *study.Predictions, i int) nodeView {
	id := net.Graph.IDs().At(i)
	lower, upper := p.At(i).Interval(0.95)
	v := nodeView{Number: net.number[i], Node: id, Mean: number(p.Mean[i]), SD: number(p.SD[i]), Lower: number(lower), Upper: number(upper),
		Pending: b.pending[id], Abandoned: b.abandoned[id], position: net.position(i)}
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
	order := q.choice("sort", "", "mean", "-mean", "sd", "-sd")
	after := q.count("after", -1, -1, math.MaxInt)
	limit := q.count("limit", s.opts.Limits.Page, 1, s.opts.Limits.Page)
	ids := r.URL.Query()["node"]
	if q.err == nil && len(ids) > s.opts.Limits.Page {
		q.err = malformed.because("%d nodes; the limit of this server is %d per request", len(ids), s.opts.Limits.Page)
	}
	if q.err == nil && order != "" && (after >= 0 || format != "json") {
		q.err = malformed.because("sort cannot be combined with after or format")
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
	total := o.net.Graph.Len()
	switch format {
	case "csv":
		return predictionTable(w, o, p)
	case "columns":
		var c columns
		c.floats("mean", len(p.Mean), func(k int) float64 { return p.Mean[o.net.order[k]] })
		c.floats("sd", len(p.SD), func(k int) float64 { return p.SD[o.net.order[k]] })
		return c.send(w, map[string]any{"kind": "predictions", "seq": p.Seq, "readings": p.Measurements, "noise_sd": number(p.NoiseSD), "terms": termsOf(p.Spec.Terms)})
	}
	answer := struct {
		Seq      int64      `json:"seq"`
		Readings int        `json:"readings"`
		NoiseSD  number     `json:"noise_sd"`
		Spec     grfgp.Spec `json:"spec"`
		Terms    []string   `json:"terms"`
		Total    int        `json:"total"`
		Nodes    []nodeView `json:"nodes"`
		Next     *int       `json:"next,omitempty"`
	}{p.Seq, p.Measurements, number(p.NoiseSD), p.Spec, termsOf(p.Spec.Terms), total, []nodeView{}, nil}
	nodes, err := o.net.chooseNodes(p, ids, order, after, limit)
	if err != nil {
		return err
	}
	if last := len(nodes) - 1; len(ids) == 0 && order == "" && last >= 0 && o.net.number[nodes[last]]+1 < total {
		answer.Next = &o.net.number[nodes[last]]
	}
	b := o.nodeStates()
	for _, i := range nodes {
		answer.Nodes = append(answer.Nodes, b.view(o.net, p, i))
	}
	return respond(w, http.StatusOK, answer)
}

// chooseNodes returns the nodes of a request: those with the given ids, the first in
// the given order, or those that follow after by number.
func (n *network) chooseNodes(p *study.Predictions, ids []string, order string, after, limit int) ([]int, error) {
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
		by, sign := p.Mean, 1
		if order == "sd" || order == "-sd" {
			by = p.SD
		}
		if order[0] == '-' {
			sign = -1
		}
		nodes = slices.Clone(n.order)
		slices.SortStableFunc(nodes, func(i, j int) int { return sign * cmp.Compare(by[i], by[j]) })
		nodes = nodes[:min(limit, len(nodes))]
	default:
		if first := min(after, len(n.order)) + 1; first < len(n.order) {
			nodes = n.order[first:min(len(n.order), first+limit)]
		}
	}
	return nodes, nil
}

func predictionTable(w http.ResponseWriter, o *openStudy, p *study.Predictions) error {
	b := o.nodeStates()
	return table(w, o.name+"-predictions", []string{"node", "mean", "sd", "lower", "upper", "measured", "value", "n"}, func(row func(...string)) {
		for _, i := range o.net.order {
			v := b.view(o.net, p, i)
			row(cell(v.Node), figure(float64(v.Mean)), figure(float64(v.SD)), figure(float64(v.Lower)), figure(float64(v.Upper)), strconv.FormatBool(v.Measured), figureAt(v.Value), strconv.Itoa(v.N))
		}
	})
}
