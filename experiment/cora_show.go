package experiment

import (
	"context"
	"fmt"
	"slices"

	"gonum.org/v1/gonum/mat"

	"grfgp"
	"grfgp/dataset"
	"grfgp/internal/layout"
	"grfgp/internal/plot"
)

func showCora(o Options, r *Results) (*Section, error) {
	theirs := func(arm string) string {
		return meanSD(r.Rows.Where("arm", arm).Where("split", "authors").Over("accuracy"), 2)
	}
	section := &Section{Tables: []Table{
		Compare("Accuracy in %", "The paper and ours by the authors' protocol: their split, mean ± standard deviation over seeds. Clean: mean ± standard error over random splits.",
			Beside{"diffusion, exact", "85.31 ± 0.61", theirs("diffusion, Dirichlet"), cleanPercent(r, "diffusion, Dirichlet"), "the paper's was trained for five steps; both of ours until they converged"},
			Beside{"features", "87.04 ± 0.53", either(theirs(authorsRobustMax), theirs(authorsDirichlet)), cleanPercent(r, "features, Dirichlet"),
				"the paper: RobustMax, 994 inducing nodes, density 22 %; authors' protocol: 300 inducing nodes; clean: Dirichlet, Matérn coefficients, density 5 %"},
			Beside{"Matérn, exact", "86.72 ± 0.31", theirs("matern, Dirichlet"), cleanPercent(r, "matern, Dirichlet"), "Dirichlet instead of RobustMax; ν = 2"},
			Beside{"grfgp by itself", "", theirs("auto"), cleanPercent(r, "auto"), "not in the paper"},
			Beside{"label spreading", "", theirs("spreading"), cleanPercent(r, "spreading"), "not in the paper: nothing is learned but its reach"},
		),
		topicTable(r),
	}}
	figures, err := coraFigures(o, r)
	section.Figures = figures
	section.Findings = coraFindings(r)
	return section, err
}

func either(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

// randomSplits are the rows of an arm that are not of the authors' split.
func randomSplits(r *Results, arm string) (rows Rows) {
	for _, row := range r.Rows.Where("arm", arm) {
		if row.Text("split") != "authors" {
			rows = append(rows, row)
		}
	}
	return rows
}

func cleanPercent(r *Results, arm string) string {
	s := randomSplits(r, arm).Over("accuracy")
	if s.N == 0 {
		return ""
	}
	return plusMinus(s, 2)
}

// topicTable has every arm with log score and calibration.
func topicTable(r *Results) Table {
	t := Table{Title: "Accuracy, log score and calibration", Head: []string{"arm", "splits", "runs", "accuracy, %", "NLL", "ECE", "density, %", "seconds a run"},
		Note: "± is the standard error over runs; on the authors' split they differ by the seed of walks and starts alone."}
	line := func(arm, splits string, rows Rows) {
		if len(rows) == 0 {
			return
		}
		t.Rows = append(t.Rows, []string{arm, splits, fmt.Sprint(len(rows)), plusMinus(rows.Over("accuracy"), 2), plusMinus(rows.Over("nll"), 3), plusMinus(rows.Over("ece"), 3),
			Short(rows.Over("density").Mean), Short(rows.Over("seconds").Mean)})
	}
	var arms []string
	for _, a := range topicArms {
		arms = append(arms, a.key)
	}
	for _, arm := range append(arms, authorsDirichlet, authorsRobustMax) {
		line(arm, "random", randomSplits(r, arm))
		line(arm, "authors'", r.Rows.Where("arm", arm).Where("split", "authors"))
	}
	return t
}

// coraFigures draw the network, what is predicted wrongly, and how far to trust
// probabilities, on the authors' split.
func coraFigures(o Options, r *Results) ([]Figure, error) {
	arm := "auto"
	if o.Quick {
		arm = "features, Dirichlet"
	}
	chances := r.Array(topicSettings{Arm: arm, Split: -1, Seed: o.Seed}.name(), "probabilities")
	if chances == nil {
		return nil, nil
	}
	c, err := dataset.Default().Cora(context.Background())
	if err != nil {
		return nil, err
	}
	_, test := c.AuthorsSplit()
	p := mat.NewDense(len(test), len(c.Classes), chances)
	class := classesAt(c, test)
	const labelled, right, wrong = 0, 1, 2
	topics, outcome, errors := make([]float64, len(c.Class)), make([]float64, len(c.Class)), 0
	for i, v := range c.Class {
		topics[i], outcome[i] = float64(v), labelled
	}
	for k, i := range test {
		row := p.RawRowView(k)
		outcome[i] = right
		if slices.Index(row, slices.Max(row)) != class[k] {
			outcome[i] = wrong
			errors++
		}
	}
	places := layout.Of(c.Graph, o.Seed)
	names := make([]string, len(c.Classes))
	for k, name := range c.Classes {
		names[k] = spaced(name)
	}
	var bins []plot.Bin
	for _, b := range grfgp.Reliability(p, class) {
		bins = append(bins, plot.Bin{Count: b.Count, Confidence: b.Confidence, Accuracy: b.Accuracy})
	}
	draw := func(m plot.MapData) *plot.Picture {
		m.X, m.Y, m.Edges = places.X, places.Y, edgesOf(c.Graph)
		return plot.Map(m)
	}
	return []Figure{
		{Name: "graph", Wide: true, Picture: plot.Panels("", 2,
			draw(plot.MapData{Title: "Topics of papers", Values: topics, Classes: names}),
			draw(plot.MapData{Title: "Predictions (" + arm + ")", Values: outcome, Classes: []string{"labelled", "predicted right", "predicted wrongly"}, Looks: []plot.Look{plot.Small, plot.Faded, plot.Strong}})),
			Caption: fmt.Sprintf("Figure 11 again: Cora, drawn by its citations. Left, the true topics; right, what is made of the %d papers of the authors' test set, of which %d are predicted wrongly.", len(test), errors)},
		{Name: "reliability", Caption: "How often the likeliest topic is right, by how likely it was said to be; the authors' test set.", Picture: plot.Reliability("Reliability", bins)},
	}, nil
}

// spaced writes names without underscores.
func spaced(name string) string {
	out := []byte(name)
	for k, c := range out {
		if c == '_' {
			out[k] = ' '
		}
	}
	return string(out)
}

func coraFindings(r *Results) []string {
	var found []string
	trained, features := randomSplits(r, "matern, Dirichlet").Over("accuracy"), randomSplits(r, "features, Dirichlet").Over("accuracy")
	if trained.N > 1 && features.N > 1 {
		found = append(found, fmt.Sprintf("Over %d random splits features have %.2f ± %.2f %% and the exact Matérn kernel %.2f ± %.2f %%: the paper's order of the two (87.04 and 86.72 %%) is within the noise of its one split.",
			features.N, features.Mean, features.SE(), trained.Mean, trained.SE()))
	}
	diffusion, spreading := randomSplits(r, "diffusion, Dirichlet").Over("accuracy"), randomSplits(r, "spreading").Over("accuracy")
	if diffusion.N > 1 {
		found = append(found, fmt.Sprintf("A diffusion kernel that is trained has %.2f ± %.2f %%, not 85.31 %%.", diffusion.Mean, diffusion.SE()))
	}
	if spreading.N > 1 {
		found = append(found, fmt.Sprintf("Label spreading, which learns nothing but its reach, has %.2f ± %.2f %%.", spreading.Mean, spreading.SE()))
	}
	return found
}
