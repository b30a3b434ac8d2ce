package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"text/tabwriter"

	"grfgp"
	"grfgp/bayesopt"
	"grfgp/internal/cli"
	"grfgp/internal/table"
)

// suggestRow is a suggestion in JSON. Unknown fields are omitted.
type suggestRow struct {
	Node string `json:"node"`
	nodeInfo
	Mean         *float64 `json:"mean,omitempty"`
	SD           *float64 `json:"sd,omitempty"`    // of the quantity, as
	Lower        *float64 `json:"lower,omitempty"` // its interval is
	Upper        *float64 `json:"upper,omitempty"`
	ReadingLower *float64 `json:"reading_lower,omitempty"` // of one new measurement
	ReadingUpper *float64 `json:"reading_upper,omitempty"`
	ChanceBest   *float64 `json:"chance_best,omitempty"`
	ChanceSE     *float64 `json:"chance_se,omitempty"` // standard error of ChanceBest
	ChanceAbove  *float64 `json:"chance_above,omitempty"`
	Reduction    *float64 `json:"variance_reduction,omitempty"` // of the mean variance over all nodes, given the rows before
	Cost         float64  `json:"cost"`
	Hops         *int     `json:"hops,omitempty"` // to the nearest measured node
	Why          string   `json:"why"`

	number int // of the node
}

// suggestAnswer is the answer in JSON.
type suggestAnswer struct {
	Version      int             `json:"version"`
	Goal         bayesopt.Goal   `json:"goal"`
	Policy       string          `json:"policy"` // that picked
	Measurements int             `json:"measurements"`
	NoModel      string          `json:"no_model,omitempty"` // why
	Model        *grfgp.Spec     `json:"model,omitempty"`
	Device       string          `json:"device,omitempty"`   // graphics card that computed some of it
	Computed     []string        `json:"computed,omitempty"` // where, and why, if there is a choice
	Known        *nodeFacts      `json:"covariates,omitempty"`
	Effects      *effectFacts    `json:"effects,omitempty"`
	Draws        int             `json:"draws,omitempty"` // behind chance_best
	Asked        int             `json:"asked"`
	Short        bayesopt.Reason `json:"short,omitempty"`
	ShortWhy     string          `json:"short_why,omitempty"`
	Level        float64         `json:"level"` // of the intervals
	Suggestions  []suggestRow    `json:"suggestions"`

	known *nodeColumns
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
		r := suggestRow{Node: t.net.Graph.IDs().At(s.Node), Cost: s.Cost, Why: s.Why, number: s.Node}
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

// addIntervals adds the intervals of the quantity, and of a reading with an exposure, to the
// rows that a model was asked about.
func (answer *suggestAnswer) addIntervals(ctx context.Context, o *grfgp.Optimizer, from bayesopt.Answer, exposure float64) error {
	var rows, nodes []int
	for k, s := range from.Suggestions {
		if s.Modelled {
			rows, nodes = append(rows, k), append(nodes, s.Node)
		}
	}
	if len(rows) == 0 {
		return nil
	}
	now, err := o.Snapshot(ctx)
	if err != nil {
		return err
	}
	p, err := now.Predict(ctx, nodes)
	if err != nil {
		return err
	}
	lower, upper := p.Interval(answer.Level)
	readingLower, readingUpper := p.ReadingInterval(answer.Level, exposure)
	for a, k := range rows {
		r := &answer.Suggestions[k]
		r.Lower, r.Upper, r.ReadingLower, r.ReadingUpper = &lower[a], &upper[a], &readingLower[a], &readingUpper[a]
	}
	return nil
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
	for k := range answer.Suggestions {
		answer.Suggestions[k].nodeInfo = answer.known.info(answer.Suggestions[k].number)
	}
	return a.answerNodes(f, answer, asked{len(answer.Suggestions), answer.Asked, answer.Short, answer.ShortWhy},
		func(w io.Writer) error { return a.suggestTable(w, answer) },
		func(w io.Writer) error { return f.suggestFile(w, answer) })
}

// asked counts the suggestions, and says why there are fewer than asked for.
type asked struct {
	found, wanted int
	short         bayesopt.Reason
	why           string
}

// answerNodes writes an answer as JSON, as a table for people or as one for programs, to
// the file or to standard output. An empty answer has an exit code of its own.
func (a *app) answerNodes(f *suggestFlags, answer any, n asked, people, programs func(w io.Writer) error) error {
	write := people
	switch {
	case a.JSON:
		write = func(w io.Writer) error {
			return table.Compress(w, f.out, func(w io.Writer) error { return json.NewEncoder(w).Encode(answer) })
		}
	case f.csv || f.out != "":
		write = programs
	}
	var err error
	switch {
	case n.found == 0 && !a.JSON:
	case f.out != "":
		if err = a.WriteFile(f.out, write); err == nil {
			a.Talk.Say("the suggestions are in %s", f.out)
		}
	default:
		err = write(a.Out)
	}
	switch {
	case err != nil:
		return err
	case n.found == 0:
		return cli.Exit(cli.ExitNothing, fmt.Errorf("nothing to suggest: %s", n.why))
	case n.short != bayesopt.Enough:
		a.Talk.Say("%d of the %d nodes asked for: %s", n.found, n.wanted, n.why)
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

// columns returns those of the suggestions, without those of the node table.
func (answer *suggestAnswer) columns() []table.Column {
	m := answer.measure()
	all := append([]table.Column{{Name: "node"}}, figures("mean", "sd", "lower", "upper", "reading_lower", "reading_upper", m.name)...)
	if m.name == "chance_best" {
		all = append(all, figures("chance_se")...)
	}
	return append(append(all, figures("cost")...), table.Column{Name: "hops", Kind: table.Whole}, table.Column{Name: "why"})
}

// suggestFile writes the suggestions in the format of the file.
func (f *suggestFlags) suggestFile(w io.Writer, answer *suggestAnswer) error {
	m, columns, known := answer.measure(), answer.columns(), answer.known
	return f.writeTable(w, slices.Concat(columns[:1:1], known.head(), columns[1:], known.tail()), func(out table.Writer) error {
		for _, r := range answer.Suggestions {
			cells := known.appendHead([]table.Cell{table.TextCell(r.Node)}, r.number)
			for _, v := range []*float64{r.Mean, r.SD, r.Lower, r.Upper, r.ReadingLower, r.ReadingUpper, m.of(r)} {
				cells = append(cells, table.NumberAt(v))
			}
			if m.name == "chance_best" {
				cells = append(cells, table.NumberAt(r.ChanceSE))
			}
			cells = append(cells, table.NumberCell(r.Cost), table.WholeAt(r.Hops), table.TextCell(r.Why))
			if err := out.Write(table.Row{Cells: known.appendTail(cells, r.number), Geometry: known.geometry(r.number)}); err != nil {
				return err
			}
		}
		return nil
	})
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
	known, labelled := answer.Suggestions[0].Mean != nil,
		slices.ContainsFunc(answer.Suggestions, func(r suggestRow) bool { return r.Label != "" })
	fmt.Fprint(t, "node\t")
	if labelled {
		fmt.Fprint(t, "label\t")
	}
	if known {
		fmt.Fprint(t, "mean\tsd\tlower\tupper\treading lower\treading upper\t")
		if m.of(answer.Suggestions[0]) != nil {
			fmt.Fprintf(t, "%s\t", m.title)
		}
	}
	fmt.Fprint(t, "cost\thops\treason\n")
	for _, r := range answer.Suggestions {
		fmt.Fprintf(t, "%s\t", r.Node)
		if labelled {
			fmt.Fprintf(t, "%s\t", short20(r.Label))
		}
		if known {
			fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%s\t", shown(r.Mean), shown(r.SD), shown(r.Lower), shown(r.Upper), shown(r.ReadingLower),
				shown(r.ReadingUpper))
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
	a.Talk.Say("  mean, sd, lower and upper: of the quantity, without noise; reading lower and upper: of one new measurement, with its "+
		"noise; intervals of %g %%; hops: to the nearest measured node", 100*answer.Level)
	switch {
	case answer.Draws > 0:
		a.Talk.Say("  P(best): probability that the node is the best of all allowed nodes, measured ones included, ± standard error, "+
			"estimated from %d posterior draws; < marks a node that is the best in no draw", answer.Draws)
	case m.name == "chance_above":
		a.Talk.Say("  P(above): probability under the model that the quantity is above the threshold")
	case answer.Policy == "learn":
		a.Talk.Say("  variance reduction: of the mean posterior variance over all nodes, if the nodes above are measured too")
	}
	return nil
}
