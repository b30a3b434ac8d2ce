package kernel_test

import (
	"compress/gzip"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"gonum.org/v1/gonum/mat"

	"grfgp/graph"
	"grfgp/graphio"
	"grfgp/internal/testkit"
	"grfgp/kernel"
	"grfgp/kernel/kerneltest"
)

func TestDenseContract(t *testing.T) {
	w := patchwork(t).Normalized(graph.NormalizedAdjacency)
	for _, s := range []kernel.Spectrum{kernel.Diffusion{}, kernel.Matern{Nu: 1.5}} {
		t.Run(fmt.Sprint(s), func(t *testing.T) {
			k, err := kernel.NewDense(w, s)
			if err != nil {
				t.Fatal(err)
			}
			kerneltest.Run(t, k, kerneltest.Options{})
		})
	}
}

func TestDenseRefuses(t *testing.T) {
	t.Parallel()
	ring, err := graph.Ring(kernel.MaxDense + 1)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := kernel.NewDense(ring.Normalized(graph.NormalizedAdjacency), kernel.Diffusion{}); !errors.Is(err, kernel.ErrMatrix) {
		t.Errorf("a ring of %d nodes: %v", ring.Len(), err)
	}
	// Beyond 1 + 2ν/κ² a Matérn kernel has no variance to give.
	k, err := kernel.NewDense(patchwork(t).Normalized(graph.RawAdjacency), kernel.Matern{Nu: 1.5})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := k.At([]float64{1, 3}); !errors.Is(err, kernel.ErrTheta) {
		t.Errorf("eigenvalues beyond the family: %v", err)
	}
}

// traffic is the data set of speed detectors on roads.
type traffic struct {
	g     *graph.Graph
	speed map[int]float64             // mph, by node of g
	split map[string]map[string][]int // by seed, and "train" or "test"
}

// table reads a file of comma-separated values, without its header.
func table(t *testing.T, name string) [][]string {
	t.Helper()
	f, err := os.Open(testkit.Data(t, "traffic_sanjose/"+name))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var r io.Reader = f
	if filepath.Ext(name) == ".gz" {
		if r, err = gzip.NewReader(f); err != nil {
			t.Fatal(err)
		}
	}
	rows, err := csv.NewReader(r).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	return rows[1:]
}

func number(t *testing.T, s string) float64 {
	t.Helper()
	v, err := strconv.ParseFloat(s, 64)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func readTraffic(t *testing.T) traffic {
	t.Helper()
	splits, speeds := table(t, "splits.csv.gz"), table(t, "sensor_speeds.csv.gz")
	network, err := graphio.ReadGraph(t.Context(), graphio.File(testkit.Data(t, "traffic_sanjose/road_edges.csv.gz")), graphio.Options{})
	if err != nil {
		t.Fatal(err)
	}
	d := traffic{g: network.Graph, speed: map[int]float64{}, split: map[string]map[string][]int{}}
	node := func(id string) int {
		i, ok := d.g.IDs().Lookup([]byte(id))
		if !ok {
			t.Fatalf("no node %s", id)
		}
		return i
	}
	for _, row := range speeds {
		d.speed[node(row[0])] = number(t, row[2])
	}
	for _, row := range splits {
		if d.split[row[0]] == nil {
			d.split[row[0]] = map[string][]int{}
		}
		d.split[row[0]][row[1]] = append(d.split[row[0]][row[1]], node(row[2]))
	}
	return d
}

// The exact diffusion kernel gives the published likelihoods and errors, to a
// relative 1e-6, by eigenvectors and by a series with
// walks long enough: the regression is written out here with plain matrices.
func TestTrafficReference(t *testing.T) {
	t.Parallel()
	testkit.Unraced(t)
	d := readTraffic(t)
	w := d.g.Normalized(graph.NormalizedAdjacency)
	t.Run("series", func(t *testing.T) { d.testReference(t, newSeries(t, w, kernel.Diffusion{}, 150)) })
	t.Run("dense", func(t *testing.T) {
		dense, err := kernel.NewDense(w, kernel.Diffusion{})
		if err != nil {
			t.Fatal(err)
		}
		d.testReference(t, dense)
	})
}

func (d traffic) testReference(t *testing.T, k kernel.Kernel) {
	for _, row := range table(t, "reference_exact_diffusion.csv") {
		beta, sd, noise := number(t, row[1]), number(t, row[2]), number(t, row[3])
		got := d.regress(t, at(t, k, []float64{sd * sd, beta}), noise, d.split[row[0]]["train"], d.split[row[0]]["test"])
		for i, what := range []string{"log marginal likelihood", "RMSE in mph", "joint NLPD", "NLPD per node"} {
			if want := number(t, row[4+i]); math.Abs(got[i]-want) > 1e-6*math.Abs(want) {
				t.Errorf("seed %s, β = %v: %s is %.9f, want %.9f", row[0], beta, what, got[i], want)
			}
		}
	}
}

// regress returns log marginal likelihood, RMSE in mph, joint NLPD and mean NLPD
// of a node, on values standardised by the mean and the standard deviation of the
// training nodes.
func (d traffic) regress(t *testing.T, cov kernel.Covariance, noise float64, train, test []int) [4]float64 {
	t.Helper()
	mean, square := 0.0, 0.0
	for _, i := range train {
		mean += d.speed[i] / float64(len(train))
	}
	for _, i := range train {
		square += (d.speed[i] - mean) * (d.speed[i] - mean) / float64(len(train))
	}
	deviation := math.Sqrt(square)
	values := func(nodes []int) *mat.VecDense {
		y := mat.NewVecDense(len(nodes), nil)
		for a, i := range nodes {
			y.SetVec(a, (d.speed[i]-mean)/deviation)
		}
		return y
	}
	gram := func(nodes []int) *mat.SymDense {
		k := mat.NewSymDense(len(nodes), nil)
		if err := cov.Gram(context.Background(), k, nodes); err != nil {
			t.Fatal(err)
		}
		for a := range nodes {
			k.SetSym(a, a, k.At(a, a)+noise)
		}
		return k
	}
	factor := func(a mat.Symmetric) *mat.Cholesky {
		var c mat.Cholesky
		if !c.Factorize(a) {
			t.Fatal("not positive definite")
		}
		return &c
	}
	// density is log N(r; 0, C), C by its factor.
	density := func(r *mat.VecDense, c *mat.Cholesky) float64 {
		var x mat.VecDense
		if err := c.SolveVecTo(&x, r); err != nil {
			t.Fatal(err)
		}
		return -0.5 * (mat.Dot(r, &x) + c.LogDet() + float64(r.Len())*math.Log(2*math.Pi))
	}

	h := factor(gram(train))
	y := values(train)
	cross := mat.NewDense(len(test), len(train), nil)
	identity := mat.NewDense(len(train), len(train), nil)
	for a := range train {
		identity.Set(a, a, 1)
	}
	if err := cov.Cross(test, train).Apply(context.Background(), cross, identity); err != nil {
		t.Fatal(err)
	}
	var alpha, residual mat.VecDense
	if err := h.SolveVecTo(&alpha, y); err != nil {
		t.Fatal(err)
	}
	residual.MulVec(cross, &alpha)
	residual.SubVec(values(test), &residual)
	var solved, reduction mat.Dense
	if err := h.SolveTo(&solved, cross.T()); err != nil {
		t.Fatal(err)
	}
	reduction.Mul(cross, &solved)
	posterior := gram(test) // with noise
	rmse, perNode := 0.0, 0.0
	for a := range test {
		for b := a; b < len(test); b++ {
			posterior.SetSym(a, b, posterior.At(a, b)-reduction.At(a, b))
		}
		r, v := residual.AtVec(a), posterior.At(a, a)
		rmse += r * r / float64(len(test))
		perNode += 0.5 * (r*r/v + math.Log(2*math.Pi*v)) / float64(len(test))
	}
	return [4]float64{density(y, h), math.Sqrt(rmse) * deviation, -density(&residual, factor(posterior)), perNode}
}
