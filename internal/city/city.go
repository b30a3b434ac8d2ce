// Package city generates a synthetic city: streets in districts, a river with few bridges,
// a ring motorway, and the speed of traffic at every junction. It is the built-in example
// of grfgp, with a known truth.
package city

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"grfgp/graph"
	"grfgp/internal/rng"
)

// City is a network of junctions, in locality order, with the speed of traffic at
// each, and noisy measurements at some sensors.
type City struct {
	Graph    *graph.Graph
	X, Y     []float64 // metres from the centre, to the east and to the north
	Truth    []float64 // speed, km/h
	Sensors  []int     // junctions with a sensor
	Readings []float64 // speed at each sensor with noise, km/h
}

// NoiseSD is the standard deviation of a measurement, in km/h.
const NoiseSD = 2

const (
	streetSensors   = 125
	motorwaySensors = 25
)

// New generates the city of a seed, with about 1,200 junctions and 150 sensors.
func New(seed uint64) *City {
	p := newPlan(seed)
	p.layStreets()
	p.buildBridges()
	p.buildMotorway()
	ids := make([]string, len(p.junctions))
	for i, j := range p.junctions {
		ids[i] = j.id
	}
	labels, ok := graph.IDsOf(ids)
	if !ok {
		panic("city: two junctions of one name")
	}
	whole, _, err := graph.FromEdges(labels, p.edges, graph.BuildOptions{})
	if err != nil {
		panic(fmt.Sprintf("city: %v", err))
	}
	// A district corner that lost all its streets is no part of the city.
	g, kept := whole.LargestComponent()
	c := &City{Graph: g}
	junctions := make([]junction, len(kept))
	for k, i := range kept {
		junctions[k] = p.junctions[i]
		c.X, c.Y = append(c.X, junctions[k].x), append(c.Y, junctions[k].y)
	}
	c.Truth = speeds(g, p, junctions, seed)
	c.measure(junctions, seed)
	c.order()
	return c
}

// order puts the junctions into locality order.
func (c *City) order() {
	c.Graph = c.Graph.Ordered()
	number := c.Graph.InputOrder()
	for _, values := range []*[]float64{&c.X, &c.Y, &c.Truth} {
		moved := make([]float64, len(number))
		for k, i := range number {
			moved[i] = (*values)[k]
		}
		*values = moved
	}
	for s, k := range c.Sensors {
		c.Sensors[s] = number[k]
	}
}

// measure places sensors on streets and on the motorway, and measures with noise.
func (c *City) measure(junctions []junction, seed uint64) {
	r := rand.New(rng.New(seed, "city sensors"))
	left := map[bool]int{false: streetSensors, true: motorwaySensors}
	for _, i := range r.Perm(len(junctions)) {
		if m := junctions[i].motorway; left[m] > 0 {
			left[m]--
			c.Sensors = append(c.Sensors, i)
		}
	}
	slices.Sort(c.Sensors)
	for _, i := range c.Sensors {
		c.Readings = append(c.Readings, c.Truth[i]+NoiseSD*r.NormFloat64())
	}
}
