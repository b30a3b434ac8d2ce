package graph

import (
	"context"
	"math"
	"slices"

	"grfgp/internal/parallel"
	"grfgp/sparse"
)

const (
	prolongShare = 2.0 / 3 // of a node's value that a step takes from its neighbours
	prolongSteps = 3       // leave no edges between the cells of a ring or a grid
	prolongLeast = 1e-3    // of a value: what a cell must give to it
)

// blend says which cells make the value of a node, the largest share first, with
// zero shares at the end. It fits a line of the cache.
type blend [8]struct {
	cell  uint32
	share float32
}

// prolong returns Sᵐ·P. P gives a node between cells a mean of those who are
// nearer to a seed, so that where it fell does not show; a step of averaging
// S = (1−ω)·I + ω·D⁻¹A then takes a share of the mean of all neighbours, self
// loops apart. After every step a row keeps its largest entries and is made to
// sum to 1 again, so that hubs do not fill it.
//
// Last, shares are evened out: see flattenAll.
func (t *tiling) prolong() *sparse.CSR {
	blends := t.blends()
	flattenAll(blends)
	return rowsOf(blends, t.cells)
}

// blends returns the rows of Sᵐ·P.
func (t *tiling) blends() []blend {
	n := len(t.cell)
	blocks := (n + rowBlock - 1) / rowBlock
	mixers := make([]mixer, parallel.Workers(blocks))
	for w := range mixers {
		mixers[w].weight = make([]float64, t.cells)
	}
	forNodes := func(do func(m *mixer, i int)) {
		_ = parallel.Blocks(context.Background(), blocks, func(worker, b int) error {
			for i := b * rowBlock; i < min(n, (b+1)*rowBlock); i++ {
				do(&mixers[worker], i)
			}
			return nil
		})
	}
	from, to := make([]blend, n), make([]blend, n)
	for _, i := range t.seeds {
		from[i][0].cell, from[i][0].share = t.cell[i], 1
	}
	for hops := uint8(1); hops <= t.reach; hops++ {
		forNodes(func(m *mixer, i int) {
			if t.hops[i] == hops {
				m.average(t.g, i, from, &from[i], 1, func(j uint32) bool { return t.hops[j] < hops })
			}
		})
	}
	for range prolongSteps {
		forNodes(func(m *mixer, i int) {
			m.average(t.g, i, from, &to[i], prolongShare, func(j uint32) bool { return int(j) != i })
		})
		from, to = to, from
	}
	return from
}

// flattenAll brings Σ share² of most nodes to the same value, that of the lowest
// fifth: then values of the cells that vary at random make values as large near
// the middle of a cell as between cells.
func flattenAll(blends []blend) {
	squares := make([]float64, len(blends))
	parallel.Ranges(len(blends), rowBlock, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			for _, e := range blends[i] {
				squares[i] += float64(e.share) * float64(e.share)
			}
		}
	})
	goal := nth(squares, len(squares)/5)
	parallel.Ranges(len(blends), rowBlock, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			blends[i].flatten(goal)
		}
	})
}

// nth returns the number that would be at place k if x were sorted. It changes the order of x.
func nth(x []float64, k int) float64 {
	for len(x) > 16 {
		a, b, c := x[0], x[len(x)/2], x[len(x)-1]
		pivot := max(min(a, b), min(max(a, b), c))
		// Smaller ones, equal ones, not yet seen, larger ones.
		below, at, above := 0, 0, len(x)
		for at < above {
			switch v := x[at]; {
			case v < pivot:
				x[below], x[at] = v, x[below]
				below++
				at++
			case v > pivot:
				above--
				x[above], x[at] = v, x[above]
			default:
				at++
			}
		}
		switch {
		case k < below:
			x = x[:below]
		case k < above:
			return pivot
		default:
			x, k = x[above:], k-above
		}
	}
	slices.Sort(x)
	return x[k]
}

// flatten moves shares w towards v ∝ √w, to (1−λ)·w + λ·v with squares that add
// up to goal, or as far as λ = 1.
func (b *blend) flatten(goal float64) {
	total := 0.0
	for _, e := range b {
		total += math.Sqrt(float64(e.share))
	}
	ww, wv, vv := 0.0, 0.0, 0.0
	for _, e := range b {
		w := float64(e.share)
		v := math.Sqrt(w) / total
		ww, wv, vv = ww+w*w, wv+w*v, vv+v*v
	}
	if ww <= goal {
		return
	}
	lambda := 1.0
	if vv < goal { // a·λ² − 2·h·λ + c = 0
		a, h, c := ww-2*wv+vv, ww-wv, ww-goal
		lambda = (h - math.Sqrt(max(0, h*h-a*c))) / a
	}
	for p, e := range b {
		w := float64(e.share)
		b[p].share = float32((1-lambda)*w + lambda*math.Sqrt(w)/total)
	}
}

// rowsOf returns blends as a matrix with columns in increasing order.
func rowsOf(blends []blend, cells int) *sparse.CSR {
	rowPtr := make([]int, len(blends)+1)
	parallel.Ranges(len(blends), rowBlock, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			rowPtr[i+1] = blends[i].len()
		}
	})
	for i := range blends {
		rowPtr[i+1] += rowPtr[i]
	}
	col, val := make([]uint32, rowPtr[len(blends)]), make([]float64, rowPtr[len(blends)])
	parallel.Ranges(len(blends), rowBlock, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			cols, vals := col[rowPtr[i]:rowPtr[i+1]], val[rowPtr[i]:rowPtr[i+1]]
			for p := range cols {
				cols[p], vals[p] = blends[i][p].cell, float64(blends[i][p].share)
			}
			insertionSort(cols, vals)
			total := sum(vals)
			for p := range vals {
				vals[p] /= total
			}
		}
	})
	m, err := sparse.NewCSR(len(blends), cells, rowPtr, col, val)
	if err != nil {
		panic("graph: a prolongation of valid cells: " + err.Error())
	}
	return m
}

// len returns how many cells the blend has.
func (b *blend) len() int {
	for p := range b {
		if b[p].share == 0 {
			return p
		}
	}
	return len(b)
}

// mixer adds up one blend at a time.
type mixer struct {
	weight []float64 // by cell; zero but for those of the blend
	near   []uint32  // the cells of the blend
}

// average takes a share of the blend of node i from the mean of its neighbours,
// or of some of them.
func (m *mixer) average(g *Graph, i int, from []blend, to *blend, share float64, counts func(j uint32) bool) {
	cols, vals := g.adj.Row(i)
	strength := 0.0
	for p, j := range cols {
		if counts(j) {
			strength += vals[p]
		}
	}
	if strength == 0 { // alone
		*to = from[i]
		return
	}
	m.add(&from[i], 1-share)
	for p, j := range cols {
		if counts(j) {
			m.add(&from[j], share*(vals[p]/strength))
		}
	}
	m.keep(to)
}

func (m *mixer) add(b *blend, share float64) {
	for _, e := range b {
		w := share * float64(e.share)
		if w == 0 {
			return
		}
		if m.weight[e.cell] == 0 {
			m.near = append(m.near, e.cell)
		}
		m.weight[e.cell] += w
	}
}

// keep ends the blend: its largest shares, of equal ones those of the cells with
// the smaller numbers, scaled to sum to 1.
func (m *mixer) keep(to *blend) {
	var best [len(blend{})]uint32
	kept := 0
	for _, c := range m.near {
		w, q := m.weight[c], kept
		if w < prolongLeast {
			continue
		}
		for q > 0 && (w > m.weight[best[q-1]] || w == m.weight[best[q-1]] && c < best[q-1]) {
			q--
		}
		if q == len(best) {
			continue
		}
		kept = min(kept+1, len(best))
		copy(best[q+1:kept], best[q:kept])
		best[q] = c
	}
	total := 0.0
	for _, c := range best[:kept] {
		total += m.weight[c]
	}
	*to = blend{}
	for p, c := range best[:kept] {
		to[p].cell, to[p].share = c, float32(m.weight[c]/total)
	}
	for _, c := range m.near {
		m.weight[c] = 0
	}
	m.near = m.near[:0]
}
