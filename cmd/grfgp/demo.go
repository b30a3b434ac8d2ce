package main

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"grfgp"
	"grfgp/crossval"
	"grfgp/gp"
	"grfgp/graphio"
	"grfgp/internal/city"
	"grfgp/report"
)

func demoVerb(a *app) *cobra.Command {
	var dir string
	var device deviceFlag
	cmd := &cobra.Command{
		Use:   "demo [-o FOLDER]",
		Short: "Try grfgp on a made-up city, and get files to practise with",
		Long: `Demo generates a city of about 1,200 junctions with speed sensors at 150 of them,
fits, predicts and cross-validates, compares the predictions with the true speeds,
which are known here, and writes a report with maps.

The folder also receives the CSV files that the README and the tutorials use: the
city, cases of a disease in the areas of a country, and papers that cite each
other. Another --seed gives other data.`,
		Example: `  grfgp demo
  grfgp demo --seed 7 -o another-city`,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.demo(cmd.Context(), dir, device.name(a)) },
	}
	cmd.Flags().StringVarP(&dir, "dir", "o", "grfgp-demo", "`folder` for the files and the report")
	device.flag(cmd)
	return cmd
}

func (a *app) demo(ctx context.Context, dir, device string) error {
	s := a.Talk.Stage("generating data")
	r := newDemo(a.Seed)
	r.Spec.Device = device
	files := demoFiles(a.Seed)
	if err := leaveFiles(a.Kept, dir, files); err != nil {
		return err
	}
	s.Done("a city of %d junctions with %d sensors, and two other data sets", len(r.Truth), r.Data.Len())
	if err := a.run(ctx, r); err != nil {
		return err
	}
	page := filepath.Join(dir, "report.html")
	if err := a.writePage(ctx, page, r.Write); err != nil {
		return err
	}
	if a.JSON {
		answer := demoAnswer{reportAnswer: r.answer(page), Dir: dir}
		for _, f := range files {
			answer.Files = append(answer.Files, f.name)
		}
		return json.NewEncoder(a.Out).Encode(answer)
	}
	return a.printDemo(r, dir, files)
}

// demoAnswer is the answer in JSON.
type demoAnswer struct {
	reportAnswer
	Dir   string   `json:"dir"`
	Files []string `json:"files"`
}

// newDemo presents a city as if it had been read from files.
func newDemo(seed uint64) *subject {
	c := city.New(seed)
	n, m := int64(c.Graph.Edges()), int64(len(c.Sensors))
	streets := &graphio.Report{File: "streets of a made-up city", Format: "generated", Nodes: c.Graph.Len(), Edges: int(n)}
	streets.Ledger = graphio.Ledger{Unit: "edges", Total: n, Edges: n}
	sensors := &graphio.Report{File: "its speed sensors", Format: "generated"}
	sensors.Ledger = graphio.Ledger{Unit: "rows", Total: m, Rows: m}
	once := make([]int, m)
	for k := range once {
		once[k] = 1
	}
	return &subject{
		Regression: report.Regression{
			Title: "Traffic in a city that does not exist", Unit: "km/h", Quantity: "km/h",
			Network:      graphio.NewNetwork(c.Graph, &graphio.NodeTable{IDs: c.Graph.IDs(), X: c.X, Y: c.Y}, streets),
			Measurements: &graphio.Measurements{Nodes: c.Sensors, Values: c.Readings, Count: once, Report: sensors},
			Data:         gp.Data{Nodes: c.Sensors, Y: c.Readings},
			// The series is exact here too, and takes three quarters of the time of dense.
			Spec: grfgp.Spec{Expression: grfgp.Expression{Method: "series"}, Seed: seed}, Level: 0.95, Truth: c.Truth, Program: programName(),
		},
		validation: crossval.Options{Folds: 10},
	}
}

func (a *app) printDemo(r *subject, dir string, files []demoFile) error {
	g, v, truth := r.Network.Graph, r.Validation, r.AgainstTruth()
	t := tabwriter.NewWriter(a.Out, 0, 0, 2, ' ', 0)
	fmt.Fprintf(t, "A made-up city: %d junctions, %d streets, speed sensors at %d junctions.\n\n", g.Len(), g.Edges(), r.Data.Len())
	fmt.Fprintf(t, "model\t%s, noise sd %.2g km/h (true: %d km/h)\n", r.Model.Choice().Family, r.Model.NoiseSD(), city.NoiseSD)
	fmt.Fprintf(t, "error\t%.3g km/h (RMSE) at held-out sensors\n", v.RMSE)
	for _, name := range crossval.InOrder(v.BaselineRMSE) {
		fmt.Fprintf(t, "\t%.3g km/h by the baseline %s\n", v.BaselineRMSE[name], name)
	}
	fmt.Fprintf(t, "coverage\t95 %% intervals contain %.1f %% of the held-out measurements\n", 100*v.Coverage.At(0.95))
	fmt.Fprintf(t, "truth\terror %.3g km/h (RMSE) at the %d junctions without a sensor; 95 %% intervals contain %.1f %% of the true speeds\n",
		truth.RMSE, truth.Nodes, 100*truth.Coverage)
	fmt.Fprintf(t, "most uncertain\t%s\n", strings.Join(idsOf(g, r.MostUncertain()[:5]), ", "))
	fmt.Fprintf(t, "\nThe folder %s contains:\n", dir)
	for _, f := range append([]demoFile{{name: "report.html", about: "the report with maps: open it in a browser"}}, files...) {
		fmt.Fprintf(t, "  %s\t%s\n", f.name, f.about)
	}
	fmt.Fprintf(t, "\nTry next:\n  cd %s\n  grfgp predict --edges roads.csv --measurements speeds.csv -o pred.csv\n", dir)
	return t.Flush()
}
