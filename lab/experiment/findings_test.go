package experiment

import (
	"math"
	"strings"
	"testing"

	"grfgp/lab/dataset"
)

// says checks findings from invented rows.
func says(t *testing.T, found []string, want ...string) {
	t.Helper()
	text := strings.Join(found, "\n")
	for _, w := range want {
		no := strings.HasPrefix(w, "not: ")
		if strings.Contains(text, strings.TrimPrefix(w, "not: ")) == no {
			t.Errorf("want %q in %q", w, text)
		}
	}
}

// armRows returns a row per value, with keys counting from 0.
func armRows(arm, key, column string, values ...float64) (rows Rows) {
	for k, v := range values {
		rows = append(rows, Row{"arm": arm, key: k, column: v})
	}
	return rows
}

func TestVerdict(t *testing.T) {
	for _, c := range []struct {
		values []float64
		more   bool
		want   string
	}{
		{nil, false, "too few runs to compare"},
		{[]float64{3}, false, "too few runs to compare"},
		{[]float64{1, 1.1, 0.9}, false, "worse by 1.000 ± 0.058 in RMSE"},
		{[]float64{1, 1.1, 0.9}, true, "better by 1.000 ± 0.058 in RMSE"},
		{[]float64{-1, -1.1, -0.9}, false, "better by 1.000 ± 0.058 in RMSE"},
		{[]float64{-1, 1.2}, false, "no clear difference in RMSE (0.1 ± 1.1)"},
		{[]float64{0, 0}, false, "no clear difference in RMSE (0 ± 0)"},
	} {
		if got := verdict(SpreadOf(c.values), "RMSE", c.more); got != c.want {
			t.Errorf("%v: %q, want %q", c.values, got, c.want)
		}
	}
}

func TestMeshFindings(t *testing.T) {
	rows := func(grf, bare float64) Rows {
		all := Rows{}
		for arm, base := range map[string]float64{"exact": 1, "clean-grf": 1, "walks-grf": 1, "clean-ad-hoc": 2, "grf": grf, "ad-hoc": bare,
			"raw": 3} {
			all = append(all, armRows(arm, "seed", "rmse", base, base+0.1, base-0.1)...)
		}
		return all
	}
	says(t, meshFindings(rows(1, 2)), "exact kernel: no clear difference", "for every step: worse by 1 ", "per hop: worse by 1 ",
		"not: compensate")
	says(t, meshFindings(rows(2, 1)), "per hop: better by 1 ", "compensate")
	says(t, meshFindings(nil), "too few runs to compare", "not: compensate")
}

func TestTrafficFindings(t *testing.T) {
	published := []dataset.TrafficReference{{Seed: 0, RMSE: 10}, {Seed: 1, RMSE: 20}, {Seed: 0, RMSE: 99}}
	given := func(values ...float64) []string {
		return givenFindings(armRows(untrainedArm, "split", "rmse", values...), published)
	}
	says(t, given(10, 20), "gives their published RMSE on 2 splits")
	says(t, given(10), "on one split")
	says(t, given(10, 21), "does not give their published RMSE", "5e-02")
	if len(given()) != 0 {
		t.Error("something is said of nothing")
	}
	trained := armRows(trainedArm, "split", "rmse", 12, 13, 14)
	says(t, trafficFindings(append(armRows(autoArm, "split", "rmse", 11, 12, 13), trained...)), "has 13.00 mph", "12.00 mph: better by 1")
	says(t, trafficFindings(append(armRows(autoArm, "split", "rmse", 13, 14.5, 15), trained...)), "worse by 1.")
	says(t, trafficFindings(append(armRows(autoArm, "split", "rmse", 11, 14, 14), trained...)), "no clear difference")
	if len(trafficFindings(trained)) != 0 {
		t.Error("something is said of nothing")
	}
}

// Rows are exact if more walks change no digit.
func TestExactRows(t *testing.T) {
	var rows Rows
	for walks, values := range map[int][]float64{16: {1, 2}, 64: {3, 4}, 256: {3, 4}} {
		for split, v := range values {
			rows = append(rows, Row{"walks": walks, "split": split, "rmse": v})
		}
	}
	for walks, want := range map[float64]bool{16: false, 64: true, 256: true, 512: false} {
		if exactRows(rows, walks) != want {
			t.Errorf("%v walks: %v", walks, !want)
		}
	}
}

func TestWindFindings(t *testing.T) {
	row := func(arm, weights string, walks int, rmse float64) Row {
		return Row{"arm": arm, "weights": weights, "walks": walks, "level": 1000, "rmse": rmse}
	}
	rows := func(noisy, bare, auto float64) Rows {
		return Rows{row(learnableArm, distanceWeights, 32, 2), row(learnableArm, distanceWeights, 64, noisy),
			row(repellingArm, distanceWeights, 128, bare),
			row(repellingArm, equalWeights, 128, 0.5), row(autoArm, equalWeights, 0, auto)}
	}
	says(t, windFindings(Options{}, rows(1, 0.8, 0.4)), "causes 20 % of the error", "longer reach are better", "0.500 instead of 0.800")
	says(t, windFindings(Options{}, rows(0.7, 0.8, 0.6)), "not: causes", "Longer reach does not help here", "not: are better")
	says(t, windFindings(Options{}, Rows{row(autoArm, equalWeights, 0, 0.6)}), "grfgp without settings has 0.600", "not: reach")
	says(t, windFindings(Options{Quick: true}, Rows{row(autoArm, equalWeights, 0, 0.6)}), "would choose another one", "not: reach")
	if len(windFindings(Options{}, nil)) != 0 {
		t.Error("something is said of nothing")
	}
}

// Differences are taken on the same nodes; parts without arrays are skipped.
func TestWindScales(t *testing.T) {
	d, err := sharedData(t).Wind(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	_, test := d.Split()
	level := func(v float64) []float64 {
		all := make([]float64, len(test))
		for k := range all {
			all[k] = v + float64(k%2)
		}
		return all
	}
	r := &Results{arrays: map[string]map[string][]float64{}}
	if tables, err := windScales(Options{Seed: 1}, r); len(tables) != 0 || err != nil {
		t.Errorf("%v, %v", tables, err)
	}
	for arm, v := range map[string]float64{maternArm: 0.5, autoArm: 0.25} {
		name := regressionSettings{Arm: arm, Split: 800, Weight: equalWeights, Seed: 1}.windName()
		r.add(name, &Result{Arrays: map[string][]float64{"squared": level(v), "density": level(2 * v)}})
	}
	tables, err := windScales(Options{Seed: 1}, r)
	if err != nil || len(tables) != 1 || len(tables[0].Rows) != 1 {
		t.Fatalf("%v, %v", tables, err)
	}
	if row := tables[0].Rows[0]; row[0] != "800" || row[1] != autoArm || !strings.HasPrefix(row[2], "1.0000 ±") ||
		row[3] != "-0.1340 ± 0.0000" || row[5] != "-0.5000 ± 0.0000" {
		t.Errorf("%q", row)
	}
}

func TestCoraFindings(t *testing.T) {
	splits := func(arm string, values ...float64) (rows Rows) {
		for k, v := range values {
			rows = append(rows, Row{"arm": arm, "split": string(rune('0' + k)), "accuracy": v})
		}
		return append(rows, Row{"arm": arm, "split": "authors", "accuracy": 1.0})
	}
	all := func(features, diffusion, auto float64) Rows {
		var rows Rows
		for arm, base := range map[string]float64{"matern, Dirichlet": 87, "features, Dirichlet": features, "diffusion, Dirichlet": diffusion,
			"auto": auto, "spreading": 85} {
			rows = append(rows, splits(arm, base, base+0.3, base-0.3)...)
		}
		return rows
	}
	says(t, coraFindings(all(86, 87, 88)), "Over 3 random splits, features have an accuracy of 86.00 ± 0.17 %", "features are worse by 1",
		"more than the 85.31 %", "not: not significantly", "88.00 ± 0.17 %: better by 3")
	says(t, coraFindings(all(87, 85, 85)), "no clear difference in accuracy", "not significantly more than the 85.31 %",
		"85.00 ± 0.17 %: no clear difference")
	says(t, coraFindings(all(88, 85, 84)), "features are better by 1", "worse by 1")
	if len(coraFindings(splits("spreading", 85))) != 0 {
		t.Error("one split says nothing")
	}
}

func TestBayesoptFindings(t *testing.T) {
	rows := func(panel string, ours, random float64) (all Rows) {
		for arm, base := range map[string]float64{"ours": ours, "random": random} {
			for seed := range 3 {
				all = append(all, Row{"panel": panel, "arm": arm, "seed": seed, "regret": base * (1 + 0.01*float64(seed))})
			}
		}
		return all
	}
	all := append(rows("a", 1, 2), append(rows("b", 2, 1), append(rows("g", 1, 2), rows("c", 1, 1)...)...)...)
	found := bayesoptFindings(all)
	if len(found) != 2 {
		t.Fatalf("%q", found)
	}
	says(t, found[:1], "Compared with random", "on panels a, higher on b, and within two standard errors on c", "not: Twitter")
	says(t, found[1:], "tasks that are not in the paper: Twitter, higher on none")
	says(t, bayesoptFindings(rows("g-twitch", 1, 2)), "on panels g,")
	if len(bayesoptFindings(Rows{{"panel": "a", "arm": "ours", "seed": 0, "regret": 1.0}})) != 0 {
		t.Error("one arm says nothing")
	}
}

func TestRingFindings(t *testing.T) {
	rows := func(dense float64) Rows {
		return Rows{{"arm": denseArm, "nodes": 32, "seed": 1, "rmse": dense}, {"arm": featuresArm, "nodes": 32, "seed": 1, "rmse": 1.0}}
	}
	says(t, ringFindings(rows(1.01)), "within the tolerance of iterative solves", "hops 0 to 2")
	says(t, ringFindings(rows(1.01)), "not: 64 probes")
	numbers := Rows{{"arm": numbersArm, "nodes": 32, "seed": 1, "rmse": 0.9, "training_seconds": 8.0},
		{"arm": featuresArm, "nodes": 32, "seed": 1, "rmse": 1.0, "training_seconds": 2.0},
		{"arm": featuresArm, "nodes": 32, "seed": 2, "rmse": 5.0, "training_seconds": 9.0}}
	says(t, ringFindings(numbers), "takes 4 times as long at 32 nodes, and the error is 0.9 instead of 1.")
	says(t, ringFindings(rows(1.5)), "more than the 5 % that the tolerance of iterative solves explains")
}

func TestTheoryFindings(t *testing.T) {
	rows := func(kappa, c float64) (all Rows) {
		for k, n := range []int{64, 1024} {
			grown := func(by float64) float64 { return math.Pow(by, float64(k)) }
			all = append(all, Row{"graph": "grid", "nodes": n, "quantity": condition, "observed": 100 * grown(kappa)},
				Row{"graph": "grid", "nodes": n, "quantity": iterations, "observed": 40.0},
				Row{"graph": "hubs", "nodes": n, "quantity": featureSum, "bound": 2 * grown(c)})
		}
		return all
	}
	says(t, theoryFindings(rows(1, 10)), "does not grow with the graph", "almost vacuous")
	says(t, theoryFindings(rows(3, 1)), "grows with the graph", "not: does not grow", "not: almost vacuous")
}

// Tables are shown without the data, and findings state what is missing.
func TestShownWithoutData(t *testing.T) {
	noData(t)
	field := map[string][]float64{"mean": {1}, "sd": {1}, "squared": {1}, "density": {1}, "probabilities": {1}}
	for _, c := range []struct {
		e     *Experiment
		part  string
		wants []string
	}{
		{traffic(), regressionSettings{Arm: autoArm, Split: 1111}.name(), []string{"the maps of speeds"}},
		{wind(), regressionSettings{Arm: autoArm, Split: 1000, Weight: equalWeights, Seed: 1}.windName(),
			[]string{"the globes", "node-by-node comparison"}},
		{cora(), topicSettings{Arm: "auto", Split: -1, Seed: 1}.name(), []string{"the network"}},
	} {
		r := &Results{arrays: map[string]map[string][]float64{}}
		r.add(c.part, &Result{Arrays: field})
		s, err := c.e.Show(Options{Seed: 1}, r)
		if err != nil || len(s.Tables) == 0 {
			t.Errorf("%s: %v", c.e.Name, err)
			continue
		}
		for _, want := range c.wants {
			says(t, s.Findings, "Not shown: the ", want, "'grfgp-lab dataset list'")
		}
	}
}
