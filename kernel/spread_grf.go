package kernel

import (
	"context"
	"fmt"
	"slices"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/mat"

	"grfgp/internal/parallel"
	"grfgp/internal/ranks"
	"grfgp/kernel/internal/normal"
	"grfgp/solve"
	"grfgp/sparse/spread"
	"grfgp/walk"
)

// SpreadGRF is a kernel by graph random features that several ranks compute together.
// It differs from other kernels in its lists of nodes: a rank gives its own part of a
// list, and has its own rows of every block, so all ranks call At, Cross, Grad, Prior and
// draws together. The parts are whole blocks of ranks.BlockRows rows, except for the
// last. Results are the bits of GRF. Gram, GramGrad and Diag need no other rank.
type SpreadGRF struct {
	grf   *GRF
	group *ranks.Group
	nodes ranks.Layout
	lists []*spreadList // used last
}

// Spread returns the kernel as ranks compute it together, each of which owns the nodes
// that the layout gives it.
func (k *GRF) Spread(g *ranks.Group, nodes ranks.Layout) *SpreadGRF {
	return &SpreadGRF{grf: k, group: g, nodes: nodes}
}

// spreadEvenly is Spread of equal numbers of nodes.
func (k *GRF) spreadEvenly(g *ranks.Group) Kernel {
	return k.Spread(g, ranks.Even(k.Nodes(), g.Size()))
}

// Nodes returns the number of nodes.
func (k *SpreadGRF) Nodes() int { return k.grf.Nodes() }

// Params returns the parameters of the family.
func (k *SpreadGRF) Params() []Param { return k.grf.Params() }

// At returns the covariance at theta.
func (k *SpreadGRF) At(theta []float64) (Covariance, error) {
	c, err := k.grf.at(theta)
	if err != nil {
		return nil, err
	}
	return &spreadCovariance{grfCovariance: c, kernel: k}, nil
}

// spreadList is the pattern of the features of a list of nodes.
type spreadList struct {
	rows  []int // of this rank
	all   ranks.Layout
	own   *walk.List
	shape *spread.Pattern
	turn  *spread.Transpose
}

// list returns the pattern of a list, which the lists used last have in common.
func (k *SpreadGRF) list(ctx context.Context, rows []int) (*spreadList, error) {
	// All ranks must have the list, because making it takes them all.
	at := slices.IndexFunc(k.lists, func(l *spreadList) bool { return slices.Equal(l.rows, rows) })
	facts, _, err := ranks.Gather(ctx, k.group, []int64{int64(len(rows)), int64(at)})
	if err != nil {
		return nil, err
	}
	same := at >= 0
	sizes := make([]int, k.group.Size())
	for r := range sizes {
		sizes[r] = int(facts[2*r])
		same = same && facts[2*r+1] == int64(at)
	}
	if same {
		return k.lists[at], nil
	}
	l := &spreadList{rows: slices.Clone(rows)}
	l.all = ranks.OfSizes(sizes)
	if l.own, err = k.grf.features.List(ctx, rows); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrFeatures, err)
	}
	ptr := make([]int, len(rows)+1)
	for a := range rows {
		ptr[a+1] = ptr[a] + len(l.own.Reached(a))
	}
	col := make([]uint32, ptr[len(rows)])
	eachPlace(len(rows), func(a int) { copy(col[ptr[a]:], l.own.Reached(a)) })
	if l.shape, err = spread.NewPattern(ctx, k.group, l.all, k.nodes, ptr, col); err != nil {
		return nil, err
	}
	if l.turn, err = l.shape.Transposed(ctx); err != nil {
		return nil, err
	}
	const most = 3 // of measurements, of their cells, of all nodes
	k.lists = append([]*spreadList{l}, k.lists[:min(len(k.lists), most-1)]...)
	return l, nil
}

// spreadCovariance is a SpreadGRF at one theta. Methods that it does not have are those
// of a GRF.
type spreadCovariance struct {
	*grfCovariance
	kernel *SpreadGRF
	made   []*spreadFactor
}

// spreadFactor is Φ of a list, and its transpose.
type spreadFactor struct {
	*spreadList
	compact   bool
	phi, phiT *spread.Matrix
}

// factorOf returns Φ of a list. Entries of a compact one are rounded to float32, as those
// of GRF.compact are.
func (c *spreadCovariance) factorOf(ctx context.Context, rows []int, compact bool) (*spreadFactor, error) {
	l, err := c.kernel.list(ctx, rows)
	if err != nil {
		return nil, err
	}
	for _, f := range c.made {
		if f.spreadList == l && f.compact == compact {
			return f, nil
		}
	}
	val := make([]float64, l.shape.Entries())
	eachPlace(len(l.rows), func(a int) {
		row := val[l.shape.From(a):l.shape.From(a+1)]
		l.own.CombineRow(row, c.coeff, a)
		if compact {
			for e, v := range row {
				row[e] = float64(float32(v))
			}
		}
	})
	f := &spreadFactor{spreadList: l, compact: compact}
	if f.phi, err = l.shape.With(val); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrFeatures, err)
	}
	if f.phiT, err = l.turn.Of(ctx, val); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrFeatures, err)
	}
	c.made = append(c.made, f)
	return f, nil
}

// Cross returns K[rows, cols] between lists of which this rank has a part.
func (c *spreadCovariance) Cross(rows, cols []int) solve.Operator {
	o := &spreadCross{cov: c, rows: len(rows), cols: len(cols)}
	ctx := context.Background()
	if o.right, o.err = c.factorOf(ctx, cols, false); o.err != nil {
		return o
	}
	left, err := c.kernel.list(ctx, rows)
	if err != nil {
		o.err = err
		return o
	}
	o.left, o.err = c.factorOf(ctx, rows, c.large && left != o.right.spreadList) // as GRF.rowsOnce
	return o
}

// spreadCross is K[rows, cols] = Φ_rows·Φ_colsᵀ.
type spreadCross struct {
	cov         *spreadCovariance
	rows, cols  int
	left, right *spreadFactor
	err         error
}

// Dims returns the lengths of this rank's parts of the two lists.
func (o *spreadCross) Dims() (r, c int) { return o.rows, o.cols }

// Apply sets dst = Φ_rows·(Φ_colsᵀ·x), of which each rank has its rows.
func (o *spreadCross) Apply(ctx context.Context, dst, x *mat.Dense) error {
	if o.err != nil {
		return o.err
	}
	return strips(dst, func(lo int, dst *mat.Dense) error {
		_, columns := dst.Dims()
		mid := o.cov.midBlock(columns)
		defer o.cov.blocks.Put(mid)
		if err := o.right.phiT.Mul(ctx, mid, columnsOf(x, lo, dst), columns); err != nil {
			return err
		}
		return o.left.phi.Mul(ctx, dst, mid, columns)
	})
}

// Diag sets dst[a] to the variance of own node rows[a], as GRF.Diag does for rows whose
// products are in use. It needs no other rank.
func (c *spreadCovariance) Diag(ctx context.Context, dst []float64, rows []int) error {
	own, err := c.features.List(ctx, rows)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrFeatures, err)
	}
	parallel.Ranges(len(rows), 1024, func(lo, hi int) {
		var phi []float64
		for a := lo; a < hi; a++ {
			phi = room(&phi, len(own.Reached(a)))
			own.CombineRow(phi, c.coeff, a)
			dst[a] = squares(phi)
		}
	})
	return ctx.Err()
}

// Single returns the same product for float32, of a list with itself.
func (o *spreadCross) Single() func(ctx context.Context, dst, x blas32.General) error {
	if o.err != nil || o.left != o.right {
		return nil
	}
	lo, hi := o.cov.kernel.nodes.Range(o.cov.kernel.group.Rank())
	return func(ctx context.Context, dst, x blas32.General) error {
		return stripsSingle(dst, x, func(dst, x blas32.General) error {
			mid := borrowSingle(hi-lo, x.Cols)
			defer returnSingle(mid)
			if err := o.right.phiT.MulSingle(ctx, mid, x); err != nil {
				return err
			}
			return o.left.phi.MulSingle(ctx, dst, mid)
		})
	}
}

// midBlock returns a scratch matrix with a row for each node of this rank.
func (c *spreadCovariance) midBlock(columns int) *mat.Dense {
	lo, hi := c.kernel.nodes.Range(c.kernel.group.Rank())
	return c.block(hi-lo, columns)
}

// Grad adds Σ_s u_sᵀ(∂K/∂θ_j)w_s to grad[j], the sum over the rows of all ranks; see
// GRF.
func (c *spreadCovariance) Grad(ctx context.Context, grad []float64, rows []int, u, w *mat.Dense) error {
	f, err := c.factorOf(ctx, rows, false)
	if err != nil {
		return err
	}
	lengths := len(c.coeff)
	slope := make([]float64, lengths)
	err = strips(u, func(lo int, u *mat.Dense) error {
		w := columnsOf(w, lo, u)
		_, columns := u.Dims()
		ba := c.midBlock(2 * columns) // B and A side by side
		defer c.blocks.Put(ba)
		if err := f.phiT.Mul(ctx, fromToColumns(ba, 0, columns), w, columns); err != nil {
			return err
		}
		if err := f.phiT.Mul(ctx, fromToColumns(ba, columns, 2*columns), u, columns); err != nil {
			return err
		}
		wide, release, err := f.shape.Widen(ctx, ba, 2*columns)
		defer release()
		if err != nil {
			return err
		}
		pairs := make([][]float64, parallel.Workers(len(rows)))
		parts, err := projections(ctx, f.own, len(rows), lengths, func(worker int, dst []float64, i int) []float64 {
			uw := room(&pairs[worker], 2*columns)
			copy(uw, u.RawRowView(i))
			copy(uw[columns:], w.RawRowView(i))
			cols, widened := f.shape.Row(i)
			weights, from := room(&dst, len(cols)), ba
			if widened {
				from = wide
			}
			dots(weights, uw, from, cols)
			return weights
		})
		if err != nil {
			return err
		}
		total := make([]float64, lengths)
		if err := c.kernel.group.Sum(ctx, total, parts, f.all); err != nil {
			return err
		}
		for l, v := range total {
			slope[l] += v
		}
		return nil
	})
	c.chain(grad, slope, err)
	return err
}

// Prior sets the columns of dst, a row for each node of this rank, to Φw with w ~ N(0, I).
func (c *spreadCovariance) Prior(ctx context.Context, dst *mat.Dense, seed uint64) error {
	own, lo := c.ownNodes()
	f, err := c.factorOf(ctx, own, c.large)
	if err != nil {
		return err
	}
	return strips(dst, func(first int, dst *mat.Dense) error {
		_, columns := dst.Dims()
		w := c.midBlock(columns)
		defer c.blocks.Put(w)
		if err := normal.FillFrom(ctx, w, seed, "prior", first, lo); err != nil {
			return err
		}
		return f.phi.Mul(ctx, dst, w, columns)
	})
}

// ownNodes returns the nodes of this rank, and the first of them.
func (c *spreadCovariance) ownNodes() ([]int, int) {
	lo, hi := c.kernel.nodes.Range(c.kernel.group.Rank())
	own := make([]int, hi-lo)
	for a := range own {
		own[a] = lo + a
	}
	return own, lo
}

// allWell reports whether all ranks are well.
func (k *SpreadGRF) allWell(ctx context.Context, well bool) (bool, error) {
	own := []uint8{0}
	if well {
		own[0] = 1
	}
	all, _, err := ranks.Gather(ctx, k.group, own)
	return !slices.Contains(all, 0), err
}

// Abilities are draws in one pass, and the features.
func (c *spreadCovariance) Abilities() Abilities {
	return Abilities{Draw: c.draw, Fine: &Sampling{c.features, c.coeff}, Ranks: c.kernel.group}
}

// draw begins draws from the prior.
func (c *spreadCovariance) draw(ctx context.Context, draws int, seed uint64, x []int) (Draw, error) {
	f, err := c.factorOf(ctx, x, false)
	if err != nil {
		return nil, err
	}
	d := &spreadDraw{cov: c, x: f, w: c.midBlock(draws), at: emptyBlock(len(x), draws)}
	_, lo := c.ownNodes()
	if err := normal.FillFrom(ctx, d.w, seed, "prior", 0, lo); err != nil {
		return nil, err
	}
	return d, f.phi.Mul(ctx, d.at, d.w, draws)
}

// spreadDraw holds the rows of w of g = Φw that this rank owns.
type spreadDraw struct {
	cov *spreadCovariance
	x   *spreadFactor
	w   *mat.Dense
	at  *mat.Dense
}

func (d *spreadDraw) At() *mat.Dense { return d.at }

// Update sets dst, a row for each node of this rank, to g + K[·, x]·u.
func (d *spreadDraw) Update(ctx context.Context, dst, u *mat.Dense) error {
	defer d.cov.blocks.Put(d.w)
	_, draws := d.w.Dims()
	up := d.cov.midBlock(draws)
	defer d.cov.blocks.Put(up)
	if err := d.x.phiT.Mul(ctx, up, u, draws); err != nil {
		return err
	}
	addRows(d.w, up)
	own, _ := d.cov.ownNodes()
	f, err := d.cov.factorOf(ctx, own, d.cov.large)
	if err != nil {
		return err
	}
	return f.phi.Mul(ctx, dst, d.w, draws)
}
