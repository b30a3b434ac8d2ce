package harmonic

import (
	"gonum.org/v1/gonum/mat"

	"grfgp/solve"
)

const (
	denseNodes  = 200 // of the coarsest network, which is factored
	leastShrink = 0.7 // a coarser network has to be smaller by so much
)

// cycle is a preconditioner: one symmetric W-cycle over coarser and coarser
// networks. A coarser network joins nodes to aggregates of about four; its weights
// and grounds are sums of those below. On each network Gauss–Seidel sweeps, one
// forwards and one backwards, go around two visits to the next.
type cycle struct {
	levels []*level
	whole  *solve.Cholesky // of the coarsest; nil if that is large
}

// level is one of the networks.
type level struct {
	*network
	diag       []float64
	member     []uint32  // of each node: its aggregate, a node of the next level
	x, b, rest []float64 // solution, right-hand side, and what is left of it
	again      []float64 // on all but the first: the solution of the first visit
}

func newCycle(n *network) *cycle {
	c := &cycle{}
	for {
		l := newLevel(n)
		c.levels = append(c.levels, l)
		size := len(n.ground)
		if size <= denseNodes {
			c.whole = l.factor()
			return c
		}
		member, count := n.quads()
		if float64(count) > leastShrink*float64(size) {
			return c
		}
		l.member = member
		n = n.joined(member, count)
	}
}

func newLevel(n *network) *level {
	size := len(n.ground)
	l := &level{network: n, diag: make([]float64, size), x: make([]float64, size), b: make([]float64, size), rest: make([]float64, size), again: make([]float64, size)}
	for i := range size {
		l.diag[i] = n.ground[i]
		_, weight := n.row(i)
		for _, w := range weight {
			l.diag[i] += w
		}
	}
	return l
}

// factor returns the factor of the network, or nil where rounding makes it
// singular.
func (l *level) factor() *solve.Cholesky {
	size := len(l.diag)
	h := mat.NewSymDense(size, nil)
	for i := range size {
		h.SetSym(i, i, l.diag[i])
		to, weight := l.row(i)
		for k, j := range to {
			if int(j) > i {
				h.SetSym(i, int(j), -weight[k])
			}
		}
	}
	f, err := solve.NewCholesky(h)
	if err != nil {
		return nil
	}
	return f
}

// Apply implements solve.Preconditioner.
func (c *cycle) Apply(dst, r *mat.Dense) {
	top := c.levels[0]
	_, cols := r.Dims()
	for j := range cols {
		mat.Col(top.b, j, r)
		c.visit(0)
		dst.SetCol(j, top.x)
	}
}

// visit sets x of a level to an approximate solution for its b.
func (c *cycle) visit(at int) {
	l := c.levels[at]
	clear(l.x)
	if at == len(c.levels)-1 {
		if c.whole != nil {
			x := mat.NewDense(len(l.x), 1, l.x)
			c.whole.Solve(x, mat.NewDense(len(l.b), 1, l.b))
			return
		}
		l.forwards()
		l.backwards()
		return
	}
	l.forwards()
	l.residual(l.rest, l.b, l.x)
	next := c.levels[at+1]
	clear(next.b)
	for i, m := range l.member {
		next.b[m] += l.rest[i]
	}
	c.visit(at + 1)
	if at+1 < len(c.levels)-1 || c.whole == nil { // once more, for what is left
		copy(next.again, next.x)
		next.residual(next.rest, next.b, next.x)
		copy(next.b, next.rest)
		c.visit(at + 1)
		for i, v := range next.again {
			next.x[i] += v
		}
	}
	for i, m := range l.member {
		l.x[i] += next.x[m]
	}
	l.backwards()
}

// forwards and backwards are sweeps of Gauss–Seidel over all nodes.
func (l *level) forwards() {
	for i := range l.x {
		l.relax(i)
	}
}

func (l *level) backwards() {
	for i := len(l.x) - 1; i >= 0; i-- {
		l.relax(i)
	}
}

func (l *level) relax(i int) {
	sum := l.b[i]
	to, weight := l.row(i)
	for k, j := range to {
		sum += weight[k] * l.x[j]
	}
	l.x[i] = sum / l.diag[i]
}
