package kernel

import (
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"grfgp/kernel/internal/normal"
	"grfgp/solve"
	"grfgp/sparse"
)

// somePhi is Φ at some nodes of a large graph, with the entries that it has at all of
// them (compact), and the columns that these nodes reach.
type somePhi struct {
	rows  []int
	phi   *sparse.Compact
	nodes []uint32 // of the columns, in increasing order
}

// place returns the column of a node, −1 if there is none.
func (s *somePhi) place(node uint32) int {
	if j, found := slices.BinarySearch(s.nodes, node); found {
		return j
	}
	return -1
}

// someRows returns Φ at some nodes, and keeps that used last.
func (c *grfCovariance) someRows(ctx context.Context, rows []int) (*somePhi, error) {
	c.someMu.Lock()
	defer c.someMu.Unlock()
	if c.some != nil && slices.Equal(c.some.rows, rows) {
		return c.some, nil
	}
	c.some = nil // so that the two are not held at once
	phi, err := c.features.CompactRows(ctx, c.coeff, rows)
	if err != nil {
		if ctx.Err() == nil {
			err = fmt.Errorf("%w: %w", ErrFeatures, err)
		}
		return nil, err
	}
	c.some = &somePhi{rows, phi, phi.DropEmptyColumns()}
	return c.some, nil
}

// window returns some nodes of a large graph. On others, features of all nodes are held
// anyway.
func (c *grfCovariance) window(nodes, lo, hi int) Window {
	if !c.large || nodes != c.Nodes() {
		return nil
	}
	return &grfWindow{c, fromTo(lo, hi)}
}

// fromTo returns the nodes lo … hi−1.
func fromTo(lo, hi int) []int {
	all := make([]int, hi-lo)
	for a := range all {
		all[a] = lo + a
	}
	return all
}

// grfWindow is the rows of K at some nodes, as K of all nodes has them.
type grfWindow struct {
	cov  *grfCovariance
	rows []int
}

func (w *grfWindow) Cross(cols []int) solve.Operator {
	return &grfWindowCross{w, w.cov.factor(cols)}
}

func (w *grfWindow) Diag(ctx context.Context, dst []float64) error {
	s, err := w.cov.someRows(ctx, w.rows)
	if err == nil {
		s.phi.Squares(dst)
	}
	return err
}

// inverses returns 1/N_i for the nodes: see unit.
func (w *grfWindow) inverses(ctx context.Context) ([]float64, error) {
	inv := make([]float64, len(w.rows))
	if err := w.Diag(ctx, inv); err != nil {
		return nil, err
	}
	invertNorms(inv)
	return inv, nil
}

// grfWindowCross is Φ_rows·Φ_colsᵀ.
type grfWindowCross struct {
	*grfWindow
	right *factor
}

func (o *grfWindowCross) Dims() (r, c int) { return len(o.rows), len(o.right.rows) }

func (o *grfWindowCross) Apply(ctx context.Context, dst, x *mat.Dense) error {
	if o.right.err != nil {
		return o.right.err
	}
	if len(o.right.rows) == 0 {
		dst.Zero()
		return ctx.Err()
	}
	s, err := o.cov.someRows(ctx, o.rows)
	if err != nil {
		return err
	}
	return strips(dst, func(lo int, dst *mat.Dense) error {
		_, columns := dst.Dims()
		mid, wide := o.cov.block(o.right.width, columns), o.cov.block(len(s.nodes), columns)
		defer o.cov.blocks.Put(mid)
		defer o.cov.blocks.Put(wide)
		o.right.transpose().Mul(mid, columnsOf(x, lo, dst))
		wide.Zero()
		o.right.eachShared(s, func(a, j int) { copy(wide.RawRowView(j), mid.RawRowView(a)) })
		s.phi.Mul(dst, wide)
		return ctx.Err()
	})
}

// eachShared calls do with each column of the factor, and the column of s that is the same
// node.
func (f *factor) eachShared(s *somePhi, do func(a, j int)) {
	if f.nodes == nil {
		for j, node := range s.nodes {
			do(int(node), j)
		}
		return
	}
	for a, node := range f.nodes {
		if j := s.place(node); j >= 0 {
			do(a, j)
		}
	}
}

// grfWindowDraw holds w of g = Φw in the columns that the rows have.
type grfWindowDraw struct {
	*grfWindow
	own *somePhi
	x   *factor
	w   *mat.Dense
	at  *mat.Dense
}

// Draw makes the elements of w that the rows and the nodes x need: a number depends on its
// column alone.
func (w *grfWindow) Draw(ctx context.Context, draws int, seed uint64, x []int) (Draw, error) {
	c := w.cov
	own, err := c.someRows(ctx, w.rows)
	if err != nil {
		return nil, err
	}
	d := &grfWindowDraw{w, own, c.factor(x), c.block(len(own.nodes), draws), mat.NewDense(len(x), draws, nil)}
	if d.x.err != nil {
		return nil, d.x.err
	}
	if err := normal.FillRows(ctx, d.w, seed, "prior", 0, own.nodes); err != nil {
		return nil, err
	}
	there := c.block(d.x.width, draws)
	defer c.blocks.Put(there)
	if d.x.nodes == nil {
		err = normal.Fill(ctx, there, seed, "prior", 0)
	} else {
		err = normal.FillRows(ctx, there, seed, "prior", 0, d.x.nodes)
	}
	if err != nil {
		return nil, err
	}
	d.x.phi.Mul(d.at, there)
	return d, ctx.Err()
}

func (d *grfWindowDraw) At() *mat.Dense { return d.at }

func (d *grfWindowDraw) Update(ctx context.Context, dst, u *mat.Dense) error {
	defer d.release()
	if err := d.settle(ctx, u); err != nil {
		return err
	}
	return d.block(ctx, dst, 0)
}

func (d *grfWindowDraw) streams() bool { return true }

// settle adds Φ_xᵀu to w.
func (d *grfWindowDraw) settle(ctx context.Context, u *mat.Dense) error {
	_, draws := d.w.Dims()
	up := d.cov.block(d.x.width, draws)
	defer d.cov.blocks.Put(up)
	d.x.transpose().Mul(up, u)
	d.x.eachShared(d.own, func(a, j int) {
		row := d.w.RawRowView(j)
		for s, v := range up.RawRowView(a) {
			row[s] += v
		}
	})
	return ctx.Err()
}

func (d *grfWindowDraw) block(ctx context.Context, dst *mat.Dense, lo int) error {
	d.own.phi.MulRows(dst, d.w, lo)
	return ctx.Err()
}

func (d *grfWindowDraw) release() {
	if d.w != nil {
		d.cov.blocks.Put(d.w)
		d.w = nil
	}
}

// invertNorms sets each v to 1/√v, and to 0 where v is 0.
func invertNorms(squares []float64) {
	eachPlace(len(squares), func(a int) {
		v := squares[a]
		if squares[a] = 0; v > 0 {
			squares[a] = 1 / math.Sqrt(v)
		}
	})
}
