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

// device returns the card that the posterior is computed on; nil: none.
func (p *Posterior) device() *gpu.Device {
	card := p.model.card
	device := card.Use()
	if device == nil || p.share != nil || !card.Must && p.model.solver != Iterative &&
		p.Nodes() < cmp.Or(card.from, p.model.how.within().CardFrom) {
		return nil
	}
	return device
}

// compute calls do with the kernel on the card, if it can be there, and, if not or if the card fails, in the memory of
// this process.
func (p *Posterior) compute(ctx context.Context, what string, do func(s *stage) error) error {
	at := func(in space.Space, h *hold) error {
		of := setting{p.model.kernel, p.model.theta, p.cov, p.model.meanVar, p.data.Nodes}
		return of.on(ctx, in, h, p.h == nil, do)
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

// at calls do with functions at places, on the card or in the memory of this process.
func (p *Posterior) at(ctx context.Context, l places, do func(v *view) error) error {
	return p.compute(ctx, "predicted", func(s *stage) error { return s.view(ctx, l, do) })
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

// mean returns the standardised mean at the nodes of a view.
func (p *Posterior) mean(ctx context.Context, v *view) (space.Block, error) {
	w := v.of.Zero(1)
	defer w.Free()
	if err := v.settle(ctx, w, mat.NewDense(len(p.alpha), 1, p.alpha)); err != nil {
		return nil, err
	}
	axis, err := v.space.Axis(ctx, v.places)
	if err != nil {
		return nil, err
	}
	at := v.space.Block(axis, 1)
	return at, v.of.Mul(ctx, at, w, v.first, false)
}

const (
	// drawnTogether is the number of draws at a time where there are many numbers, drawnNumbers or
	// more: as many as products take at a time. Solvers need several blocks of as many columns.
	drawnTogether = 32
	drawnNumbers  = 1 << 23
)

// draw calls do with the weights of posterior draws, those from number lo on, some at a time.
func (p *Posterior) draw(ctx context.Context, v *view, draws int, seed uint64, do func(w kernel.Weights, lo, columns int) error) error {
	n, most := p.allData().Len(), draws
	if d := space.DeviceOf(v.space); d != nil {
		most = columnsAtATime(d, 2*p.Nodes()+v.places+8*n)
	} else if n*draws >= drawnNumbers {
		most = drawnTogether
	}
	for lo := 0; lo < draws; lo += most {
		k := min(draws-lo, most)
		w, err := v.of.Prior(ctx, k, lo, seed)
		if err != nil {
			return err
		}
		if err = p.condition(ctx, v, w, k, lo, seed); err == nil {
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
func (p *Posterior) condition(ctx context.Context, v *view, w kernel.Weights, columns, lo int, seed uint64) error {
	rests := make([]space.Block, len(v.parts))
	defer func() {
		for _, b := range rests {
			if b != nil {
				b.Free()
			}
		}
	}()
	at := 0
	for k, r := range v.parts {
		var err error
		if rests[k], err = p.rest(ctx, v, r, at, w, columns, lo, seed); err != nil {
			return err
		}
		at += len(r.nodes)
	}
	if h := p.h; h != nil {
		u := mat.NewDense(at, columns, nil)
		at = 0
		for _, b := range rests {
			n := b.Axis().Own
			b.Get(u.RawMatrix().Data[at*columns : (at+n)*columns])
			at += n
		}
		if err := v.space.Err(); err != nil {
			return err
		}
		h.Solve(u, u)
		return v.settle(ctx, w, u)
	}
	sys, err := p.system(ctx, v.stage)
	if err != nil {
		return err
	}
	u := rests[0].Like()
	defer u.Free()
	u.Zero()
	if err := sys.solve(ctx, u, rests[0], true, forSamples); err != nil {
		return err
	}
	return v.of.Settle(ctx, w, v.parts[0].root, u)
}

// rest returns y − g_x − ε at measured rows, which are those from number first on.
func (p *Posterior) rest(ctx context.Context, v *view, r *rows, first int, w kernel.Weights, columns, lo int, seed uint64) (
	space.Block, error) {
	n := len(r.nodes)
	y, sd, g := v.space.Block(r.axis, 1), v.space.Block(r.axis, 1), v.space.Block(r.axis, columns)
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
	if err := r.root.Here(ctx, g, v.of, w, false); err != nil {
		return nil, err
	}
	var numbers []uint32 // of all
	if first > 0 {
		for i := range n {
			numbers = append(numbers, uint32(first+i))
		}
	}
	rest := v.space.Block(r.axis, columns)
	rest.Normals(seed, noiseStream, lo, numbers)
	rest.Observe(y, g, sd)
	return rest, nil
}
