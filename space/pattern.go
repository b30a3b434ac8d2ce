package space

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"

	"grfgp/internal/parallel"
	"grfgp/sparse"
	"grfgp/walk"
)

// Pattern is the sparsity pattern of the features of a list of nodes, which is the same for all coefficients. Its
// columns are the nodes that the list reaches, in the order of first occurrence; every node, if these are more than half
// of all. It is safe for concurrent use.
type Pattern struct {
	Rows   []int
	List   *walk.List
	Nodes  []uint32 // the node of each column; nil: columns are nodes
	Width  int      // number of columns
	Ptr    []int    // row a has the entries Ptr[a] to Ptr[a+1]
	Col    []uint32
	all    int // nodes of the graph
	maxLen int // of the walks

	shapeOnce sync.Once
	shape     *sparse.Pattern
	shapeErr  error

	turnOnce sync.Once
	turned   Turned
}

// Turned is the transpose of a pattern.
type Turned struct {
	Shape *sparse.Pattern
	From  []uint32 // of each entry of the transpose: its place in the pattern; nil where 32 bits are not enough
	To    []uint32 // the inverse
}

// Labels hands out tables with a number for each node of a graph, all zero.
type Labels struct{ pool sync.Pool }

// Borrow returns a table for the graph, which has n nodes, to be given back with zeros.
func (l *Labels) Borrow(n int) (table []uint32, giveBack func()) {
	t, ok := l.pool.Get().(*[]uint32)
	if !ok {
		t = new([]uint32)
		*t = make([]uint32, n)
	}
	return *t, func() { l.pool.Put(t) }
}

// NewPattern returns the pattern of some rows of features.
func NewPattern(ctx context.Context, f *walk.Features, rows []int, tables *Labels) (*Pattern, error) {
	p := &Pattern{Rows: rows, Ptr: make([]int, len(rows)+1), all: f.Nodes(), maxLen: f.MaxLen()}
	var err error
	if p.List, err = f.List(ctx, rows); err != nil {
		return nil, err
	}
	each(len(rows), func(a int) { p.Ptr[a+1] = len(p.List.Reached(a)) })
	for a := range rows {
		p.Ptr[a+1] += p.Ptr[a]
	}
	p.Col = make([]uint32, p.Ptr[len(rows)])
	labels, giveBack := tables.Borrow(f.Nodes())
	defer giveBack()
	if p.Nodes = p.touched(labels); p.Nodes == nil {
		p.Width = f.Nodes()
		each(len(rows), func(a int) { copy(p.Col[p.Ptr[a]:], p.List.Reached(a)) })
		return p, nil
	}
	p.Width = len(p.Nodes)
	each(len(rows), func(a int) {
		out := p.Col[p.Ptr[a]:]
		for e, node := range p.List.Reached(a) {
			out[e] = labels[node] - 1
		}
	})
	unlabel(labels, p.Nodes)
	return p, nil
}

// touched labels the nodes that the rows reach and returns them. If they are more than half of all nodes, it returns
// nil and leaves labels unchanged.
func (p *Pattern) touched(labels []uint32) []uint32 {
	if p.reachesHalf(labels) {
		return nil
	}
	nodes := []uint32{}
	for a := range p.Rows {
		for _, node := range p.List.Reached(a) {
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

// reachesHalf reports that the rows reach more than half of all nodes. It looks only if the rows are so many that
// this is likely, on all processors, and leaves labels unchanged.
func (p *Pattern) reachesHalf(labels []uint32) bool {
	if len(p.Rows) < 1<<14 || 4*len(p.Rows) < len(labels) {
		return false
	}
	var found atomic.Int64
	parallel.Ranges(len(p.Rows), 1024, func(lo, hi int) {
		if 2*found.Load() > int64(len(labels)) {
			return
		}
		met := int64(0)
		for a := lo; a < hi; a++ {
			for _, node := range p.List.Reached(a) {
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

// each calls do for all places of a list, in parallel.
func each(n int, do func(a int)) {
	parallel.Ranges(n, 1024, func(lo, hi int) {
		for a := lo; a < hi; a++ {
			do(a)
		}
	})
}

// Shape returns the pattern as that of a matrix.
func (p *Pattern) Shape() (*sparse.Pattern, error) {
	p.shapeOnce.Do(func() {
		if p.shape, p.shapeErr = sparse.NewPattern(len(p.Rows), p.Width, p.Ptr, p.Col); p.shapeErr != nil {
			p.shapeErr = fmt.Errorf("features: %w", p.shapeErr)
		}
	})
	return p.shape, p.shapeErr
}

// Turned returns the transpose, which is made once.
func (p *Pattern) Turned() (Turned, error) {
	shape, err := p.Shape()
	if err != nil {
		return Turned{}, err
	}
	p.turnOnce.Do(func() { p.turned.Shape, p.turned.From, p.turned.To = shape.Transposed() })
	return p.turned, nil
}

// Combine sets val to the entries of Φ = Σ f_l Ψ_l.
func (p *Pattern) Combine(val, coeff []float64) {
	each(len(p.Rows), func(a int) { p.List.CombineRow(val[p.Ptr[a]:p.Ptr[a+1]], coeff, a) })
}
