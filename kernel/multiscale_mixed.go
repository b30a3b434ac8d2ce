package kernel

import (
	"context"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/mat"

	"grfgp/internal/meter"
	"grfgp/internal/parallel"
	"grfgp/internal/ranks"
	"grfgp/solve"
)

// multiscaleRows is K[rows, rows] + constant·11ᵀ of a Multiscale, for one theta after
// another. Matrices and what is between them are float32 on the finest scales, which have
// nearly all entries. What goes up to the coarser ones is float64: their eigenvalues are as
// large as the number of rows, and magnify the rounding of what they are multiplied with,
// but not that of their result.
type multiscaleRows struct {
	kernel   *Multiscale
	list     *chain
	constant float64
	fine     squareRows
	singles  []squareRows // of the first scales, with variance one
	cov      *multiscaleCovariance
	doubles  []unitCross // of the other scales
	err      error       // of making it
}

// squareRows is ΦΦᵀ of some rows in float32: of all of them, or of this rank's part.
type squareRows interface {
	// set goes to other hyperparameters.
	set(ctx context.Context, cov *grfCovariance) error
	Diag() []float64
	// square sets dst = ΦΦᵀx.
	square(ctx context.Context, dst, x blas32.General) error
	// slopes adds the derivatives by f_l to slope[l], where both holds u and w beside each
	// other; change, if it is not nil, may change the weights Q_ic of the entries of row i.
	slopes(ctx context.Context, slope, weight []float64, both blas32.General, change func(q []float64, i int)) error
	// row returns row i of Φ.
	row(i int) []float32
	// toUnit scales the rows to norm one from the next set on.
	toUnit()
	// inverses returns what they are scaled by.
	inverses() []float64
}

// magnified is the most by which a scale that is computed in float32 may magnify rounding,
// as a multiple of its variance: 2⁻²⁴ of it is then 6e-5.
const magnified = 1 << 10

// mixed returns nil if the fine kernel has no features, or they cannot be listed.
func (m *Multiscale) mixed(rows []int, constant float64) MixedRows {
	if r := m.newMixed(rows, constant); r != nil {
		return r
	}
	return nil // not an interface that holds a nil pointer
}

// mixed implements Abilities.Mixed.
func (c *multiscaleCovariance) mixed(ctx context.Context, rows []int, constant float64) (solve.Operator, error) {
	r := c.newMixed(rows, constant)
	if r == nil {
		return nil, nil
	}
	return r, r.set(ctx, c)
}

func (m *Multiscale) newMixed(rows []int, constant float64) *multiscaleRows {
	if m.over == nil && len(rows) == 0 || m.firstSmall() == len(m.scales) {
		return nil
	}
	r := &multiscaleRows{kernel: m, constant: constant}
	switch fine := m.fine.(type) {
	case *GRF:
		one := fine.newRows(rows, 0)
		if one == nil {
			return nil
		}
		r.fine = one
	case *SpreadGRF:
		if r.fine, r.err = fine.newRows(context.Background(), rows, 0); r.err != nil {
			return r
		}
	default:
		return nil
	}
	r.list = m.chain(rows)
	if r.err = r.list.err; r.err != nil {
		return r
	}
	all := r.list.count(0)
	for k := range m.scales {
		one, entries, err := m.newSingles(r.list, k)
		if r.err = err; err != nil {
			return r
		}
		// A row of ΦΦᵀ adds up to about as much as it has entries in Φ, and each node stands
		// for several rows.
		nodes := float64(r.list.count(k + 1))
		if one == nil || float64(entries)*float64(all) > magnified*nodes*nodes {
			break
		}
		one.toUnit()
		r.singles = append(r.singles, one)
	}
	return r
}

// newSingles returns scale k at the nodes of a chain in float32, and the number of its entries
// on all ranks; nil if they cannot be listed.
func (m *Multiscale) newSingles(list *chain, k int) (squareRows, int, error) {
	nodes := list.nodes[k+1]
	if spread := m.spreadOf(k); spread != nil {
		ctx := context.Background()
		one, err := spread.newRows(ctx, nodes, 0)
		if err != nil {
			return nil, 0, err
		}
		counts, _, err := ranks.Gather(ctx, spread.group, []int{len(one.val)})
		entries := 0
		for _, n := range counts {
			entries += n
		}
		return one, entries, err
	}
	one := m.scales[k].grf.newRows(nodes, 0)
	if one == nil {
		return nil, 0, nil
	}
	return one, len(one.val), nil
}

// Dims returns the number of rows, twice.
func (r *multiscaleRows) Dims() (rows, cols int) {
	n := len(r.list.nodes[0])
	return n, n
}

func (r *multiscaleRows) Set(ctx context.Context, theta []float64) error {
	if r.err != nil {
		return r.err
	}
	cov, err := r.kernel.At(theta)
	if err != nil {
		return err
	}
	return r.set(ctx, cov.(*multiscaleCovariance))
}

// set goes to the hyperparameters of a covariance.
func (r *multiscaleRows) set(ctx context.Context, cov *multiscaleCovariance) error {
	if r.err != nil {
		return r.err
	}
	r.cov = cov
	if err := r.fine.set(ctx, fineOf(cov.fine)); err != nil {
		return err
	}
	for k, s := range r.singles {
		if err := s.set(ctx, r.cov.parts[k].raw); err != nil {
			return err
		}
	}
	r.doubles = r.doubles[:0]
	for k := len(r.singles); k < len(r.cov.parts); k++ {
		r.doubles = append(r.doubles, r.cov.crossOf(k, r.list, r.list))
	}
	return nil
}

// fineOf returns the features of the graph itself.
func fineOf(c Covariance) *grfCovariance {
	if s, ok := c.(*spreadCovariance); ok {
		return s.grfCovariance
	}
	return c.(*grfCovariance)
}

func (r *multiscaleRows) Precondition(ctx context.Context, noise []float64) (solve.Factored, error) {
	d := make([]float64, len(noise))
	copy(d, r.fine.Diag())
	return r.cov.preconditionBeside(ctx, r.list.nodes[0], d, r.constant, noise)
}

func (r *multiscaleRows) Apply(ctx context.Context, dst, x *mat.Dense) error {
	return strips(dst, func(lo int, dst *mat.Dense) error { return r.strip(ctx, dst, columnsOf(x, lo, dst)) })
}

func (r *multiscaleRows) strip(ctx context.Context, dst, x *mat.Dense) error {
	n, columns := x.Dims()
	own, out := borrowSingle(n, columns), borrowSingle(n, columns)
	defer returnSingle(own)
	defer returnSingle(out)
	parts := round(own, x, 1)
	if err := r.fine.square(ctx, out, own); err != nil {
		return err
	}
	sums, err := r.sums(ctx, parts, columns)
	if err != nil {
		return err
	}
	above, err := r.coarse(ctx, x)
	if err != nil {
		return err
	}
	defer returnSingle(above)
	if err := r.list.riseSingle(ctx, 0, out, above); err != nil {
		return err
	}
	for s := range sums {
		sums[s] *= r.constant
	}
	widen(dst, out, sums)
	return ctx.Err()
}

// sums returns the sums of the columns of x over all ranks, given those of the blocks of rows.
func (r *multiscaleRows) sums(ctx context.Context, parts []float64, columns int) ([]float64, error) {
	sums, p := make([]float64, columns), r.list.part(0)
	if r.constant == 0 {
		return sums, nil
	}
	return sums, p.group.Sum(ctx, sums, parts, p.all)
}

// coarse returns the product of the coarser scales at the nodes of the first of them, to be
// returned.
func (r *multiscaleRows) coarse(ctx context.Context, x *mat.Dense) (above blas32.General, err error) {
	_, columns := x.Dims()
	scales, first := r.kernel.scales, len(r.singles)
	down := make([]*mat.Dense, len(scales))
	below := x
	for k := range scales {
		grf := scales[k].grf
		down[k] = grf.block(len(r.list.nodes[k+1]), columns)
		defer grf.blocks.Put(down[k])
		if err := r.list.descend(ctx, k, down[k], below); err != nil {
			return above, err
		}
		below = down[k]
	}
	if len(r.doubles) > 0 {
		wide, err := r.kernel.ascendTo(ctx, r.list, first, columns, func(k int, y *mat.Dense) error {
			return r.doubles[k-first].apply(ctx, y, down[k])
		})
		if err != nil {
			return above, err
		}
		defer scales[first].grf.blocks.Put(wide)
		rows, _ := wide.Dims()
		above = borrowSingle(rows, columns)
		round(above, wide, 1)
	}
	for k := first - 1; k >= 0; k-- {
		rows := len(r.list.nodes[k+1])
		own, y := borrowSingle(rows, columns), borrowSingle(rows, columns)
		round(own, down[k], r.cov.parts[k].variance)
		err := r.singles[k].square(ctx, y, own)
		returnSingle(own)
		if err != nil {
			return above, err
		}
		if above.Data != nil {
			if err := r.list.riseSingle(ctx, k+1, y, above); err != nil {
				return above, err
			}
			returnSingle(above)
		}
		above = y
	}
	return above, ctx.Err()
}

// Grad is that of multiscaleCovariance. Here rounding is relative to each term: nothing is
// multiplied by an inverse afterwards that would magnify it.
func (r *multiscaleRows) Grad(ctx context.Context, grad, weight []float64, u, w *mat.Dense) error {
	const most = stripColumns / 2
	n, columns := u.Dims()
	for lo := 0; lo < columns; lo += most {
		hi := min(columns, lo+most)
		if err := r.stripGrad(ctx, grad, weight[lo:hi], u.Slice(0, n, lo, hi).(*mat.Dense), w.Slice(0, n, lo, hi).(*mat.Dense)); err != nil {
			return err
		}
	}
	return nil
}

func (r *multiscaleRows) stripGrad(ctx context.Context, grad, weight []float64, u, w *mat.Dense) error {
	n, k := u.Dims()
	width := (2*k + 7) / 8 * 8
	both := borrowSingle(n, width) // u and w side by side, then zeros
	defer func() { returnSingle(both) }()
	beside(both, u, w)
	fine := fineOf(r.cov.fine)
	slope := make([]float64, len(fine.coeff))
	err := r.fine.slopes(ctx, slope, weight, both, nil)
	fine.chain(grad[:len(r.kernel.fine.Params())], slope, err)
	if err != nil {
		return err
	}
	for j := range r.singles {
		above := borrowSingle(len(r.list.nodes[j+1]), width)
		err := r.list.descendSingle(ctx, j, above, both)
		returnSingle(both)
		if both = above; err != nil {
			return err
		}
		if err := r.singleGrad(ctx, grad, j, weight, both); err != nil {
			return err
		}
	}
	if len(r.doubles) == 0 {
		return nil
	}
	wide, other := emptyBlock(both.Rows, k), emptyBlock(both.Rows, k)
	apart(wide, other, both, weight)
	return r.cov.stripGrad(ctx, grad, r.list, len(r.singles), wide, other)
}

// singleGrad adds the gradient of scale j, given u and w at its nodes side by side. As in
// unit.project, the scaling to variance one follows Φ.
func (r *multiscaleRows) singleGrad(ctx context.Context, grad []float64, j int, weight []float64, both blas32.General) error {
	one, part := r.singles[j], r.cov.parts[j]
	slope, along := make([]float64, len(part.raw.coeff)), make([]float64, both.Rows)
	inverse := one.inverses()
	err := one.slopes(ctx, slope, weight, both, func(q []float64, i int) {
		phi, sum := one.row(i), 0.0
		for e, v := range phi {
			sum += float64(float64(v) * q[e])
		}
		along[i] = sum
		for e, v := range phi {
			q[e] = (q[e] - float64(sum*float64(v))) * inverse[i]
		}
	})
	if err != nil {
		return err
	}
	part.chainShape(grad[r.kernel.shapeAt(j):][:len(r.kernel.shape)], slope)
	twice, err := totalOver(ctx, r.list.part(j+1), along)
	grad[r.kernel.varianceAt(j)] += twice / 2
	return err
}

// total adds up x by blocks of rows and a tree.
func total(x []float64) float64 {
	sum, _ := totalOver(context.Background(), portion{}, x) // no other rank can fail
	return sum
}

// totalOver is total of numbers of which this rank has a part.
func totalOver(ctx context.Context, p portion, x []float64) (float64, error) {
	parts := make([]float64, (len(x)+ranks.BlockRows-1)/ranks.BlockRows)
	parallel.Ranges(len(parts), 16, func(lo, hi int) {
		for b := lo; b < hi; b++ {
			for _, v := range x[b*ranks.BlockRows : min(len(x), (b+1)*ranks.BlockRows)] {
				parts[b] += v
			}
		}
	})
	sum := []float64{0}
	err := p.group.Sum(ctx, sum, parts, p.all)
	return sum[0], err
}

// round sets dst to scale·x in float32, and returns the sums of the columns of x for each
// block of rows.
func round(dst blas32.General, x *mat.Dense, scale float64) []float64 {
	raw, k := x.RawMatrix(), dst.Cols
	pass := meter.Start()
	defer pass.Done(12 * raw.Rows * k)
	parts := make([]float64, (raw.Rows+ranks.BlockRows-1)/ranks.BlockRows*k)
	parallel.Ranges(raw.Rows, ranks.BlockRows, func(lo, hi int) {
		if k == 4 && raw.Stride == 4 && dst.Stride == 4 {
			copy(parts[lo/ranks.BlockRows*4:], roundFours(dst.Data[4*lo:4*hi], raw.Data[4*lo:4*hi], scale))
			return
		}
		sum := make([]float64, k) // parts of others are in the same cache line
		for i := lo; i < hi; i++ {
			row, to := raw.Data[i*raw.Stride:][:k], dst.Data[i*dst.Stride:][:k]
			for s, v := range row {
				sum[s] += v
				to[s] = float32(scale * v)
			}
		}
		copy(parts[lo/ranks.BlockRows*k:], sum)
	})
	return parts
}

// roundFours is round for rows of four numbers.
func roundFours(dst []float32, x []float64, scale float64) []float64 {
	var sum [4]float64
	for q := 0; q+4 <= len(x); q += 4 {
		from, to := (*[4]float64)(x[q:]), (*[4]float32)(dst[q:])
		for s, v := range from {
			sum[s] += v
			to[s] = float32(scale * v)
		}
	}
	return sum[:]
}

// widen sets the rows of dst to those of x plus y.
func widen(dst *mat.Dense, x blas32.General, y []float64) {
	raw := dst.RawMatrix()
	pass := meter.Start()
	defer pass.Done(12 * raw.Rows * raw.Cols)
	parallel.Ranges(raw.Rows, 4096, func(lo, hi int) {
		if len(y) == 4 && raw.Stride == 4 && x.Stride == 4 {
			widenFours(raw.Data[4*lo:4*hi], x.Data[4*lo:4*hi], [4]float64(y))
			return
		}
		for i := lo; i < hi; i++ {
			row, from := raw.Data[i*raw.Stride:][:len(y)], x.Data[i*x.Stride:][:len(y)]
			for s, v := range from {
				row[s] = float64(v) + y[s]
			}
		}
	})
}

// widenFours is widen for rows of four numbers.
func widenFours(dst []float64, x []float32, y [4]float64) {
	for q := 0; q+4 <= len(x); q += 4 {
		from, to := (*[4]float32)(x[q:]), (*[4]float64)(dst[q:])
		to[0], to[1], to[2], to[3] = float64(from[0])+y[0], float64(from[1])+y[1], float64(from[2])+y[2], float64(from[3])+y[3]
	}
}

// beside sets the rows of both to those of u and w, and zeros.
func beside(both blas32.General, u, w *mat.Dense) {
	from, more := u.RawMatrix(), w.RawMatrix()
	k := from.Cols
	pass := meter.Start()
	defer pass.Done(from.Rows * (16*k + 4*both.Cols))
	parallel.Ranges(from.Rows, 4096, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			row := both.Data[i*both.Stride:][:both.Cols]
			for s, v := range from.Data[i*from.Stride:][:k] {
				row[s] = float32(v)
			}
			for s, v := range more.Data[i*more.Stride:][:k] {
				row[k+s] = float32(v)
			}
			clear(row[2*k:])
		}
	})
}

// apart is the inverse of beside, and weighs the columns of u.
func apart(u, w *mat.Dense, both blas32.General, weight []float64) {
	k := len(weight)
	parallel.Ranges(both.Rows, 4096, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			row, one, two := both.Data[i*both.Stride:][:both.Cols], u.RawRowView(i), w.RawRowView(i)
			for s, v := range weight {
				one[s], two[s] = v*float64(row[s]), float64(row[k+s])
			}
		}
	})
}
