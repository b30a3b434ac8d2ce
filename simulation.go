package grfgp

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"

	"grfgp/bayesopt"
)

// Simulation is what came of replaying policies on a known table.
type Simulation struct {
	Goal     bayesopt.Goal `json:"goal"`
	Policies []string      `json:"policies"`
	Known    int           `json:"known"` // nodes whose value is known: the candidates
	Start    int           `json:"start"` // nodes measured before any policy is asked
	Steps    int           `json:"steps"` // no more than there are nodes
	Seeds    int           `json:"seeds"`
	Best     *Best         `json:"best,omitempty"` // where the goal is to find it
	// Uniform is the regret to expect of so many nodes drawn uniformly without
	// replacement, and the standard deviation of it: exact, no simulation.
	Uniform []Point  `json:"uniform,omitempty"`
	Replays []Replay `json:"replays"` // by seed, and then by policy
}

// Best is the best of the known values.
type Best struct {
	Node  int     `json:"node"` // the first that has it
	Value float64 `json:"value"`
	Nodes int     `json:"nodes"` // that have it
}

// Replay is one policy from one set of nodes to start from.
type Replay struct {
	Policy string          `json:"policy"`
	Seed   int             `json:"seed"`  // from 0
	Nodes  []int           `json:"nodes"` // measured, in order
	Curve  []Point         `json:"curve"`
	Done   bool            `json:"done"` // false: interrupted, or never begun
	Effort bayesopt.Effort `json:"-"`
}

// Point is how far off the goal was after so many measurements: to find the best,
// the regret, |best of all − best measured|; to learn, the root mean square error
// of predictions over the known nodes that are not measured, and the mean of
// their standard deviations; for a threshold, the share of known nodes taken to
// be on its wrong side.
type Point struct {
	Measured int     `json:"measured"`
	Loss     float64 `json:"loss"`
	SD       float64 `json:"sd,omitempty"`
}

func (s *Simulation) findBest(truth []float64, known []int) {
	b := &Best{Node: known[0], Value: truth[known[0]]}
	for _, i := range known {
		v := truth[i]
		switch {
		case v == b.Value:
			b.Nodes++
		case s.Goal == bayesopt.Maximize && v > b.Value, s.Goal == bayesopt.Minimize && v < b.Value:
			*b = Best{i, v, 1}
		}
	}
	s.Best = b
}

// uniformRegret returns the expected regret of m = 1 … most nodes drawn without
// replacement from n, and its standard deviation. The k-th best of all is the
// best of the drawn with probability
//
//	C(n−k, m−1)/C(n, m) = m/n · Π_{j<k} (n−j−m+1)/(n−j).
func uniformRegret(truth []float64, known []int, best float64, most int) []Point {
	regrets := make([]float64, len(known))
	for k, i := range known {
		regrets[k] = math.Abs(best - truth[i])
	}
	slices.Sort(regrets)
	n := len(regrets)
	points := make([]Point, most)
	for m := 1; m <= most; m++ {
		p, mean, square := float64(m)/float64(n), 0.0, 0.0
		for k, r := range regrets {
			mean += p * r
			square += p * r * r
			p *= float64(n-k-m) / float64(n-k-1)
			if p*float64(n)/float64(m) < 1e-17 { // bounds what is left; 0 at the end
				break
			}
		}
		points[m-1] = Point{m, mean, math.Sqrt(max(0, square-mean*mean))}
	}
	return points
}

// Estimate is a mean over seeds.
type Estimate struct {
	Mean  float64 `json:"mean"`
	SE    float64 `json:"se"` // its standard error; 0 of one seed, where nobody knows
	Seeds int     `json:"seeds"`
}

func estimate(values []float64) Estimate {
	e := Estimate{Seeds: len(values)}
	n := float64(len(values))
	for _, v := range values {
		e.Mean += v / n
	}
	if len(values) < 2 {
		return e
	}
	for _, v := range values {
		e.SE += (v - e.Mean) * (v - e.Mean)
	}
	e.SE = math.Sqrt(e.SE / (n - 1) / n)
	return e
}

// LeastSeeds is how many replays it takes to tell a difference from chance: of
// fewer, nobody knows how they vary.
const LeastSeeds = 5

// Clear reports whether a mean is apart from 0 beyond chance: outside 95 % of
// Student's distribution. Fewer than LeastSeeds are never clear, nor are values that
// are all the same, for they do not show how they vary.
func (e Estimate) Clear() bool {
	if e.Seeds < LeastSeeds || e.SE == 0 {
		return false
	}
	t := distuv.StudentsT{Mu: 0, Sigma: 1, Nu: float64(e.Seeds - 1)}
	return math.Abs(e.Mean) > t.Quantile(0.975)*e.SE
}

// Whole reports which seeds every policy has finished and was scored at: all,
// unless the simulation was interrupted or too short for a model. Only they count
// in what follows, so that policies are compared from the same nodes.
func (s *Simulation) Whole() []bool {
	whole := make([]bool, s.Seeds)
	for k := range whole {
		whole[k] = true
	}
	for _, r := range s.Replays {
		whole[r.Seed] = whole[r.Seed] && r.Done && len(r.Curve) > 0
	}
	return whole
}

// Final returns the last loss of a policy.
func (s *Simulation) Final(policy string) Estimate { return estimate(s.finals(policy, loss)) }

// FinalSD is Final for the mean standard deviation of predictions.
func (s *Simulation) FinalSD(policy string) Estimate {
	return estimate(s.finals(policy, func(p Point) float64 { return p.SD }))
}

func loss(p Point) float64 { return p.Loss }

func (s *Simulation) finals(policy string, of func(Point) float64) []float64 {
	var all []float64
	whole := s.Whole()
	for _, r := range s.Replays {
		if r.Policy == policy && whole[r.Seed] {
			all = append(all, of(r.Curve[len(r.Curve)-1]))
		}
	}
	return all
}

// Gain returns by how much the last loss of a policy is below that of another,
// seed by seed: both began with the same nodes, so what these have to do with it
// cancels out.
func (s *Simulation) Gain(policy, over string) Estimate {
	gains, theirs := s.finals(policy, loss), s.finals(over, loss)
	if len(gains) != len(theirs) {
		return Estimate{} // one of them was not replayed
	}
	for k := range gains {
		gains[k] = theirs[k] - gains[k]
	}
	return estimate(gains)
}

// GainOverUniform is Gain over the regret to expect of as many uniform draws, which
// is exact. The standard error is at least that of as many replays of such draws:
// replays that happen to end alike do not make a difference sure.
func (s *Simulation) GainOverUniform(policy string) Estimate {
	if len(s.Uniform) == 0 {
		return Estimate{}
	}
	gains := s.finals(policy, loss)
	uniform := s.Uniform[len(s.Uniform)-1]
	for k, v := range gains {
		gains[k] = uniform.Loss - v
	}
	e := estimate(gains)
	if e.Seeds > 0 {
		e.SE = max(e.SE, uniform.SD/math.Sqrt(float64(e.Seeds)))
	}
	return e
}

// MeanPoint is the mean of points over seeds.
type MeanPoint struct {
	Measured int `json:"measured"`
	Estimate
}

// Mean returns the curve of a policy.
func (s *Simulation) Mean(policy string) []MeanPoint {
	at, whole := map[int][]float64{}, s.Whole()
	for _, r := range s.Replays {
		if r.Policy == policy && whole[r.Seed] {
			for _, p := range r.Curve {
				at[p.Measured] = append(at[p.Measured], p.Loss)
			}
		}
	}
	var curve []MeanPoint
	for m := range s.Start + s.Steps + 1 {
		if all := at[m]; len(all) > 0 {
			curve = append(curve, MeanPoint{m, estimate(all)})
		}
	}
	return curve
}
