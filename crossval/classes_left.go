package crossval

import (
	"slices"

	"gonum.org/v1/gonum/mat"

	"grfgp"
	"grfgp/gp"
)

// LeaveOneOut is the scheme of LeaveOneOutClasses.
const LeaveOneOut Scheme = "leave one out"

// LeaveOneOutClasses scores a classifier on its own labels, each predicted from all others
// with kernel and hyperparameters held fixed, beside label spreading with the same labels. A
// label is not scored if it is the only one of its class, which could not be predicted, or if
// its node has others, which would give it away. It returns nil if there are too many labels,
// or none is left to score.
func LeaveOneOutClasses(c, spreading *grfgp.Classification, l gp.Labels) *ClassValidation {
	own, beside := c.LeaveOneOut(), spreading.LeaveOneOut()
	if own == nil {
		return nil
	}
	v := &ClassValidation{Scheme: LeaveOneOut, Folds: l.Len(), Baselines: map[Baseline]ClassScore{}, Confusion: make([][]int, l.Classes)}
	for k := range v.Confusion {
		v.Confusion[k] = make([]int, l.Classes)
	}
	at := map[int]int{}
	for _, i := range l.Nodes {
		at[i]++
	}
	counts := l.Counts()
	var rows, class []int
	for k, i := range l.Nodes {
		if at[i] > 1 || counts[l.Class[k]] < 2 {
			continue
		}
		p := slices.Clone(own.RawRowView(k))
		best := slices.Index(p, slices.Max(p))
		v.HeldOut = append(v.HeldOut, HeldOutLabel{i, k, l.Class[k], best, p})
		v.Confusion[l.Class[k]][best]++
		rows, class = append(rows, k), append(class, l.Class[k])
	}
	if len(rows) == 0 {
		return nil
	}
	pick := func(of *mat.Dense) *mat.Dense {
		some := mat.NewDense(len(rows), l.Classes, nil)
		for q, k := range rows {
			some.SetRow(q, of.RawRowView(k))
		}
		return some
	}
	v.ClassScore, v.Reliability = ScoreClasses(pick(own), class), Reliability(pick(own), class)
	v.Baselines[ClassFrequencies] = ScoreClasses(pick(otherFrequencies(l)), class)
	if beside != nil {
		v.Baselines[LabelSpreading] = ScoreClasses(pick(beside), class)
	}
	return v
}

// otherFrequencies returns the class frequencies of the other labels, after adding one of each
// class, for every label.
func otherFrequencies(l gp.Labels) *mat.Dense {
	p, counts := mat.NewDense(l.Len(), l.Classes, nil), l.Counts()
	for k, own := range l.Class {
		for c, n := range counts {
			if c == own {
				n--
			}
			p.Set(k, c, float64(n+1)/float64(l.Len()-1+l.Classes))
		}
	}
	return p
}
