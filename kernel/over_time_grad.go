package kernel

import (
	"context"

	"gonum.org/v1/gonum/mat"

	"grfgp/internal/parallel"
)

// Gram multiplies the entries of the kernel on the distinct nodes by ρ.
func (c *timeCovariance) Gram(ctx context.Context, dst *mat.SymDense, rows []int) error {
	if err := ctx.Err(); err != nil || len(rows) == 0 {
		return err
	}
	l := c.list(rows)
	graph := mat.NewSymDense(len(l.nodes), nil)
	if err := c.graph.Gram(ctx, graph, l.nodes); err != nil {
		return err
	}
	rho, k, raw := c.rho(l.periods), fullRows(graph), dst.RawSymmetric()
	return eachRow(ctx, len(rows), gramRows, func(_, a int) {
		out := raw.Data[a*raw.Stride:][:raw.N]
		node, period := k.RawRowView(l.node[a]), rho[l.period[a]]
		for b := a; b < raw.N; b++ {
			out[b] = node[l.node[b]] * period[l.period[b]].value
		}
	})
}

// fullRows returns a symmetric matrix with both triangles.
func fullRows(k *mat.SymDense) *mat.Dense {
	n := k.SymmetricDim()
	full, raw := mat.NewDense(n, n, nil), k.RawSymmetric()
	for i := range n {
		copy(full.RawRowView(i)[i:], raw.Data[i*raw.Stride+i:][:n-i])
	}
	everyRow(n, 256, func(i int) {
		row := full.RawRowView(i)
		for j := range i {
			row[j] = raw.Data[j*raw.Stride+i]
		}
	})
	return full
}

// rhoEntry is ρ(t_p, t_q) with its derivatives by τ and by c.
type rhoEntry struct{ value, byScale, byChange float64 }

// rho returns ρ between periods.
func (c *timeCovariance) rho(periods []int) [][]rhoEntry {
	all := make([][]rhoEntry, len(periods))
	for p := range all {
		all[p] = make([]rhoEntry, len(periods))
	}
	for p := range periods {
		for q := range p + 1 {
			a, slope := c.decay(c.times[periods[p]] - c.times[periods[q]])
			e := rhoEntry{c.stays + c.changes*a, c.changes * slope, (a - 1) * c.stays * c.stays}
			all[p][q], all[q][p] = e, e
		}
	}
	return all
}

// GramGrad adds up weights by pairs of distinct nodes for the parameters of the kernel
// on nodes, and takes ∂ρ for those of the time.
func (c *timeCovariance) GramGrad(ctx context.Context, grad []float64, rows []int, g *mat.SymDense) error {
	if err := ctx.Err(); err != nil || len(rows) == 0 {
		return err
	}
	l := c.list(rows)
	n := len(l.nodes)
	graph, weights := mat.NewSymDense(n, nil), mat.NewSymDense(n, nil)
	if err := c.graph.Gram(ctx, graph, l.nodes); err != nil {
		return err
	}
	rho, k, full := c.rho(l.periods), fullRows(graph), fullRows(g)
	slopes := make([][timeParams]float64, n)
	err := eachRow(ctx, n, gramRows, func(_, i int) {
		sums, entries, byScale, byChange := make([]float64, n), k.RawRowView(i), 0.0, 0.0
		for _, a := range l.rows[l.first[i]:l.first[i+1]] {
			period := rho[l.period[a]]
			for b, v := range full.RawRowView(a) {
				j, e := l.node[b], period[l.period[b]]
				sums[j] += v * e.value
				byScale += v * entries[j] * e.byScale
				byChange += v * entries[j] * e.byChange
			}
		}
		for j := i; j < n; j++ {
			weights.SetSym(i, j, sums[j])
		}
		slopes[i] = [timeParams]float64{byScale, byChange}
	})
	if err != nil {
		return err
	}
	own := c.own()
	if !c.apart {
		for _, s := range slopes {
			grad[own] += s[0]
			grad[own+1] += s[1]
		}
	}
	return c.graph.GramGrad(ctx, grad[:own], l.nodes, weights)
}

// slopes returns the decay from each period to the next, with its derivative.
func (c *timeCovariance) slopes(periods []int) []rhoEntry {
	all := make([]rhoEntry, len(periods))
	for k := 1; k < len(periods); k++ {
		all[k].value, all[k].byScale = c.decay(c.times[periods[k]] - c.times[periods[k-1]])
	}
	return all
}

// addSlopes adds Σ_i u_i·∂ρ·y_iᵀ over the nodes, by recursions along time: f_p =
// a·f_(p−1) + y_p forwards, b_p = a·(b_(p+1) + y_(p+1)) backwards, and their
// derivatives by τ.
func (c *timeCovariance) addSlopes(grad []float64, step []rhoEntry, u, y *mat.Dense, width int) {
	n, _ := u.Dims()
	sums := make([][timeParams]float64, n)
	const size = 64
	parallel.Ranges(n, size, func(lo, hi int) {
		state := make([]float64, 4*width)
		f, df, su, sy := state[:width], state[width:2*width], state[2*width:3*width], state[3*width:]
		for i := lo; i < hi; i++ {
			left, right := u.RawRowView(i), y.RawRowView(i)
			decay, slope, still := 0.0, 0.0, 0.0 // uᵀEy, uᵀ(∂E/∂τ)y, uᵀ11ᵀy with E = exp(−|t−t′|/τ)
			clear(state)
			for p, e := range step {
				for s := range width {
					a, b := left[p*width+s], right[p*width+s]
					df[s] = e.value*df[s] + e.byScale*f[s]
					f[s] = e.value*f[s] + b
					decay += a * f[s]
					slope += a * df[s]
					su[s] += a
					sy[s] += b
				}
			}
			clear(state[:2*width])
			for p := len(step) - 2; p >= 0; p-- {
				e := step[p+1]
				for s := range width {
					a, b := left[p*width+s], right[(p+1)*width+s]
					df[s] = e.value*df[s] + e.byScale*(f[s]+b)
					f[s] = e.value * (f[s] + b)
					decay += a * f[s]
					slope += a * df[s]
				}
			}
			for s, v := range su {
				still += v * sy[s]
			}
			sums[i] = [timeParams]float64{c.changes * slope, c.stays * c.stays * (decay - still)}
		}
	})
	for _, s := range sums {
		grad[0] += s[0]
		grad[1] += s[1]
	}
}
