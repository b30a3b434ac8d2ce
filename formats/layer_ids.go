package formats

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"grfgp/internal/geometry"
)

// chooseIDs names features: by the property that opts.ID says, by their own ids, by the
// property that looks like an id, or by their coordinates.
func (l *layer) chooseIDs(what string, opts Options) (ids []string, property string, err error) {
	if opts.ID != "" {
		return l.statedIDs(opts.ID)
	}
	if ids := l.ownIDs(); ids != nil {
		return ids, "", nil
	}
	for _, rank := range []func(name string) bool{isID, looksLikeID, isName, looksLikeName} {
		var found []string
		for _, name := range l.properties.Names {
			if rank(name) && l.fit(name) {
				found = append(found, name)
			}
		}
		switch len(found) {
		case 0:
			continue
		case 1:
			l.note("%s are named by the property %s", what, found[0])
			return l.column(found[0]), found[0], nil
		}
		slices.Sort(found)
		e := fail(Ambiguous, fmt.Sprintf("the ids of the %s may be the properties %s", what, strings.Join(found, ", ")))
		for _, name := range found {
			e.Remedies = append(e.Remedies, Remedy{Do: "say which", Option: "ID", Value: name})
		}
		return nil, "", e
	}
	centers := make([]geometry.Point, len(l.features))
	for k, f := range l.features {
		centers[k] = f.shape.Center()
	}
	order := "latitude_longitude"
	if l.planar() {
		order = "x_y"
	}
	l.note("%s have no property that names each of them; they are named by their coordinates: %s", what, order)
	return l.placeNames(centers), "", nil
}

// statedIDs returns the ids that the options name.
func (l *layer) statedIDs(name string) ([]string, string, error) {
	if _, ok := l.properties.column[name]; !ok {
		if ids := l.ownIDs(); strings.EqualFold(name, "id") && ids != nil {
			return ids, "", nil
		}
		return nil, "", fail(Unknown, fmt.Sprintf("features have no property %q that could be their id", name), "the properties are "+
			strings.Join(l.properties.Names, ", "))
	}
	ids := l.column(name)
	if k := slices.Index(ids, ""); k >= 0 {
		return nil, "", failFeature(l.features[k].at, Unknown, fmt.Sprintf("it has no %s, which is to be its id", name),
			"give it one, or name another property")
	}
	return ids, name, nil
}

// ownIDs returns the ids of the features themselves, nil if some have none. A count of the
// features, as programs write it, is no id.
func (l *layer) ownIDs() []string {
	ids := make([]string, len(l.features))
	running := true
	for k, f := range l.features {
		if f.id == "" {
			return nil
		}
		ids[k] = f.id
		n, err := strconv.ParseInt(f.id, 10, 64)
		running = running && err == nil && (n == f.at || n == f.at-1)
	}
	if running || !l.distinct(ids) {
		return nil
	}
	return ids
}

func (l *layer) column(name string) []string {
	out := make([]string, len(l.features))
	for k, f := range l.features {
		out[k] = l.properties.get(f.row, name)
	}
	return out
}

// fit reports whether a property can be the id: every feature has one, and features of
// different shape have different ones.
func (l *layer) fit(name string) bool {
	ids := l.column(name)
	return !slices.Contains(ids, "") && l.distinct(ids)
}

func (l *layer) distinct(ids []string) bool {
	first := make(map[string]int, len(ids))
	for k, id := range ids {
		j, seen := first[id]
		if seen && geometry.Compare(l.features[j].shape, l.features[k].shape) != 0 {
			return false
		}
		if !seen {
			first[id] = k
		}
	}
	return true
}

// isID reports whether a property says that it is the id.
func isID(name string) bool {
	return slices.Contains([]string{"id", "node", "node_id", "geoid", "nodeid", "area_id"}, strings.ToLower(name))
}

// looksLikeID reports whether a property is named as codes and ids of other things are.
func looksLikeID(name string) bool {
	name = strings.TrimRight(strings.ToLower(name), "0123456789")
	if slices.Contains([]string{"code", "fips", "key", "iso_a", "iso", "nuts", "ags", "gid", "uid", "geoid", "site", "station", "sensor",
		"detector", "stop"}, name) {
		return true
	}
	return !slices.Contains([]string{"fid", "objectid", "ogc_fid", "road_id"}, name) &&
		(strings.HasSuffix(name, "_id") || strings.HasSuffix(name, "_code") || strings.HasSuffix(name, "osmid") ||
			strings.HasSuffix(name, "fips"))
}

func isName(name string) bool { return strings.EqualFold(name, "name") }

func looksLikeName(name string) bool {
	name = strings.ToLower(name)
	return slices.Contains([]string{"label", "nom", "nombre", "nome", "namn", "navn"}, name) || strings.HasPrefix(name, "name") ||
		strings.HasSuffix(name, "name")
}
