package kernel

import (
	"context"

	"grfgp/solve"
	"grfgp/space"
)

// bridgedRoot is a root of the memory of this process for blocks of a card: those of one term of a sum, which are copied there
// and back.
type bridgedRoot struct {
	Root
	card space.Space
	here space.Space
	axis space.Axis
}

func bridged(ctx context.Context, k Kernel, s space.Space, rows []int, opts RootOptions) (Root, error) {
	here := space.Host()
	r, err := RootOf(ctx, k, here, rows, opts)
	if r == nil || err != nil {
		return nil, err
	}
	return &bridgedRoot{r, s, here, space.Rows(len(rows))}, nil
}

// fetched returns a block of the card in the memory of this process, to be freed.
func (r *bridgedRoot) fetched(x space.Block) space.Block {
	b := r.here.Block(r.axis, x.Columns())
	space.Convert(b, x, false)
	return b
}

// to lets do fill a block of this process, and copies it to the card.
func (r *bridgedRoot) to(dst space.Block, add bool, do func(to space.Block) error) error {
	b := r.here.Block(r.axis, dst.Columns())
	defer b.Free()
	if err := do(b); err != nil {
		return err
	}
	space.Convert(dst, b, add)
	return r.card.Err()
}

func (r *bridgedRoot) Apply(ctx context.Context, dst, x space.Block, add bool) error {
	in := r.fetched(x)
	defer in.Free()
	return r.to(dst, add, func(to space.Block) error { return r.Root.Apply(ctx, to, in, false) })
}

func (r *bridgedRoot) Slopes(ctx context.Context, grad, weight []float64, u, w space.Block) error {
	left, right := r.fetched(u), r.fetched(w)
	defer left.Free()
	defer right.Free()
	return r.Root.Slopes(ctx, grad, weight, left, right)
}

// Precondition is that of the diagonal, on the card.
func (r *bridgedRoot) Precondition(ctx context.Context, constant float64, noise []float64) (solve.Factored, bool, error) {
	p, err := jacobi(ctx, r.Root, r.card, r.axis, constant, noise)
	return p, false, err
}

func (r *bridgedRoot) Here(ctx context.Context, dst space.Block, of Values, w Weights, add bool) error {
	return r.to(dst, add, func(to space.Block) error { return r.Root.Here(ctx, to, of.(*fetchedValues).Values, w, false) })
}

// fetchedValues are Values of the memory of this process for blocks of a card.
type fetchedValues struct {
	Values
	card, here space.Space
}

func bridgedValues(ctx context.Context, c Covariance, s space.Space, nodes []int) (Values, error) {
	here := space.Host()
	v, err := ValuesOf(ctx, c, here, nodes)
	if v == nil || err != nil {
		return nil, err
	}
	return &fetchedValues{v, s, here}, nil
}

func (v *fetchedValues) Settle(ctx context.Context, w Weights, from Root, u space.Block) error {
	r := from.(*bridgedRoot)
	in := r.fetched(u)
	defer in.Free()
	return v.Values.Settle(ctx, w, r.Root, in)
}

func (v *fetchedValues) Mul(ctx context.Context, dst space.Block, w Weights, lo int, add bool) error {
	b := v.here.Block(dst.Axis(), dst.Columns())
	defer b.Free()
	if err := v.Values.Mul(ctx, b, w, lo, false); err != nil {
		return err
	}
	space.Convert(dst, b, add)
	return v.card.Err()
}
