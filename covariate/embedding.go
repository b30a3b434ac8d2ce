package covariate

import (
	"context"
	"fmt"
	"math"
	"slices"

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
// nearly the same singular value, more so from some 20,000 nodes on, where three or four products with the
// matrix and its transpose have to do.
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
// series by at most 0.001 in the norm that weighs nodes by D + L.
// Rows are zero at nodes without words within 16 hops. It panics unless g has
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
	return directions(p.v, p.values[:len(p.kept)]), nil
}

// Directions returns the first vectors, as they are before X is scaled, times the magnitudes of their
// eigenvalues, with rows scaled to length √k for k columns; rows of zeros stay zero. The dot
// product of two rows over k is the cosine of two rows of the denoised matrix, which
// the vectors and eigenvalues make up. It is 1 if two nodes are joined to the same nodes, except
// for what counts as noise. It depends neither on the signs of vectors nor on the basis within a group of
// equal singular values, and rows are bounded at hubs as elsewhere.
//
// There are at most most columns, EmbeddingBySize for 0. A group of equal singular
// values is left out unless all its columns fit, except for the first group.
func (v *Vectors) Directions(most int) *mat.Dense {
	n, available := v.unscaled.Dims()
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
	sizes := make([]float64, k)
	for c := range sizes {
		sizes[c] = math.Abs(v.Values[c] / v.Values[0])
	}
	return directions(v.unscaled, sizes)
}

// directions returns the first columns of x times sizes, with rows of length √k for k sizes. Rows of
// less than a millionth of the longest hold nothing but rounding and become zero.
func directions(x *mat.Dense, sizes []float64) *mat.Dense {
	n, _ := x.Dims()
	out, lengths := mat.NewDense(n, len(sizes), nil), make([]float64, n)
	parallel.Ranges(n, rowBlock, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			from, row := x.RawRowView(i), out.RawRowView(i)
			for c, size := range sizes {
				row[c] = size * from[c]
			}
			lengths[i] = length(row)
		}
	})
	least := 1e-6 * slices.Max(lengths)
	parallel.Ranges(n, rowBlock, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			f := 0.0
			if lengths[i] > least {
				f = math.Sqrt(float64(len(sizes))) / lengths[i]
			}
			multiply(out.RawRowView(i), f)
		}
	})
	return out
}
