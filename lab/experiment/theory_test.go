package experiment

import (
	"context"
	"math"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"grfgp/graph"
	"grfgp/internal/testkit"
	"grfgp/kernel"
	"grfgp/walk"
)

// Every inequality of the paper holds, and every statement is tested.
func TestTheoryQuickly(t *testing.T) {
	testkit.Unraced(t)
	r, s := quickly(t, theory(), func(c Part) bool {
		s := c.Settings.(theorySettings)
		return s.Nodes <= 1024 && s.Walks <= 100 && s.Rank <= 128
	})
	if len(s.Tables[0].Rows) != 8 {
		t.Errorf("%d statements, want 8", len(s.Tables[0].Rows))
	}
	for _, row := range s.Tables[0].Rows {
		if row[5] != "yes" {
			t.Errorf("%q", row)
		}
	}
	// The error of a Gaussian projection is within a few per cent of its expectation at
	// ranks of 8 and more.
	for _, row := range r.Rows.Where("quantity", rankKernel) {
		if share := row.Num("observed") / row.Num("bound"); math.Abs(share-1) > 0.15 {
			t.Errorf("rank %v: error %v, expected %v", row.Num("rank"), row.Num("observed"), row.Num("bound"))
		}
	}
}

// Texts fit the rows: one seed has no standard deviation, and times that grow faster
// than the paper states are mentioned.
func TestTheoryWords(t *testing.T) {
	rows := func(power float64, seeds int) (all Rows) {
		for seed := range seeds {
			for _, n := range []int{64, 128, 256, 512, 1024, 2048} {
				wobble := 1 + 0.01*float64(n%7)
				all = append(all, Row{"check": "conditioning", "graph": "grid", "nodes": n, "walks": 1, "seed": seed, "quantity": iterations,
					"observed": 10.0, "bound": 20.0, "seconds": wobble * math.Pow(float64(n), power)})
			}
			all = append(all, Row{"check": "woodbury", "nodes": 64, "rank": 8, "seed": seed, "quantity": rankKernel, "observed": 1.0, "bound": 1.0})
		}
		return all
	}
	if at := statements(rows(1, 1)).Rows[0][4]; at != "grid, 64 nodes, 1 walk" {
		t.Error(at)
	}
	for seeds, want := range map[int]string{1: "norm, one seed;", 2: "norm, means ± standard deviation over seeds;"} {
		if note := projections(rows(1, seeds)).Note; !strings.Contains(note, want) {
			t.Errorf("%d seeds: %s", seeds, note)
		}
	}
	for _, c := range []struct {
		power float64
		said  bool
	}{{1, false}, {1.4, false}, {1.9, true}} {
		found := strings.Join(theoryFindings(rows(c.power, 1)), " ")
		if strings.Contains(found, "of a solve grew as") != c.said {
			t.Errorf("N^%v: %s", c.power, found)
		}
	}
}

// On a ring all weights are ½ and all degrees 2, so c = Σ f_r (1−p)^−r.
func TestTheoremConstant(t *testing.T) {
	g, err := graph.Ring(10)
	if err != nil {
		t.Fatal(err)
	}
	coeff := []float64{0.5, -0.25, 0.125}
	want := 0.5 + 0.25/0.9 + 0.125/0.81
	if c := theoremConstant(g.Normalized(graph.NormalizedAdjacency), coeff, 0.1); math.Abs(c-want) > 1e-12 {
		t.Errorf("c = %v, want %v", c, want)
	}
}

// smallKernel returns features of a small grid, and the dense ΦΦᵀ of the kernel.
func smallKernel(t *testing.T) (theorySettings, *walk.Features, *mat.SymDense) {
	t.Helper()
	s := theorySettings{Graph: "grid", Nodes: 64, Walks: 50, Halt: 0.1, Hops: 5, Beta: 2, Noise: 0.01, Seed: 3}
	m, err := s.prepare()
	if err != nil {
		t.Fatal(err)
	}
	f, err := walk.Sample(context.Background(), m.w, s.options())
	if err != nil {
		t.Fatal(err)
	}
	k, err := kernel.NewGRF(f, kernel.Diffusion{})
	if err != nil {
		t.Fatal(err)
	}
	cov, err := k.At([]float64{1, s.Beta})
	if err != nil {
		t.Fatal(err)
	}
	all := allNodes(f.Nodes())
	gram := mat.NewSymDense(len(all), nil)
	if err := cov.Gram(context.Background(), gram, all); err != nil {
		t.Fatal(err)
	}
	return s, f, gram
}

func TestLargestEigenvalue(t *testing.T) {
	s, f, gram := smallKernel(t)
	op, err := s.operator(f)
	if err != nil {
		t.Fatal(err)
	}
	got, seconds, err := largest(context.Background(), op, 1)
	var eigen mat.EigenSym
	if !eigen.Factorize(gram, false) || err != nil {
		t.Fatal(err)
	}
	values := eigen.Values(nil)
	if want := values[len(values)-1]; math.Abs(got-want) > 1e-3*want || got > want*(1+1e-9) || !(seconds > 0) {
		t.Errorf("%v in %v s, want %v", got, seconds, want)
	}
}

// dense is a matrix as an operator.
type dense struct{ *mat.Dense }

func (d dense) Apply(_ context.Context, dst, x *mat.Dense) error {
	dst.Mul(d.Dense, x)
	return nil
}

func TestProjectionError(t *testing.T) {
	full := dense{mat.NewDense(2, 2, []float64{3, 0, 0, 4})}
	near := dense{mat.NewDense(2, 2, []float64{3, 1, 1, 4})}
	observed, expected, err := projectionError(context.Background(), full, near, 2)
	if err != nil || math.Abs(observed-math.Sqrt(2)/5) > 1e-12 || math.Abs(expected-math.Sqrt((25+49)/2.0)/5) > 1e-12 {
		t.Errorf("%v and %v, %v", observed, expected, err)
	}
}

func TestIterationBound(t *testing.T) {
	if got := iterationBound(1); got != math.Ceil(math.Log(2/solveTol)/2) {
		t.Errorf("κ = 1: %v", got)
	}
	if iterationBound(1e4) < 50*math.Log(2*100/solveTol) {
		t.Error("κ = 10⁴: fewer than the theorem allows")
	}
}

// Rows of Ψ are weighted sums of rows of powers of W.
func TestExactRow(t *testing.T) {
	g, err := graph.Ring(5)
	if err != nil {
		t.Fatal(err)
	}
	row := exactRow(g.Normalized(graph.NormalizedAdjacency), []float64{1, 2, 4}, 0)
	for i, want := range []float64{1 + 4*0.5, 1, 1, 1, 1} {
		if math.Abs(row[i]-want) > 1e-12 {
			t.Errorf("entry %d is %v, want %v", i, row[i], want)
		}
	}
}
