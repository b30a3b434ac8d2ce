package kernel

import (
	"cmp"
	"context"
	"slices"
	"sync"

	"gonum.org/v1/gonum/mat"

	"grfgp/solve"
	"grfgp/space"
)

// Root is a kernel at a list of nodes as K[rows, rows] = F·Fᵀ, in the blocks of a space, for one set of hyperparameters after
// another. Products, gradients, draws and values elsewhere follow from F alone:
//
//	K[rows, rows]·x = F(Fᵀx),  functions drawn from N(0, K) are F·w with w ~ N(0, I),
//	and K[·, rows]·u is F_·(Fᵀu), with the F_· of other nodes.
//
// Kernels compose as their roots do: a sum has the columns of its terms side by side, a scaling multiplies the rows, many
// scales are [Φ₀ | s₁P₁Φ₁ | …], and a constant is one column. A kernel that has entries alone has a Root too, in the
// float64 memory of this process, by products with its entries. A Root is used by one goroutine, and freed by its owner.
type Root interface {
	// Set goes to other hyperparameters. It must have been called before the methods below.
	Set(ctx context.Context, theta []float64) error
	// Apply sets dst to K[rows, rows]·x, or adds it.
	Apply(ctx context.Context, dst, x space.Block, add bool) error
	// Slopes adds Σ_s weight_s·u_sᵀ(∂K[rows, rows]/∂θ_j)w_s to grad[j].
	Slopes(ctx context.Context, grad, weight []float64, u, w space.Block) error
	// AddDiag adds the diagonal to dst.
	AddDiag(ctx context.Context, dst []float64) error
	// Precondition approximates K[rows, rows] + constant·11ᵀ + diag(noise). own says that the kernel has something better
	// than the diagonal.
	Precondition(ctx context.Context, constant float64, noise []float64) (p solve.Factored, own bool, err error)
	// Here sets dst to functions at the rows, given their weights for values elsewhere, to which nothing was added; or adds
	// them.
	Here(ctx context.Context, dst space.Block, of Values, w Weights, add bool) error
	Free()
}

// Values are functions at some nodes, at one set of hyperparameters. They are used by one goroutine at a time, and freed
// by their owner.
type Values interface {
	// Zero returns the weights of so many functions that are zero.
	Zero(columns int) Weights
	// Prior returns those of draws from N(0, K): of Covariance.Prior with the same seed, from draw number first on.
	Prior(ctx context.Context, columns, first int, seed uint64) (Weights, error)
	// Settle adds K[·, rows]·u to the functions, for the root of some rows at the same hyperparameters.
	Settle(ctx context.Context, w Weights, from Root, u space.Block) error
	// Mul sets dst to the functions at as many nodes as it has rows, from place lo on, or adds them.
	Mul(ctx context.Context, dst space.Block, w Weights, lo int, add bool) error
	Free()
}

// Weights are the weights w of functions F·w, as Values understand them.
type Weights interface{ Free() }

// RootOptions say how a Root is to compute.
type RootOptions struct {
	// Rough lets products and gradients of float64 blocks be computed in float32 where that magnifies rounding little:
	// for learning, and for samples.
	Rough bool
}

// rootKernel is a kernel that makes its own roots. The result is nil where the space has no place for it.
type rootKernel interface {
	Kernel
	root(ctx context.Context, s space.Space, rows []int, opts RootOptions) (Root, error)
}

// valued is a covariance that makes its own functions. The result is nil where the space has no place for them.
type valued interface {
	values(ctx context.Context, s space.Space, nodes []int) (Values, error)
}

// RootOf returns the root of a kernel at a list of nodes, of which other processes may have other rows; nil where the
// space has no place for it. Every kernel has one in the float64 memory of this process.
func RootOf(ctx context.Context, k Kernel, s space.Space, rows []int, opts RootOptions) (Root, error) {
	if own, ok := k.(rootKernel); ok {
		return own.root(ctx, s, rows, opts)
	}
	if !space.IsHost(s) {
		return nil, nil
	}
	return &entriesRoot{k: k, space: s, axis: space.Rows(len(rows)), rows: slices.Clone(rows)}, nil
}

// ValuesOf returns functions at nodes, to be combined with roots of the same kernel in the same space; nil where that
// has no place for them.
func ValuesOf(ctx context.Context, c Covariance, s space.Space, nodes []int) (Values, error) {
	if own, ok := c.(valued); ok {
		return own.values(ctx, s, nodes)
	}
	if !space.IsHost(s) {
		return nil, nil
	}
	return &entriesValues{cov: c, space: s, nodes: nodes}, nil
}

// ByRows reports that diagonals, entries and functions at some nodes of a list have the bits that they have there with the
// whole list, and take as much less.
func ByRows(c Covariance) bool {
	own, ok := c.(interface{ byRows() bool })
	return ok && own.byRows()
}

func (c *grfCovariance) byRows() bool        { return true }
func (c *linearCovariance) byRows() bool     { return true }
func (c *constant) byRows() bool             { return true }
func (c *multiscaleCovariance) byRows() bool { return ByRows(c.fine) }
func (c *loneCovariance) byRows() bool       { return ByRows(c.raw) }
func (c *unitCovariance) byRows() bool       { return ByRows(c.raw) }

func (c *sumCovariance) byRows() bool {
	return !slices.ContainsFunc(c.terms, func(t sumTerm) bool { return !ByRows(t.Covariance) })
}

// entriesRoot is the root of a kernel that has products of its own.
type entriesRoot struct {
	k     Kernel
	space space.Space
	axis  space.Axis
	rows  []int
	cov   Covariance
	op    solve.Operator
}

func (r *entriesRoot) Free() {}

func (r *entriesRoot) Set(_ context.Context, theta []float64) (err error) {
	if r.cov, err = r.k.At(theta); err == nil {
		r.op = r.cov.Cross(r.rows, r.rows)
	}
	return err
}

func (r *entriesRoot) Apply(ctx context.Context, dst, x space.Block, add bool) error {
	return addTo(r.space, dst, add, func(to space.Block) error { return r.op.Apply(ctx, space.DenseOf(to), space.DenseOf(x)) })
}

// addTo lets set fill dst, or a block that is then added to it.
func addTo(s space.Space, dst space.Block, add bool, set func(to space.Block) error) error {
	if !add {
		return set(dst)
	}
	to := s.Block(dst.Axis(), dst.Columns())
	defer to.Free()
	if err := set(to); err != nil {
		return err
	}
	dst.AddScaled(to, nil, 1)
	return nil
}

func (r *entriesRoot) Slopes(ctx context.Context, grad, weight []float64, u, w space.Block) error {
	left := r.space.Block(u.Axis(), u.Columns())
	defer left.Free()
	left.Zero()
	left.AddColumns(u, upTo(len(weight)), weight)
	return r.cov.Grad(ctx, grad, r.rows, space.DenseOf(left), space.DenseOf(w))
}

func (r *entriesRoot) AddDiag(ctx context.Context, dst []float64) error {
	return addDiag(ctx, r.cov, dst, r.rows)
}

func addDiag(ctx context.Context, c Covariance, dst []float64, rows []int) error {
	d := make([]float64, len(rows))
	if err := c.Diag(ctx, d, rows); err != nil {
		return err
	}
	for a, v := range d {
		dst[a] += v
	}
	return nil
}

func (r *entriesRoot) Precondition(ctx context.Context, constant float64, noise []float64) (solve.Factored, bool, error) {
	if own := AbilitiesOf(r.cov).Precondition; own != nil && len(r.rows) > 0 {
		p, err := own(ctx, r.rows, constant, noise)
		return p, true, err
	}
	p, err := jacobi(ctx, r, r.space, r.axis, constant, noise)
	return p, false, err
}

// jacobi returns the diagonal of a root plus a constant and noise as a preconditioner.
func jacobi(ctx context.Context, r Root, s space.Space, a space.Axis, constant float64, noise []float64) (*solve.Jacobi, error) {
	d := slices.Clone(noise)
	for i := range d {
		d[i] += constant
	}
	if err := r.AddDiag(ctx, d); err != nil {
		return nil, err
	}
	return solve.NewJacobi(s, a, d)
}

func (r *entriesRoot) Here(_ context.Context, dst space.Block, _ Values, w Weights, add bool) error {
	prior := w.(*entriesWeights).prior
	return addTo(r.space, dst, add, func(to space.Block) error {
		out := space.DenseOf(to)
		eachPlace(len(r.rows), func(a int) { copy(out.RawRowView(a), prior.RawRowView(r.rows[a])) })
		return nil
	})
}

// entriesValues are functions of a covariance that has products of its own.
type entriesValues struct {
	cov   Covariance
	space space.Space
	nodes []int
}

// entriesWeights are functions themselves: draws from the prior at all nodes, and what was added at those of the Values.
type entriesWeights struct {
	prior, more *mat.Dense // nil: zero
	columns     int
}

func (w *entriesWeights) Free() {}

func (v *entriesValues) Free() {}

func (v *entriesValues) Zero(columns int) Weights { return &entriesWeights{columns: columns} }

func (v *entriesValues) Prior(ctx context.Context, columns, first int, seed uint64) (Weights, error) {
	n := v.cov.Nodes()
	prior := mat.NewDense(n, first+columns, nil)
	if err := v.cov.Prior(ctx, prior, seed); err != nil {
		return nil, err
	}
	return &entriesWeights{prior: prior.Slice(0, n, first, first+columns).(*mat.Dense), columns: columns}, nil
}

func (v *entriesValues) Settle(ctx context.Context, w Weights, from Root, u space.Block) error {
	own := w.(*entriesWeights)
	if len(v.nodes) == 0 || u.Axis().Own == 0 {
		return ctx.Err()
	}
	more := mat.NewDense(len(v.nodes), own.columns, nil)
	if err := v.cov.Cross(v.nodes, from.(*entriesRoot).rows).Apply(ctx, more, space.DenseOf(u)); err != nil {
		return err
	}
	if own.more != nil {
		more.Add(more, own.more)
	}
	own.more = more
	return nil
}

func (v *entriesValues) Mul(ctx context.Context, dst space.Block, w Weights, lo int, add bool) error {
	own := w.(*entriesWeights)
	return addTo(v.space, dst, add, func(to space.Block) error {
		to.Zero()
		out := space.DenseOf(to)
		eachPlace(to.Axis().Own, func(a int) {
			row := out.RawRowView(a)
			if own.prior != nil {
				copy(row, own.prior.RawRowView(v.nodes[lo+a]))
			}
			if own.more != nil {
				for s, x := range own.more.RawRowView(lo + a) {
					row[s] += x
				}
			}
		})
		return ctx.Err()
	})
}

// byRoot are the operations of a covariance that follow from the root of its kernel, in the memory of this process.
type byRoot struct {
	of    rootKernel
	theta []float64
	self  valued
}

// Cross returns K[rows, cols].
func (c *byRoot) Cross(rows, cols []int) solve.Operator {
	return &rootCross{cov: c, rows: slices.Clone(rows), cols: slices.Clone(cols)}
}

// rootCross is K[rows, cols] of a covariance with roots.
type rootCross struct {
	cov        *byRoot
	rows, cols []int
	mu         sync.Mutex
	right      Root
	left       Values // nil where the lists are one
}

func (o *rootCross) Dims() (r, c int) { return len(o.rows), len(o.cols) }

func (o *rootCross) Apply(ctx context.Context, dst, x *mat.Dense) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	switch {
	case len(o.rows) == 0:
		return ctx.Err()
	case len(o.cols) == 0:
		dst.Zero()
		return ctx.Err()
	}
	if err := o.make(ctx); err != nil {
		return err
	}
	rows, columns := dst.Dims()
	for lo := 0; lo < columns; lo += crossColumns {
		hi := min(columns, lo+crossColumns)
		if err := o.apply(ctx, dst.Slice(0, rows, lo, hi).(*mat.Dense), x.Slice(0, len(o.cols), lo, hi)); err != nil {
			return err
		}
	}
	return ctx.Err()
}

// crossColumns is how many columns rootCross takes at a time: weights and scales may have as many rows as the graph has nodes.
const crossColumns = 128

// apply is Apply to a few columns, once the roots are made.
func (o *rootCross) apply(ctx context.Context, dst *mat.Dense, x mat.Matrix) (err error) {
	here, columns := space.Host(), dst.RawMatrix().Cols
	side, out := here.Block(space.Rows(len(o.cols)), columns), here.Block(space.Rows(len(o.rows)), columns)
	defer side.Free()
	defer out.Free()
	space.DenseOf(side).Copy(x)
	if o.left == nil {
		err = o.right.Apply(ctx, out, side, false)
	} else {
		w := o.left.Zero(columns)
		defer w.Free()
		if err = o.left.Settle(ctx, w, o.right, side); err == nil {
			err = o.left.Mul(ctx, out, w, 0, false)
		}
	}
	dst.Copy(space.DenseOf(out))
	return err
}

// make makes the roots when they are first used.
func (o *rootCross) make(ctx context.Context) (err error) {
	if o.right != nil {
		return nil
	}
	right, err := o.cov.root(ctx, o.cols)
	if err == nil && !slices.Equal(o.rows, o.cols) {
		o.left, err = o.cov.self.values(ctx, space.Host(), o.rows)
	}
	if err == nil {
		o.right = right
	}
	return err
}

// root returns the root at some nodes.
func (c *byRoot) root(ctx context.Context, rows []int) (Root, error) {
	r, err := c.of.root(ctx, space.Host(), rows, RootOptions{})
	if err == nil {
		err = r.Set(ctx, c.theta)
	}
	return r, err
}

// Prior sets dst, a row for each node, to draws from N(0, K).
func (c *byRoot) Prior(ctx context.Context, dst *mat.Dense, seed uint64) error {
	n, columns := dst.Dims()
	v, err := c.self.values(ctx, space.Host(), upTo(n))
	if err != nil {
		return err
	}
	defer v.Free()
	w, err := v.Prior(ctx, columns, 0, seed)
	if err != nil {
		return err
	}
	defer w.Free()
	out := space.Host().Block(space.Rows(n), columns)
	defer out.Free()
	err = v.Mul(ctx, out, w, 0, false)
	dst.Copy(space.DenseOf(out))
	return cmp.Or(err, ctx.Err())
}

// Grad adds Σ_s u_sᵀ(∂K[rows, rows]/∂θ_j)w_s to grad[j].
func (c *byRoot) Grad(ctx context.Context, grad []float64, rows []int, u, w *mat.Dense) error {
	if len(rows) == 0 {
		return ctx.Err()
	}
	r, err := c.root(ctx, rows)
	if err != nil {
		return err
	}
	defer r.Free()
	left, right := hostBlock(u), hostBlock(w)
	defer left.Free()
	defer right.Free()
	return cmp.Or(r.Slopes(ctx, grad, slices.Repeat([]float64{1}, left.Columns()), left, right), ctx.Err())
}
