package experiment

import (
	"context"
	"fmt"
	"math"
	"slices"

	"grfgp/lab/dataset"
	"grfgp/lab/plot"
)

// The paper's curves, from the authors' result files: means over three seeds, NLPD without
// noise.
var (
	windWalks         = []float64{32, 64, 128, 256, 512, 1024, 2048, 4096, 8192}
	windLearnableRMSE = []float64{0.9208, 0.8631, 0.8305, 0.7917, 0.7615, 0.7407, 0.7300, 0.7160, 0.7295}
	windLearnableNLPD = []float64{1.4909, 1.3133, 1.2552, 1.1971, 1.1440, 1.0954, 1.0639, 1.0357, 1.0496}
	windShapeRMSE     = []float64{0.9913, 0.9712, 0.9440, 0.9118, 0.8821, 0.8601, 0.8437, 0.8332, 0.8252}
	windShapeNLPD     = []float64{1.4965, 1.4231, 1.3796, 1.3449, 1.3112, 1.2802, 1.2557, 1.2348, 1.2249}
)

// quickWind names the kernel that quick runs use instead of the choice of grfgp.
const quickWind = "quick: diffusion, 20 walks, one scale"

func showWind(o Options, r *Results) (*Section, error) {
	of := func(arm, weights string, level int) Rows {
		return r.Rows.Where("arm", arm).Where("weights", weights).Where("level", level)
	}
	both := func(rows Rows, score string) string {
		if len(rows) == 0 {
			return ""
		}
		return rows.Over("rmse").Fixed(4) + "; " + rows.Over(score).Fixed(3)
	}
	var rows []Comparison
	for _, n := range []int{512, 8192} {
		paper := map[int][2]string{512: {"0.7615; 1.144", "0.8821; 1.311"}, 8192: {"0.7295; 1.050", "0.8252; 1.225"}}[n]
		rows = append(rows,
			Comparison{fmt.Sprintf("1000 hPa, learnable, n = %d", n), paper[0],
				both(of(learnableArm, distanceWeights, 1000).Where("walks", n), "nlpd_bare"), "",
				"NLPD without noise; BFGS instead of Adam, no samples"},
			Comparison{fmt.Sprintf("1000 hPa, diffusion coefficients, n = %d", n), paper[1],
				both(of(shapeArm, distanceWeights, 1000).Where("walks", n), "nlpd_bare"), "", "the same"},
		)
	}
	for _, level := range dataset.Levels {
		differs := "grfgp without settings, equal edge weights, NLPD with noise"
		if o.Quick {
			differs = quickWind
		}
		rows = append(rows, Comparison{fmt.Sprintf("%d hPa, clean", level), "", "", both(of(autoArm, equalWeights, level), "nlpd"), differs})
	}
	section := &Section{Tables: []Table{Compare("RMSE; NLPD, in standard deviations of the training set",
		"The authors' numbers are means from their file wind_experiment_results_20250918_120334.csv, for the one level that it calls 500 hPa "+
			"and that is 1000 hPa here. ± is the standard deviation over seeds of walks.", rows...).withSource("authors' files"), windTable(o, r)},
		Findings: windFindings(o, r.Rows)}
	scales, err := windScales(o, r)
	if err := section.add("the node-by-node comparison with Matérn", "wind", scales, nil, err); err != nil {
		return nil, err
	}
	section.Figures = nonEmpty(Figure{Name: "walks", Wide: true, Picture: windCurves(r),
		Caption: "As Figure 3 c, d: RMSE and NLPD (without noise) at 1000 hPa against walks per node, on the grid weighted by distance. Bands " +
			"are one standard error over seeds of walks."})
	globes, err := windGlobes(o, r)
	return section, section.add("the globes", "wind", nil, globes, err)
}

// windScales compares the choice of grfgp, and the likeliest kernel of many scales, with the
// best kernel of one scale, with standard errors clustered by fields of 20 by 30 degrees.
func windScales(o Options, r *Results) ([]Table, error) {
	t := Table{Title: "Difference from Matérn of one scale, on the same test nodes",
		Head: []string{"level, hPa", "method", "RMSE of Matérn", "difference", "NLPD of Matérn", "difference"},
		Note: "± is a standard error clustered by fields of 20 by 30 degrees, within which errors are correlated; that of a difference is " +
			"smaller because the two kernels make similar errors."}
	if !slices.ContainsFunc(r.Parts, func(part string) bool { return r.Array(part, "squared") != nil }) {
		return nil, nil
	}
	d, err := dataset.Default().Wind(context.Background())
	if err != nil {
		return nil, err
	}
	_, test := d.Split()
	field := func(k int) int { return test[k]/dataset.WindColumns/8*12 + test[k]%dataset.WindColumns/12 }
	for _, level := range dataset.Levels {
		of := func(arm, what string) []float64 {
			return r.Array(regressionSettings{Arm: arm, Split: level, Weight: equalWeights, Seed: o.Seed}.windName(), what)
		}
		one := of(maternArm, "squared")
		none := make([]float64, len(one))
		for _, arm := range []string{autoArm, manyArm} {
			own := of(arm, "squared")
			if one == nil || own == nil {
				continue
			}
			square, squareSE := clusteredDifference(one, none, field)
			density, densitySE := clusteredDifference(of(maternArm, "density"), none, field)
			more, moreSE := clusteredDifference(own, one, field)
			worse, worseSE := clusteredDifference(of(arm, "density"), of(maternArm, "density"), field)
			slope := 1 / (2 * math.Sqrt(square)) // derivative of the square root
			t.Rows = append(t.Rows, []string{fmt.Sprint(level), arm,
				fmt.Sprintf("%.4f ± %.4f", math.Sqrt(square), squareSE*slope),
				fmt.Sprintf("%+.4f ± %.4f", math.Sqrt(square+more)-math.Sqrt(square), moreSE*slope),
				fmt.Sprintf("%.4f ± %.4f", density, densitySE), fmt.Sprintf("%+.4f ± %.4f", worse, worseSE)})
		}
	}
	if t.Rows == nil {
		return nil, nil
	}
	return []Table{t}, nil
}

// windTable lists all arms, with noise in the NLPD.
func windTable(o Options, r *Results) Table {
	t := Table{Title: "All methods, NLPD with noise", Head: []string{
		"method", "weights", "walks", "level, hPa", "RMSE", "RMSE, m/s", "NLPD", "80 %", "95 %", "log likelihood"},
		Note: "Mean ± standard deviation over seeds of walks. 80 % and 95 %: share of test values in intervals of that level."}
	for _, level := range dataset.Levels {
		for _, arm := range []string{shapeArm, learnableArm, repellingArm, trainedArm, maternArm, oneArm, manyArm, autoArm} {
			for _, weights := range []string{distanceWeights, equalWeights, inverseWeights} {
				rows := r.Rows.Where("arm", arm).Where("weights", weights).Where("level", level)
				for _, n := range rows.Distinct("walks") {
					own := rows.Where("walks", n)
					walks := Short(n)
					if n == 0 {
						walks = "–"
					}
					name := arm
					if o.Quick && arm == autoArm {
						name = quickWind
					}
					t.Rows = append(t.Rows, []string{name, weights, walks, fmt.Sprint(level), own.Over("rmse").Fixed(4), own.Over("rmse_ms").Fixed(3),
						own.Over("nlpd").Fixed(4),
						own.Over("cover80").Fixed(3), own.Over("cover95").Fixed(3), own.Over("log_likelihood").Fixed(1)})
				}
			}
		}
	}
	return t
}

func windCurves(r *Results) *plot.Picture {
	here := r.Rows.Where("level", 1000)
	if len(here) == 0 {
		return nil // no figure with the paper's curves only
	}
	chart := func(title, y, column string, learnable, shape []float64) plot.Chart {
		weighted := here.Where("weights", distanceWeights)
		c := plot.Chart{Title: title, X: "walks per node", Y: y, LogX: true, Small: true}
		c.Lines = append(walkLines(weighted, column, windWalks, learnable, shape),
			level(weighted.Where("arm", repellingArm), "learnable, repelling walks", column),
			level(here.Where("arm", autoArm), "grfgp without settings, equal weights", column))
		return c
	}
	return plot.Shared("", 2, chart("Error", "RMSE, standard deviations", "rmse", windLearnableRMSE, windShapeRMSE),
		chart("NLPD, without noise", "nats per node", "nlpd_bare", windLearnableNLPD, windShapeNLPD))
}

// windGlobes draws the wind near the ground, predictions and errors.
func windGlobes(o Options, r *Results) ([]Figure, error) {
	part := regressionSettings{Arm: autoArm, Split: 1000, Weight: equalWeights, Seed: o.Seed}.windName()
	mean, sd := r.Array(part, "mean"), r.Array(part, "sd")
	if mean == nil {
		return nil, nil
	}
	d, err := dataset.Default().Wind(context.Background())
	if err != nil {
		return nil, err
	}
	truth, err := d.Speed(1000)
	if err != nil {
		return nil, err
	}
	off := make([]float64, len(mean))
	for i, v := range mean {
		off[i] = math.Abs(v - truth[i])
	}
	globe := func(g plot.GlobeData, title string, values []float64) *plot.Picture {
		g.Title, g.Unit, g.Rows, g.Cols, g.Values, g.Mark = title, "m/s", len(truth)/dataset.WindColumns, dataset.WindColumns, values,
			"training nodes, under the satellite track"
		return plot.Globe(g)
	}
	most := slices.Sorted(slices.Values(off))[len(off)*99/100]
	return []Figure{{Name: "globe", Wide: true,
		Picture: plot.Panels("", 2,
			globe(plot.GlobeData{Like: mean, Marked: d.Track}, "Truth and training nodes", truth),
			globe(plot.GlobeData{Like: truth}, "Prediction", mean),
			globe(plot.GlobeData{Marked: d.Track}, "Standard deviation of the prediction", sd),
			globe(plot.GlobeData{Most: most}, "Absolute error", off)),
		Caption: fmt.Sprintf("Mean wind speed at 1000 hPa, January 2010, seen from above Africa and from the opposite side, above the "+
			"Pacific; meridians and circles of latitude every 30 degrees. "+
			"The colour scale of the error ends at %.1f m/s, its 99th percentile; the largest error is %.1f m/s. Contains modified Copernicus "+
			"Climate Change Service information 2010.", most, slices.Max(off)),
	}}, nil
}

func windFindings(o Options, rows Rows) []string {
	var found []string
	at := func(arm, weights string) Spread {
		return rows.Where("arm", arm).Where("weights", weights).Where("level", 1000).Over("rmse")
	}
	theirs, bare := rows.Where("arm", learnableArm).Where("level", 1000), at(repellingArm, distanceWeights)
	if walks := theirs.Distinct("walks"); len(walks) > 1 && bare.N > 0 {
		most := walks[len(walks)-1]
		noisy := theirs.Where("walks", most).Over("rmse").Mean
		text := fmt.Sprintf("On the authors' grid the learnable kernel has RMSE %.3f with %.0f of their walks per node, and %.3f with "+
			"repelling walks, whose features have almost no noise", noisy, most, bare.Mean)
		if share := 1 - bare.Mean/noisy; share > 0 {
			text += fmt.Sprintf(": the noise of walks causes %.0f %% of the error", 100*share)
		}
		found = append(found, text+".")
	}
	even := at(repellingArm, equalWeights)
	if bare.N > 0 && even.N > 0 {
		found = append(found, fmt.Sprintf("With equal edge weights the same kernel has %.3f instead of %.3f.", even.Mean, bare.Mean))
	}
	auto := at(autoArm, equalWeights)
	switch {
	case auto.N == 0:
	case o.Quick:
		found = append(found, fmt.Sprintf("The kernel of this quick run, diffusion of one scale with 20 walks per node, has %.3f at 1000 hPa; "+
			"grfgp without settings would choose another one.", auto.Mean))
	case even.N == 0:
		found = append(found, fmt.Sprintf("grfgp without settings has %.3f at 1000 hPa; %s.", auto.Mean, windBest))
	case auto.Mean < even.Mean:
		found = append(found, fmt.Sprintf("Kernels of longer reach are better: grfgp without settings has %.3f at 1000 hPa, four hops on the "+
			"same grid %.3f; %s.", auto.Mean, even.Mean, windBest))
	default:
		found = append(found, fmt.Sprintf("Longer reach does not help here: grfgp without settings has %.3f at 1000 hPa, four hops on the "+
			"same grid %.3f; %s.", auto.Mean, even.Mean, windBest))
	}
	return found
}

const windBest = "the authors' best is 0.716, at 4,096 walks"
