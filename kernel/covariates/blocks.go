// Package covariates makes kernels of what is known about nodes: columns of a node table, words, and the roles that the
// graph itself gives.
package covariates

import (
	"context"
	"math"

	"gonum.org/v1/gonum/mat"

	"grfgp/covariate"
	"grfgp/graph"
)

// Block is a group of columns that are known at every node. Kernels over covariates
// give each block a length scale of its own. A kernel does not change if the columns of
// a block are rotated.
type Block struct {
	Name string
	X    *mat.Dense // in smooth terms
	Kind Kind       // of its linear term
	in   *mat.Dense // in linear terms; nil: X
}

// Linear returns the columns in linear terms.
func (b Block) Linear() *mat.Dense {
	if b.in != nil {
		return b.in
	}
	return b.X
}

// Kind is the linear term that a block is part of. The coefficients of a linear
// term share a prior variance.
type Kind int

const (
	OfColumns     Kind = iota // covariates
	ofSurround                // neighbours' covariates, structural numbers
	ofConnections             // which nodes one is joined to
	ofWords
	ofSpreadWords
	kinds // number of them
)

// kindNames are the last parts of the paths of their variances.
var kindNames = []string{"columns", "neighbours", "connections", "words", "words nearby"}

// directions are the dimensions of connections and of words, at most.
const directions = 64

// OfSet returns a block per source column, one of the neighbours' means of
// all columns, one of the words, and one of the words in the wider neighbourhood.
func OfSet(ctx context.Context, s *covariate.Set, g *graph.Graph) ([]Block, error) {
	var all []Block
	if s.X != nil {
		for k, name := range s.Groups {
			var columns []int
			for d, of := range s.Group {
				if of == k {
					columns = append(columns, d)
				}
			}
			all = append(all, Block{name, selectColumns(s.X, columns), OfColumns, nil})
		}
		all = append(all, Block{"neighbours' columns", standardised(s.Neighbourhood(g)), ofSurround, nil})
	}
	if s.Words != nil {
		own, err := s.WordVectors(ctx, directions)
		if err != nil {
			return nil, err
		}
		spread, err := s.SpreadWordVectors(ctx, g, directions)
		if err != nil {
			return nil, err
		}
		all = append(all, Block{"words", own, ofWords, nil}, Block{"words nearby", spread, ofSpreadWords, nil})
	}
	return present(all), nil
}

// OfRoles returns a block of structural numbers, the node's own and its neighbours'
// means of them, and one of the nodes that one is joined to.
func OfRoles(ctx context.Context, g *graph.Graph) ([]Block, error) {
	r, err := covariate.RolesOf(ctx, g, covariate.RolesOptions{})
	if err != nil {
		return nil, err
	}
	var all []Block
	if r.Numbers != nil {
		around := (&covariate.Set{Nodes: g.Len(), X: r.Numbers, Names: r.Names}).Neighbourhood(g)
		all = append(all, Block{"structure", Beside(r.Numbers, standardised(around)), ofSurround, nil})
	}
	var joined, vectors []*mat.Dense
	for _, v := range []*covariate.Vectors{r.Adjacency, r.Normalized} {
		if v != nil {
			joined, vectors = append(joined, v.Directions(directions)), append(vectors, v.X)
		}
	}
	if len(joined) > 0 {
		all = append(all, Block{"connections", Beside(joined...), ofConnections, Beside(vectors...)})
	}
	return present(all), nil
}

// present returns the blocks that have columns.
func present(all []Block) []Block {
	var some []Block
	for _, b := range all {
		if b.X != nil && b.X.RawMatrix().Cols > 0 {
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

// Beside returns matrices side by side.
func Beside(parts ...*mat.Dense) *mat.Dense {
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
