package gp

import (
	"context"
	"fmt"

	"gonum.org/v1/gonum/mat"

	"grfgp/kernel"
)

// places is the places [lo, hi) of a list of nodes, of which one of several processes
// computes the predictions. They are the bits that the whole list has there: what depends
// on the length of a list, such as whether variances are exact, and blocks of nodes, is
// decided for all of it.
//
// A kernel that computes some rows by themselves (kernel.ByRows) does so. Others, on small graphs mostly, compute all
// rows, of which the part is cut out.
type places struct {
	nodes  []int
	lo, hi int
}

// places returns the part [lo, hi) of a list, or an error for a node that the kernel does
// not have.
func (p *Posterior) places(nodes []int, lo, hi int) (places, error) {
	if lo < 0 || hi < lo || hi > len(nodes) {
		return places{}, fmt.Errorf("places [%d, %d) of a list of %d nodes", lo, hi, len(nodes))
	}
	if p.share != nil { // of which this rank has its own nodes alone
		nodes, lo, hi = nodes[lo:hi], 0, hi-lo
	}
	return places{nodes, lo, hi}, p.checkNodes(nodes)
}

// wholeList is all of a list.
func wholeList(nodes []int) places { return places{nodes, 0, len(nodes)} }

func (l places) len() int    { return l.hi - l.lo }
func (l places) empty() bool { return l.lo == l.hi }

// diag sets dst to the diagonal of the covariance at the part.
func (l places) diag(ctx context.Context, dst []float64, cov kernel.Covariance) error {
	if kernel.ByRows(cov) {
		return cov.Diag(ctx, dst, l.nodes[l.lo:l.hi])
	}
	all := make([]float64, len(l.nodes))
	err := cov.Diag(ctx, all, l.nodes)
	copy(dst, all[l.lo:l.hi])
	return err
}

// piece is the places [lo, hi) of a part in a block [from, to) of the whole list.
type piece struct{ lo, hi, from, to int }

// each calls do for the blocks of the whole list, of the given size, that the part has
// places of.
func (l places) each(size int, do func(b piece) error) error {
	for from := l.lo / size * size; from < l.hi; from += size {
		to := min(len(l.nodes), from+size)
		if err := do(piece{max(from, l.lo), min(to, l.hi), from, to}); err != nil {
			return err
		}
	}
	return nil
}

// crossOf returns K[x, nodes] for the nodes of a piece. How it is computed depends on the
// number of nodes in its block, of which all columns are computed unless some rows can be computed by themselves.
func (p *Posterior) crossOf(ctx context.Context, l places, b piece) (*mat.Dense, error) {
	t := p.data.Len()
	if b.to-b.from > t && kernel.ByRows(p.cov) {
		return p.crossRows(ctx, l.nodes[b.lo:b.hi])
	}
	block := l.nodes[b.from:b.to]
	var cross *mat.Dense
	var err error
	if len(block) <= t { // by as few columns as possible
		cross = mat.NewDense(t, len(block), nil)
		err = kernel.Entries(ctx, cross, p.cov, p.data.Nodes, block)
	} else {
		cross, err = p.crossRows(ctx, block)
	}
	if err != nil || b.lo == b.from && b.hi == b.to {
		return cross, err
	}
	return mat.DenseCopyOf(cross.Slice(0, t, b.lo-b.from, b.hi-b.from)), nil
}

// crossRows returns K[nodes, x] transposed.
func (p *Posterior) crossRows(ctx context.Context, nodes []int) (*mat.Dense, error) {
	dst := mat.NewDense(len(nodes), p.data.Len(), nil)
	if err := kernel.Entries(ctx, dst, p.cov, nodes, p.data.Nodes); err != nil {
		return nil, err
	}
	return transposed(dst), nil
}
