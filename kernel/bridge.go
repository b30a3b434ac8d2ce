package kernel

import (
	"context"

	"grfgp/solve"
	"grfgp/space"
)

// bridgedRoot is a root of one space for blocks of another, which are copied there and back: of the memory of this process
// for a term of a sum on a card, or of float32 for float64.
type bridgedRoot struct {
	Root
	inside, outside space.Space
	axis            space.Axis // of the rows
}

// bridged returns the root of a kernel in the memory of this process, for blocks of a card.
func bridged(ctx context.Context, k Kernel, s space.Space, rows []int, opts RootOptions) (Root, error) {
	here := space.Host()
	r, err := RootOf(ctx, k, here, rows, opts)
	if r == nil || err != nil {
		return nil, err
	}
	return &bridgedRoot{r, here, s, space.Rows(len(rows))}, nil
}

// roughened returns the root of a kernel in float32, for blocks of float64.
func roughened(ctx context.Context, k Kernel, s space.Space, a space.Axis, rows []int) (Root, error) {
	narrow := space.Narrow(s)
	r, err := RootOf(ctx, k, narrow, rows, RootOptions{})
	if r == nil || err != nil {
		return nil, err
	}
	return &bridgedRoot{r, narrow, s, a}, nil
}

// in returns a copy of x inside, to be freed.
func (r *bridgedRoot) in(x space.Block) space.Block {
	b := r.inside.Block(x.Axis(), x.Columns())
	space.Convert(b, x, false)
	return b
}

// out lets do fill a block inside, and copies it to dst.
func (r *bridgedRoot) out(dst space.Block, add bool, do func(to space.Block) error) error {
	b := r.inside.Block(dst.Axis(), dst.Columns())
	defer b.Free()
	if err := do(b); err != nil {
		return err
	}
	space.Convert(dst, b, add)
	return r.outside.Err()
}

func (r *bridgedRoot) Apply(ctx context.Context, dst, x space.Block, add bool) error {
	in := r.in(x)
	defer in.Free()
	return r.out(dst, add, func(to space.Block) error { return r.Root.Apply(ctx, to, in, false) })
}

func (r *bridgedRoot) Slopes(ctx context.Context, grad, weight []float64, u, w space.Block) error {
	left, right := r.in(u), r.in(w)
	defer left.Free()
	defer right.Free()
	return r.Root.Slopes(ctx, grad, weight, left, right)
}

// Precondition is that of the diagonal, outside.
func (r *bridgedRoot) Precondition(ctx context.Context, constant float64, noise []float64) (solve.Factored, bool, error) {
	p, err := jacobi(ctx, r.Root, r.outside, r.axis, constant, noise)
	return p, false, err
}

func (r *bridgedRoot) Here(ctx context.Context, dst space.Block, of Values, w Weights, add bool) error {
	return r.out(dst, add, func(to space.Block) error { return r.Root.Here(ctx, to, of.(*bridgedValues).Values, w, false) })
}

// bridgedValues are Values of the memory of this process for blocks of a card.
type bridgedValues struct {
	Values
	card space.Space
}

func valuesBridged(ctx context.Context, c Covariance, s space.Space, nodes []int) (Values, error) {
	v, err := ValuesOf(ctx, c, space.Host(), nodes)
	if v == nil || err != nil {
		return nil, err
	}
	return &bridgedValues{v, s}, nil
}

func (v *bridgedValues) Settle(ctx context.Context, w Weights, from Root, u space.Block) error {
	r := from.(*bridgedRoot)
	in := r.in(u)
	defer in.Free()
	return v.Values.Settle(ctx, w, r.Root, in)
}

func (v *bridgedValues) Mul(ctx context.Context, dst space.Block, w Weights, lo int, add bool) error {
	b := space.Host().Block(dst.Axis(), dst.Columns())
	defer b.Free()
	if err := v.Values.Mul(ctx, b, w, lo, false); err != nil {
		return err
	}
	space.Convert(dst, b, add)
	return v.card.Err()
}
