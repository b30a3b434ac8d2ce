package grfgp

import (
	"context"

	"gonum.org/v1/gonum/mat"

	"grfgp/covariate"
	"grfgp/effects"
	"grfgp/kernel"
	"grfgp/kernel/covariates"
)

// functionals are the moves of a source column as functionals of the process.
type functionals struct {
	cross  *mat.Dense // with the measurements
	smooth *mat.Dense // that of smooth terms alone
	prior  *mat.SymDense
	nodes  int
}

// functionals returns the covariances of the moves of a source column.
func (p *modelParts) functionals(ctx context.Context, set *covariate.Set, o *effects.Source) (*functionals, error) {
	states, moves := len(o.States), len(o.Moves)
	sample := evenly(set.Nodes, max(8, min(effectNodes, effectRows/states)))
	t := len(p.nodes)
	cross, prior := mat.NewDense(t, states, nil), mat.NewDense(states, states, nil)
	if err := p.addSmooth(ctx, cross, prior, set, o, sample); err != nil {
		return nil, err
	}
	weights := mat.NewDense(states, moves, nil)
	for k, mv := range o.Moves {
		weights.SetCol(k, mv.Weights)
	}
	f := &functionals{nodes: len(sample), smooth: mat.NewDense(t, moves, nil), cross: mat.NewDense(t, moves, nil),
		prior: mat.NewSymDense(moves, nil)}
	f.smooth.Mul(cross, weights)
	p.addLinear(cross, prior, set, o)
	f.cross.Mul(cross, weights)
	var half, full mat.Dense
	half.Mul(prior, weights)
	full.Mul(weights.T(), &half)
	for a := range moves {
		for b := a; b < moves; b++ {
			f.prior.SetSym(a, b, p.last*(full.At(a, b)+full.At(b, a))/2)
		}
	}
	for i, w := range p.inTime {
		for a := range moves {
			f.cross.Set(i, a, w*f.cross.At(i, a))
			f.smooth.Set(i, a, w*f.smooth.At(i, a))
		}
	}
	return f, nil
}

// addLinear adds the covariances of the linear term of columns: those of states of
// one source column, up to what all states have in common.
func (p *modelParts) addLinear(cross, prior *mat.Dense, set *covariate.Set, o *effects.Source) {
	for _, l := range p.known.Linear {
		if l.Kind != covariates.OfColumns {
			continue
		}
		variance := p.thetaOf(l.Kernel, p.known.Path)[0] * l.Scale * l.Scale
		for s, state := range o.States {
			for i, node := range p.nodes {
				sum := 0.0
				for j, d := range o.Dense {
					sum += state[j] * set.X.At(node, d)
				}
				cross.Set(i, s, cross.At(i, s)+variance*sum)
			}
			for r, other := range o.States {
				sum := 0.0
				for j := range o.Dense {
					sum += state[j] * other[j]
				}
				prior.Set(s, r, prior.At(s, r)+variance*sum)
			}
		}
	}
}

// addSmooth adds the covariances of the smooth terms: the mean over the sample of
// nodes in each state.
func (p *modelParts) addSmooth(ctx context.Context, cross, prior *mat.Dense, set *covariate.Set, o *effects.Source, sample []int) error {
	x := p.augmented(set, o, sample)
	smooth := p.known.SmoothOn(x)
	measured, rows := ints(0, len(p.nodes)), ints(len(p.nodes), x.RawMatrix().Rows)
	mean := mat.NewDense(len(rows), len(o.States), nil)
	for k := range rows {
		mean.Set(k, k/len(sample), 1/float64(len(sample)))
	}
	add := func(with, own *mat.Dense) {
		var left, right, square mat.Dense
		left.Mul(with, mean)
		right.Mul(own, mean)
		square.Mul(mean.T(), &right)
		cross.Add(cross, &left)
		prior.Add(prior, &square)
	}
	with, own, err := blocksOf(ctx, smooth, p.thetaOf(p.known.Smooth, p.known.Path), measured, rows)
	if err != nil {
		return err
	}
	add(with, own)
	if p.near == nil {
		return nil
	}
	if with, own, err = blocksOf(ctx, smooth, p.thetaOf(p.known.Smooth, "product"), measured, rows); err != nil {
		return err
	}
	near, among, err := blocksOf(ctx, p.near, p.thetaOf(p.near, "product"), p.nodes, sample)
	if err != nil {
		return err
	}
	multiply := func(dst, by *mat.Dense, node func(row int) int) {
		dst.Apply(func(i, k int, v float64) float64 { return v * by.At(node(i), k%len(sample)) }, dst)
	}
	multiply(with, near, func(i int) int { return i })
	multiply(own, among, func(i int) int { return i % len(sample) })
	add(with, own)
	return nil
}

// blocksOf returns K[a, b] and K[b, b].
func blocksOf(ctx context.Context, k kernel.Kernel, theta []float64, a, b []int) (ab, bb *mat.Dense, err error) {
	cov, err := k.At(theta)
	if err != nil {
		return nil, nil, err
	}
	one := mat.NewDense(len(b), len(b), nil)
	for i := range b {
		one.Set(i, i, 1)
	}
	ab, bb = mat.NewDense(len(a), len(b), nil), mat.NewDense(len(b), len(b), nil)
	if err := cov.Cross(a, b).Apply(ctx, ab, one); err != nil {
		return nil, nil, err
	}
	return ab, bb, cov.Cross(b, b).Apply(ctx, bb, one)
}

// augmented returns the columns of the smooth terms at the measured nodes and then, for
// every state of a source column, at the sample of nodes in that state.
func (p *modelParts) augmented(set *covariate.Set, o *effects.Source, sample []int) *mat.Dense {
	place := map[int]int{} // column of Set.X → column of x
	width := 0
	for g := range set.Groups { // as covariateBlocks has them
		for d, of := range set.Group {
			if of == g {
				place[d], width = width, width+1
			}
		}
	}
	width = p.known.Width()
	x := mat.NewDense(len(p.nodes)+len(o.States)*len(sample), width, nil)
	fill := func(to []float64, node int) {
		for _, b := range p.known.Blocks {
			to = to[copy(to, b.X.RawRowView(node)):]
		}
	}
	for i, node := range p.nodes {
		fill(x.RawRowView(i), node)
	}
	row := len(p.nodes)
	for _, state := range o.States {
		for _, node := range sample {
			to := x.RawRowView(row)
			fill(to, node)
			for j, d := range o.Dense {
				to[place[d]] = state[j]
			}
			row++
		}
	}
	return x
}

// evenly returns most numbers below n, evenly spaced.
func evenly(n, most int) []int {
	most = min(n, most)
	all := make([]int, most)
	for k := range all {
		all[k] = k * n / most
	}
	return all
}

// ints returns the numbers from lo to hi − 1.
func ints(lo, hi int) []int {
	all := make([]int, hi-lo)
	for k := range all {
		all[k] = lo + k
	}
	return all
}

// join puts the functionals of all source columns side by side. Functionals of
// different source columns are taken as independent before the measurements: only the
// variances of the result are used.
func join(parts []*functionals) (cross, smooth *mat.Dense, prior *mat.SymDense) {
	width := 0
	var crosses, smooths []*mat.Dense
	for _, f := range parts {
		width += f.prior.SymmetricDim()
		crosses, smooths = append(crosses, f.cross), append(smooths, f.smooth)
	}
	prior = mat.NewSymDense(width, nil)
	at := 0
	for _, f := range parts {
		n := f.prior.SymmetricDim()
		for a := range n {
			for b := a; b < n; b++ {
				prior.SetSym(at+a, at+b, f.prior.At(a, b))
			}
		}
		at += n
	}
	return covariates.Beside(crosses...), covariates.Beside(smooths...), prior
}
