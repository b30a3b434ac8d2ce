package gp

import (
	"cmp"
	"context"

	"gonum.org/v1/gonum/mat"

	"grfgp/kernel"
	"grfgp/space"
)

// setting is a kernel at hyperparameters, with an unknown mean, and at measured nodes.
type setting struct {
	kernel   kernel.Kernel
	theta    []float64
	cov      kernel.Covariance // with the unknown mean
	constant float64           // variance of that
	nodes    []int
}

// stage is a setting in a memory, for one call.
type stage struct {
	setting
	space space.Space
	hold  *hold
	parts []*rows // which together have the measured nodes
	sys   *system // of them; nil until there is one
}

// on calls do with the kernel in a memory, with all measured nodes in one part if they are to be whole.
func (p setting) on(ctx context.Context, in space.Space, h *hold, whole bool, do func(s *stage) error) (err error) {
	s := &stage{setting: p, space: in, hold: h}
	if !whole {
		s.parts, err = h.partsAt(ctx, in, p.kernel, p.nodes, p.constant)
	} else {
		r, e := h.rowsAt(ctx, in, p.kernel, p.nodes, p.constant)
		if err = e; r != nil {
			s.parts = []*rows{r}
		}
	}
	if s.parts == nil {
		return cmp.Or(err, errNotThere)
	}
	s.space = s.parts[0].space
	defer s.end()
	for _, r := range s.parts {
		if err := r.set(ctx, p.theta); err != nil {
			return err
		}
	}
	return cmp.Or(do(s), s.space.Err())
}

// end gives back what the memory is not to keep.
func (s *stage) end() {
	if s.sys != nil {
		s.sys.free()
	}
	if s.space.Err() == nil {
		s.hold.keep(s.parts)
		return
	}
	for _, r := range s.parts {
		r.free()
	}
}

// view is functions at some nodes, on a stage.
type view struct {
	*stage
	of     kernel.Values
	first  int // row of the functions where the nodes begin
	places int // nodes
}

// view calls do with functions at places.
func (s *stage) view(ctx context.Context, l places, do func(v *view) error) error {
	nodes, first := l.nodes[l.lo:l.hi], 0
	if space.IsHost(s.space) && !kernel.ByRows(s.cov) {
		nodes, first = l.nodes, l.lo
	}
	own, err := s.hold.valuesAt(ctx, s, nodes)
	if own == nil {
		return cmp.Or(err, errNotThere)
	}
	err = do(&view{s, own.values, first, l.len()})
	if s.space.Err() == nil {
		s.hold.keepValues(own)
	} else {
		own.free()
	}
	return err
}

// settle adds K[·, x]·u to functions, where u has a row for each measurement.
func (v *view) settle(ctx context.Context, w kernel.Weights, u *mat.Dense) error {
	at, columns := 0, u.RawMatrix().Cols
	for _, r := range v.parts {
		n := len(r.nodes)
		part := blockOf(v.space, r.axis, u.Slice(at, at+n, 0, columns).(*mat.Dense))
		err := v.of.Settle(ctx, w, r.root, part)
		part.Free()
		if err != nil {
			return err
		}
		at += n
	}
	return nil
}

// fill sets dst to functions at the nodes.
func (v *view) fill(ctx context.Context, dst *mat.Dense, w kernel.Weights) error {
	_, columns := dst.Dims()
	return v.pieces(func(lo, hi int) error {
		axis, err := v.space.Axis(ctx, hi-lo)
		if err != nil {
			return err
		}
		values := v.space.Block(axis, columns)
		defer values.Free()
		if err := v.of.Mul(ctx, values, w, v.first+lo, false); err != nil {
			return err
		}
		dst.Slice(lo, hi, 0, columns).(*mat.Dense).Copy(numbersOf(values))
		return ctx.Err()
	})
}

// pieces calls do for pieces [lo, hi) of the nodes: all of them, unless this process has all numbers here.
func (v *view) pieces(do func(lo, hi int) error) error {
	n := v.places
	size := n
	if space.IsHost(v.space) {
		size = 1 << 15
	}
	for lo := 0; lo < n; lo += size {
		if err := do(lo, min(n, lo+size)); err != nil {
			return err
		}
	}
	return nil
}

// cross sets dst to K[x, added], as functions K[·, added] at the measured nodes.
func (s *stage) cross(ctx context.Context, dst *mat.Dense, added []int) error {
	r, err := newRows(ctx, s.space, s.kernel, added, s.constant, kernel.RootOptions{})
	if r == nil {
		return cmp.Or(err, errNotThere)
	}
	defer r.free()
	if err := r.set(ctx, s.theta); err != nil {
		return err
	}
	of, err := kernel.ValuesOf(ctx, s.cov, s.space, added)
	if of == nil || err != nil {
		return cmp.Or(err, errNotThere)
	}
	defer of.Free()
	one, w := blockOf(s.space, r.axis, identity(len(added))), of.Zero(len(added))
	defer one.Free()
	defer w.Free()
	if err := of.Settle(ctx, w, r.root, one); err != nil {
		return err
	}
	at := 0
	for _, part := range s.parts {
		here := s.space.Block(part.axis, len(added))
		defer here.Free()
		if err := part.root.Here(ctx, here, of, w, false); err != nil {
			return err
		}
		n := len(part.nodes)
		dst.Slice(at, at+n, 0, len(added)).(*mat.Dense).Copy(numbersOf(here))
		at += n
	}
	return ctx.Err()
}

// identity returns the identity matrix.
func identity(n int) *mat.Dense {
	one := mat.NewDense(n, n, nil)
	for i := range n {
		one.Set(i, i, 1)
	}
	return one
}
