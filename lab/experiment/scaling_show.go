package experiment

import (
	"fmt"
	"math"

	"grfgp/lab/bench"
	"grfgp/lab/plot"
)

// Exponents are fitted to graphs of at least these sizes, as in the paper.
const (
	denseFrom  = 1 << 9
	sparseFrom = 1 << 15
)

// solvesWithin bounds the relative difference of errors between the sparse and the dense
// arm that the tolerance of solves during learning, 3 %, explains.
const solvesWithin = 0.05

// ringCosts are the cost columns in the order of Figure 2.
var ringCosts = []struct{ column, name, axis, paperDense, paperSparse string }{
	{"stored_mb", "memory", "MB", "2.00 (2.00 to 2.00)", "1.00 (1.00 to 1.00)"},
	{"init_seconds", "initialisation", "seconds", "1.21 (1.09 to 1.33)", "0.81 (0.73 to 0.88)"},
	{"training_seconds", "training", "seconds", "1.97 (1.20 to 2.73)", "1.04 (0.96 to 1.12)"},
	{"inference_seconds", "inference", "seconds", "2.16 (1.50 to 2.81)", "1.04 (0.93 to 1.14)"},
}

// means returns the sizes of an arm and the mean of a column at each.
func means(rows Rows, arm, column string) (x, y []float64) {
	return rows.Where("arm", arm).Along("nodes", column)
}

// paperColumn returns a column of a table of the paper.
func paperColumn(table []ringCost, column string) (x, y []float64) {
	for _, c := range table {
		x, y = append(x, c.nodes), append(y, c.of(column))
	}
	return x, y
}

// above returns the costs of sizes from a smallest one on, or those of the upper half of
// the sizes if fewer than three are that large.
func above(from float64, x, y []float64) (largeX, largeY []float64) {
	at := 0
	for at < len(x) && x[at] < from {
		at++
	}
	if len(x)-at < 3 {
		at = min(len(x)/2, max(0, len(x)-3))
	}
	return x[at:], y[at:]
}

func formatExponent(e bench.Exponent) string {
	if math.IsNaN(e.Value) {
		return ""
	}
	return fmt.Sprintf("%.2f (%.2f to %.2f)", e.Value, e.Lower, e.Upper)
}

func showScaling(o Options, r *Results) (*Section, error) {
	s := &Section{Tables: []Table{exponents(r.Rows), ringTotals(r.Rows), ringNumbers()}}
	s.Tables = append(s.Tables,
		ringTable("Dense kernel, by size (Table 2)", r.Rows.Where("arm", denseArm), paperDense),
		ringTable("Sparse features, by size (Table 3)", r.Rows.Where("arm", featuresArm), paperSparse),
		ringTable("Sparse features with the authors' probes and tolerance and no preconditioner, by size (Table 3)",
			r.Rows.Where("arm", numbersArm), paperSparse),
		ringTable("Clean protocol, by size", r.Rows.Where("arm", cleanArm), nil))
	s.Figures = nonEmpty(Figure{
		Name: "growth", Wide: true, Picture: ringFigure(r.Rows),
		Caption: "As Figure 2: cost against the number of nodes (dots), power laws fitted over the range of the lines (exponents with 95 % " +
			"intervals), and the paper's tables (dashed). " +
			"The last panel, which the paper does not have, shows the error at test nodes; the noise is 0.1.",
	})
	s.Findings = ringFindings(r.Rows)
	if o.Quick {
		s.Findings = append(s.Findings, "This was a quick run on small rings; exponents are fitted to the larger half of these and mean little.")
	}
	return s, nil
}

// exponents is Table 1 with the intervals of Table 4.
func exponents(rows Rows) Table {
	var all []Comparison
	for _, c := range ringCosts {
		fit := func(arm string, from float64) string {
			x, y := means(rows, arm, c.column)
			return formatExponent(bench.FitExponent(above(from, x, y)))
		}
		dense := Comparison{What: c.name + ", dense", Paper: c.paperDense, Theirs: fit(denseArm, denseFrom)}
		sparse := Comparison{What: c.name + ", sparse", Paper: c.paperSparse, Theirs: fit(featuresArm, sparseFrom),
			Clean: fit(cleanArm, sparseFrom)}
		if c.column == "stored_mb" {
			dense.Differs = "the paper counts three dense matrices, one per hop; ours is the kernel matrix alone"
		}
		if c.column == "init_seconds" {
			x, y := paperColumn(paperDense, c.column)
			dense.Differs = "fitted to the paper's Table 2 from 512 nodes on: " + formatExponent(bench.FitExponent(above(denseFrom, x, y)))
			x, y = paperColumn(paperSparse, c.column)
			sparse.Differs = "fitted to the paper's Table 3 from 32,768 nodes on: " + formatExponent(bench.FitExponent(above(sparseFrom, x, y)))
		}
		if c.column == "training_seconds" {
			dense.Differs = "ours uses the features of the sparse arm, the paper's another kernel and library; ours factors a matrix in every " +
				"epoch, the paper's runs on a GPU that small sizes do not fill"
			sparse.Differs = "clean: exact fits to a sample, which are part of learning, cost the same at any size"
		}
		all = append(all, dense, sparse)
		if x, y := means(rows, numbersArm, c.column); len(x) > 2 && c.column != "stored_mb" {
			largeX, largeY := above(sparseFrom, x, y)
			all = append(all, Comparison{What: c.name + ", sparse, authors' settings", Paper: c.paperSparse,
				Theirs:  formatExponent(bench.FitExponent(largeX, largeY)),
				Differs: fmt.Sprintf("64 probes, relative residual 0.01 and no preconditioner, as in the paper; %d sizes", len(largeX))})
		}
	}
	return Compare("Exponent b of cost ≈ a·N^b, with 95 % intervals (Tables 1 and 4)",
		"Fitted to means over seeds, from 512 nodes (dense) and 32,768 nodes (sparse) on, as in the paper; quick runs use the larger half of "+
			"their sizes. Our dense method is not the authors': it uses the features of the sparse one, while theirs has another library, "+
			"optimiser and kernel.", all...)
}

// ringNumbers compares the work of a learning step.
func ringNumbers() Table {
	ours := "300,000 / measurements, between 3 and 15: 3 at 1,048,576 nodes"
	return Table{
		Title: "Settings of a learning step",
		Head:  []string{"", "paper", "features", "numbers", "clean"},
		Rows: [][]string{
			{"hops", "0 to 2", "0 to 2", "0 to 2", "0 to 5, and 0 to 10 on coarser rings"},
			{"probes", "64", ours, "64", ours},
			{"probes drawn", "in every step", "once: solves start from the last solution", "in every step: solves start from zero",
				"once: solves start from the last solution"},
			{"relative residual", "0.01, mean over columns", "0.03, every column", "0.01, every column",
				"0.03 or less, depending on the noise, every column"},
			{"preconditioner", "none", "diagonal", "none", "the coarser rings, inverted exactly"},
			{"posterior", "64 samples, residual 0.01; mean of the samples", "64 samples, residual 0.01; mean by a solve, residual 1e-4",
				"as features, without a preconditioner", "as features, with its preconditioner"},
			{"arithmetic", "float32, GPU", "float64, features float32", "float64, features float32", "float64, features float32"},
		},
		Note: "The paper's column is from the authors' code. A step of \"features\" is cheaper than the paper's also because of these " +
			"settings, not only because of the method; \"numbers\" has as many probes as the paper and a tolerance that is at least as strict.",
	}
}

// ringTotals compares the cost of whole runs.
func ringTotals(rows Rows) Table {
	total := func(arm string, n float64) float64 {
		sum := 0.0
		for _, c := range ringCosts[1:] {
			sum += rows.Where("arm", arm).Where("nodes", n).Over(c.column).Mean
		}
		return sum
	}
	paper := func(table []ringCost, n float64) float64 {
		for _, c := range table {
			if c.nodes == n {
				return c.initialise + c.training + c.inference
			}
		}
		return math.NaN()
	}
	var all []Comparison
	if sizes := rows.Where("arm", denseArm).Distinct("nodes"); len(sizes) > 0 {
		n := sizes[len(sizes)-1]
		all = append(all, Comparison{
			What:    fmt.Sprintf("speed-up of sparse over dense, %.0f nodes", n),
			Paper:   fmt.Sprintf("%.3g×", paper(paperDense, n)/paper(paperSparse, n)),
			Theirs:  fmt.Sprintf("%.3g×", total(denseArm, n)/total(featuresArm, n)),
			Differs: "ours: the same library, optimiser and model for both; the paper's differ in all three",
		})
	}
	if sizes := rows.Where("arm", featuresArm).Distinct("nodes"); len(sizes) > 0 {
		n := sizes[len(sizes)-1]
		row := Comparison{What: fmt.Sprintf("total seconds, sparse, %.0f nodes", n), Paper: Short(paper(paperSparse, n)),
			Theirs: Short(total(featuresArm, n)), Clean: Short(total(cleanArm, n)),
			Differs: "the paper: an NVIDIA RTX 2080 Ti, 64 probes, residual 0.01, no preconditioner; ours: the CPU of this machine, 3 to 15 " +
				"probes, residual 0.03, with a preconditioner"}
		wrong := Comparison{What: fmt.Sprintf("test RMSE, %.0f nodes", n),
			Theirs:  rows.Where("arm", featuresArm).Where("nodes", n).Over("rmse").String(),
			Clean:   rows.Where("arm", cleanArm).Where("nodes", n).Over("rmse").String(),
			Differs: "from the authors' result files, not in the paper; the noise is 0.1"}
		for _, c := range paperSparse {
			if c.nodes == n {
				wrong.Paper = Short(c.rmse)
			}
		}
		all = append(all, row, wrong)
	}
	if sizes := rows.Where("arm", numbersArm).Distinct("nodes"); len(sizes) > 0 {
		n := sizes[len(sizes)-1]
		all = append(all,
			Comparison{What: fmt.Sprintf("total seconds, sparse, authors' settings, %.0f nodes", n), Paper: Short(paper(paperSparse, n)),
				Theirs:  Short(total(numbersArm, n)),
				Differs: "64 probes, residual 0.01 and no preconditioner for both; the paper on a GPU, ours on the CPU of this machine"},
			Comparison{What: fmt.Sprintf("test RMSE, authors' settings, %.0f nodes", n),
				Theirs: rows.Where("arm", numbersArm).Where("nodes", n).Over("rmse").String(),
				Differs: fmt.Sprintf("\"features\" with the same seeds and size: %s",
					sameSeeds(rows.Where("arm", featuresArm).Where("nodes", n), rows.Where("arm", numbersArm).Where("nodes", n)).Over("rmse"))})
	}
	return Compare("Whole runs: initialisation, 50 epochs, inference", "Means over seeds; errors ± standard deviation over seeds.", all...)
}

// sameSeeds returns the rows whose seeds occur in others.
func sameSeeds(rows, others Rows) (same Rows) {
	for _, row := range rows {
		if len(others.Where("seed", row.Num("seed"))) > 0 {
			same = append(same, row)
		}
	}
	return same
}

// ringTable lists an arm by size, beside a table of the paper if given.
func ringTable(title string, rows Rows, paper []ringCost) Table {
	t := Table{Title: title, Head: []string{"nodes"}}
	columns := []struct{ column, head string }{{"stored_mb", "memory MB"}, {"init_seconds", "init s"}, {"training_seconds", "training s"},
		{"inference_seconds", "inference s"}, {"rmse", "RMSE"}}
	for _, c := range columns {
		head := c.head
		if paper != nil {
			head += " (paper | ours)"
		}
		t.Head = append(t.Head, head)
	}
	t.Head = append(t.Head, "coverage", "seeds")
	for _, n := range rows.Distinct("nodes") {
		here := rows.Where("nodes", n)
		line := []string{fmt.Sprintf("%.0f", n)}
		for _, c := range columns {
			mine := here.Over(c.column)
			if c.column != "rmse" {
				mine.N = min(mine.N, 1) // the mean alone
			}
			text := mine.String()
			for _, p := range paper {
				if p.nodes == n {
					text = Short(p.of(c.column)) + " | " + text
				}
			}
			line = append(line, text)
		}
		t.Rows = append(t.Rows, append(line, fmt.Sprintf("%.3f", here.Over("coverage").Mean), fmt.Sprint(len(here))))
	}
	t.Note = "Means over seeds; errors ± standard deviation over seeds. Coverage is the share of test values in 95 % intervals."
	if paper != nil {
		t.Note += " The paper's RMSE is from the authors' result files."
	}
	if len(rows) > 0 && rows[0].Text("arm") == denseArm {
		t.Note += " This is not the authors' dense method: ours uses the features of the sparse one and theirs learns another kernel, so " +
			"errors differ. Its memory is one N × N matrix, theirs three."
	}
	return t
}

// ringFigure is Figure 2 with an additional panel of errors.
func ringFigure(rows Rows) *plot.Picture {
	arms := []struct {
		key, name string
		from      float64
		paper     []ringCost
	}{{denseArm, "dense", denseFrom, paperDense}, {featuresArm, "sparse features", sparseFrom, paperSparse},
		{numbersArm, "sparse, the authors' settings", sparseFrom, nil}, {cleanArm, "clean: many scales", sparseFrom, nil}}
	var charts []plot.Chart
	for k, c := range append(ringCosts, struct{ column, name, axis, paperDense, paperSparse string }{
		column: "rmse", name: "error at test nodes", axis: "RMSE"}) {
		chart := plot.Chart{Title: fmt.Sprintf("(%c) %s", 'a'+k, c.name), X: "nodes", Y: c.axis, LogX: true, LogY: true, Small: true}
		for _, arm := range arms {
			x, y := means(rows, arm.key, c.column)
			// Dots keep the dense arm visible behind the sparse one, whose errors are nearly equal.
			chart.Lines = append(chart.Lines, plot.Line{Name: arm.name, X: x, Y: y, Dots: c.column != "rmse" || arm.key == denseArm})
			if c.column != "rmse" {
				largeX, largeY := above(arm.from, x, y)
				chart.Lines = append(chart.Lines, trend(arm.name, largeX, bench.FitExponent(largeX, largeY)))
			}
			if x, y := paperColumn(arm.paper, c.column); len(rows) > 0 && arm.paper != nil {
				chart.Lines = append(chart.Lines, plot.Line{Name: arm.name + ", paper", Like: arm.name, X: x, Y: y, Dash: plot.Dashed})
			}
		}
		charts = append(charts, chart)
	}
	return plot.Shared("", 3, charts...)
}

// trend draws a fitted power law over the sizes, with its exponent.
func trend(name string, x []float64, e bench.Exponent) plot.Line {
	if math.IsNaN(e.Value) {
		return plot.Line{Name: name}
	}
	l := plot.Line{Name: name, X: x, Note: fmt.Sprintf("%s: N^{%.2f}", name, e.Value)}
	if e.Upper > e.Lower {
		l.Note = fmt.Sprintf("%s: N^{%.2f ± %.2f}", name, e.Value, (e.Upper-e.Lower)/2)
	}
	for _, n := range x {
		l.Y = append(l.Y, e.Factor*math.Pow(n, e.Value))
	}
	return l
}

func ringFindings(rows Rows) []string {
	var all []string
	dense, sparse := rows.Where("arm", denseArm), rows.Where("arm", featuresArm)
	worst, at := 0.0, 0.0
	for _, n := range dense.Distinct("nodes") {
		a, b := dense.Where("nodes", n).Where("seed", dense[0].Num("seed")).Over("rmse").Mean,
			sparse.Where("nodes", n).Where("seed", dense[0].Num("seed")).Over("rmse").Mean
		if d := math.Abs(a-b) / a; d > worst {
			worst, at = d, n
		}
	}
	if at > 0 {
		within := "within the tolerance of iterative solves during learning"
		if worst > solvesWithin {
			within = fmt.Sprintf("more than the %.0f %% that the tolerance of iterative solves explains", 100*solvesWithin)
		}
		all = append(all, fmt.Sprintf("The dense and the sparse method fit the same model: their errors differ by at most %.1f %% (at %.0f "+
			"nodes), %s.", 100*worst, at, within))
	}
	if numbers := rows.Where("arm", numbersArm); len(numbers) > 0 {
		sizes := numbers.Distinct("nodes")
		n := sizes[len(sizes)-1]
		here := numbers.Where("nodes", n)
		same := sameSeeds(sparse.Where("nodes", n), here)
		all = append(all, fmt.Sprintf("With the authors' 64 probes, relative residual of 0.01 and no preconditioner, training takes %.3g "+
			"times as long at %.0f nodes, and the error is %s instead of %s.",
			here.Over("training_seconds").Mean/same.Over("training_seconds").Mean, n, here.Over("rmse"), same.Over("rmse")))
	}
	if sizes := sparse.Distinct("nodes"); len(sizes) > 0 {
		n := sizes[len(sizes)-1]
		text := fmt.Sprintf("With 100 walks on the Laplacian and hops 0 to 2 the RMSE is %s at %.0f nodes, where the noise is 0.1",
			sparse.Where("nodes", n).Over("rmse"), n)
		if clean := rows.Where("arm", cleanArm); len(clean) > 0 {
			most := clean.Distinct("nodes")
			text += fmt.Sprintf("; with several scales it is %s at %.0f", clean.Where("nodes", most[len(most)-1]).Over("rmse"), most[len(most)-1])
		}
		all = append(all, text+".")
	}
	return all
}
