package grfgp

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"

	"grfgp/gp"
	"grfgp/graph"
	"grfgp/internal/rng"
)

// The marginal likelihood of measurements in clusters or along tracks depends mostly
// on short distances and says little about nodes far from all measurements. A kernel
// with many scales, on the signless Laplacian or with free coefficients is therefore
// chosen only if it also predicts better at the distances that unmeasured nodes have
// from measurements.

const (
	heldOutMost = 300 // measurements to predict from those farther away,
	heldOutNear = 200 // and the most nearby measurements held out for each
	heldOutGain = 0.1 // nats per measurement that justify a kernel that is not simple

	distancePeriods = 32
)

// confirm returns the best attempt, unless it is hardly better at a distance than
// the best simple one, which it then returns: the mean difference of their held-out
// log densities plus two standard errors is below heldOutGain. With few measurements
// the standard error is too large for that.
func (t *Trainer) confirm(ctx context.Context, own gp.Data, tried []attempt) (attempt, error) {
	best := likeliest(tried)
	one := some(tried, attempt.simple)
	if best.simple() || len(one) == 0 {
		return best, nil
	}
	lists := t.heldOut(own.Nodes)
	simple := likeliest(one)
	with, err := best.model.HeldOutLogDensity(ctx, own, lists)
	if err != nil {
		return best, err
	}
	without, err := simple.model.HeldOutLogDensity(ctx, own, lists)
	if err != nil {
		return best, err
	}
	if most := highestGain(with, without); most < heldOutGain {
		return simple, nil
	}
	return best, nil
}

// simple reports whether a kernel has one scale and positive correlation of neighbours.
func (a attempt) simple() bool { return !a.Many() && !a.apart() && a.Laplacian != "signless" }

// highestGain returns an upper bound of the gain of the first scores over the
// second: the mean difference plus two standard errors.
func highestGain(first, second []float64) float64 {
	n, mean, square := float64(len(first)), 0.0, 0.0
	for k, v := range first {
		d := v - second[k]
		mean += d / n
		square += d * d / n
	}
	return mean + 2*math.Sqrt(max(0, square-mean*mean)/n)
}

// heldOut returns groups of measurements to hold out together: a measurement to
// predict, followed by the others of its period that are less than some number of hops away. The
// numbers of hops have the distribution of the distances from unmeasured nodes to
// their nearest measurement of a period. Measurements of other periods remain, as they
// do where a place is predicted.
func (t *Trainer) heldOut(places []int) [][]int {
	distances := t.when.Distances(places, distancePeriods)
	slices.Sort(distances)
	random := rand.New(rng.New(t.spec.Seed, "apart"))
	chosen := random.Perm(len(places))[:min(len(places), heldOutMost)]
	at := map[int][]int{} // measurements by place
	for k, p := range places {
		at[p] = append(at[p], k)
	}
	lists, search := make([][]int, len(chosen)), graph.NewSearch(t.graph)
	for s, k := range chosen {
		distance := 0
		if len(distances) > 0 {
			distance = distances[(2*s+1)*len(distances)/(2*len(chosen))] // quantiles, for measurements in random order
		}
		lists[s] = t.when.Nearer(search, k, places[k], distance, heldOutNear, at)
	}
	return lists
}
