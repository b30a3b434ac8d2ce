package graphio

import (
	"slices"
	"strings"
	"testing"
)

func TestWords(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"FromNodeId": "from node id", "numeric_id_1": "numeric id 1", "id1": "id 1", "length_m": "length m",
		"Speed (mph)": "speed mph", "u": "u", "GREAT_CIRCLE_RAD": "great circle rad", "": "", "--": "", "Straße": "straße",
	} {
		if got := strings.Join(words(name), " "); got != want {
			t.Errorf("words(%q) = %q, want %q", name, got, want)
		}
	}
}

func TestEndPairs(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		names  string
		source int // -1: none
		target int
	}{
		{"source,target", 0, 1}, {"Source,Target,Weight", 0, 1}, {"src,dst", 0, 1}, {"from,to", 0, 1}, {"u,v", 0, 1},
		{"FromNodeId,ToNodeId", 0, 1}, {"id_1,id_2", 0, 1}, {"numeric_id_1,numeric_id_2", 0, 1}, {"node1,node2", 0, 1},
		{"weight,to,from", 2, 1}, {"station_a,station_b", 0, 1}, {"from,to,from_name,to_name", 0, 1},
		{"from_name,to_name,from_id,to_id", 2, 3}, {"from_stop,to_stop", 0, 1}, {"start_node,end_node", 0, 1},
		{"1,2", -1, -1}, {"lat_1,lat_2", -1, -1}, {"from,from", -1, -1}, {"alice,bob", -1, -1}, {"source,to", -1, -1},
	} {
		pairs := endPairs(strings.Split(c.names, ","))
		switch {
		case c.source < 0 && len(pairs) > 0, c.source >= 0 && len(pairs) != 1:
			t.Errorf("%s: pairs %v", c.names, pairs)
		case c.source >= 0 && (pairs[0].source != c.source || pairs[0].target != c.target):
			t.Errorf("%s: pair %v, want %d and %d", c.names, pairs[0], c.source, c.target)
		}
	}
}

func TestRank(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		role Role
		name string
		want int
	}{
		{RoleWeight, "Weight", rankSure}, {RoleWeight, "edge_weight", rankSure}, {RoleWeight, "n_trips", rankLikely},
		{RoleWeight, "year", rankNone},
		{RoleDistance, "distance", rankSure}, {RoleDistance, "length_m", rankLikely}, {RoleDistance, "great_circle_rad", rankLikely},
		{RoleDistance, "cost", rankSure}, {RoleDistance, "Distance (km)", rankLikely}, {RoleDistance, "travel_time", rankSure},
		{RoleDistance, "metres", rankSure},
		{RoleNode, "node", rankSure}, {RoleNode, "station", rankLikely}, {RoleNode, "paper_id", rankLikely}, {RoleNode, "station_name", rankWeak},
		{RoleNode, "page_type", rankNone},
		{RoleValue, "speed_mph", rankLikely}, {RoleValue, "reading", rankSure}, {RoleValue, "speed_sd", rankNone},
		{RoleSD, "sd", rankSure}, {RoleSD, "speed_sd", rankLikely}, {RoleSD, "noise_variance", rankNone},
		{RoleLat, "Latitude", rankSure}, {RoleLon, "lng", rankSure},
	} {
		if got := c.role.rank(c.name); got != c.want {
			t.Errorf("%s.rank(%q) = %d, want %d", c.role, c.name, got, c.want)
		}
	}
}

// Each role that has names knows its own.
func TestRolesKnowThemselves(t *testing.T) {
	t.Parallel()
	for role, names := range roleNames {
		if !slices.Contains(strings.Fields(names.sure), string(role)) {
			t.Errorf("%s is not a sure name of itself", role)
		}
	}
}

// Of several names, the one that is an id for certain wins; keys, codes and numbers are
// ids only where nothing else is.
func TestNodeNames(t *testing.T) {
	t.Parallel()
	for names, want := range map[string]string{
		"id,key": "id", "key,station": "station", "key,value": "key", "node,id": "node", "station_code,station_id": "station_id",
		"number,sensor": "sensor", "key_id,name": "key_id", "key,code": "key,code", "id,station": "id,station",
	} {
		s := &sheet{names: strings.Split(names, ",")}
		var got []string
		for _, j := range s.best(RoleNode, func(int) bool { return true }) {
			got = append(got, s.names[j])
		}
		if strings.Join(got, ",") != want {
			t.Errorf("%s: ids in %v, want %s", names, got, want)
		}
	}
}
