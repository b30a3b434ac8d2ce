package gp

import (
	"cmp"
	"fmt"
	"slices"
)

// Labels are known classes: node Nodes[k] is of class Class[k], one of
// 0 … Classes−1. A node may be labelled more than once, and a class may have no
// label at all.
type Labels struct {
	Nodes   []int
	Class   []int
	Classes int
}

// Len returns the number of labels.
func (l Labels) Len() int { return len(l.Nodes) }

// Counts returns the number of labels of each class.
func (l Labels) Counts() []int {
	counts := make([]int, l.Classes)
	for _, c := range l.Class {
		counts[c]++
	}
	return counts
}

// Check returns an error unless the labels fit a kernel on the given number of
// nodes.
func (l Labels) Check(nodes int) error {
	if len(l.Class) != len(l.Nodes) {
		return fmt.Errorf("%w: %d nodes and %d classes", ErrData, len(l.Nodes), len(l.Class))
	}
	if len(l.Nodes) == 0 {
		return fmt.Errorf("%w: there are no labels", ErrData)
	}
	for k, i := range l.Nodes {
		switch c := l.Class[k]; {
		case i < 0 || i >= nodes:
			return fmt.Errorf("%w: label %d is at node %d of %d", ErrData, k, i, nodes)
		case c < 0 || c >= l.Classes:
			return fmt.Errorf("%w: label %d is of class %d of %d", ErrData, k, c, l.Classes)
		}
	}
	if c := l.Class[0]; !slices.ContainsFunc(l.Class, func(d int) bool { return d != c }) {
		return fmt.Errorf("%w: all %d labels are of one class; label a node of another", ErrData, l.Len())
	}
	return nil
}

// Select returns the chosen labels, in that order.
func (l Labels) Select(rows []int) Labels {
	return Labels{chosen(l.Nodes, rows), chosen(l.Class, rows), l.Classes}
}

// Order returns the rows of labels sorted by node, then by class, so that
// their original order does not matter.
func (l Labels) Order() []int {
	order := make([]int, l.Len())
	for r := range order {
		order[r] = r
	}
	slices.SortStableFunc(order, func(a, b int) int {
		return cmp.Or(cmp.Compare(l.Nodes[a], l.Nodes[b]), cmp.Compare(l.Class[a], l.Class[b]))
	})
	return order
}

// Frequencies returns the class frequencies after adding one label of each class.
func (l Labels) Frequencies() []float64 {
	share := make([]float64, l.Classes)
	for c := range share {
		share[c] = 1 / float64(l.Len()+l.Classes)
	}
	for _, c := range l.Class {
		share[c] += 1 / float64(l.Len()+l.Classes)
	}
	return share
}

// byClass returns the numbers of the labels class by class, in the given order
// within each, and where each class begins.
func (l Labels) byClass() (order, begin []int) {
	begin = make([]int, l.Classes+1)
	for c, count := range l.Counts() {
		begin[c+1] = begin[c] + count
	}
	next := slices.Clone(begin)
	order = make([]int, l.Len())
	for k, c := range l.Class {
		order[next[c]] = k
		next[c]++
	}
	return order, begin
}
