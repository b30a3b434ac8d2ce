package graphio

import (
	"slices"
	"strings"
	"unicode"
)

// Role is the meaning of a column.
type Role string

// The roles of columns: of a table of edges, of nodes, of measurements and of labels.
const (
	RoleSource   Role = "source"
	RoleTarget   Role = "target"
	RoleWeight   Role = "weight"
	RoleDistance Role = "distance"

	RoleID      Role = "id"
	RoleLabel   Role = "label"
	RoleLat     Role = "lat"
	RoleLon     Role = "lon"
	RoleX       Role = "x"
	RoleY       Role = "y"
	RoleCost    Role = "cost"
	RoleAllowed Role = "allowed"
	RoleGroup   Role = "group"

	RoleShape Role = "geometry" // a GeoJSON geometry as text; found by its name and content alone

	RoleNode  Role = "node"
	RoleValue Role = "value"
	RoleSD    Role = "sd"
	RoleClass Role = "class"

	RoleTime     Role = "time"     // when a value was measured
	RoleExposure Role = "exposure" // of a count: the expected number, the time or the people at risk
	RoleTested   Role = "tested"   // of a number of positives: how many were tested
)

// roles are all roles, in the order of messages.
var roles = []Role{
	RoleSource, RoleTarget, RoleWeight, RoleDistance,
	RoleID, RoleLabel, RoleLat, RoleLon, RoleX, RoleY, RoleCost, RoleAllowed, RoleGroup,
	RoleNode, RoleValue, RoleSD, RoleClass, RoleTime, RoleExposure, RoleTested,
}

// roleNames holds, per role, the names that are certain, and words that make a
// longer name likely ("speed_mph" for "speed").
var roleNames = map[Role]struct{ sure, likely string }{
	RoleWeight: {
		"weight weights w strength similarity affinity edgeweight",
		"weight strength similarity sim affinity count frequency freq trips flow volume score correlation probability confidence capacity " +
			"conductance interactions contacts calls messages value",
	},
	RoleDistance: {
		"distance dist length len cost km miles metres meters duration traveltime",
		"distance dist length len cost km mile miles metre metres meter meters m rad duration latency delay resistance impedance minutes " +
			"seconds dissimilarity",
	},
	RoleNode: {"node nodeid nodes", "id station sensor site vertex detector junction location place user account person paper page " +
		"segment stop city code key number index name"},
	RoleLabel:   {"label class", "label class name title type category topic"},
	RoleLat:     {"lat latitude", "lat latitude"},
	RoleLon:     {"lon lng long longitude", "lon lng longitude"},
	RoleX:       {"x", "easting"},
	RoleY:       {"y", "northing"},
	RoleCost:    {"cost price", "cost price"},
	RoleAllowed: {"allowed candidate eligible available permitted", "allowed eligible"},
	RoleGroup:   {"group cluster community region district zone", "group cluster community region district zone"},
	RoleShape:   {"geometry", ""},
	RoleValue: {"value y reading measurement observation measured observed",
		"value reading measurement observation speed temperature temp level score result pressure concentration rate rating"},
	RoleClass: {"class label classes labels", "class label category topic type kind group community"},
	RoleTime: {"time timestamp date datetime year month week quarter day hour period when ts epoch",
		"time timestamp date datetime year month week quarter"},
	RoleExposure: {"expected exposure population pop atrisk personyears persontime", ""},
	RoleTested:   {"tested trials examined screened ntested", ""},
	RoleSD:       {"sd std stdev stddev sigma noise se stderr uncertainty error", "sd std stdev stddev sigma noise stderr uncertainty"},
}

// The two ends of an edge: names that differ in one of these pairs of words
// alone, such as FromNodeId and ToNodeId or id_1 and id_2.
var endWords = [][2]string{
	{"source", "target"}, {"source", "destination"}, {"source", "dest"}, {"src", "dst"}, {"src", "dest"}, {"src", "tgt"},
	{"from", "to"}, {"u", "v"}, {"1", "2"}, {"a", "b"}, {"i", "j"}, {"start", "end"}, {"origin", "destination"},
	{"tail", "head"}, {"row", "col"}, {"parent", "child"}, {"sender", "receiver"}, {"sender", "recipient"},
	{"caller", "callee"}, {"follower", "followee"}, {"follower", "followed"}, {"citing", "cited"},
	{"left", "right"}, {"first", "second"}, {"subject", "object"},
}

// Words that may stand beside an end word, and words of names with other meanings.
var (
	idWords    = strings.Fields("node id nodeid vertex numeric station key code index idx user")
	notIDs     = strings.Fields("lat latitude lon lng longitude x y z weight time date year type class label degree distance length")
	notSDs     = strings.Fields("var variance")
	notWeights = strings.Fields("id index idx key code unnamed lat latitude lon lng longitude x y z")
	timeWords  = strings.Fields("time timestamp date datetime year ts hour day")
	notNodes   = strings.Fields("name title")            // "station_name" beside "station_id"
	weakNodes  = strings.Fields("key code number index") // ids if no other column is: "key" beside "id"
)

// words cuts a column name at capitals, digits and anything that is neither
// letter nor digit, into lower-case words: "FromNodeId" is from, node, id.
func words(name string) []string {
	var out []string
	var word []rune
	flush := func() {
		if len(word) > 0 {
			out = append(out, strings.ToLower(string(word)))
			word = word[:0]
		}
	}
	prev := rune(0)
	for _, r := range name {
		switch {
		case !unicode.IsLetter(r) && !unicode.IsDigit(r):
			flush()
			prev = 0
			continue
		case unicode.IsUpper(r) && unicode.IsLower(prev), unicode.IsDigit(r) != unicode.IsDigit(prev) && prev != 0:
			flush()
		}
		word = append(word, r)
		prev = r
	}
	flush()
	return out
}

// Ranks of a name for a role; the lowest wins.
const (
	rankSure = iota
	rankLikely
	rankWeak
	rankNone
)

// rank says how well a column name fits a role.
func (role Role) rank(name string) int {
	if role == RoleID {
		role = RoleNode // in a node table
	}
	w, names := words(name), roleNames[role]
	if len(w) == 0 {
		return rankNone
	}
	if role == RoleSD && anyOf(w, notSDs) || role == RoleValue && anyOf(w, strings.Fields(roleNames[RoleSD].likely)) {
		return rankNone
	}
	if slices.Contains(strings.Fields(names.sure), strings.Join(w, "")) {
		return rankSure
	}
	if role == RoleNode && !slices.Contains(w, "id") {
		w = w[len(w)-1:] // "page_type" is a type, not a page
	}
	switch {
	case !anyOf(w, strings.Fields(names.likely)):
		return rankNone
	case role == RoleNode && (anyOf(w, notNodes) || !slices.Contains(w, "id") && anyOf(w, weakNodes)):
		return rankWeak
	}
	return rankLikely
}

func anyOf(words, of []string) bool {
	return slices.ContainsFunc(words, func(w string) bool { return slices.Contains(of, w) })
}

// endPair is two columns that may be the ends of an edge.
type endPair struct {
	source, target int
	rank           int
	letters        bool // single letters, which may as well be ids: a, b
}

// endPairs returns the best pairs of names for the ends of an edge.
func endPairs(names []string) []endPair {
	split := make([][]string, len(names))
	for i, name := range names {
		split[i] = words(name)
	}
	var found []endPair
	for i := range names {
		for j := range names {
			if rank, letters, ok := endRank(split[i], split[j]); ok && i != j {
				found = append(found, endPair{i, j, rank, letters})
			}
		}
	}
	best := slices.MinFunc(append(found, endPair{rank: rankNone}), func(a, b endPair) int { return a.rank - b.rank })
	return slices.DeleteFunc(found, func(p endPair) bool { return p.rank != best.rank })
}

// endRank compares two names word by word.
func endRank(a, b []string) (rank int, letters, ok bool) {
	if len(a) != len(b) {
		return 0, false, false
	}
	differ := -1
	for k := range a {
		if a[k] == b[k] {
			continue
		}
		if differ >= 0 {
			return 0, false, false
		}
		differ = k
	}
	if differ < 0 || !slices.Contains(endWords, [2]string{a[differ], b[differ]}) {
		return 0, false, false
	}
	rest := slices.Delete(slices.Clone(a), differ, differ+1)
	if len(rest) == 0 && unicode.IsDigit(rune(a[differ][0])) || anyOf(rest, notIDs) {
		return 0, false, false // the row 1,2 names nothing
	}
	letters = len(rest) == 0 && len(a[differ]) == 1
	for _, w := range rest {
		if !slices.Contains(idWords, w) {
			return rankLikely, false, true
		}
	}
	return rankSure, letters, true
}
