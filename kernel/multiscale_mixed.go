package kernel

import (
	"context"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/mat"

	"grfgp/internal/meter"
	"grfgp/internal/parallel"
	"grfgp/internal/ranks"
	"grfgp/solve"
	"grfgp/sparse"
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
	fine     *grfRows
	singles  []*grfRows       // of the first scales, with variance one
	up, down []*sparse.Single // interpolation to the nodes of the singles, and its transpose
	cov      *multiscaleCovariance
	doubles  []unitCross // of the other scales
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
	grf, ok := m.fine.(*GRF)
	if !ok || len(rows) == 0 {
		return nil
	}
	if m.firstSmall() == len(m.scales) {
		return nil
	}
	r := &multiscaleRows{kernel: m, list: m.chain(rows), constant: constant}
	if r.fine = grf.newRows(rows, 0); r.fine == nil {
		return nil
	}
	for k, s := range m.scales {
		nodes := r.list.nodes[k+1]
		one := s.grf.newRows(nodes, 0)
		// A row of ΦΦᵀ adds up to about as much as it has entries in Φ, and each node stands
		// for several rows.
		if one == nil || float64(len(one.val))*float64(len(rows)) > magnified*float64(len(nodes))*float64(len(nodes)) {
			break
		}
		one.inverse = make([]float64, len(nodes))
		r.singles = append(r.singles, one)
	}
	for k := range max(1, len(r.singles)) {
		r.up, r.down = append(r.up, r.list.up[k].Single()), append(r.down, r.list.up[k].T().Single())
	}
	return r
}

// Dims returns the number of rows, twice.
func (r *multiscaleRows) Dims() (rows, cols int) {
	n := len(r.list.nodes[0])
	return n, n
}

func (r *multiscaleRows) Set(ctx context.Context, theta []float64) error {
	cov, err := r.kernel.At(theta)
	if err != nil {
		return err
	}
	return r.set(ctx, cov.(*multiscaleCovariance))
}

// set goes to the hyperparameters of a covariance.
func (r *multiscaleRows) set(ctx context.Context, cov *multiscaleCovariance) error {
	r.cov = cov
	if err := r.fine.set(ctx, r.cov.fine.(*grfCovariance)); err != nil {
		return err
	}
	for k, s := range r.singles {
		if err := s.set(ctx, r.cov.parts[k].raw); err != nil {
			return err
		}
	}
	r.doubles = r.doubles[:0]
	for k := len(r.singles); k < len(r.cov.parts); k++ {
		nodes := r.list.nodes[k+1]
		r.doubles = append(r.doubles, r.cov.parts[k].cross(nodes, nodes))
	}
	return nil
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
	sums := round(own, x, 1)
	if err := r.fine.square(ctx, out, own); err != nil {
		return err
	}
	above, err := r.coarse(ctx, x)
	if err != nil {
		return err
	}
	defer returnSingle(above)
	r.up[0].MulAdd(out, above)
	for s := range sums {
		sums[s] *= r.constant
	}
	widen(dst, out, sums)
	return ctx.Err()
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
		r.list.up[k].T().Mul(down[k], below)
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
			r.upTo(k+1).MulAdd(y, above)
			returnSingle(above)
		}
		above = y
	}
	return above, ctx.Err()
}

// upTo returns the interpolation from scale k to the one below it.
func (r *multiscaleRows) upTo(k int) *sparse.Single {
	if k < len(r.up) {
		return r.up[k]
	}
	return r.list.up[k].Single()
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
	slope := make([]float64, len(r.fine.cov.coeff))
	err := r.fine.slopes(ctx, slope, weight, both, nil)
	r.fine.cov.chain(grad[:len(r.kernel.fine.Params())], slope, err)
	if err != nil {
		return err
	}
	for j := range r.singles {
		above := borrowSingle(len(r.list.nodes[j+1]), width)
		r.down[j].Mul(above, both)
		returnSingle(both)
		both = above
		if err := r.singleGrad(ctx, grad, j, weight, both); err != nil {
			return err
		}
	}
	if len(r.doubles) == 0 {
		return nil
	}
	wide, other := mat.NewDense(both.Rows, k, nil), mat.NewDense(both.Rows, k, nil)
	apart(wide, other, both, weight)
	return r.cov.stripGrad(ctx, grad, r.list, len(r.singles), wide, other)
}

// singleGrad adds the gradient of scale j, given u and w at its nodes side by side. As in
// unit.project, the scaling to variance one follows Φ.
func (r *multiscaleRows) singleGrad(ctx context.Context, grad []float64, j int, weight []float64, both blas32.General) error {
	one, part := r.singles[j], r.cov.parts[j]
	slope, along := make([]float64, len(part.raw.coeff)), make([]float64, both.Rows)
	ptr := one.pattern.ptr
	err := one.slopes(ctx, slope, weight, both, func(q []float64, i int) {
		phi, sum := one.val[ptr[i]:ptr[i+1]], 0.0
		for e, v := range phi {
			sum += float64(float64(v) * q[e])
		}
		along[i] = sum
		for e, v := range phi {
			q[e] = (q[e] - float64(sum*float64(v))) * one.inverse[i]
		}
	})
	if err != nil {
		return err
	}
	full := make([]float64, len(part.raw.theta))
	part.raw.chain(full, slope, nil)
	shape := grad[r.kernel.shapeAt(j):][:len(r.kernel.shape)]
	for p, g := range full[len(full)-len(shape):] { // without the variance, if there is one
		shape[p] += g * part.variance
	}
	grad[r.kernel.varianceAt(j)] += total(along) / 2
	return nil
}

// total adds up x by blocks of rows and a tree.
func total(x []float64) float64 {
	parts := make([]float64, (len(x)+ranks.BlockRows-1)/ranks.BlockRows)
	parallel.Ranges(len(parts), 16, func(lo, hi int) {
		for b := lo; b < hi; b++ {
			for _, v := range x[b*ranks.BlockRows : min(len(x), (b+1)*ranks.BlockRows)] {
				parts[b] += v
			}
		}
	})
	sum := []float64{0}
	ranks.TreeSum(sum, parts)
	return sum[0]
}

// round sets dst to scale·x in float32, and returns the sums of the columns of x, by blocks
// of rows and a tree.
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
	sums := make([]float64, k)
	ranks.TreeSum(sums, parts)
	return sums
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
