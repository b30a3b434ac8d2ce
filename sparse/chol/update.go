package chol

import (
	"fmt"
	"math"
	"slices"
)

// Update makes f the factor of Q + x·xᵀ for the sparse x with the given elements: a measurement more at node i is x = eᵢ/σ,
// a heavier edge x = √w·(eᵢ − eⱼ). Columns of L change on the way from the first of the nodes to the root of the elimination
// tree, and no others. The nodes must be joined to each other in the pattern or by fill; else the error wraps ErrPattern, as
// the pattern must be analysed anew.
func (f *Factor) Update(nodes []int, x []float64) error { return f.change(nodes, x, 1) }

// Downdate makes f the factor of Q − x·xᵀ. Where that is not positive definite, f stays as it is and the error is a
// *NotPositiveDefinite.
func (f *Factor) Downdate(nodes []int, x []float64) error { return f.change(nodes, x, -1) }

func (f *Factor) change(nodes []int, x []float64, sign float64) error {
	if len(nodes) != len(x) {
		panic(fmt.Sprintf("chol: %d elements for %d nodes", len(x), len(nodes)))
	}
	if len(f.sparse) == 0 {
		f.sparse = make([]float64, len(f.order))
	}
	start, err := f.start(nodes, x)
	if err != nil || start == none {
		return err
	}
	// p = L⁻¹x tells beforehand whether there is a factor, and then no rotation fails: the square of pivot j changes by the
	// factor (1 ± p₁² ± … ± pⱼ²) / (1 ± p₁² ± … ± pⱼ₋₁²).
	f.load(nodes, x)
	alpha, p, failed := 1.0, []float64(nil), (*NotPositiveDefinite)(nil)
	f.climb(start, func(column int, l, y []float64) {
		by := y[0] / l[0]
		for i, v := range l[1:] {
			y[1+i] -= float64(v * by)
		}
		p = append(p, by)
		alpha += float64(sign * float64(by*by))
		if failed == nil && (!(alpha > 0) || math.IsInf(alpha, 1)) {
			failed = &NotPositiveDefinite{Row: int(f.order[column]), Pivot: float64(l[0]*l[0]) * alpha}
		}
	})
	if failed != nil {
		return failed
	}
	f.load(nodes, x)
	alpha = 1
	at := 0
	f.climb(start, func(_ int, l, y []float64) {
		before := alpha
		alpha += float64(sign * float64(p[at]*p[at]))
		c, s := math.Sqrt(alpha/before), p[at]/math.Sqrt(before)
		at++
		if s == 0 {
			return
		}
		l[0] *= c
		signed := sign * s
		for i, v := range l[1:] {
			v = (v + float64(signed*y[1+i])) / c
			l[1+i] = v
			y[1+i] = float64(c*y[1+i]) - float64(s*v)
		}
	})
	return nil
}

// start returns the first column that changes; none for a zero vector.
func (f *Factor) start(nodes []int, x []float64) (int32, error) {
	start := int32(none)
	for i, v := range nodes {
		if v < 0 || v >= len(f.order) {
			return none, fmt.Errorf("%w: there is no node %d of %d", ErrPattern, v, len(f.order))
		}
		if x[i] != 0 && (start == none || f.position[v] < start) {
			start = f.position[v]
		}
	}
	if start == none {
		return none, nil
	}
	k := f.of(start)
	for i, v := range nodes {
		if at := f.position[v]; x[i] != 0 && at >= f.first[k+1] {
			if _, ok := slices.BinarySearch(f.below(k), at); !ok {
				return none, fmt.Errorf("%w: the factor has no place for nodes %d and %d together; analyse a matrix with that entry",
					ErrPattern, f.order[start], v)
			}
		}
	}
	return start, nil
}

// of returns the supernode of a column.
func (s *supernodes) of(column int32) int {
	k, _ := slices.BinarySearch(s.first, column+1)
	return k - 1
}

// load sets the sparse vector.
func (f *Factor) load(nodes []int, x []float64) {
	for i, v := range nodes {
		f.sparse[f.position[v]] += x[i]
	}
}

// climb calls do for the columns from start up to the root, with the elements of the sparse vector at their rows, of which it
// uses the first up: it leaves the vector zero.
func (f *Factor) climb(start int32, do func(column int, l, y []float64)) {
	var y []float64
	for k := int32(f.of(start)); k != none; k = f.parent[k] {
		first, wide, high, rows := int(f.first[k]), f.width(int(k)), f.height(int(k)), f.below(int(k))
		y = append(y[:0], f.sparse[first:first+wide]...)
		for _, row := range rows {
			y = append(y, f.sparse[row])
		}
		for j := max(0, int(start)-first); j < wide; j++ {
			do(first+j, f.l[f.at[k]+j*high+j:f.at[k]+(j+1)*high], y[j:])
		}
		clear(f.sparse[first : first+wide])
		for i, row := range rows {
			f.sparse[row] = y[wide+i]
		}
	}
}
