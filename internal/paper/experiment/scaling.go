package experiment

import (
	"context"
	"fmt"
	"math"

	"grfgp/gp"
	"grfgp/internal/paper/bench"
)

// The arms of the scaling experiment.
const (
	denseArm    = "dense"    // the authors' features, ΦΦᵀ formed and factored
	featuresArm = "features" // the authors' features as they are, with our number of probes, residual and preconditioner
	numbersArm  = "numbers"  // the same with the authors' numbers of all three
	cleanArm    = "clean"    // many scales, exact features
)

// authorsNumbers are those of the authors' code: 64 probes, drawn anew in every
// step, solved to a residual of 0.01 without a preconditioner.
var authorsNumbers = gp.Stochastic{Probes: 64, Tol: 1e-2, Plain: true, Fresh: true}

func scaling() *Experiment {
	return &Experiment{
		Name: "scaling", Title: "How time and memory grow with the graph (Tables 1 to 4, Figure 2)", Version: 2,
		About: "Regression on rings of 32 to a million nodes: 2 sin 2a + ½ cos 4a + 0.3 sin a with noise of standard deviation 0.1 (as in the authors' code; " +
			"the paper says variance), 60 % of the nodes for training and 20 % for testing. The authors' protocol takes 100 walks a node that halt with probability 0.1, " +
			"hops 0 to 2 on the Laplacian, and learns the three coefficients by 50 steps of Adam from random ones (here with a rate that falls to a tenth). Gradients take random probes: the arm \"features\" has our " +
			"3 to 15 of them, the same in every step, solved to a residual of 0.03 with a diagonal preconditioner; the arm \"numbers\" the authors' 64, drawn anew in every step, solved to 0.01 without one. " +
			"The dense arm differs from \"features\" in nothing but that ΦΦᵀ is formed and " +
			"factored, while the paper's used another library, optimiser and kernel. The clean protocol is what grfgp does by itself on such a graph: a diffusion kernel on several " +
			"coarser rings, learned by as many steps. The paper gives no errors; those shown are from the authors' result files.",
		Columns: []Column{
			{"arm", Key, "dense: the authors' features, kernel formed and factored; features: the same, sparse; numbers: with the authors' probes, residual and no preconditioner; clean: many scales"},
			{"nodes", Key, "N"},
			{"seed", Key, "of noise, split, walks and start"},
			{"rmse", Number, "of the mean against noisy test values; the noise is 0.1"},
			{"coverage", Number, "share of noisy test values inside 95 % intervals"},
			{"noise_sd", Number, "as learned"},
			{"stored_mb", Number, "MB (2^20 bytes) of the features, or of the dense kernel"},
			{"init_seconds", Cost, "walks, and forming the dense kernel once"},
			{"training_seconds", Cost, "50 epochs"},
			{"inference_seconds", Cost, "mean and 64 samples at the test nodes"},
			{"heap_mb", Cost, "MB (2^20 bytes) on the heap at the end, with graph and posterior"},
		},
		TimeColumns: []string{"init_seconds", "training_seconds", "inference_seconds"},
		Parts:       scalingParts,
		Show:        showScaling,
	}
}

// ringSettings are those of a part.
type ringSettings struct {
	Arm    string
	Nodes  int
	Hops   int
	Epochs int
	Seed   uint64

	Stochastic *gp.Stochastic `json:",omitempty"` // nil: as by default
}

const (
	scalingEpochs = 50
	numbersFrom   = 10 // bits of the smallest ring with the authors' numbers, and every second from there
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
				parts = append(parts, s.part())
			}
		}
	}
	return parts
}

// ringRepeats is how many seeds a size can have within an hour or so in all,
// unless they are asked for.
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

func (s ringSettings) part() Part {
	n := float64(s.Nodes)
	work := map[string]float64{denseArm: 0.01 + 1.5*math.Pow(n/1024, 3), featuresArm: 0.01 + n/25e3, numbersArm: 0.1 + n/4000, cleanArm: min(8, n/128) + n/1e4}[s.Arm]
	return Part{
		Name: fmt.Sprintf("%s-%d-seed%d", s.Arm, s.Nodes, s.Seed), Settings: s, Work: work,
		Run: func(ctx context.Context, _ func(done, total int64)) (*Result, error) {
			run := bench.RingRun{
				Nodes: s.Nodes, Hops: s.Hops, Epochs: s.Epochs, Seed: s.Seed,
				Authors: s.Arm != cleanArm, Dense: s.Arm == denseArm, Many: s.Arm == cleanArm,
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
				"arm": s.Arm, "nodes": s.Nodes, "seed": int(s.Seed), "rmse": r.RMSE, "coverage": r.Coverage, "noise_sd": r.NoiseSD, "stored_mb": r.Stored / mb,
				"init_seconds": r.Features, "training_seconds": r.Training, "inference_seconds": r.Inference, "heap_mb": r.Bytes / mb,
			}}}, nil
		},
	}
}
