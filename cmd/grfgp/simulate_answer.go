package main

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"
	"text/tabwriter"

	"grfgp/bayesopt"
	"grfgp/graph"
	"grfgp/internal/chart"
	"grfgp/replay"
	"grfgp/report"
)

// policyFacts are the results of a policy in JSON.
type policyFacts struct {
	Policy     string           `json:"policy"`
	Final      replay.Estimate  `json:"final"`
	FinalSD    *replay.Estimate `json:"final_sd,omitempty"`    // mean sd of predictions, for the goal learn
	OverRandom *replay.Estimate `json:"over_random,omitempty"` // smaller loss than random, paired by seed
	// OverUniform is how much smaller the loss is than the expectation of uniform draws.
	OverUniform *replay.Estimate `json:"over_uniform,omitempty"`
}

// simulateAnswer is the answer in JSON.
type simulateAnswer struct {
	Version int            `json:"version"`
	Goal    bayesopt.Goal  `json:"goal"`
	Loss    string         `json:"loss"` // name of the loss
	Known   int            `json:"known"`
	Start   int            `json:"start"`
	Steps   int            `json:"steps"`
	Seeds   int            `json:"seeds"`
	Verdict string         `json:"verdict"`
	Best    *bestFacts     `json:"best,omitempty"`
	Uniform []replay.Point `json:"uniform,omitempty"` // exact expected regret of uniform draws
	Results []policyFacts  `json:"results"`
	Replays []replayAnswer `json:"replays"`
	Columns *nodeFacts     `json:"covariates,omitempty"`
	Effects *effectFacts   `json:"effects,omitempty"` // in a model of all known values
	sim     *replay.Result
}

// bestFacts is the best known value.
type bestFacts struct {
	Node  string  `json:"node"`
	Value float64 `json:"value"`
	Nodes int     `json:"nodes"` // that have this value
}

// replayAnswer is a replay by the ids of nodes.
type replayAnswer struct {
	Policy string         `json:"policy"`
	Seed   int            `json:"seed"`
	Done   bool           `json:"done"`
	Nodes  []string       `json:"nodes"`
	Curve  []replay.Point `json:"curve"`
}

// lossNames name the loss of a goal.
type lossNames struct{ column, words, title string }

func lossOf(g bayesopt.Goal) lossNames {
	switch _, level := g.Level(); {
	case level:
		return lossNames{"misjudged", "share misclassified", "Share of nodes on the wrong side"}
	case !g.Seeks():
		return lossNames{"rmse", "error (RMSE)", "Error of predictions (RMSE)"}
	}
	return lossNames{"regret", "regret", "Regret"}
}

func newSimulateAnswer(g *graph.Graph, sim *replay.Result) *simulateAnswer {
	answer := &simulateAnswer{
		Version: 1, Goal: sim.Goal, Loss: lossOf(sim.Goal).words, Known: sim.Known, Start: sim.Start, Steps: sim.Steps, Seeds: sim.Seeds,
		Uniform: sim.Uniform, sim: sim,
	}
	for _, name := range sim.Policies {
		f := policyFacts{Policy: name, Final: sim.Final(name)}
		if sim.Goal == bayesopt.Learn {
			sd := sim.FinalSD(name)
			f.FinalSD = &sd
		}
		if name != "random" && slices.Contains(sim.Policies, "random") {
			gain := sim.Gain(name, "random")
			f.OverRandom = &gain
		}
		if len(sim.Uniform) > 0 {
			gain := sim.GainOverUniform(name)
			f.OverUniform = &gain
		}
		answer.Results = append(answer.Results, f)
	}
	if b := sim.Best; b != nil {
		answer.Best = &bestFacts{g.IDs().At(b.Node), b.Value, b.Nodes}
	}
	for _, r := range sim.Replays {
		mine := replayAnswer{r.Policy, r.Seed, r.Done, make([]string, len(r.Nodes)), r.Curve}
		for k, node := range r.Nodes {
			mine.Nodes[k] = g.IDs().At(node)
		}
		answer.Replays = append(answer.Replays, mine)
	}
	answer.Verdict = verdict(sim, answer.Loss)
	return answer
}

// verdict compares the first policy that is not random with random, and says which
// flags would give a clearer answer.
func verdict(sim *replay.Result, loss string) string {
	at := slices.IndexFunc(sim.Policies, func(name string) bool { return name != "random" })
	switch {
	case at < 0:
		return "Only random was replayed: there is nothing to compare it with."
	case sim.Start+sim.Steps == sim.Known:
		return fmt.Sprintf("All %d known nodes were measured in the end, so policies cannot differ. Give fewer --steps or a smaller --start.",
			sim.Known)
	}
	v, ok := sim.Verdict(sim.Policies[at])
	if !ok {
		return "Random was not replayed: add it to --policies for a comparison."
	}
	advice := map[replay.Outcome]string{
		replay.TooFew:   fmt.Sprintf(" Give --seeds %d or more.", replay.LeastSeeds),
		replay.Constant: " Give more replays (--seeds).",
		replay.Unclear:  " More replays (--seeds) may show one.",
	}
	return report.PolicyVerdict(v, loss) + advice[v.Outcome]
}

// answerSimulate writes the figure, the steps and the table.
func (a *app) answerSimulate(f *simulateFlags, g *graph.Graph, sim *replay.Result, k *nodeFacts, e *effectFacts) error {
	answer := newSimulateAnswer(g, sim)
	answer.Columns, answer.Effects = k, e
	if f.plot != "" {
		s := a.Talk.Stage("drawing")
		picture := simulatePicture(answer)
		err := a.WriteFile(f.plot, func(w io.Writer) error { _, err := io.WriteString(w, picture.SVG); return err })
		if err != nil {
			return err
		}
		s.Done("%s", f.plot)
	}
	steps := func(w io.Writer) error { return simulateCSV(w, answer) }
	if a.JSON {
		steps = func(w io.Writer) error { return json.NewEncoder(w).Encode(answer) }
	}
	switch {
	case f.out != "":
		if err := a.WriteFile(f.out, steps); err != nil {
			return err
		}
		a.Talk.Say("every measurement of every replay is in %s", f.out)
	case a.JSON || f.csv:
		return steps(a.Out)
	}
	if sim.Goal == bayesopt.Learn && len(sim.Policies) > 1 && f.retrain != "never" {
		a.Talk.Say("  mean sd: each policy has its own model, so only with --retrain never can the values be compared between policies")
	}
	return simulateTable(a.Out, answer)
}

// simulateCSV writes a row for every measurement of every replay, with the loss where
// it was computed.
func simulateCSV(w io.Writer, answer *simulateAnswer) error {
	learn := answer.Goal == bayesopt.Learn
	head := []string{"policy", "seed", "measured", "phase", "node", lossOf(answer.Goal).column}
	if learn {
		head = append(head, "mean_sd")
	}
	out := csv.NewWriter(w)
	if err := out.Write(head); err != nil {
		return err
	}
	number := func(v float64) string { return strconv.FormatFloat(v, 'g', 8, 64) }
	for _, r := range answer.Replays {
		at := map[int]replay.Point{}
		for _, p := range r.Curve {
			at[p.Measured] = p
		}
		for k, node := range r.Nodes {
			phase := "start"
			if k >= answer.Start {
				phase = "step"
			}
			row := []string{r.Policy, strconv.Itoa(r.Seed), strconv.Itoa(k + 1), phase, node, ""}
			p, ok := at[k+1]
			if ok {
				row[5] = number(p.Loss)
			}
			if learn {
				row = append(row, "")
				if ok {
					row[6] = number(p.SD)
				}
			}
			if err := out.Write(row); err != nil {
				return err
			}
		}
	}
	out.Flush()
	return out.Error()
}

// simulateTable writes the answer as text.
func simulateTable(w io.Writer, answer *simulateAnswer) error {
	sim := answer.sim
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	learn, compared, than := answer.Results[0].FinalSD != nil, slices.Contains(sim.Policies, "random"), "random"
	if len(sim.Uniform) > 0 { // as in the verdict
		compared, than = true, "uniform draws"
	}
	fmt.Fprintf(t, "policy\t%s\t", answer.Loss)
	if learn {
		fmt.Fprint(t, "mean sd\t")
	}
	if compared {
		fmt.Fprintf(t, "better than %s by\t", than)
	}
	fmt.Fprint(t, "replays\n")
	for _, r := range answer.Results {
		fmt.Fprintf(t, "%s\t%s\t", r.Policy, shownEstimate(r.Final))
		if learn {
			fmt.Fprintf(t, "%s\t", shownEstimate(*r.FinalSD))
		}
		if compared {
			gain := "–"
			switch {
			case r.OverUniform != nil:
				gain = shownEstimate(*r.OverUniform)
			case r.OverRandom != nil:
				gain = shownEstimate(*r.OverRandom)
			}
			fmt.Fprintf(t, "%s\t", gain)
		}
		fmt.Fprintf(t, "%d\n", r.Final.Seeds)
	}
	if n := len(sim.Uniform); n > 0 {
		fmt.Fprintf(t, "uniform draws\t%.4g, exact\t–\t", sim.Uniform[n-1].Loss)
		fmt.Fprintf(t, "none: exact expectation; the sd of one replay is %.2g\n", sim.Uniform[n-1].SD)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	return simulateNotes(w, answer)
}

// simulateNotes explains the table, and states the best known value and the verdict.
func simulateNotes(w io.Writer, answer *simulateAnswer) error {
	sim := answer.sim
	if sim.Seeds > 1 {
		words := "± is the standard error over replays"
		if len(sim.Uniform) > 0 {
			words += "; in the comparison with uniform draws it is at least the standard error of the same number of replays of uniform draws"
		}
		fmt.Fprintln(w, words+".")
	}
	if b := answer.Best; b != nil {
		of := "highest"
		if sim.Goal == bayesopt.Minimize {
			of = "lowest"
		}
		others := ""
		if b.Nodes > 1 {
			others = fmt.Sprintf(" and %d more", b.Nodes-1)
		}
		fmt.Fprintf(w, "The %s of %d known values is %.4g, at node %s%s.\n", of, sim.Known, b.Value, b.Node, others)
	}
	_, err := fmt.Fprintln(w, answer.Verdict)
	return err
}

// shownEstimate is a mean with its standard error, if there is one.
func shownEstimate(e replay.Estimate) string {
	switch e.Seeds {
	case 0:
		return "–"
	case 1:
		return fmt.Sprintf("%.4g", e.Mean)
	}
	return fmt.Sprintf("%.4g ± %.2g", e.Mean, e.SE)
}

// simulatePicture draws the loss curves after the initial nodes, with bands of one
// standard error.
func simulatePicture(answer *simulateAnswer) *chart.Picture {
	sim := answer.sim
	var curves []chart.Curve
	for _, name := range sim.Policies {
		c := chart.Curve{Name: name}
		for _, p := range sim.Mean(name) {
			if p.Measured < max(1, sim.Start) {
				continue
			}
			c.X, c.Y = append(c.X, float64(p.Measured)), append(c.Y, p.Mean)
			if sim.Seeds > 1 {
				c.Low, c.High = append(c.Low, p.Mean-p.SE), append(c.High, p.Mean+p.SE)
			}
		}
		curves = append(curves, c)
	}
	if sim.Uniform != nil {
		c := chart.Curve{Name: "uniform draws, expectation", Reference: true}
		for _, p := range sim.Uniform[max(0, sim.Start-1):] {
			c.X, c.Y = append(c.X, float64(p.Measured)), append(c.Y, p.Loss)
		}
		curves = append(curves, c)
	}
	title := fmt.Sprintf("%s: mean of %d replays", lossOf(sim.Goal).title, sim.Final(sim.Policies[0]).Seeds)
	if sim.Seeds > 1 {
		title += " ± standard error"
	}
	return chart.Curves(title, "measurements", answer.Loss, curves)
}
