package partition

import (
	"fmt"

	"grfgp/internal/ranks"
)

// Range is the nodes [Lo, Hi) of one process.
type Range struct {
	Lo int `json:"lo"`
	Hi int `json:"hi"`
}

// Len returns the number of nodes.
func (r Range) Len() int { return r.Hi - r.Lo }

// BlockRows is the number of rows that are never shared by two ranges: that of the blocks of
// features, and of those over which solvers add up. Sums over whole blocks have the
// same bits however many processes there are.
const BlockRows = ranks.BlockRows

// Split cuts n nodes into contiguous ranges whose largest work is as small as it can be with cuts between
// blocks. Work has a number ≥ 0 per block of BlockRows nodes. If there are fewer blocks than ranks, the last
// ranges are empty.
func Split(n, ranks int, work []float64) ([]Range, error) {
	blocks := (n + BlockRows - 1) / BlockRows
	if n < 0 || ranks < 1 || len(work) != blocks {
		return nil, fmt.Errorf("%d nodes for %d ranks, with the work of %d blocks; want 1 rank or more and %d blocks", n, ranks, len(work),
			blocks)
	}
	// The smallest bound on the work of a range that takes no more than so many ranges: between the mean and
	// the total, by halving.
	low, high := 0.0, 0.0
	for b, w := range work {
		if !(w >= 0) {
			return nil, fmt.Errorf("block %d has the work %v, want a number ≥ 0", b, w)
		}
		low = max(low, w)
		high += w
	}
	for range 60 {
		mid := low + (high-low)/2
		if len(cuts(work, mid)) <= ranks {
			high = mid
		} else {
			low = mid
		}
	}
	ranges := make([]Range, ranks)
	ends := cuts(work, high)
	at := 0
	for r := range ranges {
		end := blocks
		if r < len(ends) {
			end = ends[r]
		}
		ranges[r] = Range{min(n, at*BlockRows), min(n, end*BlockRows)}
		at = end
	}
	return ranges, nil
}

// cuts returns the ends of ranges of blocks that are filled one after the other up to a bound, which no block
// exceeds.
func cuts(work []float64, bound float64) (ends []int) {
	sum := 0.0
	for b, w := range work {
		if sum += w; sum > bound && b > 0 {
			ends = append(ends, b)
			sum = w
		}
	}
	if len(work) > 0 {
		ends = append(ends, len(work))
	}
	return ends
}
