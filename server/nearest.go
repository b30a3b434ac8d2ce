package server

import (
	"math"
	"sync"

	"grfgp/study"
)

// nearest is the measured node that is nearest to another.
type nearest struct {
	Node     string       `json:"node"`
	Label    string       `json:"label,omitempty"`
	Distance float64      `json:"distance"`
	Unit     distanceUnit `json:"unit"`
}

// distanceUnit is the unit of a distance.
type distanceUnit string

const (
	metres distanceUnit = "m"     // along a great circle, if nodes have latitude and longitude
	units  distanceUnit = "units" // those of the coordinates x and y
	hops   distanceUnit = "hops"  // edges, if nodes have no places
)

// surroundings are the measured nodes of a study, arranged to find the nearest of them. They
// serve until the measurements change.
type surroundings struct {
	net       *network
	changedAt int64 // State.ChangedAt
	measured  []int // nodes, each once
	known     map[int]bool
	unit      distanceUnit
	places    [][3]float64 // of measured nodes that have one: on the unit sphere, or x, y, 0
	placed    []int        // the nodes of places

	walking sync.Once
	far     []int32 // hops by node, −1: no measured node is connected to it
	from    []int32 // the measured node
}

// surroundings returns the measured nodes of the study at present.
func (o *openStudy) surroundings(net *network) *surroundings {
	o.around.Lock()
	defer o.around.Unlock()
	var s *surroundings
	o.View(func(st *study.State) {
		if old := o.around.last; old != nil && old.net == net && old.changedAt == st.ChangedAt() {
			s = old
			return
		}
		s = &surroundings{net: net, changedAt: st.ChangedAt(), known: map[int]bool{}}
		for k := range st.Records {
			if r := &st.Records[k]; !r.Retracted {
				s.add(r.Node)
			}
		}
	})
	if o.around.last != s {
		s.arrange()
		o.around.last = s
	}
	return s
}

func (s *surroundings) add(id string) {
	if i, ok := s.net.Graph.IDs().Lookup([]byte(id)); ok && !s.known[i] {
		s.known[i] = true
		s.measured = append(s.measured, i)
	}
}

// around keeps the surroundings that were last asked for.
type around struct {
	sync.Mutex
	last *surroundings
}

// arrange finds the places of measured nodes.
func (s *surroundings) arrange() {
	switch coordinates(s.net.Nodes) {
	case "geographic":
		s.unit = metres
	case "planar":
		s.unit = units
	default:
		s.unit = hops
		return
	}
	for _, i := range s.measured {
		if at, ok := s.place(i); ok {
			s.places, s.placed = append(s.places, at), append(s.placed, i)
		}
	}
}

// place returns where a node is: on the unit sphere, or in the plane.
func (s *surroundings) place(i int) (at [3]float64, ok bool) {
	if s.unit == units {
		at = [3]float64{s.net.Nodes.X[i], s.net.Nodes.Y[i]}
	} else {
		lat, lon := s.net.Nodes.Lat[i]*math.Pi/180, s.net.Nodes.Lon[i]*math.Pi/180
		at = [3]float64{math.Cos(lat) * math.Cos(lon), math.Cos(lat) * math.Sin(lon), math.Sin(lat)}
	}
	return at, finite(at[0]) && finite(at[1]) && finite(at[2])
}

// nearest returns the measured node that is nearest to a node, nil if there is none, or none
// that can be reached, or if the node has no place although others do.
func (s *surroundings) nearest(i int) *nearest {
	if s.unit == hops {
		return s.nearestByHops(i)
	}
	at, ok := s.place(i)
	if !ok || len(s.places) == 0 {
		return nil
	}
	best, least := 0, math.Inf(1)
	for k := range s.places {
		p := &s.places[k]
		x, y, z := p[0]-at[0], p[1]-at[1], p[2]-at[2]
		if d := x*x + y*y + z*z; d < least {
			best, least = k, d
		}
	}
	distance := math.Sqrt(least)
	if s.unit == metres {
		const earth = 6_371_008.8 // mean radius
		distance = 2 * earth * math.Asin(min(1, distance/2))
	}
	return s.describe(s.placed[best], distance)
}

func (s *surroundings) nearestByHops(i int) *nearest {
	if len(s.measured) == 0 {
		return nil
	}
	if from, far, ok := s.lookAround(i); ok {
		return s.describe(from, float64(far))
	}
	s.walking.Do(s.walk)
	if s.far[i] < 0 {
		return nil
	}
	return s.describe(int(s.from[i]), float64(s.far[i]))
}

// localNodes is how many nodes lookAround visits.
const localNodes = 2000

// lookAround looks for a measured node among those nearest to a node, which is all that most
// need; ok is false if there is none.
func (s *surroundings) lookAround(i int) (from, far int, ok bool) {
	edges := s.net.Graph.Adjacency()
	hops := map[int]int{i: 0}
	for queue := []int{i}; len(queue) > 0 && len(hops) < localNodes; queue = queue[1:] {
		at := queue[0]
		if s.known[at] {
			return at, hops[at], true
		}
		cols, _ := edges.Row(at)
		for _, j := range cols {
			if _, seen := hops[int(j)]; !seen && len(hops) < localNodes {
				hops[int(j)] = hops[at] + 1
				queue = append(queue, int(j))
			}
		}
	}
	return 0, 0, false
}

// walk goes from all measured nodes at once, edge by edge, over the whole graph: what it finds
// serves every node.
func (s *surroundings) walk() {
	n := s.net.Graph.Len()
	s.far, s.from = make([]int32, n), make([]int32, n)
	for i := range s.far {
		s.far[i] = -1
	}
	queue := make([]int32, 0, n)
	for _, i := range s.measured {
		s.far[i], s.from[i] = 0, int32(i)
		queue = append(queue, int32(i))
	}
	edges := s.net.Graph.Adjacency()
	for k := 0; k < len(queue); k++ {
		i := queue[k]
		cols, _ := edges.Row(int(i))
		for _, j := range cols {
			if s.far[j] < 0 {
				s.far[j], s.from[j] = s.far[i]+1, s.from[i]
				queue = append(queue, int32(j))
			}
		}
	}
}

func (s *surroundings) describe(i int, distance float64) *nearest {
	return &nearest{Node: s.net.Graph.IDs().At(i), Label: s.net.label(i), Distance: distance, Unit: s.unit}
}
