package kernel

import (
	"context"
	"slices"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"grfgp/internal/parallel"
	"grfgp/internal/ranks"
	"grfgp/sparse"
	"grfgp/sparse/spread"
)

// sharedCells is the default of coarseScales.sharedFrom. Of smaller scales every rank has all
// nodes: messages would take longer than the products.
const sharedCells = 2 * ranks.BlockRows

// scalesOver is how ranks compute the coarser scales of a Multiscale together.
type scalesOver struct {
	group  *ranks.Group
	grfs   []*SpreadGRF // of the scales that are shared, the first ones; nil: every rank has all
	chains []*chain     // used last
}

// chain returns the chain of a list of which this rank has the given part. All ranks call it
// together.
func (o *scalesOver) chain(scales []scale, rows []int) *chain {
	ctx := context.Background()
	at := slices.IndexFunc(o.chains, func(c *chain) bool { return slices.Equal(c.nodes[0], rows) })
	facts, _, err := ranks.Gather(ctx, o.group, []int64{int64(len(rows)), int64(at)})
	if err != nil {
		return failedChain(err, len(scales))
	}
	same, sizes := at >= 0, make([]int, o.group.Size())
	for r := range sizes {
		sizes[r] = int(facts[2*r])
		same = same && facts[2*r+1] == int64(at)
	}
	if same {
		return o.chains[at]
	}
	c, err := o.newChain(ctx, scales, slices.Clone(rows), ranks.OfSizes(sizes))
	if err != nil {
		return failedChain(err, len(scales))
	}
	const most = 3 // of measurements, and of all nodes
	o.chains = append([]*chain{c}, o.chains[:min(len(o.chains), most-1)]...)
	return c
}

// failedChain is a chain that could not be made.
func failedChain(err error, scales int) *chain {
	return &chain{err: err, nodes: make([][]int, scales+1), up: make([]*sparse.CSR, scales), links: make([]*link, scales),
		parts: make([]portion, scales+1)}
}

func (o *scalesOver) newChain(ctx context.Context, scales []scale, rows []int, all ranks.Layout) (*chain, error) {
	c := &chain{nodes: [][]int{rows}, parts: []portion{{o.group, all}}}
	for k, s := range scales {
		below := c.parts[k]
		if below.group == nil {
			up, nodes := selected(s.prolong, c.nodes[k])
			c.up, c.nodes, c.parts, c.links = append(c.up, up), append(c.nodes, nodes), append(c.parts, portion{}), append(c.links, nil)
			continue
		}
		l, nodes, err := o.newLink(ctx, s.prolong, c.nodes[k], below.all, o.grfs[k] != nil)
		if err != nil {
			return nil, err
		}
		var part portion
		if l.shared {
			lo, hi := l.cols.Range(o.group.Rank())
			nodes, part = nodes[lo:hi:hi], portion{o.group, l.cols}
		}
		c.up, c.nodes, c.parts, c.links = append(c.up, l.plain), append(c.nodes, nodes), append(c.parts, part), append(c.links, l)
	}
	return c, nil
}

// newLink returns the interpolation to the rows of this rank, and all nodes that interpolate
// to the rows of any rank.
func (o *scalesOver) newLink(ctx context.Context, q *sparse.CSR, rows []int, all ranks.Layout, shared bool) (*link, []int, error) {
	_, width := q.Dims()
	label := make([]uint32, width) // 1 if touched, then label + 1
	ptr := make([]int, len(rows)+1)
	for a, i := range rows {
		cols, _ := q.Row(i)
		for _, j := range cols {
			label[j] = 1
		}
		ptr[a+1] = ptr[a] + len(cols)
	}
	var own []uint32
	for j, touched := range label {
		if touched != 0 {
			own = append(own, uint32(j))
		}
	}
	everyone, _, err := ranks.Gather(ctx, o.group, own)
	if err != nil {
		return nil, nil, err
	}
	for _, j := range everyone {
		label[j] = 1
	}
	var nodes []int
	for j, touched := range label {
		if touched != 0 {
			nodes = append(nodes, j)
			label[j] = uint32(len(nodes))
		}
	}
	col, val := make([]uint32, ptr[len(rows)]), make([]float64, ptr[len(rows)])
	parallel.Ranges(len(rows), 1024, func(lo, hi int) {
		for a := lo; a < hi; a++ {
			cols, vals := q.Row(rows[a])
			copy(val[ptr[a]:], vals)
			for p, j := range cols {
				col[ptr[a]+p] = label[j] - 1
			}
		}
	})
	l := &link{group: o.group, shared: shared, cols: ranks.Even(len(nodes), o.group.Size())}
	if l.shape, err = spread.NewPattern(ctx, o.group, all, l.cols, ptr, col); err != nil {
		return nil, nil, err
	}
	if shared {
		l.up, err = l.shape.With(val)
	} else {
		l.plain, err = sparse.NewCSR(len(rows), len(nodes), ptr, col, val)
	}
	l.val = val
	return l, nodes, err
}

// link is the interpolation from the nodes of a scale to the rows that this rank has of the
// scale below it. Of the nodes it has its share, or all.
type link struct {
	group  *ranks.Group
	cols   ranks.Layout // of the nodes
	shared bool         // the rank has its share of the nodes
	shape  *spread.Pattern
	val    []float64
	up     *spread.Matrix // if they are shared
	plain  *sparse.CSR    // if not

	// Made when first used.
	turn       *spread.Transpose
	down       *spread.Matrix
	upSingle   *spread.Single
	downSingle *spread.Single
}

// transpose makes the pattern of the transpose.
func (l *link) transpose(ctx context.Context) (err error) {
	if l.turn == nil {
		l.turn, err = l.shape.Transposed(ctx)
	}
	return err
}

// descend sets dst to the transposed product with x.
func (l *link) descend(ctx context.Context, dst, x *mat.Dense) (err error) {
	if l.down == nil {
		if err := l.transpose(ctx); err != nil {
			return err
		}
		if l.down, err = l.turn.Of(ctx, l.val); err != nil {
			return err
		}
	}
	_, columns := dst.Dims()
	if l.shared {
		return l.down.Mul(ctx, dst, x, columns)
	}
	raw, own := dst.RawMatrix(), &mat.Dense{}
	if lo, hi := l.cols.Range(l.group.Rank()); lo < hi {
		own.SetRawMatrix(blas64.General{Rows: hi - lo, Cols: columns, Stride: raw.Stride, Data: raw.Data[lo*raw.Stride : hi*raw.Stride]})
	}
	if err := l.down.Mul(ctx, own, x, columns); err != nil {
		return err
	}
	return ranks.Complete(ctx, l.group, raw.Data, l.starts(columns))
}

// starts returns where the rows of each rank begin in a block of all nodes.
func (l *link) starts(columns int) []int {
	starts := make([]int, l.group.Size()+1)
	for r := range l.group.Size() {
		_, hi := l.cols.Range(r)
		starts[r+1] = hi * columns
	}
	return starts
}

// descendSingle is descend for float32.
func (l *link) descendSingle(ctx context.Context, dst, x blas32.General) error {
	if l.downSingle == nil {
		if err := l.transpose(ctx); err != nil {
			return err
		}
		val := make([]float32, l.turn.Entries())
		err := spread.Carry(ctx, l.turn, val, rounded(l.val))
		if err != nil {
			return err
		}
		if l.downSingle, err = l.turn.Single(val); err != nil {
			return err
		}
	}
	if l.shared {
		return l.downSingle.Mul(ctx, dst, x)
	}
	lo, hi := l.cols.Range(l.group.Rank())
	own := blas32.General{Rows: hi - lo, Cols: dst.Cols, Stride: dst.Stride, Data: dst.Data[lo*dst.Stride : hi*dst.Stride]}
	if err := l.downSingle.Mul(ctx, own, x); err != nil {
		return err
	}
	return ranks.Complete(ctx, l.group, dst.Data[:dst.Rows*dst.Cols], l.starts(dst.Cols))
}

// rise adds the product with x to dst.
func (l *link) rise(ctx context.Context, dst, x *mat.Dense) error {
	if !l.shared {
		l.plain.MulAdd(dst, x, 0)
		return ctx.Err()
	}
	_, columns := dst.Dims()
	return l.up.MulAdd(ctx, dst, x, columns)
}

// riseSingle is rise for float32.
func (l *link) riseSingle(ctx context.Context, dst, x blas32.General) (err error) {
	if !l.shared {
		l.plain.Single().MulAdd(dst, x)
		return ctx.Err()
	}
	if l.upSingle == nil {
		if l.upSingle, err = l.shape.Single(rounded(l.val)); err != nil {
			return err
		}
	}
	return l.upSingle.MulAdd(ctx, dst, x)
}

// rounded returns x in float32.
func rounded(x []float64) []float32 {
	out := make([]float32, len(x))
	for e, v := range x {
		out[e] = float32(v)
	}
	return out
}
