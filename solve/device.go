package solve

import (
	"context"
	"fmt"
	"math"
	"slices"

	"grfgp/internal/gpu"
)

// DeviceSystem is (A + diag(Noise))·X = B in the memory of a graphics card. Scalars alone
// leave the card while it is solved. It is used by one goroutine.
type DeviceSystem struct {
	Device *gpu.Device
	// Apply sets dst = A·x; the two do not overlap.
	Apply func(dst, x *gpu.Block)
	Noise *gpu.Block
	// Precond, if not nil, approximates the matrix.
	Precond DevicePreconditioner
}

// CG solves as the function CG does, for up to gpu.MaxColumns right-hand sides, from the
// starting guess in dst, which cold says to be zero. Of the options it uses the tolerances,
// MaxIter, Recursive and Progress. Failures of the card are errors.
func (s DeviceSystem) CG(ctx context.Context, dst, b *gpu.Block, cold bool, opts Options) (Stats, error) {
	stats, err := s.solve(ctx, dst, b, cold, opts)
	if failure := s.Device.Failure(); failure != nil {
		err = failure // and what follows from it
	}
	if err != nil {
		err = fmt.Errorf("conjugate gradients: %w", err)
	}
	return stats, err
}

func (s DeviceSystem) solve(ctx context.Context, dst, b *gpu.Block, cold bool, opts Options) (Stats, error) {
	if dst.Rows() != b.Rows() || dst.Cols() != b.Cols() || s.Noise.Rows() != b.Rows() {
		return Stats{}, fmt.Errorf("%w: %d×%d solutions and %d noise variances for %d×%d right-hand sides", ErrArgument, dst.Rows(), dst.Cols(),
			s.Noise.Rows(), b.Rows(), b.Cols())
	}
	if err := opts.check(b.Cols()); err != nil {
		return Stats{}, err
	}
	c := &conjugate{n: b.Rows(), k: b.Cols(), opts: opts, cold: cold}
	c.stats.Residuals = make([]float64, c.k)
	c.prepare()
	if c.n == 0 {
		return c.end()
	}
	space := &deviceSpace{DeviceSystem: s, n: c.n, b: b, x: dst, norm: make([]float64, c.k)}
	space.scale, _ = s.Precond.(*deviceJacobi)
	b.Sums(space.norm, b, nil)
	for j, v := range space.norm {
		if space.norm[j] = math.Sqrt(v); !finite(v) {
			return Stats{}, fmt.Errorf("%w: right-hand side %d has no finite norm", ErrArgument, j)
		}
	}
	c.space = space
	if err := c.run(ctx); err != nil {
		c.stats.Residuals = nil
		return c.stats, fmt.Errorf("iteration %d: %w", c.stats.Iterations, err)
	}
	return c.end()
}

// deviceSpace is the space of the memory of a card. Solutions and right-hand sides are there
// too, and all is float64.
type deviceSpace struct {
	DeviceSystem
	n     int
	b, x  *gpu.Block
	norm  []float64
	scale *deviceJacobi // the preconditioner, if it is diagonal
}

// deviceBlock is a block of a deviceSpace.
type deviceBlock struct{ *gpu.Block }

func (b deviceBlock) columns() int { return b.Cols() }

// at returns a block as the card has it.
func at(b block) *gpu.Block { return b.(deviceBlock).Block }

func (s *deviceSpace) block(columns int) block { return deviceBlock{s.Device.Block(s.n, columns)} }
func (s *deviceSpace) free(b block)            { at(b).Free() }
func (s *deviceSpace) zero(b block)            { at(b).Zero() }

func (s *deviceSpace) narrow(b block, keep []int) block {
	if len(keep) == b.columns() {
		return b
	}
	out := at(b).Columns(keep)
	s.free(b)
	return deviceBlock{out}
}

func (s *deviceSpace) residual(_ context.Context, rr []float64, r block, cold bool) error {
	if cold {
		gpu.Rest(rr, at(r), s.b, nil, nil, s.Noise, inverses(s.norm))
		return nil
	}
	if slices.Contains(s.norm, 0) { // its solution is zero
		to, factor := make([]int, len(s.norm)), make([]float64, len(s.norm))
		for j, v := range s.norm {
			if to[j] = -1; v == 0 {
				to[j], factor[j] = j, -1
			}
		}
		s.x.AddColumns(s.x, to, factor)
	}
	q := s.block(r.columns())
	defer s.free(q)
	s.Apply(at(q), s.x)
	gpu.Rest(rr, at(r), s.b, at(q), s.x, s.Noise, inverses(s.norm))
	return nil
}

func (s *deviceSpace) correct(e block, cols, list []int) {
	if len(list) == 0 {
		return
	}
	to, factor := slices.Repeat([]int{-1}, e.columns()), make([]float64, e.columns())
	for _, t := range list {
		to[t], factor[t] = cols[t], s.norm[cols[t]]
	}
	s.x.AddColumns(at(e), to, factor)
}

func (s *deviceSpace) product(_ context.Context, q, p block) error {
	s.Apply(at(q), at(p))
	return nil
}

func (s *deviceSpace) diagonal() bool { return s.Precond == nil || s.scale != nil }

// factors returns the diagonal of P⁻¹; nil is the identity.
func (s *deviceSpace) factors() *gpu.Block {
	if s.scale == nil {
		return nil
	}
	return s.scale.inv
}

func (s *deviceSpace) precondition(rz []float64, z, r block) {
	if s.diagonal() {
		gpu.Begin(rz, at(z), at(r), s.factors())
		return
	}
	s.Precond.Apply(at(z), at(r))
	at(r).Sums(rz, at(z), nil)
}

func (s *deviceSpace) turn(p, z block, beta []float64) { gpu.Turn(at(p), at(z), s.factors(), beta) }

func (s *deviceSpace) curvature(pq []float64, p, q block) {
	gpu.Curvature(pq, at(p), at(q), s.Noise)
}

func (s *deviceSpace) step(rr, rz []float64, e, r, p, q block, alpha []float64) {
	gpu.Step(rr, rz, at(e), at(r), at(p), at(q), s.Noise, s.factors(), alpha)
}

func (s *deviceSpace) recur(uu []float64, u, v, q block, a, b, c []float64) {
	gpu.Recur(uu, at(u), at(v), at(q), s.Noise, a, b, c)
}

// LogDet estimates as the function LogDet does, with the preconditioner of the system if
// there is one.
func (s DeviceSystem) LogDet(ctx context.Context, opts LogDetOptions) (value, se float64, err error) {
	n := s.Noise.Rows()
	space := &deviceSpace{DeviceSystem: s, n: n}
	if p := s.Precond; p != nil {
		noise := s.Device.Zeros(n, 1)
		defer noise.Free()
		space.Noise = noise
		space.Apply = func(dst, x *gpu.Block) {
			back, product := s.Device.Block(n, x.Cols()), s.Device.Block(n, x.Cols())
			defer back.Free()
			defer product.Free()
			p.WhitenT(back, x)
			s.Apply(product, back)
			product.AddScaled(back, s.Noise, 1)
			p.Whiten(dst, product)
		}
	}
	values, err := eachProbe(ctx, n, opts, gpu.MaxColumns, func(first, k int) *lanczos {
		l := lanczosOn(space, n, k)
		data := make([]float64, n*k)
		signs(data, n, 0, k, opts.Seed, first)
		at(l.v).Set(data)
		return l
	}, s.Device.Failure)
	if err != nil {
		return 0, 0, fmt.Errorf("log-determinant: %w", err)
	}
	value, se = meanOf(values)
	if s.Precond != nil {
		value += s.Precond.LogDet()
	}
	return value, se, nil
}
