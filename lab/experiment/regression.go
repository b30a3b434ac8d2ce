package experiment

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"unicode"

	"gonum.org/v1/gonum/stat"

	"grfgp"
	"grfgp/gp"
	"grfgp/graph"
	"grfgp/internal/rng"
	"grfgp/kernel"
	"grfgp/walk"
)

// regressionTask is a graph with training and test data.
type regressionTask struct {
	graph       *graph.Graph
	train, test gp.Data
}

// dataAt returns the values at the given nodes.
func dataAt(nodes []int, value func(node int) float64) gp.Data {
	d := gp.Data{Nodes: nodes, Y: make([]float64, len(nodes))}
	for k, i := range nodes {
		d.Y[k] = value(i)
	}
	return d
}

// at returns values[i] for every i.
func at[V any](values []V, which []int) []V {
	out := make([]V, len(which))
	for k, i := range which {
		out[k] = values[i]
	}
	return out
}

// regressionSettings are the settings of a part.
type regressionSettings struct {
	Arm    string
	Walks  int        `json:",omitempty"`
	Hops   int        `json:",omitempty"`
	Split  int        // seed of the split, or pressure level of the wind
	Weight string     `json:",omitempty"` // edge weights of the wind's grid
	Spec   grfgp.Spec // of the clean arms
	Seed   uint64     // of walks and starting values
}

// name is the name of the part.
func (s regressionSettings) name() string {
	name := fmt.Sprintf("%d-%s", s.Split, slug(s.Arm))
	if s.Walks > 0 {
		name += fmt.Sprintf("-%d", s.Walks)
	}
	return name
}

// slug replaces characters that names of parts do not allow.
func slug(text string) string {
	return strings.Map(func(c rune) rune {
		if c < 128 && (unicode.IsLetter(c) || unicode.IsDigit(c)) {
			return c
		}
		return '_'
	}, text)
}

// regressionScore scores the predictions of the test set.
type regressionScore struct {
	rmse             float64 // in the units of the data
	nlpd             float64 // mean negative log predictive density with noise, in standard deviations of the training set
	bare             float64 // the same without noise, as the authors report for wind
	cover80, cover95 float64 // share of test values in intervals

	squared, density []float64 // per test value: squared error and negative log density, in standard deviations
}

// scoreOf scores posterior means and standard deviations, without noise, on the test
// set.
func (k regressionTask) scoreOf(mean, sd []float64, noise float64) regressionScore {
	var s regressionScore
	n := float64(k.test.Len())
	_, unit := stat.PopMeanStdDev(k.train.Y, nil)
	for r, y := range k.test.Y {
		e, noisy := y-mean[r], math.Hypot(sd[r], noise)
		s.squared, s.density = append(s.squared, e*e/unit/unit), append(s.density, nlpd(e/unit, noisy/unit))
		s.rmse += e * e / n
		s.nlpd += s.density[r] / n
		s.bare += nlpd(e/unit, sd[r]/unit) / n
		if z := math.Abs(e / noisy); z < interval80 {
			s.cover80 += 1 / n
			s.cover95 += 1 / n
		} else if z < interval95 {
			s.cover95 += 1 / n
		}
	}
	s.rmse = math.Sqrt(s.rmse)
	return s
}

// Half widths of intervals, in standard deviations.
const (
	interval80 = 1.2815515655
	interval95 = 1.9599639845
)

// nlpd is the negative log density of an error under a normal distribution.
func nlpd(e, sd float64) float64 { return e*e/(2*sd*sd) + math.Log(2*math.Pi*sd*sd)/2 }

// onProcessor returns the Spec of a model that uses no graphics card: results are the same
// bytes on every machine. Settings, by which results are found again, do not hold it.
func onProcessor(s grfgp.Spec) grfgp.Spec {
	s.Device = "cpu"
	return s
}

// fit fits the model of a Spec and scores it.
func (k regressionTask) fit(ctx context.Context, spec grfgp.Spec) (regressionScore, *grfgp.Model, error) {
	g := k.graph.Ordered()
	train, number := k.train, g.InputOrder()
	train.Nodes = at(number, train.Nodes)
	m, err := grfgp.Fit(ctx, g, train, onProcessor(spec))
	if err != nil {
		return regressionScore{}, nil, err
	}
	p, err := m.Predict(ctx, at(number, k.test.Nodes))
	if err != nil {
		return regressionScore{}, nil, err
	}
	return k.scoreOf(p.Mean, p.SD, m.NoiseSD()), m, nil
}

// fitKernel learns a kernel as the authors do, with the mean fixed to that of the training
// set.
func (k regressionTask) fitKernel(ctx context.Context, kern kernel.Kernel, opts gp.FitOptions) (regressionScore, gp.FitReport, error) {
	mean := stat.Mean(k.train.Y, nil)
	opts.Mean = &mean
	m, report, err := gp.Fit(ctx, kern, k.train, opts)
	if err != nil {
		return regressionScore{}, report, err
	}
	p, err := m.Condition(ctx, k.train)
	if err != nil {
		return regressionScore{}, report, err
	}
	score, err := k.predict(ctx, p, m.NoiseSD())
	return score, report, err
}

func (k regressionTask) predict(ctx context.Context, p *gp.Posterior, noise float64) (regressionScore, error) {
	mu, err := p.Mean(ctx, k.test.Nodes)
	if err != nil {
		return regressionScore{}, err
	}
	variance, err := p.Variance(ctx, k.test.Nodes)
	if err != nil {
		return regressionScore{}, err
	}
	sd := make([]float64, len(variance))
	for r, v := range variance {
		sd[r] = math.Sqrt(max(0, v))
	}
	return k.scoreOf(mu, sd, noise), nil
}

// authorsHalt is the halting probability of the authors' walks.
const authorsHalt = 0.1

// authorsFeatures samples walks as in the authors' code: independent, with uniform steps, on
// the normalised Laplacian with its diagonal.
func authorsFeatures(ctx context.Context, g *graph.Graph, walks, hops int, seed uint64) (*walk.Features, error) {
	return walk.Sample(ctx, g.Normalized(graph.NormalizedLaplacian),
		walk.Options{Sampler: walk.Independent, Steps: walk.Uniform, Walks: walks, Halt: authorsHalt, MaxLen: hops, Seed: seed})
}

// randomStart returns the authors' starting values of free coefficients.
func randomStart(hops int, seed uint64) [][]float64 {
	random := rand.New(rng.New(seed, "authors' start"))
	start := make([]float64, hops+1)
	for l := range start {
		start[l] = random.NormFloat64()
	}
	return [][]float64{start}
}

// laplacianDiffusion is the diffusion kernel as a power series in L̃ = I − Ã:
// f_l = σ (−β/2)^l / l!, with parameters σ² and β.
type laplacianDiffusion struct{}

func (laplacianDiffusion) Params() []kernel.Param {
	return []kernel.Param{{Name: "variance", Start: 1, Positive: true, Variance: true}, {Name: "beta", Start: 1, Positive: true}}
}

func (laplacianDiffusion) Coeffs(dst, theta []float64) {
	f := math.Sqrt(theta[0])
	for l := range dst {
		if l > 0 {
			f *= -theta[1] / 2 / float64(l)
		}
		dst[l] = f
	}
}

func (d laplacianDiffusion) CoeffsGrad(dst [][]float64, theta []float64) {
	f := make([]float64, len(dst[0]))
	d.Coeffs(f, theta)
	for l, v := range f {
		dst[0][l] = v / (2 * theta[0])
		dst[1][l] = float64(l) * v / theta[1]
	}
}

func (k regressionTask) learned(ctx context.Context, kern kernel.Kernel, opts gp.FitOptions) (regressionScore, float64, error) {
	score, report, err := k.fitKernel(ctx, kern, opts)
	return score, report.LogLikelihood, err
}

// authors fits features from the authors' walks, with free or diffusion coefficients.
func (k regressionTask) authors(ctx context.Context, s regressionSettings) (regressionScore, float64, error) {
	f, err := authorsFeatures(ctx, k.graph, s.Walks, s.Hops, s.Seed+uint64(s.Split))
	if err != nil {
		return regressionScore{}, 0, err
	}
	var shape kernel.Modulation = laplacianDiffusion{}
	var opts gp.FitOptions
	if s.Arm == learnableArm {
		shape, opts.Starts = kernel.Free{Len: s.Hops}, randomStart(s.Hops, s.Seed+uint64(s.Split))
	}
	kern, err := kernel.NewGRF(f, shape)
	if err != nil {
		return regressionScore{}, 0, err
	}
	return k.learned(ctx, kern, opts)
}

// keepField stores the predictions of a fitted model at all nodes of the graph, for maps.
func keepField(ctx context.Context, m *grfgp.Model, g *graph.Graph, r *Result) error {
	p, err := m.Predict(ctx, g.Ordered().InputOrder())
	if err != nil {
		return err
	}
	r.Arrays["mean"], r.Arrays["sd"] = p.Mean, p.SD
	return nil
}

func allNodes(n int) []int {
	all := make([]int, n)
	for i := range all {
		all[i] = i
	}
	return all
}
