package kernel

import (
	"context"
	"math"

	"grfgp/internal/gpu"
	"grfgp/solve"
)

// deviceRows is a GRF, or a Multiscale on top of one, on a card. All is float64 there: cards
// have the memory and the speed, so that products need no other form for coarser scales.
type deviceRows struct {
	device   *gpu.Device
	rows     []int
	constant float64
	fine     *deviceFactor
	cov      *grfCovariance // of fine

	many   *Multiscale // nil: fine is all
	list   *chain
	scales []deviceScale
	manyAt *multiscaleCovariance
	cells  [2]*gpu.Matrix // A of the preconditioner and its transpose; nil until first used
}

// deviceScale is a coarser scale on a card.
type deviceScale struct {
	factor   *deviceFactor // Φ̂, rows of norm one, at the nodes of the chain
	up, down *gpu.Matrix   // interpolate to the scale below, and back
	variance float64
	root     float64 // of the variance
}

// device implements Training.Device.
func (k *GRF) device(d *gpu.Device, rows []int, constant float64) (DeviceRows, error) {
	r, err := newDeviceRows(d, k, rows, constant)
	if r == nil {
		return nil, err // not an interface that holds a nil pointer
	}
	return r, err
}

func newDeviceRows(d *gpu.Device, k *GRF, rows []int, constant float64) (*deviceRows, error) {
	fine, err := newDeviceFactor(d, k, rows, false)
	if fine == nil {
		return nil, err
	}
	return &deviceRows{device: d, rows: rows, constant: constant, fine: fine}, nil
}

// device implements Training.Device.
func (m *Multiscale) device(d *gpu.Device, rows []int, constant float64) (DeviceRows, error) {
	fine, ok := m.fine.(*GRF)
	if !ok || m.over != nil || len(rows) == 0 {
		return nil, nil
	}
	r, err := newDeviceRows(d, fine, rows, constant)
	if r == nil {
		return nil, err
	}
	r.many, r.list = m, m.ownChain(rows)
	for k := range m.scales {
		factor, err := newDeviceFactor(d, m.scales[k].grf, r.list.nodes[k+1], true)
		if factor == nil {
			r.Free()
			return nil, err
		}
		up := r.list.up[k]
		r.scales = append(r.scales, deviceScale{factor: factor, up: uploadCSR(d, up), down: uploadCSR(d, up.T())})
	}
	return r, nil
}

func (r *deviceRows) Free() {
	r.fine.free()
	for _, s := range r.scales {
		s.factor.free()
		s.up.Free()
		s.down.Free()
	}
	for _, m := range r.cells {
		m.Free()
	}
}

func (r *deviceRows) Set(_ context.Context, theta []float64) error {
	if r.many == nil {
		cov, err := r.fine.grf.at(theta)
		if err == nil {
			r.cov = cov
			r.fine.features.Set(cov.coeff)
		}
		return err
	}
	cov, err := r.many.At(theta)
	if err != nil {
		return err
	}
	r.manyAt = cov.(*multiscaleCovariance)
	r.cov = r.manyAt.fine.(*grfCovariance)
	r.fine.features.Set(r.cov.coeff)
	for k := range r.scales {
		s, part := &r.scales[k], r.manyAt.parts[k]
		s.variance, s.root = part.variance, math.Sqrt(part.variance)
		s.factor.features.Set(part.raw.coeff)
	}
	return nil
}

func (r *deviceRows) Apply(dst, x *gpu.Block) {
	r.fine.square(dst, x, 1)
	r.climb(dst, r.descend(x), func(k int, y, down *gpu.Block) {
		r.scales[k].factor.square(y, down, r.scales[k].variance)
	})
	dst.AddConstant(x, r.constant)
}

// descend returns x at the nodes of each coarser scale, by transposed interpolation.
func (r *deviceRows) descend(x *gpu.Block) []*gpu.Block {
	down := make([]*gpu.Block, len(r.scales))
	for k, s := range r.scales {
		rows, _ := s.down.Dims()
		down[k] = r.device.Block(rows, x.Cols())
		s.down.Mul(down[k], x, 1)
		x = down[k]
	}
	return down
}

// climb adds Σ_k P_k f_k to dst, where f sets f_k at the nodes of scale k given what belongs to
// that scale, which is freed.
func (r *deviceRows) climb(dst *gpu.Block, of []*gpu.Block, f func(k int, y, of *gpu.Block)) {
	ups := make([]*gpu.Matrix, len(r.scales))
	for k, s := range r.scales {
		ups[k] = s.up
	}
	climbDevice(r.device, dst, ups, func(k int, y *gpu.Block) {
		f(k, y, of[k])
		of[k].Free()
	})
}

// climbDevice adds Σ_k P_k f_k to dst, where f sets f_k and ups interpolate from scale to scale.
func climbDevice(d *gpu.Device, dst *gpu.Block, ups []*gpu.Matrix, f func(k int, y *gpu.Block)) {
	var above *gpu.Block
	for k := len(ups) - 1; k >= 0; k-- {
		_, rows := ups[k].Dims()
		y := d.Block(rows, dst.Cols())
		f(k, y)
		if above != nil {
			ups[k+1].MulAdd(y, above, 1)
			above.Free()
		}
		above = y
	}
	if above != nil {
		ups[0].MulAdd(dst, above, 1)
		above.Free()
	}
}

func (r *deviceRows) Grad(grad, weight []float64, u, w *gpu.Block) {
	slope := make([]float64, len(r.cov.coeff))
	r.fine.slopes(slope, weight, u, w)
	if r.many == nil {
		r.cov.chain(grad, slope, nil)
		return
	}
	r.cov.chain(grad[:len(r.many.fine.Params())], slope, nil)
	us, ws := r.descend(u), r.descend(w)
	for k, s := range r.scales {
		part := r.manyAt.parts[k]
		slope := make([]float64, len(part.raw.coeff))
		twice := s.factor.slopes(slope, weight, us[k], ws[k])
		part.chainShape(grad[r.many.shapeAt(k):][:len(r.many.shape)], slope)
		grad[r.many.varianceAt(k)] += twice / 2
		us[k].Free()
		ws[k].Free()
	}
}

func (r *deviceRows) Precondition(ctx context.Context, noise []float64, on *gpu.Block) (solve.DevicePreconditioner, bool, error) {
	if r.many == nil || r.many.firstSmall() == len(r.scales) {
		if r.many == nil {
			return solve.NewDeviceJacobi(r.fine.features.Squares(), on, r.constant), false, nil
		}
		sum := r.constant
		for _, s := range r.scales {
			sum += s.variance // before interpolation, as in Multiscale's preconditioner
		}
		return solve.NewDeviceJacobi(r.fine.features.Squares(), on, sum), false, nil
	}
	d := make([]float64, len(noise))
	r.fine.features.Squares().Get(d)
	if err := r.device.Failure(); err != nil {
		return nil, false, err
	}
	p, err := r.manyAt.preconditionBeside(ctx, r.rows, d, r.constant, noise)
	if err != nil {
		return nil, false, err
	}
	if r.cells[0] == nil {
		a, err := r.manyAt.ontoCells(r.list, r.many.firstSmall()+1)
		if err != nil {
			return nil, false, err
		}
		r.cells = [2]*gpu.Matrix{uploadCSR(r.device, a), uploadCSR(r.device, a.T())}
	}
	return p.(*solve.Coarse).OnDevice(r.device, r.cells[0], r.cells[1]), true, nil
}

// grfs returns the features of the graph and of all scales.
func (r *deviceRows) grfs() []*GRF {
	all := []*GRF{r.fine.grf}
	for _, s := range r.scales {
		all = append(all, s.factor.grf)
	}
	return all
}

func (r *deviceRows) Zero(columns int) *DeviceWeights {
	w := &DeviceWeights{level: make([]float64, columns)}
	for _, k := range r.grfs() {
		w.parts = append(w.parts, r.device.Zeros(k.Nodes(), columns))
	}
	return w
}

func (r *deviceRows) Prior(columns, first int, seed uint64) *DeviceWeights {
	w := &DeviceWeights{level: make([]float64, columns)}
	for k, grf := range r.grfs() {
		own := seed
		if k > 0 {
			own = drawSeed(seed, k-1)
		}
		part := r.device.Block(grf.Nodes(), columns)
		part.Normals(own, "prior", first, 0)
		w.parts = append(w.parts, part)
	}
	if r.constant != 0 {
		w.level = meanConstant(r.constant, nil).levels(first+columns, seed)[first:]
	}
	return w
}

func (r *deviceRows) Here(dst *gpu.Block, w *DeviceWeights) {
	r.fine.values(dst, w.parts[0], 1)
	ups := make([]*gpu.Matrix, len(r.scales))
	for k, s := range r.scales {
		ups[k] = s.up
	}
	climbDevice(r.device, dst, ups, func(k int, y *gpu.Block) { r.scales[k].factor.values(y, w.parts[k+1], r.scales[k].root) })
	dst.AddLevels(w.level, 1)
}

func (r *deviceRows) Settle(w *DeviceWeights, u *gpu.Block) {
	r.fine.settle(w.parts[0], u, 1)
	for k, down := range r.descend(u) {
		r.scales[k].factor.settle(w.parts[k+1], down, r.scales[k].root)
		down.Free()
	}
	if r.constant != 0 {
		sums := make([]float64, u.Cols())
		u.Sums(sums, nil, nil)
		for t, v := range sums {
			w.level[t] += r.constant * v
		}
	}
}

// deviceValues are functions at other nodes.
type deviceValues struct {
	device *gpu.Device
	phi    *gpu.Matrix
	scales []deviceAbove
	ups    []*gpu.Matrix
}

// deviceAbove is a coarser scale at the nodes of a chain: Φ, and what its rows are scaled by.
type deviceAbove struct {
	phi   *gpu.Matrix
	scale *gpu.Block
	root  float64
}

func (r *deviceRows) Elsewhere(ctx context.Context, nodes []int) (DeviceValues, error) {
	v := &deviceValues{device: r.device}
	var err error
	if v.phi, err = r.cov.devicePhi(ctx, r.device, nodes); v.phi == nil {
		return nil, err
	}
	if r.many == nil {
		return v, nil
	}
	list := r.many.ownChain(nodes)
	for k, part := range r.manyAt.parts {
		phi, err := part.raw.devicePhi(ctx, r.device, list.nodes[k+1])
		if phi == nil {
			v.Free()
			return nil, err
		}
		v.scales = append(v.scales, deviceAbove{phi, phi.InverseNorms(), r.scales[k].root})
		v.ups = append(v.ups, uploadCSR(r.device, list.up[k]))
	}
	return v, nil
}

func (v *deviceValues) Values(dst *gpu.Block, w *DeviceWeights) {
	v.phi.Mul(dst, w.parts[0], 1)
	climbDevice(v.device, dst, v.ups, func(k int, y *gpu.Block) {
		v.scales[k].phi.Mul(y, w.parts[k+1], v.scales[k].root)
		y.Scale(y, v.scales[k].scale, 1)
	})
	dst.AddLevels(w.level, 1)
}

func (v *deviceValues) Free() {
	v.phi.Free()
	for _, s := range v.scales {
		s.phi.Free()
		s.scale.Free()
	}
	for _, up := range v.ups {
		up.Free()
	}
}
