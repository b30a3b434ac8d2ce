package kernel

import (
	"cmp"
	"context"
	"slices"

	"gonum.org/v1/gonum/mat"

	"grfgp/solve"
	"grfgp/space"
)

// linearRoot is F = s·X[rows]. X depends on the hyperparameters if it is that of random Fourier features.
type linearRoot struct {
	of    Kernel
	space space.Space
	axis  space.Axis
	rows  []int
	x     space.Matrix // nil: not known yet
	cov   *linearCovariance
}

func (l *linear) root(ctx context.Context, s space.Space, rows []int, _ RootOptions) (Root, error) {
	a, err := s.Axis(ctx, len(rows))
	if err != nil {
		return nil, err
	}
	x, err := l.x.in(ctx, s, a, rows)
	if x == nil || err != nil {
		return nil, err
	}
	return &linearRoot{of: l, space: s, axis: a, rows: slices.Clone(rows), x: x}, nil
}

func (f *fourier) root(ctx context.Context, s space.Space, rows []int, _ RootOptions) (Root, error) {
	a, err := s.Axis(ctx, len(rows))
	return &linearRoot{of: f, space: s, axis: a, rows: slices.Clone(rows)}, err
}

func (c *denseColumns) in(_ context.Context, s space.Space, a space.Axis, rows []int) (space.Matrix, error) {
	_, width := c.x.Dims()
	if len(rows) > 0 && consecutive(rows) {
		return s.Dense(a, c.x.Slice(rows[0], rows[0]+len(rows), 0, width).(*mat.Dense)), nil
	}
	return s.Dense(a, c.dense(rows)), nil
}

func (r *linearRoot) Free() {
	if r.x != nil {
		r.x.Free()
		r.x = nil
	}
}

func (r *linearRoot) Set(ctx context.Context, theta []float64) error {
	cov, err := r.of.At(theta)
	if err != nil {
		return err
	}
	r.cov = cov.(*linearCovariance)
	if _, depends := r.cov.x.(*fourierFeatures); depends {
		r.Free()
		r.x, err = r.cov.x.in(ctx, r.space, r.axis, r.rows)
	}
	return err
}

// project returns scale·Xᵀu.
func (r *linearRoot) project(u space.Block, scale float64) space.Block {
	b := r.space.Block(space.Rows(r.cov.width()), u.Columns())
	r.x.MulT(b, u, scale, false)
	return b
}

func (r *linearRoot) Apply(_ context.Context, dst, x space.Block, add bool) error {
	inner := r.project(x, r.cov.variance)
	defer inner.Free()
	r.x.Mul(dst, inner, 0, 1, add)
	return r.space.Err()
}

func (r *linearRoot) Slopes(ctx context.Context, grad, weight []float64, u, w space.Block) error {
	left, right := r.project(u, 1), r.project(w, 1)
	defer left.Free()
	defer right.Free()
	if f, ok := r.cov.x.(*fourierFeatures); ok {
		return r.featureSlopes(ctx, grad, weight, f, u, w, left, right)
	}
	for s, v := range left.Sums(right, nil) {
		grad[0] += weight[s] * v
	}
	return r.space.Err()
}

// featureSlopes are Slopes of Fourier features: ⟨u·wᵀ, ∂(ZZᵀ)⟩ = ⟨u·(Zᵀw)ᵀ + w·(Zᵀu)ᵀ, ∂Z⟩, for weighted columns.
func (r *linearRoot) featureSlopes(ctx context.Context, grad, weight []float64, f *fourierFeatures, u, w, left, right space.Block) error {
	us, ws, zu, zw := denseCopy(u), denseCopy(w), denseCopy(left), denseCopy(right)
	if err := r.space.Err(); err != nil {
		return err
	}
	for _, x := range []*mat.Dense{us, ws} {
		eachPlace(len(r.rows), func(a int) {
			row := x.RawRowView(a)
			for s, v := range weight {
				row[s] *= v
			}
		})
	}
	for j, v := range space.SumRows(r.space, r.axis, len(grad), func(lo, hi int, sums []float64) {
		if hi > lo && ctx.Err() == nil {
			f.slopes(sums, r.rows[lo:hi], us.Slice(lo, hi, 0, len(weight)), ws.Slice(lo, hi, 0, len(weight)), zu, zw, r.cov.variance)
		}
	}) {
		grad[j] += v
	}
	return cmp.Or(r.space.Err(), ctx.Err())
}

func (r *linearRoot) AddDiag(ctx context.Context, dst []float64) error {
	return addDiag(ctx, r.cov, dst, r.rows)
}

func (r *linearRoot) Precondition(ctx context.Context, constant float64, noise []float64) (solve.Factored, bool, error) {
	if len(r.rows) > 0 && fewColumns(r.cov) && affordable(len(r.rows), r.cov.width()) {
		p, err := solve.NewLowRank(r.space, r.axis, factorOf([]lowRank{r.cov}, r.rows, constant), noise)
		return p, true, err
	}
	p, err := jacobi(ctx, r, r.space, r.axis, constant, noise)
	return p, false, err
}

func (r *linearRoot) Here(_ context.Context, dst space.Block, of Values, w Weights, add bool) error {
	own := w.(linearWeights).Block
	if _, ok := of.(*fourierValues); ok { // whose coefficients are in the memory of this process
		own = r.space.Block(space.Rows(r.cov.width()), dst.Columns())
		defer own.Free()
		space.Convert(own, w.(linearWeights).Block, false)
	}
	r.x.Mul(dst, own, 0, 1, add)
	return r.space.Err()
}

// linearValues are functions X·b at some nodes.
type linearValues struct {
	cov   *linearCovariance
	space space.Space
	x     space.Matrix
}

// linearWeights are coefficients b.
type linearWeights struct{ space.Block }

func (c *linearCovariance) values(ctx context.Context, s space.Space, nodes []int) (Values, error) {
	if _, ok := c.x.(*fourierFeatures); ok {
		return &fourierValues{c, s, nodes}, nil
	}
	a, err := s.Axis(ctx, len(nodes))
	if err != nil {
		return nil, err
	}
	x, err := c.x.in(ctx, s, a, nodes)
	if x == nil || err != nil {
		return nil, err
	}
	return &linearValues{c, s, x}, nil
}

func (v *linearValues) Free() { v.x.Free() }

func (v *linearValues) weights(columns int) linearWeights {
	return linearWeights{v.space.Block(space.Rows(v.cov.x.width()), columns)}
}

func (v *linearValues) Zero(columns int) Weights {
	w := v.weights(columns)
	w.Zero()
	return w
}

func (v *linearValues) Prior(_ context.Context, columns, first int, seed uint64) (Weights, error) {
	w := v.weights(columns)
	w.Set(v.cov.coefficients(columns, first, seed).RawMatrix().Data)
	return w, nil
}

func (v *linearValues) Settle(_ context.Context, w Weights, from Root, u space.Block) error {
	from.(*linearRoot).x.MulT(w.(linearWeights).Block, u, v.cov.variance, true)
	return v.space.Err()
}

func (v *linearValues) Mul(_ context.Context, dst space.Block, w Weights, lo int, add bool) error {
	v.x.Mul(dst, w.(linearWeights).Block, lo, 1, add)
	return v.space.Err()
}

// hostBlock returns a copy of a matrix in the memory of this process.
func hostBlock(x *mat.Dense) space.Block {
	n, columns := x.Dims()
	b := space.Host().Block(space.Rows(n), columns)
	space.DenseOf(b).Copy(x)
	return b
}

// denseCopy returns the numbers of a block.
func denseCopy(b space.Block) *mat.Dense {
	if b.Axis().Own == 0 {
		return &mat.Dense{}
	}
	x := mat.NewDense(b.Axis().Own, b.Columns(), nil)
	b.Get(x.RawMatrix().Data)
	return x
}

// fourierValues are functions Z·b at some nodes, whose rows of Z are computed when they are used. Coefficients are in the memory
// of this process.
type fourierValues struct {
	cov   *linearCovariance
	space space.Space
	nodes []int
}

func (v *fourierValues) Free() {}

func (v *fourierValues) Zero(columns int) Weights {
	w := linearWeights{space.Host().Block(space.Rows(v.cov.width()), columns)}
	w.Zero()
	return w
}

func (v *fourierValues) Prior(_ context.Context, columns, first int, seed uint64) (Weights, error) {
	w := v.Zero(columns).(linearWeights)
	w.Set(v.cov.coefficients(columns, first, seed).RawMatrix().Data)
	return w, nil
}

func (v *fourierValues) Settle(_ context.Context, w Weights, from Root, u space.Block) error {
	more := from.(*linearRoot).project(u, v.cov.variance)
	defer more.Free()
	space.Convert(w.(linearWeights).Block, more, true)
	return v.space.Err()
}

// fourierBlock is the number of rows of Z that are computed at a time.
const fourierBlock = 4096

func (v *fourierValues) Mul(ctx context.Context, dst space.Block, w Weights, lo int, add bool) error {
	here, coefficients := space.Host(), w.(linearWeights).Block
	n := dst.Axis().Own
	out := here.Block(space.Rows(n), dst.Columns())
	defer out.Free()
	whole := space.DenseOf(out)
	for first := 0; first < n; first += fourierBlock {
		end := min(n, first+fourierBlock)
		a := space.Rows(end - first)
		part := here.Block(a, dst.Columns())
		here.Dense(a, v.cov.x.dense(v.nodes[lo+first:lo+end])).Mul(part, coefficients, 0, 1, false)
		whole.Slice(first, end, 0, dst.Columns()).(*mat.Dense).Copy(space.DenseOf(part))
		part.Free()
		if err := ctx.Err(); err != nil {
			return err
		}
	}
	space.Convert(dst, out, add)
	return v.space.Err()
}
