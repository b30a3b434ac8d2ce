package objective

import (
	"errors"
	"math"
	"runtime"
	"slices"
	"testing"

	"gonum.org/v1/gonum/stat"

	"grfgp/graph"
	"grfgp/internal/testkit"
	"grfgp/lab/randomstate"
)

func make1000(task func(side int) (*Task, error)) func() (*Task, error) {
	return func() (*Task, error) { return task(1000) }
}

// Extremes of the authors' tables agree to the last known digit. Tables are scaled by
// the mean and standard deviation over all nodes, so every draw must agree.
func TestTablesAreTheAuthors(t *testing.T) {
	const digit = 1e-12
	unknown := math.NaN() // no comparison with it fails
	for _, c := range []struct {
		name     string
		make     func() (*Task, error)
		nodes    int
		edges    int
		min, max float64
	}{
		{"single-peak", make1000(SinglePeak), 1_000_000, 1_998_000, -1.629498574666, 3.920229269369},
		{"five-peaks", make1000(FivePeaks), 1_000_000, 1_998_000, unknown, 5.690575797985},
		{"two-peaks", TwoPeaks, 10_000, 19_800, unknown, 5.395763399794},
		{"community", Community, 10_000, 162_465, unknown, 1.854385280919},
		{"circle", Circle, 10_000, 40_000, unknown, 2.126392586790},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			task, err := c.make()
			if err != nil {
				t.Fatal(err)
			}
			if task.Name != c.name || task.Graph.Len() != c.nodes || task.Graph.Edges() != c.edges {
				t.Errorf("%s with %d nodes and %d edges, want %s, %d, %d",
					task.Name, task.Graph.Len(), task.Graph.Edges(), c.name, c.nodes, c.edges)
			}
			if x := slices.Max(task.Table); math.Abs(x-c.max) > digit {
				t.Errorf("largest value %.15f, want %.12f", x, c.max)
			}
			if x := slices.Min(task.Table); math.Abs(x-c.min) > digit {
				t.Errorf("smallest value %.15f, want %.12f", x, c.min)
			}
			if mean, sd := stat.PopMeanStdDev(task.Table, nil); math.Abs(mean) > 1e-12 || math.Abs(sd-1) > 1e-12 {
				t.Errorf("table has mean %v and sd %v, want 0 and 1", mean, sd)
			}
			checkNoise(t, task)
		})
	}
}

// checkNoise checks that the table is the truth with independent normal noise of the
// stated standard deviation: every statistic is within five standard errors.
func checkNoise(t *testing.T, task *Task) {
	t.Helper()
	n := task.Graph.Len()
	if len(task.Truth) != n || len(task.Table) != n {
		t.Fatalf("%d and %d values for %d nodes", len(task.Truth), len(task.Table), n)
	}
	z := make([]float64, n)
	for i := range z {
		z[i] = (task.Table[i] - task.Truth[i]) / task.NoiseSD
	}
	mean, sd := stat.PopMeanStdDev(z, nil)
	within := 5 / math.Sqrt(float64(n))
	if math.Abs(mean) > within || math.Abs(sd-1) > within {
		t.Errorf("noise has mean %v and sd %v, want 0 and 1 within %.4f", mean, sd, within)
	}
	if r := stat.Correlation(z, task.Truth, nil); math.Abs(r) > within {
		t.Errorf("noise follows the truth: correlation %v", r)
	}
	if r := stat.Correlation(z[1:], z[:n-1], nil); math.Abs(r) > within {
		t.Errorf("noise follows itself: correlation %v", r)
	}
}

func TestPeakShape(t *testing.T) {
	p := peak{x: 0.2, y: -0.3, height: 2, sx: 0.3, sy: 0.4, angle: math.Pi / 6}
	sin, cos := math.Sincos(p.angle)
	height := p.surface()
	for _, c := range []struct {
		name         string
		dx, dy, want float64
	}{
		{"centre", 0, 0, 2},
		{"one width along its first axis", p.sx * cos, -p.sx * sin, 2 * math.Exp(-0.5)},
		{"one width along its second axis", p.sy * sin, p.sy * cos, 2 * math.Exp(-0.5)},
		{"two widths", 2 * p.sy * sin, 2 * p.sy * cos, 2 * math.Exp(-2)},
		{"a width along both", p.sx*cos + p.sy*sin, -p.sx*sin + p.sy*cos, 2 * math.Exp(-1)},
	} {
		if got := height(p.x+c.dx, p.y+c.dy); math.Abs(got-c.want) > 1e-14 {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

// x runs along a row and y from row to row: the peak is right of the middle and in the
// upper rows.
func TestGridOrientation(t *testing.T) {
	const side = 101
	task, err := SinglePeak(side)
	if err != nil {
		t.Fatal(err)
	}
	top := slices.Index(task.Truth, slices.Max(task.Truth))
	if row, col := top/side, top%side; row != 35 || col != 60 {
		t.Errorf("top in row %d and column %d, want 35 and 60", row, col)
	}
}

func TestCommunityEdgesEqualUniforms(t *testing.T) {
	group := make([]uint8, 400)
	for i := range group {
		group[i] = uint8(i * i % communities)
	}
	r := randomstate.New(7)
	var want graph.Edges
	for i := range group {
		for j := i + 1; j < len(group); j++ {
			p := 0.001
			if group[i] == group[j] {
				p = 0.01
			}
			if r.Uniform(0, 1) < p {
				want.U, want.V = append(want.U, uint32(i)), append(want.V, uint32(j))
			}
		}
	}
	got := communityEdges(randomstate.New(7), group)
	if len(want.U) == 0 || !slices.Equal(got.U, want.U) || !slices.Equal(got.V, want.V) {
		t.Errorf("%d edges, want %d, or others", len(got.U), len(want.U))
	}
}

func TestBits53Below(t *testing.T) {
	for _, p := range []float64{0, 0x1p-60, 0.001, 0.01, 1.0 / 3, 0.5, 1} {
		k := bits53Below(p)
		if float64(k)*0x1p-53 < p || k > 0 && float64(k-1)*0x1p-53 >= p {
			t.Errorf("%d is not the number of uniforms below %v", k, p)
		}
	}
}

func TestRing(t *testing.T) {
	task, err := Ring(1<<16, 1)
	if err != nil {
		t.Fatal(err)
	}
	if task.Graph.Edges() != 1<<16 || task.NoiseSD != 0.1 {
		t.Errorf("%d edges, noise %v", task.Graph.Edges(), task.NoiseSD)
	}
	checkNoise(t, task)
	// Waves of different frequency are orthogonal: the variances add up.
	want := math.Sqrt((2*2 + 0.5*0.5 + 0.3*0.3) / 2)
	if mean, sd := stat.PopMeanStdDev(task.Truth, nil); math.Abs(mean) > 1e-12 || math.Abs(sd-want) > 1e-12 {
		t.Errorf("function has mean %v and sd %v, want 0 and %v", mean, sd, want)
	}
	for node, want := range map[int]float64{0: 0.5, 1 << 14: 0.5 + 0.3, 1 << 13: 2 - 0.5 + 0.3*math.Sqrt2/2} {
		if got := task.Truth[node]; math.Abs(got-want) > 1e-14 {
			t.Errorf("node %d: %v, want %v", node, got, want)
		}
	}
	other, err := Ring(1<<16, 2)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(task.Truth, other.Truth) || slices.Equal(task.Table, other.Table) {
		t.Error("another seed must change the noise alone")
	}
}

func TestTasksAreDeterministic(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	for name, task := range map[string]func() (*Task, error){
		"single peak": func() (*Task, error) { return SinglePeak(60) },
		"five peaks":  func() (*Task, error) { return FivePeaks(60) },
		"two peaks":   TwoPeaks,
		"circle":      Circle,
		"ring":        func() (*Task, error) { return Ring(1000, 3) },
	} {
		var first *Task
		for _, procs := range testkit.FewIfRaced(2, []int{7, 1, 2}) {
			runtime.GOMAXPROCS(procs)
			next, err := task()
			if err != nil {
				t.Fatal(err)
			}
			if first == nil {
				first = next
			}
			if !slices.Equal(next.Truth, first.Truth) || !slices.Equal(next.Table, first.Table) || next.Graph.Hash() != first.Graph.Hash() {
				t.Errorf("%s differs on %d processors", name, procs)
			}
		}
	}
}

func TestTasksReject(t *testing.T) {
	for _, side := range []int{-1, 0, 1, 1 << 40} {
		want := ErrInvalid
		if side > 1 {
			want = graph.ErrInvalid
		}
		for _, task := range []func(int) (*Task, error){SinglePeak, FivePeaks} {
			if _, err := task(side); !errors.Is(err, want) {
				t.Errorf("side %d: %v", side, err)
			}
		}
	}
	if _, err := Ring(0, 1); !errors.Is(err, graph.ErrInvalid) {
		t.Errorf("ring of no nodes: %v", err)
	}
}

func BenchmarkCommunity(b *testing.B) {
	for b.Loop() {
		if _, err := Community(); err != nil {
			b.Fatal(err)
		}
	}
}
