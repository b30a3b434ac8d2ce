package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"grfgp"
	"grfgp/covariate"
	"grfgp/graphio"
	"grfgp/internal/cli"
	"grfgp/internal/plural"
)

// covariateFlags say what a model may use beside the edges.
type covariateFlags struct {
	covariates []string
	roles      cli.Choice
}

func (c *covariateFlags) flags(cmd *cobra.Command) {
	cmd.Flags().StringSliceVar(&c.covariates, "covariates", nil,
		"`columns` of --nodes that the model may use: all, or names separated by commas (default: none)")
	cli.Complete(cmd, "covariates", covariate.All)
	c.roles.Flag(cmd, "roles", "covariates computed from the graph itself, such as degrees and singular vectors; auto: used if they raise "+
		"the likelihood", grfgp.RoleChoices()...)
}

// nodeFacts is what the columns of the node table tell about nodes.
type nodeFacts struct {
	Columns  []string       `json:"columns"`            // source columns that are used
	LeftOut  []string       `json:"left_out,omitempty"` // columns that --covariates all leaves out, because they are what is to be predicted
	Notes    []string       `json:"notes,omitempty"`    // what was done to the columns
	Warnings []string       `json:"warnings,omitempty"` // columns that may be the target in disguise
	set      *covariate.Set // nil: none
}

// spec returns the Spec with the covariates.
func (k *nodeFacts) spec(s grfgp.Spec) grfgp.Spec {
	if k != nil {
		s.Covariates = k.set
	}
	return s
}

// target is what is to be predicted. It must not be a covariate.
type target struct {
	report     *graphio.Report // of the measurements or labels; nil: none
	file       string          // as the user has named it
	suspicious func(*covariate.Set) []string
}

// ofValues is the target of measurements, which may be nil.
func ofValues(m *graphio.Measurements, file string) target {
	if m == nil {
		return target{}
	}
	return target{m.Report, file, func(s *covariate.Set) []string { return s.Suspicious(m.Values, m.Nodes) }}
}

// ofLabels is the target of labels, which may be nil.
func ofLabels(l *graphio.ClassLabels, file string) target {
	if l == nil {
		return target{}
	}
	return target{l.Report, file, func(s *covariate.Set) []string { return s.SuspiciousClasses(l.Class, l.Nodes) }}
}

// hidden returns the columns that hold what is to be predicted: those with the name
// of the values or labels and, if their file is also a node table, all that were read
// as part of them.
func (t target) hidden(columns []covariate.Column, nodeFiles []string) []string {
	if t.report == nil {
		return nil
	}
	same := slices.ContainsFunc(nodeFiles, func(path string) bool { return cli.SameFile(path, t.file) })
	roles := []graphio.Role{graphio.RoleValue, graphio.RoleClass}
	if same {
		roles = append(roles, graphio.RoleSD, graphio.RoleTested)
	}
	var hidden []string
	for _, c := range columns {
		if slices.ContainsFunc(t.report.Columns, func(o graphio.Column) bool {
			return slices.Contains(roles, o.Role) && o.Name != "" && strings.EqualFold(o.Name, c.Name)
		}) {
			hidden = append(hidden, c.Name)
		}
	}
	return hidden
}

// names returns the columns that the flags name, or all; nil without any.
func (c *covariateFlags) names() (names []string) {
	for _, name := range c.covariates {
		names = append(names, strings.TrimSpace(name))
	}
	return names
}

// known encodes the columns that the flags name, and says what was done. It returns
// nil if there are none.
func (c *covariateFlags) known(a *app, net *graphio.Network, in *cli.Input, t target) (*nodeFacts, error) {
	columns := net.Nodes.Covariates()
	hidden := t.hidden(columns, in.Nodes)
	if len(c.covariates) == 0 {
		a.tellUnused(columns, hidden)
		return nil, nil
	}
	if net.Nodes == nil {
		return nil, cli.Usagef("--covariates %s: covariates are columns of the node table; give --nodes FILE", strings.Join(c.covariates, ","))
	}
	names := c.names()
	chosen, err := covariate.Select(columns, names, hidden...)
	if err != nil {
		return nil, covariateError(names, err)
	}
	k, err := a.encode(net, chosen)
	if err != nil {
		return nil, covariateError(names, err)
	}
	if slices.ContainsFunc(names, func(name string) bool { return strings.EqualFold(name, covariate.All) }) {
		k.LeftOut = hidden
	}
	if t.suspicious != nil {
		k.Warnings = t.suspicious(k.set)
	}
	k.tell(a)
	return k, nil
}

// encode turns columns into numbers.
func (a *app) encode(net *graphio.Network, chosen []covariate.Column) (*nodeFacts, error) {
	s := a.Talk.Stage("encoding columns")
	set, err := covariate.Encode(chosen, net.Graph.Len(), covariate.Options{})
	if err != nil {
		return nil, err
	}
	k := &nodeFacts{Notes: set.Notes, set: set}
	for _, c := range chosen {
		k.Columns = append(k.Columns, c.Name)
	}
	words := ""
	if n := len(set.Vocabulary); n > 0 {
		words = " and " + plural.Count(n, "words")
	}
	s.Done("%s as %s of numbers%s", plural.Count(len(chosen), "columns"), plural.Count(set.Dim(), "columns"), words)
	return k, nil
}

// savedColumns encodes the columns that a saved model uses; nil if it uses none.
func (a *app) savedColumns(path string, net *graphio.Network) (*nodeFacts, error) {
	f, err := openModel(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	names, err := grfgp.SavedColumns(f)
	if err != nil {
		return nil, cli.Dataf("%s: %w", path, err)
	}
	if len(names) == 0 {
		return nil, nil
	}
	if net.Nodes == nil {
		return nil, cli.Usagef("--model %s uses columns of the node table (%s); give --nodes FILE", path, listed(names))
	}
	chosen, err := covariate.Select(net.Nodes.Covariates(), names)
	if err != nil {
		return nil, cli.Usagef("--model %s: %w; give the --nodes with which it was fitted", path, err)
	}
	return a.encode(net, chosen)
}

// tell prints what was done to the columns.
func (k *nodeFacts) tell(a *app) {
	if len(k.LeftOut) > 0 {
		a.Talk.Say("  left out, because it is to be predicted: %s", strings.Join(k.LeftOut, ", "))
	}
	for _, note := range k.Notes {
		a.Talk.Say("  %s", note)
	}
	for _, warning := range k.Warnings {
		a.Talk.Say("  warning: %s", warning)
	}
	if k.set.Empty() {
		a.Talk.Say("  warning: nothing can be learned from these columns; the model has no covariates")
	}
}

// mostListed is the number of columns that messages list.
const mostListed = 12

// tellUnused names the columns that --covariates all would use.
func (a *app) tellUnused(columns []covariate.Column, hidden []string) {
	var names []string
	for _, c := range columns {
		if c.Role == "" && c.Kind != covariate.Identifier && c.Kind != covariate.Empty && !slices.Contains(hidden, c.Name) {
			names = append(names, c.Name)
		}
	}
	if len(names) == 0 {
		return
	}
	a.Talk.Say("  columns not used: %s; --covariates all uses them", listed(names))
}

// listed lists the first names.
func listed(names []string) string {
	list := strings.Join(names[:min(len(names), mostListed)], ", ")
	if more := len(names) - mostListed; more > 0 {
		list += fmt.Sprintf(" and %d more", more)
	}
	return list
}

// covariateError gives errors about columns their exit code.
func covariateError(names []string, err error) error {
	if errors.Is(err, covariate.ErrColumns) {
		return cli.Usagef("--covariates %s: %w", strings.Join(names[:min(len(names), mostListed)], ","), err)
	}
	return err
}

// effectFacts are the effects of columns, with sentences.
type effectFacts struct {
	*grfgp.Effects
	Words []string `json:"words"`
}

// explainer is a fitted model, or that of a search.
type explainer interface {
	Effects(ctx context.Context) (*grfgp.Effects, error)
}

// effects tells what explains the values; nil if the model has no term beside the
// graph.
func (a *app) effects(ctx context.Context, m explainer, terms []string, quantity string) (*effectFacts, error) {
	if len(terms) == 0 || len(terms) == 1 && terms[0] == "graph" {
		return nil, nil
	}
	s := a.Talk.Stage("computing effects")
	e, err := m.Effects(ctx)
	if err != nil {
		return nil, fitError(ctx, err)
	}
	s.Done("%s", plural.Count(len(e.Columns), "effects"))
	f := &effectFacts{e, e.Words(quantity)}
	for _, words := range f.Words {
		a.Talk.Say("  %s", words)
	}
	return f, nil
}

// sentences are what reports say about the columns.
func (k *nodeFacts) sentences() []string {
	var all []string
	if len(k.LeftOut) > 0 {
		all = append(all, "left out, because it is to be predicted: "+strings.Join(k.LeftOut, ", "))
	}
	all = append(all, k.Notes...)
	for _, w := range k.Warnings {
		all = append(all, "warning: "+w)
	}
	return all
}

// tellEffects says what explains the values, if there are covariates, in a verb that has
// fitted models to parts of them only: m is fitted to all, here if it is nil.
func (a *app) tellEffects(ctx context.Context, d *modelData, spec grfgp.Spec, m *grfgp.Model) (*effectFacts, error) {
	if d.known == nil {
		return nil, nil
	}
	if m == nil {
		var err error
		if m, err = a.fit(ctx, d, d.known.spec(spec)); err != nil {
			return nil, err
		}
	}
	return a.effects(ctx, m, m.Choice().Terms, valueName(d.valueReport()))
}

// withoutNeighbours says what predictions are where no measurement or label is
// connected: as the words have it for the graph alone.
func withoutNeighbours(terms []string, graphAlone string) string {
	beside := slices.DeleteFunc(slices.Clone(terms), func(t string) bool { return t == "graph" || t == "product" })
	if len(beside) == 0 {
		return graphAlone
	}
	return "follow from " + strings.Join(beside, " and ") + " alone"
}
