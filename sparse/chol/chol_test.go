package chol

import (
	"syscall"
	"testing"
	"time"

	"grfgp/sparse"
)

func gridMatrix(rows, cols int, kappa2 float64) *sparse.CSR {
	n := rows * cols
	ptr := make([]int, 1, n+1)
	var col []uint32
	var val []float64
	for i := range n {
		deg := 0.0
		r, c := i/cols, i%cols
		near := func(ok bool, j int) {
			if ok {
				col = append(col, uint32(j))
				val = append(val, -1)
				deg++
			}
		}
		near(r > 0, i-cols)
		near(c > 0, i-1)
		at := len(col)
		col = append(col, uint32(i))
		val = append(val, 0)
		near(c+1 < cols, i+1)
		near(r+1 < rows, i+cols)
		val[at] = kappa2 + deg
		ptr = append(ptr, len(col))
	}
	q, err := sparse.NewCSR(n, n, ptr, col, val)
	if err != nil {
		panic(err)
	}
	return q
}

func TestGridTimes(t *testing.T) {
	for _, side := range []int{100, 300, 1000} {
		q := gridMatrix(side, side, .01)
		start := cpu()
		g, err := adjacent(q)
		if err != nil {
			t.Fatal(err)
		}
		t0 := cpu()
		o := order(g)
		t1 := cpu()
		a := analyze(q, o)
		t2 := cpu()
		f, err := a.Factor(t.Context(), q)
		t3 := cpu()
		if err != nil {
			t.Fatal(err)
		}
		if err := f.Refactor(t.Context(), q); err != nil {
			t.Fatal(err)
		}
		t4 := cpu()
		t.Logf("factor %v refactor %v logdet %v", t3-t2, t4-t3, f.LogDet())
		if side == 100 {
			ones := make([]float64, 10000)
			_ = ones
		}
		exact, fl := exactFill(q, o)
		t.Logf("%d: check %v order %v symbolic %v entries %d stored %d flops %.3g supernodes %d rows %d exact %d %.3g", side, t0-start, t1-t0, t2-t1, a.Entries(), a.at[a.len()], a.Flops(), a.len(), len(a.rows), exact, fl)
	}
}

func cpu() time.Duration {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

func exactFill(q *sparse.CSR, order []int32) (entries int, flops float64) {
	ptr, col, _ := q.Raw()
	a := &lower{ptr: ptr, col: col, order: order, position: make([]int32, len(order))}
	for k, v := range order {
		a.position[v] = int32(k)
	}
	parent := a.parents()
	by := postorder(parent)
	a.reorder(by)
	parent = renamed(parent, by)
	for _, c := range a.counts(parent) {
		entries += int(c)
		flops += float64(c) * float64(c)
	}
	return entries, flops
}
