package bayesopt

import (
	"slices"
	"sync"
)

// everyNode is the list of all nodes, made when it is first used and kept. Nil makes it anew.
type everyNode struct {
	once  sync.Once
	nodes []int
}

// list returns the nodes [0, n), to be read only; n is the same in all calls.
func (e *everyNode) list(n int) []int {
	if e == nil {
		return allNodes(n)
	}
	e.once.Do(func() { e.nodes = allNodes(n) })
	return e.nodes
}

func allNodes(n int) []int {
	all := make([]int, n)
	for i := range all {
		all[i] = i
	}
	return all
}

// openNodes are the allowed nodes that are not measured, kept from request to request: on a
// large graph a new list takes longer than all else that one more measurement changes. The
// zero value is ready for use.
type openNodes struct {
	nodes  []int  // in the order of the allowed ones; nil: not made yet
	sorted bool   // they increase
	taken  int    // measurements that are left out
	some   []int  // memory of the last list without pending and excluded nodes
	closed []bool // by node, all false between calls
	picked []bool // memory of Candidates
}

// takeOutSingly is how many nodes are taken out one by one.
const takeOutSingly = 16

// unmeasured returns the allowed nodes without the measured ones, which are also marked by
// node. The list is valid until the next call; calls are given the same measurements and more.
func (o *openNodes) unmeasured(allowed, measured []int, marked []bool) []int {
	fresh := measured[o.taken:]
	o.taken = len(measured)
	if o.nodes == nil {
		o.nodes, o.sorted = slices.Clone(allowed), slices.IsSorted(allowed)
	} else if len(fresh) <= takeOutSingly {
		for _, i := range fresh {
			o.takeOut(i)
		}
		return o.nodes
	}
	o.nodes = slices.DeleteFunc(o.nodes, func(i int) bool { return marked[i] })
	return o.nodes
}

func (o *openNodes) takeOut(node int) {
	at, found := 0, false
	if o.sorted {
		at, found = slices.BinarySearch(o.nodes, node)
	} else {
		at = slices.Index(o.nodes, node)
		found = at >= 0
	}
	if found {
		o.nodes = slices.Delete(o.nodes, at, at+1)
	}
}

// without returns nodes without those of other lists, in memory of its own. It is valid until
// the next call.
func (o *openNodes) without(nodes []int, of int, others ...[]int) []int {
	if o.closed == nil {
		o.closed = make([]bool, of)
	}
	mark := func(as bool) {
		for _, list := range others {
			for _, i := range list {
				o.closed[i] = as
			}
		}
	}
	mark(true)
	defer mark(false)
	o.some = slices.Grow(o.some[:0], len(nodes))
	for _, i := range nodes {
		if !o.closed[i] {
			o.some = append(o.some, i)
		}
	}
	return o.some
}

// room returns n times false, in memory that the next call uses again.
func (o *openNodes) room(n int) []bool {
	if cap(o.picked) < n {
		o.picked = make([]bool, n)
	}
	o.picked = o.picked[:n]
	clear(o.picked)
	return o.picked
}
