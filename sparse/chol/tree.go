package chol

// Elimination trees: the parent of column j is the row of the first entry below the diagonal of column j of L: the next
// column that eliminating j changes.

// lower is the pattern of a symmetric matrix in an order of elimination.
type lower struct {
	ptr      []int    // of the rows of the matrix as it is given
	col      []uint32 // likewise
	order    []int32  // node of every column of L
	position []int32  // column of every node
}

func (a *lower) len() int { return len(a.order) }

// row returns the neighbours of column j, nodes.
func (a *lower) row(j int) []uint32 {
	v := a.order[j]
	return a.col[a.ptr[v]:a.ptr[v+1]]
}

// reorder makes by[k] column k.
func (a *lower) reorder(by []int32) {
	next := make([]int32, len(by))
	for k, j := range by {
		next[k] = a.order[j]
	}
	a.order = next
	for k, v := range next {
		a.position[v] = int32(k)
	}
}

// parents returns the elimination tree (Liu): every row i hangs all trees that its entries meet under i, by way of
// shortcuts to the roots.
func (a *lower) parents() []int32 {
	parent, root := make([]int32, a.len()), make([]int32, a.len())
	for i := range int32(a.len()) {
		parent[i], root[i] = none, none
		for _, u := range a.row(int(i)) {
			for j := a.position[u]; j < i && j != none; {
				next := root[j]
				root[j] = i
				if next == none {
					parent[j] = i
				}
				j = next
			}
		}
	}
	return parent
}

// postorder returns the nodes of a forest, children before parents and every subtree in one piece; siblings stay in their order.
func postorder(parent []int32) []int32 {
	n := len(parent)
	child, sibling := make([]int32, n), make([]int32, n)
	roots := int32(none)
	for j := range child {
		child[j] = none
	}
	for j := int32(n) - 1; j >= 0; j-- {
		list := &roots
		if p := parent[j]; p != none {
			list = &child[p]
		}
		sibling[j], *list = *list, j
	}
	out := make([]int32, 0, n)
	var path []int32
	for r := roots; r != none; r = sibling[r] {
		for path = append(path[:0], r); len(path) > 0; {
			j := path[len(path)-1]
			if c := child[j]; c != none {
				child[j] = none
				for path = append(path, c); child[c] != none; path = append(path, c) {
					next := child[c]
					child[c], c = none, next
				}
				continue
			}
			out = append(out, j)
			path = path[:len(path)-1]
			if s := sibling[j]; s != none && len(path) > 0 {
				path = append(path, s)
			}
		}
	}
	return out
}

// renamed returns the tree after columns have been put in the order by.
func renamed(parent, by []int32) []int32 {
	name, out := make([]int32, len(by)), make([]int32, len(by))
	for k, j := range by {
		name[j] = int32(k)
	}
	for k, j := range by {
		out[k] = none
		if p := parent[j]; p != none {
			out[k] = name[p]
		}
	}
	return out
}

// counts returns the number of entries of every column of L, the diagonal among them, in time nearly linear in the entries
// of the matrix (Gilbert, Ng and Peyton). Row i of L is a subtree of the elimination tree; column j has as many entries as
// there are subtrees with j. Adding 1 at the leaves of a subtree and taking 1 off where two paths to leaves meet makes
// sums over descendants count it once at each of its nodes. Columns are in postorder.
func (a *lower) counts(parent []int32) []int32 {
	n := a.len()
	count := make([]int32, n)
	first, last, root := make([]int32, n), make([]int32, n), make([]int32, n)
	for j := range int32(n) {
		first[j], last[j], root[j] = none, none, j
	}
	for j := range int32(n) {
		if first[j] == none { // a leaf of the tree
			first[j], count[j] = j, 1
		}
		if p := parent[j]; p != none && first[p] == none {
			first[p] = first[j]
		}
	}
	for j := range int32(n) {
		if p := parent[j]; p != none {
			count[p]-- // what column j has in row j, column p has not
		}
		for _, u := range a.row(int(j)) {
			i := a.position[u]
			if i <= j || last[i] != none && last[i] >= first[j] {
				continue // j is no leaf of the subtree of row i
			}
			count[j]++
			if before := last[i]; before != none {
				count[find(root, before)]--
			}
			last[i] = j
		}
		if p := parent[j]; p != none {
			root[j] = p
		}
	}
	for j, p := range parent {
		if p != none {
			count[p] += count[j]
		}
	}
	return count
}

// find returns the root of j's tree, and shortens the way to it.
func find(root []int32, j int32) int32 {
	r := j
	for root[r] != r {
		r = root[r]
	}
	for j != r {
		j, root[j] = root[j], r
	}
	return r
}
