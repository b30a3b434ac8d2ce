package report_test

import (
	"fmt"

	"grfgp/crossval"
	"grfgp/report"
)

// Verdicts are typed results with a sentence each.
func Example() {
	e := report.CompareErrors(1.5, map[crossval.Baseline]float64{crossval.Mean: 4, crossval.Nearest: 2})
	fmt.Println(e.Better, e)
	c := report.JudgeCoverage(0.95, 0.8, 100)
	fmt.Println(c.Width == report.TooNarrow, c)
	// Output:
	// true The error (RMSE) at held-out measurements is 1.5, 25 % less than that of the best baseline, nearest measured node.
	// true 95 % intervals contain 80.0 % of held-out measurements, too few: the intervals are too narrow (a calibrated model: 90.0 to 99.0 %).
}
