package main

import (
	"strings"
	"testing"

	"grfgp/crossval"
	"grfgp/internal/cli"
	"grfgp/lab/bench"
)

// The table holds means with standard errors; a rule that a case lacks has an empty cell.
func TestPrintRivals(t *testing.T) {
	r := &bench.RivalReport{Cases: []bench.RivalResult{
		{
			Title: "roads", Measure: "RMSE", Rules: []bench.RuleScore{
				{Rule: crossval.SingularRidge, Error: bench.Splits{3, 3}}, {Rule: crossval.Mean, Error: bench.Splits{4, 5}},
			},
			Model: bench.RivalScore{Error: bench.Splits{1, 2}, Coverage: bench.Splits{0.9, 1}, Density: bench.Splits{1, 1},
				Seconds: bench.Splits{2, 4}},
			Kriging: &bench.RivalScore{Error: bench.Splits{4, 4}},
			Parts: []bench.PartScore{{Term: "graph", RivalScore: bench.RivalScore{Error: bench.Splits{2, 2}}},
				{Term: "roles", RivalScore: bench.RivalScore{Error: bench.Splits{3, 3}}}},
		},
		{
			Title: "links", Measure: "RMSE", Rules: []bench.RuleScore{{Rule: crossval.Mean, Error: bench.Splits{4}}},
			Model: bench.RivalScore{Error: bench.Splits{1}, Coverage: bench.Splits{0.9}, Density: bench.Splits{1}, Seconds: bench.Splits{2}},
		},
		{
			Title: "papers", Measure: "accuracy", Classes: 7, Rules: []bench.RuleScore{{Rule: crossval.ClassFrequencies, Error: bench.Splits{0.25}}},
			Model: bench.RivalScore{Error: bench.Splits{0.5}, Density: bench.Splits{1}, ECE: bench.Splits{0.02}, Seconds: bench.Splits{2}},
		},
	}}
	var b strings.Builder
	if err := printRivals(&b, r); err != nil {
		t.Fatal(err)
	}
	const want = `| case | splits | score | overall mean | ridge on singular vectors | kriging as the crow flies | **grfgp** | in 95 % intervals | NLPD | seconds |
| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |
| roads | 2 | RMSE | 4.500 ± 0.500 | 3.000 ± 0.000 | 4.000 ± 0.000 | **1.500 ± 0.500** | 95.0 ± 5.0 % | 1.000 ± 0.000 | 3.0 |
| links | 1 | RMSE | 4.000 |  |  | **1.000** | 90.0 % | 1.000 | 2.0 |

| case | splits | score | majority class | **grfgp** | NLL | ECE | seconds |
| --- | --- | --- | --- | --- | --- | --- | --- |
| papers | 1 | accuracy | 25.0 % | **50.0 %** | 1.000 | 0.020 | 2.0 |

| case | score | graph alone | covariates alone | roles alone | **all** |
| --- | --- | --- | --- | --- | --- |
| roads | RMSE | 2.000 ± 0.000 |  | 3.000 ± 0.000 | **1.500 ± 0.500** |
`
	if b.String() != want {
		t.Errorf("got\n%s\nwant\n%s", b.String(), want)
	}
}

func TestBenchRivalsUsage(t *testing.T) {
	for _, c := range []struct{ args, want string }{
		{"bench rivals --case karate", "there is no such case; the cases are chicago, anaheim"},
		{"bench rivals --splits 9", "give 1 to 5"},
	} {
		if r := runLine(t, "", strings.Fields(c.args)...); r.code != cli.ExitUsage || !strings.Contains(r.err, c.want) {
			t.Errorf("%s: %+v", c.args, r)
		}
	}
}
