package main

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strconv"
	"text/tabwriter"

	"grfgp"
	"grfgp/bayesopt"
)

// suggestRow is a suggestion in JSON. Unknown fields are omitted.
type suggestRow struct {
	Node        string   `json:"node"`
	Mean        *float64 `json:"mean,omitempty"`
	SD          *float64 `json:"sd,omitempty"` // of the quantity itself
	ChanceBest  *float64 `json:"chance_best,omitempty"`
	ChanceSE    *float64 `json:"chance_se,omitempty"` // standard error of ChanceBest
	ChanceAbove *float64 `json:"chance_above,omitempty"`
	Reduction   *float64 `json:"variance_reduction,omitempty"` // of the mean variance over all nodes, given the rows before
	Cost        float64  `json:"cost"`
	Hops        *int     `json:"hops,omitempty"` // to the nearest measured node
	Why         string   `json:"why"`
}

// suggestAnswer is the answer in JSON.
type suggestAnswer struct {
	Version      int             `json:"version"`
	Goal         bayesopt.Goal   `json:"goal"`
	Policy       string          `json:"policy"` // that picked
	Measurements int             `json:"measurements"`
	NoModel      string          `json:"no_model,omitempty"` // why
	Model        *grfgp.Spec     `json:"model,omitempty"`
	Known        *nodeFacts      `json:"covariates,omitempty"`
	Effects      *effectFacts    `json:"effects,omitempty"`
	Draws        int             `json:"draws,omitempty"` // behind chance_best
	Asked        int             `json:"asked"`
	Short        bayesopt.Reason `json:"short,omitempty"`
	ShortWhy     string          `json:"short_why,omitempty"`
	Suggestions  []suggestRow    `json:"suggestions"`
}

func newSuggestAnswer(f *suggestFlags, t *suggestData, by string, answer bayesopt.Answer) *suggestAnswer {
	out := &suggestAnswer{
		Version: 1, Goal: f.goal, Policy: by, NoModel: t.idle, Known: t.known, Draws: answer.Draws,
		Asked: f.count, Short: answer.Short, Suggestions: []suggestRow{},
	}
	if answer.Short != bayesopt.Enough {
		out.ShortWhy = shortWords(answer.Short, f.hasBudget)
	}
	var from []int
	if t.measurements != nil {
		from, out.Measurements = t.measurements.Nodes, len(t.measurements.Nodes)
	}
	hops := t.net.Graph.Hops(from)
	_, level := f.goal.Level()
	for _, s := range answer.Suggestions {
		r := suggestRow{Node: t.net.Graph.IDs().At(s.Node), Cost: s.Cost, Why: s.Why}
		if hops[s.Node] >= 0 {
			r.Hops = &hops[s.Node]
		}
		if s.Modelled {
			r.Mean, r.SD = &s.Mean, &s.SD
			switch {
			case f.goal.Seeks():
				se := chanceSE(s.Chance, answer.Draws)
				r.ChanceBest, r.ChanceSE = &s.Chance, &se
			case level:
				r.ChanceAbove = &s.Chance
			case f.policy == "learn":
				r.Reduction = &s.Value
			}
		}
		out.Suggestions = append(out.Suggestions, r)
	}
	return out
}

// chanceSE is the standard error of a probability estimated from draws. One success
// and one failure are added, so that it is not 0 where the estimate is.
func chanceSE(chance float64, draws int) float64 {
	n := float64(draws)
	p := (chance*n + 1) / (n + 2)
	return math.Sqrt(p * (1 - p) / (n + 2))
}

// answerSuggest writes the answer.
func (a *app) answerSuggest(f *suggestFlags, answer *suggestAnswer) error {
	return a.answerNodes(f, answer, asked{len(answer.Suggestions), answer.Asked, answer.Short, answer.ShortWhy},
		func(w io.Writer) error { return a.suggestTable(w, answer) },
		func(w io.Writer) error { return suggestCSV(w, answer) })
}

// asked counts the suggestions, and says why there are fewer than asked for.
type asked struct {
	found, wanted int
	short         bayesopt.Reason
	why           string
}

// answerNodes writes an answer as JSON, as a table or as CSV, to the file or to
// standard output. An empty answer has an exit code of its own.
func (a *app) answerNodes(f *suggestFlags, answer any, n asked, table, csv func(w io.Writer) error) error {
	write := table
	switch {
	case a.json:
		write = func(w io.Writer) error { return json.NewEncoder(w).Encode(answer) }
	case f.csv || f.out != "":
		write = csv
	}
	var err error
	switch {
	case n.found == 0 && !a.json:
	case f.out != "":
		if err = a.writeFile(f.out, write); err == nil {
			a.talk.Say("the suggestions are in %s", f.out)
		}
	default:
		err = write(a.Out)
	}
	switch {
	case err != nil:
		return err
	case n.found == 0:
		return &exitError{exitNothing, fmt.Errorf("nothing to suggest: %s", n.why)}
	case n.short != bayesopt.Enough:
		a.talk.Say("%d of the %d nodes asked for: %s", n.found, n.wanted, n.why)
	}
	return nil
}

// measure is the column of the goal.
type measure struct {
	name, title string
	of          func(suggestRow) *float64
}

func (answer *suggestAnswer) measure() measure {
	switch _, level := answer.Goal.Level(); {
	case level:
		return measure{"chance_above", "P(above)", func(r suggestRow) *float64 { return r.ChanceAbove }}
	case !answer.Goal.Seeks():
		return measure{"variance_reduction", "variance reduction", func(r suggestRow) *float64 { return r.Reduction }}
	}
	return measure{"chance_best", "P(best)", func(r suggestRow) *float64 { return r.ChanceBest }}
}

func suggestCSV(w io.Writer, answer *suggestAnswer) error {
	m := answer.measure()
	out := csv.NewWriter(w)
	rows := [][]string{{"node", "mean", "sd", m.name, "chance_se", "cost", "hops", "why"}}
	if m.name != "chance_best" {
		rows[0] = append(rows[0][:4:4], rows[0][5:]...)
	}
	number := func(v *float64) string {
		if v == nil {
			return ""
		}
		return strconv.FormatFloat(*v, 'g', 8, 64)
	}
	for _, r := range answer.Suggestions {
		row := []string{r.Node, number(r.Mean), number(r.SD), number(m.of(r))}
		if m.name == "chance_best" {
			row = append(row, number(r.ChanceSE))
		}
		hops := ""
		if r.Hops != nil {
			hops = strconv.Itoa(*r.Hops)
		}
		rows = append(rows, append(row, number(&r.Cost), hops, r.Why))
	}
	return out.WriteAll(rows)
}

// suggestTable writes the answer as text, without empty columns.
func (a *app) suggestTable(w io.Writer, answer *suggestAnswer) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	m := answer.measure()
	shown := func(v *float64) string {
		if v == nil {
			return "–"
		}
		return fmt.Sprintf("%.4g", *v)
	}
	known := answer.Suggestions[0].Mean != nil
	fmt.Fprint(t, "node\t")
	if known {
		fmt.Fprint(t, "mean\tsd\t")
		if m.of(answer.Suggestions[0]) != nil {
			fmt.Fprintf(t, "%s\t", m.title)
		}
	}
	fmt.Fprint(t, "cost\thops\treason\n")
	for _, r := range answer.Suggestions {
		fmt.Fprintf(t, "%s\t", r.Node)
		if known {
			fmt.Fprintf(t, "%s\t%s\t", shown(r.Mean), shown(r.SD))
			switch {
			case r.ChanceBest != nil && *r.ChanceBest == 0:
				fmt.Fprintf(t, "< %.1g\t", 3/float64(answer.Draws))
			case r.ChanceBest != nil:
				fmt.Fprintf(t, "%.3f ± %.1g\t", *r.ChanceBest, *r.ChanceSE)
			case m.of(r) != nil:
				fmt.Fprintf(t, "%s\t", shown(m.of(r)))
			}
		}
		hops := "–"
		if r.Hops != nil {
			hops = strconv.Itoa(*r.Hops)
		}
		fmt.Fprintf(t, "%.4g\t%s\t%s\n", r.Cost, hops, r.Why)
	}
	if err := t.Flush(); err != nil || !known {
		return err
	}
	a.talk.Say("  sd: of the quantity itself, without noise; hops: to the nearest measured node")
	switch {
	case answer.Draws > 0:
		a.talk.Say("  P(best): probability that the node is the best of all allowed nodes, measured ones included, ± standard error, estimated from %d posterior draws; < marks a node that is the best in no draw", answer.Draws)
	case m.name == "chance_above":
		a.talk.Say("  P(above): probability under the model that the quantity is above the threshold")
	case answer.Policy == "learn":
		a.talk.Say("  variance reduction: of the mean posterior variance over all nodes, if the nodes above are measured too")
	}
	return nil
}
