package bench

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"grfgp/graph"
	"grfgp/graphio"
	"grfgp/lab/dataset"
)

// Report holds the results of Run; parts that were not run are missing.
type Report struct {
	Version  int          `json:"version"`
	Machine  Limits       `json:"machine"`
	Reading  *Read        `json:"reading,omitempty"`
	Sampling []Sampled    `json:"sampling,omitempty"`
	Product  []Multiplied `json:"product,omitempty"`
	Sweeps   []Swept      `json:"sweeps,omitempty"`
	Accuracy []Accuracy   `json:"accuracy,omitempty"`
	Scaling  []Growth     `json:"scaling,omitempty"`

	Regression []Regression `json:"regression,omitempty"`
	Training   *Exponent    `json:"training_exponent,omitempty"`
	Inference  *Exponent    `json:"inference_exponent,omitempty"`
	Arms       []Regression `json:"arms,omitempty"` // dense, then sparse
	Cores      []Cores      `json:"cores,omitempty"`
	Multiscale *Multiscale  `json:"multiscale,omitempty"`
}

// Options select and size the parts of a run.
type Options struct {
	Parts   []string // names as in Parts
	Quick   bool     // small graphs
	Largest int      // rings of regression and multiscale have up to 2^Largest nodes; ignored by quick runs
	Seed    uint64
	// Stage is called when a part begins, and the function that it returns when the part
	// ends without an error.
	Stage func(part string) (done func())
	Say   func(format string, args ...any)
}

// Parts returns the names of all parts, in the order in which they run.
func Parts() []string {
	return []string{"reading", "sampling", "product", "sweeps", "accuracy", "scaling", "regression", "arms", "cores", "multiscale"}
}

// armEpochs is small because each epoch of the dense arm factors a matrix with thousands
// of rows.
const armEpochs = 5

// Run measures the machine, then the chosen parts.
func Run(ctx context.Context, o Options) (*Report, error) {
	nodes, side, edges, top := 1<<20, 1000, 3_000_000, 22
	lowest, highest, arms := 15, o.Largest, 1<<13
	least, most := lowest, highest // of multiscale
	if o.Quick {
		nodes, side, edges, top = 1<<16, 300, 200_000, 17
		lowest, highest, arms = 10, 12, 1<<10
		least, most = 8, 10
	}
	r := &Report{Version: 1}
	for _, part := range []struct {
		name string
		do   func() error
	}{
		{"machine", func() (err error) { r.Machine, err = Machine(ctx); return }},
		{"reading", func() (err error) { r.Reading, err = Reading(ctx, edges, o.Seed); return }},
		{"sampling", func() (err error) { r.Sampling, err = Sampling(ctx, r.Machine, nodes, o.Seed); return }},
		{"product", func() (err error) { r.Product, err = Product(ctx, r.Machine, side); return }},
		{"sweeps", func() (err error) { r.Sweeps, err = Sweeps(ctx, r.Machine, nodes); return }},
		{"accuracy", func() error {
			graphs, err := accuracyGraphs(ctx, o)
			if err == nil {
				r.Accuracy, err = Accuracies(ctx, graphs, []float64{2, 10}, o.Seed)
			}
			return err
		}},
		{"scaling", func() (err error) { r.Scaling, err = Scaling(ctx, 12, top, o.Seed); return }},
		{"regression", func() (err error) {
			var training, inference Exponent
			r.Regression, training, inference, err = Regressions(ctx, lowest, highest, o.Seed)
			r.Training, r.Inference = &training, &inference
			return err
		}},
		{"arms", func() error {
			for _, dense := range []bool{true, false} {
				arm, err := (&RingRun{Nodes: arms, Hops: 3, Epochs: armEpochs, Dense: dense, Seed: o.Seed}).Regress(ctx)
				if err != nil {
					return err
				}
				r.Arms = append(r.Arms, arm)
			}
			return nil
		}},
		{"cores", func() (err error) {
			r.Cores, err = CoreCurve(ctx, 1<<min(highest, 19), o.Seed, o.Say)
			return err
		}},
		{"multiscale", func() (err error) {
			r.Multiscale, err = Multiscales(ctx, least, most, ScaleTasks(o.Quick), o.Seed, o.Say)
			return err
		}},
	} {
		if part.name != "machine" && !slices.Contains(o.Parts, part.name) {
			continue
		}
		done := o.Stage(part.name)
		if err := part.do(); err != nil {
			return nil, err
		}
		done()
	}
	return r, nil
}

// accuracyGraphs reads Cora and Facebook from the prepared edge lists on this machine. If
// there are none, it generates a graph.
func accuracyGraphs(ctx context.Context, o Options) ([]Named, error) {
	var all []Named
	for _, name := range []string{"cora", "facebook"} {
		set, err := dataset.Named(name)
		if err != nil {
			return nil, err
		}
		files, err := dataset.Default().Where(set)
		if errors.Is(err, dataset.ErrMissing) {
			continue
		}
		if err != nil {
			return nil, err
		}
		if !strings.HasSuffix(filepath.ToSlash(files[0]), set.Forms[0].Files[0].Path) {
			continue // the publisher's archive
		}
		net, err := graphio.ReadGraph(ctx, graphio.File(files[0]), graphio.Options{})
		if err != nil {
			return nil, err
		}
		all = append(all, Named{Name: set.Short, Graph: net.Graph})
	}
	if len(all) > 0 {
		return all, nil
	}
	o.Say("the prepared data sets cora and facebook are not on this machine: using a generated graph instead")
	n := 20_000
	if o.Quick {
		n = 3000
	}
	g, err := graph.BarabasiAlbert(n, 3, o.Seed)
	return []Named{{Name: fmt.Sprintf("Barabási–Albert, %d nodes", n), Graph: g}}, err
}
