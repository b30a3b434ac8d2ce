package kernel

import (
	"context"
	"fmt"
	"slices"

	"gonum.org/v1/gonum/mat"

	"grfgp/internal/rng"
	"grfgp/solve"
)

// Sum returns the kernel K_1 + K_2 + … of a sum of independent functions, one
// from each kernel. Its parameters are those of all terms, in order. All terms
// must have the same number of nodes.
func Sum(terms ...Kernel) Kernel {
	if len(terms) == 0 {
		panic("kernel: a sum without terms")
	}
	s := &sum{}
	for _, k := range terms {
		if k.Nodes() != terms[0].Nodes() {
			panic(fmt.Sprintf("kernel: a sum of kernels on %d and on %d nodes", terms[0].Nodes(), k.Nodes()))
		}
		if inner, ok := k.(*sum); ok {
			s.terms = append(s.terms, inner.terms...)
		} else {
			s.terms = append(s.terms, k)
		}
	}
	seen := map[string]int{}
	for _, k := range s.terms {
		for _, p := range k.Params() {
			if seen[p.Name]++; seen[p.Name] > 1 {
				p.Name = fmt.Sprintf("%s (%d)", p.Name, seen[p.Name])
			}
			s.params = append(s.params, p)
		}
	}
	return s
}

type sum struct {
	terms  []Kernel
	params []Param
}

func (s *sum) Nodes() int      { return s.terms[0].Nodes() }
func (s *sum) Params() []Param { return s.params }

// At returns the sum of the terms' covariances.
func (s *sum) At(theta []float64) (Covariance, error) {
	if err := checkTheta(theta, s.params); err != nil {
		return nil, err
	}
	c := &sumCovariance{}
	lo := 0
	for _, k := range s.terms {
		hi := lo + len(k.Params())
		cov, err := k.At(theta[lo:hi])
		if err != nil {
			return nil, err
		}
		c.terms = append(c.terms, sumTerm{cov, lo, hi})
		lo = hi
	}
	c.nodes = s.Nodes()
	return c, nil
}

// Training offers the starts of each term, combined with the first start of every
// other term, and caches every term that has a cache.
func (s *sum) Training() Training {
	var t Training
	first := startOf(s.params)
	var cached []int
	lo := 0
	for k, term := range s.terms {
		own := TrainingOf(term)
		for _, theta := range own.Starts {
			start := slices.Clone(first)
			copy(start[lo:], theta)
			t.Starts = append(t.Starts, start)
		}
		if own.Cache != nil {
			cached = append(cached, k)
		}
		lo += len(term.Params())
	}
	if len(cached) > 0 {
		t.Cache = func(rows []int, maxBytes int) Kernel {
			terms := slices.Clone(s.terms)
			for _, k := range cached {
				terms[k] = Cached(terms[k], rows, maxBytes/len(cached))
			}
			return &sum{terms, s.params}
		}
	}
	return t
}

// sumCovariance is a sum of covariances.
type sumCovariance struct {
	terms []sumTerm
	nodes int // 0 where it is not known: a sum with WithConstant
}

// sumTerm is a covariance whose gradient is elements [lo, hi) of that of the sum;
// hi < 0 stands for the last element.
type sumTerm struct {
	Covariance
	lo, hi int
}

func (t sumTerm) grad(all []float64) []float64 {
	if t.hi < 0 {
		return all[t.lo:]
	}
	return all[t.lo:t.hi]
}

// plus returns c + extra, where extra has no parameters.
func plus(c Covariance, extra *rankOne) Covariance {
	if s, ok := c.(*sumCovariance); ok {
		return &sumCovariance{append(slices.Clone(s.terms), sumTerm{extra, 0, 0}), s.nodes}
	}
	return &sumCovariance{terms: []sumTerm{{c, 0, -1}, {extra, 0, 0}}}
}

// split returns the terms of rank one and the others.
func (c *sumCovariance) split() (main []sumTerm, ones []*rankOne) {
	for _, t := range c.terms {
		if one, ok := t.Covariance.(*rankOne); ok {
			ones = append(ones, one)
		} else {
			main = append(main, t)
		}
	}
	return main, ones
}

// seeds returns a seed per term. Terms that draw from the same stream of random
// numbers get different ones.
func (c *sumCovariance) seeds(seed uint64) []uint64 {
	all, used := make([]uint64, len(c.terms)), map[string]int{}
	for k, t := range c.terms {
		stream := ""
		if one, ok := t.Covariance.(*rankOne); ok {
			stream = one.stream
		}
		if all[k] = seed; used[stream] > 0 {
			all[k] = drawSeed(seed, used[stream]-1)
		}
		used[stream]++
	}
	return all
}

// drawSeed is the seed of draws of scale k of several.
func drawSeed(seed uint64, k int) uint64 {
	return uint64(rng.Derive(seed, fmt.Sprintf("scale %d", k+1)))
}

func (c *sumCovariance) Cross(rows, cols []int) solve.Operator {
	o := make(sumOperator, len(c.terms))
	for k, t := range c.terms {
		o[k] = t.Cross(rows, cols)
	}
	return o
}

// sumOperator is a sum of operators of the same size.
type sumOperator []solve.Operator

func (o sumOperator) Dims() (r, c int) { return o[0].Dims() }

func (o sumOperator) Apply(ctx context.Context, dst, x *mat.Dense) error {
	if err := o[0].Apply(ctx, dst, x); err != nil {
		return err
	}
	rows, columns := dst.Dims()
	if rows == 0 || columns == 0 {
		return nil
	}
	var one *mat.Dense
	for _, part := range o[1:] {
		if r, ok := part.(*rankOneCross); ok {
			r.add(dst, x)
			continue
		}
		if one == nil {
			one = mat.NewDense(rows, columns, nil)
		}
		if err := part.Apply(ctx, one, x); err != nil {
			return err
		}
		addRows(dst, one)
	}
	return nil
}

func (c *sumCovariance) Gram(ctx context.Context, dst *mat.SymDense, rows []int) error {
	if err := c.terms[0].Gram(ctx, dst, rows); err != nil {
		return err
	}
	var one *mat.SymDense
	for _, t := range c.terms[1:] {
		if r, ok := t.Covariance.(*rankOne); ok {
			r.addGram(dst, rows)
			continue
		}
		if one == nil {
			one = mat.NewSymDense(len(rows), nil)
		}
		if err := t.Gram(ctx, one, rows); err != nil {
			return err
		}
		dst.AddSym(dst, one)
	}
	return nil
}

func (c *sumCovariance) Diag(ctx context.Context, dst []float64, rows []int) error {
	if err := c.terms[0].Diag(ctx, dst, rows); err != nil {
		return err
	}
	one := make([]float64, len(rows))
	for _, t := range c.terms[1:] {
		if r, ok := t.Covariance.(*rankOne); ok {
			r.addDiag(dst, rows)
			continue
		}
		if err := t.Diag(ctx, one, rows); err != nil {
			return err
		}
		for a, v := range one {
			dst[a] += v
		}
	}
	return nil
}

func (c *sumCovariance) Prior(ctx context.Context, dst *mat.Dense, seed uint64) error {
	seeds := c.seeds(seed)
	if err := c.terms[0].Prior(ctx, dst, seeds[0]); err != nil {
		return err
	}
	return c.addPriors(ctx, dst, seeds, 1)
}

// addPriors adds draws of the terms from the given one on.
func (c *sumCovariance) addPriors(ctx context.Context, dst *mat.Dense, seeds []uint64, first int) error {
	var one *mat.Dense
	for k, t := range c.terms {
		if k < first {
			continue
		}
		if r, ok := t.Covariance.(*rankOne); ok {
			r.addPrior(dst, seeds[k])
			continue
		}
		if one == nil {
			one = mat.NewDense(dst.RawMatrix().Rows, dst.RawMatrix().Cols, nil)
		}
		if err := t.Prior(ctx, one, seeds[k]); err != nil {
			return err
		}
		addRows(dst, one)
	}
	return nil
}

func (c *sumCovariance) Grad(ctx context.Context, grad []float64, rows []int, u, w *mat.Dense) error {
	for _, t := range c.terms {
		if err := t.Grad(ctx, t.grad(grad), rows, u, w); err != nil {
			return err
		}
	}
	return nil
}

func (c *sumCovariance) GramGrad(ctx context.Context, grad []float64, rows []int, g *mat.SymDense) error {
	for _, t := range c.terms {
		if err := t.GramGrad(ctx, t.grad(grad), rows, g); err != nil {
			return err
		}
	}
	return nil
}
