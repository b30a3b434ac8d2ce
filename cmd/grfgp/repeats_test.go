package main

import (
	"encoding/csv"
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"grfgp/internal/rng"
)

// lake is the quantity on a ring of 200 nodes; readings of it have noise of sd 1.
func lake(node int) float64 { return 20 + 2*math.Sin(3*2*math.Pi*float64(node)/200) }

// repeatedReadings writes 20 readings of every second node.
func repeatedReadings(t testing.TB, seed uint64) string {
	random := rand.New(rng.New(seed, "repeated readings"))
	var text strings.Builder
	text.WriteString("node,value\n")
	for range 20 {
		for node := 0; node < 200; node += 2 {
			fmt.Fprintf(&text, "%d,%g\n", node, lake(node)+random.NormFloat64())
		}
	}
	return write(t, t.TempDir(), "repeated.csv", text.String())
}

// predictions runs predict and returns the columns of its table.
func predictions(t testing.TB, args ...string) map[string][]float64 {
	t.Helper()
	r := runLine(t, "", append([]string{"predict"}, args...)...)
	if r.code != exitOK {
		t.Fatalf("%v: %+v", args, r)
	}
	rows, err := csv.NewReader(strings.NewReader(r.out)).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	columns := map[string][]float64{}
	for _, row := range rows[1:] {
		for j, name := range rows[0] {
			v, err := strconv.ParseFloat(row[j], 64)
			if err != nil {
				v = math.NaN()
			}
			columns[name] = append(columns[name], v)
		}
	}
	return columns
}

// New readings fall into their 95 % intervals as often as they should, though
// nodes were read 20 times each: 5 seeds with a new reading at each of 200 nodes.
// The noise of new readings is independent and most of their variance, so that the
// share has about a binomial error, √(0.95·0.05/1000) = 0.7 %; it may be 3 of them
// off. Readings that are kept as rows of their own give the same predictions.
func TestRepeatsCoverNewReadings(t *testing.T) {
	const seeds = 5
	inside, sds := 0, 0.0
	for seed := range uint64(seeds) {
		base := []string{"--generate", "ring:200", "--measurements", repeatedReadings(t, seed), "--reading"}
		p := predictions(t, base...)
		random := rand.New(rng.New(seed, "new readings"))
		for node := range 200 {
			if v := lake(node) + random.NormFloat64(); p["lower"][node] <= v && v <= p["upper"][node] {
				inside++
			}
			sds += p["sd"][node] / 200 / seeds
		}
		kept := predictions(t, append(base, "--repeats", "keep")...)
		for _, column := range []string{"mean", "sd", "n"} {
			for node, want := range kept[column] {
				if got := p[column][node]; math.Abs(got-want) > 1e-6*math.Abs(want) {
					t.Fatalf("seed %d, node %d: %s %v by the mean of readings, %v by all of them", seed, node, column, got, want)
				}
			}
		}
	}
	share := float64(inside) / (200 * seeds)
	t.Logf("95 %% intervals hold %.1f %% of new readings; their mean sd is %.3f", 100*share, sds)
	if bound := 3 * math.Sqrt(0.95*0.05/(200*seeds)); math.Abs(share-0.95) > bound {
		t.Errorf("95 %% intervals hold %.1f %% of new readings, want 95 ± %.1f; their mean sd is %.3f", 100*share, 100*bound, sds)
	}
}
