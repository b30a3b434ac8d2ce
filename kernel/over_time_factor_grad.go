package kernel

import (
	"context"

	"gonum.org/v1/gonum/mat"

	"grfgp/internal/dense"
)

// Grad uses that G = ½(ααᵀ − H⁻¹) is, in the coordinates of the eigenvectors, a weighted
// sum of xxᵀ − D⁻¹. With functions X on the table, tr(xxᵀ(∂k ⊗ ρ)) = tr(∂k·XρXᵀ), and
// tr(xxᵀ(k ⊗ ∂ρ)) = tr(∂ρ·XᵀkX): one matrix of weights for k, and one for ρ.
func (f *timeFactor) Grad(ctx context.Context, grad, alpha []float64) (trace float64, err error) {
	n, p := len(f.lambda), len(f.mu)
	forGraph, forTime := mat.NewDense(n, n, nil), mat.NewDense(p, p, nil)
	for a, l := range f.lambda {
		sum := 0.0
		for b, m := range f.mu {
			d := f.inverse[a*p+b]
			sum += m * d
			forTime.Set(b, b, forTime.At(b, b)-l*d/2)
			trace -= d / 2
		}
		forGraph.Set(a, a, -sum/2)
	}
	scaled := make([]float64, n*p)
	add := func(x []float64, weight float64) {
		for a := range n {
			for b, m := range f.mu {
				v := x[a*p+b]
				scaled[a*p+b] = v * m
				trace += weight / 2 * v * v
			}
		}
		dense.AddLower(dense.View(forGraph), weight/2, f.table(scaled), f.table(x).T())
		for a, l := range f.lambda {
			for b := range p {
				scaled[a*p+b] = x[a*p+b] * l
			}
		}
		dense.AddLower(dense.View(forTime), weight/2, f.table(scaled).T(), f.table(x))
	}
	x := make([]float64, n*p)
	for a, cell := range f.cells {
		x[cell] = alpha[a]
	}
	add(f.rotated(x, false), 1)
	if f.ones != nil {
		add(f.ones, f.weight)
	}
	if f.gaps != nil {
		g, _ := f.gaps.Dims()
		for k := range g {
			if err := ctx.Err(); err != nil {
				return 0, err
			}
			add(f.gaps.RawRowView(k), 1)
		}
	}
	own := f.cov.own()
	if !f.cov.apart {
		weights := outOf(forTime, f.v)
		for a, row := range f.cov.rho(f.list.periods) {
			for b, e := range row {
				grad[own] += weights.At(a, b) * e.byScale
				grad[own+1] += weights.At(a, b) * e.byChange
			}
		}
	}
	return trace, f.cov.graph.GramGrad(ctx, grad[:own], f.list.nodes, outOf(forGraph, f.u))
}

// outOf returns EGEᵀ for eigenvectors E and a symmetric G, of which the lower triangle is
// given.
func outOf(g, e *mat.Dense) *mat.SymDense {
	n, _ := g.Dims()
	for i := range n {
		for j := range i {
			g.Set(j, i, g.At(i, j))
		}
	}
	half, out := mat.NewDense(n, n, nil), mat.NewSymDense(n, nil)
	dense.Mul(dense.View(half), dense.View(e), dense.View(g))
	dense.AddLower(dense.OfSymmetric(out.RawSymmetric()).T(), 1, dense.View(half), dense.View(e).T())
	return out
}

// explainBlock is the most covariances between nodes of the table and others that are
// held at a time.
const explainBlock = 1 << 24

// Explained takes, of a node and a period, the covariances a with the nodes and b with the
// periods of the table, in the coordinates of the eigenvectors: those with the cells are
// a ⊗ b.
func (f *timeFactor) Explained(ctx context.Context, dst []float64, nodes []int) error {
	l, n := f.cov.list(nodes), len(f.lambda)
	periods := f.periodsOf(l)
	size := max(1, explainBlock/n)
	for lo := 0; lo < len(l.nodes); lo += size {
		hi := min(len(l.nodes), lo+size)
		a, err := f.graphPart(ctx, l.nodes[lo:hi])
		if err != nil {
			return err
		}
		rows := make([][]int, len(periods)) // of these nodes
		for _, r := range l.rows[l.first[lo]:l.first[hi]] {
			rows[l.period[r]] = append(rows[l.period[r]], r)
		}
		for q, part := range periods {
			f.explain(dst, rows[q], func(r int) int { return l.node[r] - lo }, a, part)
		}
		if err := ctx.Err(); err != nil {
			return err
		}
	}
	return nil
}

// graphPart returns the covariances of nodes with those of the table, a row for each
// eigenvector.
func (f *timeFactor) graphPart(ctx context.Context, nodes []int) (*mat.Dense, error) {
	n, m := len(f.lambda), len(nodes)
	k := mat.NewDense(m, n, nil)
	if n <= m { // by as few columns as possible
		if err := byProducts(ctx, k, f.cov.graph.Cross(nodes, f.list.nodes)); err != nil {
			return nil, err
		}
	} else {
		t := mat.NewDense(n, m, nil)
		if err := byProducts(ctx, t, f.cov.graph.Cross(f.list.nodes, nodes)); err != nil {
			return nil, err
		}
		k.Copy(t.T())
	}
	a := mat.NewDense(n, m, nil)
	dense.Mul(dense.View(a), dense.View(f.u).T(), dense.View(k).T())
	return a, nil
}

// periodPart is what a period to predict for has with the table.
type periodPart struct {
	diag []float64  // Σ_m b_m²/D_am, of every eigenvector a of the kernel on nodes
	ones []float64  // Σ_m ones_am·b_m
	gaps *mat.Dense // Σ_m M_am·b_m, a row per missing cell
}

// periodsOf returns the parts of the periods of a list.
func (f *timeFactor) periodsOf(l *timeList) []periodPart {
	n, p := len(f.lambda), len(f.mu)
	all := make([]periodPart, len(l.periods))
	for q, period := range l.periods {
		b := make([]float64, p)
		for k, other := range f.list.periods {
			c := f.cov
			gap := c.times[period] - c.times[other]
			decay, _ := c.decay(max(gap, -gap))
			for m, v := range f.v.RawRowView(k) {
				b[m] += v * (c.stays + c.changes*decay)
			}
		}
		part := periodPart{diag: make([]float64, n)}
		along := func(out, x []float64) {
			for a := range out {
				out[a] = dot(x[a*p:][:p], b)
			}
		}
		for a := range n {
			for m, v := range b {
				part.diag[a] += v * v * f.inverse[a*p+m]
			}
		}
		if f.ones != nil {
			part.ones = make([]float64, n)
			along(part.ones, f.ones)
		}
		if f.gaps != nil {
			g, _ := f.gaps.Dims()
			part.gaps = mat.NewDense(g, n, nil)
			everyRow(g, 256, func(k int) { along(part.gaps.RawRowView(k), f.gaps.RawRowView(k)) })
		}
		all[q] = part
	}
	return all
}

// explain sets dst at rows, whose covariances with the nodes of the table are columns of a.
func (f *timeFactor) explain(dst []float64, rows []int, column func(row int) int, a *mat.Dense, part periodPart) {
	if len(rows) == 0 {
		return
	}
	n, _ := a.Dims()
	own := mat.NewDense(n, len(rows), nil)
	for i := range n {
		in, out := a.RawRowView(i), own.RawRowView(i)
		for k, r := range rows {
			out[k] = in[column(r)]
		}
	}
	squares, levels := make([]float64, len(rows)), make([]float64, len(rows))
	for i := range n {
		for k, v := range own.RawRowView(i) {
			squares[k] += v * v * part.diag[i]
			if part.ones != nil {
				levels[k] += v * part.ones[i]
			}
		}
	}
	if part.gaps != nil {
		g, _ := part.gaps.Dims()
		taken := mat.NewDense(g, len(rows), nil)
		dense.Mul(dense.View(taken), dense.View(part.gaps), dense.View(own))
		for k := range g {
			for s, v := range taken.RawRowView(k) {
				squares[s] -= v * v
			}
		}
	}
	c, s := f.constant, f.sum
	for k, r := range rows {
		t := levels[k] // with 1
		dst[r] = squares[k] + 2*c*t + c*c*s - f.weight*(t+c*s)*(t+c*s)
	}
}
