package gp

import (
	"cmp"
	"context"
	"math"

	"gonum.org/v1/gonum/mat"

	"grfgp/internal/gpu"
	"grfgp/kernel"
	"grfgp/space"
)

// cardFrom is the number of nodes from which posteriors by the exact solver are computed on a
// card: fewer take no time on the processor.
const cardFrom = 1 << 15

// device returns the card that the posterior is computed on; nil: none.
func (p *Posterior) device() *gpu.Device {
	card := p.model.card
	device := card.Use()
	if device == nil || p.share != nil || !card.Must && p.model.solver != Iterative && p.Nodes() < cmp.Or(card.from, cardFrom) {
		return nil
	}
	return device
}

// compute calls do with the kernel on the card, if it can be there, and, if not or if the card fails, in the memory of
// this process.
func (p *Posterior) compute(ctx context.Context, what string, do func(s *stage) error) error {
	at := func(in space.Space, h *hold) error {
		of := setting{p.model.kernel, p.model.theta, p.cov, p.model.meanVar, p.data.Nodes}
		return of.on(ctx, in, h, p.factored() == nil, do)
	}
	if done, err := p.model.card.try(ctx, p.device(), what, at); done || err != nil {
		return err
	}
	if p.share != nil {
		space.During(ctx, p.share.space)
		return at(p.share.space, p.share.hold)
	}
	return at(space.Host(), p.model.hold)
}

// system returns the system of the measurements.
func (p *Posterior) system(ctx context.Context, s *stage) (*system, error) {
	if s.sys != nil {
		return s.sys, nil
	}
	begin := newSystem
	if p.measured != nil {
		begin = newScaledSystem
	}
	var err error
	s.sys, err = begin(ctx, s.parts[0], p.noise, p.model.how, s.hold)
	return s.sys, err
}

// mean returns the standardised mean at as many places as l has, from row first of v on.
func (p *Posterior) mean(ctx context.Context, s *stage, v kernel.Values, l places, first int) (space.Block, error) {
	w := v.Zero(1)
	defer w.Free()
	if err := s.settle(ctx, v, w, mat.NewDense(len(p.alpha), 1, p.alpha)); err != nil {
		return nil, err
	}
	axis, err := s.space.Axis(ctx, l.len())
	if err != nil {
		return nil, err
	}
	at := s.space.Block(axis, 1)
	return at, v.Mul(ctx, at, w, first, false)
}

const (
	// drawnTogether is the number of draws at a time where there are many numbers, drawnNumbers or
	// more: as many as products take at a time. Solvers need several blocks of as many columns.
	drawnTogether = 32
	drawnNumbers  = 1 << 23
)

// draw calls do with the weights of posterior draws at so many places, those from number lo on, some at a time.
func (p *Posterior) draw(ctx context.Context, s *stage, v kernel.Values, places, draws int, seed uint64, do func(w kernel.Weights, lo, columns int) error) error {
	n, most := p.allData().Len(), draws
	if d := space.DeviceOf(s.space); d != nil {
		most = columnsAtATime(d, 2*p.Nodes()+places+8*n)
	} else if n*draws >= drawnNumbers {
		most = drawnTogether
	}
	for lo := 0; lo < draws; lo += most {
		k := min(draws-lo, most)
		w, err := v.Prior(ctx, k, lo, seed)
		if err != nil {
			return err
		}
		if err = p.condition(ctx, s, v, w, k, lo, seed); err == nil {
			err = do(w, lo, k)
		}
		w.Free()
		if err := cmp.Or(err, ctx.Err()); err != nil {
			return err
		}
	}
	return nil
}

// noiseStream names the random numbers of measurement noise in draws.
const noiseStream = "measurement noise"

// condition turns prior draws g, from number lo on, into posterior draws, by K[·, x]·H⁻¹(y − g_x − ε).
func (p *Posterior) condition(ctx context.Context, s *stage, v kernel.Values, w kernel.Weights, columns, lo int, seed uint64) error {
	rests := make([]space.Block, len(s.parts))
	defer func() {
		for _, b := range rests {
			if b != nil {
				b.Free()
			}
		}
	}()
	at := 0
	for k, r := range s.parts {
		var err error
		if rests[k], err = p.rest(ctx, s, r, at, v, w, columns, lo, seed); err != nil {
			return err
		}
		at += len(r.nodes)
	}
	if h := p.factored(); h != nil {
		u := mat.NewDense(at, columns, nil)
		at = 0
		for _, b := range rests {
			n := b.Axis().Own
			b.Get(u.RawMatrix().Data[at*columns : (at+n)*columns])
			at += n
		}
		if err := s.space.Err(); err != nil {
			return err
		}
		h.Solve(u, u)
		return s.settle(ctx, v, w, u)
	}
	sys, err := p.system(ctx, s)
	if err != nil {
		return err
	}
	u := rests[0].Like()
	defer u.Free()
	u.Zero()
	if err := sys.solve(ctx, u, rests[0], true, forSamples); err != nil {
		return err
	}
	return v.Settle(ctx, w, s.parts[0].root, u)
}

// rest returns y − g_x − ε at measured rows, which are those from number first on.
func (p *Posterior) rest(ctx context.Context, s *stage, r *rows, first int, v kernel.Values, w kernel.Weights, columns, lo int, seed uint64) (space.Block, error) {
	n := len(r.nodes)
	y, sd, g := s.space.Block(r.axis, 1), s.space.Block(r.axis, 1), s.space.Block(r.axis, columns)
	defer func() {
		for _, b := range []space.Block{y, sd, g} {
			b.Free()
		}
	}()
	y.Set(p.data.Y[first : first+n])
	roots := make([]float64, n)
	for i := range roots {
		roots[i] = math.Sqrt(p.noise[first+i])
	}
	sd.Set(roots)
	if err := r.root.Here(ctx, g, v, w, false); err != nil {
		return nil, err
	}
	var numbers []uint32 // of all
	if first > 0 {
		for i := range n {
			numbers = append(numbers, uint32(first+i))
		}
	}
	rest := s.space.Block(r.axis, columns)
	rest.Normals(seed, noiseStream, lo, numbers)
	rest.Observe(y, g, sd)
	return rest, nil
}
