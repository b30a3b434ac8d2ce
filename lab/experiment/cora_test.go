package experiment

import (
	"slices"
	"strings"
	"testing"

	"grfgp/gp"
)

// Full runs use the paper's likelihood with features and exact kernels on the authors'
// split; quick runs do not.
func TestCoraCells(t *testing.T) {
	count := map[string]int{}
	for _, c := range coraParts(Options{Seed: 1}) {
		s := c.Settings.(topicSettings)
		count[s.Arm]++
		if strings.Contains(s.Arm, "994") != (s.Inducing == paperInducing) || s.Inducing > 0 && (s.Method != gp.RobustMax || s.Split != -1) {
			t.Errorf("%+v", s)
		}
	}
	for arm, want := range map[string]int{paperFeatures: 5, paperDiffusion: 1, paperMatern: 1, authorsRobustMax: 5, "matern, Dirichlet": 11} {
		if count[arm] != want {
			t.Errorf("%s has %d parts, want %d", arm, count[arm], want)
		}
	}
	for _, c := range coraParts(Options{Quick: true, Seed: 1}) {
		if strings.Contains(c.Settings.(topicSettings).Arm, "994") {
			t.Errorf("a quick run has %s", c.Name)
		}
	}
}

// Each number is in the column of its likelihood and splits.
func TestCoraTable(t *testing.T) {
	noData(t)
	var rows Rows
	add := func(arm, split string, values ...float64) {
		for k, v := range values {
			rows = append(rows, Row{"arm": arm, "split": split, "seed": k, "accuracy": v})
		}
	}
	add(paperFeatures, "authors", 85, 86)
	add(authorsRobustMax, "authors", 84)
	add(authorsDirichlet, "authors", 83)
	add("features, Dirichlet", "0", 82)
	add(paperMatern, "authors", 81)
	add("matern, Dirichlet", "authors", 80)
	s, err := showCora(Options{Seed: 1}, &Results{Rows: rows})
	if err != nil {
		t.Fatal(err)
	}
	table := s.Tables[0].Rows
	if got := table[1][:5]; !slices.Equal(got, []string{"features", "87.04 ± 0.53", "85.50 ± 0.71", "83.00", "82.00"}) ||
		!strings.Contains(table[1][5], "with 300 inducing nodes 84.00") {
		t.Errorf("%q", table[1])
	}
	if got := table[2][:5]; !slices.Equal(got, []string{"Matérn, exact", "86.72 ± 0.31", "81.00", "80.00", "–"}) {
		t.Errorf("%q", got)
	}
}
