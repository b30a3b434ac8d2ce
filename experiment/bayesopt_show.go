package experiment

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"grfgp/dataset"
	"grfgp/internal/plot"
)

func showBayesopt(o Options, r *Results) (*Section, error) {
	section := &Section{}
	all := Table{Title: "Regret after all steps, mean ± standard error", Head: []string{"panel", "nodes", "seeds"},
		Note: "Uniform: the exact expectation of as many uniform draws, ± its standard deviation from one search to another. Oracle: the table read in the order of the function without noise, with no nodes to start from. Highest degree: on social networks the value is the logarithm of the degree, which whoever holds the graph knows."}
	costs := Table{Title: "What a search took, mean over seeds", Head: []string{"panel", "arm", "seconds", "training", "extending", "picking", "trainings", "peak MB"}}
	for _, a := range arms {
		all.Head = append(all.Head, a.title)
	}
	var beside []Beside
	var charts []plot.Chart
	var missing []string
	store := dataset.Default()
	for _, p := range panels(store) {
		rows := r.Rows.Where("panel", p.key)
		if len(rows) == 0 {
			if p.data != "" && !store.Has(p.data) {
				missing = append(missing, p.key+" ("+p.data+")")
			}
			continue
		}
		line := []string{p.name(), fmt.Sprintf("%.0f", rows[0].Num("nodes")), fmt.Sprint(len(rows.Where("arm", "random")))}
		for _, a := range arms {
			line = append(line, meanSE(rows.Where("arm", a.key).Over("regret"), r.Array(searchName(p.key, a.key, 0), "sd")))
		}
		all.Rows = append(all.Rows, line)
		beside = append(beside, Beside{
			What: p.name(), Paper: p.papers(), Theirs: meanSE(rows.Where("arm", "authors").Over("regret"), nil),
			Clean: meanSE(rows.Where("arm", "ours").Over("regret"), nil), Differs: p.differs(rows),
		})
		for _, a := range arms[:2] {
			own := rows.Where("arm", a.key)
			costs.Rows = append(costs.Rows, []string{p.name(), a.title, Short(own.Over("seconds").Mean), Short(own.Over("train_seconds").Mean), Short(own.Over("extend_seconds").Mean),
				Short(own.Over("pick_seconds").Mean), Short(own.Over("trainings").Mean), Short(math.Round(own.Over("peak_bytes").Mean / 1e6))})
		}
		charts = append(charts, p.chart(r, rows))
	}
	section.Tables = []Table{
		Compare("Final regret", "The paper: its method / BFS / DFS / random, read from its runs. Nodes to start from differ from the paper's, so its searches without a model and ours do too.", beside...),
		all, costs,
	}
	section.Figures = drawn(Figure{Name: "panels", Wide: true, Picture: plot.Shared("Regret against steps", 4, charts...),
		Caption: "Figure 4: panels a to k as in the paper, and the task of five peaks that it does not show. Regret in standard deviations of the table; bands are one standard error over seeds."})
	if len(missing) > 0 {
		section.Findings = append(section.Findings, "Not run, for want of data: panels "+strings.Join(missing, ", ")+"; 'grfgp dataset list' says how to get it.")
	}
	section.Findings = append(section.Findings, bayesoptFindings(r, store)...)
	return section, nil
}

func (p panel) name() string {
	if len(p.key) == 1 {
		return p.key + " " + p.title
	}
	return p.title
}

// papers are the paper's regrets.
func (p panel) papers() string {
	var all []string
	for _, a := range []string{"authors", "bfs", "dfs", "random"} {
		text := "–"
		if v, ok := p.paper[a]; ok {
			text = Short(v)
		}
		all = append(all, text)
	}
	return strings.Join(all, " / ")
}

// differs says what the numbers of a panel do not have in common.
func (p panel) differs(rows Rows) string {
	var all []string
	if p.note != "" {
		all = append(all, p.note)
	}
	if steps := rows.Over("steps").Mean; steps < float64(p.steps) {
		all = append(all, fmt.Sprintf("a quick run of %.0f steps", steps))
	}
	if p.data == "wind" {
		all = append(all, "the grid with all edges alike, not weighted by distance")
	}
	return strings.Join(all, "; ")
}

// meanSE shows a mean with its standard error, or with a standard deviation that
// is known.
func meanSE(s Spread, sd []float64) string {
	switch {
	case s.N == 0:
		return "–"
	case len(sd) == 1:
		return fmt.Sprintf("%.3f ± %.3f", s.Mean, sd[0])
	}
	return plusMinus(s, 3)
}

// armLines are how arms are drawn, the first on top. Searches that start from the
// same nodes lie upon each other for a while, so their dashes differ.
var armLines = []struct {
	key  string
	line plot.Line
}{
	{"ours", plot.Line{Steps: true}},
	{"authors", plot.Line{Steps: true}},
	{"bfs", plot.Line{Steps: true, Dash: plot.Dashed}},
	{"dfs", plot.Line{Steps: true, Dash: plot.Dotted}},
	{"degree", plot.Line{Steps: true, Wide: true}},
	{"random", plot.Line{Steps: true, Dash: plot.Mixed}},
	{"uniform", plot.Line{Reference: true}},
	{"oracle", plot.Line{Steps: true, Dash: plot.Dotted}},
}

// chart draws the regret of all arms; one without results keeps its colour.
func (p panel) chart(r *Results, rows Rows) plot.Chart {
	c := plot.Chart{Title: p.name(), X: "steps", Y: "regret", Zero: true, Small: true}
	for _, a := range armLines {
		line := a.line
		line.Name = arms[slices.IndexFunc(arms, func(b arm) bool { return b.key == a.key })].title
		var curves [][]float64
		for _, row := range rows.Where("arm", a.key) {
			curves = append(curves, unfolded(r, searchName(p.key, a.key, int(row.Num("seed")))))
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

// bayesoptFindings say where ours ends below each of the others, beyond chance.
func bayesoptFindings(r *Results, store dataset.Store) []string {
	var found []string
	for _, against := range arms[1:5] {
		var better, worse, even []string
		for _, p := range panels(store) {
			rows := r.Rows.Where("panel", p.key)
			gain := less(rows.Where("arm", against.key), rows.Where("arm", "ours"), "seed", "regret")
			switch {
			case gain.N < 2 || math.IsNaN(gain.Mean):
			case gain.Mean > 2*gain.SE():
				better = append(better, p.key)
			case gain.Mean < -2*gain.SE():
				worse = append(worse, p.key)
			default:
				even = append(even, p.key)
			}
		}
		if len(better)+len(worse)+len(even) == 0 {
			continue
		}
		found = append(found, fmt.Sprintf("Against %s, ours ends lower by more than two standard errors on panels %s, higher on %s, and within them on %s.",
			against.title, list(better), list(worse), list(even)))
	}
	return found
}

func list(names []string) string {
	if len(names) == 0 {
		return "none"
	}
	return strings.Join(names, ", ")
}
