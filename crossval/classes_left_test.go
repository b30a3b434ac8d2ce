package crossval_test

import (
	"math"
	"slices"
	"testing"

	"grfgp"
	"grfgp/crossval"
	"grfgp/gp"
)

// Labels that others predict are scored by the probabilities of leaving one out; the only label
// of a class, and labels at one node, are not.
func TestLeaveOneOutClasses(t *testing.T) {
	t.Parallel()
	g, labels := communities(t, 120, 6, 2)
	labels.Classes = 4
	labels.Class[0] = 3                                                                                       // the only one
	labels.Nodes, labels.Class = append(labels.Nodes, labels.Nodes[1]), append(labels.Class, labels.Class[1]) // twice at a node
	trainer, err := grfgp.NewTrainer(g, grfgp.Spec{Expression: grfgp.Expression{Family: "diffusion", Scales: "one"}})
	if err != nil {
		t.Fatal(err)
	}
	c, err := trainer.Classify(t.Context(), labels, gp.Dirichlet)
	if err != nil {
		t.Fatal(err)
	}
	spreading, err := trainer.Classify(t.Context(), labels, gp.Spreading)
	if err != nil {
		t.Fatal(err)
	}
	v := crossval.LeaveOneOutClasses(c, spreading, labels)
	left, nll, right := c.LeaveOneOut(), 0.0, 0
	for k := 2; k < labels.Len()-1; k++ {
		row := left.RawRowView(k)
		nll -= math.Log(row[labels.Class[k]]) / float64(labels.Len()-3)
		if slices.Index(row, slices.Max(row)) == labels.Class[k] {
			right++
		}
	}
	if len(v.HeldOut) != labels.Len()-3 || math.Abs(v.NLL-nll) > 1e-12 || math.Abs(v.Accuracy-float64(right)/float64(len(v.HeldOut))) > 1e-12 {
		t.Errorf("%d labels, %+v; want %d, NLL %v, %d right", len(v.HeldOut), v.ClassScore, labels.Len()-3, nll, right)
	}
	majority := v.Baselines[crossval.ClassFrequencies]
	if v.Accuracy < majority.Accuracy+0.2 || v.Baselines[crossval.LabelSpreading].Accuracy < majority.Accuracy+0.2 {
		t.Errorf("%+v, baselines %+v", v.ClassScore, v.Baselines)
	}
}
