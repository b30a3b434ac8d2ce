package bench

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/mat"

	"grfgp"
	"grfgp/internal/rng"
	"grfgp/lab/dataset"
	"grfgp/solve"
)

// MediumOptions select and size the cases of RunMedium.
type MediumOptions struct {
	Cases   []string // names as in Mediums; none means all
	Quick   bool     // small graphs, generated ones only, one run of each
	Repeats int      // runs of each case, of which the median counts; 0 means 3
	Seed    uint64
	Store   dataset.Store
	// Program runs the program on files, and returns what it cost and what it answered.
	Program func(ctx context.Context, job MediumJob) (MediumCost, error)
	// Stage is called when a case begins, and the function that it returns when it ends.
	Stage func(name string) (done func())
	Say   func(format string, args ...any)
}

// MediumJob is a whole run of the program: a verb, and the two files that it reads.
type MediumJob struct {
	Verb   string                  // predict or classify
	Edges  func(w io.Writer) error // writes the edge list
	Given  func(w io.Writer) error // writes measurements or labels
	Answer func(r io.Reader) error // reads the answer, JSON
}

// MediumCost is what a run of the program cost.
type MediumCost struct {
	Seconds float64 `json:"seconds"`
	CPU     float64 `json:"cpu_seconds"` // of all processors
	Peak    float64 `json:"peak_bytes"`  // resident memory; 0 where the system does not tell
}

// MediumReport has the cost and the accuracy of whole runs.
type MediumReport struct {
	Version int            `json:"version"`
	Cases   []MediumResult `json:"cases"`
}

// MediumResult is the result of a case. Seconds, CPU and Peak are medians over runs.
type MediumResult struct {
	Name     string `json:"name"`
	Title    string `json:"title"`
	Nodes    int    `json:"nodes"`
	Edges    int    `json:"edges"`
	Measured int    `json:"measured"` // nodes with a measurement or a label
	Runs     int    `json:"runs"`
	MediumCost
	Cholesky      float64 `json:"cholesky_seconds"` // of one dense matrix with a row per measurement, in this run
	Ratio         float64 `json:"ratio"`            // of Seconds to Cholesky
	Error         float64 `json:"error"`            // at the other nodes: RMSE of the noise-free function, or share of wrong classes
	Coverage      float64 `json:"coverage,omitempty"`
	Chosen        string  `json:"chosen"` // the kernel, in words
	LogLikelihood float64 `json:"log_likelihood,omitempty"`
}

// RunMedium times whole runs of the program, with every setting chosen automatically.
// Cases whose data set is not on this machine are left out.
func RunMedium(ctx context.Context, o MediumOptions) (*MediumReport, error) {
	r := &MediumReport{Version: 1}
	for _, c := range Mediums() {
		if len(o.Cases) > 0 && !slices.Contains(o.Cases, c.Name) || o.Quick && c.small == 0 {
			continue
		}
		result, err := c.run(ctx, o)
		if errors.Is(err, dataset.ErrMissing) && len(o.Cases) == 0 {
			o.Say("%s: left out, its data set is not on this machine", c.Name)
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", c.Name, err)
		}
		r.Cases = append(r.Cases, *result)
	}
	return r, nil
}

func (c Medium) run(ctx context.Context, o MediumOptions) (*MediumResult, error) {
	nodes, measured := c.nodes, c.measured
	if o.Quick {
		nodes, measured = c.small, c.small*3/10
	}
	t, err := c.make(ctx, o.Store, nodes, measured, o.Seed)
	if err != nil {
		return nil, err
	}
	defer o.Stage(c.Name)()
	r := &MediumResult{Name: c.Name, Title: c.Title, Nodes: t.graph.Len(), Edges: t.graph.Edges(), Measured: len(t.given),
		Runs: cmp.Or(o.Repeats, 3)}
	if o.Quick {
		r.Runs = 1
	}
	job := MediumJob{Verb: t.verb(), Edges: t.writeEdges, Given: t.writeGiven, Answer: func(in io.Reader) error { return t.score(in, r) }}
	var seconds, cpu, peak []float64
	for range r.Runs {
		cost, err := o.Program(ctx, job)
		if err != nil {
			return nil, err
		}
		seconds, cpu, peak = append(seconds, cost.Seconds), append(cpu, cost.CPU), append(peak, cost.Peak)
	}
	r.Seconds, r.CPU, r.Peak = median(seconds), median(cpu), median(peak)
	r.Cholesky, err = choleskySeconds(ctx, len(t.given))
	r.Ratio = r.Seconds / r.Cholesky
	return r, err
}

// median returns the middle one of the numbers in order, or the mean of the two in the middle.
func median(x []float64) float64 {
	x = slices.Sorted(slices.Values(x))
	return (x[(len(x)-1)/2] + x[len(x)/2]) / 2
}

// choleskySeconds times the factorisation of a dense matrix with n rows.
func choleskySeconds(ctx context.Context, n int) (float64, error) {
	n = min(n, 6000) // beyond, no method factors it
	random := rand.New(rng.New(1, "cholesky"))
	a := mat.NewSymDense(n, nil)
	for i := range n {
		for j := i + 1; j < n; j++ {
			a.SetSym(i, j, random.Float64())
		}
		a.SetSym(i, i, 2*float64(n))
	}
	copied := mat.NewSymDense(n, nil)
	return quickest(ctx, func() error {
		copied.CopySym(a)
		_, err := solve.NewCholesky(copied)
		return err
	})
}

// verb is the verb of the program.
func (t *mediumTask) verb() string {
	if t.class != nil {
		return "classify"
	}
	return "predict"
}

// writeEdges writes the edge list. Ids are letters and numbers, so that they are not taken for weights.
func (t *mediumTask) writeEdges(w io.Writer) error {
	b := bufio.NewWriter(w)
	b.WriteString("source,target\n")
	adjacency := t.graph.Adjacency()
	for i := range t.graph.Len() {
		cols, _ := adjacency.Row(i)
		for _, j := range cols {
			if int(j) >= i {
				fmt.Fprintf(b, "n%d,n%d\n", i, j)
			}
		}
	}
	return b.Flush()
}

func (t *mediumTask) writeGiven(w io.Writer) error {
	b := bufio.NewWriter(w)
	if t.class != nil {
		b.WriteString("node,class\n")
	} else {
		b.WriteString("node,value\n")
	}
	for _, i := range t.given {
		if t.class != nil {
			fmt.Fprintf(b, "n%d,class %d\n", i, t.class[i])
		} else {
			fmt.Fprintf(b, "n%d,%s\n", i, strconv.FormatFloat(t.value[i], 'g', -1, 64))
		}
	}
	return b.Flush()
}

// mediumAnswer is what predict and classify answer, as far as it is scored.
type mediumAnswer struct {
	Choice grfgp.Choice `json:"choice"`
	Nodes  []struct {
		Node     string  `json:"node"`
		Mean     float64 `json:"mean"`
		Lower    float64 `json:"lower"`
		Upper    float64 `json:"upper"`
		Measured bool    `json:"measured"`
		Class    string  `json:"class"`
		Given    bool    `json:"given"`
	} `json:"nodes"`
}

// score reads the answer of a run into r.
func (t *mediumTask) score(in io.Reader, r *MediumResult) error {
	var a mediumAnswer
	if err := json.NewDecoder(in).Decode(&a); err != nil {
		return err
	}
	squares, inside, wrong, n := 0.0, 0.0, 0.0, 0.0
	for _, row := range a.Nodes {
		i, err := strconv.Atoi(row.Node[1:])
		if err != nil || i < 0 || i >= t.graph.Len() {
			return fmt.Errorf("the answer names the node %q", row.Node)
		}
		switch {
		case row.Measured || row.Given:
			continue
		case t.class != nil:
			if row.Class != fmt.Sprintf("class %d", t.class[i]) {
				wrong++
			}
		default:
			e := row.Mean - t.truth[i]
			squares += e * e
			if t.truth[i] >= row.Lower && t.truth[i] <= row.Upper {
				inside++
			}
		}
		n++
	}
	r.Chosen, r.LogLikelihood = chosenWords(a.Choice), a.Choice.Fit.LogLikelihood
	r.Error, r.Coverage = math.Sqrt(squares/n), inside/n
	if t.class != nil {
		r.Error, r.Coverage = wrong/n, 0
	}
	return nil
}

// chosenWords names the chosen kernel.
func chosenWords(c grfgp.Choice) string {
	s := c.Method + " " + c.Family
	if c.Scales == "many" {
		s += ", many scales"
	}
	if c.Variance == "unit" {
		s += ", unit variance"
	}
	if c.Trend != "" && c.Trend != "none" {
		s += ", trend"
	}
	if len(c.Terms) > 0 {
		s += ": " + strings.Join(c.Terms, " + ")
	}
	return s
}
