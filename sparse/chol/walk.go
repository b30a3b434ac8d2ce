package chol

import (
	"cmp"
	"slices"
	"sync/atomic"

	"grfgp/internal/parallel"
)

// plan is how processors share the tree: subtrees, each by one processor, and the supernodes above them, one after the other
// by all processors. What a supernode computes depends on its family alone, in the order of children, so results do not
// depend on the plan.
type plan struct {
	subtrees [][2]int32 // first supernode and root of each, those with most work first
	above    []int32
	most     float64 // work of a subtree
}

const (
	share      = 0.2     // of the work of one processor: the largest subtree
	worthwhile = 1 << 21 // operations below which a subtree is not cut
)

// plan cuts the largest subtrees until all are small enough.
func (s *Analysis) plan() plan {
	var out plan
	workers := parallel.Workers(s.len())
	out.most = max(share*s.flops/float64(workers), worthwhile)
	if workers == 1 {
		out.most = -1
	}
	for k := int32(s.len()) - 1; k >= 0; {
		if s.work[k] > out.most {
			out.above = append(out.above, k)
			k--
			continue
		}
		out.subtrees = append(out.subtrees, [2]int32{s.leftmost[k], k})
		k = s.leftmost[k] - 1
	}
	slices.Reverse(out.above)
	slices.SortStableFunc(out.subtrees, func(a, b [2]int32) int { return cmp.Compare(s.work[b[1]], s.work[a[1]]) })
	return out
}

// walker is the scratch of one processor on its way through the tree.
type walker struct {
	front    front
	inverted inverted
	stack    stack
	local    []float64
	root     int32   // of the subtree; none above
	below    float64 // work of subtrees that belong to others
}

// keep returns n numbers for supernode k until its parent takes them, which is another walker's at the root of a subtree.
func (w *walker) keep(k int32, n int) []float64 {
	if k == w.root {
		return make([]float64, n)
	}
	return w.stack.push(k, n)
}

// up calls do for all supernodes, children before parents. A subtree in which it returns false ends there, and what is above
// the subtrees is not begun.
func (p plan) up(do func(w *walker, k int) bool) {
	var ended atomic.Bool
	parallel.Tasks(len(p.subtrees), func(t int) {
		w := &walker{root: p.subtrees[t][1]}
		for k := p.subtrees[t][0]; k <= p.subtrees[t][1]; k++ {
			if !do(w, int(k)) {
				ended.Store(true)
				return
			}
		}
	})
	if ended.Load() {
		return
	}
	w := &walker{root: none}
	for _, k := range p.above {
		if !do(w, int(k)) {
			return
		}
	}
}

// down calls do for all supernodes, parents before children.
func (p plan) down(do func(w *walker, k int)) {
	w := &walker{root: none, below: p.most}
	for _, k := range slices.Backward(p.above) {
		do(w, int(k))
	}
	parallel.Tasks(len(p.subtrees), func(t int) {
		w := &walker{root: p.subtrees[t][1], below: -1}
		for k := p.subtrees[t][1]; k >= p.subtrees[t][0]; k-- {
			do(w, int(k))
		}
	})
}

// stack is memory that is given back in reverse order, in chunks.
type stack struct {
	chunks [][]float64
	held   []held
}

// held is a supernode whose block begins at from, and ends before end, of a chunk.
type held struct {
	k                int32
	chunk, from, end int
}

// push returns n numbers for supernode k, whatever they are.
func (s *stack) push(k int32, n int) []float64 {
	var at held
	if len(s.held) > 0 {
		last := s.held[len(s.held)-1]
		at.chunk, at.from = last.chunk, last.end
	}
	if len(s.chunks) > 0 && at.from+n > len(s.chunks[at.chunk]) {
		at.chunk, at.from = at.chunk+1, 0
	}
	if at.chunk == len(s.chunks) {
		s.chunks = append(s.chunks, make([]float64, max(n, 1<<14<<min(at.chunk, 9))))
	} else if len(s.chunks[at.chunk]) < n { // nothing in it is held
		s.chunks[at.chunk] = make([]float64, n+n/2)
	}
	at.k, at.end = k, at.from+n
	s.held = append(s.held, at)
	return s.chunks[at.chunk][at.from:at.end]
}

// pop gives the last block back, if it is that of supernode k.
func (s *stack) pop(k int32) {
	if last := len(s.held) - 1; last >= 0 && s.held[last].k == k {
		s.held = s.held[:last]
	}
}
