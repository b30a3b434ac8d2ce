package experiment

import (
	"fmt"
	"math"

	"grfgp/internal/paper/bench"
	"grfgp/internal/plot"
)

// authorsCG are medians of ten runs in the authors' result files: condition
// number, where they have it, and iterations of conjugate gradients.
var authorsCG = []struct{ nodes, condition, iterations float64 }{
	{16, 3564, 21}, {32, 1.839e4, 59.5}, {64, 5981, 105.5}, {128, 7996, 167.5}, {256, 6266, 168.5}, {512, 2.498e4, 337.5}, {1024, 3.013e4, 398.5},
	{2048, math.NaN(), 413.5}, {4096, math.NaN(), 424}, {8192, math.NaN(), 434}, {16384, math.NaN(), 480.5}, {32768, math.NaN(), 475.5},
}

// lemma1 is the paper's exponent of the time of a solve.
const lemma1 = 1.5

var theoryGraphs = []string{"ring", "grid", "hubs"}

func showTheory(o Options, r *Results) (*Section, error) {
	s := &Section{
		Tables: []Table{statements(r.Rows), growth(r.Rows), projections(r.Rows)},
		Figures: drawn(
			Figure{Name: "theorem1", Wide: true, Picture: theorem1Figure(r.Rows),
				Caption: "Theorem 1. Left and middle: how far a kernel entry between two neighbours is off in all but 5 % of runs, beside the bound. Right: non-zeros of all but 5 % of features, beside the bound; walks are not cut off."},
			Figure{Name: "theorem2", Wide: true, Picture: theorem2Figure(r.Rows),
				Caption: "Theorem 2 and Lemma 1, with 100 walks a node and σ² = 0.01: what was observed (lines) and what is promised (dashed, in the same colour). Grey: medians in the authors' result files, with kernels of their own; in (c) and (d) slopes to compare with, whose height means nothing."},
			Figure{Name: "woodbury", Wide: true, Picture: woodburyFigure(r.Rows),
				Caption: "Appendix B on a grid: errors of the kernel, of the solution of (K̂ + σ²I)v = b and of the posterior mean against the number m of dimensions, and the time of projecting and solving."},
		),
		Findings: theoryFindings(r.Rows),
	}
	if o.Quick {
		s.Findings = append(s.Findings, "This was a quick look: small graphs and few runs.")
	}
	return s, nil
}

// statements is the list of inequalities with what came nearest to breaking each.
func statements(rows Rows) Table {
	t := Table{Title: "Statement by statement", Head: []string{"", "the paper", "nearest to its bound: observed", "bound", "at", "holds"}}
	kept := func(r Row) float64 { return r.Num("bound") }
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
	add("Theorem 1, inequality 5", "deviations beyond t have a chance of at most 2 exp(−t²n³/2(2n−1)²c⁴)", exceeding, kept)
	add("Theorem 1, inequality 5", "so the deviation of chance 5 % is at most t", deviation, kept)
	add("Theorem 1, sparsity", "with chance 1 − δ at most n log(1−(1−δ)^(1/n)) / log(1−p) non-zeros", nonzeros, kept)
	add("Theorem 1, sparsity", "so at most δ of features have more", denser, kept)
	add("Theorem 2, in its proof", "‖φ(i)‖₁ ≤ c for every i", featureSum, kept)
	add("Theorem 2, property 1", "products with K̂ = ΦΦᵀ in O(N): non-zeros of Φ a node are, at any N, at most the nodes that n walks visit on average, 1 + n Σ (1−p)^l", entriesPerNode, visits)
	add("Theorem 2, property 2", "κ(K̂ + σ²I) ≤ 1 + N c²/σ²", condition, kept)
	add("Lemma 1", "iterations of conjugate gradients of the order √κ: here ½√κ ln(2√κ/ε), with κ of Theorem 2", iterations, kept)
	return t
}

// visits is how many nodes the walks of one node visit on average, none twice.
func visits(r Row) float64 {
	sum, alive := 0.0, 1.0
	for range theoryHops {
		alive *= 1 - theoryHalt
		sum += alive
	}
	return 1 + r.Num("walks")*sum
}

// series returns the sizes of a graph and the mean of a column at each.
func series(rows Rows, on, quantity, column string) (x, y []float64) {
	rows = rows.Where("graph", on).Where("quantity", quantity)
	return rows.Along("nodes", column)
}

// exponent is that of a column of a graph, from the upper half of the sizes.
func exponent(rows Rows, on, quantity, column string) bench.Exponent {
	x, y := series(rows, on, quantity, column)
	return bench.FitExponent(x[len(x)/2:], y[len(y)/2:])
}

// growth says what grows with N, and how.
func growth(rows Rows) Table {
	t := Table{Title: "Growth with the number N of nodes", Head: []string{"graph", "nodes", "non-zeros a node", "c", "condition number", "CG iterations", "time of a product ∝ N^", "time of a solve ∝ N^", "bound on κ ∝ N^"},
		Note: "From the smallest to the largest graph. Exponents with 95 % intervals, from the upper half of the sizes; the paper says 1 for a product, at most 1.5 for a solve, and 1 for the bound on κ, taking c as constant. " +
			"That κ is near 1 + 1/σ² = 101 is this kernel's doing: the largest eigenvalue of exp(−βL̃) is 1 on every graph, and σ² is 0.01. The authors' own kernel, in their file " +
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
			return shownExponent(exponent(rows, on, quantity, column))
		}
		x, _ := series(rows, on, condition, "observed")
		if len(x) == 0 {
			continue
		}
		t.Rows = append(t.Rows, []string{
			on, fmt.Sprintf("%.0f to %.0f", x[0], x[len(x)-1]), span(entriesPerNode, "observed"), span(featureSum, "bound"), span(condition, "observed"),
			span(iterations, "observed"), power(entriesPerNode, "seconds"), power(iterations, "seconds"), power(condition, "bound"),
		})
	}
	return t
}

// projections lists appendix B by rank.
func projections(rows Rows) Table {
	rows = rows.Where("check", "woodbury")
	what := "means ± standard deviation of seeds"
	if len(rows.Distinct("seed")) < 2 {
		what = "of one seed"
	}
	t := Table{Title: "Woodbury's formula after a Johnson–Lindenstrauss transform (appendix B)", Head: []string{"m", "error of the kernel", "as expected", "error of the solution", "error of the posterior mean", "seconds"},
		Note: "Relative errors in the Frobenius norm, " + what + "; b is a draw from the prior read with noise. Expected is √((‖K̂‖² + (tr K̂)²)/m)/‖K̂‖. " +
			"Equation 15 of the paper leaves out the factor 1/σ² that the text before it has."}
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

// byWalks returns a quantity of a check against the walks.
func byWalks(rows Rows, column string) (x, y []float64) { return rows.Along("walks", column) }

func theorem1Figure(rows Rows) *plot.Picture {
	var charts []plot.Chart
	for k, on := range []string{"grid", "hubs"} {
		here := rows.Where("graph", on).Where("quantity", deviation)
		x, y := byWalks(here, "observed")
		_, bound := byWalks(here, "bound")
		charts = append(charts, plot.Chart{Title: fmt.Sprintf("(%c) kernel entry, %s", 'a'+k, on), X: "walks a node, n", Y: "deviation t", LogX: true, LogY: true, Small: true,
			Lines: []plot.Line{{Name: "observed", X: x, Y: y}, {Name: "bound", X: x, Y: bound, Reference: true}}})
	}
	chart := plot.Chart{Title: "(c) non-zeros of a feature", X: "walks a node, n", Y: "non-zeros", LogX: true, LogY: true, Small: true}
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
				line.Name, line.Like, line.Dash = on+", promised", on, plot.Dashed
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
	product.Lines = append(product.Lines, slope(product.Lines, 1, "a slope of N", plot.Dotted))
	solved.Lines = append(solved.Lines, slope(solved.Lines, lemma1, "a slope of N^{1.5}", plot.Mixed))
	return plot.Shared("", 2, *kappa, *steps, *product, *solved)
}

// slope is a power of N over the last decade, below all lines: to compare slopes
// with, not heights.
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
	return plot.Line{Name: name, Reference: true, Dash: dash, X: []float64{last / 10, last}, Y: []float64{low / 2 / math.Pow(10, power), low / 2}}
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
	wrong.Lines = append(wrong.Lines, plot.Line{Name: "kernel, as expected", X: x, Y: y, Reference: true})
	time := plot.Chart{Title: "(b) time of projecting and solving", X: "dimensions, m", Y: "seconds", LogX: true, LogY: true, Small: true}
	x, y = by(rankSolve, "seconds")
	time.Lines = []plot.Line{{Name: "projecting and solving", X: x, Y: y}}
	return plot.Shared("", 2, wrong, time)
}

func theoryFindings(rows Rows) []string {
	var all []string
	if x, c := series(rows, "hubs", featureSum, "bound"); len(x) > 1 {
		text := fmt.Sprintf("The constant c of the bounds is, where there are hubs, %s at %.0f nodes and %s at %.0f", Short(c[0]), x[0], Short(c[len(c)-1]), x[len(x)-1])
		if _, ring := series(rows, "ring", featureSum, "bound"); len(ring) > 0 {
			text += fmt.Sprintf("; on rings it is %s", Short(ring[0]))
		}
		if c[len(c)-1] > 2*c[0] {
			text += ". As it grows with the hubs, the bounds of Theorems 1 and 2 say next to nothing there, and the one on κ grows faster than N"
		}
		all = append(all, text+".")
	}
	x, k := series(rows, "grid", condition, "observed")
	_, i := series(rows, "grid", iterations, "observed")
	if len(x) > 1 {
		first, last := x[0], x[len(x)-1]
		sizes := fmt.Sprintf("(grid: %s at %.0f nodes, %s at %.0f; %.0f and %.0f iterations of conjugate gradients)", Short(k[0]), first, Short(k[len(k)-1]), last, i[0], i[len(i)-1])
		if k[len(k)-1] < 1.1*k[0] {
			all = append(all, "The condition number of a fixed kernel does not grow with the graph "+sizes+", so a solve costs so many products at any size; the N^1.5 of Lemma 1 is an upper bound.")
		} else {
			all = append(all, "The condition number of a fixed kernel grows with the graph "+sizes+".")
		}
	}
	for _, on := range theoryGraphs {
		switch e := exponent(rows, on, iterations, "seconds"); {
		case !(e.Value > lemma1):
		case lemma1 < e.Lower && e.Lower < e.Value: // two sizes have no interval
			all = append(all, fmt.Sprintf("On %s the time of a solve grew as N^%s here, faster than Lemma 1 says, of which the count of iterations is the check that does not depend on the machine.", on, shownExponent(e)))
		default:
			all = append(all, fmt.Sprintf("On %s the time of a solve grew as N^%s here: more than the 1.5 of Lemma 1, but so few sizes do not tell the two apart.", on, shownExponent(e)))
		}
	}
	woodbury := rows.Where("check", "woodbury")
	if ranks := woodbury.Distinct("rank"); len(ranks) > 0 {
		at := func(m float64, quantity string) string {
			return Short(woodbury.Where("rank", m).Where("quantity", quantity).Over("observed").Mean)
		}
		first, last := ranks[0], ranks[len(ranks)-1]
		all = append(all, fmt.Sprintf("The projection of appendix B is as accurate as a Gaussian one can be, but with m of logarithmic order the solution is not near: its relative error is %s at m = %.0f and %s at m = %.0f, that of the posterior mean %s and %s.",
			at(first, rankSolve), first, at(last, rankSolve), last, at(first, rankMean), at(last, rankMean)))
	}
	return all
}
