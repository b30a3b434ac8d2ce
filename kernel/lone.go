package kernel

import (
	"context"
	"math"
	"slices"
	"sync"

	"gonum.org/v1/gonum/mat"

	"grfgp/kernel/internal/normal"
	"grfgp/solve"
)

// Lone returns a kernel on a graph in which the given nodes have no neighbours. K is zero
// between such a node and all others, and its variance there is the spread of values over
// the other nodes, as a draw from the prior has it on average:
//
//	v = E[mean over j of (f_j − f̄)²] = tr(K)/m − 1ᵀK1/m²,  over m of the other nodes.
//
// So a lone node is to other nodes as these are to each other. Under K itself it has the
// eigenvalue of constant functions, which is many times that: a level that all connected
// nodes share, and that the unknown mean takes up. With one scale it is the usual rule for
// islands in models of areas (Freni-Sterrantino, Ventrucci and Rue, 2018). Between the other
// nodes K is unchanged, to the bit.
func Lone(k Kernel, nodes []int) Kernel {
	l := &lone{kernel: k, is: make([]bool, k.Nodes())}
	for _, i := range nodes {
		l.is[i] = true
	}
	var others []int
	for i, alone := range l.is {
		if !alone {
			others = append(others, i)
		}
	}
	step := (len(others) + loneSample - 1) / loneSample
	for a := 0; a < len(others); a += step {
		l.sample = append(l.sample, others[a])
	}
	if len(nodes) == 0 || len(l.sample) < 2 {
		return k
	}
	return l
}

// loneSample is the most nodes whose spread is taken for that of all.
const loneSample = 256

// lone is a kernel with lone nodes.
type lone struct {
	kernel Kernel
	is     []bool // by node
	sample []int  // of the other nodes
}

func (l *lone) Nodes() int      { return l.kernel.Nodes() }
func (l *lone) Params() []Param { return l.kernel.Params() }

// At returns the covariance at theta.
func (l *lone) At(theta []float64) (Covariance, error) {
	cov, err := l.kernel.At(theta)
	if err != nil {
		return nil, err
	}
	return &loneCovariance{l, cov, &loneVariance{of: cov, sample: l.sample, params: len(theta)}}, nil
}

// free reports whether no row is a lone node.
func (l *lone) free(rows []int) bool {
	return !slices.ContainsFunc(rows, func(i int) bool { return l.is[i] })
}

// Training is that of the kernel; what it has for rows alone it has where none of them is
// a lone node.
func (l *lone) Training() Training {
	own := TrainingOf(l.kernel)
	t := Training{Starts: own.Starts, CacheBytes: own.CacheBytes, Patches: own.Patches}
	if own.Cache != nil {
		t.Cache = func(rows []int, maxBytes int) Kernel {
			return &lone{own.Cache(rows, maxBytes), l.is, l.sample}
		}
	}
	if own.Single != nil {
		t.Single = func(rows []int, constant float64) SingleRows {
			if !l.free(rows) {
				return nil
			}
			return own.Single(rows, constant)
		}
	}
	if own.Mixed != nil {
		t.Mixed = func(rows []int, constant float64) MixedRows {
			if !l.free(rows) {
				return nil
			}
			return own.Mixed(rows, constant)
		}
	}
	return t
}

// loneVariance is the variance of lone nodes, found when first asked for.
type loneVariance struct {
	of     Covariance
	sample []int
	params int

	mu    sync.Mutex
	value float64
	known bool
	slope []float64 // by hyperparameter; nil: not known
}

// weights are those of the entries of K[sample, sample] in the variance.
func (v *loneVariance) weights() *mat.SymDense {
	m := len(v.sample)
	g := mat.NewSymDense(m, nil)
	for a := range m {
		for b := a; b < m; b++ {
			g.SetSym(a, b, -1/float64(m*m))
		}
		g.SetSym(a, a, 1/float64(m)-1/float64(m*m))
	}
	return g
}

func (v *loneVariance) get(ctx context.Context) (float64, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.known {
		return v.value, nil
	}
	k := mat.NewSymDense(len(v.sample), nil)
	if err := v.of.Gram(ctx, k, v.sample); err != nil {
		return 0, err
	}
	g, sum := v.weights(), 0.0
	for a := range v.sample {
		for b := range v.sample {
			sum += g.At(a, b) * k.At(a, b)
		}
	}
	v.value, v.known = max(sum, 0), true
	return v.value, nil
}

// addSlope adds weight·∂v/∂θ to grad.
func (v *loneVariance) addSlope(ctx context.Context, grad []float64, weight float64) error {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.slope == nil {
		slope := make([]float64, v.params)
		if err := v.of.GramGrad(ctx, slope, v.sample, v.weights()); err != nil {
			return err
		}
		v.slope = slope
	}
	for j, d := range v.slope {
		grad[j] += weight * d
	}
	return nil
}

// loneCovariance is a lone kernel at one theta: M·K·M + v·P, where P are the lone nodes and
// M = I − P.
type loneCovariance struct {
	*lone
	raw      Covariance
	variance *loneVariance
}

// at returns the places of lone nodes in a list.
func (l *lone) at(rows []int) (places []int) {
	for a, i := range rows {
		if l.is[i] {
			places = append(places, a)
		}
	}
	return places
}

func (c *loneCovariance) Cross(rows, cols []int) solve.Operator {
	raw, left, right := c.raw.Cross(rows, cols), c.at(rows), c.at(cols)
	if len(left) == 0 && len(right) == 0 {
		return raw
	}
	return &loneCross{raw, c.variance, rows, cols, left, right}
}

// loneCross is the covariance between two lists, of which some places are lone nodes.
type loneCross struct {
	raw         solve.Operator
	variance    *loneVariance
	rows, cols  []int
	left, right []int // places of lone nodes
}

func (o *loneCross) Dims() (r, c int) { return o.raw.Dims() }

func (o *loneCross) Apply(ctx context.Context, dst, x *mat.Dense) error {
	masked := x
	if len(o.right) > 0 {
		masked = mat.DenseCopyOf(x)
		zeroRows(masked, o.right)
	}
	if err := o.raw.Apply(ctx, dst, masked); err != nil {
		return err
	}
	zeroRows(dst, o.left)
	return addLone(ctx, dst, x, o.variance, o.rows, o.left, o.cols, o.right)
}

// zeroRows sets rows of x to zero.
func zeroRows(x *mat.Dense, rows []int) {
	for _, a := range rows {
		clear(x.RawRowView(a))
	}
}

// addLone adds v·x_b to row a of dst where both are the same lone node.
func addLone(ctx context.Context, dst, x *mat.Dense, variance *loneVariance, rows, left, cols, right []int) error {
	if len(left) == 0 || len(right) == 0 {
		return nil
	}
	v, err := variance.get(ctx)
	if err != nil {
		return err
	}
	of := map[int][]int{} // node → its places in cols
	for _, b := range right {
		of[cols[b]] = append(of[cols[b]], b)
	}
	for _, a := range left {
		to := dst.RawRowView(a)
		for _, b := range of[rows[a]] {
			for s, u := range x.RawRowView(b) {
				to[s] += v * u
			}
		}
	}
	return nil
}

func (c *loneCovariance) Gram(ctx context.Context, dst *mat.SymDense, rows []int) error {
	if err := c.raw.Gram(ctx, dst, rows); err != nil {
		return err
	}
	places := c.at(rows)
	if len(places) == 0 {
		return nil
	}
	v, err := c.variance.get(ctx)
	if err != nil {
		return err
	}
	for _, a := range places {
		for b, j := range rows {
			entry := 0.0
			if j == rows[a] {
				entry = v
			}
			dst.SetSym(a, b, entry)
		}
	}
	return nil
}

func (c *loneCovariance) Diag(ctx context.Context, dst []float64, rows []int) error {
	if err := c.raw.Diag(ctx, dst, rows); err != nil {
		return err
	}
	return c.fixDiag(ctx, dst, c.at(rows))
}

func (c *loneCovariance) fixDiag(ctx context.Context, dst []float64, places []int) error {
	if len(places) == 0 {
		return nil
	}
	v, err := c.variance.get(ctx)
	if err != nil {
		return err
	}
	for _, a := range places {
		dst[a] = v
	}
	return nil
}

func (c *loneCovariance) Prior(ctx context.Context, dst *mat.Dense, seed uint64) error {
	if err := c.raw.Prior(ctx, dst, seed); err != nil {
		return err
	}
	_, draws := dst.Dims()
	nodes, own, err := c.drawn(ctx, draws, seed)
	if err != nil {
		return err
	}
	for k, i := range nodes {
		copy(dst.RawRowView(i), own.RawRowView(k))
	}
	return nil
}

// randomStreams implements streamed.
func (c *loneCovariance) randomStreams() []string { return append(streamsOf(c.raw), loneStream) }

const loneStream = "lone nodes"

// drawn returns the lone nodes and draws of them from the prior.
func (c *loneCovariance) drawn(ctx context.Context, draws int, seed uint64) (nodes []int, own *mat.Dense, err error) {
	if draws == 0 {
		return nil, nil, nil
	}
	for i, alone := range c.is {
		if alone {
			nodes = append(nodes, i)
		}
	}
	v, err := c.variance.get(ctx)
	if err != nil {
		return nil, nil, err
	}
	own = mat.NewDense(len(nodes), draws, nil)
	if err := normal.Fill(ctx, own, seed, loneStream, 0); err != nil {
		return nil, nil, err
	}
	own.Scale(math.Sqrt(v), own)
	return nodes, own, nil
}

func (c *loneCovariance) Grad(ctx context.Context, grad []float64, rows []int, u, w *mat.Dense) error {
	places := c.at(rows)
	if len(places) == 0 {
		return c.raw.Grad(ctx, grad, rows, u, w)
	}
	weight := 0.0
	for _, a := range places {
		for _, b := range places {
			if rows[a] != rows[b] {
				continue
			}
			for s, v := range u.RawRowView(a) {
				weight += v * w.RawRowView(b)[s]
			}
		}
	}
	left, right := mat.DenseCopyOf(u), mat.DenseCopyOf(w)
	zeroRows(left, places)
	zeroRows(right, places)
	if err := c.raw.Grad(ctx, grad, rows, left, right); err != nil {
		return err
	}
	return c.variance.addSlope(ctx, grad, weight)
}

func (c *loneCovariance) GramGrad(ctx context.Context, grad []float64, rows []int, g *mat.SymDense) error {
	places := c.at(rows)
	if len(places) == 0 {
		return c.raw.GramGrad(ctx, grad, rows, g)
	}
	masked := mat.NewSymDense(len(rows), nil)
	masked.CopySym(g)
	weight := 0.0
	for _, a := range places {
		for b, j := range rows {
			if j == rows[a] {
				weight += g.At(a, b)
			}
			masked.SetSym(a, b, 0)
		}
	}
	if err := c.raw.GramGrad(ctx, grad, rows, masked); err != nil {
		return err
	}
	return c.variance.addSlope(ctx, grad, weight)
}

// Abilities are those of the covariance. The preconditioner takes lone nodes as K has them,
// which is near enough for one; what must be exact is not there where a row is a lone node.
func (c *loneCovariance) Abilities() Abilities {
	raw := AbilitiesOf(c.raw)
	a := raw
	a.Invert, a.Ranks = nil, nil
	if raw.Draw != nil {
		a.Draw = func(ctx context.Context, draws int, seed uint64, x []int) (Draw, error) {
			return c.draw(ctx, draws, seed, x, raw.Draw, 0, c.Nodes())
		}
	}
	if raw.Factor != nil {
		a.Factor = func(ctx context.Context, rows []int, constant float64, noise []float64) (Factor, error) {
			if !c.free(rows) {
				return nil, nil
			}
			return raw.Factor(ctx, rows, constant, noise)
		}
	}
	if raw.Approximate != nil {
		a.Approximate = func(ctx context.Context, rows []int, constant float64, noise []float64) (solve.Preconditioner, error) {
			if !c.free(rows) {
				return nil, nil
			}
			return raw.Approximate(ctx, rows, constant, noise)
		}
	}
	if raw.Mixed != nil {
		a.Mixed = func(ctx context.Context, rows []int, constant float64) (solve.Operator, error) {
			if !c.free(rows) {
				return nil, nil
			}
			return raw.Mixed(ctx, rows, constant)
		}
	}
	if raw.Local != nil {
		a.Local = &loneCovariance{c.lone, raw.Local, c.variance}
	}
	return a
}

// draw begins draws of the nodes from lo to hi: those of K without the lone nodes, and of
// these by themselves.
func (c *loneCovariance) draw(ctx context.Context, draws int, seed uint64, x []int, begin beginDraw, lo, hi int) (Draw, error) {
	d := &loneDraw{x: slices.Clone(x), places: c.at(x), variance: c.variance, lo: lo}
	var others []int
	for a, i := range x {
		if !c.is[i] {
			others, d.others = append(others, i), append(d.others, a)
		}
	}
	var err error
	if d.below, err = begin(ctx, draws, seed, others); err != nil {
		return nil, err
	}
	all, own, err := c.drawn(ctx, draws, seed)
	if err != nil {
		return nil, err
	}
	d.at = d.below.At()
	if len(d.places) > 0 {
		d.at = mat.NewDense(len(x), draws, nil)
		for k, a := range d.others {
			copy(d.at.RawRowView(a), d.below.At().RawRowView(k))
		}
		for _, a := range d.places {
			k, _ := slices.BinarySearch(all, x[a])
			copy(d.at.RawRowView(a), own.RawRowView(k))
		}
	}
	for k, i := range all {
		if i >= lo && i < hi {
			d.nodes, d.own = append(d.nodes, i), append(d.own, own.RawRowView(k))
		}
	}
	return d, nil
}

// loneDraw is a draw with lone nodes.
type loneDraw struct {
	below    Draw
	x        []int
	places   []int // of lone nodes in x,
	others   []int // and of the others
	variance *loneVariance
	at       *mat.Dense
	lo       int         // first node of the rows
	nodes    []int       // lone nodes of the rows,
	own      [][]float64 // and their draws
}

func (d *loneDraw) At() *mat.Dense { return d.at }

func (d *loneDraw) Update(ctx context.Context, dst, u *mat.Dense) error {
	weights := u
	if len(d.places) > 0 {
		weights = pickRows(u, d.others)
	}
	if err := d.below.Update(ctx, dst, weights); err != nil {
		return err
	}
	left := make([]int, len(d.nodes))
	rows, _ := dst.Dims()
	for k, i := range d.nodes {
		left[k] = i - d.lo
		copy(dst.RawRowView(left[k]), d.own[k])
	}
	return addLone(ctx, dst, u, d.variance, fromTo(d.lo, d.lo+rows), left, d.x, d.places)
}

// pickRows returns some rows of x.
func pickRows(x *mat.Dense, rows []int) *mat.Dense {
	_, columns := x.Dims()
	if len(rows) == 0 {
		return &mat.Dense{}
	}
	some := mat.NewDense(len(rows), columns, nil)
	for k, a := range rows {
		copy(some.RawRowView(k), x.RawRowView(a))
	}
	return some
}

// window is that of the covariance, with its lone nodes.
func (c *loneCovariance) window(nodes, lo, hi int) Window {
	w, ok := c.raw.(windowed)
	if !ok {
		return nil
	}
	raw := w.window(nodes, lo, hi)
	if raw == nil {
		return nil
	}
	return &loneWindow{c, raw, lo, hi}
}

// loneWindow is the rows lo to hi of a covariance with lone nodes.
type loneWindow struct {
	cov    *loneCovariance
	raw    Window
	lo, hi int
}

func (w *loneWindow) Cross(cols []int) solve.Operator {
	raw, rows := w.raw.Cross(cols), fromTo(w.lo, w.hi)
	left, right := w.cov.at(rows), w.cov.at(cols)
	if len(left) == 0 && len(right) == 0 {
		return raw
	}
	return &loneCross{raw, w.cov.variance, rows, cols, left, right}
}

func (w *loneWindow) Diag(ctx context.Context, dst []float64) error {
	if err := w.raw.Diag(ctx, dst); err != nil {
		return err
	}
	return w.cov.fixDiag(ctx, dst, w.cov.at(fromTo(w.lo, w.hi)))
}

func (w *loneWindow) Draw(ctx context.Context, draws int, seed uint64, x []int) (Draw, error) {
	return w.cov.draw(ctx, draws, seed, x, w.raw.Draw, w.lo, w.hi)
}
