package kernel

import (
	"fmt"
	"math"
	"sync"

	"gonum.org/v1/gonum/mat"

	"grfgp/internal/parallel"
	"grfgp/sparse"
)

// pattern is the sparsity pattern of the features of a list of nodes; it is the
// same for every θ. Its columns are the nodes that the list reaches, in the order
// of first occurrence. If these are more than half of all nodes, every node is a
// column.
type pattern struct {
	rows  []int
	nodes []uint32 // the node of each column; nil: columns are nodes
	width int
	ptr   []int
	col   []uint32

	transposeOnce sync.Once
	tPtr          []int
	tCol          []uint32
	from          []uint32 // per entry of the transpose: its place in the original; nil where 32 bits are not enough
}

func (k *GRF) pattern(rows []int) *pattern {
	if k.isAll(rows) {
		return k.whole()
	}
	return k.patterns.Get(rows, k.newPattern)
}

// isAll reports whether rows are all nodes in order. Their pattern and factor
// cost most and are used often, so they are kept outside the cache.
func (k *GRF) isAll(rows []int) bool { return len(rows) == k.Nodes() && increasing(rows) }

func (k *GRF) newPattern(rows []int) *pattern {
	p := &pattern{rows: rows, ptr: make([]int, len(rows)+1)}
	for a, i := range rows {
		p.ptr[a+1] = p.ptr[a] + len(k.features.Reached(i))
	}
	p.col = make([]uint32, p.ptr[len(rows)])
	table := k.labels.Get().(*[]uint32)
	defer k.labels.Put(table)
	labels := *table // label+1 of a node, 0 if it has none
	p.nodes = k.touched(rows, labels)
	if p.nodes == nil {
		p.width = k.Nodes()
		k.eachBlock(rows, func(a, i int) { copy(p.col[p.ptr[a]:], k.features.Reached(i)) })
		return p
	}
	p.width = len(p.nodes)
	k.eachBlock(rows, func(a, i int) {
		out := p.col[p.ptr[a]:]
		for e, node := range k.features.Reached(i) {
			out[e] = labels[node] - 1
		}
	})
	unlabel(labels, p.nodes)
	return p
}

// touched labels the nodes that rows reach and returns them. If they are more
// than half of all nodes, it returns nil and leaves labels unchanged.
func (k *GRF) touched(rows []int, labels []uint32) []uint32 {
	nodes := []uint32{}
	for _, i := range rows {
		for _, node := range k.features.Reached(i) {
			if labels[node] == 0 {
				nodes = append(nodes, node)
				labels[node] = uint32(len(nodes))
			}
		}
		if 2*len(nodes) > len(labels) {
			unlabel(labels, nodes)
			return nil
		}
	}
	return nodes
}

func unlabel(labels, nodes []uint32) {
	for _, node := range nodes {
		labels[node] = 0
	}
}

// eachBlock calls do(a, rows[a]) for all a, in parallel.
func (k *GRF) eachBlock(rows []int, do func(a, i int)) {
	parallel.Ranges(len(rows), 1024, func(lo, hi int) {
		for a := lo; a < hi; a++ {
			do(a, rows[a])
		}
	})
}

// transpose sorts the entries by column, once.
func (p *pattern) transpose() {
	p.transposeOnce.Do(func() {
		if len(p.col) > math.MaxUint32 {
			return
		}
		// The transpose of the matrix that holds the place of each entry.
		place := make([]float64, len(p.col))
		for q := range place {
			place[q] = float64(q)
		}
		a, err := sparse.NewCSR(len(p.rows), p.width, p.ptr, p.col, place)
		if err != nil {
			return // the factor reports the error
		}
		p.tPtr, p.tCol, place = a.T().Raw()
		p.from = make([]uint32, len(place))
		for q, v := range place {
			p.from[q] = uint32(v)
		}
	})
}

// factor is Φ[rows, :] at one theta, with the columns of the pattern.
type factor struct {
	*pattern
	cov *grfCovariance
	phi *sparse.CSR
	err error

	once sync.Once
	phiT *sparse.CSR
}

func (c *grfCovariance) factor(rows []int) *factor {
	if !c.isAll(rows) {
		return c.factors.Get(rows, c.newFactor)
	}
	c.once.Do(func() { c.entire.Store(c.newFactor(c.all())) })
	return c.entire.Load()
}

func (c *grfCovariance) newFactor(rows []int) *factor {
	p := c.pattern(rows)
	val := make([]float64, len(p.col))
	c.eachBlock(rows, func(a, i int) { c.features.CombineRow(val[p.ptr[a]:p.ptr[a+1]], c.coeff, i) })
	phi, err := sparse.NewCSR(len(rows), p.width, p.ptr, p.col, val)
	return newFactor(c, p, phi, err)
}

// newFactor returns a factor; after an error its matrix is empty.
func newFactor(c *grfCovariance, p *pattern, phi *sparse.CSR, err error) *factor {
	if err != nil {
		err = fmt.Errorf("%w: %w", ErrFeatures, err)
		phi, _ = sparse.NewCSR(len(p.rows), p.width, make([]int, len(p.rows)+1), nil, nil)
	}
	return &factor{pattern: p, cov: c, phi: phi, err: err}
}

// transpose returns Φᵀ.
func (f *factor) transpose() *sparse.CSR {
	f.once.Do(func() {
		f.pattern.transpose()
		_, _, val := f.phi.Raw()
		if len(f.from) != len(val) {
			f.phiT = f.phi.T()
			return
		}
		valT := make([]float64, len(val))
		parallel.Ranges(len(val), 1<<16, func(lo, hi int) {
			for q := lo; q < hi; q++ {
				valT[q] = val[f.from[q]]
			}
		})
		f.phiT, _ = sparse.NewCSR(f.width, len(f.rows), f.tPtr, f.tCol, valT) // valid, because phi is
	})
	return f.phiT
}

// beside returns Φ[rows, :] with the columns of f. Entries in other columns are
// dropped: they do not contribute to products with f.
func (f *factor) beside(rows []int) *factor {
	c := f.cov
	if f.nodes == nil && c.pattern(rows).nodes == nil {
		return c.factor(rows)
	}
	table := c.labels.Get().(*[]uint32)
	defer c.labels.Put(table)
	labels := *table
	label := func(node uint32) uint32 { return node + 1 }
	if f.nodes != nil {
		for j, node := range f.nodes {
			labels[node] = uint32(j + 1)
		}
		defer unlabel(labels, f.nodes)
		label = func(node uint32) uint32 { return labels[node] }
	}

	ptr := make([]int, len(rows)+1)
	c.eachBlock(rows, func(a, i int) {
		for _, node := range c.features.Reached(i) {
			if label(node) != 0 {
				ptr[a+1]++
			}
		}
	})
	for a := range rows {
		ptr[a+1] += ptr[a]
	}
	col, val := make([]uint32, ptr[len(rows)]), make([]float64, ptr[len(rows)])
	parallel.Ranges(len(rows), 1024, func(lo, hi int) {
		var scratch []float64
		q := ptr[lo]
		for _, i := range rows[lo:hi] {
			reached := c.features.Reached(i)
			phi := room(&scratch, len(reached))
			c.features.CombineRow(phi, c.coeff, i)
			for e, node := range reached {
				if j := label(node); j != 0 {
					col[q], val[q] = j-1, phi[e]
					q++
				}
			}
		}
	})
	phi, err := sparse.NewCSR(len(rows), f.width, ptr, col, val)
	return newFactor(c, &pattern{rows: rows, width: f.width}, phi, err)
}

// block returns an r×c scratch matrix with undefined contents; the caller puts it
// back into k.blocks.
func (k *GRF) block(r, c int) *mat.Dense {
	m := k.blocks.Get().(*mat.Dense)
	raw := m.RawMatrix()
	if cap(raw.Data) < r*c {
		raw.Data = make([]float64, r*c)
	}
	raw.Rows, raw.Cols, raw.Stride, raw.Data = r, c, max(1, c), raw.Data[:r*c]
	m.SetRawMatrix(raw)
	return m
}
