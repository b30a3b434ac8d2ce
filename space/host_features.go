package space

import (
	"context"
	"fmt"
	"math"
	"sync/atomic"

	"grfgp/internal/meter"
	"grfgp/internal/parallel"
	"grfgp/internal/ranks"
	"grfgp/sparse"
	"grfgp/sparse/spread"
	"grfgp/walk"
)

// ErrRange is wrapped where values leave the range of the numbers of a space.
type rangeError struct{ coeff []float64 }

func (e rangeError) Error() string {
	return fmt.Sprintf("with the coefficients %.3g … of walks, variances leave the range of float32", e.coeff[0])
}

// hostFeatures are features in the memory of this process, or of several.
type hostFeatures[F floats] struct {
	host      *host[F]
	rows      Axis
	columns   Axis
	nodes     []uint32
	list      *walk.List
	ptr       []int
	coeff     []float64
	val, valT []F
	phi, phiT product[F]
	carry     func(ctx context.Context) error                                          // brings val to valT; nil: there is no valT
	columnsOf func(i int) (cols []uint32, widened bool)                                // of row i
	widen     func(x sparse.Block[F]) (met sparse.Block[F], release func(), err error) // rows that others have; nil: there are none
	squares   *block[F]
	inverse   []float64 // 1/N_i for rows of norm one; nil: rows are as they are
}

func (h *host[F]) Features(ctx context.Context, rows Axis, p *Pattern, unit bool) (Features, error) {
	f := &hostFeatures[F]{host: h, rows: rows, list: p.List, ptr: p.Ptr, val: make([]F, len(p.Col))}
	if unit {
		f.inverse = make([]float64, len(p.Rows))
	}
	if !h.group.Alone() {
		return f, f.share(ctx, p)
	}
	f.columns, f.nodes = Rows(p.Width), p.Nodes
	shape, err := p.Shape()
	if err != nil {
		return nil, err
	}
	if len(p.Col) > math.MaxUint32 {
		return nil, fmt.Errorf("features: %d entries; take fewer measurements", len(p.Col))
	}
	phi, err := sparse.WithValues(shape, f.val)
	if err != nil {
		return nil, err
	}
	f.phi = productOf(phi)
	f.columnsOf = func(i int) ([]uint32, bool) { return p.Col[p.Ptr[i]:p.Ptr[i+1]], false }
	scattered := 0 // columns
	f.phiT = func(dst, x sparse.Block[F], lo int, add bool) error {
		if scattered += x.Cols; scattered <= scatterMost && len(p.Col) < scatterEntries {
			return f.scatter(p, dst, x, add)
		}
		if err := f.turn(p); err != nil {
			return err
		}
		return f.phiT(dst, x, lo, add)
	}
	return f, nil
}

// A transpose takes as long to make as some products without it: the first scatterMost columns of a matrix of few entries
// are multiplied without, for a search has other rows in every step.
const (
	scatterMost    = 8
	scatterEntries = 1 << 20
)

// turn makes a transpose, for products with Φᵀ from now on.
func (f *hostFeatures[F]) turn(p *Pattern) error {
	turned, err := p.Turned()
	if err != nil {
		return err
	}
	f.valT = make([]F, len(f.val))
	phiT, err := sparse.WithValues(turned.Shape, f.valT)
	if err != nil {
		return err
	}
	f.phiT = productOf(phiT)
	f.carry = func(context.Context) error {
		parallel.Ranges(len(f.valT), 1<<16, func(lo, hi int) {
			for q, from := range turned.From[lo:hi] {
				f.valT[lo+q] = f.val[from]
			}
		})
		return nil
	}
	return f.carry(context.Background())
}

// scatter is a product with Φᵀ, row by row of Φ. Its bits are those of a transpose, which sums in the order of the rows too.
func (f *hostFeatures[F]) scatter(p *Pattern, dst, x sparse.Block[F], add bool) error {
	to := dst
	if add {
		t := f.host.block(Rows(dst.Rows), dst.Cols)
		defer t.Free()
		to = t.strip(0, dst.Cols)
	}
	for i := range to.Rows {
		clear(to.Data[i*to.Stride:][:to.Cols])
	}
	for a := range x.Rows {
		from := x.Data[a*x.Stride:][:x.Cols]
		for q := p.Ptr[a]; q < p.Ptr[a+1]; q++ {
			v, out := f.val[q], to.Data[int(p.Col[q])*to.Stride:][:to.Cols]
			for s, w := range from {
				out[s] += F(v * w)
			}
		}
	}
	if add {
		for i := range dst.Rows {
			out := dst.Data[i*dst.Stride:][:dst.Cols]
			for s, v := range to.Data[i*to.Stride:][:dst.Cols] {
				out[s] += v
			}
		}
	}
	return nil
}

// share spreads the columns over the processes, which own equal numbers of nodes, or those that are their rows.
func (f *hostFeatures[F]) share(ctx context.Context, p *Pattern) error {
	h := f.host
	layout := ranks.Even(p.all, h.group.Size())
	if f.rows.layout.Rows() == p.all {
		layout = f.rows.layout
	}
	lo, hi := layout.Range(h.group.Rank())
	f.columns = Axis{hi - lo, h.group, layout}
	col := make([]uint32, len(p.Col))
	each(len(p.Rows), func(a int) { copy(col[p.Ptr[a]:], p.List.Reached(a)) })
	shape, err := spread.NewPattern(ctx, h.group, f.rows.layout, layout, p.Ptr, col)
	if err != nil {
		return err
	}
	turned, err := shape.Transposed(ctx)
	if err != nil {
		return err
	}
	f.valT = make([]F, turned.Entries())
	phi, err := spread.With(shape, f.val)
	if err != nil {
		return err
	}
	phiT, err := spread.With(turned.Pattern, f.valT)
	if err != nil {
		return err
	}
	f.phi, f.phiT = spreadProduct(h, phi), spreadProduct(h, phiT)
	f.carry = func(ctx context.Context) error { return spread.Carry(ctx, turned, f.valT, f.val) }
	f.columnsOf = shape.Row
	f.widen = func(x sparse.Block[F]) (sparse.Block[F], func(), error) { return phi.Widen(h.ctx, x) }
	return nil
}

func (f *hostFeatures[F]) Weights() (Axis, []uint32) { return f.columns, f.nodes }
func (f *hostFeatures[F]) Squares() Block            { return f.squares }
func (f *hostFeatures[F]) Free()                     {}

func (f *hostFeatures[F]) Set(ctx context.Context, coeff []float64) error {
	f.coeff = walk.Padded(coeff)
	if f.squares == nil {
		f.squares = &block[F]{host: f.host, axis: f.rows, columns: 1, data: make([]F, f.rows.Own)}
	}
	const size = 1024
	var bad atomic.Bool
	n := f.rows.Own
	rooms := make([][]float64, parallel.Workers(n))
	err := parallel.Blocks(ctx, (n+size-1)/size, func(worker, b int) error {
		for a := b * size; a < min(n, (b+1)*size); a++ {
			to := f.val[f.ptr[a]:f.ptr[a+1]]
			row := room(&rooms[worker], len(to))
			f.list.CombineRow(row, f.coeff, a)
			square := 0.0
			for _, v := range row {
				square += float64(v * v)
			}
			f.squares.data[a] = F(square)
			if v := F(square); v-v != 0 {
				bad.Store(true)
			}
			scale := 1.0
			if f.inverse != nil {
				if scale = 0; square > 0 {
					scale = 1 / math.Sqrt(square)
				}
				f.inverse[a] = scale
			}
			for e, v := range row {
				to[e] = F(scale * v)
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	if well, err := f.allWell(ctx, !bad.Load()); err != nil || !well {
		if err == nil {
			err = rangeError{coeff}
		}
		return err
	}
	if f.carry == nil {
		return nil
	}
	return f.carry(ctx)
}

// allWell reports whether all processes are well.
func (f *hostFeatures[F]) allWell(ctx context.Context, well bool) (bool, error) {
	if f.host.group.Alone() {
		return well, nil
	}
	own := []uint8{0}
	if !well {
		own[0] = 1
	}
	all, _, err := ranks.Gather(ctx, f.host.group, own)
	for _, v := range all {
		well = well && v == 0
	}
	return well, err
}

// room returns *buf with n elements, after growing it if it is too small.
func room(buf *[]float64, n int) []float64 {
	if cap(*buf) < n {
		*buf = make([]float64, n)
	}
	return (*buf)[:n]
}

func (f *hostFeatures[F]) Mul(dst, x Block, lo int, scale float64, add bool) {
	f.host.multiply(f.phi, dst, x, lo, scale, add)
}

func (f *hostFeatures[F]) MulT(dst, x Block, scale float64, add bool) {
	f.host.multiply(f.phiT, dst, x, 0, scale, add)
}

// Slopes is, with A = Φᵀu and B = Φᵀw,
//
//	∂/∂f_l = Σ_ic Ψ_l[i,c]·Q_ic,  Q_ic = Σ_s weight_s·(u_is·B_cs + w_is·A_cs).
//
// Where rows are scaled by 1/n = 1/N_i, the scaling follows Φ: with q the row of Q,
//
//	⟨q, dΦ̂_i⟩ = ⟨q/n − (q·Φ̂_i) Φ̂_i/n, dΦ_i⟩.
func (f *hostFeatures[F]) Slopes(slope, weight []float64, u, w Block) (twice float64) {
	const most = stripColumns / 2 // u and w go beside each other
	along := make([]float64, f.rows.Own)
	for lo := 0; lo < len(weight); lo += most {
		hi := min(len(weight), lo+most)
		if err := f.stripSlopes(slope, along, weight[lo:hi], u.(*block[F]), w.(*block[F]), lo); err != nil {
			f.host.fail(err)
			return 0
		}
	}
	if f.inverse == nil {
		return 0
	}
	return f.host.sum(f.rows, 1, func(lo, hi int, sums []float64) {
		for _, v := range along[lo:hi] {
			sums[0] += v
		}
	})[0]
}

func (f *hostFeatures[F]) stripSlopes(slope, along, weight []float64, u, w *block[F], first int) error {
	h, k := f.host, len(weight)
	width := (2*k + 7) / 8 * 8
	both := h.block(f.rows, width) // u and w beside each other, then zeros
	defer both.Free()
	both.rows(2, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			row := both.data[i*width:][:width]
			copy(row, u.data[i*u.columns+first:][:k])
			copy(row[k:], w.data[i*w.columns+first:][:k])
			clear(row[2*k:])
		}
	})
	ab := h.block(f.columns, width) // A and B
	defer ab.Free()
	if err := f.phiT(ab.strip(0, width), both.strip(0, width), 0, false); err != nil {
		return err
	}
	near, far := ab.strip(0, width), sparse.Block[F]{}
	if f.widen != nil {
		wide, release, err := f.widen(near)
		defer release()
		if err != nil {
			return err
		}
		far = wide
	}
	pass := meter.Start()
	defer pass.Done(8 * (2*f.rows.Own*k + 2*f.columns.Own*k + len(f.ptr) + len(f.val)/2)) // and the features
	by := factors[F](weight)
	swapped := make([][]F, parallel.Workers(f.rows.Own))
	parts := projections(f.list, f.rows.Own, len(slope), func(worker int, q []float64, i int) []float64 {
		if swapped[worker] == nil {
			swapped[worker] = make([]F, width+16) // and a cache line to the next
		}
		wu, row := swapped[worker][:width], both.data[i*width:][:width]
		for s, v := range by {
			wu[s], wu[k+s] = F(v*row[k+s]), F(v*row[s])
		}
		cols, widened := f.columnsOf(i)
		q = room(&q, len(cols))
		from := near
		if widened {
			from = far
		}
		sparse.DotRows(q, wu, from, cols)
		if f.inverse != nil {
			along[i] += follow(q, f.val[f.ptr[i]:f.ptr[i+1]], f.inverse[i])
		}
		return q
	})
	total := make([]float64, len(slope))
	h.add(f.rows, total, parts)
	for l, v := range total {
		slope[l] += v
	}
	return h.err
}

// follow lets the scaling by inverse follow a row phi of norm one, whose row of Q is q. It returns q·Φ̂_i.
func follow[F floats](q []float64, phi []F, inverse float64) float64 {
	sum := 0.0
	for e, v := range phi {
		sum += float64(float64(v) * q[e])
	}
	for e, v := range phi {
		q[e] = (q[e] - float64(sum*float64(v))) * inverse
	}
	return sum
}

// projections returns Σ_ic Ψ_l[i,c]·Q_ic for every block of rows and length l. weigh returns Q_ic for the entries of row
// i, in the memory it is given if that is enough.
func projections(list *walk.List, rows, lengths int, weigh func(worker int, room []float64, i int) []float64) []float64 {
	const size = 64 // divides a block
	pieces := (rows + size - 1) / size
	sums := make([]float64, pieces*lengths)
	scratch := make([]struct{ sum, weights []float64 }, parallel.Workers(pieces))
	_ = parallel.Blocks(context.Background(), pieces, func(worker, b int) error {
		// Sums in memory of the worker's own: those of two workers in one cache line would cost more than the products.
		sum, weights := room(&scratch[worker].sum, lengths), scratch[worker].weights
		clear(sum)
		for i := b * size; i < min(rows, (b+1)*size); i++ {
			weights = weigh(worker, weights, i)
			list.ProjectRow(sum, weights, i)
		}
		copy(sums[b*lengths:], sum)
		scratch[worker].weights = weights
		return nil
	})
	parts := make([]float64, (rows+blockRows-1)/blockRows*lengths)
	for q, v := range sums {
		parts[q/lengths/(blockRows/size)*lengths+q%lengths] += v
	}
	return parts
}

// Project adds Σ_ic Ψ_l[i,c]·Q_ic to slope[l], where weigh returns Q_ic for the entries of row i, in the memory it is given
// if that is enough. Sums are taken per block of rows, and those of the blocks by a tree.
func Project(ctx context.Context, slope []float64, list *walk.List, rows int, weigh func(worker int, q []float64, i int) []float64) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	total := make([]float64, len(slope))
	ranks.TreeSum(total, projections(list, rows, len(slope), weigh))
	for l, v := range total {
		slope[l] += v
	}
	return ctx.Err()
}

// hostCompact is a matrix of float32 entries.
type hostCompact struct {
	host *host[float64]
	m    *sparse.Compact
}

func (h *host[F]) Compact(_, _ Axis, m *sparse.Compact) Matrix {
	if own, ok := any(h).(*host[float64]); ok && h.group.Alone() {
		return hostCompact{own, m}
	}
	return nil
}

func (c hostCompact) Mul(dst, x Block, lo int, scale float64, add bool) {
	if x.Axis().Own == 0 && !add {
		dst.Zero()
	}
	if dst.Axis().Own == 0 || x.Axis().Own == 0 { // the one empty matrix of gonum has no width
		return
	}
	c.host.multiply(func(dst, x sparse.Block[float64], lo int, add bool) error {
		if !add {
			c.m.MulRows(DenseView(dst), DenseView(x), lo)
			return nil
		}
		part := c.host.block(Rows(dst.Rows), dst.Cols)
		defer part.Free()
		c.m.MulRows(DenseOf(part), DenseView(x), lo)
		for i := range dst.Rows {
			to := dst.Data[i*dst.Stride:][:dst.Cols]
			for t, v := range part.data[i*dst.Cols:][:dst.Cols] {
				to[t] += v
			}
		}
		return nil
	}, dst, x, lo, scale, add)
}

func (c hostCompact) MulT(Block, Block, float64, bool) {
	panic("space: no products with columns of compact matrices")
}
func (c hostCompact) Free() {}
