package graph

import (
	"context"

	"grfgp/internal/parallel"
	"grfgp/sparse"
)

const (
	prolongSteps = 3       // of averaging: a cell of four on a ring becomes a hat
	prolongShare = 2.0 / 3 // of a node's value that a step takes from its neighbours
	prolongCells = 8       // at most, that make the value of a node
	prolongLeast = 1e-12   // of a value: what a cell must give to it
)

// prolong returns Sᵐ·P: P says which cell a node is in, and a step of averaging
// S = (1−ω)·I + ω·D⁻¹A takes a share of the mean of the neighbours, self loops
// apart. After every step a row keeps its largest entries and is made to sum to
// 1 again, so that hubs do not fill it.
func (g *Graph) prolong(cell []uint32, cells int) *sparse.CSR {
	n := g.Len()
	rowPtr, col, val := make([]int, n+1), cell, make([]float64, n)
	for i := range n {
		rowPtr[i+1], val[i] = i+1, 1
	}
	mixers := make([]mixer, parallel.Workers((n+rowBlock-1)/rowBlock))
	for w := range mixers {
		mixers[w].weight = make([]float64, cells)
	}
	for range prolongSteps {
		rowPtr, col, val = g.average(mixers, rowPtr, col, val)
	}
	m, err := sparse.NewCSR(n, cells, rowPtr, col, val)
	if err != nil {
		panic("graph: a prolongation of valid cells: " + err.Error())
	}
	return m
}

// average returns one step of averaging, blocks of rows side by side.
func (g *Graph) average(mixers []mixer, oldPtr []int, oldCol []uint32, oldVal []float64) (rowPtr []int, col []uint32, val []float64) {
	n := g.Len()
	blocks := (n + rowBlock - 1) / rowBlock
	cols, vals := make([][]uint32, blocks), make([][]float64, blocks)
	rowPtr = make([]int, n+1)
	_ = parallel.Blocks(context.Background(), blocks, func(worker, b int) error {
		m := &mixers[worker]
		m.col, m.val = m.col[:0], m.val[:0]
		for i := b * rowBlock; i < min(n, (b+1)*rowBlock); i++ {
			add := func(j int, share float64) {
				for p := oldPtr[j]; p < oldPtr[j+1]; p++ {
					m.add(oldCol[p], share*oldVal[p])
				}
			}
			neighbours, weights := g.adj.Row(i)
			strength := 0.0
			for p, j := range neighbours {
				if int(j) != i {
					strength += weights[p]
				}
			}
			if strength == 0 { // alone
				add(i, 1)
			} else {
				add(i, 1-prolongShare)
				for p, j := range neighbours {
					if int(j) != i {
						add(int(j), prolongShare*(weights[p]/strength))
					}
				}
			}
			rowPtr[i+1] = m.flush()
		}
		cols[b], vals[b] = append([]uint32(nil), m.col...), append([]float64(nil), m.val...)
		return nil
	})
	total := addUp(rowPtr)
	col, val = make([]uint32, total), make([]float64, total)
	parallel.Ranges(blocks, 1, func(b, _ int) {
		copy(col[rowPtr[b*rowBlock]:], cols[b])
		copy(val[rowPtr[b*rowBlock]:], vals[b])
	})
	return rowPtr, col, val
}

// mixer adds up one row at a time and keeps the largest entries of each.
type mixer struct {
	weight []float64 // by cell; zero but for those of the row
	near   []uint32  // the cells of the row
	col    []uint32  // rows done
	val    []float64
}

func (m *mixer) add(cell uint32, w float64) {
	if w == 0 {
		return
	}
	if m.weight[cell] == 0 {
		m.near = append(m.near, cell)
	}
	m.weight[cell] += w
}

// flush ends the row and returns how many entries it kept: the largest, of equal
// ones those with the smaller numbers, by column.
func (m *mixer) flush() int {
	var best [prolongCells]uint32
	kept := 0
	for _, c := range m.near {
		w, q := m.weight[c], kept
		if w < prolongLeast {
			continue
		}
		for q > 0 && (w > m.weight[best[q-1]] || w == m.weight[best[q-1]] && c < best[q-1]) {
			q--
		}
		if q == prolongCells {
			continue
		}
		kept = min(kept+1, prolongCells)
		copy(best[q+1:kept], best[q:kept])
		best[q] = c
	}
	insertionSort(best[:kept], nil)
	total := 0.0
	for _, c := range best[:kept] {
		total += m.weight[c]
	}
	for _, c := range best[:kept] {
		m.col = append(m.col, c)
		m.val = append(m.val, m.weight[c]/total)
	}
	for _, c := range m.near {
		m.weight[c] = 0
	}
	m.near = m.near[:0]
	return kept
}
