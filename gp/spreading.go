package gp

import (
	"context"
	"errors"

	"gonum.org/v1/gonum/mat"

	"grfgp/kernel"
	"grfgp/plan"
	"grfgp/progress"
)

// spreading is label spreading: the probability of class c at node i is ∝ the sum of
// K_ij over the labels j of the class. With the kernel of Matérn, ν = 1 and
// κ = √(2α/(1−α)), that is (I − αW)⁻¹Y of Zhou et al. (2004), and α = 0.9 is
// κ = 4.24.
type spreading struct {
	cov         kernel.Covariance
	nodes       []int
	y           *mat.Dense // an indicator per class
	shares      []float64  // of labels per class: the prediction where none is in reach
	leaveOneOut *mat.Dense
}

// spreadLabels takes the start with the highest leave-one-out accuracy and learns
// nothing.
func spreadLabels(ctx context.Context, k kernel.Kernel, l Labels, opts ClassifyOptions) (*Classifier, ClassifyReport, error) {
	starts := opts.Starts
	if opts.State != nil {
		starts = [][]float64{opts.State.Theta}
	}
	if len(starts) == 0 {
		var own []float64
		for _, p := range k.Params() {
			own = append(own, p.Start)
		}
		starts = [][]float64{own}
	}
	var best *spreading
	var report ClassifyReport
	for _, theta := range starts {
		s, err := newSpreading(ctx, k, l, theta, opts.Limits)
		if err != nil {
			return nil, report, err
		}
		r := ClassifyReport{ClassState: ClassState{Method: Spreading, Solver: opts.Solver, Theta: theta, Calibration: uncalibrated},
			Converged: true}
		if s.leaveOneOut != nil {
			r.score(s.leaveOneOut, scoredClasses(l.Class, l.Classes))
		}
		if best == nil || r.Accuracy > report.Accuracy {
			best, report = s, r
		}
		if s.leaveOneOut == nil {
			break // nothing to choose by
		}
	}
	report.Evaluations = len(starts)
	return &Classifier{best, l.Classes, best.leaveOneOut}, report, nil
}

func newSpreading(ctx context.Context, k kernel.Kernel, l Labels, theta []float64, limits *plan.Limits) (*spreading, error) {
	cov, err := k.At(theta)
	if err != nil {
		return nil, err
	}
	s := &spreading{cov: cov, nodes: l.Nodes, y: mat.NewDense(l.Len(), l.Classes, nil), shares: make([]float64, l.Classes)}
	for k, c := range l.Class {
		s.y.Set(k, c, 1)
		s.shares[c] += 1 / float64(l.Len())
	}
	if kernel.DiagFlops(cov, l.Len()) > limits.Or().VarianceFlops {
		return s, nil
	}
	if s.leaveOneOut, err = s.sums(ctx, l.Nodes); err != nil {
		return nil, err
	}
	own := make([]float64, l.Len())
	if err := cov.Diag(ctx, own, l.Nodes); err != nil {
		return nil, err
	}
	for k, c := range l.Class {
		s.leaveOneOut.Set(k, c, s.leaveOneOut.At(k, c)-own[k])
	}
	s.normalise(s.leaveOneOut)
	return s, nil
}

// sums returns K[nodes, x]·Y.
func (s *spreading) sums(ctx context.Context, nodes []int) (*mat.Dense, error) {
	f := mat.NewDense(len(nodes), len(s.shares), nil)
	return f, s.cov.Cross(nodes, s.nodes).Apply(ctx, f, s.y)
}

// spreadFloor is the share of probability that all classes get equally, so that
// none is impossible.
const spreadFloor = 1e-3

// normalise turns sums into probabilities.
func (s *spreading) normalise(f *mat.Dense) {
	n, _ := f.Dims()
	for i := range n {
		row, sum := f.RawRowView(i), 0.0
		for c, v := range row {
			row[c] = max(0, v)
			sum += row[c]
		}
		for c, share := range s.shares {
			if sum > 0 {
				row[c] = (1-spreadFloor)*row[c]/sum + spreadFloor/float64(len(row))
			} else {
				row[c] = (1-spreadFloor)*share + spreadFloor/float64(len(row))
			}
		}
	}
}

func (s *spreading) Probabilities(ctx context.Context, nodes []int, _ *progress.Work) (*mat.Dense, error) {
	f, err := s.sums(ctx, nodes)
	if err != nil {
		return nil, err
	}
	s.normalise(f)
	return f, nil
}

// Sample returns an error: label spreading has no posterior.
func (s *spreading) Sample(context.Context, []int, int, uint64, *progress.Work) ([]*mat.Dense, error) {
	return nil, errors.New("label spreading has no posterior to draw from; use another method")
}
