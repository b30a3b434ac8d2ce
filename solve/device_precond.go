package solve

import (
	"math"
	"sync"

	"gonum.org/v1/gonum/blas/blas64"

	"grfgp/internal/dense"
	"grfgp/internal/gpu"
	"grfgp/internal/parallel"
)

// DevicePreconditioner is a Factored in the memory of a graphics card.
type DevicePreconditioner interface {
	// Apply sets dst = P⁻¹·r.
	Apply(dst, r *gpu.Block)
	// Whiten sets dst = F⁻¹·x.
	Whiten(dst, x *gpu.Block)
	// WhitenT sets dst = F⁻ᵀ·x.
	WhitenT(dst, x *gpu.Block)
	LogDet() float64
	// Free gives its memory back.
	Free()
}

// deviceJacobi is a Jacobi on a card. Its roots and its determinant are made when first used.
type deviceJacobi struct {
	inv  *gpu.Block
	host func() *Jacobi
	root *gpu.Block // nil until first used
}

// NewDeviceJacobi returns the preconditioner P = diag(diag) + diag(noise) + constant·I on a card,
// for the diagonal of a matrix, the noise and a constant that are added to it.
func NewDeviceJacobi(diag, noise *gpu.Block, constant float64) DevicePreconditioner {
	j := &deviceJacobi{inv: diag.Device().Block(diag.Rows(), 1)}
	j.inv.Invert(diag, noise, constant)
	j.host = sync.OnceValue(func() *Jacobi {
		h := &Jacobi{inv: make([]float64, j.inv.Rows()), invSqrt: make([]float64, j.inv.Rows())}
		j.inv.Get(h.inv)
		parallel.Ranges(len(h.inv), blockRows, func(lo, hi int) {
			for i := lo; i < hi; i++ {
				h.invSqrt[i] = math.Sqrt(h.inv[i])
			}
		})
		return h
	})
	return j
}

func (j *deviceJacobi) Apply(dst, r *gpu.Block)   { dst.Scale(r, j.inv, 1) }
func (j *deviceJacobi) WhitenT(dst, x *gpu.Block) { j.Whiten(dst, x) }
func (j *deviceJacobi) LogDet() float64           { return j.host().LogDet() }

func (j *deviceJacobi) Whiten(dst, x *gpu.Block) {
	if j.root == nil {
		j.root = j.inv.Device().Upload(1, j.host().invSqrt)
	}
	dst.Scale(x, j.root, 1)
}

func (j *deviceJacobi) Free() {
	j.inv.Free()
	j.root.Free()
}

// deviceCoarse is a Coarse on a card. G and the matrix S between its products are
// dense matrices.
type deviceCoarse struct {
	*Coarse
	device       *gpu.Device
	a, t         *gpu.Matrix // A and Aᵀ
	inv, invSqrt *gpu.Block
	g, gt        *gpu.Dense           // G and Gᵀ; nil if the rank is 0
	whiten       func() [2]*gpu.Dense // S and Sᵀ, made when first used
	made         bool                 // whiten was called
}

// OnDevice returns the preconditioner on a card, given A and its transpose there, which are
// not freed with it.
func (p *Coarse) OnDevice(d *gpu.Device, a, t *gpu.Matrix) DevicePreconditioner {
	c := &deviceCoarse{Coarse: p, device: d, a: a, t: t, inv: d.Upload(1, p.inv), invSqrt: d.Upload(1, p.invSqrt)}
	if p.Rank() > 0 {
		c.g, c.gt = d.Dense(p.g.Rows, p.g.Cols, p.g.Data), d.Dense(p.g.Cols, p.g.Rows, transposed(p.g).Data)
	}
	c.whiten = sync.OnceValue(func() [2]*gpu.Dense {
		c.made = true
		s := p.shrinking()
		return [2]*gpu.Dense{d.Dense(s.Rows, s.Cols, s.Data), d.Dense(s.Rows, s.Cols, transposed(s).Data)}
	})
	return c
}

// shrinking returns S = I − (I + L)⁻ᵀ.
func (p *Coarse) shrinking() blas64.General {
	r := p.Rank()
	inverse := blas64.General{Rows: r, Cols: r, Stride: r, Data: make([]float64, r*r)}
	for i := range r {
		inverse.Data[i*r+i] = 1
	}
	solveLower(dense.Of(p.onePlus), dense.Of(inverse))
	s := transposed(inverse)
	for i := range r {
		for j := range r {
			s.Data[i*r+j] = -s.Data[i*r+j]
		}
		s.Data[i*r+i]++
	}
	return s
}

// transposed returns the transpose of x, without gaps.
func transposed(x blas64.General) blas64.General {
	t := blas64.General{Rows: x.Cols, Cols: x.Rows, Stride: x.Rows, Data: make([]float64, x.Rows*x.Cols)}
	for i := range x.Rows {
		for j, v := range row(x, i) {
			t.Data[j*t.Stride+i] = v
		}
	}
	return t
}

func (c *deviceCoarse) Apply(dst, r *gpu.Block) { c.subtract(dst, c.inv, c.inv, r, nil, nil) }

func (c *deviceCoarse) Whiten(dst, x *gpu.Block) {
	c.subtract(dst, c.invSqrt, c.invSqrt, x, c.inv, c.change(0))
}

func (c *deviceCoarse) WhitenT(dst, x *gpu.Block) {
	c.subtract(dst, c.invSqrt, c.inv, x, c.invSqrt, c.change(1))
}

// change returns S or its transpose; nil if the rank is 0.
func (c *deviceCoarse) change(which int) *gpu.Dense {
	if c.g == nil {
		return nil
	}
	return c.whiten()[which]
}

// subtract sets dst = keep∘x − out∘A·G·S·Gᵀ·Aᵀ·(in∘x); a nil in is that of D⁻¹, and a nil s
// the identity.
func (c *deviceCoarse) subtract(dst, keep, out, x, in *gpu.Block, s *gpu.Dense) {
	if c.g == nil {
		dst.Scale(x, keep, 1)
		return
	}
	if in == nil {
		in = c.inv
	}
	k := x.Cols()
	rows, _ := c.t.Dims()
	small, inner := c.device.Block(rows, k), c.device.Block(c.Rank(), k)
	defer small.Free()
	defer func() { inner.Free() }()
	dst.Scale(x, in, 1)
	c.t.Mul(small, dst, 1)
	c.gt.Mul(inner, small)
	if s != nil {
		changed := c.device.Block(c.Rank(), k)
		s.Mul(changed, inner)
		inner.Free()
		inner = changed
	}
	c.g.Mul(small, inner)
	c.a.Mul(dst, small, 1)
	dst.Subtract(x, keep, out)
}

func (c *deviceCoarse) Free() {
	c.inv.Free()
	c.invSqrt.Free()
	c.g.Free()
	c.gt.Free()
	if c.made {
		for _, s := range c.whiten() {
			s.Free()
		}
	}
}
