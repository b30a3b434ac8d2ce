// Package ranks lets several processes compute one result: each of them, a rank,
// owns a contiguous range of rows. All ranks run the same program and call the same
// functions of this package in the same order. What they compute together is the
// same bytes at any number of ranks.
package ranks

import (
	"context"
	"errors"
	"fmt"
	"unsafe"
)

// ErrLost is wrapped by errors of a rank whose partners have ended.
var ErrLost = errors.New("another rank has ended")

// Transport carries bytes between ranks. A Transport is used by one goroutine at a
// time.
type Transport interface {
	Rank() int
	Size() int
	// Gather completes buf on all ranks: it consists of one part per rank, of
	// lengths[r] bytes for rank r, and each rank has filled in its own.
	Gather(ctx context.Context, buf []byte, lengths []int) error
	// Exchange sends out[r] to rank r, for every r, and fills in[r] with what rank r
	// sent. Both sides know the lengths; a rank sends nothing to itself.
	Exchange(ctx context.Context, in, out [][]byte) error
}

// Group is the ranks of a run. The zero value, and a nil Group, is one rank alone.
type Group struct {
	transport Transport
	traffic   Traffic
}

// New returns the group that a transport connects.
func New(t Transport) *Group { return &Group{transport: t} }

// Rank returns the number of this rank, from 0.
func (g *Group) Rank() int {
	if g.Alone() {
		return 0
	}
	return g.transport.Rank()
}

// Size returns the number of ranks.
func (g *Group) Size() int {
	if g == nil || g.transport == nil {
		return 1
	}
	return g.transport.Size()
}

// Alone reports that there is one rank only.
func (g *Group) Alone() bool { return g.Size() == 1 }

// Number is a type whose values travel as their bytes: all ranks run the same program
// on machines of the same kind.
type Number interface {
	~uint8 | ~int32 | ~uint32 | ~int64 | ~uint64 | ~int | ~float32 | ~float64
}

// Gather returns what every rank gave, in the order of ranks, and where the part of
// rank r begins: all[starts[r]:starts[r+1]].
func Gather[T Number](ctx context.Context, g *Group, own []T) (all []T, starts []int, err error) {
	starts = make([]int, g.Size()+1)
	if g.Alone() {
		starts[1] = len(own)
		return append([]T(nil), own...), starts, nil
	}
	counts := make([]int64, g.Size())
	counts[g.Rank()] = int64(len(own))
	if err := g.gather(ctx, asBytes(counts), repeated(8, g.Size())); err != nil {
		return nil, nil, fmt.Errorf("gathering lengths: %w", err)
	}
	for r, c := range counts {
		starts[r+1] = starts[r] + int(c)
	}
	all = make([]T, starts[g.Size()])
	copy(all[starts[g.Rank()]:], own)
	return all, starts, gatherInto(ctx, g, all, starts)
}

// gatherInto completes all, of which rank r has the part from starts[r] on.
func gatherInto[T Number](ctx context.Context, g *Group, all []T, starts []int) error {
	var one T
	lengths := make([]int, g.Size())
	for r := range lengths {
		lengths[r] = (starts[r+1] - starts[r]) * int(unsafe.Sizeof(one))
	}
	if err := g.gather(ctx, asBytes(all), lengths); err != nil {
		return fmt.Errorf("gathering: %w", err)
	}
	return nil
}

// Complete is Gather where all know how much each rank has: rank r has filled in
// all[starts[r]:starts[r+1]].
func Complete[T Number](ctx context.Context, g *Group, all []T, starts []int) error {
	if g.Alone() {
		return nil
	}
	return gatherInto(ctx, g, all, starts)
}

// Scatter sends out[r] to rank r, for every r, and returns what each rank sent.
func Scatter[T Number](ctx context.Context, g *Group, out [][]T) ([][]T, error) {
	counts := make([]int64, g.Size())
	for r := range out {
		counts[r] = int64(len(out[r]))
	}
	all, _, err := Gather(ctx, g, counts)
	if err != nil {
		return nil, err
	}
	in := make([][]T, g.Size())
	for r := range in {
		in[r] = make([]T, all[r*g.Size()+g.Rank()])
	}
	return in, Exchange(ctx, g, in, out)
}

// Exchange sends out[r] to rank r, for every r, and fills in[r] with what it sent. Both
// know the lengths.
func Exchange[T Number](ctx context.Context, g *Group, in, out [][]T) error {
	copy(in[g.Rank()], out[g.Rank()])
	if g.Alone() {
		return nil
	}
	to, from := make([][]byte, g.Size()), make([][]byte, g.Size())
	for r := range to {
		if r != g.Rank() {
			to[r], from[r] = asBytes(out[r]), asBytes(in[r])
		}
	}
	if err := g.exchange(ctx, from, to); err != nil {
		return fmt.Errorf("exchanging: %w", err)
	}
	return nil
}

// asBytes returns the memory of x.
func asBytes[T Number](x []T) []byte {
	if len(x) == 0 {
		return nil
	}
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(x))), len(x)*int(unsafe.Sizeof(x[0])))
}

func repeated(v, n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = v
	}
	return out
}
