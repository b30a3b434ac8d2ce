package formats

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"grfgp/internal/geometry"
)

// osmRoads collects the roads of OpenStreetMap data. Roads meet where their ways have a
// common node, and nowhere else.
type osmRoads struct {
	ways  []osmWay
	nodes []osmNode
}

type osmWay struct {
	id   int64
	refs []int64
	tags [len(osmTags)]string
}

// osmNode is a node with its place in billionths of a degree.
type osmNode struct {
	id       int64
	lat, lon int64
}

// osmTags are the tags of roads that edges carry.
var osmTags = [...]string{"name", "ref", "highway", "maxspeed", "lanes", "oneway"}

// add appends a way if it is a road for motor traffic.
func (r *osmRoads) add(id int64, refs []int64, tag func(key string) string) {
	class := strings.TrimSuffix(tag("highway"), "_link")
	if !slices.Contains(roadClasses, class) || tag("area") == "yes" {
		return
	}
	for _, key := range []string{"access", "vehicle", "motor_vehicle", "motorcar"} {
		if v := tag(key); v == "no" || v == "private" {
			return
		}
	}
	w := osmWay{id: id, refs: slices.Clone(refs)}
	for k, key := range osmTags {
		w.tags[k] = tag(key)
	}
	r.ways = append(r.ways, w)
}

// wanted returns the nodes of roads, sorted.
func (r *osmRoads) wanted() []int64 {
	var all []int64
	for _, w := range r.ways {
		all = append(all, w.refs...)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// file makes a network of the roads. Nodes of the network have the ids of OpenStreetMap.
func (r *osmRoads) file() (*File, error) {
	if len(r.ways) == 0 {
		return nil, fail(Content, "it holds no roads for motor traffic (highway = "+strings.Join(roadClasses, ", ")+")",
			"check which part of the map it is")
	}
	slices.SortStableFunc(r.ways, func(a, b osmWay) int { return cmp.Compare(a.id, b.id) })
	slices.SortStableFunc(r.nodes, func(a, b osmNode) int { return cmp.Compare(a.id, b.id) })
	r.nodes = slices.CompactFunc(r.nodes, func(a, b osmNode) bool { return a.id == b.id })
	l := newLayer()
	var paths []geometry.Path
	missing := 0
	for k, w := range r.ways {
		path := geometry.Path{Road: int32(k)}
		end := func() {
			if len(path.Vertices) > 1 {
				paths = append(paths, path)
			}
			path = geometry.Path{Road: int32(k)}
		}
		for _, ref := range w.refs {
			i, ok := slices.BinarySearchFunc(r.nodes, ref, func(n osmNode, id int64) int { return cmp.Compare(n.id, id) })
			if !ok {
				missing++
				end()
				continue
			}
			path.Vertices = append(path.Vertices, int32(i))
		}
		end()
	}
	if missing > 0 {
		l.noteEdges("nodes of roads that are not in the file: %d; roads end there", missing)
	}
	place := func(v int32) geometry.Point {
		return geometry.Point{X: float64(r.nodes[v].lon) / 1e9, Y: float64(r.nodes[v].lat) / 1e9}
	}
	net := geometry.Contract(paths, len(r.nodes), func(u, v int32) float64 { return l.metric.Distance(place(u), place(v)) })
	all := roads{net: net, names: osmTags[:], place: place, ids: func(v int32) string { return strconv.FormatInt(r.nodes[v].id, 10) }}
	for _, w := range r.ways {
		all.values = append(all.values, w.tags[:])
	}
	l.noteEdges("roads for motor traffic: %d ways; paths, tracks, service roads and private roads are left out", len(r.ways))
	return all.file(l)
}
