package city

import (
	"math"
	"math/rand/v2"

	"grfgp/graph"
	"grfgp/internal/rng"
)

// speeds returns the speed of traffic at each junction in km/h: slow in the centre and
// north of the river, fast on the motorway except in a jam, with random variation along
// streets, smoothed over the network.
func speeds(g *graph.Graph, p *plan, junctions []junction, seed uint64) []float64 {
	r := rand.New(rng.New(seed, "city speeds"))
	speed, mood := make([]float64, len(junctions)), make([]float64, len(junctions))
	for i, j := range junctions {
		away := math.Hypot(j.x, j.y)
		v := 22 + 26*(1-math.Exp(-away*away/(2600*2600)))
		if p.north(j.x, j.y) {
			v -= 7
		}
		if j.motorway {
			jam := math.Hypot(j.x-motorwayAt, j.y+800) / 2200
			v = 72 - 26*math.Exp(-jam*jam)
		}
		speed[i], mood[i] = v, r.NormFloat64()
	}
	spread(g, mood, 40)
	mean, square := 0.0, 0.0
	for _, v := range mood {
		mean += v / float64(len(mood))
		square += v * v / float64(len(mood))
	}
	const moodSD = 4
	spread(g, speed, 6)
	for i, v := range mood {
		speed[i] += moodSD * (v - mean) / math.Sqrt(square-mean*mean)
	}
	return speed
}

// spread replaces every value, a number of times, by the average of itself and the mean of
// its neighbours.
func spread(g *graph.Graph, values []float64, times int) {
	next := make([]float64, len(values))
	for range times {
		for i := range values {
			cols, weights := g.Adjacency().Row(i)
			sum, total := 0.0, 0.0
			for k, j := range cols {
				sum += weights[k] * values[j]
				total += weights[k]
			}
			next[i] = values[i]
			if total > 0 {
				next[i] = (values[i] + sum/total) / 2
			}
		}
		copy(values, next)
	}
}
