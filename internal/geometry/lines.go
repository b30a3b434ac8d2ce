package geometry

import (
	"cmp"
	"slices"
)

// Line is a line with the number of the road that it is part of.
type Line struct {
	Points []Point
	Road   int32
}

// Path is a line over numbered vertices.
type Path struct {
	Vertices []int32
	Road     int32
}

// SameVertex is the largest distance, in metres, of points that are always one vertex, unless
// the tolerance is smaller: less than any real gap between roads, more than rounding.
const SameVertex = 0.1

// Joined are lines that share vertices.
type Joined struct {
	Paths  []Path
	At     []Point // of vertices, numbered by coordinates
	Short  int     // lines left out because all their points are one vertex
	Onto   int     // ends that were joined to the inside of another line, where it has no vertex
	Missed int     // ends that meet no other line, but lie within NearMiss metres of one
}

// NearMiss is the distance up to which [JoinLines] counts ends that may be meant to meet a line.
const NearMiss = 5.0

// JoinLines finds the vertices that lines share: points within the tolerance of each other,
// but at most SameVertex apart. Ends of lines also meet other ends, vertices and the insides
// of other lines within the whole tolerance. Lines that cross without a common vertex do
// not meet: one may be a bridge. The tolerance is in metres; with 0, points must be equal.
func JoinLines(lines []Line, m Metric, tolerance float64) Joined {
	lines = slices.Clone(lines)
	slices.SortFunc(lines, func(a, b Line) int { return cmp.Or(compareLines(a.Points, b.Points), cmp.Compare(a.Road, b.Road)) })
	var points []Point
	for _, line := range lines {
		points = append(points, line.Points...)
	}
	v := merge(points, m, min(tolerance, SameVertex))
	j := joiner{m: m, tolerance: tolerance, at: v.at, sets: newSets(len(v.at))}
	for _, line := range lines {
		path := Path{Road: line.Road}
		for _, p := range line.Points {
			if i := v.of[p]; len(path.Vertices) == 0 || path.Vertices[len(path.Vertices)-1] != i {
				path.Vertices = append(path.Vertices, i)
			}
		}
		j.paths = append(j.paths, path)
	}
	return j.join()
}

// joiner joins ends of paths to others.
type joiner struct {
	m         Metric
	tolerance float64
	at        []Point
	paths     []Path
	sets      sets // vertices that become one
	tree      *rtree
	segments  []segment
	cuts      [][]cut // of segments
	result    Joined
}

// segment is a step of a path.
type segment struct{ path, step int32 }

// cut is a vertex to be put into a segment.
type cut struct {
	t      float64
	vertex int32
}

func (j *joiner) join() Joined {
	var boxes []box
	pathsAt := map[int32][]int32{} // paths that end at a vertex
	for k, p := range j.paths {
		n := len(p.Vertices)
		if n < 2 {
			continue
		}
		for _, end := range []int32{p.Vertices[0], p.Vertices[n-1]} {
			pathsAt[end] = append(pathsAt[end], int32(k))
		}
		for s := range n - 1 {
			j.segments = append(j.segments, segment{int32(k), int32(s)})
			boxes = append(boxes, boxOf(j.at[p.Vertices[s]], j.at[p.Vertices[s+1]]))
		}
	}
	if len(boxes) > 0 {
		j.tree, j.cuts = newRTree(boxes), make([][]cut, len(j.segments))
		ends := make([]int32, 0, len(pathsAt))
		for end := range pathsAt {
			ends = append(ends, end)
		}
		slices.Sort(ends)
		j.joinEnds(ends, pathsAt)
	}
	j.rebuild()
	return j.result
}

func (j *joiner) joinEnds(ends []int32, pathsAt map[int32][]int32) {
	if j.tolerance > SameVertex {
		places := make([]Point, len(ends))
		for k, end := range ends {
			places[k] = j.at[end]
		}
		eachPair(places, j.m, j.tolerance, func(a, b int32) { j.sets.join(ends[a], ends[b]) })
	}
	uses := make([]int, len(j.at)) // paths through a vertex
	for _, p := range j.paths {
		for _, v := range p.Vertices {
			uses[v]++
		}
	}
	for _, end := range ends {
		own := pathsAt[end]
		distance, found := j.nearest(end, own, max(j.tolerance, NearMiss))
		switch {
		case len(found) == 0:
		case distance <= j.tolerance:
			j.attach(end, found)
		case uses[end] == 1 && j.sets.find(end) == end && distance > 0:
			j.result.Missed++
		}
	}
}

// hit is a segment near a vertex.
type hit struct {
	segment  int32
	distance float64
	t        float64
}

// nearest returns the segments nearest to a vertex, within a distance, that do not touch it
// and are not of its own paths, and how far they are. Segments hardly farther than the nearest
// are found, too: the same road drawn twice.
func (j *joiner) nearest(end int32, own []int32, within float64) (float64, []hit) {
	p := j.at[end]
	dx, dy := j.m.box(p, within)
	var found []hit
	least := within
	j.tree.search(box{p.X - dx, p.Y - dy, p.X + dx, p.Y + dy}, func(item int32) {
		s := j.segments[item]
		a, b := j.paths[s.path].Vertices[s.step], j.paths[s.path].Vertices[s.step+1]
		if a == end || b == end || slices.Contains(own, s.path) {
			return
		}
		if d, t := j.m.toSegment(p, j.at[a], j.at[b]); d <= within {
			found = append(found, hit{item, d, t})
			least = min(least, d)
		}
	})
	found = slices.DeleteFunc(found, func(h hit) bool { return h.distance > max(least, min(SameVertex, j.tolerance)) })
	slices.SortFunc(found, func(a, b hit) int { return cmp.Compare(a.segment, b.segment) })
	return least, found
}

// attach makes a vertex part of the segments: one with their ends, or cut into their insides.
func (j *joiner) attach(end int32, found []hit) {
	inside := false
	for _, h := range found {
		s := j.segments[h.segment]
		switch vertices := j.paths[s.path].Vertices; h.t {
		case 0:
			j.sets.join(end, vertices[s.step])
		case 1:
			j.sets.join(end, vertices[s.step+1])
		default:
			j.cuts[h.segment] = append(j.cuts[h.segment], cut{h.t, end})
			inside = true
		}
	}
	if inside {
		j.result.Onto++
	}
}

// rebuild makes the paths over the vertices that are left.
func (j *joiner) rebuild() {
	number := make([]int32, len(j.at))
	for v := range j.at {
		if root := j.sets.find(int32(v)); root == int32(v) {
			number[v] = int32(len(j.result.At))
			j.result.At = append(j.result.At, j.at[v])
		} else {
			number[v] = number[root]
		}
	}
	next := 0
	for _, p := range j.paths {
		out := Path{Road: p.Road}
		add := func(v int32) {
			v = number[v]
			if n := len(out.Vertices); n == 0 || out.Vertices[n-1] != v {
				out.Vertices = append(out.Vertices, v)
			}
		}
		for s, v := range p.Vertices {
			add(v)
			if s == len(p.Vertices)-1 {
				break
			}
			cuts := j.cuts[next]
			slices.SortFunc(cuts, func(a, b cut) int { return cmp.Or(cmp.Compare(a.t, b.t), cmp.Compare(a.vertex, b.vertex)) })
			for _, c := range cuts {
				add(c.vertex)
			}
			next++
		}
		if len(out.Vertices) < 2 {
			j.result.Short++
			continue
		}
		j.result.Paths = append(j.result.Paths, out)
	}
}
