package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"grfgp"
	"grfgp/crossval"
	"grfgp/gp"
	"grfgp/graph"
	"grfgp/report"
)

// modelFlags are the flags by which a verb takes the model.
type modelFlags struct {
	spec      grfgp.Spec
	family    choice
	method    choice
	scales    choice
	laplacian choice
	variance  choice
	trend     choice
	solver    choice
	mean      float64
	noiseSD   float64
	level     float64
	modelFile string
	saveFile  string
}

func (m *modelFlags) flags(f *pflag.FlagSet) {
	m.kernelFlags(f)
	m.variance = newChoice(append([]string{"auto"}, grfgp.Variances...)...)
	f.Var(&m.variance, "variance", "auto, natural (as the kernel has it, larger at hubs) or unit: the same at every node")
	m.trend = newChoice(append([]string{"auto"}, grfgp.Trends...)...)
	f.Var(&m.trend, "trend", "auto, none, or degree: a multiple of the logarithm of a node's degree on top")
	f.Float64Var(&m.mean, "mean", 0, "known mean (default: learned)")
	f.Float64Var(&m.noiseSD, "noise-sd", 0, "known standard deviation of the noise of one reading (default: learned)")
}

// levelFlag is that of verbs which show intervals.
func (m *modelFlags) levelFlag(f *pflag.FlagSet) {
	f.Float64Var(&m.level, "level", 0.95, "level of intervals")
}

// kernelFlags are those that classes have too.
func (m *modelFlags) kernelFlags(f *pflag.FlagSet) {
	m.family = newChoice(append([]string{"auto"}, grfgp.Families...)...)
	m.method = newChoice(append([]string{"auto"}, grfgp.Methods...)...)
	m.scales = newChoice(append([]string{"auto"}, grfgp.Scales...)...)
	m.laplacian = newChoice(append([]string{"auto"}, grfgp.Laplacians...)...)
	m.solver = newChoice(gp.Solvers...)
	f.Var(&m.family, "family", "family of kernels: auto, "+strings.Join(grfgp.Families, ", "))
	f.Float64SliceVar(&m.spec.Alpha, "alpha", nil, "coefficients α_0,α_1,… of the family power, the kernel Σ α_r W^r times a variance that is learned")
	f.Var(&m.laplacian, "laplacian", "auto (tries all if the family is auto too), normalized (I − D^-½ A D^-½), raw (D − A, in units of the mean degree) or signless (I + D^-½ A D^-½: neighbours differ)")
	f.Var(&m.method, "method", "how the kernel is represented: auto, "+strings.Join(grfgp.Methods, ", "))
	f.Var(&m.scales, "scales", "auto, one, or many: kernels of longer reach on top, for functions that vary over hundreds of hops")
	f.Var(&m.solver, "solver", "how systems are solved: auto (exact up to 3,000 measurements or labels), exact or iterative")
	f.Float64Var(&m.spec.Nu, "nu", 0, "smoothness ν of the family matern (default: chosen by likelihood)")
	f.IntVar(&m.spec.Hops, "hops", 0, "reach of grf, lowrank and free in hops (default: chosen); cuts series off, which reach everywhere")
	f.IntVar(&m.spec.Walks, "walks", 0, "walkers per node of grf and lowrank (default 100)")
	f.IntVar(&m.spec.Rank, "rank", 0, "rank of lowrank (default 256)")
}

// fitFlags are those of every verb that fits a model to files.
type fitFlags struct {
	input
	measurementFlags
	modelFlags
}

func (f *fitFlags) register(cmd *cobra.Command) { f.registerWith(cmd, f.measurementFlags.flags) }

// registerWith is register with other flags of measurements.
func (f *fitFlags) registerWith(cmd *cobra.Command, measurements func(*pflag.FlagSet)) {
	flags := cmd.Flags()
	f.input.flags(flags)
	measurements(flags)
	f.modelFlags.flags(flags)
	f.input.complete(cmd)
	f.measurementFlags.complete(cmd)
	f.modelFlags.complete(cmd)
}

// foldFlags are those of verbs that leave measurements out.
type foldFlags struct {
	folds  int
	scheme choice
}

func (f *foldFlags) register(cmd *cobra.Command, help string) {
	cmd.Flags().IntVar(&f.folds, "folds", 10, help)
	f.scheme = newChoice(string(crossval.Scattered), string(crossval.Neighbourhoods))
	cmd.Flags().Var(&f.scheme, "leave-out", "what is left out together: scattered or neighbourhoods")
	complete(cmd, "leave-out", f.scheme.words...)
}

// fileFlags are those of verbs that can keep the fitted model.
func (m *modelFlags) fileFlags(f *pflag.FlagSet) {
	f.StringVar(&m.saveFile, "save-model", "", "`file` to keep the fitted model in")
	f.StringVar(&m.modelFile, "model", "", "`file` with a fitted model of the same graph: nothing is learned, no measurements are read")
}

func (m *modelFlags) complete(cmd *cobra.Command) {
	complete(cmd, "family", m.family.words...)
	complete(cmd, "method", m.method.words...)
	complete(cmd, "scales", m.scales.words...)
	complete(cmd, "laplacian", m.laplacian.words...)
	if cmd.Flags().Lookup("trend") != nil {
		complete(cmd, "variance", m.variance.words...)
		complete(cmd, "trend", m.trend.words...)
	}
	complete(cmd, "solver", m.solver.words...)
}

// resolve fills the Spec from the flags that were given.
func (m *modelFlags) resolve(a *app, changed func(string) bool) (grfgp.Spec, error) {
	spec := m.kernelSpec(a)
	spec.Variance, spec.Trend = m.variance.chosen(), m.trend.chosen()
	if changed("mean") {
		spec.Mean = &m.mean
	}
	if changed("noise-sd") {
		spec.NoiseSD = &m.noiseSD
	}
	if changed("level") && !(m.level > 0 && m.level < 1) {
		return spec, usagef("--level %v: give a number between 0 and 1, such as 0.95", m.level)
	}
	return spec, checkSpec(spec)
}

// kernelSpec is what kernelFlags say.
func (m *modelFlags) kernelSpec(a *app) grfgp.Spec {
	spec := m.spec
	spec.Seed = a.seed
	spec.Family, spec.Method, spec.Scales, spec.Solver = m.family.chosen(), m.method.chosen(), m.scales.chosen(), m.solver.chosen()
	spec.Laplacian = m.laplacian.chosen()
	m.tellIdle(a, spec)
	return spec
}

// checkSpec says what is wrong with a Spec, by the flag that says so.
func checkSpec(spec grfgp.Spec) error {
	switch err := spec.Check(); {
	case err == nil:
		return nil
	case spec.Nu < 0 || spec.Nu > 0 && spec.Family != "matern":
		return usagef("--nu %v: give a number > 0, with --family matern", spec.Nu)
	case len(spec.Alpha) > 0 && spec.Family != "power":
		return usagef("--alpha goes with --family power")
	case len(spec.Alpha) == 0 && spec.Family == "power":
		return usagef("--family power: give the coefficients of its power series, such as --alpha 1,0.5,0.25")
	case spec.NoiseSD != nil && !(*spec.NoiseSD >= 0):
		return usagef("--noise-sd %v: give 0 or more", *spec.NoiseSD)
	default:
		return &exitError{exitUsage, err}
	}
}

// tellIdle says which flags of the kernel the method has no use for.
func (m *modelFlags) tellIdle(a *app, spec grfgp.Spec) {
	for _, f := range []struct {
		flag  string
		value int
		of    []string // methods
	}{
		{"hops", spec.Hops, []string{"", "series", "grf", "lowrank"}},
		{"walks", spec.Walks, []string{"", "grf", "lowrank"}},
		{"rank", spec.Rank, []string{"", "lowrank"}},
	} {
		if f.value != 0 && !slices.Contains(f.of, spec.Method) {
			a.talk.Say("note: --%s %d has no effect with --method %s", f.flag, f.value, spec.Method)
		}
	}
}

// fit fits the model and says what was chosen.
func (a *app) fit(ctx context.Context, d *modelData, spec grfgp.Spec) (*grfgp.Model, error) {
	s := a.talk.Stage("fitting")
	m, err := grfgp.Fit(ctx, d.net.Graph, d.data, spec)
	if err != nil {
		return nil, fitError(ctx, err)
	}
	c := m.Choice()
	s.Done("%s, noise %.3g, log likelihood %.2f", kernelWords(c.Family, c.Method, c.Scales, c.Variance, c.Trend), m.NoiseSD(), c.Fit.LogLikelihood)
	for _, why := range c.Why {
		a.talk.Say("  %s", why)
	}
	for k, name := range c.Fit.Names {
		a.talk.Say("  %s = %.4g", name, c.Fit.Theta[k])
	}
	if !c.Fit.Converged {
		a.talk.Say("  warning: learning stopped after %d iterations before it had settled (residual %.1g)", c.Fit.Iterations, c.Fit.Residual)
	}
	if d.measurements != nil {
		if blind := report.Without(d.net.Graph, d.data.Nodes); blind.Count > 0 {
			a.talk.Say("  components without any measurement: %d, with %d nodes; there the prior remains", blind.Count, blind.Nodes)
		}
	}
	return m, nil
}

func openModel(path string) (*os.File, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, unreadable("--model", path, err, "name one that --save-model wrote")
	}
	return f, nil
}

// loadModel reads a model that was kept for the graph.
func (a *app) loadModel(ctx context.Context, path string, g *graph.Graph) (*grfgp.Model, error) {
	s := a.talk.Stage("loading the model")
	f, err := openModel(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	m, err := grfgp.Load(ctx, f, g)
	if err != nil {
		return nil, dataf("%s: %w", path, err)
	}
	c := m.Choice()
	s.Done("%s, %d measurements", kernelWords(c.Family, c.Method, c.Scales, c.Variance, c.Trend), m.Data().Len())
	return m, nil
}

// kernelWords names a kernel as it was chosen.
func kernelWords(family, method, scales, variance, trend string) string {
	words := family + " by " + method
	if scales != "" {
		words += " on " + scaleWords[scales]
	}
	if variance == "unit" {
		words += ", of unit variance"
	}
	if trend == "degree" {
		words += ", with a trend"
	}
	return words
}

var scaleWords = map[string]string{"one": "one scale", "many": "many scales"}

// fitError gives errors of fitting their exit code.
func fitError(ctx context.Context, err error) error {
	switch {
	case ctx.Err() != nil:
		return err
	case errors.Is(err, grfgp.ErrSpec):
		return &exitError{exitUsage, err}
	}
	return &exitError{exitNotFitted, fmt.Errorf("the model could not be fitted: %w", err)}
}
