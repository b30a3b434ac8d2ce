package formats

import (
	"cmp"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"

	"grfgp/internal/geometry"
)

// gtfsFormat is a timetable of public transport (General Transit Feed Specification): a folder
// of text files. Stops are nodes, and edges join those that follow each other in a trip.
var gtfsFormat = &Format{
	Name:   "GTFS",
	Detect: func(string, []byte) bool { return false }, // a folder has no first bytes, see DetectFolder
	Read: func(ctx context.Context, in Input, _ Options) (*File, error) {
		return readGTFS(ctx, os.DirFS(in.Path))
	},
	ByPath: true,
}

// DetectFolder returns the format of a folder, nil if it is not known.
func DetectFolder(path string) *Format {
	if isGTFS(os.DirFS(path)) {
		return gtfsFormat
	}
	return nil
}

// isGTFS reports whether a folder or an archive holds a timetable.
func isGTFS(files fs.FS) bool {
	for _, name := range []string{"stops.txt", "stop_times.txt"} {
		if _, err := fs.Stat(files, name); err != nil {
			return false
		}
	}
	return true
}

// gtfs is a timetable as it is read.
type gtfs struct {
	ctx    context.Context
	files  fs.FS
	layer  *layer
	stops  []gtfsStop
	number map[string]int32 // of a stop, by its id
	times  []gtfsTime
}

type gtfsStop struct {
	id     string
	place  geometry.Point
	row    []string
	kind   string
	parent string
	node   int32 // the stop that stands for it: itself or its station; −1 if it is none
	served bool
}

// gtfsTime is a stop of a trip, with times in seconds; −1: not given.
type gtfsTime struct {
	trip, sequence, stop int32
	arrive, leave        int32
}

func readGTFS(ctx context.Context, files fs.FS) (*File, error) {
	g := &gtfs{ctx: ctx, files: files, layer: newLayer(), number: map[string]int32{}}
	if err := g.readStops(); err != nil {
		return nil, err
	}
	if err := g.readTimes(); err != nil {
		return nil, err
	}
	edges, err := g.edges()
	if err != nil {
		return nil, err
	}
	return &File{Edges: edges, Nodes: g.nodes(), Distance: "travel_time", Notes: g.layer.notes, EdgeNotes: g.layer.edgeNotes}, nil
}

// each reads a file of the timetable row by row; get returns a cell by the name of its column.
func (g *gtfs) each(name string, needs []string, use func(row []string, get func(column string) string) error) error {
	f, err := g.files.Open(name)
	if err != nil {
		return &Error{Kind: Damaged, What: "the file " + name + " cannot be read", Remedies: []Remedy{{Do: "fetch the timetable again"}},
			Err: err}
	}
	defer f.Close()
	bad := func(line int, what string, do string) error {
		return fail(Damaged, fmt.Sprintf("%s, line %d: %s", name, line, what), do)
	}
	r := csv.NewReader(f)
	r.ReuseRecord, r.FieldsPerRecord, r.LazyQuotes, r.TrimLeadingSpace = true, -1, true, true
	header, err := r.Read()
	if err != nil {
		return bad(1, "there is no header", "fetch the timetable again")
	}
	column := map[string]int{}
	for j, name := range header {
		if j == 0 {
			name = strings.TrimPrefix(name, "\ufeff")
		}
		column[strings.TrimSpace(name)] = j
	}
	for _, need := range needs {
		if _, ok := column[need]; !ok {
			return bad(1, "there is no column "+need, "fetch the timetable again")
		}
	}
	if name == "stops.txt" {
		for _, name := range slices.SortedFunc(maps.Keys(column), func(a, b string) int { return cmp.Compare(column[a], column[b]) }) {
			g.layer.properties.declare(name)
		}
	}
	for n := 0; ; n++ {
		if n%4096 == 0 {
			if err := g.ctx.Err(); err != nil {
				return err
			}
		}
		row, err := r.Read()
		if errors.Is(err, io.EOF) {
			return nil
		}
		line, _ := r.FieldPos(0)
		if err != nil {
			return bad(line, "it cannot be read as comma-separated text", "fetch the timetable again")
		}
		if err := use(row, func(name string) string {
			if j, ok := column[name]; ok && j < len(row) {
				return strings.TrimSpace(row[j])
			}
			return ""
		}); err != nil {
			return bad(line, err.Error(), "correct or remove the row")
		}
	}
}

func (g *gtfs) readStops() error {
	err := g.each("stops.txt", []string{"stop_id", "stop_lat", "stop_lon"}, func(row []string, get func(string) string) error {
		s := gtfsStop{id: get("stop_id"), kind: get("location_type"), parent: get("parent_station"), node: -1,
			place: geometry.Point{X: math.NaN(), Y: math.NaN()}}
		if s.id == "" {
			return errors.New("a stop has no stop_id")
		}
		if _, seen := g.number[s.id]; seen {
			return fmt.Errorf("the stop %s is listed twice", quote(s.id))
		}
		lat, errLat := strconv.ParseFloat(get("stop_lat"), 64)
		lon, errLon := strconv.ParseFloat(get("stop_lon"), 64)
		switch needs := s.kind == "" || s.kind == "0" || s.kind == "1"; {
		case errLat == nil && errLon == nil && math.Abs(lat) <= 90 && math.Abs(lon) <= 180:
			s.place = geometry.Point{X: lon, Y: lat}
		case needs:
			return fmt.Errorf("the stop %s has the latitude %s and the longitude %s", quote(s.id), quote(get("stop_lat")), quote(get("stop_lon")))
		}
		for _, name := range g.layer.properties.Names {
			s.row = append(s.row, get(name))
		}
		g.number[s.id] = int32(len(g.stops))
		g.stops = append(g.stops, s)
		return nil
	})
	if err != nil {
		return err
	}
	merged := 0
	for i := range g.stops {
		s := &g.stops[i]
		switch parent, ok := g.number[s.parent]; {
		case s.kind != "" && s.kind != "0" && s.kind != "1": // entrances and inner nodes of stations
		case s.parent == "":
			s.node = int32(i)
		case !ok:
			return fail(Damaged, fmt.Sprintf("stops.txt: the stop %s belongs to the station %s, which is not listed", quote(s.id), quote(s.parent)),
				"add the station, or clear parent_station")
		default:
			s.node = parent
			merged++
		}
	}
	if merged > 0 {
		g.layer.note("platforms that belong to a station: %d; they are one node, with the id of the station", merged)
	}
	return nil
}

func (g *gtfs) readTimes() error {
	trips := map[string]int32{}
	err := g.each("stop_times.txt", []string{"trip_id", "stop_id", "stop_sequence"}, func(_ []string, get func(string) string) error {
		if get("stop_id") == "" && (get("location_group_id") != "" || get("location_id") != "") {
			return nil // service on demand, without a fixed stop
		}
		stop, ok := g.number[get("stop_id")]
		if !ok {
			return fmt.Errorf("the stop %s is not in stops.txt", quote(get("stop_id")))
		}
		if g.stops[stop].node < 0 {
			return fmt.Errorf("%s is an entrance or an inner node of a station, not a stop", quote(get("stop_id")))
		}
		sequence, err := strconv.ParseInt(get("stop_sequence"), 10, 32)
		if err != nil {
			return fmt.Errorf("the stop_sequence %s is not a whole number", quote(get("stop_sequence")))
		}
		id := get("trip_id")
		trip, ok := trips[id]
		if !ok {
			trip = int32(len(trips))
			trips[strings.Clone(id)] = trip
		}
		t := gtfsTime{trip: trip, sequence: int32(sequence), stop: g.stops[stop].node, arrive: -1, leave: -1}
		for _, c := range []struct {
			to   *int32
			text string
		}{{&t.arrive, get("arrival_time")}, {&t.leave, get("departure_time")}} {
			if c.text == "" {
				continue
			}
			if *c.to, ok = clock(c.text); !ok {
				return fmt.Errorf("%s is not a time such as 07:35:00", quote(c.text))
			}
		}
		if t.arrive < 0 {
			t.arrive = t.leave
		}
		if t.leave < 0 {
			t.leave = t.arrive
		}
		g.times = append(g.times, t)
		return nil
	})
	if err != nil {
		return err
	}
	slices.SortStableFunc(g.times, func(a, b gtfsTime) int {
		return cmp.Or(cmp.Compare(a.trip, b.trip), cmp.Compare(a.sequence, b.sequence))
	})
	return nil
}

// clock reads a time such as 25:10:00, in seconds.
func clock(text string) (int32, bool) {
	parts := strings.Split(text, ":")
	if len(parts) != 3 {
		return 0, false
	}
	seconds := 0
	for k, p := range parts {
		n, err := strconv.Atoi(p)
		if err != nil || n < 0 || n > 999 || k > 0 && n > 59 {
			return 0, false
		}
		seconds = 60*seconds + n
	}
	return int32(seconds), true
}

// link is a pair of stops that follow each other in trips.
type link struct {
	trips   int
	seconds float64 // of the trips that have times
	timed   int
}

// edges makes an edge of each pair of stops that follow each other in a trip.
func (g *gtfs) edges() (*Table, error) {
	links := map[[2]int32]*link{}
	for from := 0; from < len(g.times); {
		to := from + 1
		for to < len(g.times) && g.times[to].trip == g.times[from].trip {
			to++
		}
		g.trip(g.times[from:to], links)
		from = to
	}
	if len(links) == 0 {
		return nil, fail(Content, "no trip has two stops", "check stop_times.txt")
	}
	pairs := make([][2]int32, 0, len(links))
	seconds, distance := 0.0, 0.0
	for pair := range links {
		pairs = append(pairs, pair)
	}
	byID := func(a, b [2]int32) int {
		return cmp.Or(cmp.Compare(g.stops[a[0]].id, g.stops[b[0]].id), cmp.Compare(g.stops[a[1]].id, g.stops[b[1]].id))
	}
	slices.SortFunc(pairs, byID)
	for _, pair := range pairs {
		if l := links[pair]; l.timed > 0 {
			seconds, distance = seconds+l.seconds/float64(l.timed), distance+g.length(pair)
		}
	}
	t := &Table{Names: []string{"source", "target", "travel_time", "length", "trips"}, Unit: "edge"}
	short, untimed := 0, 0
	for _, pair := range pairs {
		l := links[pair]
		const least = 30 // seconds: timetables are rounded to minutes
		time := l.seconds / float64(l.timed)
		switch {
		case l.timed == 0 && distance > 0:
			time = g.length(pair) * seconds / distance
			untimed++
		case l.timed == 0:
			return nil, fail(Content, "stop_times.txt gives no times of arrival and departure", "give them")
		}
		if time < least {
			time = least
			short++
		}
		t.Rows = append(t.Rows, []string{g.stops[pair[0]].id, g.stops[pair[1]].id, strconv.FormatFloat(time, 'f', 1, 64), metres(g.length(pair)),
			strconv.Itoa(l.trips)})
	}
	g.layer.noteEdges("edges join stops that follow each other in a trip; travel_time is the mean time between them in seconds, length the " +
		"straight distance in metres, trips their number")
	if short > 0 {
		g.layer.noteEdges("edges with a travel time below 30 s, as rounding to minutes makes them: %d; 30 s are used", short)
	}
	if untimed > 0 {
		g.layer.noteEdges("edges without times: %d; the mean speed of the others is used", untimed)
	}
	return t, nil
}

func (g *gtfs) length(pair [2]int32) float64 {
	return geometry.Globe.Distance(g.stops[pair[0]].place, g.stops[pair[1]].place)
}

// trip adds the links of a trip. Times between two stops that have times are spread evenly
// over the stops without.
func (g *gtfs) trip(times []gtfsTime, links map[[2]int32]*link) {
	last := -1
	for k := range times {
		if times[k].arrive < 0 {
			continue
		}
		if last >= 0 {
			for j := last + 1; j < k; j++ {
				share := float64(j-last) / float64(k-last)
				times[j].arrive = times[last].leave + int32(share*float64(times[k].arrive-times[last].leave))
				times[j].leave = times[j].arrive
			}
		}
		last = k
	}
	for k := 1; k < len(times); k++ {
		a, b := times[k-1], times[k]
		g.stops[a.stop].served, g.stops[b.stop].served = true, true
		if a.stop == b.stop {
			continue
		}
		pair := [2]int32{a.stop, b.stop}
		if g.stops[a.stop].id > g.stops[b.stop].id {
			pair = [2]int32{b.stop, a.stop}
		}
		l := links[pair]
		if l == nil {
			l = &link{}
			links[pair] = l
		}
		l.trips++
		if a.leave >= 0 && b.arrive >= a.leave {
			l.seconds += float64(b.arrive - a.leave)
			l.timed++
		}
	}
}

// nodes makes the table of stops and stations.
func (g *gtfs) nodes() *Table {
	skip := []string{"stop_id", "stop_lat", "stop_lon", "parent_station", "location_type"}
	t := &Table{Names: []string{"stop_id", "lat", "lon"}, Unit: "stop"}
	for _, name := range g.layer.properties.Names {
		if !slices.Contains(skip, name) {
			t.Names = append(t.Names, name)
		}
	}
	unserved := 0
	for i, s := range g.stops {
		if s.node != int32(i) {
			continue
		}
		if !s.served {
			unserved++
		}
		row := append([]string{s.id}, g.layer.coordinates(s.place)...)
		for j, name := range g.layer.properties.Names {
			if !slices.Contains(skip, name) {
				row = append(row, s.row[j])
			}
		}
		t.Rows = append(t.Rows, row)
	}
	if unserved > 0 {
		g.layer.note("stops that no trip serves: %d; they are nodes without edges", unserved)
	}
	return t
}
