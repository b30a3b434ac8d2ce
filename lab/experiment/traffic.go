package experiment

import (
	"context"
	"math"
	"sync"
	"time"

	"gonum.org/v1/gonum/stat"

	"grfgp"
	"grfgp/gp"
	"grfgp/graph"
	"grfgp/kernel"
	"grfgp/lab/dataset"
)

// The arms (compared methods) of the traffic experiment.
const (
	untrainedArm  = "diffusion, given"     // exact, with the authors' hyperparameters
	polynomialArm = "polynomial"           // the authors' truncated diffusion kernel, without walks
	shapeArm      = "features, diffusion"  // their walks, coefficients of a diffusion kernel
	learnableArm  = "features, learnable"  // their walks, free coefficients
	repellingArm  = "repelling, learnable" // our walks, free coefficients
	longArm       = "repelling, 60 hops"   // our walks, a long-range diffusion kernel
	trainedArm    = "diffusion, trained"   // exact
	maternArm     = "matern, trained"      // exact, ν = 2
	roughArm      = "matern 1/2, trained"  // exact, ν = ½
	oneArm        = "auto, one scale"      // family chosen by likelihood
	manyArm       = "auto, many scales"    // family chosen by likelihood
	autoArm       = "auto"                 // the choice of grfgp without settings
)

func traffic() *Experiment {
	return &Experiment{
		Name: "traffic", Title: "Freeway speeds in San Jose (Figure 3 a, b)", Version: 5,
		About: `Speeds at 325 detectors of a road network of 1,016 nodes, in the paper's five splits with 250 training and 75 test detectors. In the authors' protocol, walks
take uniform steps on the normalised Laplacian with its diagonal and halt with probability 0.1. Coefficients are either free up to 3 hops,
	with random starting values, or those
of a diffusion kernel up to 4 hops; both are learned by BFGS,
	with the mean fixed to that of the training set. The exact diffusion kernel in the paper's figure has
the hyperparameters of the truncated kernel and was not trained itself. In the clean protocol every kernel is trained,
	the mean is unknown, and grfgp chooses the kernel. NLPD
is the mean negative log predictive density of noisy test values,
	with speeds in standard deviations of the training set. Both protocols solve all systems by a
Cholesky factorisation: there are no probes, residuals or preconditioners.`,
		Columns: []Column{
			{"arm", Key, "kernel and protocol"},
			{"walks", Key, "n, walks per node; 0: exact kernel"},
			{"split", Key, "seed of the paper's split"},
			{"rmse", Number, "mph"},
			{"nlpd", Number, "nats per test node"},
			{"cover80", Number, "share of test values in 80 % intervals"},
			{"cover95", Number, "share of test values in 95 % intervals"},
			{"log_likelihood", Number, "log marginal likelihood of the standardised training values"},
			{"seconds", Cost, "sampling walks, learning and predicting"},
		},
		TimeColumns: []string{"seconds"},
		Parts:       trafficParts,
		Show:        showTraffic,
	}
}

func trafficParts(o Options) []Part {
	load := sync.OnceValues(func() (*dataset.Traffic, error) { return dataset.Default().Traffic(context.Background()) })
	walks, few := []int{64, 128, 256, 512, 1024, 2048, 4096, 8192}, []int{16, 64, 256, 1024}
	if o.Quick {
		walks, few = []int{64, 1024}, []int{64}
	}
	var all []regressionSettings
	for split := range min(5, o.Repeats(1, 5)) {
		add := func(arm string, hops, n int, spec grfgp.Spec) {
			spec.Seed = o.Seed
			all = append(all, regressionSettings{Arm: arm, Walks: n, Hops: hops, Split: 1111 + split, Spec: spec, Seed: o.Seed})
		}
		add(untrainedArm, 0, 0, grfgp.Spec{})
		add(polynomialArm, 4, 0, grfgp.Spec{})
		for _, n := range walks {
			add(shapeArm, 4, n, grfgp.Spec{})
			add(learnableArm, 3, n, grfgp.Spec{})
		}
		for _, n := range few {
			add(repellingArm, 10, n, grfgp.Spec{Expression: grfgp.Expression{Family: "free", Method: "grf", Scales: "one", Hops: 10}, Walks: n})
		}
		add(trainedArm, 0, 0, grfgp.Spec{Expression: grfgp.Expression{Family: "diffusion", Method: "dense", Scales: "one"}})
		add(maternArm, 0, 0, grfgp.Spec{Expression: grfgp.Expression{Family: "matern", Nu: 2, Method: "dense", Scales: "one"}})
		add(autoArm, 0, 0, grfgp.Spec{})
		if !o.Quick {
			add(longArm, 60, 1000, grfgp.Spec{Expression: grfgp.Expression{Family: "diffusion", Method: "grf", Scales: "one", Hops: 60},
				Walks: 1000})
			add(roughArm, 0, 0, grfgp.Spec{Expression: grfgp.Expression{Family: "matern", Nu: 0.5, Method: "dense", Scales: "one"}})
			add(oneArm, 0, 0, grfgp.Spec{Expression: grfgp.Expression{Scales: "one"}})
			add(manyArm, 0, 0, grfgp.Spec{Expression: grfgp.Expression{Scales: "many"}})
		}
	}
	have := ready("traffic")
	var parts []Part
	for _, s := range all {
		parts = append(parts, Part{Name: s.name(), Settings: s, Work: s.trafficWork(), Ready: have, Run: withData(load, s.traffic)})
	}
	return parts
}

// trafficWork is the approximate time of a fit on two cores, in seconds.
func (s regressionSettings) trafficWork() float64 {
	switch s.Arm {
	case shapeArm, learnableArm:
		return 0.1 + float64(s.Walks)/2e4
	case polynomialArm, repellingArm:
		return 0.3
	case longArm, autoArm, manyArm:
		return 4
	}
	return 1.5
}

// traffic fits one arm on one split.
func (s regressionSettings) traffic(ctx context.Context, d *dataset.Traffic) (*Result, error) {
	k := trafficTask(d, s.Split)
	began := time.Now()
	r := &Result{Arrays: map[string][]float64{}}
	score, likelihood, err := regressionScore{}, 0.0, error(nil)
	switch s.Arm {
	case untrainedArm:
		score, likelihood, err = k.given(ctx, d, s.Split)
	case polynomialArm:
		var kern kernel.Kernel
		if kern, err = kernel.NewSeries(k.graph.Normalized(graph.NormalizedLaplacian), laplacianDiffusion{}, s.Hops); err == nil {
			score, likelihood, err = k.learned(ctx, kern, gp.FitOptions{})
		}
	case shapeArm, learnableArm:
		score, likelihood, err = k.authors(ctx, s)
	default:
		var m *grfgp.Model
		if score, m, err = k.fit(ctx, s.Spec); err == nil {
			likelihood = m.Choice().Fit.LogLikelihood
			if s.Arm == autoArm && s.Split == 1111 {
				err = keepField(ctx, m, k.graph, r)
			}
		}
	}
	if err != nil {
		return nil, err
	}
	r.Rows = []Row{{"arm": s.Arm, "walks": s.Walks, "split": s.Split, "rmse": score.rmse, "nlpd": score.nlpd, "cover80": score.cover80,
		"cover95":        score.cover95,
		"log_likelihood": likelihood, "seconds": time.Since(began).Seconds()}}
	return r, nil
}

// trafficTask is one of the paper's splits.
func trafficTask(d *dataset.Traffic, seed int) regressionTask {
	split := d.Splits[seed-1111]
	speed := func(i int) float64 { return d.Speed[i] }
	return regressionTask{d.Graph, dataAt(split.Train, speed), dataAt(split.Test, speed)}
}

// given scores the exact diffusion kernel with the authors' hyperparameters.
func (k regressionTask) given(ctx context.Context, d *dataset.Traffic, seed int) (regressionScore, float64, error) {
	ref := d.Reference[seed-1111]
	kern, err := kernel.NewDense(k.graph.Normalized(graph.NormalizedAdjacency), kernel.Diffusion{})
	if err != nil {
		return regressionScore{}, 0, err
	}
	_, unit := stat.PopMeanStdDev(k.train.Y, nil)
	noise := math.Sqrt(ref.NoiseVar) * unit
	return k.learned(ctx, kern, gp.FitOptions{Fixed: true, Starts: [][]float64{{ref.Scale * ref.Scale, ref.Beta}}, NoiseSD: &noise})
}
