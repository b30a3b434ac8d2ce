package harmonic

const (
	denseNodes  = 200 // of the coarsest network, which is solved as a whole
	leastShrink = 0.7 // a coarser network has to be smaller by so much
)

// cycle is a preconditioner: one symmetric cycle over coarser and coarser networks.
// A coarser network joins nodes by pairs; its weights and grounds are sums of those
// below. On each network Gauss–Seidel sweeps, one forwards and one backwards, go
// around a visit to the next, and around two visits on every second: the work of
// all networks together is some three times that of the finest.
type cycle struct {
	levels []*level
	whole  *whole // the coarsest; nil if that is large
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
			c.whole = newWhole(n)
			return c
		}
		member, count := n.pairs()
		if float64(count) > leastShrink*float64(size) {
			return c
		}
		l.member = member
		n = n.joined(member, count)
	}
}

func newLevel(n *network) *level {
	size := len(n.ground)
	return &level{network: n, diag: n.diagonal(), x: make([]float64, size), b: make([]float64, size), rest: make([]float64, size),
		again: make([]float64, size)}
}

// visit sets x of a level to an approximate solution for its b.
func (c *cycle) visit(at int) {
	l := c.levels[at]
	clear(l.x)
	if at == len(c.levels)-1 {
		if c.whole != nil {
			c.whole.solve(l.x, l.b)
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
	if at%2 == 1 && (at+1 < len(c.levels)-1 || c.whole == nil) { // once more, for what is left
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
