package city

import (
	"fmt"
	"math"
	"math/rand/v2"

	"grfgp/graph"
	"grfgp/internal/rng"
)

// Lengths are in metres.
const (
	block       = 292  // between junctions of a street
	outskirts   = 5600 // from the centre to where streets end
	motorwayAt  = 4150 // from the centre
	riverHalf   = 190  // half the width that streets keep free
	missing     = 0.09 // share of streets that were never built
	motorwayLen = 56   // junctions of the motorway
)

type junction struct {
	id       string
	x, y     float64
	district int // -1 on the motorway and its ramps
	motorway bool
}

// district is a part of the city with one direction of streets.
type district struct {
	letter   byte
	x, y     float64
	cos, sin float64
}

// plan is a city under construction.
type plan struct {
	random    *rand.Rand
	districts []district
	phase     [3]float64 // of the river and the outskirts
	junctions []junction
	edges     graph.Edges
}

func newPlan(seed uint64) *plan {
	p := &plan{random: rand.New(rng.New(seed, "city plan"))}
	for k := range p.phase {
		p.phase[k] = 2 * math.Pi * p.random.Float64()
	}
	add := func(letter byte, x, y, turn float64) {
		sin, cos := math.Sincos(turn)
		p.districts = append(p.districts, district{letter, x, y, cos, sin})
	}
	add('C', 0, -300, 0.15)
	const around = 6
	for k := range around {
		angle := 2*math.Pi*(float64(k)+0.5*p.random.Float64())/around + 0.3
		away := 3300 + 600*p.random.Float64()
		sin, cos := math.Sincos(angle)
		add("ABDEFG"[k], away*cos, away*sin, angle+0.5*p.random.NormFloat64())
	}
	return p
}

// river returns the northing of the river at x.
func (p *plan) river(x float64) float64 { return 1000 + 520*math.Sin(x/1500+p.phase[0]) }

// north reports whether a point is north of the river.
func (p *plan) north(x, y float64) bool { return y > p.river(x) }

// built reports whether a point is in the built-up area.
func (p *plan) built(x, y float64) bool {
	angle := math.Atan2(y, x)
	edge := outskirts * (1 + 0.06*math.Sin(3*angle+p.phase[1]) + 0.04*math.Sin(5*angle+p.phase[2]))
	return math.Hypot(x, y) < edge && math.Abs(y-p.river(x)) > riverHalf
}

func (p *plan) districtAt(x, y float64) int {
	best, nearest := 0, math.Inf(1)
	for d, c := range p.districts {
		if away := math.Hypot(x-c.x, y-c.y); away < nearest {
			best, nearest = d, away
		}
	}
	return best
}

func (p *plan) join(i, j int) {
	p.edges.U, p.edges.V = append(p.edges.U, uint32(i)), append(p.edges.V, uint32(j))
}

// layStreets fills every district with a grid of streets in its direction, and joins the
// grids at the borders.
func (p *plan) layStreets() {
	const reach = 2 * outskirts / block
	for d, c := range p.districts {
		at := map[[2]int]int{}
		count := 0
		for u := -reach; u <= reach; u++ {
			for v := -reach; v <= reach; v++ {
				x := c.x + block*(float64(u)*c.cos-float64(v)*c.sin) + 25*p.random.NormFloat64()
				y := c.y + block*(float64(u)*c.sin+float64(v)*c.cos) + 25*p.random.NormFloat64()
				if !p.built(x, y) || p.districtAt(x, y) != d || p.nearest(x, y, func(junction) bool { return true }, block/2) >= 0 {
					continue
				}
				count++
				at[[2]int{u, v}] = len(p.junctions)
				p.junctions = append(p.junctions, junction{id: fmt.Sprintf("%c%03d", c.letter, count), x: x, y: y, district: d})
			}
		}
		for u := -reach; u <= reach; u++ {
			for v := -reach; v <= reach; v++ {
				for _, to := range [][2]int{{u + 1, v}, {u, v + 1}} {
					i, ok := at[[2]int{u, v}]
					j, both := at[to]
					if ok && both && p.sameBank(i, j) && p.random.Float64() > missing {
						p.join(i, j)
					}
				}
			}
		}
	}
	for i, a := range p.junctions {
		other := func(b junction) bool { return b.district != a.district && p.north(a.x, a.y) == p.north(b.x, b.y) }
		if j := p.nearest(a.x, a.y, other, 1.2*block); j >= 0 {
			p.join(i, j)
		}
	}
}

func (p *plan) sameBank(i, j int) bool {
	a, b := p.junctions[i], p.junctions[j]
	return p.north(a.x, a.y) == p.north(b.x, b.y)
}

// nearest returns the junction nearest to a point among those wanted, -1 if none is within
// reach.
func (p *plan) nearest(x, y float64, wanted func(junction) bool, reach float64) int {
	best := -1
	for i, j := range p.junctions {
		if away := math.Hypot(j.x-x, j.y-y); away < reach && wanted(j) {
			best, reach = i, away
		}
	}
	return best
}

// buildBridges joins the banks at four places.
func (p *plan) buildBridges() {
	for _, x := range []float64{-3100, -1000, 700, 2700} {
		x += 250 * p.random.NormFloat64()
		y := p.river(x)
		bank := func(north bool) int {
			return p.nearest(x, y, func(j junction) bool { return p.north(j.x, j.y) == north }, 4*block)
		}
		if i, j := bank(true), bank(false); i >= 0 && j >= 0 {
			p.join(i, j)
		}
	}
}

// buildMotorway lays the ring, with a ramp to the streets at every fourth
// junction. It crosses the river on bridges of its own.
func (p *plan) buildMotorway() {
	const everyRamp = 4
	first := len(p.junctions)
	for k := range motorwayLen {
		sin, cos := math.Sincos(2 * math.Pi * float64(k) / motorwayLen)
		p.junctions = append(p.junctions, junction{id: fmt.Sprintf("M%02d", k+1), x: motorwayAt * cos, y: motorwayAt * sin, district: -1,
			motorway: true})
		p.join(first+k, first+(k+1)%motorwayLen)
	}
	for k := 0; k < motorwayLen; k += everyRamp {
		from := p.junctions[first+k]
		if j := p.nearest(from.x, from.y, func(j junction) bool { return j.district >= 0 }, 2*block); j >= 0 {
			to, ramp := p.junctions[j], len(p.junctions)
			p.junctions = append(p.junctions, junction{id: "R" + from.id[1:], x: (from.x + to.x) / 2, y: (from.y + to.y) / 2, district: -1})
			p.join(first+k, ramp)
			p.join(ramp, j)
		}
	}
}
