package graph

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"grfgp/internal/parallel"
	"grfgp/internal/rng"
	"grfgp/sparse"
)

// Ring returns n nodes in a circle. A single node has no edge; two nodes share one
// edge.
func Ring(n int) (*Graph, error) { return RingK(n, 1) }

// RingK returns n nodes in a circle, each joined to the k before and the k after
// it.
func RingK(n, k int) (*Graph, error) {
	if err := checkSize(n); err != nil {
		return nil, err
	}
	if k < 1 || k > max(1, n/2) {
		return nil, fmt.Errorf("%w: a ring of %d nodes with %d neighbours on each side, want 1 to %d", ErrInvalid, n, k, max(1, n/2))
	}
	if err := checkEdges(float64(n) * float64(k)); err != nil {
		return nil, err
	}
	degree := min(2*k, n-1)
	return fromRows(n, func(int) int { return degree }, func(i int, cols []uint32) {
		if i >= k && i+k < n {
			for d := range k {
				cols[d], cols[k+d] = uint32(i-k+d), uint32(i+1+d)
			}
			return
		}
		for d := range cols { // from i+1 on round the circle: all, if 2k = n
			cols[d] = uint32((i + 1 + d) % n)
			if d >= k {
				cols[d] = uint32((i + n - (d - k + 1)) % n)
			}
		}
		slices.Sort(cols)
	}), nil
}

// Grid returns rows × cols nodes, row by row, each joined to the next in its row
// and in its column.
func Grid(rows, cols int) (*Graph, error) {
	if rows < 1 || cols < 1 || rows > sparse.MaxCols/cols {
		return nil, fmt.Errorf("%w: a grid of %d×%d nodes, want 1 to %d in all", ErrInvalid, rows, cols, sparse.MaxCols)
	}
	around := func(i int) [4]int { // −1: no such neighbour
		near := [4]int{i - cols, i - 1, i + 1, i + cols}
		if i%cols == 0 {
			near[1] = -1
		}
		if i%cols == cols-1 {
			near[2] = -1
		}
		if i/cols == 0 {
			near[0] = -1
		}
		if i/cols == rows-1 {
			near[3] = -1
		}
		return near
	}
	return fromRows(rows*cols, func(i int) int {
		degree := 0
		for _, j := range around(i) {
			if j >= 0 {
				degree++
			}
		}
		return degree
	}, func(i int, cols []uint32) {
		q := 0
		for _, j := range around(i) {
			if j >= 0 {
				cols[q] = uint32(j)
				q++
			}
		}
	}), nil
}

// StochasticBlock returns blocks of the given sizes, one after the other, in
// which each pair of nodes of blocks a ≤ b is joined with probability p(a, b).
// The time is linear in nodes, edges and pairs of blocks.
func StochasticBlock(sizes []int, p func(a, b int) float64, seed uint64) (*Graph, error) {
	first, n := make([]int, len(sizes)), 0
	for b, size := range sizes {
		if size < 0 || size > sparse.MaxCols-n {
			return nil, fmt.Errorf("%w: block %d has %d nodes, want 0 or more and at most %d in all", ErrInvalid, b, size, sparse.MaxCols)
		}
		first[b] = n
		n += size
	}
	if err := checkSize(n); err != nil {
		return nil, err
	}
	var e Edges
	expected := 0.0
	for a := range sizes {
		for b := a; b < len(sizes); b++ {
			prob := p(a, b)
			if !(prob >= 0 && prob <= 1) {
				return nil, fmt.Errorf("%w: probability %v between blocks %d and %d, want 0 to 1", ErrInvalid, prob, a, b)
			}
			expected += prob * float64(sizes[a]) * float64(sizes[b])
			if err := checkEdges(expected); err != nil {
				return nil, err
			}
			s := rng.New(seed, "stochastic block", uint64(a), uint64(b))
			if a < b {
				cols := sizes[b]
				bernoulli(s, prob, sizes[a]*cols, func(k int) {
					e.add(first[a]+k/cols, first[b]+k%cols)
				})
				continue
			}
			// Pair k of the triangle: row i starts at i(i−1)/2.
			i, start := 1, 0
			bernoulli(s, prob, sizes[a]*(sizes[a]-1)/2, func(k int) {
				for k >= start+i {
					start += i
					i++
				}
				e.add(first[a]+i, first[a]+k-start)
			})
		}
	}
	return fromPattern(n, e)
}

// bernoulli calls hit for each of n trials that succeeds with probability p. It
// draws how many fail in between, which is geometric.
func bernoulli(s *rng.Stream, p float64, n int, hit func(k int)) {
	if p == 0 {
		return
	}
	logFail := math.Log1p(-p)
	for k := 0; ; k++ {
		fails := math.Floor(math.Log1p(-s.Float64()) / logFail)
		if fails >= float64(n-k) {
			return
		}
		k += int(fails)
		hit(k)
	}
}

// BarabasiAlbert returns a graph of n nodes by preferential attachment: every
// node after the first m is joined to m distinct earlier nodes, chosen in
// proportion to their degrees. Node m is joined to the first m nodes. The graph
// has m(n−m) edges, and hubs.
func BarabasiAlbert(n, m int, seed uint64) (*Graph, error) {
	if err := checkSize(n); err != nil {
		return nil, err
	}
	if m < 1 || m > max(1, n-1) {
		return nil, fmt.Errorf("%w: %d edges for each new one of %d nodes, want 1 to %d", ErrInvalid, m, n, max(1, n-1))
	}
	if err := checkEdges(float64(n) * float64(m)); err != nil {
		return nil, err
	}
	draw := rand.New(rng.New(seed, "barabasi-albert"))
	e := newEdges(m * max(0, n-m))
	if n > m {
		for i := range m {
			e.add(m, i)
		}
	}
	// An end of a uniform edge is a node with probability in proportion to its
	// degree.
	joined := make([]uint32, n) // the last node that a node was joined to
	for i := m + 1; i < n; i++ {
		ends := uint64(2 * len(e.U))
		for d := 0; d < m; {
			r := draw.Uint64N(ends)
			j := e.U[r/2]
			if r%2 == 1 {
				j = e.V[r/2]
			}
			if joined[j] != uint32(i) {
				joined[j] = uint32(i)
				e.add(i, int(j))
				d++
			}
		}
	}
	return fromPattern(n, e)
}

// RMAT returns a recursive-matrix graph of 2^scale nodes (Chakrabarti, Zhan,
// Faloutsos 2004). Each of the given number of edges falls into a quadrant of the
// adjacency matrix with probability a, b, c or d, then into a quadrant of that
// quadrant, and so on. Self loops and repeated edges are dropped.
func RMAT(scale, edges int, a, b, c, d float64, seed uint64) (*Graph, error) {
	if scale < 0 || scale > 30 {
		return nil, fmt.Errorf("%w: R-MAT of 2^%d nodes, want 2^0 to 2^30", ErrInvalid, scale)
	}
	if err := checkEdges(float64(edges)); err != nil {
		return nil, err
	}
	if !(min(a, b, c, d) >= 0 && math.Abs(a+b+c+d-1) < 1e-9) {
		return nil, fmt.Errorf("%w: R-MAT quadrants of %v, %v, %v and %v, want ≥ 0 and 1 together", ErrInvalid, a, b, c, d)
	}
	e := Edges{U: make([]uint32, edges), V: make([]uint32, edges)}
	key := rng.Derive(seed, "r-mat")
	const block = 1 << 14
	parallel.Ranges(edges, block, func(lo, hi int) {
		s := key.At(uint64(lo / block))
		for k := lo; k < hi; k++ {
			u, v := uint32(0), uint32(0)
			for range scale {
				u, v = u<<1, v<<1
				switch x := s.Float64(); {
				case x < a:
				case x < a+b:
					v |= 1
				case x < a+b+c:
					u |= 1
				default:
					u, v = u|1, v|1
				}
			}
			e.U[k], e.V[k] = u, v
		}
	})
	return fromPattern(1<<scale, e)
}

func checkSize(n int) error {
	if n < 1 {
		return fmt.Errorf("%w: %d nodes, want 1 or more", ErrInvalid, n)
	}
	return checkNodes(n)
}

// checkEdges refuses what no machine holds before memory runs out.
func checkEdges(m float64) error {
	const most = 1 << 36
	if m < 0 || m > most {
		return fmt.Errorf("%w: about %g edges, want 0 to %d", ErrInvalid, m, most)
	}
	return nil
}

// newEdges returns an empty list with room for m edges.
func newEdges(m int) Edges {
	return Edges{U: make([]uint32, 0, m), V: make([]uint32, 0, m)}
}

func (e *Edges) add(u, v int) {
	e.U = append(e.U, uint32(u))
	e.V = append(e.V, uint32(v))
}

// fromRows returns the graph of n numbered nodes whose neighbours are known, without a list of edges:
// fill gets room for degree(i) neighbours of node i, which it names in increasing order.
func fromRows(n int, degree func(i int) int, fill func(i int, cols []uint32)) *Graph {
	rowPtr := make([]int, n+1)
	parallel.Ranges(n, rowBlock, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			rowPtr[i+1] = degree(i)
		}
	})
	total := addUp(rowPtr)
	col, val := make([]uint32, total), make([]float64, total)
	parallel.Ranges(n, rowBlock, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			fill(i, col[rowPtr[i]:rowPtr[i+1]])
			for p := rowPtr[i]; p < rowPtr[i+1]; p++ {
				val[p] = 1
			}
		}
	})
	return &Graph{adj: mustCSR(n, rowPtr, col, val), ids: NumberIDs(n)}
}

// fromPattern joins n numbered nodes, each pair once and none to itself.
func fromPattern(n int, e Edges) (*Graph, error) {
	g, _, err := FromEdges(NumberIDs(n), e, BuildOptions{})
	return g, err
}
