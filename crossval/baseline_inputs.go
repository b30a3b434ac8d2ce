package crossval

import (
	"context"
	"fmt"

	"gonum.org/v1/gonum/mat"

	"grfgp/covariate"
	"grfgp/graph"
	"grfgp/plan"
	"grfgp/sparse"
)

// Inputs are what baselines may use beside measurements or labels. They are shared by
// all folds: nothing in them depends on what was measured. They are not safe for
// concurrent use.
type Inputs struct {
	Graph      *graph.Graph
	Covariates *covariate.Set   // of all nodes; nil: none
	Roles      *covariate.Roles // nil: computed when they are first needed
}

// Baselines returns the baselines of measurements that can be computed from the inputs,
// the simplest first.
func (in *Inputs) Baselines() []Baseline {
	return in.possible(Baselines())
}

// ClassBaselines returns the baselines of labels that can be computed from the inputs, the
// simplest first.
func (in *Inputs) ClassBaselines() []Baseline {
	return in.possible(ClassBaselines())
}

func (in *Inputs) possible(all []Baseline) []Baseline {
	var some []Baseline
	for _, b := range all {
		switch {
		case b == LeastSquares && (in.Covariates == nil || in.Covariates.Empty()):
		case b == SingularRidge && in.Graph.Len() > plan.Default().RoleNodes:
		default:
			some = append(some, b)
		}
	}
	return some
}

// roles computes the roles of nodes once.
func (in *Inputs) roles(ctx context.Context) (*covariate.Roles, error) {
	if in.Roles == nil {
		r, err := covariate.RolesOf(ctx, in.Graph, covariate.RolesOptions{})
		if err != nil {
			return nil, err
		}
		in.Roles = r
	}
	return in.Roles, nil
}

// columns are what a linear rule knows of every node: dense columns, and words.
type columns struct {
	nodes int
	dense []*mat.Dense
	words *sparse.CSR // nil: none
}

// columns returns the columns that a baseline uses.
func (in *Inputs) columns(ctx context.Context, b Baseline) (columns, error) {
	c := columns{nodes: in.Graph.Len()}
	add := func(x *mat.Dense) {
		if x != nil {
			c.dense = append(c.dense, x)
		}
	}
	switch b {
	case LeastSquares:
		if in.Covariates == nil || in.Covariates.Empty() {
			return c, fmt.Errorf("%s: there are no covariates", b)
		}
		add(in.Covariates.X)
		c.words = in.Covariates.Words
	case SingularRidge:
		r, err := in.roles(ctx)
		if err != nil {
			return c, err
		}
		add(r.Numbers)
		for _, v := range []*covariate.Vectors{r.Adjacency, r.Normalized} {
			if v != nil {
				add(v.X)
			}
		}
	default:
		return c, fmt.Errorf("the baseline %q has no columns", b)
	}
	return c, nil
}

// width returns the number of dense columns.
func (c columns) width() int {
	w := 0
	for _, x := range c.dense {
		_, k := x.Dims()
		w += k
	}
	return w
}

// pick returns the columns at some nodes.
func (c columns) pick(nodes []int) design {
	d := design{rows: len(nodes), width: c.width()}
	if d.width > 0 {
		d.x = mat.NewDense(d.rows, d.width, nil)
		for r, i := range nodes {
			row := d.x.RawRowView(r)
			for _, x := range c.dense {
				row = row[copy(row, x.RawRowView(i)):]
			}
		}
	}
	if c.words == nil {
		return d
	}
	_, d.vocabulary = c.words.Dims()
	ptr := make([]int, 1, len(nodes)+1)
	var col []uint32
	var val []float64
	for _, i := range nodes {
		cols, vals := c.words.Row(i)
		col, val = append(col, cols...), append(val, vals...)
		ptr = append(ptr, len(col))
	}
	words, err := sparse.NewCSR(len(nodes), d.vocabulary, ptr, col, val)
	if err != nil {
		panic("crossval: rows of a valid matrix: " + err.Error())
	}
	d.words = words
	return d
}
