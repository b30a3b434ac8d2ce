package space

import (
	"context"

	"gonum.org/v1/gonum/mat"

	"grfgp/internal/gpu"
	"grfgp/sparse"
)

// card is the memory of a graphics card. Only scalars leave it while systems are solved.
type card struct{ device *gpu.Device }

// Card returns the memory of a graphics card.
func Card(d *gpu.Device) Space { return card{d} }

// DeviceOf returns the card of a space; nil: it is not on one.
func DeviceOf(s Space) *gpu.Device {
	if c, ok := s.(card); ok {
		return c.device
	}
	return nil
}

func (c card) Err() error      { return c.device.Failure() }
func (c card) MaxColumns() int { return gpu.MaxColumns }
func (c card) Single() bool    { return false }

func (c card) Axis(_ context.Context, own int) (Axis, error) { return Rows(own), nil }

// cardBlock is a block on a card.
type cardBlock struct {
	*gpu.Block
	axis Axis
}

func (c card) Block(a Axis, columns int) Block { return &cardBlock{c.device.Block(a.Own, columns), a} }

// on returns a block as the card has it; nil for nil.
func on(b Block) *gpu.Block {
	if b == nil {
		return nil
	}
	return b.(*cardBlock).Block
}

func (b *cardBlock) Like() Block                             { return &cardBlock{b.Device().Block(b.Rows(), b.Cols()), b.axis} }
func (b *cardBlock) Axis() Axis                              { return b.axis }
func (b *cardBlock) Columns() int                            { return b.Cols() }
func (b *cardBlock) CopyFrom(x Block)                        { b.Block.CopyFrom(on(x)) }
func (b *cardBlock) SetColumn(column int, x Block, from int) { b.Block.SetColumn(column, on(x), from) }
func (b *cardBlock) Scale(x, diag Block, factor float64)     { b.Block.Scale(on(x), on(diag), factor) }
func (b *cardBlock) AddScaled(x, diag Block, factor float64) {
	b.Block.AddScaled(on(x), on(diag), factor)
}
func (b *cardBlock) Subtract(x, keep, out Block) { b.Block.Subtract(on(x), on(keep), on(out)) }
func (b *cardBlock) Observe(y, g, sd Block)      { b.Block.Observe(on(y), on(g), on(sd)) }
func (b *cardBlock) Extrapolate(before Block, factor float64) {
	b.Block.Extrapolate(on(before), factor)
}
func (b *cardBlock) AddSpread(x, mean Block)   { b.Block.AddSpread(on(x), on(mean)) }
func (b *cardBlock) AddLevels(level []float64) { b.Block.AddLevels(level, 1) }

func (b *cardBlock) Reshape(a Axis, columns int) Block {
	return &cardBlock{b.Block.Reshape(a.Own, columns), a}
}

func (b *cardBlock) Pick(columns []int) Block {
	if len(columns) == b.Cols() {
		return b
	}
	out := &cardBlock{b.Block.Columns(columns), b.axis}
	b.Free()
	return out
}

func (b *cardBlock) AddColumns(x Block, to []int, factor []float64) {
	b.Block.AddColumns(on(x), to, factor)
}

// Normals of some nodes are made by the processor.
func (b *cardBlock) Normals(seed uint64, purpose string, first int, nodes []uint32) {
	if nodes == nil {
		b.Block.Normals(seed, purpose, first, 0)
		return
	}
	here := Host().Block(b.axis, b.Cols()).(*block[float64])
	defer here.Free()
	here.Normals(seed, purpose, first, nodes)
	b.Set(here.data)
}

func (c card) Places(rows []uint32) Places { return c.device.Places(rows) }

func (b *cardBlock) Gather(x Block, rows Places)  { b.Block.Gather(on(x), rows.(*gpu.Places)) }
func (b *cardBlock) Scatter(x Block, rows Places) { b.Block.Scatter(on(x), rows.(*gpu.Places)) }

func (b *cardBlock) Sums(x, weight Block) []float64 {
	sums := make([]float64, b.Cols())
	b.Block.Sums(sums, on(x), on(weight))
	return sums
}

func (b *cardBlock) Begin(rz []float64, r, scale Block) { gpu.Begin(rz, b.Block, on(r), on(scale)) }

func (b *cardBlock) Turn(r, scale Block, beta []float64) { gpu.Turn(b.Block, on(r), on(scale), beta) }

func (b *cardBlock) Curvature(pq []float64, q, noise Block) {
	gpu.Curvature(pq, b.Block, on(q), on(noise))
}

func (b *cardBlock) Step(rr, rz []float64, r, p, q, noise, scale Block, alpha []float64) {
	gpu.Step(rr, rz, b.Block, on(r), on(p), on(q), on(noise), on(scale), alpha)
}

func (b *cardBlock) Recur(uu []float64, v, q, noise Block, x, y, z []float64) {
	gpu.Recur(uu, b.Block, on(v), on(q), on(noise), x, y, z)
}

func (b *cardBlock) Rest(rr []float64, side, q, x, noise Block, alpha []float64) {
	gpu.Rest(rr, b.Block, on(side), on(q), on(x), on(noise), alpha)
}

// cardMatrix is a sparse matrix on a card; the transpose is nil for products by rows alone.
type cardMatrix struct{ plain, turned *gpu.Matrix }

func (c card) Sparse(_ context.Context, rows, columns Axis, m Entries) (Matrix, error) {
	if !gpu.Fits(max(rows.Own, columns.Own), len(m.Col)) {
		return nil, nil
	}
	a := m.csr
	if a == nil {
		var err error
		if a, err = sparse.NewCSR(rows.Own, columns.Own, m.Ptr, m.Col, m.Val); err != nil {
			return nil, err
		}
	}
	upload := func(a *sparse.CSR) *gpu.Matrix {
		rows, columns := a.Dims()
		ptr, col, val := a.Raw()
		return c.device.Matrix(rows, columns, ptr, col, val)
	}
	return cardMatrix{upload(a), upload(a.T())}, nil
}

func (c card) Compact(rows, columns Axis, m *sparse.Compact) Matrix {
	if !gpu.Fits(max(rows.Own, columns.Own), m.Entries()) {
		return nil
	}
	ptr, col, val := m.Raw()
	return cardMatrix{plain: c.device.Narrow(rows.Own, columns.Own, ptr, col, val)}
}

func (m cardMatrix) Mul(dst, x Block, lo int, scale float64, add bool) {
	mulOn(m.plain, dst, x, lo, scale, add)
}

func (m cardMatrix) MulT(dst, x Block, scale float64, add bool) {
	mulOn(m.turned, dst, x, 0, scale, add)
}

func mulOn(m *gpu.Matrix, dst, x Block, lo int, scale float64, add bool) {
	switch {
	case lo != 0:
		panic("space: some rows of a matrix on a card")
	case add:
		m.MulAdd(on(dst), on(x), scale)
	default:
		m.Mul(on(dst), on(x), scale)
	}
}

func (m cardMatrix) Free() {
	m.plain.Free()
	m.turned.Free()
}

// cardDense is a dense matrix on a card, with its transpose.
type cardDense struct {
	device        *gpu.Device
	plain, turned *gpu.Dense
	rows, columns Axis
}

func (c card) Dense(rows Axis, x *mat.Dense) Matrix {
	n, width := x.Dims()
	turned := mat.DenseCopyOf(x.T())
	m, t := mat.DenseCopyOf(x).RawMatrix().Data, turned.RawMatrix().Data
	return &cardDense{c.device, c.device.Dense(n, width, m), c.device.Dense(width, n, t), rows, Rows(width)}
}

func (m *cardDense) Mul(dst, x Block, lo int, scale float64, add bool) {
	if lo != 0 {
		panic("space: some rows of a matrix on a card")
	}
	m.multiply(m.plain, dst, x, scale, add)
}

func (m *cardDense) MulT(dst, x Block, scale float64, add bool) {
	m.multiply(m.turned, dst, x, scale, add)
}

func (m *cardDense) multiply(by *gpu.Dense, dst, x Block, scale float64, add bool) {
	if dst.Axis().Own == 0 || x.Axis().Own == 0 { // the one empty matrix of gonum has no width
		if !add {
			dst.Zero()
		}
		return
	}
	to := on(dst)
	if add {
		to = m.device.Block(to.Rows(), to.Cols())
		defer to.Free()
	}
	by.Mul(to, on(x))
	switch {
	case add:
		on(dst).AddScaled(to, nil, scale)
	case scale != 1:
		to.Scale(to, nil, scale)
	}
}

func (m *cardDense) Free() {
	m.plain.Free()
	m.turned.Free()
}

// cardFeatures are features on a card.
type cardFeatures struct {
	cardMatrix
	device   *gpu.Device
	features *gpu.Features
	columns  Axis
	nodes    []uint32
	rows     Axis
}

func (c card) Features(_ context.Context, rows Axis, p *Pattern, unit bool) (Features, error) {
	turned, err := p.Turned()
	if err != nil {
		return nil, err
	}
	first, num, lens, psi, ok := p.List.Flat()
	if turned.From == nil || !ok || !gpu.Fits(max(rows.Own, p.Width), len(p.Col)) {
		return nil, nil
	}
	ptrT, colT := turned.Shape.Raw()
	f := &cardFeatures{device: c.device, columns: Rows(p.Width), nodes: p.Nodes, rows: rows}
	f.features = c.device.Features(gpu.Listed{Rows: rows.Own, Cols: p.Width, Lengths: p.maxLen + 1, Ptr: p.Ptr, Col: p.Col,
		First: first, Num: num, Lens: lens, Psi: psi, PtrT: ptrT, ColT: colT, From: turned.From, Unit: unit})
	f.cardMatrix = cardMatrix{f.features.Phi, f.features.PhiT}
	return f, nil
}

func (f *cardFeatures) Free()                     { f.features.Free() }
func (f *cardFeatures) Weights() (Axis, []uint32) { return f.columns, f.nodes }
func (f *cardFeatures) Squares() Block            { return &cardBlock{f.features.Squares(), f.rows} }

func (f *cardFeatures) Set(_ context.Context, coeff []float64) error {
	f.features.Set(coeff)
	return nil
}

func (f *cardFeatures) Slopes(slope, weight []float64, u, w Block) float64 {
	k := len(weight)
	a, b := f.device.Block(f.columns.Own, k), f.device.Block(f.columns.Own, k)
	defer a.Free()
	defer b.Free()
	f.features.PhiT.Mul(a, on(u), 1)
	f.features.PhiT.Mul(b, on(w), 1)
	return f.features.Slopes(slope, weight, on(u), on(w), a, b)
}
