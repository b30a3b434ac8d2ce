package objective

import (
	"math"

	"grfgp/graph"
	"grfgp/lab/randomstate"
)

const (
	communities   = 4
	communitySize = 2500
)

// Community returns four groups of 2,500 nodes in random order, dense within groups and
// sparse between them. Every group has its own level and an oscillation along its node
// numbers, which the graph does not contain. Random numbers are drawn in the order groups,
// edges, levels, noise.
func Community() (*Task, error) {
	const name, n = "community", communities * communitySize
	r := randomstate.New(paperSeed)
	group := make([]uint8, n)
	for i := range group {
		group[i] = uint8(i / communitySize)
	}
	randomstate.Shuffle(r, group)
	e := communityEdges(r, group)
	g, _, err := graph.FromEdges(graph.NumberIDs(n), e, graph.BuildOptions{})
	if err != nil {
		return nil, failed(name, err)
	}
	var level [communities]float64
	for c := range level {
		level[c] = r.Uniform(-2, 2)
	}
	y := make([]float64, n)
	for i, c := range group {
		y[i] = level[c] + 0.5*math.Sin(angle(i%1000, 1000)+float64(c)*math.Pi/2)
	}
	return newTask(name, g, y, r), nil
}

// communityEdges draws one uniform for every pair i < j, row by row.
func communityEdges(r *randomstate.State, group []uint8) graph.Edges {
	const inside, between = 0.01, 0.001
	// u < p is bits53 < p·2⁵³, without a division in the inner loop.
	limit := [2]uint64{bits53Below(between), bits53Below(inside)}
	var e graph.Edges
	for i, c := range group {
		for j := i + 1; j < len(group); j++ {
			same := 0
			if group[j] == c {
				same = 1
			}
			if r.Bits53() < limit[same] {
				e.U = append(e.U, uint32(i))
				e.V = append(e.V, uint32(j))
			}
		}
	}
	return e
}

// bits53Below returns the number of 53-bit integers that give a uniform number below p.
func bits53Below(p float64) uint64 { return uint64(math.Ceil(p * 0x1p53)) }
