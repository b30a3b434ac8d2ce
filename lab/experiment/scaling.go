package experiment

import (
	"context"
	"fmt"
	"math"

	"grfgp/gp"
	"grfgp/internal/ranks"
	"grfgp/lab/bench"
)

// The arms (compared methods) of the scaling experiment.
const (
	denseArm    = "dense"    // the authors' features, ΦΦᵀ as a dense matrix with a Cholesky factorisation
	featuresArm = "features" // the authors' features, sparse, with our probes, tolerance and preconditioner
	numbersArm  = "numbers"  // the same with the authors' probes, tolerance and no preconditioner
	cleanArm    = "clean"    // many scales, exact features
)

// authorsNumbers are the settings of the authors' code: 64 probes, redrawn in every step,
// solved to a relative residual of 0.01 without a preconditioner.
var authorsNumbers = gp.Stochastic{Probes: 64, Tol: 1e-2, Plain: true, Fresh: true}

func scaling() *Experiment {
	return &Experiment{
		Name: "scaling", Title: "Growth of time and memory with the graph (Tables 1 to 4, Figure 2)", Version: 4,
		About: "Regression on rings of 32 to a million nodes: the function 2 sin 2a + ½ cos 4a + 0.3 sin a with noise of standard deviation " +
			"0.1 (as in the authors' code; " +
			"the paper says variance), with 60 % of the nodes for training and 20 % for testing. The authors' protocol uses 100 walks per node " +
			"with halting probability 0.1 and " +
			"0 to 2 hops on the Laplacian, and learns the three coefficients by 50 steps of Adam from random starting values (here with a " +
			"learning rate that falls to a tenth). Gradients are estimated with random probes: the arm \"features\" uses our " +
			"3 to 15 probes, the same in every step, solved to a relative residual of 0.03 with a diagonal preconditioner; the arm \"numbers\" " +
			"uses the authors' 64 probes, redrawn in every step, solved to 0.01 without a preconditioner. " +
			"The arm \"dense\" differs from \"features\" only in that it forms ΦΦᵀ as a dense matrix and " +
			"factors it, while the paper's dense method used another library, optimiser and kernel. The clean protocol is the choice that grfgp " +
			"makes without settings on such a graph: a diffusion kernel on several " +
			"coarser rings, learned in as many steps. The paper does not report errors; those shown are from the authors' result files.",
		Columns: []Column{
			{"arm", Key, "dense: the authors' features with a dense kernel matrix; features: the same, sparse; numbers: sparse, with the " +
				"authors' probes and tolerance and no preconditioner; clean: many scales"},
			{"nodes", Key, "N"},
			{"seed", Key, "seed of noise, split, walks and starting values"},
			{"rmse", Number, "of the posterior mean against noisy test values; the noise is 0.1"},
			{"coverage", Number, "share of noisy test values in 95 % intervals"},
			{"noise_sd", Number, "learned noise standard deviation"},
			{"stored_mb", Number, "size of the features, or of the dense kernel matrix, in MB (2^20 bytes)"},
			{"init_seconds", Cost, "sampling walks, and forming the dense kernel matrix once"},
			{"training_seconds", Cost, "50 epochs"},
			{"inference_seconds", Cost, "posterior mean and 64 samples at the test nodes"},
			{"heap_mb", Cost, "heap at the end, with graph and posterior, in MB (2^20 bytes)"},
		},
		Shared:      true,
		TimeColumns: []string{"init_seconds", "training_seconds", "inference_seconds"},
		Parts:       scalingParts,
		Show:        showScaling,
	}
}

// ringSettings are the settings of a part.
type ringSettings struct {
	Arm    string
	Nodes  int
	Hops   int
	Epochs int
	Seed   uint64

	Stochastic *gp.Stochastic `json:",omitempty"` // nil: the defaults
}

const (
	scalingEpochs = 50
	numbersFrom   = 10 // log₂ of the smallest ring of the arm "numbers", which takes every second size
)

func scalingParts(o Options) []Part {
	largest := map[string]int{denseArm: 13, featuresArm: 20, numbersArm: 20, cleanArm: 20}
	if o.Quick {
		largest = map[string]int{denseArm: 10, featuresArm: 14, numbersArm: 12, cleanArm: 10}
	}
	var parts []Part
	for bits := 5; bits <= 20; bits++ {
		for _, arm := range []string{denseArm, featuresArm, numbersArm, cleanArm} {
			if bits > largest[arm] || o.Quick && arm == cleanArm && bits%2 == 1 || arm == numbersArm && (bits < numbersFrom || bits%2 == 1) {
				continue
			}
			for seed := range min(o.Repeats(1, 5), ringRepeats(o, arm, bits)) {
				s := ringSettings{Arm: arm, Nodes: 1 << bits, Hops: 2, Epochs: scalingEpochs, Seed: o.Seed + uint64(seed)}
				switch arm {
				case numbersArm:
					s.Stochastic = &authorsNumbers
				case cleanArm:
					s.Hops = 5 // on the ring itself
				}
				parts = append(parts, s.part(o.Ranks))
			}
		}
	}
	return parts
}

// ringRepeats is the default number of seeds of a size, such that all take about an
// hour.
func ringRepeats(o Options, arm string, bits int) int {
	switch {
	case o.Seeds > 0:
		return o.Seeds
	case arm == denseArm && bits >= 13, arm == numbersArm && bits >= 18:
		return 1
	case arm == denseArm && bits >= 12, arm == numbersArm, bits >= 18:
		return 3
	}
	return 5
}

func (s ringSettings) part(g *ranks.Group) Part {
	n := float64(s.Nodes)
	work := map[string]float64{denseArm: 0.01 + 1.5*math.Pow(n/1024, 3), featuresArm: 0.01 + n/25e3, numbersArm: 0.1 + n/4000,
		cleanArm: min(8, n/128) + n/1e4}[s.Arm]
	return Part{
		Name: fmt.Sprintf("%s-%d-seed%d", s.Arm, s.Nodes, s.Seed), Settings: s, Work: work,
		Run: func(ctx context.Context, _ func(done, total int64)) (*Result, error) {
			run := bench.RingRun{
				Nodes: s.Nodes, Hops: s.Hops, Epochs: s.Epochs, Seed: s.Seed,
				Authors: s.Arm != cleanArm, Dense: s.Arm == denseArm, Many: s.Arm == cleanArm, Ranks: g,
			}
			if s.Stochastic != nil {
				run.Stochastic = *s.Stochastic
			}
			r, err := run.Regress(ctx)
			if err != nil {
				return nil, err
			}
			const mb = 1 << 20
			return &Result{Rows: []Row{{
				"arm": s.Arm, "nodes": s.Nodes, "seed": int(s.Seed), "rmse": r.RMSE, "coverage": r.Coverage, "noise_sd": r.NoiseSD,
				"stored_mb":    r.Stored / mb,
				"init_seconds": r.Features, "training_seconds": r.Training, "inference_seconds": r.Inference, "heap_mb": r.Bytes / mb,
			}}}, nil
		},
	}
}
