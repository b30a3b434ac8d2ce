package main

import (
	"encoding/csv"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"grfgp/internal/rng"
	"grfgp/internal/testkit"
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
// nodes were read 20 times each: 5 seeds with a new reading at each of 200 nodes (one
// seed in the quick suite).
// The noise of new readings is independent and most of their variance, so that the
// share has about a binomial error, √(0.95·0.05/1000) = 0.7 %; it may be 3 of them
// off. Readings that are kept as rows of their own give the same predictions.
func TestRepeatsCoverNewReadings(t *testing.T) {
	t.Parallel()
	testkit.Unraced(t)
	seeds := testkit.Size(1, 5)
	inside, sds := 0, 0.0
	for seed := range uint64(seeds) {
		base := []string{"--generate", "ring:200", "--measurements", repeatedReadings(t, seed)}
		p := predictions(t, base...)
		random := rand.New(rng.New(seed, "new readings"))
		for node := range 200 {
			if v := lake(node) + random.NormFloat64(); p["reading_lower"][node] <= v && v <= p["reading_upper"][node] {
				inside++
			}
			sds += p["sd"][node] / 200 / float64(seeds)
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
	share := float64(inside) / float64(200*seeds)
	t.Logf("95 %% intervals hold %.1f %% of new readings; their mean sd is %.3f", 100*share, sds)
	if bound := 3 * math.Sqrt(0.95*0.05/float64(200*seeds)); math.Abs(share-0.95) > bound {
		t.Errorf("95 %% intervals hold %.1f %% of new readings, want 95 ± %.1f; their mean sd is %.3f", 100*share, 100*bound, sds)
	}
}

// Means are kept in a model with their counts, and suggested from as all readings
// are.
func TestRepeatsInOtherVerbs(t *testing.T) {
	t.Parallel()
	testkit.Unraced(t)
	readings := repeatedReadings(t, 1)
	base := []string{"--generate", "ring:200", "--measurements", readings, "--family", "diffusion", "--scales", "one"}
	file := filepath.Join(t.TempDir(), "m.model")
	fitted := runLine(t, "", append([]string{"predict", "--save-model", file}, base...)...)
	loaded := runLine(t, "", "predict", "--generate", "ring:200", "--model", file)
	if fitted.code != exitOK || fitted.out != loaded.out || !strings.Contains(fitted.out, ",20\n") {
		t.Errorf("exit %d and %d, same output: %v\n%s", fitted.code, loaded.code, fitted.out == loaded.out, loaded.err)
	}

	mean := suggestRows(t, append(base, "--goal", "learn", "-n", "1")...)
	kept := suggestRows(t, append(base, "--goal", "learn", "-n", "1", "--repeats", "keep")...)
	for _, column := range []string{"sd", "variance_reduction"} { // nodes may be as good as each other, and have other means
		got, err1 := strconv.ParseFloat(mean[0][column], 64)
		want, err2 := strconv.ParseFloat(kept[0][column], 64)
		if err := errors.Join(err1, err2); err != nil {
			t.Fatal(err)
		}
		if math.Abs(got-want) > 1e-4*math.Abs(want) {
			t.Errorf("%s of the suggestion is %v by means, %v by all readings", column, got, want)
		}
	}

	// The 100 means are neither too often nor too seldom inside the 95 % intervals of
	// such.
	v := runLine(t, "", append([]string{"validate", "--folds", "4"}, base...)...)
	_, line, _ := strings.Cut(v.out, "\n95 % intervals contain")
	if line, _, _ = strings.Cut(line, "\n"); v.code != exitOK || !strings.Contains(line, "as expected") {
		t.Errorf("%+v", v)
	}
}

// A new reading has a noise where sds are given too.
func TestReadingWithGivenSDs(t *testing.T) {
	t.Parallel()
	text := "node,value,sd\n"
	for node := 0; node < 60; node += 3 {
		text += fmt.Sprintf("%d,%g,0.3\n%d,%g,0.3\n", node, lake(node), node, lake(node)+0.1)
	}
	base := []string{"--generate", "ring:60", "--measurements", write(t, t.TempDir(), "sds.csv", text)}
	p := predictions(t, base...)
	for node, sd := range p["sd"] {
		want := 1.959964 * math.Hypot(sd, 0.3)
		if got := (p["reading_upper"][node] - p["reading_lower"][node]) / 2; math.Abs(got-want) > 1e-5 {
			t.Fatalf("node %d: half the interval of a reading is %v, want %v", node, got, want)
		}
	}
	missing := write(t, t.TempDir(), "missing.csv", strings.Replace(text, "0,20,0.3\n", "0,20,\n", 1))
	if r := runLine(t, "", "predict", "--generate", "ring:60", "--measurements", missing); r.code != exitBadData ||
		!strings.Contains(r.err, "1 of 20 values have no sd") {
		t.Errorf("%+v", r)
	}
}

// One measurement, a constant, and values at the edge of numbers: each verb works
// or says what is missing.
func TestLittleToLearnFrom(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	files := map[string]string{
		"one": "7,13\n", "node": "7,13\n7,12\n", "same": "7,13\n8,13\n20,13\n",
		"tiny": "7,1e-155\n8,3e-155\n20,2e-155\n", "huge": "7,1e155\n8,3e155\n20,2e155\n",
	}
	for name, rows := range files {
		files[name] = write(t, dir, name+".csv", "node,value\n"+rows)
	}
	files["sds"] = write(t, dir, "sds.csv", "node,value,sd\n7,13,0.5\n")
	const known = "--mean 10 --noise-sd 0.5"
	for _, c := range []struct {
		verb, file, flags string
		code              int
		want              string
	}{
		{"predict", "one", "", exitBadData, "only one node was measured: there is nothing to learn from unless mean and noise are known; " +
			"measure more nodes, name another column with --column value=…, or give what is known: --mean and --noise-sd"},
		{"predict", "one", "--mean 10", exitBadData, "--mean and --noise-sd"},
		{"predict", "one", known, exitOK, "\n7,12.9"},
		{"predict", "sds", "--mean 10", exitOK, "\n7,12.9"},
		{"predict", "node", "--mean 10", exitBadData, "--mean and --noise-sd"},
		{"predict", "node", known, exitOK, "\n7,12.4"},
		{"predict", "node", known + " --repeats keep", exitOK, "\n7,12.4"},
		{"predict", "same", "", exitBadData, "all values are 13: there is nothing to learn from unless"},
		{"predict", "same", known, exitOK, "\n8,12."},
		{"predict", "node", "--mean 10 --noise-sd 0", exitNotFitted, "measurements of one node differ, but the noise is given as 0"},
		{"predict", "one", "--mean 13 --noise-sd 0", exitNotFitted, "nothing says how far values vary"},
		{"predict", "tiny", "", exitNotFitted, "too little for a variance to be a number; give them in another unit"},
		{"predict", "huge", "", exitNotFitted, "too far for a variance to be a number; correct them, or give them in another unit"},
		{"validate", "one", known, exitBadData, "only one node is measured, so no measurement is left to predict from; measure more nodes to " +
			"validate"},
		{"validate", "node", known + " --repeats keep", exitBadData, "measure more nodes to validate"},
		{"validate", "same", known, exitOK, "too few to tell"},
		{"validate", "tiny", "", exitNotFitted, "too little for a variance to be a number"},
		{"report", "one", known + " -o " + filepath.Join(dir, "r.html"), exitOK, "so there is no validation"},
		{"suggest", "one", "--goal learn " + known, exitOK, "largest reduction of the total posterior variance"},
		{"suggest", "one", "--goal learn", exitOK, "drawn at random"},
		{"suggest", "tiny", "--goal learn", exitOK, "with a variance outside the range of floating-point numbers"},
	} {
		args := append([]string{c.verb, "--generate", "ring:30", "--measurements", files[c.file]}, strings.Fields(c.flags)...)
		if r := runLine(t, "", args...); r.code != c.code || !strings.Contains(r.out+r.err, c.want) {
			t.Errorf("%s of %s with %q: want exit %d and %q, not\n%+v", c.verb, c.file, c.flags, c.code, c.want, r)
		}
	}
}
