package experiment

import (
	"context"
	"fmt"
	"sync"
	"time"

	"gonum.org/v1/gonum/stat"

	"grfgp"
	"grfgp/graph"
	"grfgp/lab/dataset"
)

// Edge weights of the grid.
const (
	distanceWeights = "distance" // the authors': the larger the distance, the larger the weight
	equalWeights    = "even"     // all edges have the same weight
	inverseWeights  = "inverse"  // mean distance divided by distance, which counts as at least a tenth of the mean
)

func wind() *Experiment {
	return &Experiment{
		Name: "wind", Title: "Wind around the globe (Figure 3 c, d)", Version: 5,
		About: `ERA5 monthly mean wind speeds at three pressure levels on a grid of 10,512 nodes: the 1,424 nodes under a satellite track for training, all others for testing. The authors
weight edges by great-circle distance,
	so that nodes far apart count as more similar; walks take uniform steps on the normalised Laplacian, halt with probability 0.1 and have
0 to 4 hops, with free coefficients or those of a diffusion kernel. The authors learn by 1,000 steps of Adam with 64 probes,
	solved to a relative residual of 0.01 without a preconditioner, and predict from 64 samples; here learning is by BFGS
with exact solves, and means and variances are exact. In the clean protocol all edges have the same weight,
	and grfgp chooses the kernel. The authors' NLPD omits the noise from the predictive density; both variants are given. Errors and
NLPD are in standard deviations of the training set. There is one split per level: ± is over seeds of walks only.`,
		Columns: []Column{
			{"arm", Key, "kernel and protocol"},
			{"weights", Key, "edge weights: distance (the authors'), even (all equal), or inverse distance"},
			{"walks", Key, "n, walks per node; 0: exact kernel, or chosen by grfgp"},
			{"level", Key, "hPa"},
			{"seed", Key, "seed of walks and starting values"},
			{"rmse", Number, "in standard deviations"},
			{"rmse_ms", Number, "m/s"},
			{"nlpd", Number, "nats per test node, noise included"},
			{"nlpd_bare", Number, "nats per test node without noise, as the authors report it"},
			{"cover80", Number, "share of test values in 80 % intervals"},
			{"cover95", Number, "share of test values in 95 % intervals"},
			{"log_likelihood", Number, "log marginal likelihood of the standardised training values"},
			{"seconds", Cost, "sampling walks, learning and predicting"},
		},
		TimeColumns: []string{"seconds"},
		Parts:       windParts,
		Show:        showWind,
	}
}

func windParts(o Options) []Part {
	load := sync.OnceValues(func() (*dataset.Wind, error) { return dataset.Default().Wind(context.Background()) })
	walks := []int{32, 128, 512, 2048, 8192}
	if o.Quick {
		walks = []int{32}
	}
	var all []regressionSettings
	add := func(arm, weights string, hops, n, level int, spec grfgp.Spec, seed int) {
		s := regressionSettings{Arm: arm, Walks: n, Hops: hops, Split: level, Weight: weights, Spec: spec, Seed: o.Seed + uint64(seed)}
		s.Spec.Seed = s.Seed
		all = append(all, s)
	}
	none := grfgp.Spec{}
	free := grfgp.Spec{Expression: grfgp.Expression{Family: "free", Method: "grf", Scales: "one", Hops: 4}, Walks: 128}
	matern := grfgp.Spec{Expression: grfgp.Expression{Family: "matern", Nu: 2, Method: "series", Scales: "one"}}
	if o.Quick { // seconds
		add(autoArm, equalWeights, 0, 0, 1000, grfgp.Spec{Expression: grfgp.Expression{Family: "diffusion", Method: "grf", Scales: "one"},
			Walks: 20}, 0)
	} else {
		for _, level := range dataset.Levels {
			add(repellingArm, distanceWeights, 4, 128, level, free, 0)
			add(repellingArm, equalWeights, 4, 128, level, free, 0)
			add(maternArm, equalWeights, 0, 0, level, matern, 0)
			add(autoArm, equalWeights, 0, 0, level, none, 0)
			add(manyArm, equalWeights, 0, 0, level, grfgp.Spec{Expression: grfgp.Expression{Scales: "many"}}, 0)
		}
		add(oneArm, equalWeights, 0, 0, 1000, grfgp.Spec{Expression: grfgp.Expression{Scales: "one"}}, 0)
		add(trainedArm, equalWeights, 0, 0, 1000, grfgp.Spec{Expression: grfgp.Expression{Family: "diffusion", Method: "series",
			Scales: "one"}}, 0)
		add(maternArm, inverseWeights, 0, 0, 1000, matern, 0)
	}
	for seed := range o.Repeats(1, 3) {
		for _, n := range walks {
			add(learnableArm, distanceWeights, 4, n, 1000, none, seed)
			if !o.Quick {
				add(shapeArm, distanceWeights, 4, n, 1000, none, seed)
			}
		}
	}
	have := ready("wind")
	var parts []Part
	for _, s := range all {
		parts = append(parts, Part{Name: s.windName(), Settings: s, Work: s.windWork(o.Quick), Ready: have, Run: withData(load, s.wind)})
	}
	return parts
}

// windWork is the approximate time of a fit on two cores, in seconds.
func (s regressionSettings) windWork(quick bool) float64 {
	switch {
	case quick:
		return 30
	case s.Walks > 0:
		return 5 + float64(s.Walks)/2000
	case s.Arm == maternArm || s.Arm == trainedArm:
		return 30
	}
	return 100
}

// windName is the name of the part.
func (s regressionSettings) windName() string {
	return fmt.Sprintf("%s-%s-seed%d", s.name(), s.Weight, s.Seed)
}

// wind fits one arm on one level.
func (s regressionSettings) wind(ctx context.Context, d *dataset.Wind) (*Result, error) {
	speed, err := d.Speed(s.Split)
	if err != nil {
		return nil, err
	}
	g, err := s.grid(ctx, d)
	if err != nil {
		return nil, err
	}
	train, test := d.Split()
	at := func(i int) float64 { return speed[i] }
	k := regressionTask{g, dataAt(train, at), dataAt(test, at)}
	began := time.Now()
	r := &Result{Arrays: map[string][]float64{}}
	score, likelihood := regressionScore{}, 0.0
	switch s.Arm {
	case shapeArm, learnableArm:
		score, likelihood, err = k.authors(ctx, s)
	default:
		var m *grfgp.Model
		if score, m, err = k.fit(ctx, s.Spec); err == nil {
			likelihood = m.Choice().Fit.LogLikelihood
			if s.Arm == autoArm && s.Split == 1000 {
				err = keepField(ctx, m, g, r)
			}
		}
	}
	if err != nil {
		return nil, err
	}
	if s.Weight == equalWeights && (s.Arm == maternArm || s.Arm == manyArm || s.Arm == autoArm) {
		r.Arrays["squared"], r.Arrays["density"] = score.squared, score.density
	}
	_, unit := stat.PopMeanStdDev(k.train.Y, nil)
	r.Rows = []Row{{"arm": s.Arm, "weights": s.Weight, "walks": s.Walks, "level": s.Split, "seed": int(s.Seed), "rmse": score.rmse / unit,
		"rmse_ms": score.rmse,
		"nlpd":    score.nlpd, "nlpd_bare": score.bare, "cover80": score.cover80, "cover95": score.cover95, "log_likelihood": likelihood,
		"seconds": time.Since(began).Seconds()}}
	return r, nil
}

// grid returns the grid with the edge weights of the arm.
func (s regressionSettings) grid(ctx context.Context, d *dataset.Wind) (*graph.Graph, error) {
	if s.Weight == equalWeights {
		return d.Graph, nil
	}
	g, err := d.Distances(ctx)
	if err != nil || s.Weight == distanceWeights {
		return g, err
	}
	var edges graph.Edges
	total := 0.0
	for i, j := range edgesOf(g) {
		distance := g.Adjacency().At(i, j)
		edges.U, edges.V, edges.W = append(edges.U, uint32(i)), append(edges.V, uint32(j)), append(edges.W, distance)
		total += distance
	}
	mean := total / float64(len(edges.W))
	for k, distance := range edges.W {
		edges.W[k] = mean / max(distance, mean/10)
	}
	inverse, _, err := graph.FromEdges(g.IDs(), edges, graph.BuildOptions{})
	return inverse, err
}
