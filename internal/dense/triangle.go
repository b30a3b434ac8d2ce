package dense

import (
	"fmt"
	"sync"
)

// MaxTriangle is the largest triangle that Solve and SolveT take: with a panel
// of right-hand sides it stays in the cache.
const MaxTriangle = 96

// Solve replaces b by L⁻¹·b for a lower triangle of at most MaxTriangle rows, on
// one processor. For b·L⁻ᵀ give it bᵀ.
func Solve(l, b Matrix) { solve(l, b, false) }

// SolveT replaces b by L⁻ᵀ·b, or with bᵀ for b by b·L⁻¹.
func SolveT(l, b Matrix) { solve(l.T(), b, true) }

// triangle is a lower triangle ready for substitution, tileRows rows at a time:
// column k of group g is at groups[g][k·tileRows:]. The last group is filled up
// with rows of the identity.
type triangle struct {
	groups  [MaxTriangle / tileRows][MaxTriangle * tileRows]float64
	inverse [MaxTriangle]float64            // of the diagonal
	x       [MaxTriangle * tileCols]float64 // right-hand sides, then solutions
}

var triangles = sync.Pool{New: func() any { return new(triangle) }}

// solve takes a lower triangle or, backwards, an upper one, which is a lower one
// once rows and columns are in reverse order.
func solve(l, b Matrix, backwards bool) {
	n := l.Rows
	if n > MaxTriangle || n != l.Cols || n != b.Rows {
		panic(fmt.Sprintf("dense: triangle of %d×%d for %d×%d", n, l.Cols, b.Rows, b.Cols))
	}
	if n == 0 || b.Cols == 0 {
		return
	}
	t := triangles.Get().(*triangle)
	defer triangles.Put(t)
	first, step := 0, 1
	if backwards {
		first, step = n-1, -1
	}
	t.load(l, first, step)
	clear(t.x[n*tileCols:])
	for j := 0; j < b.Cols; j += tileCols {
		width := min(tileCols, b.Cols-j)
		for i := range n {
			row := t.x[i*tileCols:][:width]
			from := b.Data[(first+step*i)*b.RowStep+j*b.ColStep:]
			for c := range row {
				row[c] = from[c*b.ColStep]
			}
		}
		t.substitute(n)
		for i := range n {
			to := b.Data[(first+step*i)*b.RowStep+j*b.ColStep:]
			for c, v := range t.x[i*tileCols:][:width] {
				to[c*b.ColStep] = v
			}
		}
	}
}

// load takes rows and columns of l from the first on, by steps of 1 or −1.
func (t *triangle) load(l Matrix, first, step int) {
	for i := range cuts(l.Rows, tileRows) * tileRows {
		group := t.groups[i/tileRows][i%tileRows:]
		t.inverse[i] = 1
		for k := range i {
			group[k*tileRows] = 0
		}
		if i >= l.Rows {
			continue
		}
		for k := range i {
			group[k*tileRows] = *l.At(first+step*i, first+step*k)
		}
		t.inverse[i] = 1 / *l.At(first+step*i, first+step*i)
	}
}

// substitute solves for the first n elements of x. A group loses what the groups
// before it explain by one product; products within it are converted to
// float64, which forbids the compiler to fuse them on some processors only.
func (t *triangle) substitute(n int) {
	for i := 0; i < n; i += tileRows {
		group, x := &t.groups[i/tileRows], t.x[i*tileCols:]
		if i > 0 {
			tile(i, -1, group[:], t.x[:], x, tileCols)
		}
		for r := range tileRows {
			row := (*[tileCols]float64)(x[r*tileCols:])
			for k := range r {
				v := group[(i+k)*tileRows+r]
				for c, solved := range (*[tileCols]float64)(x[k*tileCols:]) {
					row[c] -= float64(v * solved)
				}
			}
			for c := range row {
				row[c] *= t.inverse[i+r]
			}
		}
	}
}
