package dataset

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"grfgp/internal/testkit"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"gonum.org/v1/gonum/stat"
)

// shared is the store beside the repository; without it the test is skipped.
func shared(t testing.TB) Store {
	t.Helper()
	dir := filepath.Join("..", "..", "..", "..", "shared", "datasets")
	if _, err := os.Stat(dir); err != nil {
		t.Skipf("no data beside the repository: %v", err)
	}
	return Store{Roots: []string{dir}}
}

func TestNames(t *testing.T) {
	seen := map[string]bool{}
	for _, set := range All() {
		if got, err := Named(set.Name); err != nil || got.Title != set.Title || seen[set.Name] {
			t.Errorf("%s: %v", set.Name, err)
		}
		seen[set.Name] = true
		if _, err := Named(set.StandIn); set.StandIn != "" && err != nil {
			t.Errorf("%s replaces an unknown set: %v", set.Name, err)
		}
		for _, form := range set.Forms {
			if form.URL != "" && (len(form.Files) != 1 || !strings.HasPrefix(form.URL, "https://")) {
				t.Errorf("%s: %+v is no download", set.Name, form)
			}
			for _, f := range form.Files {
				if (f.SHA256 == "") != (form.URL != "") || f.SHA256 != "" && len(f.SHA256) != 64 {
					t.Errorf("%s: the sum of %s is %q", set.Name, f.Path, f.SHA256)
				}
			}
		}
	}
	if _, err := Named("karate"); !errors.Is(err, ErrUnknown) || !strings.Contains(err.Error(), "enron") {
		t.Errorf("%v", err)
	}
}

func TestDefault(t *testing.T) {
	t.Setenv(Variable, "/some/data")
	t.Setenv("HOME", "/home/somebody")
	t.Setenv("XDG_CACHE_HOME", "")
	if s := Default(); len(s.Roots) != 2 || s.Roots[0] != "/some/data" || s.Roots[1] != s.Cache || filepath.Base(s.Cache) != "grfgp" {
		t.Errorf("%+v", s)
	}
}

// The error names the missing files of an incomplete set, and folders that are files.
func TestMissing(t *testing.T) {
	dir := t.TempDir()
	set, err := Named("traffic")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{trafficEdges, trafficNodes} {
		file := filepath.Join(dir, filepath.FromSlash(name))
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, nil, 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	for root, want := range map[string]string{
		dir:                              dir + " lacks sensor_speeds.csv.gz, splits.csv.gz, reference_exact_diffusion.csv",
		filepath.Join(dir, "none"):       "none (no such folder)",
		filepath.Join(dir, trafficEdges): "road_edges.csv.gz (not a folder)",
	} {
		if _, err := (Store{Roots: []string{root}}).Where(set); !errors.Is(err, ErrMissing) || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

// Errors about damaged files name them and say how to replace them.
func TestDamagedSets(t *testing.T) {
	data := shared(t).Roots[0]
	for name, c := range map[string]struct {
		file string
		load func(Store) error
	}{
		"cora":    {"cora/cora_labels.csv.gz", func(s Store) error { _, err := s.Cora(context.Background()); return err }},
		"traffic": {trafficSpeeds, func(s Store) error { _, err := s.Traffic(context.Background()); return err }},
		"roads":   {trafficEdges, func(s Store) error { _, err := s.Traffic(context.Background()); return err }},
		"wind":    {windTrack, func(s Store) error { _, err := s.Wind(context.Background()); return err }},
	} {
		dir := t.TempDir()
		if err := os.CopyFS(filepath.Join(dir, filepath.Dir(c.file)), os.DirFS(filepath.Join(data, filepath.Dir(c.file)))); err != nil {
			t.Fatal(err)
		}
		bad := filepath.Join(dir, filepath.FromSlash(c.file))
		if err := errors.Join(os.Chmod(filepath.Dir(bad), 0o755), os.Remove(bad), os.WriteFile(bad, []byte("hello"), 0o644)); err != nil {
			t.Fatal(err)
		}
		err := c.load(Store{Roots: []string{dir}})
		if !errors.Is(err, ErrDamaged) || !strings.Contains(err.Error(), bad) || !strings.Contains(err.Error(), "downloads it again") &&
			!strings.Contains(err.Error(), "prepare it again") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Checksums, nodes and edges are those of the catalogue.
func TestVerify(t *testing.T) {
	s := shared(t)
	for _, set := range All() {
		t.Run(set.Name, func(t *testing.T) {
			if !testkit.IsFull() && set.Edges > 1e6 {
				t.Skip("a million edges, in -short")
			}
			v, err := s.Verify(context.Background(), set)
			if errors.Is(err, ErrMissing) && (set.Name == "twitch" || set.Name == "youtube") {
				t.Skip(err)
			}
			if err != nil {
				t.Fatal(err)
			}
			if v.Degree != set.Degree {
				t.Errorf("highest degree %d, want %d", v.Degree, set.Degree)
			}
			for _, f := range v.Files {
				if f.Basis != BasisStated {
					t.Errorf("%+v", f)
				}
			}
		})
	}
}

func TestCora(t *testing.T) {
	s := shared(t)
	c, err := s.Cora(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	// Nodes agree with the published table of the largest component.
	err = eachRow(filepath.Join(s.Roots[0], "cora", "cora_lcc_nodes.csv.gz"), "node,paper_id,class,label", func(cells []string) error {
		i, err := nodeBelow(cells[0], c.Graph.Len())
		if err != nil {
			return err
		}
		if c.Graph.IDs().At(i) != cells[1] || strconv.Itoa(c.Class[i]) != cells[2] || c.Classes[c.Class[i]] != cells[3] {
			return fmt.Errorf("node %d is paper %s of class %d", i, c.Graph.IDs().At(i), c.Class[i])
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
	train, test := c.AuthorsSplit()
	if all := slices.Sorted(slices.Values(slices.Concat(train, test))); len(train) != 1988 || len(test) != 497 ||
		len(slices.Compact(all)) != 2485 {
		t.Errorf("%d to learn from and %d to test", len(train), len(test))
	}

	// The downloaded archive gives the same.
	cites, err := os.Open(filepath.Join(s.Roots[0], "cora", "cora.cites.gz"))
	if err != nil {
		t.Fatal(err)
	}
	defer cites.Close()
	z, err := gzip.NewReader(cites)
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	var content bytes.Buffer
	if err := eachRow(filepath.Join(s.Roots[0], "cora", "cora_labels.csv.gz"), "paper_id,label", func(cells []string) error {
		_, err := fmt.Fprintf(&content, "%s\t0\t1\t%s\n", cells[0], cells[1])
		return err
	}); err != nil {
		t.Fatal(err)
	}
	own := newStore(t)
	pack(t, filepath.Join(own.Cache, "cora", "cora.tgz"),
		map[string]string{"cora/README": "words", "cora/cora.cites": string(text), "cora/cora.content": content.String()})
	d, err := own.Cora(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if d.Graph.Hash() != c.Graph.Hash() || !slices.Equal(d.Class, c.Class) || !slices.Equal(d.Classes, c.Classes) {
		t.Error("the archive gives another graph or other classes")
	}
	set, err := Named("cora")
	if err != nil {
		t.Fatal(err)
	}
	if v, err := own.Verify(context.Background(), set); err != nil || v.Files[0].Basis != BasisNone {
		t.Errorf("an archive put there by hand: %+v, %v", v, err)
	}
}

// pack writes a .tgz or a .zip.
func pack(t testing.TB, file string, members map[string]string) {
	t.Helper()
	var b bytes.Buffer
	var check []error
	if strings.HasSuffix(file, ".zip") {
		z := zip.NewWriter(&b)
		for name, text := range members {
			w, err := z.Create(name)
			_, bad := io.WriteString(w, text)
			check = append(check, err, bad)
		}
		check = append(check, z.Close())
	} else {
		z := gzip.NewWriter(&b)
		w := tar.NewWriter(z)
		for name, text := range members {
			check = append(check, w.WriteHeader(&tar.Header{Name: name, Mode: 0o644, Size: int64(len(text))}))
			_, err := io.WriteString(w, text)
			check = append(check, err)
		}
		check = append(check, w.Close(), z.Close())
	}
	check = append(check, os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, b.Bytes(), 0o644))
	if err := errors.Join(check...); err != nil {
		t.Fatal(err)
	}
}

// Small files in the publishers' forms: Twitch is a table in an archive, YouTube is tab
// separated with comments and gaps between ids.
func TestOriginalForms(t *testing.T) {
	const twitch = "numeric_id_1,numeric_id_2\n3,0\n0,1\n1,2\n2,3\n10,2\n"
	for name, c := range map[string]struct {
		member string
		labels string
		write  func(file string)
	}{
		"twitch": {"large_twitch_edges.csv", "[0 1 2 3 10]", func(file string) {
			pack(t, file, map[string]string{"twitch_gamers/large_twitch_edges.csv": twitch, "twitch_gamers/large_twitch_features.csv": "views\n1\n",
				"README.txt": "words"})
		}},
		"youtube": {"", "[1 4 7 10 13]", func(file string) {
			if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, ring(t, 5), 0o644)); err != nil {
				t.Fatal(err)
			}
		}},
		"facebook": {"musae_facebook_edges.csv", "[0 1 2 3 4]", func(file string) {
			pack(t, file, map[string]string{"facebook_large/musae_facebook_edges.csv": "id_1,id_2\n4,0\n0,1\n1,2\n2,2\n2,3\n3,4\n",
				"facebook_large/musae_facebook_target.csv": "id,page_name\n"})
		}},
		"enron": {"", "[0 1 2 3 4]", func(file string) { // both directions
			var b bytes.Buffer
			z := gzip.NewWriter(&b)
			fmt.Fprint(z, "# Directed graph (each unordered pair of nodes is saved once): Email-Enron.txt \n# Email communication network from "+
				"Enron\n# Nodes: 5 Edges: 10\n# FromNodeId\tToNodeId\n")
			for i := range 5 {
				fmt.Fprintf(z, "%d\t%d\n%d\t%d\n", i, (i+1)%5, (i+1)%5, i)
			}
			if err := errors.Join(z.Close(), os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, b.Bytes(), 0o644)); err != nil {
				t.Fatal(err)
			}
		}},
	} {
		t.Run(name, func(t *testing.T) {
			set, err := Named(name)
			if err != nil {
				t.Fatal(err)
			}
			form, _ := set.Download()
			s := newStore(t)
			c.write(filepath.Join(s.Cache, filepath.FromSlash(form.Files[0].Path)))
			if _, err := s.Graph(context.Background(), set); !errors.Is(err, ErrDamaged) || !strings.Contains(err.Error(), "5 nodes and 5 edges") {
				t.Errorf("a small file passes for the real one: %v", err)
			}
			set.Nodes, set.Edges = 5, 5
			g, err := s.Graph(context.Background(), set)
			if err != nil {
				t.Fatal(err)
			}
			labels := make([]string, g.Len())
			for i := range labels {
				labels[i] = g.IDs().At(i)
			}
			if got := fmt.Sprint(labels); got != c.labels {
				t.Errorf("nodes %s, want %s", got, c.labels)
			}
			for i, strength := range g.Strengths() {
				if float64(g.Degrees()[i]) != strength {
					t.Errorf("node %d has degree %d and strength %v: repeated pairs count once", i, g.Degrees()[i], strength)
				}
			}
		})
	}
}

func TestArchivesThatLackSomething(t *testing.T) {
	set, err := Named("twitch")
	if err != nil {
		t.Fatal(err)
	}
	s := newStore(t)
	file := filepath.Join(s.Cache, "snap", "twitch_gamers.zip")
	pack(t, file, map[string]string{"README.txt": "words"})
	if _, err := s.Graph(context.Background(), set); !errors.Is(err, ErrDamaged) ||
		!strings.Contains(err.Error(), "no member large_twitch_edges.csv") {
		t.Errorf("%v", err)
	}
	if err := os.WriteFile(file, []byte("no archive"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Graph(context.Background(), set); !errors.Is(err, ErrDamaged) {
		t.Errorf("%v", err)
	}
	pack(t, filepath.Join(s.Cache, "cora", "cora.tgz"), map[string]string{"cora/cora.cites": "1\t2\n"})
	if _, err := s.Cora(context.Background()); !errors.Is(err, ErrDamaged) || !strings.Contains(err.Error(), "lacks") {
		t.Errorf("%v", err)
	}
}

// Mean, standard deviation and range of speeds are those of the description of the data.
func TestTraffic(t *testing.T) {
	d, err := shared(t).Traffic(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if len(d.Speed) != 325 || len(d.Splits) != 5 || len(d.Reference) != 6 {
		t.Fatalf("%d speeds, %d splits, %d references", len(d.Speed), len(d.Splits), len(d.Reference))
	}
	for k, s := range d.Splits {
		nodes := slices.Sorted(slices.Values(slices.Concat(s.Train, s.Test)))
		if s.Seed != 1111+k || len(s.Train) != 250 || len(s.Test) != 75 || len(slices.Compact(nodes)) != 325 {
			t.Errorf("split %d: seed %d, %d and %d", k, s.Seed, len(s.Train), len(s.Test))
		}
	}
	speeds := make([]float64, 0, 325)
	for _, i := range slices.Concat(d.Splits[0].Train, d.Splits[0].Test) {
		speeds = append(speeds, d.Speed[i])
	}
	if mean, sd := stat.PopMeanStdDev(speeds, nil); math.Abs(mean-51.26769) > 1e-5 || math.Abs(sd-17.10190) > 1e-5 {
		t.Errorf("speeds %v ± %v", mean, sd)
	}
	for i, lat := range d.Lat {
		if lat < 37.210 || lat > 37.450 || d.Lon[i] < -122.10 || d.Lon[i] > -121.80 {
			t.Errorf("node %d lies at %v, %v", i, lat, d.Lon[i])
		}
	}
	if r := d.Reference[5]; r.Beta != 109.792 || r.RMSE != 12.581959698 {
		t.Errorf("%+v", r)
	}
}

func TestWind(t *testing.T) {
	d, err := shared(t).Wind(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		level         int
		mean, sd, max float64
		lat, lon      float64
	}{
		{1000, 4.09629, 2.86023, 13.14741, 15, 265},
		{800, 5.71677, 4.05951, 21.73692, -52.5, 287.5},
		{500, 9.35884, 7.82437, 40.47691, 32.5, 182.5},
	} {
		speed, err := d.Speed(c.level)
		if err != nil {
			t.Fatal(err)
		}
		mean, sd := stat.PopMeanStdDev(speed, nil)
		top := slices.Index(speed, slices.Max(speed))
		if math.Abs(mean-c.mean) > 1e-5 || math.Abs(sd-c.sd) > 1e-5 || math.Abs(speed[top]-c.max) > 1e-5 || d.Lat[top] != c.lat ||
			d.Lon[top] != c.lon {
			t.Errorf("%d hPa: %v ± %v, most %v at %v, %v", c.level, mean, sd, speed[top], d.Lat[top], d.Lon[top])
		}
	}
	if _, err := d.Speed(900); !errors.Is(err, ErrUnknown) {
		t.Errorf("900 hPa: %v", err)
	}
	if train, test := d.Split(); len(train) != 1424 || len(test) != 9088 {
		t.Errorf("%d under the track, %d elsewhere", len(train), len(test))
	}
	far, err := d.Distances(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	// On the equator, neighbours to the east and north are 2.5 degrees apart.
	i, arc := 36*WindColumns+7, 2.5*math.Pi/180
	cols, weights := far.Adjacency().Row(i)
	even, ones := d.Graph.Adjacency().Row(i)
	for k := range weights {
		if math.Abs(weights[k]-arc) > 1e-9 || ones[k] != 1 || cols[k] != even[k] {
			t.Errorf("neighbour %d of the equator: %v, %v", cols[k], weights[k], ones[k])
		}
	}
}

func TestTablesThatAreDamaged(t *testing.T) {
	file := filepath.Join(t.TempDir(), "t.csv")
	for text, want := range map[string]string{
		"":            "EOF",
		"a,b\n":       `columns "a,b"`,
		"node\n7,8\n": "wrong number of fields",
		"node\nx\n":   "line 2",
		"node\n9\n":   "no node 9",
	} {
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		err := eachRow(file, "node", func(cells []string) error {
			_, err := nodeBelow(cells[0], 9)
			return err
		})
		if !errors.Is(err, ErrDamaged) || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
	var bad *csv.ParseError
	if err := os.WriteFile(file, []byte("node\n\"1\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := eachRow(file, "node", func([]string) error { return nil }); !errors.As(err, &bad) {
		t.Errorf("%v", err)
	}
}

// Values, classes and covariates are those that the description of the data states.
func TestKnown(t *testing.T) {
	s := shared(t)
	for name, c := range map[string]struct {
		nodes, columns, classes int
		sum                     float64 // of all values
	}{
		"anaheim": {nodes: 914, columns: 5}, "chicago": {nodes: 2950, columns: 5},
		"streamers-english": {nodes: 7126, columns: 3}, "streamers-spanish": {nodes: 4648, columns: 3},
		"cora-words": {nodes: 2708, columns: 1, classes: 7}, "lip-cancer": {nodes: 56, columns: 2, sum: 536},
	} {
		k, err := s.Known(context.Background(), name)
		if err != nil {
			t.Fatal(name, err)
		}
		if k.Graph.Len() != c.nodes || len(k.Columns) != c.columns || k.Classes != c.classes || len(k.Value)+len(k.Class) != c.nodes {
			t.Errorf("%s: %d nodes, %d columns, %d classes, %d values", name, k.Graph.Len(), len(k.Columns), k.Classes, len(k.Value)+len(k.Class))
		}
		sum := 0.0
		for _, v := range k.Value {
			sum += v
		}
		if c.sum > 0 && sum != c.sum {
			t.Errorf("%s: values add up to %v, want %v", name, sum, c.sum)
		}
		for _, column := range k.Columns {
			if column.Len() != c.nodes {
				t.Errorf("%s: %s has %d values", name, column.Name, column.Len())
			}
		}
		// One of the 1,433 words of the vocabulary is in no paper.
		if words := k.Columns[len(k.Columns)-1]; name == "cora-words" && (len(words.Levels) != 1432 || len(words.Items) != 49216) {
			t.Errorf("%d words, %d pairs", len(words.Levels), len(words.Items))
		}
	}
	if _, err := s.Known(context.Background(), "enron"); !errors.Is(err, ErrUnknown) {
		t.Errorf("covariates of enron: %v", err)
	}
}
