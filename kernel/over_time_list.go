package kernel

import (
	"context"
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
	everyRow(len(l.nodes), func(i int) {
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
	everyRow(len(l.node), func(a int) {
		copy(dst.RawRowView(a), z.RawRowView(l.node[a])[l.period[a]*width:][:width])
	})
}

// everyRow calls do for the rows 0 … n−1, in parallel.
func everyRow(n int, do func(i int)) {
	parallel.Ranges(n, 256, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			do(i)
		}
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
