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
// A kernel that can compute some rows of all nodes by themselves (kernel.WindowOf) does
// so. Others, on small graphs mostly, compute all rows, of which the part is cut out.
type places struct {
	nodes  []int
	lo, hi int
	all    bool // nodes are all nodes of the kernel, or those that this rank has of it, in order
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
	l := p.wholeList(nodes)
	l.lo, l.hi = lo, hi
	return l, p.checkNodes(nodes)
}

// wholeList is all of a list.
func (p *Posterior) wholeList(nodes []int) places {
	_, first, end := p.Ranks()
	return places{nodes, 0, len(nodes), inOrder(nodes, first, end)}
}

func (l places) len() int    { return l.hi - l.lo }
func (l places) empty() bool { return l.lo == l.hi }

// window returns the rows of the part among those of all nodes; nil if the part is the
// whole list, if the list is another one, or if the kernel has no windows.
func (l places) window(cov kernel.Covariance) kernel.Window {
	return kernel.WindowOf(cov, l.nodes, l.lo, l.hi)
}

// product returns K[nodes, x]·v at the part, where x are the measurements.
func (l places) product(ctx context.Context, p *Posterior, cov kernel.Covariance, v []float64) ([]float64, error) {
	out, err := kernel.CrossPart(ctx, cov, l.nodes, l.lo, l.hi, p.data.Nodes, mat.NewDense(len(v), 1, v))
	if err != nil {
		return nil, err
	}
	if raw := out.RawMatrix(); raw.Stride == 1 {
		return raw.Data[:l.len():l.len()], nil
	}
	own := make([]float64, l.len())
	for i := range own {
		own[i] = out.At(i, 0)
	}
	return own, nil
}

// diag sets dst to the diagonal of the covariance at the part.
func (l places) diag(ctx context.Context, dst []float64, cov kernel.Covariance) error {
	if w := l.window(cov); w != nil {
		return w.Diag(ctx, dst)
	}
	if l.len() == len(l.nodes) {
		return cov.Diag(ctx, dst, l.nodes)
	}
	all := make([]float64, len(l.nodes))
	err := cov.Diag(ctx, all, l.nodes)
	copy(dst, all[l.lo:l.hi])
	return err
}

// cut returns the rows of a block of the whole list, from place lo on, that are in the
// part, and where they begin there; nil if there are none.
func (l places) cut(lo int, rows *mat.Dense) (int, *mat.Dense) {
	n, columns := rows.Dims()
	from, to := max(lo, l.lo), min(lo+n, l.hi)
	if from >= to {
		return 0, nil
	}
	return from - l.lo, rows.Slice(from-lo, to-lo, 0, columns).(*mat.Dense)
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
// number of nodes in its block, of which all columns are computed.
func (p *Posterior) crossOf(ctx context.Context, l places, b piece) (*mat.Dense, error) {
	if w := l.window(p.cov); w != nil && b.from == 0 && b.to == len(l.nodes) && len(l.nodes) > p.data.Len() {
		own := mat.NewDense(l.len(), p.data.Len(), nil)
		if err := kernel.Entries(ctx, own, w.Cross(p.data.Nodes)); err != nil {
			return nil, err
		}
		return transposed(own), nil
	}
	cross, err := p.cross(ctx, l.nodes[b.from:b.to])
	if err != nil || b.lo == b.from && b.hi == b.to {
		return cross, err
	}
	t, _ := cross.Dims()
	return mat.DenseCopyOf(cross.Slice(0, t, b.lo-b.from, b.hi-b.from)), nil
}
