package kernel

import (
	"gonum.org/v1/gonum/mat"

	"grfgp/sparse"
)

// fragments are eigenvectors of small components of W: each is zero outside its
// component, so a node has few of them.
type fragments struct {
	v      *sparse.CSR // a row per node, an eigenvector per column
	values []float64
}

const fragmentNodes = 32 // of the largest component that is decomposed separately

// components returns the nodes of components of up to fragmentNodes nodes, each a
// list, and all other nodes.
func (r *recurrence) components() (small [][]int, large []int) {
	n := r.Nodes()
	seen := make([]bool, n)
	for start := range n {
		if seen[start] {
			continue
		}
		seen[start] = true
		part := []int{start}
		for at := 0; at < len(part); at++ {
			cols, _ := r.twice.Row(part[at])
			for _, j := range cols {
				if !seen[j] {
					seen[j] = true
					part = append(part, int(j))
				}
			}
		}
		if len(part) <= fragmentNodes {
			small = append(small, part)
		} else {
			large = append(large, part...)
		}
	}
	return small, large
}

// fragments decomposes small components, and keeps eigenvalues from below on.
func (r *recurrence) fragments(small [][]int, below float64) (*fragments, error) {
	n, f := r.Nodes(), &fragments{}
	first := make([]int, n) // column of a node's first eigenvector,
	entries := make([][]float64, n)
	for _, part := range small {
		values, u, err := r.decompose(part)
		if err != nil {
			return nil, err
		}
		kept := 0
		for kept < len(values) && values[kept] >= below {
			kept++
		}
		for a, i := range part {
			first[i], entries[i] = len(f.values), u.RawRowView(a)[:kept]
		}
		f.values = append(f.values, values[:kept]...)
	}
	ptr := make([]int, n+1)
	var col []uint32
	var val []float64
	for i, row := range entries {
		for e, v := range row {
			col, val = append(col, uint32(first[i]+e)), append(val, v)
		}
		ptr[i+1] = len(col)
	}
	var err error
	f.v, err = sparse.NewCSR(n, len(f.values), ptr, col, val)
	return f, err
}

// project returns Vᵀ·x for values x at some nodes.
func (f *fragments) project(nodes []int, x *mat.Dense) *mat.Dense {
	_, columns := x.Dims()
	inner := mat.NewDense(len(f.values), columns, nil)
	for a, i := range nodes {
		cols, vals := f.v.Row(i)
		for p, e := range cols {
			out := inner.RawRowView(int(e))
			for c, v := range x.RawRowView(a) {
				out[c] += vals[p] * v
			}
		}
	}
	return inner
}

// add adds V[rows]·diag(lift)·V[cols]ᵀ·x to dst.
func (f *fragments) add(dst *mat.Dense, lift []float64, rows, cols []int, x *mat.Dense) {
	inner := f.project(cols, x)
	for a, i := range rows {
		out := dst.RawRowView(a)
		cols, vals := f.v.Row(i)
		for p, e := range cols {
			for c, v := range inner.RawRowView(int(e)) {
				out[c] += lift[e] * vals[p] * v
			}
		}
	}
}

// pairs calls do with V_ae·V_be for all places a ≤ b in a list of nodes that have
// eigenvector e in common.
func (f *fragments) pairs(rows []int, do func(a, b, e int, product float64)) {
	type entry struct {
		at int
		v  float64
	}
	met := map[uint32][]entry{} // by eigenvector; only looked up
	for b, i := range rows {
		cols, vals := f.v.Row(i)
		for p, e := range cols {
			met[e] = append(met[e], entry{b, vals[p]})
			for _, other := range met[e] {
				do(other.at, b, int(e), other.v*vals[p])
			}
		}
	}
}
