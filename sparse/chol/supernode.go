package chol

import "slices"

// supernodes are sets of neighbouring columns of L that share their rows below: a dense trapezoid each.
type supernodes struct {
	first  []int32 // column of each, and one more
	parent []int32
	ptr    []int   // where the rows of each begin, and one more
	rows   []int32 // rows below the diagonal blocks, in increasing order
}

func (s *supernodes) len() int { return len(s.parent) }

// width is the number of columns of supernode k.
func (s *supernodes) width(k int) int { return int(s.first[k+1] - s.first[k]) }

// below returns the rows under the diagonal block of supernode k.
func (s *supernodes) below(k int) []int32 { return s.rows[s.ptr[k]:s.ptr[k+1]] }

// height is the number of rows of supernode k.
func (s *supernodes) height(k int) int { return s.width(k) + s.ptr[k+1] - s.ptr[k] }

// trapezoid is the number of entries on and below the diagonal of some columns of so many rows.
func trapezoid(width, height int) int { return width*height - width*(width-1)/2 }

// Zeros that are kept as if they were entries, so that supernodes are wide enough for the kernels: the share that a
// supernode of so many columns may have.
var padding = []struct {
	width int
	share float64
}{{4, 1}, {8, 0.6}, {16, 0.4}, {32, 0.2}, {64, 0.1}, {1 << 30, 0.03}}

// merging is supernodes on their way: subtrees of columns that become one.
type merging struct {
	top     []int32 // the supernode that each is part of, itself at first
	parent  []int32
	width   []int
	height  []int
	entries []int // that are no zeros
}

// amalgamate returns, for columns in postorder, their new order, and the first column and the rows of each supernode. It
// joins columns that have the same rows, then children with parents where that makes few zeros.
func amalgamate(parent, count []int32) (by, first []int32, height []int) {
	n := len(parent)
	var begin []int32
	of := make([]int32, n)
	for j := range int32(n) {
		if j == 0 || parent[j-1] != j || count[j-1] != count[j]+1 {
			begin = append(begin, j)
		}
		of[j] = int32(len(begin) - 1)
	}
	total := len(begin)
	begin = append(begin, int32(n))
	m := merging{top: make([]int32, total), parent: make([]int32, total),
		width: make([]int, total), height: make([]int, total), entries: make([]int, total)}
	for k := range total {
		m.top[k], m.parent[k] = int32(k), none
		if p := parent[begin[k+1]-1]; p != none {
			m.parent[k] = of[p]
		}
		m.width[k], m.height[k] = int(begin[k+1]-begin[k]), int(count[begin[k]])
		m.entries[k] = trapezoid(m.width[k], m.height[k])
	}
	m.run()
	return m.order(begin)
}

// run joins every child with its parent where that may be, those with fewest zeros first.
func (m *merging) run() {
	total := len(m.top)
	child, sibling := make([]int32, total), make([]int32, total)
	for k := range child {
		child[k] = none
	}
	for k := total - 1; k >= 0; k-- {
		if p := m.parent[k]; p != none {
			sibling[k], child[p] = child[p], int32(k)
		}
	}
	var candidates []int32
	for p := range total {
		candidates = candidates[:0]
		for c := child[p]; c != none; c = sibling[c] {
			candidates = append(candidates, c)
		}
		slices.SortStableFunc(candidates, func(a, b int32) int { return m.zeros(int(a), p) - m.zeros(int(b), p) })
		for _, c := range candidates {
			m.join(int(c), p)
		}
	}
}

// zeros is how many zeros the union of child c and parent p would have.
func (m *merging) zeros(c, p int) int {
	return trapezoid(m.width[c]+m.width[p], m.width[c]+m.height[p]) - m.entries[c] - m.entries[p]
}

func (m *merging) join(c, p int) {
	width, zeros := m.width[c]+m.width[p], m.zeros(c, p)
	share := float64(zeros) / float64(zeros+m.entries[c]+m.entries[p])
	for _, rule := range padding {
		if width <= rule.width {
			if share > rule.share {
				return
			}
			break
		}
	}
	m.width[p], m.height[p] = width, m.height[p]+m.width[c]
	m.entries[p] += m.entries[c]
	m.top[c] = int32(p)
}

// order returns the columns, supernode by supernode in postorder, and the first and the rows of each.
func (m *merging) order(begin []int32) (by, first []int32, height []int) {
	total := len(m.top)
	name, kept := make([]int32, total), []int32{}
	for k := total - 1; k >= 0; k-- { // a top comes after its members
		if int(m.top[k]) != k {
			m.top[k] = m.top[m.top[k]]
		}
	}
	size := make([]int32, total)
	for k, t := range m.top {
		size[t]++
		if int(t) == k {
			name[k] = int32(len(kept))
			kept = append(kept, int32(k))
		}
	}
	// Members of each, in increasing order: a list in one piece.
	at, from := int32(0), make([]int32, total)
	for _, t := range kept {
		from[t], at = at, at+size[t]
	}
	members := make([]int32, total)
	end := slices.Clone(from)
	for k, t := range m.top {
		members[end[t]] = int32(k)
		end[t]++
	}
	tree := make([]int32, len(kept))
	for i, t := range kept {
		tree[i] = none
		if p := m.parent[t]; p != none {
			tree[i] = name[m.top[p]]
		}
	}
	by = make([]int32, 0, begin[total])
	for _, i := range postorder(tree) {
		t := kept[i]
		first = append(first, int32(len(by)))
		height = append(height, m.height[t])
		for _, k := range members[from[t]:end[t]] {
			for j := begin[k]; j < begin[k+1]; j++ {
				by = append(by, j)
			}
		}
	}
	return by, append(first, int32(len(by))), height
}

// newSupernodes returns the rows and the tree of supernodes that begin at the given columns. Row i of L is a subtree of the
// elimination tree, which is walked from every entry of the matrix up to where row i has been before. Rows come in
// increasing order, so every list is in order.
func newSupernodes(a *lower, first []int32, height []int) *supernodes {
	total := len(first) - 1
	s := &supernodes{first: first, parent: make([]int32, total), ptr: make([]int, total+1)}
	of, seen, end := make([]int32, a.len()), make([]int32, total), make([]int, total)
	for k := range total {
		for j := first[k]; j < first[k+1]; j++ {
			of[j] = int32(k)
		}
		seen[k], s.parent[k] = none, none
		end[k] = s.ptr[k]
		s.ptr[k+1] = s.ptr[k] + height[k] - s.width(k)
	}
	s.rows = make([]int32, s.ptr[total])
	for i := range int32(a.len()) {
		seen[of[i]] = i
		for _, u := range a.row(int(i)) {
			if a.position[u] >= i {
				continue
			}
			for k := of[a.position[u]]; seen[k] != i; k = s.parent[k] {
				seen[k] = i
				if s.parent[k] == none {
					s.parent[k] = of[i]
				}
				s.rows[end[k]] = i
				end[k]++
			}
		}
	}
	return s
}
