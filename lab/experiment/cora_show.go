package experiment

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"gonum.org/v1/gonum/mat"

	"grfgp/crossval"
	"grfgp/internal/layout"
	"grfgp/lab/dataset"
	"grfgp/lab/plot"
)

func showCora(o Options, r *Results) (*Section, error) {
	theirs := func(arm string) string {
		return r.Rows.Where("arm", arm).Where("split", "authors").Over("accuracy").Fixed(2)
	}
	clean := func(arm string) string { return randomSplits(r.Rows, arm).Over("accuracy").withSE().Fixed(2) }
	theirFeatures := "paper's likelihood: their features, with inducing nodes chosen by variance instead of at random; with 300 inducing " +
		"nodes " + theirs(authorsRobustMax) + "; Dirichlet: their features; random splits: our features of 5 % density with Matérn coefficients"
	if o.Quick {
		theirFeatures += "; with a sixteenth of their walks"
	}
	t := Table{
		Title: "Accuracy in %",
		Head: []string{"", "paper", "ours, paper's likelihood (RobustMax, 994 inducing nodes), authors' split",
			"ours, Dirichlet, authors' split", "ours, Dirichlet, random splits", "what differs"},
		Rows: [][]string{
			{"diffusion, exact", "85.31 ± 0.61", theirs(paperDiffusion), theirs("diffusion, Dirichlet"), clean("diffusion, Dirichlet"),
				"the paper's kernel was trained for five steps, ours until convergence; Dirichlet: unit variance"},
			{"features", "87.04 ± 0.53", theirs(paperFeatures), theirs(authorsDirichlet), clean("features, Dirichlet"), theirFeatures},
			{"Matérn, exact", "86.72 ± 0.31", theirs(paperMatern), theirs("matern, Dirichlet"), clean("matern, Dirichlet"),
				"ν = 2; Dirichlet: unit variance"},
			{"grfgp without settings", "–", "–", theirs("auto"), clean("auto"), "not in the paper"},
			{"label spreading", "–", "–", theirs("spreading"), clean("spreading"), "not in the paper; its only hyperparameter is its reach"},
		},
		Note: "The paper, and ours on the authors' split: mean ± standard deviation over seeds; our exact kernels and label spreading are " +
			"deterministic. Random splits: mean ± standard error over splits. " +
			"With the paper's likelihood, the variational distribution is optimised by natural gradients, and hyperparameters by a few steps of " +
			"Adam from a fit to Dirichlet labels; the authors take 1,000 steps of Adam for all parameters.",
	}
	section := &Section{Tables: []Table{t, topicTable(r)}, Findings: coraFindings(r.Rows)}
	figures, err := coraFigures(o, r)
	return section, section.add("the network and the reliability of its predictions", "cora", nil, figures, err)
}

// randomSplits returns the rows of an arm on random splits.
func randomSplits(rows Rows, arm string) (random Rows) {
	for _, row := range rows.Where("arm", arm) {
		if row.Text("split") != "authors" {
			random = append(random, row)
		}
	}
	return random
}

// topicTable lists all arms with log score and calibration.
func topicTable(r *Results) Table {
	t := Table{Title: "Accuracy, log score and calibration",
		Head: []string{"method", "splits", "runs", "accuracy, %", "NLL", "ECE", "density, %", "seconds per run"},
		Note: "± is the standard error over runs; on the authors' split, runs differ only in the seed of walks and starting values."}
	line := func(arm, splits string, rows Rows) {
		if len(rows) == 0 {
			return
		}
		t.Rows = append(t.Rows, []string{arm, splits, fmt.Sprint(len(rows)), rows.Over("accuracy").withSE().Fixed(2),
			rows.Over("nll").withSE().Fixed(3), rows.Over("ece").withSE().Fixed(3),
			Short(rows.Over("density").Mean), Short(rows.Over("seconds").Mean)})
	}
	var arms []string
	for _, a := range topicArms {
		arms = append(arms, a.key)
	}
	for _, arm := range append(arms, authorsDirichlet, authorsRobustMax, paperFeatures, paperDiffusion, paperMatern) {
		line(arm, "random", randomSplits(r.Rows, arm))
		line(arm, "authors'", r.Rows.Where("arm", arm).Where("split", "authors"))
	}
	return t
}

// coraFigures draws the network, wrong predictions, and a reliability diagram, on the
// authors' split.
func coraFigures(o Options, r *Results) ([]Figure, error) {
	arm := "auto"
	if o.Quick {
		arm = "features, Dirichlet"
	}
	probabilities := r.Array(topicSettings{Arm: arm, Split: -1, Seed: o.Seed}.name(), "probabilities")
	if probabilities == nil {
		return nil, nil
	}
	c, err := dataset.Default().Cora(context.Background())
	if err != nil {
		return nil, err
	}
	_, test := c.AuthorsSplit()
	p := mat.NewDense(len(test), len(c.Classes), probabilities)
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
	for _, b := range crossval.Reliability(p, class) {
		bins = append(bins, plot.Bin{Count: b.Count, Confidence: b.Confidence, Accuracy: b.Accuracy})
	}
	draw := func(m plot.MapData) *plot.Picture {
		m.X, m.Y, m.Edges = places.X, places.Y, edgesOf(c.Graph)
		return plot.Map(m)
	}
	return []Figure{
		{Name: "graph", Wide: true, Picture: plot.Panels("", 2,
			draw(plot.MapData{Title: "Topics of papers", Values: topics, Classes: names}),
			draw(plot.MapData{Title: "Predictions (" + arm + ")", Values: outcome,
				Classes: []string{"labelled", "predicted correctly", "predicted wrongly"}, Looks: []plot.Look{plot.Small, plot.Faded, plot.Strong}})),
			Caption: fmt.Sprintf("As Figure 11: the citation network Cora. Left: true topics; right: predictions for the %d papers of the "+
				"authors' test set, of which %d are wrong.", len(test), errors)},
		{Name: "reliability", Caption: "Reliability diagram: accuracy against the probability of the predicted topic, on the authors' test set.",
			Picture: plot.Reliability("Reliability", bins)},
	}, nil
}

// spaced replaces underscores by spaces.
func spaced(name string) string { return strings.ReplaceAll(name, "_", " ") }

func coraFindings(rows Rows) []string {
	var found []string
	of := func(arm string) (Rows, Spread) {
		own := randomSplits(rows, arm)
		return own, own.Over("accuracy")
	}
	exact, matern := of("matern, Dirichlet")
	sampled, features := of("features, Dirichlet")
	if matern.N > 1 && features.N > 1 {
		found = append(found, fmt.Sprintf("Over %d random splits, features have an accuracy of %s %% and the exact Matérn kernel %s %%; "+
			"paired by split, features are %s. The paper has 87.04 and 86.72 %%, on one split with a standard error of 1.5 points.",
			features.N, features.withSE().Fixed(2), matern.withSE().Fixed(2),
			verdict(pairedDifference(sampled, exact, "split", "accuracy"), "accuracy", true)))
	}
	if _, diffusion := of("diffusion, Dirichlet"); diffusion.N > 1 {
		const paper = 85.31
		than := "not significantly more than the"
		if diffusion.Mean > paper+2*diffusion.SE() {
			than = "more than the"
		}
		found = append(found, fmt.Sprintf("A diffusion kernel trained until convergence has %s %%, %s %.2f %% of the paper's, which was "+
			"trained for five steps.", diffusion.withSE().Fixed(2), than, paper))
	}
	spread, spreading := of("spreading")
	if spreading.N > 1 {
		text := fmt.Sprintf("Label spreading, whose only hyperparameter is its reach, has %s %%", spreading.withSE().Fixed(2))
		if auto, own := of("auto"); own.N > 1 {
			text += fmt.Sprintf(", and the model chosen by grfgp %s %%: %s", own.withSE().Fixed(2),
				verdict(pairedDifference(auto, spread, "split", "accuracy"), "accuracy", true))
		}
		found = append(found, text+".")
	}
	return found
}
