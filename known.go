package grfgp

import (
	"context"
	"fmt"
	"math"
	"strings"

	"gonum.org/v1/gonum/mat"

	"grfgp/covariate"
	"grfgp/kernel"
)

// block is a group of columns that are known at every node. Kernels over covariates
// give each block a length scale of its own. A kernel does not change if the columns of
// a block are rotated.
type block struct {
	name   string
	x      *mat.Dense // in smooth terms
	linear linearTerm
	in     *mat.Dense // in linear terms; nil: x
}

// linearTerm is the linear term that a block is part of. The coefficients of a linear
// term share a prior variance.
type linearTerm int

const (
	ofColumns     linearTerm = iota // covariates
	ofSurround                      // neighbours' covariates, structural numbers
	ofConnections                   // which nodes one is joined to
	ofWords
	ofSpreadWords
	linearTerms // number of linear terms
)

// linearNames are the last parts of the paths of their variances.
var linearNames = []string{"columns", "neighbours", "connections", "words", "words nearby"}

const (
	directions = 64  // dimensions of connections and of words, at most
	pairsMany  = 256 // pairs of Fourier features of a smooth term, where the covariance of measurements is not factored
)

// known holds the blocks of a Trainer, computed when first used.
type known struct {
	covariates, roles []block
	notes             []string // about roles
	done              Terms
}

// blocks returns the blocks of the given terms. The caller holds b.mu.
func (b *workshop) blocks(ctx context.Context, of Terms) ([]block, error) {
	if of.Has(CovariateTerm) && !b.known.done.Has(CovariateTerm) {
		if b.spec.Covariates == nil {
			return nil, fmt.Errorf("%w: the kernel has a term of covariates, and no covariates are given; give the columns with which it was made",
				ErrSpec)
		}
		own, err := b.covariateBlocks(ctx, b.spec.Covariates)
		if err != nil {
			return nil, err
		}
		b.known.covariates, b.known.done = own, b.known.done|CovariateTerm
	}
	if of.Has(RoleTerm) && !b.known.done.Has(RoleTerm) {
		own, err := b.roleBlocks(ctx)
		if err != nil {
			return nil, err
		}
		b.known.roles, b.known.done = own, b.known.done|RoleTerm
	}
	var all []block
	if of.Has(CovariateTerm) {
		all = append(all, b.known.covariates...)
	}
	if of.Has(RoleTerm) {
		all = append(all, b.known.roles...)
	}
	return all, nil
}

// covariateBlocks returns a block per source column, one of the neighbours' means of
// all columns, one of the words, and one of the words in the wider neighbourhood.
func (b *workshop) covariateBlocks(ctx context.Context, s *covariate.Set) ([]block, error) {
	var all []block
	if s.X != nil {
		for g, name := range s.Groups {
			var columns []int
			for d, of := range s.Group {
				if of == g {
					columns = append(columns, d)
				}
			}
			all = append(all, block{name, selectColumns(s.X, columns), ofColumns, nil})
		}
		all = append(all, block{"neighbours' columns", standardised(s.Neighbourhood(b.graph)), ofSurround, nil})
	}
	if s.Words != nil {
		own, err := s.WordVectors(ctx, directions)
		if err != nil {
			return nil, err
		}
		spread, err := s.SpreadWordVectors(ctx, b.graph, directions)
		if err != nil {
			return nil, err
		}
		all = append(all, block{"words", own, ofWords, nil}, block{"words nearby", spread, ofSpreadWords, nil})
	}
	return present(all), nil
}

// roleBlocks returns a block of structural numbers, the node's own and its neighbours'
// means of them, and one of the nodes that one is joined to.
func (b *workshop) roleBlocks(ctx context.Context) ([]block, error) {
	r, err := covariate.RolesOf(ctx, b.graph, covariate.RolesOptions{})
	if err != nil {
		return nil, err
	}
	var all []block
	if r.Numbers != nil {
		around := (&covariate.Set{Nodes: b.graph.Len(), X: r.Numbers, Names: r.Names}).Neighbourhood(b.graph)
		all = append(all, block{"structure", beside(r.Numbers, standardised(around)), ofSurround, nil})
	}
	var joined, vectors []*mat.Dense
	for _, v := range []*covariate.Vectors{r.Adjacency, r.Normalized} {
		if v != nil {
			joined, vectors = append(joined, v.Directions(directions)), append(vectors, v.X)
		}
	}
	if len(joined) > 0 {
		all = append(all, block{"connections", beside(joined...), ofConnections, beside(vectors...)})
	}
	b.known.notes = r.Notes
	return present(all), nil
}

// present returns the blocks that have columns.
func present(all []block) []block {
	var some []block
	for _, b := range all {
		if b.x != nil && b.x.RawMatrix().Cols > 0 {
			some = append(some, b)
		}
	}
	return some
}

// selectColumns returns some of the columns of x.
func selectColumns(x *mat.Dense, columns []int) *mat.Dense {
	n, _ := x.Dims()
	y := mat.NewDense(n, len(columns), nil)
	for i := range n {
		from, to := x.RawRowView(i), y.RawRowView(i)
		for k, d := range columns {
			to[k] = from[d]
		}
	}
	return y
}

// beside returns matrices side by side.
func beside(parts ...*mat.Dense) *mat.Dense {
	n, d := 0, 0
	for _, p := range parts {
		rows, cols := p.Dims()
		n, d = rows, d+cols
	}
	x := mat.NewDense(n, d, nil)
	for i := range n {
		row := x.RawRowView(i)
		for _, p := range parts {
			row = row[copy(row, p.RawRowView(i)):]
		}
	}
	return x
}

// standardised returns the columns of x with mean 0 and variance 1, clipped at ±4, and
// without constant columns; x may be changed.
func standardised(x *mat.Dense) *mat.Dense {
	if x == nil {
		return nil
	}
	n, d := x.Dims()
	var kept []int
	for k := range d {
		mean, square := 0.0, 0.0
		for i := range n {
			mean += x.At(i, k) / float64(n)
		}
		for i := range n {
			v := x.At(i, k) - mean
			square += v * v / float64(n)
		}
		sd := math.Sqrt(square)
		if sd < 1e-9 {
			continue
		}
		kept = append(kept, k)
		for i := range n {
			x.Set(i, k, max(-4, min(4, (x.At(i, k)-mean)/sd)))
		}
	}
	return selectColumns(x, kept)
}

// knownKernel is the part of a kernel over covariates and roles, term by term.
type knownKernel struct {
	path   string // of its hyperparameters: covariates, roles or covariates+roles
	blocks []block
	linear []linearPart
	smooth kernel.Kernel // of all blocks together
}

type linearPart struct {
	of     linearTerm
	kernel kernel.Kernel
	scale  float64 // of the columns in the kernel
}

// knownKernel returns the kernels of the given terms: a linear one for each kind of
// block, with a mean variance of one over the nodes at s² = 1, and a smooth one of all
// blocks together, in which every block has a length. Without pairs the smooth kernel is
// exact. The caller holds b.mu.
func (b *workshop) knownKernel(ctx context.Context, of Terms, pairs int) (*knownKernel, error) {
	key := knownKey{of, pairs}
	if k := b.knownKernels[key]; k != nil {
		return k, nil
	}
	blocks, err := b.blocks(ctx, of)
	if err != nil {
		return nil, err
	}
	if len(blocks) == 0 {
		return nil, fmt.Errorf("%w: covariates and roles are the same at all nodes; leave them out", ErrSpec)
	}
	k := newKnownKernel(blocks, pairs, b.spec.Seed)
	k.path = strings.Join(of.Names(), "+")
	if b.training > 0 { // the next candidate is likely to have the same terms
		if b.knownKernels == nil {
			b.knownKernels = map[knownKey]*knownKernel{}
		}
		b.knownKernels[key] = k
	}
	return k, nil
}

// knownKey identifies the kernels of Terms over what is known about nodes.
type knownKey struct {
	of    Terms
	pairs int
}

func newKnownKernel(blocks []block, pairs int, seed uint64) *knownKernel {
	k := &knownKernel{blocks: blocks}
	for term := range linearTerms {
		var parts []*mat.Dense
		for _, b := range blocks {
			switch {
			case b.linear == term && b.in != nil:
				parts = append(parts, b.in)
			case b.linear == term:
				parts = append(parts, b.x)
			}
		}
		if len(parts) == 0 {
			continue
		}
		x := beside(parts...)
		scale := 1 / math.Sqrt(max(meanSquareLength(x), 1e-12))
		x.Scale(scale, x)
		k.linear = append(k.linear, linearPart{term, kernel.Linear(x, linearNames[term]), scale})
	}
	var all []*mat.Dense
	var group []int
	var names []string
	for g, b := range blocks {
		all, names = append(all, b.x), append(names, b.name)
		for range b.x.RawMatrix().Cols {
			group = append(group, g)
		}
	}
	if pairs > 0 {
		k.smooth = kernel.Fourier(beside(all...), group, kernel.Matern32, pairs, seed, names...)
	} else {
		k.smooth = kernel.Smooth(beside(all...), group, kernel.Matern32, names...)
	}
	return k
}

// meanSquareLength is the mean of the squared lengths of rows.
func meanSquareLength(x *mat.Dense) float64 {
	n, _ := x.Dims()
	sum := 0.0
	for i := range n {
		for _, v := range x.RawRowView(i) {
			sum += v * v / float64(n)
		}
	}
	return sum
}

// kernels returns all terms of the sum.
func (k *knownKernel) kernels() []kernel.Kernel {
	var all []kernel.Kernel
	for _, l := range k.linear {
		all = append(all, kernel.Named(k.path, l.kernel))
	}
	return append(all, kernel.Named(k.path, k.smooth))
}
