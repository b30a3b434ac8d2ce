package server

import (
	"context"

	"grfgp/study"
)

// spot is what somebody needs to know of a node to go there and measure it.
type spot struct {
	whereabouts
	// The range of a measurement, or of the rate where there are exposures: it holds 95 %,
	// and 99.9 %, of what the model expects. Nil: there is no model yet.
	Lower    *float64 `json:"lower,omitempty"`
	Upper    *float64 `json:"upper,omitempty"`
	Lower999 *float64 `json:"lower999,omitempty"`
	Upper999 *float64 `json:"upper999,omitempty"`
	Above    *float64 `json:"above,omitempty"` // probability of being above the level of the study
	Nearest  *nearest `json:"nearest,omitempty"`
}

// whereabouts are the name and the place of a node, as far as the node table has them.
type whereabouts struct {
	Label string   `json:"label,omitempty"`
	Lat   *float64 `json:"lat,omitempty"`
	Lon   *float64 `json:"lon,omitempty"`
	position
}

// label returns the name of a node, "" if it has none.
func (n *network) label(i int) string {
	if n.Nodes == nil || n.Nodes.Name == nil {
		return ""
	}
	return n.Nodes.Name[i]
}

// labelOf returns the name of a node by its id, "" while the graph is being read.
func (o *openStudy) labelOf(id string) string {
	if net := o.loadedNetwork(); net != nil {
		if i, ok := net.Graph.IDs().Lookup([]byte(id)); ok {
			return net.label(i)
		}
	}
	return ""
}

// loadedNetwork returns the graph of the study, nil while it is being read.
func (o *openStudy) loadedNetwork() *network {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.net == nil || !o.net.isLoaded() {
		return nil
	}
	return o.net
}

func (n *network) whereabouts(i int) whereabouts {
	w := whereabouts{Label: n.label(i), position: n.position(i)}
	if coordinates(n.Nodes) == "geographic" && finite(n.Nodes.Lat[i]) && finite(n.Nodes.Lon[i]) {
		w.Lat, w.Lon = &n.Nodes.Lat[i], &n.Nodes.Lon[i]
	}
	return w
}

// guide tells of nodes that are to be measured, given what is known of a study at one moment.
type guide struct {
	net      *network
	around   *surroundings
	settings study.Settings
	level    *float64                                // of a study that looks for nodes above it
	best     *float64                                // best measurement so far, of a study that seeks it
	predict  func(i int) (r study.Response, ok bool) // what the model says of a node
}

// guide returns the guide of the study, with the predictions that were made last; nil while the
// graph is being read.
func (o *openStudy) guide() *guide {
	net := o.loadedNetwork()
	if net == nil {
		return nil
	}
	g := &guide{net: net, around: o.surroundings(net), predict: func(int) (r study.Response, ok bool) { return r, false }}
	o.View(func(st *study.State) {
		g.settings = st.Settings
		if level, ok := st.Settings.Goal.Level(); ok {
			g.level = &level
		}
		if r, ok := st.Best(); ok {
			rate := r.Rate()
			g.best = &rate
		}
	})
	if p := o.LatestPredictions(); p != nil && p.Classes == nil && len(p.Mean) == net.Graph.Len() {
		g.predict = func(i int) (study.Response, bool) { return p.At(i), true }
	}
	return g
}

// mostPredicted is how many nodes predictAt predicts: so few take no time.
const mostPredicted = 200

// predictAt makes the model predict some nodes, if it is fitted and all nodes were not predicted
// with the newest measurements.
func (g *guide) predictAt(ctx context.Context, o *openStudy, nodes []int) {
	if p := o.LatestPredictions(); len(nodes) == 0 || len(nodes) > mostPredicted || g.settings.Labels || p != nil &&
		p.Seq >= g.around.changedAt {
		return
	}
	snapshot, ok := o.ReadySnapshot()
	if !ok {
		return
	}
	p, err := snapshot.Predict(ctx, nodes)
	if err != nil {
		return
	}
	row := map[int]int{}
	for k, i := range nodes {
		row[i] = k
	}
	g.predict = func(i int) (r study.Response, ok bool) {
		k, ok := row[i]
		if ok {
			r = p.At(k)
		}
		return r, ok
	}
}

// spot returns what is known of a node.
func (g *guide) spot(i int) spot {
	s := spot{whereabouts: g.net.whereabouts(i), Nearest: g.around.nearest(i)}
	r, ok := g.predict(i)
	if !ok {
		return s
	}
	s.Lower, s.Upper = g.expected(r, 0.95)
	s.Lower999, s.Upper999 = g.expected(r, 0.999)
	if g.level != nil {
		s.Above = ifFinite(r.Above(*g.level))
	}
	return s
}

// expected returns the range of a measurement at a level. How much is tested or exposed is not
// known before it is measured, so that the range is then one of the rate.
func (g *guide) expected(r study.Response, level float64) (lower, upper *float64) {
	var lo, hi float64
	if g.settings.Exposures {
		lo, hi = r.Interval(level)
	} else {
		lo, hi = r.Measurement(1).Interval(level)
	}
	return ifFinite(lo), ifFinite(hi)
}

// ifFinite returns a number, nil if it is not finite.
func ifFinite(v float64) *float64 {
	if !finite(v) {
		return nil
	}
	return &v
}

// trialView is a trial as the API shows it: Why is told in plain words of the moment, and Rule
// is the reason that was written down when the node was suggested.
type trialView struct {
	study.Trial
	Why  string `json:"why"`
	Rule string `json:"rule,omitempty"`
	spot
}

// trialViews returns the views of trials.
func (o *openStudy) trialViews(trials []study.Trial) []trialView {
	g, views := o.guide(), make([]trialView, len(trials))
	if g != nil {
		var nodes []int
		for _, t := range trials {
			if i, ok := g.net.Graph.IDs().Lookup([]byte(t.Node)); ok && t.State == study.TrialPending {
				nodes = append(nodes, i)
			}
		}
		g.predictAt(o.server.ctx, o, nodes)
	}
	for k, t := range trials {
		views[k] = g.trialView(t)
	}
	return views
}

// trialView returns the view of a trial. Of those that are not pending it tells the place alone.
func (g *guide) trialView(t study.Trial) trialView {
	v := trialView{Trial: t, Why: t.Why}
	if g == nil {
		return v
	}
	i, ok := g.net.Graph.IDs().Lookup([]byte(t.Node))
	switch {
	case !ok:
	case t.State != study.TrialPending:
		v.whereabouts = g.net.whereabouts(i)
	default:
		v.spot = g.spot(i)
		v.Why, v.Rule = g.why(i, v.spot, t.Why), t.Why
	}
	return v
}
