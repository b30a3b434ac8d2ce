package kernel

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"grfgp/graph"
	"grfgp/kernel/internal/recent"
	"grfgp/walk"
)

// growing returns lists that grow by a few rows each, from 300 on: at the end, or anywhere if
// sorted.
func growing(random *rand.Rand, nodes int, sorted bool) [][]int {
	perm := random.Perm(nodes)
	perm[50] = perm[3] // a node measured twice
	var lists [][]int
	for n := 300; n < 340; n += 1 + random.IntN(3) {
		list := slices.Clone(perm[:n])
		if sorted {
			slices.Sort(list)
		}
		lists = append(lists, list)
	}
	return lists
}

// What is copied from a shorter list has the bits of what is computed for the list alone: factors,
// products with their transposes, rows beside others and norms, on small graphs and on large ones,
// whose columns are nodes or numbered anew.
func TestGrownListsAreComputedAlone(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(3))
	for _, side := range []int{25, 150} {
		g, err := graph.Grid(side, side)
		if err != nil {
			t.Fatal(err)
		}
		w := g.Normalized(graph.NormalizedAdjacency)
		for _, from := range []int{1, 1 << 30} {
			for _, sorted := range []bool{false, true} {
				fresh := func() unit {
					opts := walk.Options{Sampler: walk.Repelling, Walks: 10, Budget: 20, MaxLen: 4, Hi: g.Len(), Seed: 2}
					f, err := walk.Lazy(w, opts)
					if err != nil {
						t.Fatal(err)
					}
					k, err := NewGRF(f, Diffusion{})
					if err != nil {
						t.Fatal(err)
					}
					k.CompactFrom(from)
					c, err := k.at([]float64{1.5, 2})
					if err != nil {
						t.Fatal(err)
					}
					return newUnit(c, 1)
				}
				random := rand.New(rand.NewPCG(uint64(side), 1))
				grown := fresh()
				for _, rows := range growing(random, side*side, sorted) {
					alone := fresh()
					columns := random.Perm(side * side)[:1+random.IntN(3)]
					if left, want := grown.raw.factor(columns).beside(rows),
						alone.raw.factor(columns).beside(rows); !sameMatrix(left.phi.Raw())(want.phi.Raw()) {
						t.Fatalf("%d rows of %d nodes, sorted %v: other rows beside %v", len(rows), side*side, sorted, columns)
					}
					got, want := grown.raw.factor(rows), alone.raw.factor(rows)
					if !sameMatrix(got.phi.Raw())(want.phi.Raw()) || !slices.Equal(got.nodes, want.nodes) || got.width != want.width {
						t.Fatalf("%d rows of %d nodes, sorted %v: another factor", len(rows), side*side, sorted)
					}
					if !slices.Equal(got.spans(), want.spans()) {
						t.Fatalf("%d rows of %d nodes, sorted %v: other spans", len(rows), side*side, sorted)
					}
					got.pattern.transpose()
					want.pattern.transpose()
					gotPtr, gotCol := got.transposed.Raw()
					wantPtr, wantCol := want.transposed.Raw()
					if !slices.Equal(gotPtr, wantPtr) || !slices.Equal(gotCol, wantCol) || !slices.Equal(got.from, want.from) ||
						!slices.Equal(got.to, want.to) {
						t.Fatalf("%d rows of %d nodes, sorted %v: another transpose", len(rows), side*side, sorted)
					}
					if !slices.Equal(grown.inverses(rows), alone.inverses(rows)) {
						t.Fatalf("%d rows of %d nodes, sorted %v: other norms", len(rows), side*side, sorted)
					}
					for _, draws := range []int{1, 2} {
						x := mat.NewDense(len(rows), draws, nil)
						for i := range x.RawMatrix().Data {
							x.RawMatrix().Data[i] = random.NormFloat64()
						}
						a, b := mat.NewDense(got.width, draws, nil), mat.NewDense(got.width, draws, nil)
						want.transpose().Mul(b, x)
						got.used.Store(false)
						for time := range 2 { // by rows, and by the transpose
							a.Set(0, 0, 7) // it is set, not added to
							got.mulTransposed(a, x)
							if !slices.Equal(a.RawMatrix().Data, b.RawMatrix().Data) {
								t.Fatalf("%d rows of %d nodes, sorted %v: another product of %d columns with the transpose, time %d", len(rows), side*side, sorted,
									draws, time)
							}
						}
					}
				}
			}
		}
	}
}

func sameMatrix(ptr []int, col []uint32, val []float64) func([]int, []uint32, []float64) bool {
	return func(p []int, c []uint32, v []float64) bool {
		return slices.Equal(ptr, p) && slices.Equal(col, c) && slices.Equal(val, v)
	}
}

// BenchmarkGrownList: features of 13,000 nodes and their transpose, after one node has come to the
// list and of the list alone.
func BenchmarkGrownList(b *testing.B) {
	g, err := graph.Grid(350, 350)
	if err != nil {
		b.Fatal(err)
	}
	f, err := walk.Lazy(g.Normalized(graph.NormalizedAdjacency),
		walk.Options{Sampler: walk.Repelling, Walks: 100, Budget: 200, MaxLen: 5, Hi: g.Len(), Seed: 2})
	if err != nil {
		b.Fatal(err)
	}
	k, err := NewGRF(f, Diffusion{})
	if err != nil {
		b.Fatal(err)
	}
	perm := rand.New(rand.NewPCG(1, 1)).Perm(g.Len())
	list := slices.Sorted(slices.Values(perm[:13000]))
	for name, from := range map[string][]int{"grown": list, "alone": nil} {
		for _, transposed := range []bool{false, true} {
			b.Run(fmt.Sprintf("%s/transposed=%v", name, transposed), func(b *testing.B) {
				c, err := k.at([]float64{1.5, 2})
				if err != nil {
					b.Fatal(err)
				}
				b.ReportAllocs()
				n := 0
				for b.Loop() {
					b.StopTimer()
					c.factors, k.patterns = recent.Cache[*factor]{}, recent.Cache[*pattern]{}
					if from != nil {
						c.factor(from).pattern.transpose()
					}
					n++
					next := slices.Sorted(slices.Values(append(slices.Clone(list), perm[13000+n])))
					b.StartTimer()
					if x := c.factor(next); transposed {
						x.pattern.transpose()
					}
				}
			})
		}
	}
}
