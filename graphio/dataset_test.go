package graphio

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"

	"grfgp/internal/testkit"
)

// dataset returns the path of a public data file, which is not part of the
// repository.
func dataset(t *testing.T, name string) Source {
	t.Helper()
	return File(testkit.Data(t, name))
}

func mustReadGraph(t *testing.T, src Source, opts Options) *Network {
	t.Helper()
	n, err := ReadGraph(context.Background(), src, opts)
	if err != nil {
		t.Fatal(err)
	}
	if !n.Report.Ledger.Balanced() {
		t.Errorf("%s: %v does not add up", src.Name(), n.Report.Ledger)
	}
	return n
}

// The counts are those that the data sets' README states.
func TestDatasetEdges(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		file         string
		opts         Options
		nodes, edges int
		ledger       string
	}{
		{"cora/cora.cites.gz", Options{}, 2708, 5278, "5429 lines = 5278 edges + 151 repeats"},
		{"cora/cora_lcc_edges.csv.gz", Options{}, 2485, 5069, "5070 lines = 1 header + 5069 edges"},
		{"traffic_sanjose/road_edges.csv.gz", Options{}, 1016, 1172, "1174 lines = 1 header + 1172 edges + 1 repeat"},
		{"wind_era5/grid_edges.csv.gz", Options{Weights: WeightsDistance}, 10512, 20880, "20881 lines = 1 header + 20880 edges"},
		{"snap/email-Enron.edges.csv.gz", Options{}, 36692, 183831, "183832 lines = 1 header + 183831 edges"},
		{"snap/musae_facebook_edges.csv.gz", Options{}, 22470, 170823, "171003 lines = 1 header + 170823 edges + 179 self loops"},
		{"snap_substitutes/ego-Twitter_undirected.edges.csv.gz", Options{}, 81306, 1342296, "1342297 lines = 1 header + 1342296 edges"},
		{"snap_substitutes/web-NotreDame_undirected.edges.csv.gz", Options{}, 325729, 1090108, "1090109 lines = 1 header + 1090108 edges"},
	} {
		t.Run(c.file, func(t *testing.T) {
			if c.edges > 1_000_000 {
				testkit.Full(t)
			}
			n := mustReadGraph(t, dataset(t, c.file), c.opts)
			if n.Graph.Len() != c.nodes || n.Graph.Edges() != c.edges {
				t.Errorf("%d nodes and %d edges, want %d and %d", n.Graph.Len(), n.Graph.Edges(), c.nodes, c.edges)
			}
			if got := n.Report.Ledger.String(); got != c.ledger {
				t.Errorf("ledger %q, want %q", got, c.ledger)
			}
			if n.Report.Compression != "gzip" {
				t.Errorf("compression %q", n.Report.Compression)
			}
		})
	}
}

// The two weights of the parallel pair (123, 606) add up, and the published
// weights are mean length over length, which is what distances become.
func TestTrafficWeights(t *testing.T) {
	t.Parallel()
	src := dataset(t, "traffic_sanjose/road_edges.csv.gz")
	given := mustReadGraph(t, src, Options{})
	made := mustReadGraph(t, src, Options{Weights: WeightsDistance})
	if !strings.Contains(strings.Join(warnings(given.Report), "\n"), "length_m looks like a distance and is not used") {
		t.Errorf("warnings %q say nothing about length_m", given.Report.Warnings)
	}
	rowPtr, col, want := asInput(given.Graph).Adjacency().Raw()
	_, _, got := asInput(made.Graph).Adjacency().Raw()
	for p := range want {
		if math.Abs(got[p]-want[p]) > 1e-12*want[p] {
			t.Fatalf("entry %d (column %d of %d rows): weight %v made of the length, %v given", p, col[p], len(rowPtr)-1, got[p], want[p])
		}
	}
}

func TestDatasetTables(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	t.Run("traffic", func(t *testing.T) {
		nodes, err := ReadNodes(ctx, dataset(t, "traffic_sanjose/road_nodes.csv.gz"), Options{})
		if err != nil {
			t.Fatal(err)
		}
		if nodes.IDs.Len() != 1016 || len(nodes.Lat) != 1016 || len(nodes.Lon) != 1016 || nodes.Name != nil {
			t.Errorf("%d nodes, %d lat, %d lon, %d labels", nodes.IDs.Len(), len(nodes.Lat), len(nodes.Lon), len(nodes.Name))
		}
		network := mustReadGraph(t, dataset(t, "traffic_sanjose/road_edges.csv.gz"), Options{Nodes: nodes})
		if network.Graph.Len() != 1016 || network.Nodes.Lat[network.Graph.InputOrder()[5]] != nodes.Lat[5] {
			t.Errorf("%d nodes", network.Graph.Len())
		}
		m, err := ReadMeasurements(ctx, dataset(t, "traffic_sanjose/sensor_speeds.csv.gz"), network.Graph, Options{})
		if err != nil {
			t.Fatal(err)
		}
		mean, sq := 0.0, 0.0
		for _, v := range m.Values {
			mean += v / 325
			sq += v * v / 325
		}
		if len(m.Nodes) != 325 || math.Abs(mean-51.26769) > 1e-5 || math.Abs(math.Sqrt(sq-mean*mean)-17.10190) > 1e-4 {
			t.Errorf("%d speeds, mean %v, sd %v", len(m.Nodes), mean, math.Sqrt(sq-mean*mean))
		}
		if got := m.Report.Ledger.String(); got != "326 lines = 1 header + 325 rows" {
			t.Errorf("ledger %q", got)
		}
	})
	t.Run("nodes", func(t *testing.T) {
		for _, c := range []struct {
			file  string
			nodes int
			label string // of the first node
		}{
			{"cora/cora_labels.csv.gz", 2708, "Neural_Networks"},
			{"cora/cora_lcc_nodes.csv.gz", 2485, "Genetic_Algorithms"},
			{"snap/musae_facebook_page_type.csv.gz", 22470, "tvshow"},
			{"wind_era5/aeolus_train_nodes.csv.gz", 1424, ""},
			{"wind_era5/era5_wind_2010-01_2.5deg.csv.gz", 10512, ""},
		} {
			n, err := ReadNodes(ctx, dataset(t, c.file), Options{})
			if err != nil {
				t.Error(err)
				continue
			}
			if n.IDs.Len() != c.nodes {
				t.Errorf("%s: %d nodes, want %d", c.file, n.IDs.Len(), c.nodes)
			}
			if c.label != "" && (n.Name == nil || n.Name[0] != c.label) {
				t.Errorf("%s: labels %v…, want %s", c.file, n.Name[:min(3, len(n.Name))], c.label)
			}
		}
	})
	t.Run("wind", func(t *testing.T) {
		_, err := ReadGraph(ctx, dataset(t, "wind_era5/grid_edges.csv.gz"), Options{})
		if !errors.Is(err, ErrUsage) || !strings.Contains(err.Error(), "great_circle_rad looks like a distance") {
			t.Errorf("a distance was taken for a weight: %v", err)
		}
		g := mustReadGraph(t, dataset(t, "wind_era5/grid_edges.csv.gz"), Options{Weights: WeightsIgnore}).Graph
		wind := dataset(t, "wind_era5/era5_wind_2010-01_2.5deg.csv.gz")
		if _, err := ReadMeasurements(ctx, wind, g, Options{}); !errors.Is(err, ErrUsage) ||
			!strings.Contains(err.Error(), "u_1000hPa, v_1000hPa") {
			t.Errorf("six columns of values were no question: %v", err)
		}
		m, err := ReadMeasurements(ctx, wind, g, Options{Columns: map[Role]string{RoleValue: "u_500hPa"}})
		if err != nil || len(m.Values) != 10512 || m.Values[0] != 0.0002565384 {
			t.Errorf("u_500hPa: %v", err)
		}
	})
	t.Run("lip cancer", func(t *testing.T) {
		g := mustReadGraph(t, dataset(t, "lip_cancer/edges.csv"), Options{}).Graph
		districts := dataset(t, "lip_cancer/districts.csv")
		m, err := ReadMeasurements(ctx, districts, g, Options{Columns: map[Role]string{RoleExposure: "expected"}})
		if err != nil {
			t.Fatal(err)
		}
		cases, expected := 0.0, 0.0
		for k, v := range m.Values {
			cases += v
			expected += m.Exposure[k]
		}
		if len(m.Nodes) != 56 || cases != 536 || math.Abs(expected-536.2) > 0.1 {
			t.Errorf("%d districts, %v cases, %v expected", len(m.Nodes), cases, expected)
		}
		// Without a word about it, the column is offered and the counts are recognised.
		m, err = ReadMeasurements(ctx, districts, g, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if kind, _ := m.Kind(); kind != KindCount || !strings.Contains(strings.Join(warnings(m.Report), " "),
			`column "expected" looks like an exposure`) {
			t.Errorf("kind %q, warnings %q", kind, m.Report.Warnings)
		}
	})
	// In a table with two columns of ids, the name says one and the graph the other.
	t.Run("cora", func(t *testing.T) {
		g := mustReadGraph(t, dataset(t, "cora/cora.cites.gz"), Options{}).Graph
		_, err := ReadMeasurements(ctx, dataset(t, "cora/cora_lcc_nodes.csv.gz"), g, Options{Columns: map[Role]string{RoleValue: "class"}})
		if !errors.Is(err, ErrUsage) || !strings.Contains(err.Error(), `Options.Columns["node"] = "paper_id"`) {
			t.Errorf("node or paper_id was no question: %v", err)
		}
	})
}
