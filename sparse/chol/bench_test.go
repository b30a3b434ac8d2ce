package chol

import (
	"runtime"
	"testing"

	"grfgp/sparse"
)

// BenchmarkSteps measures every step on a grid of 10⁶ nodes and a ring of 2²⁰, for κ²I + L: go test -bench Steps -cpu 1,2.
// TestCHOLMOD prints those of CHOLMOD.
func BenchmarkSteps(b *testing.B) {
	for name, make := range map[string]func() *sparse.CSR{
		"grid": func() *sparse.CSR { return matrix(1000*1000, gridEdges(1000, 1000), 0.01, 1) },
		"ring": func() *sparse.CSR { return matrix(1<<20, append(gridEdges(1, 1<<20), edge{1<<20 - 1, 0}), 0.01, 1) },
	} {
		b.Run(name, func(b *testing.B) { steps(b, make()) })
	}
}

func steps(b *testing.B, q *sparse.CSR) {
	n, _ := q.Dims()
	nodes := order(must(adjacent(q)))
	a := analyze(q, nodes)
	f := must(a.Factor(b.Context(), q))
	each := func(name string, do func()) {
		b.Run(name, func(b *testing.B) {
			runtime.GC()
			before := used()
			for b.Loop() {
				do()
			}
			b.ReportMetric((used()-before).Seconds()/float64(b.N), "CPU-s/op") // others share the machine
		})
	}
	each("order", func() { order(must(adjacent(q))) })
	each("symbolic", func() { analyze(q, nodes) })
	each("factor", func() { must(a.Factor(b.Context(), q)) })
	each("refactor", func() {
		if err := f.Refactor(b.Context(), q); err != nil {
			b.Fatal(err)
		}
	})
	one, many := block(n, 1, 1), block(n, 12, 1)
	each("solve", func() { f.Solve(one, one) })
	each("solve 12", func() { f.Solve(many, many) })
	each("draw", func() { f.SolveUpper(one, one) })
	each("log-determinant", func() { f.LogDet() })
	each("inverse", func() { must(f.InverseDiag(b.Context())) })
	each("update", func() {
		if err := f.Update([]int{n / 3}, []float64{1}); err != nil {
			b.Fatal(err)
		}
	})
	entries, _ := exactFill(q, nodes)
	b.Logf("%d entries, %d without zeros that fill supernodes, %.3g operations, %d supernodes", a.Entries(), entries, a.Flops(), a.len())
}

// exactFill is how many entries L has in an order, without zeros that fill supernodes, and the operations.
func exactFill(q *sparse.CSR, order []int32) (entries int, flops float64) {
	ptr, col, _ := q.Raw()
	a := &lower{ptr: ptr, col: col, order: order, position: make([]int32, len(order))}
	for k, v := range order {
		a.position[v] = int32(k)
	}
	parent := a.parents()
	by := postorder(parent)
	a.reorder(by)
	for _, c := range a.counts(renamed(parent, by)) {
		entries += int(c)
		flops += float64(c) * float64(c)
	}
	return entries, flops
}
