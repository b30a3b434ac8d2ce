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

// More scales are for reach. A kernel that reaches everywhere goes without if
// they are shown to bring nothing at the distance that counts: the likelihood of
// measurements that lie in clusters or along tracks says more about what is near.
// So it does of kernels under which neighbours differ, and of free coefficients,
// which know a neighbourhood alone.

const (
	apartMost  = 300 // measurements that are predicted from afar,
	apartLists = 200 // and left out for one of them
	apartGain  = 0.1 // nats per measurement that are worth coarser scales
)

// proven returns the likeliest attempt, or the likeliest simple one, on one scale and
// with neighbours that are alike, if the first is known to be hardly better from
// afar: the mean difference of log densities and two standard errors are below
// apartGain. Few measurements never show that.
func (w *workshop) proven(ctx context.Context, own gp.Data, tried []attempt) (attempt, error) {
	best := likeliest(tried)
	one := slices.DeleteFunc(slices.Clone(tried), func(a attempt) bool { return !a.simple() })
	if best.simple() || len(one) == 0 {
		return best, nil
	}
	lists := w.apart(own.Nodes)
	simple := likeliest(one)
	with, err := best.model.HeldOutLogDensity(ctx, own, lists)
	if err != nil {
		return best, err
	}
	without, err := simple.model.HeldOutLogDensity(ctx, own, lists)
	if err != nil {
		return best, err
	}
	if most := highestGain(with, without); most < apartGain {
		return simple, nil
	}
	return best, nil
}

// simple reports whether a kernel has one scale, and neighbours are alike.
func (c candidate) simple() bool {
	return !c.many && c.family.family != "free" && c.laplacian != "signless"
}

// highestGain returns the mean by which the first scores are above the second, and
// two standard errors.
func highestGain(first, second []float64) float64 {
	n, mean, square := float64(len(first)), 0.0, 0.0
	for k, v := range first {
		d := v - second[k]
		mean += d / n
		square += d * d / n
	}
	return mean + 2*math.Sqrt(max(0, square-mean*mean)/n)
}

// apart returns lists of measurements. The first of each is to be predicted
// without the others, which are those that are no farther from it than data is
// from a node without: distances are dealt out as they are over such nodes.
func (w *workshop) apart(nodes []int) [][]int {
	distances := w.distances(nodes)
	slices.Sort(distances)
	random := rand.New(rng.New(w.spec.Seed, "apart"))
	chosen := random.Perm(len(nodes))[:min(len(nodes), apartMost)]
	at := map[int][]int{} // measurements by node
	for k, i := range nodes {
		at[i] = append(at[i], k)
	}
	lists, search := make([][]int, len(chosen)), graph.NewSearch(w.graph)
	for s, k := range chosen {
		distance := 0
		if len(distances) > 0 {
			distance = distances[(2*s+1)*len(distances)/(2*len(chosen))] // of measurements in random order
		}
		lists[s] = near(search, k, nodes[k], distance, at)
	}
	return lists
}

// distances returns how many hops each node that is not measured, but in a
// component with one that is, lies from the nearest such.
func (w *workshop) distances(nodes []int) []int {
	return slices.DeleteFunc(w.graph.Hops(nodes), func(hops int) bool { return hops <= 0 })
}

// near returns measurement k, and others up to so many hops from its node.
func near(s *graph.Search, k, node, distance int, at map[int][]int) []int {
	list := []int{k}
	for i, hops := range s.From(node) {
		if hops > distance || len(list) >= apartLists {
			break
		}
		for _, other := range at[i] {
			if other != k {
				list = append(list, other)
			}
		}
	}
	return list
}
