package experiment

import (
	"encoding/json"
	"math"
	"slices"
	"strings"
	"testing"
)

// The methods solve the same task: dense and sparse agree within the tolerance of solves
// during learning, about 3 %, and many scales come close to the noise.
func TestScalingQuickly(t *testing.T) {
	r, _ := quickly(t, scaling(), func(c Part) bool {
		return c.Work < 0.1 || strings.HasPrefix(c.Name, "clean-64-") || strings.HasPrefix(c.Name, "numbers-1024-")
	})
	dense, sparse := r.Rows.Where("arm", denseArm), r.Rows.Where("arm", featuresArm)
	if len(dense) < 3 {
		t.Fatalf("%d rows", len(dense))
	}
	for _, d := range dense {
		s := sparse.Where("nodes", d.Num("nodes"))
		if len(s) != 1 || math.Abs(d.Num("rmse")-s[0].Num("rmse")) > 0.05*d.Num("rmse") {
			t.Errorf("%v nodes: RMSE %v dense, %v sparse", d.Num("nodes"), d.Num("rmse"), s.Nums("rmse"))
		}
		if n := d.Num("nodes"); d.Num("stored_mb") != 8*n*n/(1<<20) {
			t.Errorf("%v nodes take %v MB", n, d.Num("stored_mb"))
		}
	}
	numbers := r.Rows.Where("arm", numbersArm)
	if len(numbers) == 0 {
		t.Error("the authors' numbers were not run")
	}
	for _, c := range numbers {
		s := sparse.Where("nodes", c.Num("nodes"))
		if len(s) != 1 || math.Abs(c.Num("rmse")-s[0].Num("rmse")) > 0.05*c.Num("rmse") {
			t.Errorf("%v nodes: RMSE %v with the authors' numbers, %v with ours", c.Num("nodes"), c.Num("rmse"), s.Nums("rmse"))
		}
	}
	for _, c := range r.Rows.Where("arm", cleanArm) {
		if c.Num("rmse") > 0.2 {
			t.Errorf("%v nodes: RMSE %v with many scales", c.Num("nodes"), c.Num("rmse"))
		}
	}
}

func TestSeedsOfRings(t *testing.T) {
	count := func(o Options, prefix string) int {
		n := 0
		for _, c := range scalingParts(o) {
			if strings.HasPrefix(c.Name, prefix) {
				n++
			}
		}
		return n
	}
	for _, c := range []struct {
		o      Options
		prefix string
		want   int
	}{
		{Options{}, "dense-8192-", 1}, {Options{}, "dense-4096-", 3}, {Options{}, "dense-16384-", 0}, {Options{}, "features-1048576-", 3},
		{Options{}, "features-32-", 5},
		{Options{}, "numbers-1048576-", 1}, {Options{}, "numbers-65536-", 3}, {Options{}, "numbers-32768-", 0}, {Options{}, "numbers-512-", 0},
		{Options{Quick: true}, "numbers-", 2},
		{Options{Seeds: 2}, "dense-8192-", 2}, {Options{Quick: true}, "clean-1024-", 1}, {Options{Quick: true, Seeds: 4}, "clean-1024-", 4},
	} {
		if got := count(c.o, c.prefix); got != c.want {
			t.Errorf("%+v: %d parts %s, want %d", c.o, got, c.prefix, c.want)
		}
	}
}

// Adding the arm with the authors' settings did not change the cache keys of other arms.
func TestSettingsOfRings(t *testing.T) {
	for _, c := range scalingParts(Options{}) {
		settings, err := json.Marshal(c.Settings)
		if err != nil {
			t.Fatal(err)
		}
		theirs := strings.HasPrefix(c.Name, "numbers-")
		if got := strings.Contains(string(settings), `"Stochastic":{"Probes":64,"Tol":0.01,"Plain":true,"Fresh":true}`); got != theirs ||
			strings.Contains(string(settings), "Stochastic") != theirs {
			t.Errorf("%s: %s", c.Name, settings)
		}
	}
}

func TestLargeSizesAreFitted(t *testing.T) {
	x := []float64{1, 2, 4, 8, 16, 32}
	for from, want := range map[float64][]float64{4: {4, 8, 16, 32}, 1: x, 16: {8, 16, 32}, 1e9: {8, 16, 32}} {
		if got, _ := above(from, x, x); !slices.Equal(got, want) {
			t.Errorf("from %v: %v, want %v", from, got, want)
		}
	}
	if got, _ := above(5, nil, nil); len(got) != 0 {
		t.Errorf("of nothing: %v", got)
	}
}

// The paper's tables give the exponents stated in its text, except those of
// initialisation.
func TestPaperTables(t *testing.T) {
	if len(paperDense) != 9 || len(paperSparse) != 16 {
		t.Fatalf("%d and %d sizes", len(paperDense), len(paperSparse))
	}
	for _, table := range [][]ringCost{paperDense, paperSparse} {
		for k, c := range table {
			if c.nodes != math.Exp2(float64(5+k)) {
				t.Errorf("size %d is %v", k, c.nodes)
			}
		}
	}
}
