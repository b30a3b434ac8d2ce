package kernel

import (
	"context"
	"fmt"
	"math"
	"sync"
	"sync/atomic"

	"gonum.org/v1/gonum/mat"

	"grfgp/internal/parallel"
	"grfgp/sparse"
	"grfgp/walk"
)

// pattern is the sparsity pattern of the features of a list of nodes; it is the
// same for every θ. Its columns are the nodes that the list reaches, in the order
// of first occurrence. If these are more than half of all nodes, every node is a
// column.
type pattern struct {
	rows  []int
	own   *walk.List // the features of the rows; empty after err
	err   error
	nodes []uint32 // the node of each column; nil: columns are nodes
	width int
	ptr   []int
	col   []uint32

	shapeOnce sync.Once
	shape     *sparse.Pattern // of ptr and col
	shapeErr  error

	transposeOnce sync.Once
	transposed    *sparse.Pattern
	from          []uint32 // per entry of the transpose: its place in the original; nil where 32 bits are not enough
	to            []uint32 // the inverse of from
	isTransposed  atomic.Bool
	before        atomic.Pointer[transposedBefore] // from which transpose goes on; nil: from the start

	fullOnce sync.Once
	full     fullColumns // in products with the own transpose

	spanOnce sync.Once
	reach    []span // see spans
}

func (k *sampledRows) pattern(rows []int) *pattern {
	if k.isAll(rows) {
		return k.whole()
	}
	return k.patterns.Get(rows, k.newPattern)
}

// isAll reports whether rows are all nodes in order. Their pattern and factor
// cost most and are used often, so they are kept outside the cache.
func (k *sampledRows) isAll(rows []int) bool { return len(rows) == k.Nodes() && increasing(rows) }

func (k *sampledRows) newPattern(rows []int) *pattern {
	p := &pattern{rows: rows, ptr: make([]int, len(rows)+1)}
	if p.own, p.err = k.features.List(context.Background(), rows); p.err != nil {
		p.nodes = []uint32{}
		return p
	}
	eachPlace(len(rows), func(a int) { p.ptr[a+1] = len(p.own.Reached(a)) })
	for a := range rows {
		p.ptr[a+1] += p.ptr[a]
	}
	p.col = make([]uint32, p.ptr[len(rows)])
	if last, others, ok := k.patterns.Near(rows); ok && k.grownPattern(p, last, others) {
		return p
	}
	table := k.labels.Get().(*[]uint32)
	defer k.labels.Put(table)
	labels := *table // label+1 of a node, 0 if it has none
	p.nodes = p.touched(labels)
	if p.nodes == nil {
		p.width = k.Nodes()
		eachPlace(len(rows), func(a int) { copy(p.col[p.ptr[a]:], p.own.Reached(a)) })
		return p
	}
	p.width = len(p.nodes)
	eachPlace(len(rows), func(a int) {
		out := p.col[p.ptr[a]:]
		for e, node := range p.own.Reached(a) {
			out[e] = labels[node] - 1
		}
	})
	unlabel(labels, p.nodes)
	return p
}

// touched labels the nodes that the rows reach and returns them. If they are more
// than half of all nodes, it returns nil and leaves labels unchanged.
func (p *pattern) touched(labels []uint32) []uint32 {
	if p.reachesHalf(labels) {
		return nil
	}
	nodes := []uint32{}
	for a := range p.rows {
		for _, node := range p.own.Reached(a) {
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

// reachesHalf reports that the rows reach more than half of all nodes. It looks only if the rows are so many that this is
// likely, on all processors, and leaves labels unchanged.
func (p *pattern) reachesHalf(labels []uint32) bool {
	if len(p.rows) < 1<<14 || 4*len(p.rows) < len(labels) {
		return false
	}
	var found atomic.Int64
	eachRange(len(p.rows), func(lo, hi int) {
		if 2*found.Load() > int64(len(labels)) {
			return
		}
		met := int64(0)
		for a := lo; a < hi; a++ {
			for _, node := range p.own.Reached(a) {
				if atomic.LoadUint32(&labels[node]) == 0 && atomic.CompareAndSwapUint32(&labels[node], 0, 1) {
					met++
				}
			}
		}
		found.Add(met)
	})
	parallel.Ranges(len(labels), 1<<16, func(lo, hi int) { clear(labels[lo:hi]) })
	return 2*found.Load() > int64(len(labels))
}

func unlabel(labels, nodes []uint32) {
	for _, node := range nodes {
		labels[node] = 0
	}
}

// eachPlace calls do for all places of a list, in parallel.
func eachPlace(n int, do func(a int)) {
	eachRange(n, func(lo, hi int) {
		for a := lo; a < hi; a++ {
			do(a)
		}
	})
}

// eachRange calls do for ranges that cover the places of a list, in parallel.
func eachRange(n int, do func(lo, hi int)) { parallel.Ranges(n, 1024, do) }

// transpose sorts the entries by column, once.
func (p *pattern) transpose() {
	p.transposeOnce.Do(func() {
		if b := p.before.Swap(nil); b != nil && len(p.col) <= math.MaxUint32 && p.growTranspose(b) {
			p.isTransposed.Store(true)
			return
		}
		if p.checked() == nil { // or the factor reports the error
			p.transposed, p.from, p.to = p.shape.Transposed()
			p.isTransposed.Store(p.from != nil)
		}
	})
}

// checked makes the shape, and returns what is wrong with it.
func (p *pattern) checked() error {
	p.shapeOnce.Do(func() { p.shape, p.shapeErr = sparse.NewPattern(len(p.rows), p.width, p.ptr, p.col) })
	return p.shapeErr
}

// fulls returns the columns that are full in ΦΦᵀ.
func (p *pattern) fulls() *fullColumns {
	p.fullOnce.Do(func() {
		counts := make([]int, p.width)
		for _, c := range p.col {
			counts[c]++
		}
		p.full = newFullColumns(p.width, len(p.rows), func(c int) int { return counts[c] })
	})
	return &p.full
}

// factor is Φ[rows, :] at one theta, with the columns of the pattern.
type factor struct {
	*pattern
	cov *grfCovariance
	phi *sparse.CSR
	err error

	once sync.Once
	phiT *sparse.CSR
	used atomic.Bool // by mulTransposed
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
	if p.err != nil {
		return newFactor(c, p, nil, p.err)
	}
	val := make([]float64, len(p.col))
	c.values(val, p)
	phi, err := p.with(val)
	return newFactor(c, p, phi, err)
}

// with returns the matrix of the pattern with the given values.
func (p *pattern) with(val []float64) (*sparse.CSR, error) {
	if err := p.checked(); err != nil {
		return nil, err
	}
	return p.shape.With(val)
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
		if len(f.from) != f.phi.NNZ() {
			f.phiT = f.phi.T()
			return
		}
		f.phiT = f.transposed.Picked(f.phi, f.from)
	})
	return f.phiT
}

// beside returns Φ[rows, :] with the columns of f. Entries in other columns are
// dropped: they do not contribute to products with f.
func (f *factor) beside(rows []int) *factor {
	c := f.cov
	if f.nodes == nil && !c.large && c.pattern(rows).nodes == nil {
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
	var own rowsOnce
	misses := func(a int) bool { return false } // whether a row has no entry in these columns for certain
	if p := c.grown(rows); p != nil {
		own = sampledOnce{p.own, c}
		if spans := p.spans(); f.nodes != nil {
			columns := spanOf(f.nodes)
			misses = func(a int) bool { return columns.misses(spans[a].least, spans[a].most) }
		}
	} else {
		var err error
		if own, err = c.rowsOnce(rows); err != nil {
			return newFactor(c, &pattern{rows: rows, width: f.width}, nil, err)
		}
	}
	const size = 256
	parallel.Ranges(len(rows), size, func(lo, hi int) {
		var room []uint32
		for a := lo; a < hi; a++ {
			if misses(a) {
				continue
			}
			reached := own.reached(room, a)
			for _, node := range reached {
				if label(node) != 0 {
					ptr[a+1]++
				}
			}
			room = reached[:0]
		}
	})
	for a := range rows {
		ptr[a+1] += ptr[a]
	}
	col, val := make([]uint32, ptr[len(rows)]), make([]float64, ptr[len(rows)])
	parallel.Ranges(len(rows), size, func(lo, hi int) {
		var nodes []uint32
		var values []float64
		q := ptr[lo]
		for a := lo; a < hi; a++ {
			if ptr[a] == ptr[a+1] {
				continue
			}
			reached := own.reached(nodes, a)
			phi := room(&values, len(reached))
			own.values(phi, a)
			for e, node := range reached {
				if j := label(node); j != 0 {
					col[q], val[q] = j-1, phi[e]
					q++
				}
			}
			nodes = reached[:0]
		}
	})
	phi, err := sparse.NewCSR(len(rows), f.width, ptr, col, val)
	return newFactor(c, &pattern{rows: rows, width: f.width}, phi, err)
}

// block returns an r×c scratch matrix with undefined contents; the caller puts it
// back into k.blocks.
func (k *sampledRows) block(r, c int) *mat.Dense { return k.blocks.get(r, c) }
