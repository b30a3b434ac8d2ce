package chol

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"grfgp/sparse"
)

// ErrPattern is wrapped by errors about a matrix whose pattern is not that of a symmetric matrix, or not the analysed one.
var ErrPattern = errors.New("not the pattern of a symmetric matrix in rows of increasing columns")

// Analysis is what the pattern of a matrix tells about its factor: an order of elimination, the rows of every supernode, and
// so the cost before any number is computed. It serves any number of matrices of the pattern, and is immutable.
type Analysis struct {
	*supernodes
	given           []int32 // node by node, before columns were renumbered along the tree
	order, position []int32 // node of every column of L, column of every node
	at              []int   // where every supernode begins in the values of a factor, and one more
	inParent        []int32 // place of every row of a supernode among the rows of its parent
	place           []placed
	column          []int // where the entries of every column of the matrix begin in place, and one more
	rowPtr          []int // of the matrix
	col             []uint32
	child           []int32   // children of all supernodes, in order
	family          []int32   // where those of each begin in child, and one more
	leftmost        []int32   // first supernode of every subtree
	work            []float64 // operations of every subtree
	nonzeros        int
	flops           float64
	scratch         int // numbers that a factor needs beside its own
}

// placed is an entry of the matrix on or below the diagonal of L: its row within the front, and where its value is.
type placed struct{ row, entry int32 }

// Analyze orders and analyses the pattern of a symmetric matrix with both triangles, in rows of increasing columns; an error
// wraps ErrPattern. The values of q mean nothing here.
func Analyze(q *sparse.CSR) (*Analysis, error) {
	g, err := adjacent(q)
	if err != nil {
		return nil, err
	}
	return analyze(q, order(g)), nil
}

// AnalyzeOrdered is Analyze in an order that is known: that of an Analysis of the same pattern gives the same Analysis. An order
// that does not have every node once is refused.
func AnalyzeOrdered(q *sparse.CSR, order []int32) (*Analysis, error) {
	if _, err := adjacent(q); err != nil {
		return nil, err
	}
	n, _ := q.Dims()
	seen := make([]bool, n)
	for k, v := range order {
		if v < 0 || int(v) >= n || seen[v] {
			return nil, fmt.Errorf("%w: place %d of the order has node %d, which is there already or not one of %d", ErrPattern, k, v, n)
		}
		seen[v] = true
	}
	if len(order) != n {
		return nil, fmt.Errorf("%w: an order of %d nodes for %d", ErrPattern, len(order), n)
	}
	return analyze(q, slices.Clone(order)), nil
}

// adjacent checks the pattern of q, and returns it without the diagonal. Row by row, the columns of entry (i, j) must meet
// the entries (j, i) in the order in which these are stored.
func adjacent(q *sparse.CSR) (*adjacency, error) {
	rows, cols := q.Dims()
	ptr, col, _ := q.Raw()
	switch {
	case rows != cols:
		return nil, fmt.Errorf("%w: %d×%d", ErrPattern, rows, cols)
	case len(col) > math.MaxInt32:
		return nil, fmt.Errorf("%w: %d entries, at most %d are possible", ErrPattern, len(col), math.MaxInt32)
	}
	g := &adjacency{ptr: make([]int32, rows+1), adj: make([]int32, 0, len(col))}
	next := make([]int32, rows)
	for i := range next {
		next[i] = int32(ptr[i])
	}
	for i := range rows {
		for p := ptr[i]; p < ptr[i+1]; p++ {
			j := col[p]
			if p > ptr[i] && col[p-1] >= j {
				return nil, fmt.Errorf("%w: column %d after %d in row %d; the transpose has them in order", ErrPattern, j, col[p-1], i)
			}
			if at := int(next[j]); at == ptr[j+1] || col[at] != uint32(i) {
				return nil, fmt.Errorf("%w: an entry (%d, %d) or (%[3]d, %[2]d) has no mirror image", ErrPattern, i, j)
			}
			next[j]++
			if int(j) != i {
				g.adj = append(g.adj, int32(j))
			}
		}
		g.ptr[i+1] = int32(len(g.adj))
	}
	return g, nil
}

// analyze is Analyze in a given order.
func analyze(q *sparse.CSR, order []int32) *Analysis {
	n := len(order)
	ptr, col, _ := q.Raw()
	a := &lower{ptr: ptr, col: col, order: order, position: make([]int32, n)}
	for k, v := range order {
		a.position[v] = int32(k)
	}
	parent := a.parents()
	by := postorder(parent)
	a.reorder(by)
	parent = renamed(parent, by)
	by, first, height := amalgamate(parent, a.counts(parent))
	a.reorder(by)
	s := &Analysis{supernodes: newSupernodes(a, first, height), given: order, order: a.order, position: a.position, rowPtr: ptr, col: col}
	s.kin()
	s.measure()
	s.relate()
	s.locate(a)
	return s
}

// measure sets sizes and costs.
func (s *Analysis) measure() {
	s.at, s.work = make([]int, s.len()+1), make([]float64, s.len())
	pending, most, largest := 0, 0, 0 // numbers of updates that wait for their parents
	for k := range s.len() {
		w, m := s.width(k), s.height(k)
		s.at[k+1] = s.at[k] + w*m
		s.nonzeros += trapezoid(w, m)
		for j := range w { // m² for a column of m entries
			s.work[k] += float64(m-j) * float64(m-j)
		}
		for _, c := range s.childrenOf(k) {
			s.work[k] += s.work[c]
			pending -= triangle(s.height(int(c)) - s.width(int(c)))
		}
		pending += triangle(m - w)
		most, largest = max(most, pending), max(largest, m)
		if s.parent[k] == none {
			s.flops += s.work[k]
		}
	}
	s.scratch = most + largest*largest
}

// triangle is the number of entries on and below the diagonal of n rows.
func triangle(n int) int { return n * (n + 1) / 2 }

// kin sets the children and the first descendant of every supernode.
func (s *Analysis) kin() {
	n := s.len()
	s.family, s.leftmost = make([]int32, n+1), make([]int32, n)
	for _, p := range s.parent {
		if p != none {
			s.family[p+1]++
		}
	}
	for k := range n {
		s.leftmost[k] = int32(k)
		s.family[k+1] += s.family[k]
	}
	s.child = make([]int32, s.family[n])
	next := slices.Clone(s.family)
	for k, p := range s.parent {
		if p == none {
			continue
		}
		s.child[next[p]] = int32(k)
		next[p]++
		s.leftmost[p] = min(s.leftmost[p], s.leftmost[k])
	}
}

func (s *Analysis) childrenOf(k int) []int32 { return s.child[s.family[k]:s.family[k+1]] }

// relate sets the place of rows in their parents' fronts.
func (s *Analysis) relate() {
	s.inParent = make([]int32, len(s.rows))
	for k := range s.len() {
		p := s.parent[k]
		if p == none {
			continue
		}
		first, end := s.first[p], s.first[p+1]
		rows, at := s.below(int(p)), int32(0)
		for q := s.ptr[k]; q < s.ptr[k+1]; q++ {
			row := s.rows[q]
			if row < end {
				s.inParent[q] = row - first
				continue
			}
			for rows[at] < row {
				at++
			}
			s.inParent[q] = end - first + at
		}
	}
}

// locate sets the places of the entries of the matrix.
func (s *Analysis) locate(a *lower) {
	n := a.len()
	s.place, s.column = make([]placed, 0, (len(s.col)+n)/2), make([]int, n+1)
	local := make([]int32, n)
	for k := range s.len() {
		first, end := s.first[k], s.first[k+1]
		for i, row := range s.below(k) {
			local[row] = end - first + int32(i)
		}
		for j := first; j < end; j++ {
			from := a.ptr[a.order[j]]
			for p, u := range a.row(int(j)) {
				switch i := a.position[u]; {
				case i < j:
				case i < end:
					s.place = append(s.place, placed{i - first, int32(from + p)})
				default:
					s.place = append(s.place, placed{local[i], int32(from + p)})
				}
			}
			s.column[j+1] = len(s.place)
		}
	}
}

// Order returns the nodes in an order of elimination for AnalyzeOrdered, to be read only: it is most of the time of Analyze.
// Columns of L follow each other in another order of the same tree.
func (s *Analysis) Order() []int32 { return s.given }

// Entries is how many entries L has, zeros that fill supernodes among them.
func (s *Analysis) Entries() int { return s.nonzeros }

// Flops is how many operations a factor takes.
func (s *Analysis) Flops() float64 { return s.flops }

// Bytes is how much memory a factor takes, and the work on it beside: by one processor, those of several need some more.
func (s *Analysis) Bytes() (factor, work int) { return 8 * s.at[s.len()], 8 * s.scratch }
