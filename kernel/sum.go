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
	nodes int
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
func plus(c, extra Covariance) Covariance {
	if s, ok := c.(*sumCovariance); ok {
		return &sumCovariance{terms: append(slices.Clone(s.terms), sumTerm{extra, 0, 0}), nodes: s.nodes}
	}
	return &sumCovariance{terms: []sumTerm{{c, 0, -1}, {extra, 0, 0}}, nodes: c.Nodes()}
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

func (c *sumCovariance) Nodes() int { return c.nodes }

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
	return sumUp(dst, len(o), func(k int, to *mat.Dense) error { return o[k].Apply(ctx, to, x) })
}

// sumUp sets dst to the sum of what set returns for each of so many terms.
func sumUp(dst *mat.Dense, terms int, set func(k int, to *mat.Dense) error) error {
	if err := set(0, dst); err != nil || dst.IsEmpty() {
		return err
	}
	var one *mat.Dense
	for k := 1; k < terms; k++ {
		if one == nil {
			one = mat.NewDense(dst.RawMatrix().Rows, dst.RawMatrix().Cols, nil)
		}
		if err := set(k, one); err != nil {
			return err
		}
		addRows(dst, one)
	}
	return nil
}

// addRows sets dst += x.
func addRows(dst, x *mat.Dense) {
	to, from := dst.RawMatrix(), x.RawMatrix()
	everyRow(to.Rows, 4096, func(i int) {
		row := to.Data[i*to.Stride:][:to.Cols]
		for s, v := range from.Data[i*from.Stride:][:from.Cols] {
			row[s] += v
		}
	})
}

func (c *sumCovariance) entries(ctx context.Context, dst *mat.Dense, rows, cols []int) error {
	return sumUp(dst, len(c.terms), func(k int, to *mat.Dense) error { return Entries(ctx, to, c.terms[k].Covariance, rows, cols) })
}

func (c *sumCovariance) Gram(ctx context.Context, dst *mat.SymDense, rows []int) error {
	if err := c.terms[0].Gram(ctx, dst, rows); err != nil {
		return err
	}
	return addGrams(ctx, dst, rows, c.terms[1:])
}

// addGrams adds the entries of terms to the upper triangle of dst.
func addGrams(ctx context.Context, dst *mat.SymDense, rows []int, terms []sumTerm) error {
	var one *mat.SymDense
	for _, t := range terms {
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

// adder is a covariance that adds its entries to those of others.
type adder interface {
	// addGram adds K[rows, rows] to the upper triangle of dst.
	addGram(ctx context.Context, dst *mat.SymDense, rows []int) error
}

// addUpper adds the upper triangle of x to that of dst.
func addUpper(dst, x *mat.SymDense) {
	to, from := dst.RawSymmetric(), x.RawSymmetric()
	everyRow(to.N, 64, func(a int) {
		row := to.Data[a*to.Stride+a:][:to.N-a]
		for b, v := range from.Data[a*from.Stride+a:][:to.N-a] {
			row[b] += v
		}
	})
}

func (c *sumCovariance) Diag(ctx context.Context, dst []float64, rows []int) error {
	clear(dst)
	for _, t := range c.terms {
		if err := addDiag(ctx, t.Covariance, dst, rows); err != nil {
			return err
		}
	}
	return nil
}

func (c *sumCovariance) Prior(ctx context.Context, dst *mat.Dense, seed uint64) error {
	seeds := c.seeds(seed)
	return sumUp(dst, len(c.terms), func(k int, to *mat.Dense) error { return c.terms[k].Prior(ctx, to, seeds[k]) })
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

// upTo returns the nodes 0 … n−1.
func upTo(n int) []int {
	all := make([]int, n)
	for i := range all {
		all[i] = i
	}
	return all
}
