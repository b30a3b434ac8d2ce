package report

import (
	"cmp"
	"io"
	"math"
	"slices"

	"grfgp"
	"grfgp/crossval"
	"grfgp/gp"
	"grfgp/graph"
	"grfgp/graphio"
)

// Regression is the input of a report on predicted values.
type Regression struct {
	Title    string
	Unit     string // of the values; empty: not known
	Quantity string // text at axes: the unit, or the name of the measured quantity

	Network      *graphio.Network
	Measurements *graphio.Measurements // as they were read; nil: they come from no file
	Data         gp.Data               // the data that the model was fitted to; of a model over time, those of the period that is shown
	Time         string                // which period of a model over time is shown, as a sentence; empty without time

	Spec       grfgp.Spec // as it was asked for
	Model      *grfgp.Model
	Prediction grfgp.Prediction     // of every node
	Limits     *grfgp.Limits        // of the prediction; nil: not computed
	Effects    *grfgp.Effects       // of the columns of the node table; nil: not computed
	Measured   string               // name of what was measured, in sentences about effects; empty: the value
	Known      []string             // notes on the columns, in sentences
	Level      float64              // of the credible intervals
	Validation *crossval.Validation // nil: none
	Truth      []float64            // of every node; nil: not known
	// value from which the colours of predictions diverge; nil: 0 if a tenth of them or more lie on either side
	Centre   *float64
	NoCentre bool            // colours do not diverge
	Program  string          // name and version of the program that made the report
	Speller  graphio.Speller // of options in notes on files; zero: as in Go
}

// Write draws the maps and figures and writes the page.
func (r *Regression) Write(w io.Writer) error {
	p, err := r.page()
	if err != nil {
		return err
	}
	return p.write(w)
}

// listed is the number of rows of a list.
const listed = 10

// MostUncertain returns the ten nodes with the largest posterior standard
// deviation; of equal ones, the first in the file.
func (r *Regression) MostUncertain() []int {
	return largest(r.Prediction.SD, r.Network.Graph.InputOrder())
}

// highest and lowest return the ten nodes of highest or lowest predicted mean; of equal ones, the
// first in the file.
func (r *Regression) highest() []int {
	return largest(r.Prediction.Mean, r.Network.Graph.InputOrder())
}

func (r *Regression) lowest() []int {
	negative := make([]float64, len(r.Prediction.Mean))
	for i, v := range r.Prediction.Mean {
		negative[i] = -v
	}
	return largest(negative, r.Network.Graph.InputOrder())
}

// largest returns the ten nodes of largest value, the first of equals first.
func largest(values []float64, nodes []int) []int {
	var top []int
	for _, i := range nodes {
		// A sorted list of ten: no need to sort a million.
		if len(top) == listed && values[i] <= values[top[listed-1]] {
			continue
		}
		at, _ := slices.BinarySearchFunc(top, values[i], func(j int, v float64) int {
			if values[j] >= v {
				return -1
			}
			return 1
		})
		top = slices.Insert(top, at, i)
		top = top[:min(len(top), listed)]
	}
	return top
}

// residuals returns the held-out measurements that are most standard deviations
// from their prediction.
func (r *Regression) residuals() []crossval.HeldOut {
	all := slices.Clone(r.Validation.HeldOut)
	slices.SortStableFunc(all, func(a, b crossval.HeldOut) int { return cmp.Compare(inSDs(b), inSDs(a)) })
	return all[:min(len(all), listed)]
}

func inSDs(l crossval.HeldOut) float64 { return math.Abs(l.Value-l.Mean) / l.SD }

// measured marks the measured nodes.
func (r *Regression) measured() []bool {
	marks := make([]bool, r.Network.Graph.Len())
	for _, i := range r.Data.Nodes {
		marks[i] = true
	}
	return marks
}

// TruthFacts compares predictions of unmeasured nodes with their true values.
type TruthFacts struct {
	Nodes    int     `json:"nodes"`
	RMSE     float64 `json:"rmse"`
	Coverage float64 `json:"coverage"` // of intervals of Regression.Level
}

// AgainstTruth compares predictions of unmeasured nodes with Truth; nil if that is
// nil.
func (r *Regression) AgainstTruth() *TruthFacts {
	if r.Truth == nil {
		return nil
	}
	var facts TruthFacts
	measured, inside := r.measured(), 0
	for i, truth := range r.Truth {
		if measured[i] {
			continue
		}
		facts.Nodes++
		miss := math.Abs(truth - r.Prediction.Mean[i])
		facts.RMSE += miss * miss
		if lower, upper := r.Prediction.At(i).Interval(r.Level); lower <= truth && truth <= upper {
			inside++
		}
	}
	facts.RMSE = math.Sqrt(facts.RMSE / float64(facts.Nodes))
	facts.Coverage = float64(inside) / float64(facts.Nodes)
	return &facts
}

// edges yields each edge of a graph once, without self loops.
func edges(g *graph.Graph) func(yield func(i, j int) bool) {
	return func(yield func(i, j int) bool) {
		for i := range g.Len() {
			cols, _ := g.Adjacency().Row(i)
			for _, j := range cols {
				if int(j) > i && !yield(i, int(j)) {
					return
				}
			}
		}
	}
}
