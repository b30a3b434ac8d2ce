package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"grfgp"
	"grfgp/crossval"
	"grfgp/gp"
	"grfgp/graphio"
	"grfgp/internal/cli"
	"grfgp/internal/plural"
	"grfgp/kernel"
	"grfgp/report"
	"grfgp/walk"
)

// modelFlags are the flags of the model.
type modelFlags struct {
	valueFlags
	spec      grfgp.Spec
	family    cli.Choice
	method    cli.Choice
	scales    cli.Choice
	laplacian cli.Choice
	variance  cli.Choice
	trend     cli.Choice
	solver    cli.Choice
	device    deviceFlag
	covariateFlags
	mean      float64
	noiseSD   float64
	level     float64
	modelFile string
	saveFile  string
	memory    cli.Size

	checkpoints string // folder
}

func (m *modelFlags) flags(cmd *cobra.Command) {
	m.kernelFlags(cmd)
	f := cmd.Flags()
	m.variance.Flag(cmd, "variance", "prior variance of nodes; natural: that of the kernel, larger at hubs, unit: the same everywhere",
		withAuto(grfgp.Variances())...)
	m.trend.Flag(cmd, "trend", "linear trend on the log degree of nodes", withAuto(grfgp.Trends())...)
	m.valueFlags.flags(cmd)
	f.Float64Var(&m.mean, "mean", 0, "known mean: of counts the rate, of shares the probability (default: learned)")
	f.Float64Var(&m.noiseSD, "noise-sd", 0, "known noise standard deviation of one measurement (default: learned)")
}

func withAuto(words []string) []string { return append([]string{"auto"}, words...) }

// levelFlag is that of verbs which show intervals.
func (m *modelFlags) levelFlag(cmd *cobra.Command) {
	cmd.Flags().Float64Var(&m.level, "level", 0.95, "level of credible intervals")
}

// kernelFlags are those that models of classes have too.
func (m *modelFlags) kernelFlags(cmd *cobra.Command) {
	f := cmd.Flags()
	m.family.Flag(cmd, "family", "kernel family", withAuto(grfgp.Families())...)
	f.Float64SliceVar(&m.spec.Alpha, "alpha", nil, "`list` of the coefficients α_0,α_1,… of the family power: the kernel is Σ α_r W^r "+
		"times a learned variance")
	m.laplacian.Flag(cmd, "laplacian", "Laplacian; normalized is I − D^-½ A D^-½, raw is D − A over the mean degree, signless is I + D^-½ "+
		"A D^-½ (neighbours differ); auto tries all if the family is auto", withAuto(grfgp.Laplacians())...)
	m.method.Flag(cmd, "method", "representation of the kernel", withAuto(grfgp.Methods())...)
	m.scales.Flag(cmd, "scales", "scales of the kernel; many: adds kernels of longer reach, for values that vary over hundreds of hops",
		withAuto(grfgp.Scales())...)
	m.solver.Flag(cmd, "solver", "linear solver; auto is exact up to 3,000 measurements or labels", gp.SolverNames()...)
	f.Float64Var(&m.spec.Nu, "nu", 0,
		"smoothness ν of the family "+families(kernel.Family.TakesNu)+" (default: chosen by likelihood)")
	f.IntVar(&m.spec.Hops, "hops", 0, "longest walk in hops, for the methods grf and lowrank and the family free (default: chosen); with "+
		"the method series it truncates the kernel, which otherwise reaches all nodes")
	f.IntVar(&m.spec.Walks, "walks", 0, "walkers per node, for the methods grf and lowrank (default 100)")
	m.covariateFlags.flags(cmd)
	f.IntVar(&m.spec.Rank, "rank", 0, "rank of the method lowrank (default 256)")
	f.Var(&m.memory, "memory",
		"memory limit of the run, such as 8GiB (default: 80 % of the free memory); a run that needs more does not start")
	f.Lookup("memory").DefValue = ""
}

// fitFlags are those of every verb that fits a model to files.
type fitFlags struct {
	cli.Input
	measurementFlags
	modelFlags
	at string // time to predict for
}

func (f *fitFlags) flags(cmd *cobra.Command) { f.flagsWith(cmd, f.measurementFlags.flags) }

// flagsWith is flags with other flags of measurements.
func (f *fitFlags) flagsWith(cmd *cobra.Command, measurements func(*cobra.Command)) {
	f.Input.Flags(cmd)
	measurements(cmd)
	f.modelFlags.flags(cmd)
}

// foldFlags are those of cross-validation.
type foldFlags struct {
	folds       int
	scheme      cli.Choice
	fast        bool
	chooseAgain bool
}

func (f *foldFlags) flags(cmd *cobra.Command, help string) {
	cmd.Flags().IntVar(&f.folds, "folds", 10, help)
	f.scheme.Flag(cmd, "leave-out", "which nodes are held out together", string(crossval.Scattered), string(crossval.Neighbourhoods))
	cmd.Flags().BoolVar(&f.fast, "fast", false, "learn hyperparameters once, from all measurements or labels, and not again for each fold: "+
		"faster, and errors are slightly too small")
	cmd.Flags().BoolVar(&f.chooseAgain, "choose-again", false, "choose the kernel again for each fold, too: takes several times as long")
	cmd.MarkFlagsMutuallyExclusive("fast", "choose-again")
}

// options returns the options of a cross-validation.
func (f *foldFlags) options(folds int) crossval.Options {
	return crossval.Options{Folds: folds, Scheme: crossval.Scheme(f.scheme.Value), Fixed: f.fast, ChooseAgain: f.chooseAgain}
}

// fileFlags are those of verbs that can keep the fitted model.
func (m *modelFlags) fileFlags(cmd *cobra.Command) {
	m.checkpointFlag(cmd)
	cmd.Flags().StringVar(&m.saveFile, "save-model", "", "`file` for the fitted model")
	cmd.Flags().StringVar(&m.modelFile, "model", "", "`file` of a saved model of the same graph: nothing is learned again; predictions are "+
		"made from its own measurements, or from --measurements")
}

// resolve returns the Spec of the flags.
func (m *modelFlags) resolve(a *app, changed func(string) bool) (grfgp.Spec, error) {
	spec := m.kernelSpec(a)
	spec.Variance, spec.Trend = m.variance.Chosen(), m.trend.Chosen()
	if err := m.resolveValues(&spec); err != nil {
		return spec, err
	}
	if changed("mean") {
		spec.Mean = &m.mean
	}
	if changed("noise-sd") {
		spec.NoiseSD = &m.noiseSD
	}
	if changed("level") && !(m.level > 0 && m.level < 1) {
		return spec, cli.Usagef("--level %v: give a number between 0 and 1, such as 0.95", m.level)
	}
	return spec, checkSpec(spec)
}

// kernelSpec returns the Spec of kernelFlags.
func (m *modelFlags) kernelSpec(a *app) grfgp.Spec {
	spec := m.spec
	spec.Seed = a.Seed
	spec.Family, spec.Method, spec.Scales, spec.Solver = m.family.Chosen(), m.method.Chosen(), m.scales.Chosen(), m.solver.Chosen()
	spec.Laplacian, spec.Roles, spec.Device = m.laplacian.Chosen(), m.roles.Chosen(), m.device.name(a)
	m.tellIdle(a, spec)
	return spec
}

// families lists the names of families that satisfy a condition.
func families(of func(f kernel.Family) bool) string {
	return strings.Join(kernel.FamilyNames(of), " or ")
}

// checkSpec says what is wrong with a Spec, by the name of the flag.
func checkSpec(spec grfgp.Spec) error {
	family, _ := kernel.FamilyNamed(spec.Family)
	switch err := spec.Check(); {
	case err == nil:
		return nil
	case spec.Nu < 0 || spec.Nu > 0 && !family.Nu:
		return cli.Usagef("--nu %v: give a number > 0, together with --family %s", spec.Nu, families(kernel.Family.TakesNu))
	case len(spec.Alpha) > 0 && !family.Alpha:
		return cli.Usagef("--alpha needs --family %s", families(kernel.Family.TakesAlpha))
	case len(spec.Alpha) == 0 && family.Alpha:
		return cli.Usagef("--family %s: give the coefficients of its power series, such as --alpha 1,0.5,0.25", spec.Family)
	case spec.NoiseSD != nil && !(*spec.NoiseSD >= 0):
		return cli.Usagef("--noise-sd %v: give 0 or more", *spec.NoiseSD)
	case spec.Hops < 0 || spec.Hops > walk.MaxMaxLen:
		return cli.Usagef("--hops %d: give 1 to %d", spec.Hops, walk.MaxMaxLen)
	case spec.Walks < 0 || spec.Walks > walk.MaxWalks:
		return cli.Usagef("--walks %d: give 1 to %d", spec.Walks, walk.MaxWalks)
	case spec.Rank < 0:
		return cli.Usagef("--rank %d: give 1 or more", spec.Rank)
	default:
		return cli.Exit(cli.ExitUsage, err)
	}
}

// tellIdle notes the kernel flags that the method ignores.
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
			a.Talk.Say("note: --%s %d has no effect with --method %s", f.flag, f.value, spec.Method)
		}
	}
}

// fit fits the model and prints its choices.
func (a *app) fit(ctx context.Context, d *modelData, spec grfgp.Spec) (*grfgp.Model, error) {
	if err := ctx.Err(); err != nil { // eigenvectors are not interrupted
		return nil, err
	}
	spec = d.time.spec(spec)
	places := d.net.Graph.Len() * max(1, len(spec.Times))
	if err := a.fits(ctx, fmt.Sprintf("predicting %d nodes", d.net.Graph.Len()), d.net.Graph, spec,
		grfgp.Job{Measurements: d.data.Len(), Places: places, Folds: d.folds}); err != nil {
		return nil, err
	}
	s := a.Talk.Stage("fitting")
	t, err := grfgp.NewTrainer(d.net.Graph, spec)
	if err != nil {
		return nil, fitError(ctx, err)
	}
	how, err := a.together(d.checkpoints)
	if err != nil {
		return nil, err
	}
	t.FitTogether(how)
	m, err := t.FitProgress(ctx, d.data, s.Work())
	if err != nil {
		return nil, fitError(ctx, err)
	}
	c := m.Choice()
	s.Done("%s, %s, log marginal likelihood %.2f", kernelWords(c.Family, c.Method, c.Scales, c.Variance, c.Trend, c.Terms), noiseWords(m),
		c.Fit.LogLikelihood)
	a.tellReasons(c.Why, c.Cautions)
	if s := spec.Covariates; s != nil && !s.Empty() && spec.Terms == 0 && c.Method != "lowrank" &&
		!slices.Contains(c.Terms, "covariates") && !slices.Contains(c.Terms, "product") {
		a.Talk.Say("  note: the covariates do not improve the likelihood, so the model leaves them out")
	}
	a.Talk.Detail("  hyperparameters, for standardized values: %s", thetaWords(c.Fit.Names, c.Fit.Theta))
	if !c.Fit.Converged {
		a.Talk.Say("  warning: the fit stopped after %d iterations without converging (residual %.1g)", c.Fit.Iterations, c.Fit.Residual)
	}
	if d.measurements != nil {
		if blind := report.ComponentsWithout(d.net.Graph, grfgp.NodesOf(d.net.Graph, d.data.Nodes)); blind.Count > 0 {
			a.Talk.Say("  components without a measurement: %d, with %s; predictions there %s", blind.Count, plural.Count(blind.Nodes, "nodes"),
				withoutNeighbours(c.Terms, "equal the prior"))
		}
	}
	return m, nil
}

// tellReasons prints why a model was chosen: all of it to those who want to know, and to
// everybody what limits the trust in it. What was printed before is left out.
func (a *app) tellReasons(why, cautions []string) {
	for _, sentence := range why {
		if !a.untold(sentence) {
			continue
		}
		if slices.Contains(cautions, sentence) {
			a.Talk.Say("  note: %s", sentence)
		} else {
			a.Talk.Detail("  %s", sentence)
		}
	}
}

// untold reports whether a reason was not printed before; now it is.
func (a *app) untold(sentence string) bool {
	if a.told == nil {
		a.told = map[string]bool{}
	}
	first := !a.told[sentence]
	a.told[sentence] = true
	return first
}

func openModel(path string) (*os.File, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, cli.Unreadable("--model", path, err, "name a file that --save-model wrote")
	}
	return f, nil
}

// loadModel reads a saved model of the graph, with the columns of the node table that
// it uses.
func (a *app) loadModel(ctx context.Context, path, device string, net *graphio.Network) (*grfgp.Model, *nodeFacts, error) {
	k, err := a.savedColumns(path, net)
	if err != nil {
		return nil, nil, err
	}
	s := a.Talk.Stage("loading the model")
	f, err := openModel(path)
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	m, err := grfgp.Load(ctx, f, net.Graph, k.spec(grfgp.Spec{Device: device}))
	if cli.IsCardError(err) {
		return nil, nil, err
	}
	if err != nil {
		return nil, nil, cli.Dataf("%s: %w", path, err)
	}
	c := m.Choice()
	s.Done("%s, %d measurements", kernelWords(c.Family, c.Method, c.Scales, c.Variance, c.Trend, c.Terms), m.Data().Len())
	a.tellReasons(c.Why, nil) // cautions were told when it was fitted
	return m, k, nil
}

// kernelWords names a kernel as it was chosen.
func kernelWords(family, method, scales, variance, trend string, terms []string) string {
	words := report.KernelName(family, terms) + ", method " + method
	if scales != "" {
		words += ", " + scaleWords[scales]
	}
	if variance == "unit" {
		words += ", unit variance"
	}
	if trend == "degree" {
		words += ", trend on log degree"
	}
	return words
}

// thetaWords lists hyperparameters: "variance = 1.2, beta = 3.4".
func thetaWords(names []string, theta []float64) string {
	words := make([]string, len(names))
	for k, name := range names {
		words[k] = fmt.Sprintf("%s = %.4g", name, theta[k])
	}
	return strings.Join(words, ", ")
}

var scaleWords = map[string]string{"one": "one scale", "many": "many scales"}

// fitError gives errors of fitting their exit code.
func fitError(ctx context.Context, err error) error {
	switch {
	case ctx.Err() != nil || cli.IsCardError(err):
		return err
	case errors.Is(err, grfgp.ErrSpec):
		return cli.Exit(cli.ExitUsage, err)
	}
	return cli.Exit(cli.ExitNotFitted, fmt.Errorf("the model could not be fitted: %w", err))
}
