package main

import (
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"grfgp"
	"grfgp/gp"
	"grfgp/graph"
	"grfgp/graphio"
	"grfgp/internal/cli"
)

// valueFlags say what is measured.
type valueFlags struct {
	values    cli.Choice
	transform cli.Choice
	exposure  string
	tested    string
	noFile    bool // no measurements are read, so no column of them need be named
}

func (v *valueFlags) flags(cmd *cobra.Command) {
	v.values.Flag(cmd, "values", "kind of measurement; "+kindsHelp()+"; auto: gaussian, but asks if values look like counts or like yes "+
		"and no", withAuto(gp.ValuesNames())...)
	v.transform.Flag(cmd, "transform", "transform of gaussian or student values before modelling; results are transformed back",
		gp.TransformNames()...)
	v.sizeFlags(cmd)
}

// kindsHelp describes every kind of values.
func kindsHelp() string {
	var all []string
	for _, about := range gp.AboutValues() {
		all = append(all, about.Name+": "+about.Help)
	}
	return strings.Join(all, ", ")
}

// sizeFlags name the columns of exposures.
func (v *valueFlags) sizeFlags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&v.exposure, "exposure", "", "`column` of exposures of counts: expected cases (predictions are then relative risks), or "+
		"people or time at risk; implies --values count")
	f.StringVar(&v.tested, "tested", "", "`column` with the number tested, of which the value is the number of positives; implies --values "+
		"share")
}

// resolveValues adds what is measured to a Spec.
func (v *valueFlags) resolveValues(spec *grfgp.Spec) error {
	spec.Values, spec.Transform = v.values.Chosen(), v.transform.Chosen()
	switch {
	case v.exposure != "" && v.tested != "":
		return cli.Usagef("--exposure is for counts and --tested for shares: give only one")
	case v.exposure != "" && spec.Values != "" && spec.Values != "count":
		return cli.Usagef("--exposure goes with --values count, not with --values %s", spec.Values)
	case v.tested != "" && spec.Values != "" && spec.Values != "share":
		return cli.Usagef("--tested goes with --values share, not with --values %s", spec.Values)
	case v.tested == "" && spec.Values == "share" && !v.noFile:
		return cli.Usagef("--values share: name the column of the numbers tested, of which the values are positive, as in --tested tested")
	case v.exposure != "":
		spec.Values = "count"
	case v.tested != "":
		spec.Values = "share"
	}
	return nil
}

// readingOptions returns the options of reading measurements of the Spec's values.
func (v *valueFlags) readingOptions(spec grfgp.Spec, opts graphio.Options) graphio.Options {
	opts.Columns = maps.Clone(opts.Columns)
	switch spec.Values {
	case "count":
		opts.Counts = true
		if v.exposure != "" {
			opts.Columns[graphio.RoleExposure] = v.exposure
		}
	case "share":
		opts.Columns[graphio.RoleTested] = v.tested
	}
	if oneByOne(spec) && opts.Repeats == graphio.RepeatsMean {
		opts.Repeats = graphio.RepeatsKeep
		opts.IgnoreSD = opts.IgnoreSD || !spec.About().Noisy || spec.Transform != ""
	}
	return opts
}

// oneByOne reports whether the mean of repeated measurements is not enough, and they
// are kept one by one.
func oneByOne(spec grfgp.Spec) bool {
	about := spec.About()
	return about.Repeats == gp.RepeatsEach && about.Exposure == gp.ExposureNone || spec.Transform != ""
}

// askKind returns an error, which is a question, if values look like counts or like yes
// and no and the user has not said what they are. Larger whole numbers may be rounded
// ones, such as speeds: they are noted.
func (a *app) askKind(m *graphio.Measurements, v *valueFlags, spec grfgp.Spec) error {
	if v.values.Chosen() != "" || spec.Values != "" || spec.Transform != "" {
		return nil
	}
	kind, why := m.Kind()
	switch asked, _ := m.Ask(); {
	case asked == graphio.KindYesNo:
		return cli.Usagef("%s: %s: are they no and yes, or numbers? Say which: --values yes-no or --values gaussian", m.Report.File, why)
	case asked == graphio.KindCount:
		return cli.Usagef("%s: %s: are they counts, or measurements on a continuous scale? Say which: --values count, with --exposure COLUMN if "+
			"there are numbers to expect or at risk, or --values gaussian", m.Report.File, why)
	case kind == graphio.KindCount:
		a.Talk.Say("  note: %s; they are taken for measurements on a continuous scale: if they are counts, give --values count", why)
	}
	return nil
}

// checkNumbers returns an error that names the node whose value cannot be of its kind.
func checkNumbers(m *graphio.Measurements, ids *graph.IDs, spec grfgp.Spec) error {
	var kind gp.Values
	if err := kind.UnmarshalText([]byte(spec.About().Name)); err != nil {
		return err
	}
	for k, y := range m.Values {
		id := ids.At(m.Nodes[k])
		switch {
		case spec.Values == "yes-no" && y != 0 && y != 1:
			return cli.Dataf("%s: node %s has the value %g: --values yes-no takes 0 and 1; for positives among tested give --values share --tested "+
				"COLUMN", m.Report.File, id, y)
		case spec.About().Exposure == gp.ExposureNone && kind.CheckValue(y, 1) != nil:
			return cli.Dataf("%s: the value of node %s %w", m.Report.File, id, kind.CheckValue(y, 1))
		case spec.Transform == "log" && y == 0:
			return cli.Dataf("%s: node %s has the value 0, which has no logarithm: give --transform log1p", m.Report.File, id)
		case spec.Transform != "" && y < 0:
			return cli.Dataf("%s: node %s has the value %g: --transform %s is for values from 0 on; correct it, or leave --transform out",
				m.Report.File,
				id, y, spec.Transform)
		}
	}
	return nil
}

// tellSums notes how repeated measurements of values that have no mean are used.
func (a *app) tellSums(r *graphio.Report, repeats cli.Choice, spec grfgp.Spec) {
	switch n := r.Ledger.Repeats; {
	case n > 0 && repeats.Value == "mean" && (spec.Values == "count" || spec.Values == "share"):
		a.Talk.Say("  note: repeated measurements of a node: %d; those of a node are added up, and so are their exposures; see --repeats", n)
	case !oneByOne(spec):
		a.tellRepeats(r, repeats)
	}
}

// quantity is what predictions are of, in words, given the name of the column of
// exposures: the rate, if that is empty.
func quantity(spec grfgp.Spec, exposure string) string {
	about := spec.About()
	if about.Exposure == gp.ExposureOptional && strings.Contains(strings.ToLower(exposure), "expect") {
		return "relative risk"
	}
	return about.Quantity
}

// axisName is the text at axes of predictions: the name of the column of values, or what
// they say about the node.
func axisName(spec grfgp.Spec, exposure string, r *graphio.Report) string {
	if what := quantity(spec, exposure); what != "value" {
		return what
	}
	return valueName(r)
}

// newReading is what a new measurement is, in words.
func newReading(spec grfgp.Spec) string {
	return spec.About().Reading
}

// tellQuantity says what the numbers of a prediction are.
func (a *app) tellQuantity(spec grfgp.Spec, what string) {
	switch {
	case what == "rate":
		what = "rate per unit of exposure"
	case spec.About().Latent():
	case spec.Transform == "":
		return
	default:
		what = "value, transformed back from " + spec.Transform
	}
	a.Talk.Say("  mean, sd, lower and upper are those of the %s; intervals are not symmetric", what)
}

// medianExposure returns the median of the exposures, 1 without any.
func medianExposure(d gp.Data) float64 {
	if len(d.Exposure) == 0 {
		return 1
	}
	sorted := slices.Sorted(slices.Values(d.Exposure))
	return sorted[len(sorted)/2]
}

// noiseWords says how noisy measurements are.
func noiseWords(m *grfgp.Model) string {
	fit := m.Choice().Fit
	return fit.Values.NoiseWords(fit.Shape, m.NoiseSD())
}
