package gp

import (
	"cmp"
	"context"
	"errors"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"grfgp/internal/gpu"
	"grfgp/kernel"
	"grfgp/progress"
	"grfgp/solve"
)

// cardFrom is the number of nodes from which posteriors by the exact solver are computed on a
// card: fewer take no time on the processor.
const cardFrom = 1 << 15

// device returns the card that the posterior is computed on; nil: none.
func (p *Posterior) device() *gpu.Device {
	card := p.model.card
	device := card.Use()
	if device == nil || p.share != nil || p.table != nil || kernel.TrainingOf(p.model.kernel).Device == nil {
		return nil
	}
	if !card.Must && p.model.solver != Iterative && p.Nodes() < cmp.Or(card.from, cardFrom) {
		return nil
	}
	return device
}

// cardSystem is the system of measurements on a card.
type cardSystem struct {
	device *gpu.Device
	rows   *keptRows   // of all measurements, or the first ones
	parts  []*keptRows // which together have all measurements; rows alone where the card solves the system
	noise  []float64
	plain  bool

	onNoise *gpu.Block
	precond solve.DevicePreconditioner
	own     bool // precond is that of the kernel, not the diagonal
}

// prepare goes to the hyperparameters of the kernel.
func (s *cardSystem) prepare(ctx context.Context, theta []float64) error {
	for _, r := range s.parts {
		if err := r.Set(ctx, theta); err != nil {
			return err
		}
	}
	return nil
}

// here returns functions at all measurements.
func (s *cardSystem) here(w *kernel.DeviceWeights, columns int) *mat.Dense {
	var data []float64
	for _, r := range s.parts {
		part, n := s.device.Block(len(r.nodes), columns), len(data)
		r.Here(part, w)
		data = append(data, make([]float64, len(r.nodes)*columns)...)
		part.Get(data[n:])
		part.Free()
	}
	return mat.NewDense(len(data)/columns, columns, data)
}

// settle adds K[·, x]·u to functions, where u has a row for each measurement.
func (s *cardSystem) settle(w *kernel.DeviceWeights, u *mat.Dense) {
	_, columns := u.Dims()
	data := u.RawMatrix().Data
	for _, r := range s.parts {
		n := len(r.nodes) * columns
		if slices.ContainsFunc(data[:n], func(v float64) bool { return v != 0 }) {
			part := s.device.Upload(columns, data[:n])
			r.Settle(w, part)
			part.Free()
		}
		data = data[n:]
	}
}

// crossOnCard returns K[x, new x], where the new measurements are the last ones; nil where the processor has to
// compute it.
func (p *Posterior) crossOnCard(ctx context.Context, added int) (cross *mat.Dense, err error) {
	n := p.data.Len()
	if added > gpu.MaxColumns {
		return nil, nil
	}
	done, err := p.onCard(ctx, "conditioned", func(s *cardSystem) error {
		w, u := s.rows.Zero(added), mat.NewDense(n, added, nil)
		for t := range added {
			u.Set(n-added+t, t, 1)
		}
		s.settle(w, u)
		cross = s.here(w, added)
		w.Free()
		return nil
	})
	if !done {
		cross = nil
	}
	return cross, err
}

// system returns the system; its preconditioner is made when first used.
func (s *cardSystem) system() solve.DeviceSystem {
	return solve.DeviceSystem{Device: s.device, Apply: s.rows.Apply, Noise: s.onNoise, Precond: s.precond}
}

// solve sets x to the solution for b, from the starting guess in it, which cold says to be zero.
func (s *cardSystem) solve(ctx context.Context, x, b *gpu.Block, cold bool, a accuracy) (err error) {
	if s.onNoise == nil {
		s.onNoise = s.device.Upload(1, s.noise)
		if !s.plain {
			if s.precond, s.own, err = s.rows.preconditioner(ctx, s.noise, s.onNoise); err != nil {
				return err
			}
		}
	}
	norms := make([]float64, b.Cols())
	b.Sums(norms, b, nil)
	for j, v := range norms {
		norms[j] = math.Sqrt(v)
	}
	tols := a.of(b.Rows(), slices.Min(s.noise), norms)
	_, err = s.system().CG(ctx, x, b, cold, solve.Options{ColumnTol: tols, MaxIter: solveMost})
	return err
}

func (s *cardSystem) free() { s.onNoise.Free() }

// errNotThere is returned by what is called by onCard for something that the card cannot have.
var errNotThere = errors.New("not on the card")

// onCard calls do with the system of the measurements on the card. It reports whether that was
// done; false without an error means that the processor has to go on.
func (p *Posterior) onCard(ctx context.Context, what string, do func(s *cardSystem) error) (bool, error) {
	for first := true; ; first = false {
		device := p.device()
		if device == nil {
			return false, nil
		}
		card := p.model.card
		var parts []*keptRows
		failure, err := card.compute(ctx, func() (err error) {
			if parts, err = p.partsOn(card); parts == nil {
				return cmp.Or(err, errNotThere)
			}
			s := &cardSystem{device: device, rows: parts[0], parts: parts, noise: p.noise, plain: p.model.how.Plain}
			defer s.free()
			if err := s.prepare(ctx, p.model.theta); err != nil {
				return err
			}
			return do(s)
		})
		if failure != nil {
			freeParts(parts)
			if first && errors.Is(failure, gpu.ErrMemory) && card.forget() {
				continue // there is room now
			}
			return false, card.Failed(failure)
		}
		if parts != nil {
			card.keepParts(parts)
		}
		switch {
		case err == nil:
			card.Did(what)
			return true, nil
		case errors.Is(err, errNotThere):
			return false, nil
		}
		return false, err
	}
}

// onlyDraws reports that the processor solves the system, so that the card has functions alone.
func (p *Posterior) onlyDraws() bool { return p.model.solver != Iterative || p.measured != nil }

// partsOn returns the kernel at the measurements on a card; nil if it cannot be computed there.
func (p *Posterior) partsOn(card *Card) ([]*keptRows, error) {
	if p.onlyDraws() {
		return card.partsOf(p.model.kernel, p.data.Nodes, p.model.meanVar)
	}
	rows, err := card.rowsOf(p.model.kernel, p.data.Nodes, p.model.meanVar)
	if rows == nil {
		return nil, err
	}
	return []*keptRows{rows}, nil
}

// solveOnCard is solve on the card; done is false where that is not possible.
func (p *Posterior) solveOnCard(ctx context.Context, dst, b *mat.Dense, a accuracy) (done bool, err error) {
	if p.measured != nil || p.device() == nil {
		return false, nil
	}
	n, columns := b.Dims()
	return p.onCard(ctx, "conditioned", func(s *cardSystem) error {
		most := columnsAtATime(s.device, 8*n)
		for lo := 0; lo < columns; lo += most {
			hi := min(columns, lo+most)
			side, x := uploadColumns(s.device, b, lo, hi), uploadColumns(s.device, dst, lo, hi)
			err := s.solve(ctx, x, side, false, a)
			side.Free()
			if err == nil { // after a failure dst is as it was
				part := mat.NewDense(n, hi-lo, nil)
				x.Get(part.RawMatrix().Data)
				if s.device.Failure() == nil {
					dst.Slice(0, n, lo, hi).(*mat.Dense).Copy(part)
				}
			}
			x.Free()
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// uploadColumns copies columns [lo, hi) of x to a card.
func uploadColumns(d *gpu.Device, x *mat.Dense, lo, hi int) *gpu.Block {
	n, columns := x.Dims()
	raw := x.RawMatrix()
	if lo == 0 && hi == columns && raw.Stride == columns {
		return d.Upload(columns, raw.Data[:n*columns])
	}
	return d.Upload(hi-lo, mat.DenseCopyOf(x.Slice(0, n, lo, hi)).RawMatrix().Data)
}

// downloadColumns copies a block to columns lo and following of x.
func downloadColumns(x *mat.Dense, b *gpu.Block, lo int) {
	n, columns := x.Dims()
	raw := x.RawMatrix()
	if b.Cols() == columns && raw.Stride == columns {
		b.Get(raw.Data[:n*columns])
		return
	}
	part := mat.NewDense(n, b.Cols(), nil)
	b.Get(part.RawMatrix().Data)
	x.Slice(0, n, lo, lo+b.Cols()).(*mat.Dense).Copy(part)
}

// meanOnCard returns the standardised mean at places; nil where the processor has to compute it.
func (p *Posterior) meanOnCard(ctx context.Context, l places) (mean []float64, err error) {
	_, err = p.valuesOnCard(ctx, l, func(s *cardSystem, v *keptValues) error {
		at := p.meanAt(s, v)
		mean = make([]float64, l.len())
		at.Get(mean)
		at.Free()
		return nil
	}, func() { mean = nil })
	return mean, err
}

// meanAt returns the standardised mean on the card.
func (p *Posterior) meanAt(s *cardSystem, v *keptValues) *gpu.Block {
	w := s.rows.Zero(1)
	s.settle(w, mat.NewDense(len(p.alpha), 1, p.alpha))
	at := s.device.Block(len(v.nodes), 1)
	v.Values(at, w)
	w.Free()
	return at
}

// valuesOnCard calls do with functions at places on the card. If it could not be done there, undo
// is called, and the processor goes on unless there is an error.
func (p *Posterior) valuesOnCard(ctx context.Context, l places, do func(s *cardSystem, v *keptValues) error, undo func()) (bool, error) {
	if p.device() == nil {
		return false, nil
	}
	done, err := p.onCard(ctx, "predicted", func(s *cardSystem) error {
		v, err := p.model.card.valuesAt(ctx, s.rows, l.nodes[l.lo:l.hi])
		if err != nil {
			return err
		}
		if v == nil {
			return errNotThere
		}
		err = do(s, v)
		if s.device.Failure() != nil {
			v.Free()
		} else {
			p.model.card.keepValues(v, p.Nodes())
		}
		return err
	})
	if !done {
		undo()
	}
	return done, err
}

// sampleOnCard is sample on the card; nil where the processor has to compute it.
func (p *Posterior) sampleOnCard(ctx context.Context, l places, draws int, seed uint64) (out *mat.Dense, err error) {
	_, err = p.valuesOnCard(ctx, l, func(s *cardSystem, v *keptValues) error {
		out = mat.NewDense(l.len(), draws, nil)
		return p.drawOnCard(ctx, s, v, draws, seed, func(lo int, values *gpu.Block) { downloadColumns(out, values, lo) })
	}, func() { out = nil })
	return out, err
}

// drawOnCard calls do with standardised posterior draws at places, from draw number lo on, some at
// a time.
func (p *Posterior) drawOnCard(ctx context.Context, s *cardSystem, v *keptValues, draws int, seed uint64,
	do func(lo int, values *gpu.Block)) error {
	most := columnsAtATime(s.device, 2*p.Nodes()+len(v.nodes)+8*p.data.Len())
	for lo := 0; lo < draws; lo += most {
		k := min(draws-lo, most)
		w := s.rows.Prior(k, lo, seed)
		condition := p.conditionThere
		if p.onlyDraws() {
			condition = p.conditionHere
		}
		err := condition(ctx, s, w, k, lo, seed)
		if err == nil {
			values := s.device.Block(len(v.nodes), k)
			v.Values(values, w)
			do(lo, values)
			values.Free()
			err = ctx.Err()
		}
		w.Free()
		if err != nil {
			return err
		}
	}
	return nil
}

// conditionHere turns prior draws, from number first on, into posterior draws; the processor solves
// for their weights.
func (p *Posterior) conditionHere(ctx context.Context, s *cardSystem, w *kernel.DeviceWeights, k, first int, seed uint64) error {
	at := s.here(w, k)
	if err := s.device.Failure(); err != nil {
		return err
	}
	rest, u := mat.NewDense(p.data.Len(), k, nil), mat.NewDense(p.data.Len(), k, nil)
	p.rest(rest, at, first, seed)
	if err := p.solve(ctx, u, rest, forSamples); err != nil {
		return err
	}
	s.settle(w, u)
	return nil
}

// conditionThere is conditionHere on the card.
func (p *Posterior) conditionThere(ctx context.Context, s *cardSystem, w *kernel.DeviceWeights, k, first int, seed uint64) error {
	n := p.data.Len()
	y, sd := s.device.Upload(1, p.data.Y), s.device.Upload(1, rootsOf(p.noise))
	g, rest, u := s.device.Block(n, k), s.device.Block(n, k), s.device.Zeros(n, k)
	defer func() {
		for _, b := range []*gpu.Block{y, sd, g, rest, u} {
			b.Free()
		}
	}()
	s.rows.Here(g, w)
	rest.Normals(seed, noiseStream, first, 0)
	rest.Observe(y, g, sd)
	if err := s.solve(ctx, u, rest, true, forSamples); err != nil {
		return err
	}
	s.rows.Settle(w, u)
	return nil
}

// rootsOf returns the square roots of x.
func rootsOf(x []float64) []float64 {
	out := make([]float64, len(x))
	for i, v := range x {
		out[i] = math.Sqrt(v)
	}
	return out
}

// varianceOnCard is sampledVariance on the card; nil where the processor has to compute it.
func (p *Posterior) varianceOnCard(ctx context.Context, l places, w *progress.Work) (out []float64, err error) {
	_, err = p.valuesOnCard(ctx, l, func(s *cardSystem, v *keptValues) error {
		mean, squares := p.meanAt(s, v), s.device.Zeros(l.len(), 1)
		defer mean.Free()
		defer squares.Free()
		group := drawGroup(p.Nodes())
		groups := varianceDraws / group
		for b := range groups {
			err := p.drawOnCard(ctx, s, v, group, varianceSeed+uint64(b), func(_ int, values *gpu.Block) { squares.AddSpread(values, mean) })
			if err != nil {
				return err
			}
			w.Count(int64(b+1), int64(groups))
		}
		scale := p.model.units.Scale
		squares.Scale(squares, nil, scale*scale/varianceDraws)
		out = make([]float64, l.len())
		squares.Get(out)
		return nil
	}, func() { out = nil })
	return out, err
}
