package plan_test

import (
	"flag"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"

	"grfgp/plan"
)

var update = flag.Bool("update", false, "write the tables in testdata anew")

// decided is a line of the table: what is decided for sizes, and what it costs.
func decided(nodes, degree, measurements, classes int) string {
	l := plan.Default()
	s := plan.Sizes{Job: plan.Job{Measurements: measurements, Classes: classes, Places: nodes}, Nodes: nodes, Entries: nodes * degree,
		Periods: 1, Uneven: degree > 4, Rank: l.Rank}
	learned := measurements
	if classes > 0 {
		learned = min(measurements, l.ClassPatches.Rows())
	}
	s.Method, _ = l.Represent(plan.Asked{Unit: classes > 0, Nodes: nodes, Entries: s.Entries, Columns: learned})
	if s.Method == "grf" {
		s.Hops, _ = l.WalkHops(s.Method, nodes, 10)
		s.Fine = l.FineHops
		reach := func(hops int) float64 { return min(float64(nodes), 1+float64(degree*hops*(hops+1)/2)) }
		s.Rows = plan.Rows{Entries: reach(s.Hops), OneHop: reach(1), Coarse: reach(l.CoarseHops), Steps: float64(100 * s.Hops), Levels: true}
	}
	if s.Uneven && nodes <= l.RoleNodes {
		s.Columns = plan.RoleColumns
	}
	solver, samples, variance := "iterative", l.Start, "drawn"
	products := 1.
	switch factored := l.Factored(measurements, ""); {
	case classes > 0:
		samples, products = l.Classes(measurements), plan.ClassProducts
		if factored {
			solver = "exact"
		}
	case factored:
		solver, samples = "exact", plan.Patches{Scattered: measurements}
	}
	if solver == "exact" && l.ExactVariance(nodes, measurements, products, 0) {
		variance = "exact"
	}
	m := l.Estimate(s)
	return fmt.Sprintf("%8d %3d %6d %2d | %-6s %2d %-6t %-6s %-5s | %-9s %d×%d+%-4d %3d %-5t %-5s %3d | %8.1f MB %8.1f s\n", nodes, degree,
		measurements, classes, s.Method, s.Hops, l.Layered(nodes, s.Entries, 1), l.SearchMethod(nodes, s.Entries, true),
		l.SearchMethod(nodes, s.Entries, false), solver, samples.Windows, samples.Size, samples.Scattered, l.Iterations(measurements),
		l.Alternatives(nodes, measurements, 4, 1), variance, l.SmoothPairs(0, measurements, ""), float64(m.Bytes)/1e6, m.Work)
}

// TestDecisions holds the table of decisions over a grid of sizes; look at what changed after -update.
func TestDecisions(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	b.WriteString("nodes, mean degree, measurements or labels, classes | representation, hops, layers, of searches that draw, of others" +
		" | solver, learned from, iterations, uncertain hyperparameters, variances, Fourier pairs | memory and processor time\n")
	for _, nodes := range []int{30, 1500, 1501, 20_000, 30_001, 32_769, 200_001, 300_001, 1_000_000} {
		for _, degree := range []int{4, 30} {
			for _, measurements := range []int{10, 500, 801, 1501, 3001, 9000} {
				if measurements > nodes {
					continue
				}
				b.WriteString(decided(nodes, degree, measurements, 0))
				b.WriteString(decided(nodes, degree, measurements, 3))
			}
		}
	}
	const file = "testdata/decisions.txt"
	if *update {
		if err := os.WriteFile(file, []byte(b.String()), 0o666); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	got, held := strings.Split(b.String(), "\n"), strings.Split(string(want), "\n")
	for k, line := range got {
		if k >= len(held) || line != held[k] {
			t.Fatalf("line %d of %s differs:\n%s\nif it is meant to, run go test ./plan -update", k+1, file, line)
		}
	}
	if len(got) != len(held) {
		t.Fatalf("%s has %d lines, want %d", file, len(held), len(got))
	}
}

// TestBounds: on either side of a bound a way is taken and left.
func TestBounds(t *testing.T) {
	t.Parallel()
	l := plan.Default()
	for what, c := range map[string]struct {
		last int // for which it holds
		of   func(n int) bool
	}{
		"all iterations":          {1442, func(n int) bool { return l.Iterations(n) == l.FinalIters }},
		"a factor":                {l.Exact, func(n int) bool { return l.Factored(n, "") }},
		"smooth terms are exact":  {l.Exact, func(n int) bool { return l.SmoothPairs(0, n, "") == 0 }},
		"4 are uncertain":         {1000, func(n int) bool { return l.Alternatives(1, n, 4, 1) }},
		"10 are uncertain":        {736, func(n int) bool { return l.Alternatives(1, n, 10, 1) }},
		"a row of pairs":          {1181, func(n int) bool { return l.PairCache(14, n) > 0 }},
		"labels are all learned":  {l.ClassAll, func(n int) bool { return l.Classes(n).Windows == 0 }},
		"a table":                 {2364, func(n int) bool { return l.Table(n, l.TableBytes) > 0 }},
		"terms are resumed":       {16_777, func(n int) bool { return l.Resumes(n, 1000) }},
		"dense":                   {l.DenseNodes, func(n int) bool { return l.SearchMethod(n, 4*n, true) == "" }},
		"layers":                  {l.LayerNodes, func(n int) bool { return l.Layered(n, n, 1) }},
		"all are held":            {16 << 10, func(n int) bool { return l.HeldOf(n, 1024) == n }},
		"variances are exact":     {22_222, func(n int) bool { return l.ExactVariance(n, 3000, 1, 0) }},
		"series of 1,000 columns": {156, func(n int) bool { m, _ := l.Represent(seriesOf(1000*n, 1000)); return m == "series" }},
	} {
		if !c.of(c.last) || c.of(c.last+1) {
			t.Errorf("%s: not up to %d", what, c.last)
		}
	}
	if l.PairCache(l.PairHops, 1) != 0 || l.Factored(10, "iterative") || !l.Factored(9000, "exact") || l.SmoothPairs(7, 9000, "") != 7 {
		t.Error("what was asked for was not done")
	}
	var none *plan.Limits
	if *none.Or() != *plan.Default() || l.Or() != l {
		t.Error("no limits are not those of Default")
	}
}

func seriesOf(entries, columns int) plan.Asked {
	return plan.Asked{Nodes: 100_000, Entries: entries, Columns: columns}
}

// TestDocumented: the documentation has today's figures.
func TestDocumented(t *testing.T) {
	t.Parallel()
	l := plan.Default()
	for _, c := range []struct {
		file, words string
		figures     []int
	}{
		{"docs/covariates.md", "graphs of up to % nodes", []int{l.RoleNodes}},
		{"docs/covariates.md", "Up to % measurements the smooth term is exact", []int{l.Exact}},
		{"docs/kernels.md", "% measurements, because an iteration takes time", []int{1442}},
		{"docs/multiscale.md", "from all of them up to % nodes, and from about the leading 190 on graphs of up to % nodes, % edges",
			[]int{l.DenseNodes, l.LayerNodes, l.LayerEntries / 2}},
		{"docs/values.md", "Up to % measurements everything is exact linear algebra; hyperparameters are learned from all of them up to %",
			[]int{l.Exact, l.LaplaceAll}},
		{"docs/classification.md", "with more than % labels from two windows of labels near each other and labels from all over: %, % and %",
			[]int{l.ClassAll, l.ClassPatches.Size, l.ClassPatches.Size, l.ClassPatches.Scattered}},
		{"docs/regression.md", "% nodes; beyond, what is missing is small, as it falls like 1/T. Predictions of a study include it up to %",
			[]int{l.AlternativeNodes, l.AlternativeStudy}},
		{"docs/service-studies.md", "networks of up to % nodes", []int{l.SearchRoleNodes}},
		{"server/web/assets/create.js", "tried, up to % nodes", []int{l.SearchRoleNodes}},
		{"docs/time.md", "Up to % measurements at nodes that differ between periods", []int{l.TimeExact}},
		{"docs/time.md", "hyperparameters are learned from a sample of about %:", []int{l.TimeSample}},
		{"docs/gpu.md", "% nodes to the processor if they have a Cholesky factor", []int{l.CardFrom}},
		{"docs/cluster.md", "features of graphs of more than % nodes", []int{l.LazyNodes}},
		{"cmd/grfgp/model.go", "auto is exact up to % measurements or labels", []int{l.Exact}},
		{"ARCHITECTURE.md", "by Cholesky factors up to % measurements", []int{l.Exact}},
	} {
		for _, n := range c.figures {
			c.words = strings.Replace(c.words, "%", grouped(n), 1)
		}
		text, err := os.ReadFile("../" + c.file)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(strings.Join(strings.Fields(string(text)), " "), c.words) {
			t.Errorf("%s does not say %q", c.file, c.words)
		}
	}
}

// grouped returns a number as the documentation writes it.
func grouped(n int) string {
	s := strconv.Itoa(n)
	for k := len(s) - 3; k > 0; k -= 3 {
		s = s[:k] + "," + s[k:]
	}
	return s
}
