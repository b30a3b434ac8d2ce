package space_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"runtime/debug"
	"slices"
	"sync"
	"testing"

	"grfgp/internal/gpu"
	"grfgp/internal/ranks"
	"grfgp/internal/testkit"
	"grfgp/space"
)

// memory is one in which everything of this package is compared with plain loops over float64.
type memory struct {
	name     string
	open     func(ctx context.Context, g *ranks.Group) space.Space
	shared   bool    // several processes may share it
	rounding float64 // of results, relative to the largest number, or to the sum of the sizes of terms
}

func memories() []memory {
	return []memory{
		{"float64", func(ctx context.Context, g *ranks.Group) space.Space {
			if g.Alone() {
				return space.Host()
			}
			return space.Together(ctx, g, false)
		}, true, 1e-13},
		{"float32", func(ctx context.Context, g *ranks.Group) space.Space {
			if g.Alone() {
				return space.Host32()
			}
			return space.Together(ctx, g, true)
		}, true, 4e-6},
		{"card", func(context.Context, *ranks.Group) space.Space { return space.Card(gpu.Simulate(gpu.Simulated{})) }, false, 1e-13},
	}
}

// Numbers of rows within a block, of a block and beyond, and of columns with and without a way of their own.
var (
	rowCounts    = []int{0, 1, 63, ranks.BlockRows, 2500, 5*ranks.BlockRows + 300}
	columnCounts = []int{1, 3, 4, 8, 17}
	shapes       = [][2]int{{0, 5}, {5, 0}, {0, 0}, {1, 1}, {700, 300}, {5*ranks.BlockRows + 300, 40}, {2500, 3100}} // of matrices
)

func init() {
	if testkit.Raced { // it makes loops slow, and looks at who shares what
		rowCounts, columnCounts, shapes = []int{0, 1500, 2500}, []int{4, 17}, shapes[4:5]
	}
}

// way is how a property is run.
type way struct {
	processes, threads int
	uneven             bool // some processes have many rows, others few or none
}

func (w way) String() string {
	return fmt.Sprintf("%d processes on %d threads, uneven %v", w.processes, w.threads, w.uneven)
}

// plain is the way whose results are compared with plain loops; the others have the same bits.
var plain = way{processes: 1, threads: 1}

// exam is what a property is given: a memory, and random numbers that are the same on every process.
type exam struct {
	context.Context
	space   space.Space
	group   *ranks.Group
	way     way
	random  *rand.Rand
	results []result
}

// result is what a memory computed, and what it should have.
type result struct {
	what      string
	got, want []float64
	scale     float64 // rounding is relative to it
}

// examine has a property checked in every memory: one process with one thread computes what plain loops do, up to rounding,
// and the bits are the same with more threads and with more processes.
func examine(t *testing.T, property func(e *exam)) { examineUpTo(t, 3, property) }

// examineAlone is examine for what a single process has.
func examineAlone(t *testing.T, property func(e *exam)) { examineUpTo(t, 1, property) }

func examineUpTo(t *testing.T, processes int, property func(e *exam)) {
	t.Helper()
	for _, m := range memories() {
		t.Run(m.name, func(t *testing.T) {
			first := m.results(t, plain, property)[0]
			if len(first) == 0 {
				t.Fatal("nothing was compared")
			}
			for _, r := range first {
				if err := r.near(m.rounding); err != nil {
					t.Fatal(err)
				}
			}
			for _, w := range []way{{1, 5, false}, {1, 2, false}, {2, 1, false}, {3, 2, false}, {3, 1, true}} {
				if w.processes > processes || w.threads < 5 && !m.shared {
					continue
				}
				for rank, all := range m.results(t, w, property) {
					if err := same(all, first); err != nil {
						t.Errorf("process %d of %v: %v", rank, w, err)
					}
				}
			}
		})
	}
}

// results returns what each of several processes compute.
func (m memory) results(t *testing.T, w way, property func(e *exam)) [][]result {
	t.Helper()
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(w.threads))
	all := make([][]result, w.processes)
	err := ranks.Together(t.Context(), w.processes, func(ctx context.Context, g *ranks.Group) (err error) {
		defer func() {
			if r := recover(); r != nil {
				err = fmt.Errorf("panic: %v\n%s", r, debug.Stack())
			}
		}()
		e := &exam{Context: ctx, space: m.open(ctx, g), group: g, way: w, random: rand.New(rand.NewPCG(1, 2))}
		property(e)
		all[g.Rank()] = e.results
		if d := space.DeviceOf(e.space); d != nil && d.InUse() != 0 {
			return fmt.Errorf("%d bytes of the card are not given back", d.InUse())
		}
		return e.space.Err()
	})
	if err != nil {
		t.Fatalf("%v: %v", w, err)
	}
	return all
}

func (r result) near(rounding float64) error {
	if len(r.got) != len(r.want) {
		return fmt.Errorf("%s: %d numbers, not %d", r.what, len(r.got), len(r.want))
	}
	for q, v := range r.got {
		if !(math.Abs(v-r.want[q]) <= rounding*r.scale) {
			return fmt.Errorf("%s: number %d is %v, not %v", r.what, q, v, r.want[q])
		}
	}
	return nil
}

func same(got, want []result) error {
	if len(got) != len(want) {
		return fmt.Errorf("%d results, not %d", len(got), len(want))
	}
	for i, r := range got {
		if r.what != want[i].what || !slices.Equal(r.got, want[i].got) {
			return fmt.Errorf("%s has other bits than %s", r.what, want[i].what)
		}
	}
	return nil
}

// check notes a result, which is right up to rounding of the largest number.
func (e *exam) check(what string, got, want []float64) {
	scale := 1.0
	for _, v := range want {
		scale = max(scale, math.Abs(v))
	}
	e.results = append(e.results, result{what, slices.Clone(got), slices.Clone(want), scale})
}

// table returns n rows of k numbers that plain loops compute; nil where they are not needed.
func (e *exam) table(n, k int, number func(i, t int) float64) []float64 {
	if e.way != plain {
		return nil
	}
	x := make([]float64, 0, n*k)
	for i := range n {
		for t := range k {
			x = append(x, number(i, t))
		}
	}
	return x
}

// checkSums notes sums over n rows for k columns of the given terms.
func (e *exam) checkSums(what string, got []float64, n, k int, term func(i, t int) float64) {
	want, scale := make([]float64, k), 1.0
	for t := 0; t < k && e.way == plain; t++ {
		size := 0.0
		for i := range n {
			v := term(i, t)
			want[t] += v
			size += math.Abs(v)
		}
		scale = max(scale, size)
	}
	e.results = append(e.results, result{what, slices.Clone(got), slices.Clone(want), scale})
}

// must ends the exam with an error.
func must(err error) {
	if err != nil {
		panic(err)
	}
}

// normal are normal numbers that float32 holds.
var normal = sync.OnceValue(func() []float64 {
	random, x := rand.New(rand.NewPCG(3, 4)), make([]float64, 1<<21)
	for i := range x {
		x[i] = float64(float32(random.NormFloat64()))
	}
	return x
})

// numbers returns some of the normal numbers, to be read only.
func (e *exam) numbers(n int) []float64 {
	all := normal()
	at := e.random.IntN(len(all) - n)
	return all[at : at+n : at+n]
}

// axis returns an axis of n rows.
func (e *exam) axis(n int) space.Axis {
	if !e.way.uneven {
		return space.EvenAxis(e.space, n)
	}
	own, last := 0, n/ranks.BlockRows*ranks.BlockRows
	switch e.group.Rank() {
	case e.group.Size() - 2:
		own = last
	case e.group.Size() - 1:
		own = n - last
	}
	a, err := e.space.Axis(e, own)
	must(err)
	return a
}

// block returns a block, of whose numbers this process has its rows.
func (e *exam) block(a space.Axis, k int, all []float64) space.Block {
	b := e.space.Block(a, k)
	b.Set(own(a, k, all))
	return b
}

// own returns the rows of this process.
func own[T any](a space.Axis, k int, all []T) []T {
	_, lo := a.All()
	return all[lo*k : (lo+a.Own)*k]
}

// fresh returns a block that has no numbers yet.
func (e *exam) fresh(a space.Axis, k int) space.Block {
	b := e.space.Block(a, k)
	b.Set(slices.Repeat([]float64{math.NaN()}, a.Own*k))
	return b
}

// all returns the numbers of a block, of all processes if they share its rows.
func (e *exam) all(b space.Block) []float64 {
	data := make([]float64, b.Axis().Own*b.Columns())
	b.Get(data)
	if b.Axis().Shared() {
		var err error
		data, err = space.Gather(e, e.space, data)
		must(err)
	}
	return data
}

// free frees blocks.
func free(blocks ...space.Block) {
	for _, b := range blocks {
		b.Free()
	}
}

// sized calls a property of blocks of all sizes.
func sized(property func(e *exam, a space.Axis, n, k int)) func(e *exam) {
	return func(e *exam) {
		for _, n := range rowCounts {
			for _, k := range columnCounts {
				property(e, e.axis(n), n, k)
			}
		}
	}
}
