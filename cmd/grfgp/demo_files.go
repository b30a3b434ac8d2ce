package main

import (
	"bytes"
	"cmp"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"grfgp/graph"
	"grfgp/internal/city"
	"grfgp/internal/cli"
	"grfgp/internal/examples"
)

// demoFile is a CSV file that the demo leaves for its user.
type demoFile struct {
	name, about string
	rows        [][]string // the first is the header
}

// demoFiles returns the files that the README and the tutorials use.
func demoFiles(seed uint64) []demoFile {
	return slices.Concat(cityFiles(seed), areaFiles(seed), paperFiles(seed))
}

func cityFiles(seed uint64) []demoFile {
	c := city.New(seed)
	id := c.Graph.IDs().At
	roads := demoFile{"roads.csv", "streets of the city", [][]string{{"from", "to"}}}
	places := demoFile{"places.csv", "places of its junctions, in metres, and kinds of road", [][]string{{"node", "x", "y", "road"}}}
	truth := demoFile{"truth.csv", "the true speed at every junction, in km/h", [][]string{{"node", "speed"}}}
	for _, i := range byID(c.Graph) {
		cols, _ := c.Graph.Adjacency().Row(i)
		var to []string
		for _, j := range cols {
			if id(int(j)) > id(i) {
				to = append(to, id(int(j)))
			}
		}
		slices.Sort(to)
		for _, other := range to {
			roads.rows = append(roads.rows, []string{id(i), other})
		}
		places.rows = append(places.rows, []string{id(i), fixed(c.X[i], 0), fixed(c.Y[i], 0), roadKind(id(i))})
		truth.rows = append(truth.rows, []string{id(i), fixed(c.Truth[i], 1)})
	}
	speeds := demoFile{"speeds.csv", "measured speeds at the junctions with a sensor", [][]string{{"node", "speed"}}}
	for k, i := range c.Sensors {
		speeds.rows = append(speeds.rows, []string{id(i), fixed(c.Readings[k], 1)})
	}
	slices.SortFunc(speeds.rows[1:], func(a, b []string) int { return cmp.Compare(a[0], b[0]) })
	return []demoFile{roads, places, speeds, truth}
}

// byID returns the nodes of a graph, sorted by their ids.
func byID(g *graph.Graph) []int {
	return slices.SortedFunc(slices.Values(g.Nodes()), func(i, j int) int { return cmp.Compare(g.IDs().At(i), g.IDs().At(j)) })
}

// roadKind tells the kind of road from the first letter of a junction's id.
func roadKind(id string) string {
	switch id[0] {
	case 'M':
		return "motorway"
	case 'R':
		return "ramp"
	}
	return "street"
}

func areaFiles(seed uint64) []demoFile {
	a := examples.NewAreas(seed)
	borders := demoFile{"borders.csv", "pairs of neighbouring areas of a country", [][]string{{"from", "to"}}}
	for _, b := range a.Borders {
		borders.rows = append(borders.rows, []string{a.IDs[b[0]], a.IDs[b[1]]})
	}
	areas := demoFile{"areas.csv", "centres of the areas, in km, and the percentage of people who work outdoors",
		[][]string{{"area", "x", "y", "farming"}}}
	cases := demoFile{"cases.csv", "cases of a disease in the areas that have reported, and the number to expect",
		[][]string{{"area", "cases", "expected"}}}
	for i, id := range a.IDs {
		areas.rows = append(areas.rows, []string{id, fixed(a.X[i], 1), fixed(a.Y[i], 1), fixed(a.Farming[i], 1)})
		if a.Cases[i] >= 0 {
			cases.rows = append(cases.rows, []string{id, strconv.Itoa(a.Cases[i]), fixed(a.Expected[i], 1)})
		}
	}
	return []demoFile{borders, areas, cases}
}

func paperFiles(seed uint64) []demoFile {
	p := examples.NewPapers(seed)
	citations := demoFile{"citations.csv", "papers that cite each other", [][]string{{"citing", "cited"}}}
	for _, c := range p.Citations {
		citations.rows = append(citations.rows, []string{p.IDs[c[0]], p.IDs[c[1]]})
	}
	topics := demoFile{"topics.csv", "the topics of some papers", [][]string{{"paper", "topic"}}}
	for _, i := range p.Known {
		topics.rows = append(topics.rows, []string{p.IDs[i], p.Topic[i]})
	}
	return []demoFile{citations, topics}
}

// fixed writes a number with the given number of decimals.
func fixed(v float64, decimals int) string { return strconv.FormatFloat(v, 'f', decimals, 64) }

// leaveFiles writes the files of the demo into a folder. A file of another content is
// somebody's work, and is not replaced.
func leaveFiles(kept *cli.Kept, dir string, files []demoFile) error {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return cli.Usagef("--dir %s: %w; name another folder", dir, err)
	}
	var missing []demoFile
	for _, f := range files {
		path := filepath.Join(dir, f.name)
		switch old, err := os.ReadFile(path); {
		case errors.Is(err, fs.ErrNotExist):
			missing = append(missing, f)
		case err != nil:
			return cli.Usagef("--dir %s: %w; name another folder", dir, err)
		case !bytes.Equal(old, f.text()):
			return cli.Usagef("--dir %s: %s has other contents than the demo's, and is not replaced; name another folder", dir, path)
		}
	}
	for _, f := range missing {
		write := func(w io.Writer) error { _, err := w.Write(f.text()); return err }
		if err := kept.Write(filepath.Join(dir, f.name), write); err != nil {
			return err
		}
	}
	return nil
}

// text returns the file as CSV.
func (f demoFile) text() []byte {
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	if err := w.WriteAll(f.rows); err != nil {
		panic(fmt.Sprintf("%s: %v", f.name, err)) // a buffer does not fail
	}
	return b.Bytes()
}
