package report

import (
	"fmt"
	"math"
	"strconv"

	"grfgp/graph"
	"grfgp/graphio"
	"grfgp/internal/chart"
)

// maps draws the still pictures and collects the data of the page.
func (p *regressionPage) maps() (err error) {
	r, g := p.r, p.r.Network.Graph
	if p.places, err = placesOf(r.Network, r.Spec.Seed); err != nil {
		return err
	}
	p.MapNotes = append(p.MapNotes, p.places.note)
	data := p.places.data(r.Network, p.rows)
	data.Decimals, data.Unit, data.Marked, data.Mark, data.File = p.numbers.decimals, r.Unit, p.rows.whole(r.Data.Nodes), "measured",
		"predictions.csv"
	data.Columns = []column{p.rows.column("mean", "mean", "predicted mean", "number", r.Prediction.Mean),
		p.rows.column("sd", "sd", "standard deviation", "number", r.Prediction.SD)}
	data.Columns = append(data.Columns, p.intervals.columns(p.rows)...)
	data.Columns = append(data.Columns, p.rows.sparse("measured", "measured", "measured", "number", p.value))
	draw := func(title, column string, values []float64, colours chart.Range, ramp chart.Ramp) {
		m := p.places.still(g)
		m.Title, m.Unit, m.Values, m.Range, m.Ramp, m.Marked, m.Mark = title, r.Quantity, values, colours, ramp, r.Data.Nodes, "measured"
		p.Maps = append(p.Maps, newFigure(chart.Map(m)))
		data.Maps = append(data.Maps, newMapScale(column, title, r.Quantity, colours, ramp, p.numbers))
	}
	of, ramp := chart.RobustRange(p.value, r.Prediction.Mean, r.Truth), chart.Values
	if centre, diverging := r.centre(); diverging {
		of, ramp = of.Around(centre), chart.Diverging
		p.MapNotes = append(p.MapNotes, fmt.Sprintf("Colours diverge from %s.", strconv.FormatFloat(centre, 'g', -1, 64)))
	}
	draw("Predicted mean", "mean", r.Prediction.Mean, of, ramp)
	if r.Truth != nil {
		data.Columns = append(data.Columns, p.rows.column("truth", "truth", "truth", "number", r.Truth))
		draw("Truth", "truth", r.Truth, of, ramp)
	}
	draw("Standard deviation", "sd", r.Prediction.SD, chart.RobustRange(r.Prediction.SD, r.Prediction.SD), chart.Uncertainty)
	if surprise := r.surprises(); surprise != nil {
		data.Columns = append(data.Columns, p.rows.sparse("surprise", "surprise", "measured minus held-out prediction, in sds", "tenth",
			surprise))
	}
	p.Data, err = asJSON(data)
	return err
}

// centre returns the value from which colours diverge, if they do. Rates, probabilities and
// transformed values have no negative values.
func (r *Regression) centre() (v float64, diverging bool) {
	switch {
	case r.NoCentre:
		return 0, false
	case r.Centre != nil:
		return *r.Centre, true
	}
	return 0, chart.BothSigns(r.Prediction.Mean)
}

// surprises returns how many standard deviations the measurement of a node is from its held-out
// prediction, the farthest of several; NaN without any, nil without validation or over time.
func (r *Regression) surprises() []float64 {
	if r.Validation == nil || r.Time != "" {
		return nil
	}
	all := make([]float64, r.Network.Graph.Len())
	for i := range all {
		all[i] = math.NaN()
	}
	for _, h := range r.Validation.HeldOut {
		if d := (h.Value - h.Mean) / h.SD; !(math.Abs(d) <= math.Abs(all[h.Node])) {
			all[h.Node] = d
		}
	}
	return all
}

// still returns the places for a still picture.
func (p *places) still(g *graph.Graph) chart.MapData {
	m := chart.MapData{X: p.X, Y: p.Y, Edges: edges(g), Areas: p.areas}
	if p.kilometres > 0 {
		m.Length, m.Lengths = "km", p.kilometres
	}
	return m
}

// data returns what the script needs of the network.
func (p *places) data(net *graphio.Network, r rows) *embedded {
	g := net.Graph
	e := &embedded{
		X: r.floats(p.X), Y: r.floats(p.Y), Kilometres: p.kilometres, Edges: r.edgeBytes(g), Shapes: r.shapeBytes(p), Grid: max(1, p.grid),
		IDs: make([]string, g.Len()),
	}
	for k, i := range r.order {
		e.IDs[k] = g.IDs().At(i)
	}
	if net.Nodes != nil && net.Nodes.Name != nil {
		e.Labels = make([]string, g.Len())
		for k, i := range r.order {
			e.Labels[k] = net.Nodes.Name[i]
		}
	}
	return e
}
