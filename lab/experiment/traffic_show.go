package experiment

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"grfgp/graph"
	"grfgp/lab/dataset"
	"grfgp/lab/plot"
)

// The paper's curves, from the authors' result files: means over the five splits at 64,
// 128, … 8192 walks, NLPD per test node.
var (
	trafficWalks         = []float64{64, 128, 256, 512, 1024, 2048, 4096, 8192}
	trafficLearnableRMSE = []float64{14.9569, 14.6276, 14.6140, 14.0958, 13.9770, 14.2190, 14.1628, 13.5858}
	trafficLearnableNLPD = perNode(99.0243, 96.0666, 95.0549, 92.0133, 93.5033, 94.2169, 93.5465, 91.2288)
	trafficShapeRMSE     = []float64{15.6536, 15.4085, 15.2859, 15.2272, 14.5523, 14.6489, 14.1804, 14.1657}
	trafficShapeNLPD     = perNode(99.6311, 98.6903, 98.5976, 99.7189, 95.4403, 96.5470, 94.4693, 93.3584)
)

// perNode divides sums over the 75 test nodes by their number.
func perNode(sums ...float64) []float64 {
	for k := range sums {
		sums[k] /= 75
	}
	return sums
}

func showTraffic(_ Options, r *Results) (*Section, error) {
	of := func(arm string, walks int) Rows { return r.Rows.Where("arm", arm).Where("walks", walks) }
	most := 8192 // the authors'
	if n := r.Rows.Where("arm", learnableArm).Distinct("walks"); len(n) > 0 {
		most = int(slices.Max(n))
	}
	ours := int(slices.Max(append(r.Rows.Where("arm", repellingArm).Distinct("walks"), 0)))
	both := func(rows Rows) string {
		if len(rows) == 0 {
			return ""
		}
		return rows.Over("rmse").Fixed(2) + "; " + rows.Over("nlpd").Fixed(3)
	}
	learnable := paperWalks(most)
	if ours > 0 {
		learnable += fmt.Sprintf("; clean: repelling walks on the adjacency matrix, n = %d, 10 hops", ours)
	}
	if exactRows(r.Rows.Where("arm", repellingArm), float64(ours)) {
		learnable += ", for which every row is exact"
	}
	section := &Section{Tables: []Table{
		Compare("RMSE in mph; NLPD in nats per test node (mean ± standard deviation over the splits)",
			"The authors' numbers are from their file traffic_experiment_results.csv; their standard deviations divide by 5, ours by 4. A second "+
				"file of theirs, traffic_experiment_results_0917.csv, has 14.02 mph for learnable features with n = 8192.",
			Comparison{"exact diffusion", "14.29 ± 1.06; 1.305", both(of(untrainedArm, 0)), both(of(trainedArm, 0)),
				"the paper's kernel has the hyperparameters of the truncated kernel and was not trained"},
			Comparison{"truncated diffusion, exact", "14.10 ± 0.97; 1.241", both(of(polynomialArm, 0)), "", "the same model"},
			Comparison{fmt.Sprintf("features, diffusion coefficients, n = %d", most), "14.17 ± 1.01; 1.245", both(of(shapeArm, most)), "",
				paperWalks(most)},
			Comparison{fmt.Sprintf("features, learnable coefficients, n = %d", most), "13.59 ± 1.06; 1.216", both(of(learnableArm, most)),
				both(of(repellingArm, ours)), learnable},
			Comparison{"features, 60 hops", "", "", both(of(longArm, 1000)), "not in the paper: diffusion kernel, repelling walks, n = 1000"},
			Comparison{"exact Matérn, ν = 2", "", "", both(of(maternArm, 0)), "not in the paper"},
			Comparison{"grfgp without settings", "", "", both(of(autoArm, 0)), "family and scales chosen by likelihood"},
		).withSource("authors' files"),
		trafficTable(r), trafficScales(r),
	}}
	d, err := dataset.Default().Traffic(context.Background())
	if err != nil && !errors.Is(err, dataset.ErrMissing) {
		return nil, err
	}
	if d != nil {
		section.Findings = givenFindings(r.Rows, d.Reference)
	}
	section.Findings = append(section.Findings, trafficFindings(r.Rows)...)
	section.Figures = nonEmpty(Figure{Name: "walks", Wide: true, Picture: trafficCurves(r),
		Caption: "As Figure 3 a, b: error against walks per node. Bands are one standard error over the splits (in the paper's figure one " +
			"standard deviation, √5 times as wide). " +
			"From 64 walks per node on, all nodes within 10 hops fit the budget of repelling walks: the features are exact and the line is flat."})
	maps, err := trafficMaps(r)
	return section, section.add("the maps of speeds", "traffic", nil, maps, err)
}

// exactRows reports whether another number of walks gives the same results: then rows were
// enumerated without random walks.
func exactRows(rows Rows, walks float64) bool {
	own := rows.Where("walks", walks)
	for _, n := range rows.Distinct("walks") {
		if d := pairedDifference(own, rows.Where("walks", n), "split", "rmse"); n != walks && d.N > 0 && d.Mean == 0 && !(d.SD > 0) {
			return true
		}
	}
	return false
}

// paperWalks describes the difference from the paper's walks.
func paperWalks(n int) string {
	if n == 8192 {
		return "the same walks, drawn with other seeds"
	}
	return "the paper has n = 8192"
}

// trafficScales compares many scales with the best kernel of one scale.
func trafficScales(r *Results) Table {
	t := Table{Title: "Many scales minus the best kernel of one scale, paired by split",
		Head: []string{"", "best kernel of one scale", "RMSE, mph", "NLPD"}, Note: "Mean ± standard error over the splits."}
	best := ""
	for _, arm := range []string{trainedArm, maternArm, roughArm, oneArm} {
		if rows := r.Rows.Where("arm", arm); len(rows) > 0 &&
			(best == "" || rows.Over("rmse").Mean < r.Rows.Where("arm", best).Over("rmse").Mean) {
			best = arm
		}
	}
	for _, arm := range []string{manyArm, autoArm} {
		if rows := r.Rows.Where("arm", arm); len(rows) > 0 && best != "" {
			t.Rows = append(t.Rows, []string{arm, best, pairedDifference(rows, r.Rows.Where("arm", best), "split", "rmse").withSE().Fixed(3),
				pairedDifference(rows, r.Rows.Where("arm", best), "split", "nlpd").withSE().Fixed(3)})
		}
	}
	return t
}

// trafficTable has every arm.
func trafficTable(r *Results) Table {
	t := Table{Title: "All methods", Head: []string{"method", "walks", "RMSE, mph", "NLPD", "80 %", "95 %", "log likelihood"},
		Note: "Mean ± standard deviation over the splits. 80 % and 95 %: share of test values in intervals of that level. Exact rows: every " +
			"row is enumerated, and more walks change nothing."}
	for _, arm := range []string{untrainedArm, polynomialArm, shapeArm, learnableArm, repellingArm, longArm, trainedArm, maternArm, roughArm,
		oneArm, manyArm, autoArm} {
		for _, n := range r.Rows.Where("arm", arm).Distinct("walks") {
			rows := r.Rows.Where("arm", arm).Where("walks", n)
			walks := Short(n)
			switch {
			case n == 0:
				walks = "–"
			case arm == repellingArm && exactRows(r.Rows.Where("arm", arm), n):
				walks += ", exact rows"
			}
			t.Rows = append(t.Rows, []string{arm, walks, rows.Over("rmse").Fixed(2), rows.Over("nlpd").Fixed(3), rows.Over("cover80").Fixed(3),
				rows.Over("cover95").Fixed(3), rows.Over("log_likelihood").Fixed(1)})
		}
	}
	return t
}

// givenFindings compares the kernel with the authors' hyperparameters with their published
// results.
func givenFindings(rows Rows, published []dataset.TrafficReference) []string {
	worst, n := 0.0, 0
	for _, row := range rows.Where("arm", untrainedArm) {
		of := func(p dataset.TrafficReference) bool { return float64(p.Seed) == row.Num("split") }
		if k := slices.IndexFunc(published, of); k >= 0 { // later ones are of another kernel
			worst = max(worst, math.Abs(row.Num("rmse")/published[k].RMSE-1))
			n++
		}
	}
	splits := fmt.Sprintf("%d splits", n)
	if n == 1 {
		splits = "one split"
	}
	switch {
	case n == 0:
		return nil
	case worst < 1e-6:
		return []string{fmt.Sprintf("The exact diffusion kernel with the authors' hyperparameters gives their published RMSE on %s, with a "+
			"relative difference of %.0e.", splits, max(worst, 1e-16))}
	}
	return []string{fmt.Sprintf("The exact diffusion kernel with the authors' hyperparameters does not give their published RMSE: on %s "+
		"the largest relative difference is %.0e.", splits, worst)}
}

func trafficFindings(rows Rows) []string {
	auto, trained := rows.Where("arm", autoArm), rows.Where("arm", trainedArm)
	if len(auto) == 0 || len(trained) == 0 {
		return nil
	}
	return []string{fmt.Sprintf("Trained on the same 250 speeds, the exact diffusion kernel has %.2f mph, and the kernel chosen by grfgp "+
		"%.2f mph: %s. The authors' best is 13.59 mph.",
		trained.Over("rmse").Mean, auto.Over("rmse").Mean, verdict(pairedDifference(auto, trained, "split", "rmse"), "RMSE", false))}
}

// trafficCurves draws errors against walks.
func trafficCurves(r *Results) *plot.Picture {
	if len(r.Rows) == 0 {
		return nil // no figure with the paper's curves only
	}
	chart := func(title, y, column string, learnable, shape []float64) plot.Chart {
		c := plot.Chart{Title: title, X: "walks per node, n", Y: y, LogX: true, Small: true}
		c.Lines = walkLines(r.Rows, column, trafficWalks, learnable, shape)
		c.Lines = append(c.Lines, againstWalks(r.Rows.Where("arm", repellingArm), "learnable, repelling walks, 10 hops (exact from n = 64 on)",
			column))
		untrained := level(r.Rows.Where("arm", untrainedArm), "exact diffusion, as in the paper", column)
		untrained.Reference = true
		c.Lines = append(c.Lines, untrained, level(r.Rows.Where("arm", trainedArm), "exact diffusion, trained", column),
			level(r.Rows.Where("arm", autoArm), "grfgp without settings", column))
		return c
	}
	return plot.Shared("", 2, chart("Error", "RMSE, mph", "rmse", trafficLearnableRMSE, trafficShapeRMSE),
		chart("Log score", "NLPD, nats per node", "nlpd", trafficLearnableNLPD, trafficShapeNLPD))
}

// walkLines draws the authors' two kernels against walks: our results, and the paper's in
// the same colour.
func walkLines(rows Rows, column string, walks, learnable, shape []float64) (lines []plot.Line) {
	for _, arm := range []struct {
		key, name string
		paper     []float64
	}{{learnableArm, "learnable", learnable}, {shapeArm, "diffusion coefficients", shape}} {
		ours := againstWalks(rows.Where("arm", arm.key), arm.name+", authors' walks", column)
		lines = append(lines, ours, plot.Line{Name: arm.name + ", paper", Like: ours.Name, X: walks, Y: arm.paper, Dash: plot.Dashed})
	}
	return lines
}

// againstWalks draws a column against walks, with a band of one standard error.
func againstWalks(rows Rows, name, column string) plot.Line {
	line := plot.Line{Name: name}
	for _, n := range rows.Distinct("walks") {
		s := rows.Where("walks", n).Over(column)
		line.X, line.Y = append(line.X, n), append(line.Y, s.Mean)
		if s.N > 1 {
			line.Low, line.High = append(line.Low, s.Mean-s.SE()), append(line.High, s.Mean+s.SE())
		}
	}
	if len(line.Low) != len(line.X) {
		line.Low, line.High = nil, nil
	}
	return line
}

// level draws a horizontal line for a method without walks.
func level(rows Rows, name, column string) plot.Line {
	line := plot.Line{Name: name, Level: true}
	if s := rows.Over(column); s.N > 0 {
		line.Y = []float64{s.Mean}
	}
	return line
}

// trafficMaps draws the predictions of the first split: all roads, and the area around a
// junction.
func trafficMaps(r *Results) ([]Figure, error) {
	part := regressionSettings{Arm: autoArm, Split: 1111}.name()
	mean, sd := r.Array(part, "mean"), r.Array(part, "sd")
	if mean == nil {
		return nil, nil
	}
	d, err := dataset.Default().Traffic(context.Background())
	if err != nil {
		return nil, err
	}
	const perDegree = 111.2 // km
	x, y := make([]float64, len(mean)), make([]float64, len(mean))
	for i := range mean {
		x[i], y[i] = d.Lon[i]*perDegree*math.Cos(37.33*math.Pi/180), d.Lat[i]*perDegree
	}
	const far = 0.8
	middle := densest(x, y, far)
	frame := plot.Frame{Name: "junction", Left: x[middle] - far, Right: x[middle] + far, Low: y[middle] - far, High: y[middle] + far}
	inside := func(i int) bool {
		return frame.Left < x[i] && x[i] < frame.Right && frame.Low < y[i] && y[i] < frame.High
	}
	draw := func(title string, values []float64, keep func(i int) bool, m plot.MapData) *plot.Picture {
		m.Title, m.Unit, m.Length, m.Edges, m.Mark, m.Other = title, "mph", "km", edgesOf(d.Graph), "training detector", "test detector"
		m.X, m.Y, m.Values = slices.Clone(x), slices.Clone(y), slices.Clone(values)
		m.Marked, m.Diamond = among(d.Splits[0].Train, keep), among(d.Splits[0].Test, keep)
		for i := range values {
			if !keep(i) { // the colour scale covers the nodes shown
				m.X[i], m.Values[i] = math.NaN(), math.NaN()
			}
		}
		return plot.Map(m)
	}
	whole := func(title string, values []float64) *plot.Picture {
		return draw(title, values, func(int) bool { return true }, plot.MapData{Frame: &frame})
	}
	detail := func(title string, values []float64) *plot.Picture {
		return draw(title, values, inside, plot.MapData{Separate: true})
	}
	credit := "Roads © OpenStreetMap contributors."
	return []Figure{
		{Name: "map", Wide: true, Picture: plot.Panels("", 2, whole("Predicted speed", mean), whole("Its standard deviation", sd)),
			Caption: "Predictions of grfgp from the 250 training detectors of the first split, Monday 2 January 2017 at 17:30; the next figure " +
				"shows the junction in the frame. " + credit},
		{Name: "junction", Wide: true, Picture: plot.Panels("", 2, detail("Predicted speed at the junction", mean),
			detail("Its standard deviation", sd)),
			Caption: "The same within 0.8 km of the densest junction. The two directions of a road have separate nodes, which are close in " +
				"space, far apart on the graph, and of different speeds. " +
				"Overlapping nodes are drawn side by side. " + credit},
	}, nil
}

// among returns the nodes for which keep is true.
func among(nodes []int, keep func(i int) bool) (kept []int) {
	for _, i := range nodes {
		if keep(i) {
			kept = append(kept, i)
		}
	}
	return kept
}

// densest returns the node with the most others in a square of side 2·far around it.
func densest(x, y []float64, far float64) int {
	best, most := 0, 0
	for i := range x {
		count := 0
		for j := range x {
			if max(math.Abs(x[i]-x[j]), math.Abs(y[i]-y[j])) < far {
				count++
			}
		}
		if count > most {
			best, most = i, count
		}
	}
	return best
}

// edgesOf iterates over the edges, each once.
func edgesOf(g *graph.Graph) func(yield func(int, int) bool) {
	return func(yield func(int, int) bool) {
		for i := range g.Len() {
			cols, _ := g.Adjacency().Row(i)
			for _, j := range cols {
				if int(j) > i && !yield(i, int(j)) {
					return
				}
			}
		}
	}
}
