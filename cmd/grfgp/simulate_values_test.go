package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// Searches of counts, shares and yes-no values are replayed, and their losses are those
// of rates.
func TestSimulateValues(t *testing.T) {
	t.Parallel()
	edges, shares := column(t, "node,positive,tested", func(i int) string { return fmt.Sprintf("%d,%d", i%5, 6+i%3) })
	_, answers := column(t, "node,value", func(i int) string { return fmt.Sprint(i / 9 % 2) })
	for _, c := range []struct {
		args string
		best float64
	}{
		{"--goal maximize --tested tested --truth " + shares, 4. / 6},
		{"--goal maximize --values count --exposure tested --truth " + shares, 4. / 6},
		{"--goal learn --values yes-no --truth " + answers, 0},
		{"--goal threshold=0.5 --values yes-no --truth " + answers, 0},
		{"--goal learn --transform log1p --truth " + shares + " --column value=positive --values gaussian", 0},
	} {
		r := runLine(t, "", append([]string{"simulate", "--edges", edges, "--roles", "none", "--family", "diffusion", "--scales", "one",
			"--steps", "4", "--seeds", "2", "--json"}, strings.Fields(c.args)...)...)
		var answer simulateAnswer
		if err := json.Unmarshal([]byte(r.out), &answer); r.code != exitOK || err != nil {
			t.Fatalf("%s: %v, %+v", c.args, err, r)
		}
		if b := answer.Best; (b != nil) != (c.best > 0) || b != nil && b.Value != c.best {
			t.Errorf("%s: best %+v, want %v", c.args, b, c.best)
		}
	}
	_, twice := column(t, "node,value", func(i int) string { return fmt.Sprint(i/9%2) + "\n" + fmt.Sprintf("a%d,1", i) })
	if r := runLine(t, "", "simulate", "--edges", edges, "--truth", twice, "--values", "yes-no", "--goal", "learn"); r.code != exitUsage ||
		!strings.Contains(r.err, "--repeats last") {
		t.Errorf("%+v", r)
	}
}
