package experiment

import (
	"fmt"
	"math"
	"strings"

	"gonum.org/v1/gonum/stat"

	"grfgp/lab/dataset"
	"grfgp/lab/plot"
)

func showBayesopt(o Options, r *Results) (*Section, error) {
	section := &Section{}
	all := Table{Title: "Regret after all steps, mean ± standard error", Head: []string{"panel", "nodes", "seeds"},
		Note: "In brackets: the number of seeds, if some are missing. Uniform: the exact expectation for as many uniform draws ± the standard " +
			"deviation between searches. Oracle: nodes measured in the order of the noise-free function, without starting nodes. Highest degree: " +
			"on social networks the value is the logarithm of the degree, which is known from the graph."}
	costs := Table{Title: "Cost of a search, mean over seeds",
		Head: []string{"panel", "method", "seconds", "training", "conditioning", "choosing", "trainings", "peak MB"}}
	for _, a := range arms {
		all.Head = append(all.Head, a.title)
	}
	var beside []Comparison
	var charts []plot.Chart
	var shown []panel
	var missing []string
	store := dataset.Default()
	for _, p := range panels(store) {
		rows := r.Rows.Where("panel", p.key)
		if len(rows) == 0 {
			if p.data != "" && p.forSet == "" && !store.Has(p.data) {
				missing = append(missing, p.name())
			}
			continue
		}
		shown = append(shown, p)
		line := []string{p.name(), fmt.Sprintf("%.0f", rows[0].Num("nodes")), fmt.Sprint(len(rows.Where("arm", "random")))}
		for _, a := range arms {
			s := rows.Where("arm", a.key).Over("regret").withSE()
			if sd := r.Array(searchName(p.key, a.key, 0), "sd"); len(sd) == 1 {
				s = Spread{s.Mean, sd[0], 2} // exact, not estimated
			}
			text := s.Fixed(3)
			if a.policy != "" && s.N > 0 && fmt.Sprint(s.N) != line[2] {
				text += fmt.Sprintf(" (%d)", s.N) // some seeds are missing
			}
			line = append(line, text)
		}
		all.Rows = append(all.Rows, line)
		beside = append(beside, Comparison{
			What: p.name(), Paper: p.papers(), Theirs: rows.Where("arm", p.theirs()).Over("regret").withSE().Fixed(3),
			Clean: rows.Where("arm", "ours").Over("regret").withSE().Fixed(3), Differs: p.differs(r, rows),
		})
		for _, a := range []arm{armNamed("ours"), armNamed("authors"), armNamed("walks")} {
			own := rows.Where("arm", a.key)
			if len(own) == 0 {
				continue
			}
			costs.Rows = append(costs.Rows, []string{p.name(), a.title, Short(own.Over("seconds").Mean), Short(own.Over("train_seconds").Mean),
				Short(own.Over("extend_seconds").Mean),
				Short(own.Over("pick_seconds").Mean), Short(own.Over("trainings").Mean), Short(math.Round(own.Over("peak_bytes").Mean / 1e6))})
		}
		charts = append(charts, p.chart(r, rows))
	}
	final := Compare("Final regret, mean ± standard error",
		"The authors' runs: their method / BFS / DFS / random after the same number of steps, read from the saved runs behind Figure 4. The "+
			"paper prints no numbers, and the public summaries "+
			"have only the mean, minimum and maximum regret over all iterations. "+
			"Starting nodes differ from theirs, so searches without a model differ too. The authors' kernel has their hops and training "+
			"schedule, with practically exact features instead of their walks and BFGS instead of Adam, "+
			"so it does not test their estimator; on social networks it uses their noisy walks, with BFGS.", beside...).withSource("authors' runs")
	final.Head[2] = "ours, authors' kernel: exact features, BFGS (social networks: their walks, BFGS)"
	sizes, err := graphSizes(shown)
	if err != nil {
		return nil, err
	}
	section.Tables = []Table{final, all, costs, sizes}
	section.Figures = nonEmpty(Figure{Name: "panels", Wide: true, Picture: plot.Shared("Regret against steps", 4, charts...),
		Caption: "As Figure 4: panels a to k of the paper, and the task with five peaks, which it does not show. Regret is in standard " +
			"deviations of the table; bands are one standard error over seeds."})
	if len(missing) > 0 && !o.Quick {
		section.Findings = append(section.Findings, "Not run because data is missing: "+strings.Join(missing, ", ")+
			"; 'grfgp-lab dataset list' says how to get it.")
	}
	section.Findings = append(section.Findings, bayesoptFindings(r.Rows)...)
	return section, nil
}

// name is the panel's name in tables.
func (p panel) name() string {
	if letter, _, _ := strings.Cut(p.key, "-"); len(letter) == 1 {
		return letter + " " + p.title
	}
	return p.title
}

// papers lists the authors' regrets.
func (p panel) papers() string {
	switch {
	case p.paper == nil:
		return ""
	case p.forSet != "":
		return short(p.forSet) + ": " + fourRegrets(p.paper)
	}
	return fourRegrets(p.paper)
}

// fourRegrets formats the regrets of the authors' method and of searches without a model.
func fourRegrets(of map[string]float64) string {
	var all []string
	for _, a := range []string{"authors", "bfs", "dfs", "random"} {
		all = append(all, Short(of[a]))
	}
	return strings.Join(all, " / ")
}

// differs describes how the numbers of a panel differ.
func (p panel) differs(r *Results, rows Rows) string {
	var all []string
	if p.note != "" {
		all = append(all, p.note)
	}
	if p.means != nil {
		all = append(all, fmt.Sprintf("the authors' summary bo_results_20250917_003320 has the regret averaged over all iterations and seeds, "+
			"3,000 in total: %s; "+
			"ours averaged over steps: authors' kernel %s, clean %s", fourRegrets(p.means), p.meanRegret(r, rows, "authors"),
			p.meanRegret(r, rows, "ours")))
	}
	if steps := rows.Over("steps").Mean; steps < float64(p.steps) {
		all = append(all, fmt.Sprintf("a quick run of %.0f steps", steps))
	}
	if free := rows.Where("arm", "authors").Over("regret"); p.social && free.N > 0 {
		all = append(all, fmt.Sprintf("authors' protocol with their walks; with the same kernel and practically exact features %s, with their "+
			"walks and random coefficients %s",
			free.withSE().Fixed(3), rows.Where("arm", "untrained").Over("regret").withSE().Fixed(3)))
	}
	if p.data == "wind" {
		all = append(all, "the grid with equal edge weights, not weighted by distance")
	}
	return strings.Join(all, "; ")
}

// theirs is the arm with the authors' protocol.
func (p panel) theirs() string {
	if p.social {
		return "walks"
	}
	return "authors"
}

// meanRegret formats the mean regret over all steps of an arm ± standard error over seeds.
func (p panel) meanRegret(r *Results, rows Rows, arm string) string {
	var all []float64
	for _, row := range rows.Where("arm", arm) {
		if curve := curveOf(r, searchName(p.key, arm, int(row.Num("seed")))); len(curve) > 1 {
			all = append(all, stat.Mean(curve[1:], nil))
		}
	}
	return SpreadOf(all).withSE().Fixed(3)
}

// paperSizes is Table 6: nodes, edges and highest degree.
var paperSizes = map[string][3]int{"youtube": {1134890, 2987624, 28754}, "facebook": {22470, 171002, 709},
	"twitch": {168114, 6797557, 35279}, "enron": {36652, 183831, 1383}}

// graphSizes compares Table 6 with our graphs.
func graphSizes(shown []panel) (Table, error) {
	t := Table{Title: "Social networks (Table 6): nodes / edges / highest degree", Head: []string{"", "paper", "here", "what differs"}}
	for _, p := range shown {
		if !p.social {
			continue
		}
		set, err := dataset.Named(p.data)
		if err != nil {
			return t, err
		}
		line := []string{p.name(), "–", fmt.Sprintf("%d / %d / –", set.Nodes, set.Edges), set.Note}
		if set.Degree > 0 {
			line[2] = fmt.Sprintf("%d / %d / %d", set.Nodes, set.Edges, set.Degree)
		}
		if size, ok := paperSizes[p.data]; ok {
			line[1] = fmt.Sprintf("%d / %d / %d", size[0], size[1], size[2])
		}
		t.Rows = append(t.Rows, line)
	}
	return t, nil
}

// armLines are the line styles of the arms, the first on top. Curves that start from the
// same nodes overlap at first, so their dashes differ.
var armLines = []struct {
	key  string
	line plot.Line
}{
	{"ours", plot.Line{Steps: true}},
	{"authors", plot.Line{Steps: true}},
	{"bfs", plot.Line{Steps: true, Dash: plot.Dashed}},
	{"dfs", plot.Line{Steps: true, Dash: plot.Dotted}},
	{"degree", plot.Line{Steps: true, Wide: true}},
	{"walks", plot.Line{Steps: true, Dash: plot.Dashed, Like: "authors' kernel"}},
	{"untrained", plot.Line{Steps: true, Dash: plot.Dotted, Like: "authors' kernel"}},
	{"random", plot.Line{Steps: true, Dash: plot.Mixed}},
	{"uniform", plot.Line{Reference: true}},
	{"oracle", plot.Line{Steps: true, Dash: plot.Dotted}},
}

// chart draws the regret of all arms; colours do not depend on which arms have results.
func (p panel) chart(r *Results, rows Rows) plot.Chart {
	c := plot.Chart{Title: p.name(), X: "steps", Y: "regret", Zero: true, Small: true}
	for _, a := range armLines {
		line := a.line
		line.Name = armNamed(a.key).title
		var curves [][]float64
		for _, row := range rows.Where("arm", a.key) {
			curves = append(curves, curveOf(r, searchName(p.key, a.key, int(row.Num("seed")))))
		}
		for k := 0; len(curves) > 0 && k < len(curves[0]); k++ {
			var at []float64
			for _, curve := range curves {
				at = append(at, curve[k])
			}
			s := SpreadOf(at)
			line.X, line.Y = append(line.X, float64(k)), append(line.Y, s.Mean)
			if s.N > 1 {
				line.Low, line.High = append(line.Low, max(0, s.Mean-s.SE())), append(line.High, s.Mean+s.SE())
			}
		}
		c.Lines = append(c.Lines, line)
	}
	return c
}

// bayesoptFindings lists where our final regret is significantly below that of others: on
// the paper's panels, and on other tasks.
func bayesoptFindings(rows Rows) []string {
	var found []string
	for _, paper := range []bool{true, false} {
		for _, against := range arms[1:5] {
			var better, worse, even []string
			for _, p := range panels(dataset.Store{}) {
				if (p.forSet == "" && p.means == nil) != paper {
					continue
				}
				own := rows.Where("panel", p.key)
				gain := pairedDifference(own.Where("arm", against.key), own.Where("arm", "ours"), "seed", "regret")
				name, _, _ := strings.Cut(p.title, ",")
				if paper {
					name, _, _ = strings.Cut(p.key, "-")
				}
				switch {
				case gain.N < 2 || math.IsNaN(gain.Mean):
				case gain.Mean > 2*gain.SE():
					better = append(better, name)
				case gain.Mean < -2*gain.SE():
					worse = append(worse, name)
				default:
					even = append(even, name)
				}
			}
			if len(better)+len(worse)+len(even) == 0 {
				continue
			}
			what := "panels"
			if !paper {
				what = "tasks that are not in the paper:"
			}
			found = append(found, fmt.Sprintf("Compared with %s, the final regret of our method is lower by more than two standard errors on %s "+
				"%s, higher on %s, and within two standard errors on %s.",
				against.title, what, list(better), list(worse), list(even)))
		}
	}
	return found
}

func list(names []string) string {
	if len(names) == 0 {
		return "none"
	}
	return strings.Join(names, ", ")
}
