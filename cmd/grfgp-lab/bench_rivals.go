package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"grfgp/crossval"
	"grfgp/internal/cli"
	"grfgp/lab/bench"
	"grfgp/lab/dataset"
)

func rivalsVerb(a *app) *cobra.Command {
	var o bench.RivalOptions
	cmd := &cobra.Command{
		Use:   "rivals",
		Short: "Compare the accuracy of grfgp with simple rules on real data",
		Long: `Rivals fits a model to each case with all settings chosen automatically, and compares its
error at the other nodes with that of simple rules: mean, nearest measured node,
harmonic interpolation, graph ridge, least squares on covariates, and ridge on
singular vectors. Where places are known (san-jose), ordinary kriging as the crow
flies is compared too: exponential or Matérn correlation of the straight distance,
with family, range, sill and nugget learned by maximum likelihood. Random splits have the seeds 1 to 5. The result is two tables in
Markdown, of means over splits with standard errors. With --parts, a third table has
models of a single term: the graph, the covariates or the roles of nodes alone.

The data sets must be on this machine, see docs/datasets.md and 'grfgp-lab dataset list'.`,
		Example: "  GRFGP_DATA=~/data grfgp-lab bench rivals\n  GRFGP_DATA=~/data grfgp-lab bench rivals --case chicago --case cora --splits " +
			"1 --json",
		Args: cli.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			for _, name := range o.Cases {
				if !slices.Contains(rivalNames(), name) {
					return cli.Usagef("--case %s: there is no such case; the cases are %s", name, strings.Join(rivalNames(), ", "))
				}
			}
			if o.Splits < 1 || o.Splits > bench.MostSplits {
				return cli.Usagef("--splits %d: give 1 to %d", o.Splits, bench.MostSplits)
			}
			return a.benchRivals(cmd.Context(), o)
		},
	}
	cmd.Flags().StringSliceVar(&o.Cases, "case", nil, "only this `NAME`, may be repeated: "+strings.Join(rivalNames(), ", "))
	cmd.Flags().IntVar(&o.Splits, "splits", bench.MostSplits,
		fmt.Sprintf("number of splits `N` of each case, at most, 1 to %d", bench.MostSplits))
	cmd.Flags().BoolVar(&o.Parts, "parts", false, "also fit models with a single term: the graph, the covariates or the roles of nodes alone")
	return cmd
}

func rivalNames() []string {
	var names []string
	for _, c := range bench.Rivals() {
		names = append(names, c.Name)
	}
	return names
}

func (a *app) benchRivals(ctx context.Context, o bench.RivalOptions) error {
	o.Store = dataset.Default()
	o.Stage = func(name string) func() {
		s := a.Talk.Stage(name)
		return func() { s.Done("measured") }
	}
	r, err := bench.RunRivals(ctx, o)
	if err != nil {
		return datasetError(err)
	}
	if a.JSON {
		return json.NewEncoder(a.Out).Encode(r)
	}
	return printRivals(a.Out, r)
}

// printRivals writes a table of measurements and one of labels, in Markdown.
func printRivals(w io.Writer, r *bench.RivalReport) error {
	var b strings.Builder
	for _, labels := range []bool{false, true} {
		var cases []bench.RivalResult
		for _, c := range r.Cases {
			if c.Classes > 0 == labels {
				cases = append(cases, c)
			}
		}
		if len(cases) == 0 {
			continue
		}
		if b.Len() > 0 {
			b.WriteString("\n")
		}
		rivalTable(&b, cases, labels)
	}
	partTable(&b, r.Cases)
	_, err := io.WriteString(w, b.String())
	return err
}

func rivalTable(b *strings.Builder, cases []bench.RivalResult, labels bool) {
	rules := rivalRules(cases)
	head := []string{"case", "splits", "score"}
	for _, rule := range rules {
		head = append(head, string(rule))
	}
	places := slices.ContainsFunc(cases, func(c bench.RivalResult) bool { return c.Kriging != nil })
	if places {
		head = append(head, "kriging as the crow flies")
	}
	head = append(head, "**grfgp**")
	if labels {
		head = append(head, "NLL", "ECE", "seconds")
	} else {
		head = append(head, "in 95 % intervals", "NLPD", "seconds")
	}
	markdownRow(b, head)
	markdownRow(b, slices.Repeat([]string{"---"}, len(head)))
	for _, c := range cases {
		number := func(s bench.Splits) string { return plusMinus(s, 1, 3) }
		if labels {
			number = func(s bench.Splits) string { return plusMinus(s, 100, 1) + " %" }
		}
		cells := []string{c.Title, fmt.Sprint(len(c.Model.Error)), c.Measure}
		for _, rule := range rules {
			k := slices.IndexFunc(c.Rules, func(s bench.RuleScore) bool { return s.Rule == rule })
			if k < 0 {
				cells = append(cells, "")
			} else {
				cells = append(cells, number(c.Rules[k].Error))
			}
		}
		switch {
		case c.Kriging != nil:
			cells = append(cells, number(c.Kriging.Error))
		case places:
			cells = append(cells, "")
		}
		cells = append(cells, "**"+number(c.Model.Error)+"**")
		if labels {
			cells = append(cells, plusMinus(c.Model.Density, 1, 3), plusMinus(c.Model.ECE, 1, 3))
		} else {
			cells = append(cells, plusMinus(c.Model.Coverage, 100, 1)+" %", plusMinus(c.Model.Density, 1, 3))
		}
		seconds, _ := c.Model.Seconds.Mean()
		markdownRow(b, append(cells, fmt.Sprintf("%.1f", seconds)))
	}
}

// partTable writes the scores of models with a single term, if there are any.
func partTable(b *strings.Builder, cases []bench.RivalResult) {
	cases = slices.DeleteFunc(slices.Clone(cases), func(c bench.RivalResult) bool { return len(c.Parts) == 0 })
	if len(cases) == 0 {
		return
	}
	terms := []string{"graph", "covariates", "roles"}
	b.WriteString("\n")
	head := []string{"case", "score"}
	for _, term := range terms {
		head = append(head, term+" alone")
	}
	markdownRow(b, append(head, "**all**"))
	markdownRow(b, slices.Repeat([]string{"---"}, len(head)+1))
	for _, c := range cases {
		number := func(s bench.Splits) string { return plusMinus(s, 1, 3) }
		if c.Classes > 0 {
			number = func(s bench.Splits) string { return plusMinus(s, 100, 1) + " %" }
		}
		cells := []string{c.Title, c.Measure}
		for _, term := range terms {
			k := slices.IndexFunc(c.Parts, func(p bench.PartScore) bool { return p.Term == term })
			if k < 0 {
				cells = append(cells, "")
			} else {
				cells = append(cells, number(c.Parts[k].Error))
			}
		}
		markdownRow(b, append(cells, "**"+number(c.Model.Error)+"**"))
	}
}

// rivalRules returns the rules of some cases, the simplest first.
func rivalRules(cases []bench.RivalResult) []crossval.Baseline {
	seen := map[crossval.Baseline]bool{}
	for _, c := range cases {
		for _, s := range c.Rules {
			seen[s.Rule] = true
		}
	}
	return crossval.InOrder(seen)
}

// plusMinus formats a mean over splits, with its standard error if there are several.
func plusMinus(s bench.Splits, unit float64, digits int) string {
	mean, se := s.Mean()
	if len(s) < 2 {
		return fmt.Sprintf("%.*f", digits, unit*mean)
	}
	return fmt.Sprintf("%.*f ± %.*f", digits, unit*mean, digits, unit*se)
}

func markdownRow(b *strings.Builder, cells []string) {
	b.WriteString("| " + strings.Join(cells, " | ") + " |\n")
}
