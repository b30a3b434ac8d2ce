package server

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"net/http"
	"slices"
	"strconv"

	"grfgp"
	"grfgp/graph"
	"grfgp/study"
)

// Half the width of an interval that holds 95 %, in standard deviations.
const halfWidth = 1.959963984540054

// unchanged answers a client who has what there is: it sets the tag, and reports
// whether the client showed the same.
func unchanged(w http.ResponseWriter, r *http.Request, tag string) bool {
	tag = `"` + tag + `"`
	w.Header().Set("ETag", tag)
	w.Header().Set("Cache-Control", "private, no-cache")
	if r.Header.Get("If-None-Match") != tag {
		return false
	}
	w.WriteHeader(http.StatusNotModified)
	return true
}

// nodeView is what is known of a node.
type nodeView struct {
	Number    int      `json:"number"`
	Node      string   `json:"node"`
	Mean      number   `json:"mean"`
	SD        number   `json:"sd"`
	Lower     number   `json:"lower"`
	Upper     number   `json:"upper"`
	Measured  int      `json:"measured"`
	Value     *float64 `json:"value,omitempty"` // mean of the readings
	N         int      `json:"n"`
	Pending   bool     `json:"pending,omitempty"`
	Abandoned bool     `json:"abandoned,omitempty"`
	place
}

// place is where a node is on the map, if it is there.
type place struct {
	X *float64 `json:"x,omitempty"`
	Y *float64 `json:"y,omitempty"`
}

func (n *network) placeOf(i int) (p place) {
	if n.isPlaced() && n.hasPlace(i) {
		p.X, p.Y = &n.points.X[i], &n.points.Y[i]
	}
	return p
}

// sum is what was read at a node.
type sum struct {
	mean float64
	n    int
}

// books are what has happened at nodes, by id.
type books struct {
	read               map[string]sum
	pending, abandoned map[string]bool
}

func (o *shared) books() books {
	b := books{map[string]sum{}, map[string]bool{}, map[string]bool{}}
	o.View(func(st *study.State) {
		for _, r := range st.Readings() {
			was := b.read[r.Node]
			was.n++
			was.mean += (r.Value - was.mean) / float64(was.n)
			b.read[r.Node] = was
		}
		for _, node := range st.Reserved() {
			b.pending[node] = true
		}
		for _, node := range st.AbandonedNodes() {
			b.abandoned[node] = true
		}
	})
	return b
}

// row returns what is known of a node.
func (b books) row(net *network, p *study.Predictions, i int) nodeView {
	id := net.Graph.Labels().At(i)
	half := halfWidth * p.SD[i]
	v := nodeView{Number: i, Node: id, Mean: number(p.Mean[i]), SD: number(p.SD[i]), Lower: number(p.Mean[i] - half), Upper: number(p.Mean[i] + half),
		Pending: b.pending[id], Abandoned: b.abandoned[id], place: net.placeOf(i)}
	if read := b.read[id]; read.n > 0 {
		v.Measured, v.N = 1, read.n
		if finite(read.mean) {
			v.Value = &read.mean
		}
	}
	return v
}

// predictions tells what is known of nodes: a page, some, or all of them.
func (s *Server) predictions(w http.ResponseWriter, r *http.Request) error {
	q := only(r, "after", "limit", "node", "sort", "format")
	format := q.choice("format", "json", "csv", "columns")
	order := q.choice("sort", "", "mean", "-mean", "sd", "-sd")
	after := q.count("after", -1, -1, math.MaxInt)
	limit := q.count("limit", s.opts.Limits.Page, 1, s.opts.Limits.Page)
	ids := r.URL.Query()["node"]
	if q.err == nil && len(ids) > s.opts.Limits.Page {
		q.err = malformed.because("%d nodes; this server tells %d at once", len(ids), s.opts.Limits.Page)
	}
	if q.err == nil && order != "" && (after >= 0 || format != "json") {
		q.err = malformed.because("sort gives the first page only, in JSON")
	}
	if q.err != nil {
		return q.err
	}
	o, err := s.named(r)
	if err != nil {
		return err
	}
	p, err := o.predicted(r.Context())
	if err != nil {
		return err
	}
	if unchanged(w, r, fmt.Sprintf("predictions-%d-%d", p.Seq, o.Seq())) {
		return nil
	}
	labels := o.net.Graph.Labels()
	switch format {
	case "csv":
		return predictionTable(w, o, labels, p)
	case "columns":
		var c columns
		c.floats("mean", len(p.Mean), func(i int) float64 { return p.Mean[i] })
		c.floats("sd", len(p.SD), func(i int) float64 { return p.SD[i] })
		return c.send(w, map[string]any{"kind": "predictions", "seq": p.Seq, "readings": p.Readings, "noise_sd": number(p.NoiseSD)})
	}
	answer := struct {
		Seq      int64      `json:"seq"`
		Readings int        `json:"readings"`
		NoiseSD  number     `json:"noise_sd"`
		Spec     grfgp.Spec `json:"spec"`
		Total    int        `json:"total"`
		Nodes    []nodeView `json:"nodes"`
		Next     *int       `json:"next,omitempty"`
	}{p.Seq, p.Readings, number(p.NoiseSD), p.Spec, labels.Len(), []nodeView{}, nil}
	nodes, err := chooseNodes(labels, p, ids, order, after, limit)
	if err != nil {
		return err
	}
	if last := len(nodes) - 1; len(ids) == 0 && order == "" && last >= 0 && nodes[last]+1 < labels.Len() {
		answer.Next = &nodes[last]
	}
	b := o.books()
	for _, i := range nodes {
		answer.Nodes = append(answer.Nodes, b.row(o.net, p, i))
	}
	return respond(w, http.StatusOK, answer)
}

// chooseNodes returns the nodes that are asked for: those of some ids, the first
// by some order, or the next ones by number.
func chooseNodes(labels *graph.Labels, p *study.Predictions, ids []string, order string, after, limit int) ([]int, error) {
	var nodes []int
	switch {
	case len(ids) > 0:
		for _, id := range ids {
			i, ok := labels.Lookup([]byte(id))
			if !ok {
				return nil, notFound.because("there is no node %q", id)
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
		for i := range labels.Len() {
			nodes = append(nodes, i)
		}
		slices.SortFunc(nodes, func(i, j int) int { return cmp.Or(sign*cmp.Compare(by[i], by[j]), i-j) })
		nodes = nodes[:min(limit, len(nodes))]
	default:
		for i := min(after, labels.Len()) + 1; i < labels.Len() && len(nodes) < limit; i++ {
			nodes = append(nodes, i)
		}
	}
	return nodes, nil
}

func predictionTable(w http.ResponseWriter, o *shared, labels *graph.Labels, p *study.Predictions) error {
	b := o.books()
	return table(w, o.name+"-predictions", []string{"node", "mean", "sd", "lower", "upper", "measured", "value", "n"}, func(row func(...string)) {
		for i := range labels.Len() {
			v := b.row(o.net, p, i)
			row(cell(v.Node), figure(float64(v.Mean)), figure(float64(v.SD)), figure(float64(v.Lower)), figure(float64(v.Upper)), strconv.Itoa(v.Measured), figureAt(v.Value), strconv.Itoa(v.N))
		}
	})
}

// band is what a search at random would have found, by what the model expects now.
type band struct {
	Low    []float64 `json:"low"` // 10 %
	Middle []float64 `json:"middle"`
	High   []float64 `json:"high"` // 90 %
}

// history tells the values as they came, and what chance would have found.
func (s *Server) history(w http.ResponseWriter, r *http.Request) error {
	q := only(r, "random")
	random := q.choice("random", "no", "yes") == "yes"
	if q.err != nil {
		return q.err
	}
	o, err := s.named(r)
	if err != nil {
		return err
	}
	var answer struct {
		Seq    int64         `json:"seq"`
		Goal   string        `json:"goal"`
		Points []study.Point `json:"points"`
		Random *band         `json:"random,omitempty"`
	}
	o.View(func(st *study.State) {
		answer.Seq, answer.Goal, answer.Points = st.Seq, st.Settings.Goal.String(), st.History()
	})
	if sign, ok := seeksBest(o.Settings().Goal); ok && random && len(answer.Points) > 0 {
		p, err := o.predicted(r.Context())
		if err != nil && !errors.Is(err, study.ErrNoModel) {
			return err
		}
		if err == nil {
			answer.Random = newBand(o.allowedNodes(), p.Mean, sign, len(answer.Points))
		}
	}
	return respond(w, http.StatusOK, answer)
}

// newBand returns the quantiles of the best of k nodes at random, for k from 1 on:
// P(best ≤ v) = F(v)^k, with F the distribution of the means.
func newBand(allowed []bool, means []float64, sign float64, most int) *band {
	var sorted []float64
	for i, v := range means {
		if allowed == nil || allowed[i] {
			sorted = append(sorted, sign*v)
		}
	}
	if len(sorted) == 0 {
		return nil
	}
	slices.Sort(sorted)
	best := func(q float64, k int) float64 {
		at := int(math.Ceil(math.Pow(q, 1/float64(k))*float64(len(sorted)))) - 1
		return sign * sorted[min(max(0, at), len(sorted)-1)]
	}
	b := new(band)
	low, high := 0.1, 0.9
	if sign < 0 {
		low, high = high, low
	}
	for k := 1; k <= most; k++ {
		b.Low, b.Middle, b.High = append(b.Low, best(low, k)), append(b.Middle, best(0.5, k)), append(b.High, best(high, k))
	}
	return b
}

// leftView is a reading that was predicted from the others.
type leftView struct {
	Node  string  `json:"node"`
	Fold  int     `json:"fold"`
	Value float64 `json:"value"`
	Mean  number  `json:"mean"`
	SD    number  `json:"sd"`
	PIT   number  `json:"pit"`
}

// calibration says how far to trust the model.
func (s *Server) calibration(w http.ResponseWriter, r *http.Request) error {
	o, err := s.named(r)
	if err != nil {
		return err
	}
	if _, err := o.ready(r.Context()); err != nil {
		return err
	}
	seq := o.Seq()
	if unchanged(w, r, fmt.Sprintf("calibration-%d", seq)) {
		return nil
	}
	v, err := o.validating.get(r.Context(), s, func() (v *grfgp.Validation, err error) {
		o.whileLearning(func() { v, err = o.Calibration(s.ctx) })
		return v, err
	})
	if err != nil {
		return err
	}
	answer := struct {
		Seq      int64             `json:"seq"`
		Readings int               `json:"readings"`
		Scheme   grfgp.Scheme      `json:"scheme"`
		Folds    int               `json:"folds"`
		RMSE     number            `json:"rmse"`
		RMSESE   number            `json:"rmse_se"`
		NLPD     number            `json:"nlpd"`
		Coverage map[string]number `json:"coverage"`
		Baseline map[string]number `json:"baseline_rmse"`
		Left     []leftView        `json:"left"`
	}{seq, len(v.Left), v.Scheme, v.Folds, number(v.RMSE), number(v.RMSESE), number(v.NLPD), numbers(v.Coverage), numbers(v.BaselineRMSE), []leftView{}}
	labels := o.net.Graph.Labels()
	for _, l := range v.Left {
		answer.Left = append(answer.Left, leftView{labels.At(l.Node), l.Fold, l.Value, number(l.Mean), number(l.SD), number(l.PIT)})
	}
	return respond(w, http.StatusOK, answer)
}

func numbers(of map[string]float64) map[string]number {
	out := map[string]number{}
	for name, v := range of {
		out[name] = number(v)
	}
	return out
}

// mostCandidates is how many nodes may be looked at without reserving them.
const mostCandidates = 100

// candidates tells what would be suggested next; nothing is reserved.
func (s *Server) candidates(w http.ResponseWriter, r *http.Request) error {
	q := only(r, "count")
	count := q.count("count", 5, 1, mostCandidates)
	if q.err != nil {
		return q.err
	}
	o, err := s.named(r)
	if err != nil {
		return err
	}
	if err := o.learned(r.Context()); err != nil {
		return err
	}
	engine, err := o.ready(r.Context())
	if err != nil {
		return err
	}
	var ask study.Query
	var seq int64
	o.View(func(st *study.State) { ask, seq = st.Query(count), st.Seq })
	ctx, cancel := s.patience(r)
	defer cancel()
	picked, err := engine.Suggest(ctx, ask)
	if errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("%w: suggestions take longer; ask again soon", errLoading)
	}
	if err != nil {
		return err
	}
	type candidate struct {
		Number int     `json:"number"`
		Node   string  `json:"node"`
		Cost   float64 `json:"cost"`
		Why    string  `json:"why"`
		Mean   *number `json:"mean,omitempty"`
		SD     *number `json:"sd,omitempty"`
		place
	}
	answer := struct {
		Seq        int64        `json:"seq"`
		Candidates []candidate  `json:"candidates"`
		Short      study.Reason `json:"short,omitempty"`
	}{seq, []candidate{}, picked.Short}
	for _, p := range picked.Picks {
		i, _ := engine.Nodes().Lookup([]byte(p.Node))
		answer.Candidates = append(answer.Candidates, candidate{i, p.Node, p.Cost, p.Why, (*number)(p.Mean), (*number)(p.SD), o.net.placeOf(i)})
	}
	return respond(w, http.StatusOK, answer)
}
