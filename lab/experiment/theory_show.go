package experiment

import (
	"fmt"
	"math"

	"grfgp/lab/bench"
	"grfgp/lab/plot"
)

// authorsCG are medians of ten runs from the authors' result files: condition number, if
// given, and iterations of conjugate gradients.
var authorsCG = []struct{ nodes, condition, iterations float64 }{
	{16, 3564, 21}, {32, 1.839e4, 59.5}, {64, 5981, 105.5}, {128, 7996, 167.5}, {256, 6266, 168.5}, {512, 2.498e4, 337.5},
	{1024, 3.013e4, 398.5},
	{2048, math.NaN(), 413.5}, {4096, math.NaN(), 424}, {8192, math.NaN(), 434}, {16384, math.NaN(), 480.5}, {32768, math.NaN(), 475.5},
}

// lemma1 is the exponent of the time of a solve in Lemma 1.
const lemma1 = 1.5

var theoryGraphs = []string{"ring", "grid", "hubs"}

func showTheory(o Options, r *Results) (*Section, error) {
	s := &Section{
		Tables: []Table{statements(r.Rows), growth(r.Rows), projections(r.Rows)},
		Figures: nonEmpty(
			Figure{Name: "theorem1", Wide: true, Picture: theorem1Figure(r.Rows),
				Caption: "Theorem 1. Left and middle: the error of a kernel entry between two neighbours that 5 % of runs exceed, and the bound. " +
					"Right: the number of non-zeros that 5 % of features exceed, and the bound; walks have unlimited length."},
			Figure{Name: "theorem2", Wide: true, Picture: theorem2Figure(r.Rows),
				Caption: "Theorem 2 and Lemma 1, with 100 walks per node and σ² = 0.01: observed (lines) and bounds (dashed, in the same colour). " +
					"Grey: medians from the authors' result files, with their own kernels; in (c) and (d) reference slopes, at arbitrary height."},
			Figure{Name: "woodbury", Wide: true, Picture: woodburyFigure(r.Rows),
				Caption: "Appendix B on a grid: errors of the kernel, of the solution of (K̂ + σ²I)v = b and of the posterior mean against the " +
					"number of dimensions m, and the time for projection and solve."},
		),
		Findings: theoryFindings(r.Rows),
	}
	if o.Quick {
		s.Findings = append(s.Findings, "This was a quick run with small graphs and few repetitions.")
	}
	return s, nil
}

// statements lists the bounds, each with the observation closest to it.
func statements(rows Rows) Table {
	t := Table{Title: "Bounds and the observations closest to them", Head: []string{"", "the paper", "observed", "bound", "where", "holds"}}
	stated := func(r Row) float64 { return r.Num("bound") }
	add := func(name, paper, quantity string, bound func(Row) float64) {
		near, share := Row(nil), math.Inf(-1)
		for _, r := range rows.Where("quantity", quantity) {
			if q := r.Num("observed") / bound(r); q > share {
				near, share = r, q
			}
		}
		if near == nil {
			return
		}
		holds := "yes"
		if share > 1 {
			holds = "no"
		}
		walks := "walks"
		if near.Num("walks") == 1 {
			walks = "walk"
		}
		at := fmt.Sprintf("%s, %.0f nodes, %.0f %s", near.Text("graph"), near.Num("nodes"), near.Num("walks"), walks)
		t.Rows = append(t.Rows, []string{name, paper, Short(near.Num("observed")), Short(bound(near)), at, holds})
	}
	add("Theorem 1, inequality 5", "the error exceeds t with probability at most 2 exp(−t²n³/2(2n−1)²c⁴)", exceeding, stated)
	add("Theorem 1, inequality 5", "hence 5 % of runs have an error above t at most", deviation, stated)
	add("Theorem 1, sparsity", "at most n log(1−(1−δ)^(1/n)) / log(1−p) non-zeros with probability 1 − δ", nonzeros, stated)
	add("Theorem 1, sparsity", "hence at most a share δ of features has more", denser, stated)
	add("Theorem 2, in its proof", "‖φ(i)‖₁ ≤ c for every i", featureSum, stated)
	add("Theorem 2, property 1", "products with K̂ = ΦΦᵀ in O(N): at any N, the number of non-zeros of Φ per node is at most the expected "+
		"number of visits, 1 + n Σ (1−p)^l", entriesPerNode, visits)
	add("Theorem 2, property 2", "κ(K̂ + σ²I) ≤ 1 + N c²/σ²", condition, stated)
	add("Lemma 1", "O(√κ) iterations of conjugate gradients: here ½√κ ln(2√κ/ε), with the bound on κ of Theorem 2", iterations, stated)
	return t
}

// visits is the expected number of distinct nodes that the walks of a node visit, if no node
// is visited twice.
func visits(r Row) float64 {
	sum, alive := 0.0, 1.0
	for range theoryHops {
		alive *= 1 - theoryHalt
		sum += alive
	}
	return 1 + r.Num("walks")*sum
}

// series returns the sizes of a kind of graph and the mean of a column at each.
func series(rows Rows, on, quantity, column string) (x, y []float64) {
	rows = rows.Where("graph", on).Where("quantity", quantity)
	return rows.Along("nodes", column)
}

// exponent fits the growth of a column over the upper half of the sizes.
func exponent(rows Rows, on, quantity, column string) bench.Exponent {
	x, y := series(rows, on, quantity, column)
	return bench.FitExponent(x[len(x)/2:], y[len(y)/2:])
}

// growth tabulates growth with N.
func growth(rows Rows) Table {
	t := Table{Title: "Growth with the number of nodes N",
		Head: []string{"graph", "nodes", "non-zeros per node", "c", "condition number", "CG iterations", "time of a product ∝ N^",
			"time of a solve ∝ N^", "bound on κ ∝ N^"},
		Note: "From the smallest to the largest graph. Exponents with 95 % intervals are fitted to the upper half of the sizes; the paper " +
			"states 1 for a product, at most 1.5 for a solve, and, for constant c, 1 for the bound on κ. " +
			"Here κ is near 1 + 1/σ² = 101 because the largest eigenvalue of exp(−βL̃) is 1 on every graph, and σ² is 0.01. The authors' own " +
			"kernel, in their file " +
			"cond_and_iterations_1121.csv, has κ of up to 3·10⁴ (medians, up to 1,024 nodes) and takes 21 iterations at 16 nodes and 480 at 16,384."}
	for _, on := range theoryGraphs {
		span := func(quantity, column string) string {
			_, y := series(rows, on, quantity, column)
			if len(y) == 0 {
				return "–"
			}
			return Short(y[0]) + " to " + Short(y[len(y)-1])
		}
		power := func(quantity, column string) string {
			if x, _ := series(rows, on, quantity, column); len(x) == 0 {
				return "–"
			}
			return formatExponent(exponent(rows, on, quantity, column))
		}
		x, _ := series(rows, on, condition, "observed")
		if len(x) == 0 {
			continue
		}
		t.Rows = append(t.Rows, []string{
			on, fmt.Sprintf("%.0f to %.0f", x[0], x[len(x)-1]), span(entriesPerNode, "observed"), span(featureSum, "bound"),
			span(condition, "observed"),
			span(iterations, "observed"), power(entriesPerNode, "seconds"), power(iterations, "seconds"), power(condition, "bound"),
		})
	}
	return t
}

// projections lists appendix B by rank.
func projections(rows Rows) Table {
	rows = rows.Where("check", "woodbury")
	what := "means ± standard deviation over seeds"
	if len(rows.Distinct("seed")) < 2 {
		what = "one seed"
	}
	t := Table{Title: "Woodbury formula after a Johnson–Lindenstrauss transform (appendix B)",
		Head: []string{"m", "kernel error", "expected", "solution error", "posterior mean error", "seconds"},
		Note: "Relative errors in the Frobenius norm, " + what +
			"; b is a noisy draw from the prior. The expected kernel error is √((‖K̂‖² + (tr K̂)²)/m)/‖K̂‖. " +
			"Equation 15 of the paper omits the factor 1/σ² of the preceding text."}
	if len(rows) > 0 {
		t.Title += fmt.Sprintf(", N = %.0f", rows[0].Num("nodes"))
	}
	for _, m := range rows.Distinct("rank") {
		here := rows.Where("rank", m)
		of := func(quantity string) Rows { return here.Where("quantity", quantity) }
		t.Rows = append(t.Rows, []string{
			fmt.Sprintf("%.0f", m), of(rankKernel).Over("observed").String(), Short(of(rankKernel).Over("bound").Mean),
			of(rankSolve).Over("observed").String(), of(rankMean).Over("observed").String(), Short(of(rankSolve).Over("seconds").Mean),
		})
	}
	return t
}

// byWalks returns the mean of a column at each number of walks.
func byWalks(rows Rows, column string) (x, y []float64) { return rows.Along("walks", column) }

func theorem1Figure(rows Rows) *plot.Picture {
	var charts []plot.Chart
	for k, on := range []string{"grid", "hubs"} {
		here := rows.Where("graph", on).Where("quantity", deviation)
		x, y := byWalks(here, "observed")
		_, bound := byWalks(here, "bound")
		charts = append(charts, plot.Chart{Title: fmt.Sprintf("(%c) kernel entry, %s", 'a'+k, on), X: "walks per node, n", Y: "error t",
			LogX: true, LogY: true, Small: true,
			Lines: []plot.Line{{Name: "observed", X: x, Y: y}, {Name: "bound", X: x, Y: bound, Reference: true}}})
	}
	chart := plot.Chart{Title: "(c) non-zeros of a feature", X: "walks per node, n", Y: "non-zeros", LogX: true, LogY: true, Small: true}
	here := rows.Where("quantity", nonzeros)
	for _, n := range here.Distinct("nodes") {
		x, y := byWalks(here.Where("nodes", n), "observed")
		chart.Lines = append(chart.Lines, plot.Line{Name: fmt.Sprintf("observed, N = %.0f", n), X: x, Y: y})
	}
	x, y := byWalks(here, "bound")
	chart.Lines = append(chart.Lines, plot.Line{Name: "bound", X: x, Y: y, Reference: true})
	return plot.Shared("", 3, append(charts, chart)...)
}

func theorem2Figure(rows Rows) *plot.Picture {
	chart := func(title, y string) *plot.Chart {
		return &plot.Chart{Title: title, X: "nodes", Y: y, LogX: true, LogY: true, Small: true}
	}
	kappa, steps := chart("(a) condition number", "κ"), chart("(b) conjugate gradients", "iterations")
	product, solved := chart("(c) time of a product", "seconds"), chart("(d) time of a solve", "seconds")
	for _, on := range theoryGraphs {
		for _, c := range []struct {
			chart    *plot.Chart
			quantity string
			column   string
		}{
			{kappa, condition, "observed"}, {kappa, condition, "bound"}, {steps, iterations, "observed"}, {steps, iterations, "bound"},
			{product, entriesPerNode, "seconds"}, {solved, iterations, "seconds"},
		} {
			x, y := series(rows, on, c.quantity, c.column)
			line := plot.Line{Name: on, X: x, Y: y}
			if c.column == "bound" {
				line.Name, line.Like, line.Dash = on+", bound", on, plot.Dashed
			}
			c.chart.Lines = append(c.chart.Lines, line)
		}
	}
	if len(rows.Where("quantity", condition)) > 0 {
		var n, k, i []float64
		for _, a := range authorsCG {
			n, k, i = append(n, a.nodes), append(k, a.condition), append(i, a.iterations)
		}
		kappa.Lines = append(kappa.Lines, plot.Line{Name: "authors' runs", X: n, Y: k, Reference: true})
		steps.Lines = append(steps.Lines, plot.Line{Name: "authors' runs", X: n, Y: i, Reference: true})
	}
	product.Lines = append(product.Lines, slope(product.Lines, 1, "slope of N", plot.Dotted))
	solved.Lines = append(solved.Lines, slope(solved.Lines, lemma1, "slope of N^{1.5}", plot.Mixed))
	return plot.Shared("", 2, *kappa, *steps, *product, *solved)
}

// slope draws a power of N over the last decade, below all lines: a reference for slopes,
// not for heights.
func slope(lines []plot.Line, power float64, name string, dash plot.Dash) plot.Line {
	last, low := 0.0, math.Inf(1)
	for _, l := range lines {
		for _, n := range l.X {
			last = max(last, n)
		}
	}
	for _, l := range lines {
		for k, n := range l.X {
			if n >= last/10 && l.Y[k] > 0 {
				low = min(low, l.Y[k])
			}
		}
	}
	if math.IsInf(low, 1) {
		return plot.Line{Name: name, Reference: true}
	}
	return plot.Line{Name: name, Reference: true, Dash: dash, X: []float64{last / 10, last},
		Y: []float64{low / 2 / math.Pow(10, power), low / 2}}
}

func woodburyFigure(rows Rows) *plot.Picture {
	rows = rows.Where("check", "woodbury")
	by := func(quantity, column string) (x, y []float64) {
		here := rows.Where("quantity", quantity)
		for _, m := range here.Distinct("rank") {
			x, y = append(x, m), append(y, here.Where("rank", m).Over(column).Mean)
		}
		return x, y
	}
	wrong := plot.Chart{Title: "(a) relative error", X: "dimensions, m", Y: "relative error", LogX: true, LogY: true, Small: true}
	for _, c := range []struct{ name, quantity string }{{"kernel", rankKernel}, {"solution", rankSolve}, {"posterior mean", rankMean}} {
		x, y := by(c.quantity, "observed")
		wrong.Lines = append(wrong.Lines, plot.Line{Name: c.name, X: x, Y: y, Dots: c.quantity == rankKernel})
	}
	x, y := by(rankKernel, "bound")
	wrong.Lines = append(wrong.Lines, plot.Line{Name: "kernel, expected", X: x, Y: y, Reference: true})
	time := plot.Chart{Title: "(b) time for projection and solve", X: "dimensions, m", Y: "seconds", LogX: true, LogY: true, Small: true}
	x, y = by(rankSolve, "seconds")
	time.Lines = []plot.Line{{Name: "projection and solve", X: x, Y: y}}
	return plot.Shared("", 2, wrong, time)
}

func theoryFindings(rows Rows) []string {
	var all []string
	if x, c := series(rows, "hubs", featureSum, "bound"); len(x) > 1 {
		text := fmt.Sprintf("On graphs with hubs, the constant c of the bounds is %s at %.0f nodes and %s at %.0f", Short(c[0]), x[0],
			Short(c[len(c)-1]), x[len(x)-1])
		if _, ring := series(rows, "ring", featureSum, "bound"); len(ring) > 0 {
			text += fmt.Sprintf("; on rings it is %s", Short(ring[0]))
		}
		if c[len(c)-1] > 2*c[0] {
			text += ". It grows with the hubs, so there the bounds of Theorems 1 and 2 are almost vacuous, and the bound on κ grows faster than N"
		}
		all = append(all, text+".")
	}
	x, k := series(rows, "grid", condition, "observed")
	_, i := series(rows, "grid", iterations, "observed")
	if len(x) > 1 {
		first, last := x[0], x[len(x)-1]
		sizes := fmt.Sprintf("(grid: %s at %.0f nodes, %s at %.0f; %.0f and %.0f iterations of conjugate gradients)", Short(k[0]), first,
			Short(k[len(k)-1]), last, i[0], i[len(i)-1])
		if k[len(k)-1] < 1.1*k[0] {
			all = append(all, "The condition number of a fixed kernel does not grow with the graph "+sizes+
				", so a solve takes the same number of products at any size; the N^1.5 of Lemma 1 is an upper bound.")
		} else {
			all = append(all, "The condition number of a fixed kernel grows with the graph "+sizes+".")
		}
	}
	for _, on := range theoryGraphs {
		switch e := exponent(rows, on, iterations, "seconds"); {
		case !(e.Value > lemma1):
		case lemma1 < e.Lower && e.Lower < e.Value: // two sizes have no interval
			all = append(all, fmt.Sprintf("On %s the time of a solve grew as N^%s in this run, faster than Lemma 1 states; the number of "+
				"iterations is the check that does not depend on the machine.", on, formatExponent(e)))
		default:
			all = append(all, fmt.Sprintf("On %s the time of a solve grew as N^%s in this run, more than the 1.5 of Lemma 1, but with so few "+
				"sizes the difference is not significant.", on, formatExponent(e)))
		}
	}
	woodbury := rows.Where("check", "woodbury")
	if ranks := woodbury.Distinct("rank"); len(ranks) > 0 {
		at := func(m float64, quantity string) string {
			return Short(woodbury.Where("rank", m).Where("quantity", quantity).Over("observed").Mean)
		}
		first, last := ranks[0], ranks[len(ranks)-1]
		all = append(all, fmt.Sprintf("The projection of appendix B is as accurate as expected of a Gaussian projection, but with m of "+
			"logarithmic order the solution is inaccurate: its relative error is %s at m = %.0f and %s at m = %.0f, that of the posterior mean "+
			"%s and %s.",
			at(first, rankSolve), first, at(last, rankSolve), last, at(first, rankMean), at(last, rankMean)))
	}
	return all
}
