package covariate

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"grfgp/graph"
	"grfgp/internal/parallel"
)

// EmbeddingBySize returns how many columns WordVectors, SpreadWordVectors and
// Vectors.Directions return by default for n nodes: 64 up to 50,000 nodes, then fewer, 24 from
// 133,000 nodes on, such that they take at most 256 MB.
func EmbeddingBySize(n int) int {
	const (
		most    = 64
		full    = 50_000  // nodes up to which there are most
		few     = 24      // that are affordable whatever the work,
		numbers = 1 << 25 // within this many numbers
	)
	return min(most, max(few, most*full/max(1, n)), numbers/max(1, n))
}

// WordVectors returns a row of at most most numbers per node such that nodes with related
// words have similar rows, whether they share words or not: latent semantic analysis. They are
// the leading left singular vectors times singular values of Words less the mean row of the nodes
// with words, with rows scaled to length √k for k columns, so that a column has a mean square
// of about 1. The dot product of two rows over k is the cosine of two nodes' denoised words.
//
// Rows of nodes without words are zero. Most 0 means EmbeddingBySize; there are fewer columns
// if the rank, a quarter of the nodes or the vocabulary is smaller. Columns of equal singular
// values are taken or left out together, unless that would leave out half of them. The result is
// nil without words, or where all nodes with words have the same words.
//
// A randomised block method finds the vectors from a fixed seed: the same bits at any number of
// threads. Leading vectors are exact to several digits; the last ones may be mixed with vectors of
// nearly the same singular value, more so at a million nodes.
func (s *Set) WordVectors(ctx context.Context, most int) (*mat.Dense, error) {
	return s.wordVectors(ctx, nil, most)
}

// SpreadWordVectors is WordVectors of words that are spread over the graph: of S times the words
// less their mean, where
//
//	S = (1 − a)·Σ_k a^k·P^k,  a = 0.9,  P = (D + L)⁻¹(A + L),
//
// is where a random walk ends that stops at every step with probability 0.1 (personalised
// PageRank): a row tells the words of a node's wider neighbourhood. L are loops; that of a
// node weighs as much as its edges do on average (1 if there are none or all weights are 1), so a
// walk at a node with d neighbours stays for a step with probability 1/(d + 1).
//
// S is a Chebyshev polynomial of degree 16 in P, whose rows sum to 1 and which differs from the
// series by at most 0.0005 in the norm that weighs nodes by D + L.
// Rows are zero at nodes without words in their component. It panics unless g has
// the nodes of the set.
func (s *Set) SpreadWordVectors(ctx context.Context, g *graph.Graph, most int) (*mat.Dense, error) {
	s.checkNodes(g)
	return s.wordVectors(ctx, g, most)
}

// wordVectors spreads words unless g is nil.
func (s *Set) wordVectors(ctx context.Context, g *graph.Graph, most int) (*mat.Dense, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if most <= 0 {
		most = EmbeddingBySize(s.Nodes)
	}
	want := min(most, s.Nodes/4, len(s.Vocabulary))
	if s.Words == nil || want == 0 {
		return nil, nil
	}
	a := newWordOperator(s.Words, g)
	if a == nil {
		return nil, nil
	}
	p, err := a.leading(ctx, want)
	if err != nil {
		return nil, fmt.Errorf("word vectors: %w", err)
	}
	if p == nil {
		return nil, nil
	}
	out := mat.NewDense(s.Nodes, len(p.kept), nil)
	parallel.Ranges(s.Nodes, rowBlock, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			from, row := p.v.RawRowView(i), out.RawRowView(i)
			for to, k := range p.kept {
				row[to] = p.values[k] * from[k]
			}
		}
	})
	unitRows(out)
	return out, nil
}

// Directions returns the first columns of X, before they were bounded, times the magnitudes of their
// eigenvalues, with rows scaled to length √k for k columns; rows of zeros stay zero. The dot
// product of two rows over k is then the cosine of two rows of the denoised matrix, which
// the vectors make up: of 1 if two nodes are joined to the same nodes, except
// for what is taken for noise. It depends neither on signs nor on the basis within a group of equal
// singular values, and it needs no clipping, because it does not grow at hubs.
//
// There are at most most columns, EmbeddingBySize for 0. A group of equal singular
// values is left out unless all its columns fit, except for the first group.
func (v *Vectors) Directions(most int) *mat.Dense {
	n, available := v.X.Dims()
	if most <= 0 {
		most = EmbeddingBySize(n)
	}
	k := min(most, available)
	for k > 0 && k < available && v.Group[k] == v.Group[k-1] {
		k--
	}
	if k == 0 {
		for k = 1; k < available && v.Group[k] == v.Group[0]; k++ {
		}
	}
	out := mat.DenseCopyOf(v.X.Slice(0, n, 0, k))
	for _, c := range v.cuts {
		for at := int(c.first); at < k && v.Group[at] == v.Group[c.first]; at++ {
			out.RawRowView(int(c.node))[at] *= c.by
		}
	}
	largest := math.Abs(v.Values[0])
	parallel.Ranges(n, rowBlock, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			for c, row := 0, out.RawRowView(i); c < k; c++ {
				row[c] *= math.Abs(v.Values[c]) / largest
			}
		}
	})
	unitRows(out)
	return out
}

// unitRows scales the rows of x to length √k for k columns. Rows of less than a millionth of
// the longest hold nothing but rounding and become zero.
func unitRows(x *mat.Dense) {
	n, k := x.Dims()
	lengths := make([]float64, n)
	longest := 0.0
	for i := range lengths {
		lengths[i] = mat.Norm(x.RowView(i), 2)
		longest = max(longest, lengths[i])
	}
	parallel.Ranges(n, rowBlock, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			f := 0.0
			if lengths[i] > 1e-6*longest {
				f = math.Sqrt(float64(k)) / lengths[i]
			}
			for c, row := 0, x.RawRowView(i); c < k; c++ {
				row[c] *= f
			}
		}
	})
}
