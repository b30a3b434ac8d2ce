package grfgp_test

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"iter"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"grfgp"
	"grfgp/gp"
	"grfgp/graph"
	"grfgp/graphio"
	"grfgp/internal/city"
	"grfgp/internal/layout"
	"grfgp/internal/rng"
	"grfgp/internal/testkit"
	"grfgp/kernel"
	"grfgp/lab/objective"
	"grfgp/lab/plot"
	"grfgp/walk"
)

// The pictures of docs/multiscale.md:
//
//	GRFGP_STUDY=1 go test -run TestMultiscalePictures .
func TestMultiscalePictures(t *testing.T) {
	t.Parallel()
	testkit.Study(t)
	t.Run("grid", gridPicture)
	t.Run("roads", roadsPicture)
	t.Run("hubs", hubsPicture)
	t.Run("peaks", peaksPicture)
}

// scalesOf returns the kernel on a graph and those that are coarser, ten hops on
// each, and the sizes of the latter.
func scalesOf(t testing.TB, g *graph.Graph) (*kernel.Multiscale, []int) {
	t.Helper()
	sample := func(g *graph.Graph) *walk.Features {
		opts := walk.Default()
		opts.MaxLen, opts.Scale = 10, g.WalkScale(graph.NormalizedAdjacency)
		f, err := walk.Sample(context.Background(), g.Normalized(graph.NormalizedAdjacency), opts)
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	fine, err := kernel.NewGRF(sample(g), kernel.Diffusion{})
	if err != nil {
		t.Fatal(err)
	}
	var scales []kernel.Scale
	for _, l := range g.Coarsen(max(16, min(150, g.Len()/8))) {
		scales = append(scales, kernel.Scale{Prolong: l.Prolong, Features: sample(l.Graph)})
	}
	m, err := kernel.NewMultiscale(fine, kernel.Diffusion{}, scales)
	if err != nil {
		t.Fatal(err)
	}
	return m, m.Sizes()
}

// prior draws from a kernel with the given variances of the fine and the coarser
// scales, and takes off its mean over the nodes.
func prior(t testing.TB, m *kernel.Multiscale, variances ...float64) []float64 {
	t.Helper()
	const beta, none = 10, 1e-12
	theta := []float64{max(none, variances[0]), beta, beta}
	for k := range m.Sizes() {
		v := none
		if k+1 < len(variances) {
			v = max(none, variances[k+1])
		}
		theta = append(theta, v)
	}
	cov, err := m.At(theta)
	if err != nil {
		t.Fatal(err)
	}
	dst := mat.NewDense(m.Nodes(), 1, nil)
	if err := cov.Prior(context.Background(), dst, 4); err != nil {
		t.Fatal(err)
	}
	values := dst.RawMatrix().Data
	floats.AddConst(-stat.Mean(values, nil), values)
	return values
}

// unitVariance returns the parameter at which the fine scale has variance one on
// average over nodes.
func unitVariance(t testing.TB, m *kernel.Multiscale) float64 {
	t.Helper()
	square := 0.0
	for _, v := range prior(t, m, 1) {
		square += v * v / float64(m.Nodes())
	}
	return 1 / square
}

// gridMap draws values of a square grid as little squares: of so many dots across
// that they leave no gaps.
func gridMap(title string, side int, values, like []float64) *plot.Picture {
	dots := (399 + side) / side
	m := plot.MapData{Title: title, Like: like}
	for i, v := range values {
		for k := range dots * dots {
			m.X = append(m.X, float64(i%side*dots+k%dots))
			m.Y = append(m.Y, -float64(i/side*dots+k/dots))
			m.Values = append(m.Values, v)
		}
	}
	return plot.Map(m)
}

func edges(g *graph.Graph) iter.Seq2[int, int] {
	return func(yield func(i, j int) bool) {
		for i := range g.Len() {
			cols, _ := g.Adjacency().Row(i)
			for _, j := range cols {
				if i < int(j) && !yield(i, int(j)) {
					return
				}
			}
		}
	}
}

// save writes pictures in rows to docs, in few colours.
func save(t testing.TB, name string, columns int, pictures ...*plot.Picture) {
	t.Helper()
	const dpi = 72
	var sheet *image.NRGBA
	for k, p := range pictures {
		img, err := png.Decode(bytes.NewReader(p.PNG(dpi)))
		if err != nil {
			t.Fatal(err)
		}
		size := img.Bounds().Size()
		if sheet == nil {
			sheet = image.NewNRGBA(image.Rect(0, 0, columns*size.X, (len(pictures)+columns-1)/columns*size.Y))
			draw.Draw(sheet, sheet.Rect, image.White, image.Point{}, draw.Src)
		}
		corner := image.Pt(k%columns*size.X, k/columns*size.Y)
		draw.Draw(sheet, image.Rectangle{corner, corner.Add(size)}, img, img.Bounds().Min, draw.Src)
	}
	few := image.NewPaletted(sheet.Rect, palette(sheet))
	draw.Draw(few, few.Rect, sheet, image.Point{}, draw.Src)
	var file bytes.Buffer
	if err := (&png.Encoder{CompressionLevel: png.BestCompression}).Encode(&file, few); err != nil {
		t.Fatal(err)
	}
	if file.Len() > 300_000 {
		t.Errorf("%s has %d bytes, want at most 300,000", name, file.Len())
	}
	if err := os.WriteFile(filepath.Join("docs", name), file.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
}

// palette returns greys for letters, and the colours that are used most; none is
// near another.
func palette(img *image.NRGBA) color.Palette {
	const near = 3
	count := map[color.NRGBA]int{}
	for i := 0; i < len(img.Pix); i += 4 {
		count[color.NRGBA{img.Pix[i], img.Pix[i+1], img.Pix[i+2], img.Pix[i+3]}]++
	}
	all := slices.SortedFunc(maps.Keys(count), func(a, b color.NRGBA) int {
		return cmp.Or(count[b]-count[a], int(a.R)-int(b.R), int(a.G)-int(b.G), int(a.B)-int(b.B))
	})
	var few []color.NRGBA
	for grey := range 24 {
		v := uint8(41 + grey*214/23)
		few = append(few, color.NRGBA{v, v, v, 255})
	}
	apart := func(x, y uint8) int { return max(int(x)-int(y), int(y)-int(x)) }
	for _, c := range all {
		if len(few) < 256 && !slices.ContainsFunc(few, func(d color.NRGBA) bool {
			return max(apart(c.R, d.R), apart(c.G, d.G), apart(c.B, d.B)) <= near
		}) {
			few = append(few, c)
		}
	}
	var p color.Palette
	for _, c := range few {
		p = append(p, c)
	}
	return p
}

func gridPicture(t *testing.T) {
	const side = 200
	g, err := graph.Grid(side, side)
	if err != nil {
		t.Fatal(err)
	}
	m, sizes := scalesOf(t, g)
	unit := unitVariance(t, m)
	var pictures []*plot.Picture
	for _, part := range []struct {
		title     string
		variances []float64
	}{
		{"The fine scale: 40,000 nodes, ten hops", []float64{unit}},
		{fmt.Sprintf("Scale 2: %d cells", sizes[1]), []float64{0, 0, 1}},
		{fmt.Sprintf("Scale 3: %d cells", sizes[2]), []float64{0, 0, 0, 1}},
		{"All scales together", []float64{unit / 50, 0.1, 0.3, 0.6}},
	} {
		pictures = append(pictures, gridMap(part.title, side, prior(t, m, part.variances...), nil))
	}
	save(t, "multiscale-grid.png", 2, pictures...)
}

// sharedPicture draws on a graph with places: the fine scale alone, and all scales.
func sharedPicture(t *testing.T, name string, g *graph.Graph, at layout.Points) {
	m, sizes := scalesOf(t, g)
	unit := unitVariance(t, m)
	variances := []float64{unit / 50}
	for range sizes {
		variances = append(variances, 1/float64(len(sizes)))
	}
	of := func(title string, values []float64) *plot.Picture {
		return plot.Map(plot.MapData{Title: title, X: at.X, Y: at.Y, Edges: edges(g), Values: values})
	}
	save(t, name, 2, of("The fine scale, ten hops", prior(t, m, unit)), of("All scales together", prior(t, m, variances...)))
}

func roadsPicture(t *testing.T) {
	c := city.New(1)
	g, places := c.Graph, layout.Points{X: c.X, Y: c.Y}
	if testkit.HasData("traffic_sanjose") {
		g = readGraph(t, "traffic_sanjose/road_edges.csv.gz", graphio.Options{})
		lat, lon := make([]float64, g.Len()), make([]float64, g.Len())
		for _, row := range table(t, "traffic_sanjose/road_nodes.csv.gz") {
			i := at(t, g, row[0])
			lat[i], lon[i] = number(t, row[1]), number(t, row[2])
		}
		places = layout.Geographic(lat, lon)
	}
	sharedPicture(t, "multiscale-roads.png", g, places)
}

func hubsPicture(t *testing.T) {
	g, err := graph.BarabasiAlbert(2000, 1, 1)
	if err != nil {
		t.Fatal(err)
	}
	sharedPicture(t, "multiscale-hubs.png", g, layout.Of(g, 1))
}

// peaksPicture learns five hills and hollows from 1,000 nodes.
func peaksPicture(t *testing.T) {
	const side, train = 300, 1000
	like := []float64{-2, 5}
	task, err := objective.FivePeaks(side)
	if err != nil {
		t.Fatal(err)
	}
	var d gp.Data
	var nodes []int
	for r, i := range rand.New(rng.New(1, "peaks picture")).Perm(side * side) {
		nodes = append(nodes, r)
		if r < train {
			d.Nodes, d.Y = append(d.Nodes, i), append(d.Y, task.Table[i])
		}
	}
	predict := func(scales string) grfgp.Prediction {
		m, err := grfgp.Fit(context.Background(), task.Graph, d, grfgp.Spec{Expression: grfgp.Expression{Family: "diffusion", Method: "grf",
			Scales: scales}})
		if err != nil {
			t.Fatal(err)
		}
		p, err := m.Predict(context.Background(), nodes)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	one, many := predict("one"), predict("many")
	measured := plot.MapData{Title: "1,000 measurements", Values: d.Y, Like: like}
	for _, i := range d.Nodes {
		measured.X, measured.Y = append(measured.X, float64(i%side)), append(measured.Y, -float64(i/side))
	}
	wrong := make([]float64, len(nodes))
	for i := range wrong {
		wrong[i] = math.Abs(many.Mean[i] - task.Truth[i])
	}
	save(t, "multiscale-peaks.png", 3,
		gridMap("The truth", side, task.Truth, like), plot.Map(measured), gridMap("Mean, one scale", side, one.Mean, like),
		gridMap("Mean, many scales", side, many.Mean, like), gridMap("Its error", side, wrong, many.SD),
		gridMap("Its standard deviation", side, many.SD, wrong))
}
