package kernel

import (
	"context"
	"fmt"
	"slices"

	"gonum.org/v1/gonum/mat"

	"grfgp/internal/parallel"
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
	for _, k := range s.terms {
		s.params = appendNamed(s.params, k.Params())
	}
	return s
}

// appendNamed appends parameters; names that are taken get a number.
func appendNamed(all, more []Param) []Param {
	taken := func(name string) bool {
		return slices.ContainsFunc(all, func(p Param) bool { return p.Name == name })
	}
	for _, p := range more {
		name := p.Name
		for k := 2; taken(p.Name); k++ {
			p.Name = fmt.Sprintf("%s (%d)", name, k)
		}
		all = append(all, p)
	}
	return all
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
	cached := false
	lo := 0
	for _, term := range s.terms {
		own := TrainingOf(term)
		for _, theta := range own.Starts {
			start := slices.Clone(first)
			copy(start[lo:], theta)
			t.Starts = append(t.Starts, start)
		}
		cached = cached || own.Cache != nil
		lo += len(term.Params())
	}
	if cached {
		t.Cache = func(rows []int, maxBytes int) Kernel {
			return &sum{cachedAll(s.terms, rows, maxBytes), s.params}
		}
		t.CacheBytes = cacheBytesOf(s.terms...)
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
func plus(c Covariance, extra *constant) Covariance {
	if s, ok := c.(*sumCovariance); ok {
		return &sumCovariance{append(slices.Clone(s.terms), sumTerm{extra, 0, 0}), s.nodes}
	}
	return &sumCovariance{terms: []sumTerm{{c, 0, -1}, {extra, 0, 0}}}
}

// split returns the constants and the other terms.
func (c *sumCovariance) split() (main []sumTerm, constants []*constant) {
	for _, t := range c.terms {
		if one, ok := t.Covariance.(*constant); ok {
			constants = append(constants, one)
		} else {
			main = append(main, t)
		}
	}
	return main, constants
}

// streamed is a covariance whose draws use other streams of random numbers of a seed
// than most covariances do, which draw from their own alone.
type streamed interface{ randomStreams() []string }

// streamsOf returns the names of the streams that c uses; "" stands for that of most.
func streamsOf(c Covariance) []string {
	if own, ok := c.(streamed); ok {
		return own.randomStreams()
	}
	return []string{""}
}

// randomStreams implements streamed.
func (c *sumCovariance) randomStreams() []string {
	var all []string
	for _, t := range c.terms {
		all = append(all, streamsOf(t.Covariance)...)
	}
	return all
}

// adder is a covariance that adds its entries to those of others.
type adder interface {
	// addGram adds K[rows, rows] to the upper triangle of dst.
	addGram(ctx context.Context, dst *mat.SymDense, rows []int) error
}

// seeds returns a seed per term. Terms that draw from the same stream of random
// numbers get different ones.
func (c *sumCovariance) seeds(seed uint64) []uint64 {
	all, used := make([]uint64, len(c.terms)), map[string]int{}
	for k, t := range c.terms {
		streams, before := streamsOf(t.Covariance), 0
		for _, stream := range streams {
			before = max(before, used[stream])
		}
		for _, stream := range streams {
			used[stream] = before + 1
		}
		if all[k] = seed; before > 0 {
			all[k] = uint64(rng.Derive(seed, fmt.Sprintf("term %d", before)))
		}
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
		if r, ok := part.(*constantCross); ok {
			if err := r.add(ctx, dst, x); err != nil {
				return err
			}
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
		if r, ok := t.Covariance.(adder); ok {
			if err := r.addGram(ctx, dst, rows); err != nil {
				return err
			}
			continue
		}
		if one == nil {
			one = borrowSymmetric(len(rows))
			defer giveBack(one)
		}
		if err := t.Gram(ctx, one, rows); err != nil {
			return err
		}
		addUpper(dst, one)
	}
	return nil
}

// addUpper adds the upper triangle of x to that of dst.
func addUpper(dst, x *mat.SymDense) {
	to, from := dst.RawSymmetric(), x.RawSymmetric()
	parallel.Ranges(to.N, 64, func(lo, hi int) {
		for a := lo; a < hi; a++ {
			row := to.Data[a*to.Stride+a:][:to.N-a]
			for b, v := range from.Data[a*from.Stride+a:][:to.N-a] {
				row[b] += v
			}
		}
	})
}

func (c *sumCovariance) Diag(ctx context.Context, dst []float64, rows []int) error {
	if err := c.terms[0].Diag(ctx, dst, rows); err != nil {
		return err
	}
	one := make([]float64, len(rows))
	for _, t := range c.terms[1:] {
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
		if r, ok := t.Covariance.(*constant); ok {
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
