package grfgp_test

import (
	"bufio"
	"compress/gzip"
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"grfgp"
	"grfgp/gp"
	"grfgp/graph"
	"grfgp/graphio"
)

// dataset returns the path of a data file, or skips the test.
func dataset(t testing.TB, path string) string {
	t.Helper()
	file := filepath.Join("..", "shared", "datasets", filepath.FromSlash(path))
	if _, err := os.Stat(file); err != nil {
		t.Skipf("the data set %s is not here: %v", path, err)
	}
	return file
}

func readGraph(t testing.TB, path string, opts graphio.Options) *graph.Graph {
	t.Helper()
	net, err := graphio.ReadGraph(context.Background(), graphio.File(dataset(t, path)), opts)
	if err != nil {
		t.Fatal(err)
	}
	return net.Graph
}

// table reads the rows of a small gzipped CSV file without its header.
func table(t testing.TB, path string) [][]string {
	t.Helper()
	f, err := os.Open(dataset(t, path))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	var rows [][]string
	for lines := bufio.NewScanner(z); lines.Scan(); {
		rows = append(rows, strings.Split(lines.Text(), ","))
	}
	return rows[1:]
}

func number(t testing.TB, text string) float64 {
	t.Helper()
	v, err := strconv.ParseFloat(text, 64)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// at returns the number of the node with that id.
func at(t testing.TB, g *graph.Graph, id string) int {
	t.Helper()
	i, ok := g.Labels().Lookup([]byte(id))
	if !ok {
		t.Fatalf("no node %q", id)
	}
	return i
}

// task is a graph with values to learn from and others to predict.
type task struct {
	graph       *graph.Graph
	train, test gp.Data
}

// score fits and returns RMSE, mean NLPD of readings, and coverage of 80 and
// 95 % intervals on the test part.
type score struct {
	rmse, nlpd, cover80, cover95 float64
	choice                       grfgp.Choice
}

func (k task) score(t testing.TB, spec grfgp.Spec) score {
	t.Helper()
	m, err := grfgp.Fit(context.Background(), k.graph, k.train, spec)
	if err != nil {
		t.Fatal(err)
	}
	p, err := m.Predict(context.Background(), k.test.Nodes)
	if err != nil {
		t.Fatal(err)
	}
	s, n := score{choice: m.Choice()}, float64(k.test.Len())
	for r, y := range k.test.Y {
		sd := math.Hypot(p.SD[r], m.NoiseSD())
		e := y - p.Mean[r]
		s.rmse += e * e / n
		s.nlpd += (e*e/(2*sd*sd) + math.Log(2*math.Pi*sd*sd)/2) / n
		if math.Abs(e) < 1.2815515655*sd {
			s.cover80 += 1 / n
		}
		if math.Abs(e) < 1.9599639845*sd {
			s.cover95 += 1 / n
		}
	}
	s.rmse = math.Sqrt(s.rmse)
	return s
}

// trafficTasks are the paper's five splits.
func trafficTasks(t testing.TB) []task {
	g := readGraph(t, "traffic_sanjose/road_edges.csv.gz", graphio.Options{})
	speed := map[string]float64{}
	for _, row := range table(t, "traffic_sanjose/sensor_speeds.csv.gz") {
		speed[row[0]] = number(t, row[2])
	}
	tasks := make([]task, 5)
	for _, row := range table(t, "traffic_sanjose/splits.csv.gz") {
		k := &tasks[int(number(t, row[0]))-1111]
		k.graph = g
		part := &k.train
		if row[1] == "test" {
			part = &k.test
		}
		part.Nodes = append(part.Nodes, at(t, g, row[2]))
		part.Y = append(part.Y, speed[row[2]])
	}
	return tasks
}

// Mean over the five splits of San Jose, trained on the training nodes alone, for
// each way to represent the kernel.
func TestTraffic(t *testing.T) {
	tasks := trafficTasks(t)
	sdOf := func(d gp.Data) float64 {
		mean, square := 0.0, 0.0
		for _, y := range d.Y {
			mean += y / float64(d.Len())
			square += y * y / float64(d.Len())
		}
		return math.Sqrt(square - mean*mean)
	}
	for name, spec := range map[string]grfgp.Spec{
		"auto":          {},
		"dense":         {Family: "diffusion", Method: "dense"},
		"series":        {Family: "diffusion", Method: "series"},
		"grf diffusion": {Family: "diffusion", Method: "grf", Walks: 1000, Hops: 60},
		"grf free":      {Family: "free", Method: "grf", Walks: 1000, Hops: 10},
	} {
		var rmse, nlpd, c80, c95 float64
		for _, k := range tasks {
			s := k.score(t, spec)
			rmse += s.rmse / 5
			nlpd += (s.nlpd - math.Log(sdOf(k.train))) / 5 // of standardised values, as in the paper
			c80 += s.cover80 / 5
			c95 += s.cover95 / 5
			t.Logf("%s: %.3f %+v", name, s.rmse, s.choice.Fit)
		}
		fmt.Printf("%s: RMSE %.3f NLPD %.3f coverage %.3f %.3f\n", name, rmse, nlpd, c80, c95)
	}
}
