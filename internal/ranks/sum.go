package ranks

import "context"

// TreeSum adds up parts, one of len(total) sums for every block of rows, by a binary
// tree: blocks 2i and 2i+1, then pairs of pairs, and so on. The sum of 2^l blocks that
// begin at a multiple of 2^l does not depend on the blocks outside, so whoever holds a
// range of blocks can add up O(log) subtrees and exchange only these. parts is
// overwritten.
func TreeSum(total, parts []float64) {
	k := len(total)
	if k == 0 {
		return
	}
	blocks := len(parts) / k
	for width := 1; width < blocks; width *= 2 {
		for b := 0; b+width < blocks; b += 2 * width {
			add(parts[b*k:][:k], parts[(b+width)*k:][:k])
		}
	}
	clear(total)
	copy(total, parts[:min(k, len(parts))])
}

func add(to, from []float64) {
	for j, v := range from {
		to[j] += v
	}
}

// Sum sets total to the sum of the parts of all blocks on all ranks, to the same bits
// as TreeSum of them on one. A rank gives the parts of its own blocks, which are
// overwritten.
func (g *Group) Sum(ctx context.Context, total, parts []float64, l Layout) error {
	if g.Alone() {
		TreeSum(total, parts)
		return nil
	}
	k := len(total)
	if k == 0 {
		return nil
	}
	if err := l.check(); err != nil {
		return err
	}
	starts := make([]int, g.Size()+1)
	for r := range g.Size() {
		lo, hi := l.blocks(r)
		starts[r+1] = starts[r] + k*subtrees(l, lo, hi, nil)
	}
	all := make([]float64, starts[g.Size()])
	lo, hi := l.blocks(g.Rank())
	own := all[starts[g.Rank()]:]
	subtrees(l, lo, hi, func(first, end int) {
		TreeSum(own[:k], parts[(first-lo)*k:(end-lo)*k])
		own = own[k:]
	})
	if err := gatherInto(ctx, g, all, starts); err != nil {
		return err
	}
	queues := make([][]float64, g.Size())
	for r := range queues {
		queues[r] = all[starts[r]:starts[r+1]]
	}
	clear(total)
	assemble(total, queues, l, 0, treeWidth(l))
	return nil
}

// SumIntegers replaces every number of x by its sum over the ranks. Integers can be added in
// any order: each rank adds up its share of the numbers, and all exchange the shares.
func (g *Group) SumIntegers(ctx context.Context, x []int64) error {
	if g.Alone() {
		return nil
	}
	starts := make([]int, g.Size()+1)
	for r := range starts {
		starts[r] = r * len(x) / g.Size()
	}
	own := x[starts[g.Rank()]:starts[g.Rank()+1]]
	in, out := make([][]int64, g.Size()), make([][]int64, g.Size())
	for r := range in {
		out[r] = x[starts[r]:starts[r+1]]
		in[r] = make([]int64, len(own))
	}
	if err := Exchange(ctx, g, in, out); err != nil {
		return err
	}
	for r, part := range in {
		if r == g.Rank() {
			continue
		}
		for i, v := range part {
			own[i] += v
		}
	}
	return gatherInto(ctx, g, x, starts)
}

// treeWidth returns the number of blocks below the root: a power of two.
func treeWidth(l Layout) int {
	blocks, width := (l.Rows()+BlockRows-1)/BlockRows, 1
	for width < blocks {
		width *= 2
	}
	return width
}

// subtrees calls each with the widest subtrees that lie in the blocks [lo, hi), from
// left to right, and returns their number.
func subtrees(l Layout, lo, hi int, each func(first, end int)) (count int) {
	blocks := (l.Rows() + BlockRows - 1) / BlockRows
	var visit func(first, width int)
	visit = func(first, width int) {
		end := min(blocks, first+width)
		switch {
		case max(first, lo) >= min(end, hi): // nothing of the range
		case lo <= first && end <= hi:
			count++
			if each != nil {
				each(first, end)
			}
		default:
			visit(first, width/2)
			visit(first+width/2, width/2)
		}
	}
	visit(0, treeWidth(l))
	return count
}

// assemble sets total to the sum of the blocks [first, first+width), from the queues of
// the ranks' subtrees, and reports whether there are such blocks.
func assemble(total []float64, queues [][]float64, l Layout, first, width int) bool {
	blocks := (l.Rows() + BlockRows - 1) / BlockRows
	end := min(blocks, first+width)
	if first >= end {
		return false
	}
	owner := l.Owner(first * BlockRows)
	if _, hi := l.blocks(owner); end <= hi {
		copy(total, queues[owner])
		queues[owner] = queues[owner][len(total):]
		return true
	}
	assemble(total, queues, l, first, width/2)
	right := make([]float64, len(total))
	if assemble(right, queues, l, first+width/2, width/2) {
		add(total, right)
	}
	return true
}
