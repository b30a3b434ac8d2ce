package crossval

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"

	"grfgp"
	"grfgp/gp"
	"grfgp/graph"
	"grfgp/internal/ranks"
	"grfgp/internal/rng"
	"grfgp/progress"
)

// Scheme says which nodes are held out together. The zero value is Scattered.
type Scheme string

const (
	// Scattered folds are random nodes.
	Scattered Scheme = "scattered"
	// Neighbourhoods are folds of connected regions of the graph.
	Neighbourhoods Scheme = "neighbourhoods"
)

// Schemes returns all schemes.
func Schemes() []Scheme { return []Scheme{Scattered, Neighbourhoods} }

// DefaultFolds is the default of Options.Folds.
const DefaultFolds = 10

// Options are the options of a cross-validation. The zero value means ten scattered
// folds, and a kernel that is chosen once.
type Options struct {
	Folds  int    // number of folds, 2 or more; 0 means DefaultFolds, or one per measured node if these are fewer
	Scheme Scheme // "" means Scattered
	// The kernel is chosen once, from all measurements or labels, and its hyperparameters are
	// learned again for every fold, unless values are so many that this makes no difference. That takes
	// a fraction of the time of choosing the kernel for every fold.
	ChooseAgain bool                  // choose the kernel for every fold
	Fixed       bool                  // never learn hyperparameters for a fold
	Model       *grfgp.Model          // Validate: fitted to all measurements; nil: Validate fits it
	Classifier  *grfgp.Classification // ValidateClasses: the same

	Progress *progress.Work // is told how far it is; nil: nobody is
	Ranks    *ranks.Group   // that share the folds; nil: this process alone

	times []float64 // of the periods; nil: none
	quick bool      // only baselines that cost little, for services
}

// complete checks the options for rows at nodes and fills in defaults.
func (o Options) complete(nodes []int) (Options, error) {
	if o.Folds == 0 {
		o.Folds = max(2, min(DefaultFolds, len(distinct(nodes))))
	}
	if o.Scheme == "" {
		o.Scheme = Scattered
	}
	if o.Folds < 2 || o.Folds > len(nodes) {
		return o, fmt.Errorf("%w: %d folds of %d values, want 2 to the number of values", grfgp.ErrSpec, o.Folds, len(nodes))
	}
	return o, o.checkScheme()
}

// rules returns the baselines of measurements to compare with.
func (o Options) rules(in *Inputs) []Baseline {
	all := in.Baselines()
	if o.times != nil {
		all = in.possible(overTime)
	}
	if o.quick {
		all = slices.DeleteFunc(all, func(b Baseline) bool { return b == GraphRidge || b == SingularRidge })
	}
	return all
}

// distinct returns the nodes of a list once each, in increasing order.
func distinct(nodes []int) []int { return slices.Compact(slices.Sorted(slices.Values(nodes))) }

// folds assigns every row to a fold, given its node. The order of rows does not
// matter.
func (o Options) folds(g *graph.Graph, nodes []int, seed uint64) []int {
	random := rand.New(rng.New(seed, "folds"))
	if o.times != nil {
		return o.foldsOverTime(g, nodes, random)
	}
	unique := distinct(nodes)
	random.Shuffle(len(unique), func(a, b int) { unique[a], unique[b] = unique[b], unique[a] })
	of := make([]int, g.Len()) // by node
	if o.Scheme == Neighbourhoods {
		of = regions(g, unique[:min(o.Folds, len(unique))])
	} else {
		for r, i := range unique {
			of[i] = r % o.Folds
		}
	}
	fold := make([]int, len(nodes))
	for r, i := range nodes {
		fold[r] = of[i]
	}
	return fold
}

// regions grows a region from each seed, one hop at a time, until they cover the
// graph. Components without a seed are assigned to the regions in turn.
func regions(g *graph.Graph, seeds []int) []int {
	region := make([]int, g.Len())
	for i := range region {
		region[i] = -1
	}
	for r, i := range seeds {
		region[i] = r
	}
	for i := range graph.NewSearch(g).From(seeds...) {
		cols, _ := g.Adjacency().Row(i)
		for _, j := range cols {
			if region[j] < 0 {
				region[j] = region[i]
			}
		}
	}
	comp, _ := g.Components()
	for i := range region {
		if region[i] < 0 {
			region[i] = int(comp[i]) % len(seeds)
		}
	}
	return region
}

// classFolds assigns every label to a fold, and all labels of a node to the same
// fold. Scattered folds are assigned class by class, so that no fold has all
// labels of a class with more than one label.
func (o Options) classFolds(g *graph.Graph, l gp.Labels, seed uint64) []int {
	if o.Scheme == Neighbourhoods {
		return o.folds(g, l.Nodes, seed)
	}
	order := make([]int, l.Len())
	for r := range order {
		order[r] = r
	}
	slices.SortStableFunc(order, func(a, b int) int {
		return cmp.Or(cmp.Compare(l.Nodes[a], l.Nodes[b]), cmp.Compare(l.Class[a], l.Class[b]))
	})
	random := rand.New(rng.New(seed, "folds"))
	random.Shuffle(len(order), func(a, b int) { order[a], order[b] = order[b], order[a] })
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(l.Class[a], l.Class[b]) })
	fold, of, dealt := make([]int, l.Len()), map[int]int{}, 0
	for _, r := range order {
		f, again := of[l.Nodes[r]]
		if !again {
			f = dealt % o.Folds
			of[l.Nodes[r]] = f
			dealt++
		}
		fold[r] = f
	}
	return fold
}
