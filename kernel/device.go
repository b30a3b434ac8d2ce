package kernel

import (
	"context"

	"grfgp/internal/gpu"
	"grfgp/solve"
	"grfgp/sparse"
)

// DeviceRows is K[rows, rows] + constant·11ᵀ in the memory of a graphics card, for one theta
// after another. K = F·Fᵀ, so that functions drawn from N(0, K) are F·w with weights w of normal
// random numbers, and K[·, rows]·u is F·(F_rowsᵀu). Failures are those of the card, which
// knows them (gpu.Device.Err). It is used by one goroutine, and freed by its owner.
type DeviceRows interface {
	// Set goes to other hyperparameters. It must have been called before the other methods.
	Set(ctx context.Context, theta []float64) error
	// Apply sets dst to the product with x.
	Apply(dst, x *gpu.Block)
	// Grad adds Σ_s weight_s·u_sᵀ(∂K/∂θ_j)w_s to grad[j].
	Grad(grad, weight []float64, u, w *gpu.Block)
	// Precondition approximates the matrix plus noise on its diagonal, which is also on the
	// card (on). Its diagonal serves unless the kernel has something better, which own says.
	Precondition(ctx context.Context, noise []float64, on *gpu.Block) (p solve.DevicePreconditioner, own bool, err error)

	// Zero returns the weights of so many functions that are zero.
	Zero(columns int) *DeviceWeights
	// Prior draws weights: the functions are those of Covariance.Prior with the same seed, from
	// draw number first on, with those of the constant (WithConstant).
	Prior(columns, first int, seed uint64) *DeviceWeights
	// Here sets dst to the functions at the rows.
	Here(dst *gpu.Block, w *DeviceWeights)
	// Settle adds K[·, rows]·u to the functions.
	Settle(w *DeviceWeights, u *gpu.Block)
	// Elsewhere returns functions at other nodes.
	Elsewhere(ctx context.Context, nodes []int) (DeviceValues, error)

	Free()
}

// DeviceValues are values of functions at some nodes.
type DeviceValues interface {
	// Values sets dst to the functions of the weights.
	Values(dst *gpu.Block, w *DeviceWeights)
	Free()
}

// DeviceWeights are the weights w of functions F·w, a column for each.
type DeviceWeights struct {
	parts []*gpu.Block // of the graph itself and of the coarser scales
	level []float64    // of the constant
}

// Free gives their memory back.
func (w *DeviceWeights) Free() {
	for _, b := range w.parts {
		b.Free()
	}
}

// deviceFactor is Φ of some nodes on a card, with its transpose.
type deviceFactor struct {
	grf      *GRF
	features *gpu.Features
	places   *gpu.Places // nodes of the columns; nil: columns are nodes
	width    int
	device   *gpu.Device
}

// newDeviceFactor uploads the features of rows; nil if the card has no place for so many.
// With unit, the rows of Φ are scaled to norm one.
func newDeviceFactor(d *gpu.Device, k *GRF, rows []int, unit bool) (*deviceFactor, error) {
	p := k.pattern(rows)
	if p.err != nil {
		return nil, p.err
	}
	p.transpose()
	if p.from == nil || !gpu.Fits(max(len(rows), p.width), len(p.col)) {
		return nil, nil
	}
	first, num, lens, psi, ok := p.own.Flat()
	if !ok {
		return nil, nil
	}
	ptrT, colT := p.transposed.Raw()
	f := &deviceFactor{grf: k, width: p.width, device: d}
	f.features = d.Features(gpu.Listed{Rows: len(rows), Cols: p.width, Lengths: k.features.MaxLen() + 1, Ptr: p.ptr, Col: p.col,
		First: first, Num: num, Lens: lens, Psi: psi, PtrT: ptrT, ColT: colT, From: p.from, Unit: unit})
	if p.nodes != nil {
		f.places = d.Places(p.nodes)
	}
	return f, nil
}

func (f *deviceFactor) free() {
	if f != nil {
		f.features.Free()
		f.places.Free()
	}
}

// mid returns a block with a row for each column of Φ.
func (f *deviceFactor) mid(like *gpu.Block) *gpu.Block { return f.device.Block(f.width, like.Cols()) }

// square sets dst = scale·ΦΦᵀx.
func (f *deviceFactor) square(dst, x *gpu.Block, scale float64) {
	mid := f.mid(x)
	defer mid.Free()
	f.features.PhiT.Mul(mid, x, 1)
	f.features.Phi.Mul(dst, mid, scale)
}

// values sets dst = scale·Φw, where w has a row for each node.
func (f *deviceFactor) values(dst, w *gpu.Block, scale float64) {
	if f.places == nil {
		f.features.Phi.Mul(dst, w, scale)
		return
	}
	mid := f.mid(w)
	defer mid.Free()
	mid.Gather(w, f.places)
	f.features.Phi.Mul(dst, mid, scale)
}

// settle adds scale·Φᵀu to w, which has a row for each node.
func (f *deviceFactor) settle(w, u *gpu.Block, scale float64) {
	if f.places == nil {
		f.features.PhiT.MulAdd(w, u, scale)
		return
	}
	mid := f.mid(u)
	defer mid.Free()
	f.features.PhiT.Mul(mid, u, scale)
	w.Scatter(mid, f.places)
}

// slopes adds the derivatives by f_l to slope[l], and returns what Features.Slopes does.
func (f *deviceFactor) slopes(slope, weight []float64, u, w *gpu.Block) float64 {
	a, b := f.mid(u), f.mid(u)
	defer a.Free()
	defer b.Free()
	f.features.PhiT.Mul(a, u, 1)
	f.features.PhiT.Mul(b, w, 1)
	return f.features.Slopes(slope, weight, u, w, a, b)
}

// uploadCSR copies a sparse matrix to a card.
func uploadCSR(d *gpu.Device, a *sparse.CSR) *gpu.Matrix {
	rows, cols := a.Dims()
	ptr, col, val := a.Raw()
	return d.Matrix(rows, cols, ptr, col, val)
}

// devicePhi uploads Φ at some nodes with a column for every node, as predictions use it; nil if
// the card has no place for it.
func (c *grfCovariance) devicePhi(ctx context.Context, d *gpu.Device, rows []int) (*gpu.Matrix, error) {
	if !c.large {
		f := c.factor(rows)
		if f.err != nil {
			return nil, f.err
		}
		ptr, col, val := f.phi.Raw()
		if f.nodes != nil {
			nodes := make([]uint32, len(col))
			for q, a := range col {
				nodes[q] = f.nodes[a]
			}
			col = nodes
		}
		if !gpu.Fits(max(len(rows), c.Nodes()), len(col)) {
			return nil, nil
		}
		return d.Matrix(len(rows), c.Nodes(), ptr, col, val), nil
	}
	var phi *sparse.Compact
	var err error
	if c.isAll(rows) {
		phi, err = c.compact(ctx)
	} else {
		phi, err = c.features.CompactRows(ctx, c.coeff, rows)
	}
	if err != nil {
		return nil, err
	}
	if !gpu.Fits(max(len(rows), c.Nodes()), phi.Entries()) {
		return nil, nil
	}
	ptr, col, val := phi.Raw()
	return d.Narrow(len(rows), c.Nodes(), ptr, col, val), nil
}
