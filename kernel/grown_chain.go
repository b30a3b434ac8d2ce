package kernel

import (
	"slices"

	"grfgp/kernel/internal/recent"
	"grfgp/sparse"
)

// grownChain is newChain of a list that is that of another chain and a few others. From the
// first scale on whose nodes are the same, the two share all.
func grownChain(rows []int, scales []scale, last *chain, others []int) *chain {
	c := &chain{nodes: [][]int{rows}}
	near := true
	for k, s := range scales {
		var up *sparse.CSR
		var nodes []int
		switch n, _ := s.prolong.Dims(); {
		case near && len(others) == 0:
			up, nodes = last.up[k], last.nodes[k+1]
		case near && last.up[k] != s.prolong && len(c.nodes[k]) < n:
			up, nodes = grownSelected(s.prolong, c.nodes[k], last.up[k], last.nodes[k+1], others)
		default:
			up, nodes = selected(s.prolong, c.nodes[k])
		}
		others, near = recent.Within(last.nodes[k+1], nodes)
		if slices.Equal(last.nodes[k+1], nodes) { // of any length
			others, near, nodes = nil, true, last.nodes[k+1]
		}
		c.up, c.nodes = append(c.up, up), append(c.nodes, nodes)
	}
	return c
}

// grownSelected is selected for rows of which part and columns are the result for all but some
// others, and which are not all rows of q.
func grownSelected(q *sparse.CSR, rows []int, part *sparse.CSR, columns []int, others []int) (*sparse.CSR, []int) {
	var fresh []int // columns
	for _, a := range others {
		cols, _ := q.Row(rows[a])
		for _, j := range cols {
			if _, known := slices.BinarySearch(columns, int(j)); !known {
				fresh = append(fresh, int(j))
			}
		}
	}
	slices.Sort(fresh)
	fresh = slices.Compact(fresh)
	all, place := columns, []uint32(nil) // of the columns before among all; nil: the same
	if len(fresh) > 0 {
		all, place = make([]int, 0, len(columns)+len(fresh)), make([]uint32, len(columns))
		f := 0
		for p, j := range columns {
			for f < len(fresh) && fresh[f] < j {
				all = append(all, fresh[f])
				f++
			}
			place[p] = uint32(len(all))
			all = append(all, j)
		}
		all = append(all, fresh[f:]...)
	}
	before, partCol, partVal := part.Raw()
	ptr := make([]int, len(rows)+1)
	grownPlaces(others, 0, len(rows), func(lo, hi, from int) {
		for a := lo; a < hi; a++ {
			n := 0
			if from >= 0 {
				n = before[from+a-lo+1] - before[from+a-lo]
			} else {
				cols, _ := q.Row(rows[a])
				n = len(cols)
			}
			ptr[a+1] = ptr[a] + n
		}
	})
	col, val := make([]uint32, ptr[len(rows)]), make([]float64, ptr[len(rows)])
	grownEach(len(rows), others, func(lo, hi, from int) {
		if from < 0 {
			cols, vals := q.Row(rows[lo])
			copy(val[ptr[lo]:], vals)
			for e, j := range cols {
				at, _ := slices.BinarySearch(all, int(j))
				col[ptr[lo]+e] = uint32(at)
			}
			return
		}
		to := col[ptr[lo]:ptr[hi]]
		copy(val[ptr[lo]:ptr[hi]], partVal[before[from]:])
		copy(to, partCol[before[from]:])
		if place != nil {
			for e, c := range to {
				to[e] = place[c]
			}
		}
	})
	grown, err := sparse.NewCSR(len(rows), len(all), ptr, col, val)
	if err != nil {
		panic(err) // rows of a valid matrix are a valid matrix
	}
	return grown, all
}
