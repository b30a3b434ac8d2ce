package covariate

import (
	"context"
	"fmt"

	"gonum.org/v1/gonum/mat"

	"grfgp/graph"
	"grfgp/internal/plural"
)

// Roles are covariates that the graph itself gives: they describe the position of a
// node by which nodes it is joined to, not by what is near. They use no
// measurements, so they may be computed once and shared by all folds of a
// cross-validation.
type Roles struct {
	// Numbers has a row per node and a column per structural number, standardised to mean 0
	// and variance 1 and clipped at ±4; nil if none differs between nodes.
	Numbers *mat.Dense
	// Names names the columns of Numbers, such as "log degree".
	Names []string
	// Adjacency and Normalized are leading singular vectors of A and of D^-½AD^-½; nil means none.
	Adjacency, Normalized *Vectors
	// Notes say in words what was computed and what was left out.
	Notes []string
}

// RolesOptions are the options of RolesOf. The zero value means a number of vectors
// that suits the size of the graph.
type RolesOptions struct {
	Vectors int // most singular vectors of each matrix; 0 means by size, see VectorsBySize; negative means none
}

// VectorsBySize returns how many singular vectors of each matrix RolesOf computes for
// a graph of n nodes: 128 up to 50,000 nodes, then fewer, 16 at a million, such that the columns of
// both matrices take at most 256 MB, and as much again for Directions; never more than n/4.
func VectorsBySize(n int) int {
	const (
		most    = 128
		full    = 50_000  // nodes up to which there are most
		few     = 16      // that are affordable whatever the work,
		numbers = 1 << 24 // within this many numbers in the vectors of one matrix
	)
	if n == 0 {
		return 0
	}
	return min(most, max(few, most*full/n), numbers/n, n/4)
}

// Most comparisons spent on triangles: some seconds.
const triangleWork = 2_000_000_000

// RolesOf computes the roles of all nodes. They depend on the structure and the weights
// of the graph; ids have no effect except through the order of nodes, which decides
// signs, bases of equal singular values, and digits beyond the stated accuracy.
func RolesOf(ctx context.Context, g *graph.Graph, opts RolesOptions) (*Roles, error) {
	r := &Roles{}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	r.number(g)
	want := opts.Vectors
	if want == 0 {
		want = VectorsBySize(g.Len())
	}
	if want < 0 {
		return r, nil
	}
	if err := r.vectors(ctx, g, want); err != nil {
		return nil, fmt.Errorf("roles: %w", err)
	}
	return r, nil
}

// vectors computes the singular vectors of both matrices over the large components.
func (r *Roles) vectors(ctx context.Context, g *graph.Graph, want int) error {
	nodes := largeComponents(g, max(1, want/4))
	if want = min(want, len(nodes)/4); want == 0 {
		r.note("no singular vectors: no connected component is large enough")
		return nil
	}
	if len(nodes) < g.Len() {
		r.note("singular vectors of the %d nodes in large components; zeros at the other %d nodes", len(nodes), g.Len()-len(nodes))
	}
	var err error
	if r.Adjacency, err = singularVectors(ctx, g.Normalized(graph.RawAdjacency), nodes, want); err != nil {
		return err
	}
	r.tell(r.Adjacency, "A", want)
	if proportional(g, nodes) {
		r.note("the vectors of D^-½AD^-½ are those of A, as all nodes have the same weighted degree")
		return nil
	}
	if r.Normalized, err = singularVectors(ctx, g.Normalized(graph.NormalizedAdjacency), nodes, want); err != nil {
		return err
	}
	r.tell(r.Normalized, "D^-½AD^-½", want)
	return nil
}

func (r *Roles) tell(v *Vectors, of string, want int) {
	if v == nil {
		r.note("no singular vectors of %s: too many of its singular values are equal or nearly so", of)
		return
	}
	text := plural.Count(len(v.Values), "singular vectors") + " of " + of
	if len(v.Values) < want {
		text += fmt.Sprintf(" (of %d sought; the others have singular values that are equal or nearly so)", want)
	}
	r.Notes = append(r.Notes, text)
}

func (r *Roles) note(format string, args ...any) {
	r.Notes = append(r.Notes, fmt.Sprintf(format, args...))
}

// largeComponents returns the nodes of the largest connected components, most of them
// at the most, in increasing order. Components of equal size are taken or left out together, because
// nothing but the ids of nodes could choose among them. In D^-½AD^-½, each component has a singular value of 1: with
// thousands of components, these alone would be found.
func largeComponents(g *graph.Graph, most int) []int {
	comp, sizes := g.Components()
	taken := min(most, len(sizes))
	if taken < len(sizes) {
		for taken > 0 && sizes[taken-1] == sizes[taken] {
			taken--
		}
	}
	var nodes []int
	for i, c := range comp {
		if int(c) < taken && sizes[c] > 1 {
			nodes = append(nodes, i)
		}
	}
	return nodes
}

// proportional reports whether D^-½AD^-½ is a multiple of A over nodes.
func proportional(g *graph.Graph, nodes []int) bool {
	d := g.Strengths()
	least, most := d[nodes[0]], d[nodes[0]]
	for _, i := range nodes {
		least, most = min(least, d[i]), max(most, d[i])
	}
	return most-least <= 1e-9*most
}
