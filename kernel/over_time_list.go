package kernel

import (
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"grfgp/internal/parallel"
)

// timeList is a list of numbers p·N + i, taken apart into nodes and periods.
type timeList struct {
	nodes, periods []int // distinct, in increasing order
	node, period   []int // of each row: its place in nodes and in periods
	first, rows    []int // the rows of place i of nodes are rows[first[i]:first[i+1]], in order
}

// list takes a list of numbers apart.
func (k *overTime) list(rows []int) *timeList {
	n := k.kernel.Nodes()
	l := &timeList{node: make([]int, len(rows)), period: make([]int, len(rows)), rows: make([]int, len(rows))}
	for a, r := range rows {
		l.node[a], l.period[a] = r%n, r/n
	}
	l.nodes, l.periods = places(l.node), places(l.period)
	l.first = make([]int, len(l.nodes)+1)
	for _, i := range l.node {
		l.first[i+1]++
	}
	for i := range l.nodes {
		l.first[i+1] += l.first[i]
	}
	next := slices.Clone(l.first)
	for a, i := range l.node {
		l.rows[next[i]] = a
		next[i]++
	}
	return l
}

// places replaces numbers by their places in the sorted list of distinct ones, which
// it returns.
func places(numbers []int) []int {
	distinct := slices.Compact(slices.Sorted(slices.Values(numbers)))
	for a, v := range numbers {
		numbers[a], _ = slices.BinarySearch(distinct, v)
	}
	return distinct
}

// scatter sets z, a row per distinct node, to the rows of x at their nodes and periods:
// column p·S + s of z is column s of x in period p. Rows of the same node and period
// are added.
func (l *timeList) scatter(z, x *mat.Dense) {
	_, width := x.Dims()
	everyRow(len(l.nodes), 256, func(i int) {
		out := z.RawRowView(i)
		clear(out)
		for _, a := range l.rows[l.first[i]:l.first[i+1]] {
			to := out[l.period[a]*width:][:width]
			for s, v := range x.RawRowView(a) {
				to[s] += v
			}
		}
	})
}

// gather is the transpose of scatter: it sets dst to the entries of z.
func (l *timeList) gather(dst, z *mat.Dense) {
	_, width := dst.Dims()
	everyRow(len(l.node), 256, func(a int) {
		copy(dst.RawRowView(a), z.RawRowView(l.node[a])[l.period[a]*width:][:width])
	})
}

// mixer multiplies by ρ[to, from] along time: y_q = Σ_p ρ(t_q, t_p)·v_p, by one
// recursion forwards and one backwards.
type mixer struct {
	stays, changes float64
	step           []float64 // decay from the period before, in from
	last           []int     // for each period of to: the last of from that is not later, −1 if none
	ahead, back    []float64 // decay to it from that period, and from the one after; 0 without one
}

func (c *timeCovariance) mixer(to, from []int) *mixer {
	m := &mixer{c.stays, c.changes, make([]float64, len(from)), make([]int, len(to)), make([]float64, len(to)), make([]float64, len(to))}
	for k, p := range from {
		if k > 0 {
			m.step[k], _ = c.decay(c.times[p] - c.times[from[k-1]])
		}
	}
	k := -1
	for q, p := range to {
		for k+1 < len(from) && from[k+1] <= p {
			k++
		}
		m.last[q] = k
		if k >= 0 {
			m.ahead[q], _ = c.decay(c.times[p] - c.times[from[k]])
		}
		if k+1 < len(from) {
			m.back[q], _ = c.decay(c.times[from[k+1]] - c.times[p])
		}
	}
	return m
}

// apply sets the rows of dst to those of src, mixed; both have so many columns for each
// period.
func (m *mixer) apply(ctx context.Context, dst, src *mat.Dense, width int) error {
	n, _ := src.Dims()
	const size = 64
	return parallel.Blocks(ctx, (n+size-1)/size, func(_, b int) error {
		state, sum := make([]float64, width), make([]float64, width)
		for i := b * size; i < min(n, (b+1)*size); i++ {
			m.row(dst.RawRowView(i), src.RawRowView(i), state, sum)
		}
		return nil
	})
}

// row mixes the periods of one node. State and sum have a number for each column of a
// period.
func (m *mixer) row(dst, src, state, sum []float64) {
	width := len(state)
	take := func(k int, decay float64) {
		for s, v := range src[k*width:][:width] {
			state[s] = state[s]*decay + v
		}
	}
	clear(state)
	clear(sum)
	k := 0
	for q, last := range m.last {
		for ; k <= last; k++ {
			take(k, m.step[k])
		}
		out := dst[q*width:][:width]
		for s, v := range state {
			out[s] = v * m.ahead[q]
		}
	}
	for k := range m.step {
		for s, v := range src[k*width:][:width] {
			sum[s] += v
		}
	}
	clear(state)
	k = len(m.step) - 1
	for q := len(m.last) - 1; q >= 0; q-- {
		for ; k > m.last[q]; k-- {
			decay := 0.0
			if k+1 < len(m.step) {
				decay = m.step[k+1]
			}
			take(k, decay)
		}
		out := dst[q*width:][:width]
		for s, v := range state {
			out[s] = m.stays*sum[s] + m.changes*(out[s]+v*m.back[q])
		}
	}
}

// tabular implements Training.Tabular.
func (k *overTime) tabular(rows []int) (work int) {
	l := k.list(rows)
	if !l.tabular() {
		return 0
	}
	n, p := len(l.nodes), len(l.periods)
	return max(1, int(math.Cbrt(tableCost(n, p, n*p-len(rows))/denseFlops)))
}

// tabular reports whether rows are a table with few missing cells, whose factor takes
// fewer operations than a dense one.
func (l *timeList) tabular() bool {
	n, p := len(l.nodes), len(l.periods)
	gaps := n*p - len(l.node)
	if p < 2 || gaps < 0 || gaps*n*p > tableGaps || tableCost(n, p, gaps) > min(tableFlops, denseFlops*cube(len(l.node))) {
		return false
	}
	return !l.repeats()
}

// repeats reports whether a node is in the list more than once in a period.
func (l *timeList) repeats() bool {
	p := len(l.periods)
	seen := make([]bool, len(l.nodes)*p)
	for a, i := range l.node {
		cell := i*p + l.period[a]
		if seen[cell] {
			return true
		}
		seen[cell] = true
	}
	return false
}

// patches chooses samples of rows to learn from, given by their positions. Of a table
// they are nodes in all periods, as many as take the time of a dense factor of the rows
// that are asked for. Otherwise windows are, in turn, of nodes near each other in
// a period and of a few nodes in all periods: the former tell about the nodes, the
// latter about time.
func (k *overTime) patches(rows []int, windows, size, scattered int) [][]int {
	l := k.list(rows)
	if share := l.tableShare(); share*float64(size) >= leastOfTable {
		return l.tablePatches(windows, int(share*float64(size)), int(share*float64(scattered)))
	}
	byPlace := make([]int, len(rows))
	for a := range byPlace {
		byPlace[a] = a
	}
	slices.SortStableFunc(byPlace, func(a, b int) int { return rows[a] - rows[b] })
	byNode := slices.Clone(byPlace)
	slices.SortStableFunc(byNode, func(a, b int) int { return l.node[a] - l.node[b] })
	size = min(len(rows), size)
	var all [][]int
	for w := range windows {
		lo, order := (len(rows)-size)*(2*w+1)/(2*windows), byPlace
		if w%2 == 1 {
			order = byNode
		}
		all = append(all, order[lo:lo+size])
	}
	if scattered > 0 {
		all = append(all, evenly(byPlace, scattered))
	}
	return all
}

// leastOfTable is the least number of nodes of a window of a table.
const leastOfTable = 8

// tableShare is the ratio of the nodes of a part of the table, in all periods, to the rows
// of a dense factor that takes as long; 0 unless the rows are a table.
func (l *timeList) tableShare() float64 {
	n, p := len(l.nodes), len(l.periods)
	gaps := n*p - len(l.node)
	if p < 2 || gaps < 0 || 2*gaps > len(l.node) {
		return 0
	}
	q, periods := float64(gaps)/float64(n*p), float64(p)
	return math.Cbrt(denseFlops / (eigenFlops + 2*q*periods*periods*(q*periods+1)))
}

// tablePatches are windows of so many nodes each, and scattered nodes, in all periods;
// the whole table, if it is not larger.
func (l *timeList) tablePatches(windows, size, scattered int) [][]int {
	n := len(l.nodes)
	of := func(nodes []int) (rows []int) {
		for _, i := range nodes {
			rows = append(rows, l.rows[l.first[i]:l.first[i+1]]...)
		}
		return rows
	}
	if n <= max(size, scattered) {
		return [][]int{of(upTo(n))}
	}
	var all [][]int
	for w := range windows {
		lo := (n - size) * (2*w + 1) / (2 * windows)
		all = append(all, of(upTo(n)[lo:lo+size]))
	}
	if scattered > 0 {
		all = append(all, of(evenly(upTo(n), scattered)))
	}
	return all
}

// evenly returns so many elements of a list at even distances, or all.
func evenly(list []int, count int) []int {
	chosen := make([]int, min(len(list), count))
	for q := range chosen {
		chosen[q] = list[(2*q+1)*len(list)/(2*len(chosen))]
	}
	return chosen
}
