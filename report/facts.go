package report

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"grfgp/graph"
	"grfgp/graphio"
	"grfgp/internal/plural"
)

// Fact is one line of a description. A fact without a name continues the previous
// fact.
type Fact struct{ Name, Text string }

// facts is a list under construction.
type facts []Fact

func (f *facts) add(name, format string, args ...any) {
	*f = append(*f, Fact{name, fmt.Sprintf(format, args...)})
}

// GraphFacts describe a graph.
type GraphFacts struct {
	Nodes        int        `json:"nodes"`
	Edges        int        `json:"edges"`
	DegreeMin    int        `json:"degree_min"` // neighbours of a node
	DegreeMedian float64    `json:"degree_median"`
	DegreeMax    int        `json:"degree_max"`
	WeightMin    float64    `json:"weight_min"`
	WeightMax    float64    `json:"weight_max"`
	Isolated     int        `json:"lone_nodes"` // nodes without an edge; each is a component too
	Components   Components `json:"components"`
}

// DescribeGraph measures a graph.
func DescribeGraph(g *graph.Graph) GraphFacts {
	facts := GraphFacts{Nodes: g.Len(), Edges: g.Edges()}
	_, sizes := g.Components()
	for _, size := range sizes {
		facts.Components.add(size)
	}
	degrees := g.Degrees()
	slices.Sort(degrees)
	if n := len(degrees); n > 0 {
		facts.DegreeMin, facts.DegreeMax = degrees[0], degrees[n-1]
		facts.DegreeMedian = float64(degrees[(n-1)/2]+degrees[n/2]) / 2
	}
	facts.Isolated, _ = slices.BinarySearch(degrees, 1)
	if _, _, weights := g.Adjacency().Raw(); len(weights) > 0 {
		facts.WeightMin, facts.WeightMax = slices.Min(weights), slices.Max(weights)
	}
	return facts
}

// Lines returns the description as text.
func (g GraphFacts) Lines() []Fact {
	var all facts
	all.add("degrees", "%d to %d, median %g", g.DegreeMin, g.DegreeMax, g.DegreeMedian)
	if g.WeightMin != g.WeightMax {
		all.add("weights", "%.4g to %.4g", g.WeightMin, g.WeightMax)
	}
	all.add("components", "%v", g.Components)
	all.add("isolated", "%s", plural.Count(g.Isolated, "nodes"))
	return all
}

// Components counts connected components of a graph, all or some of them.
type Components struct {
	Count int   `json:"count"`
	Nodes int   `json:"nodes"` // of all of them
	Sizes []int `json:"sizes"` // of the largest, at most a thousand
}

func (c *Components) add(size int) {
	const kept = 1000
	c.Count++
	c.Nodes += size
	if len(c.Sizes) < kept {
		c.Sizes = append(c.Sizes, size)
	}
}

// String returns the number of components and the sizes of the first.
func (c Components) String() string {
	const shown = 5
	if c.Count == 1 {
		return "1, of " + plural.Count(c.Nodes, "nodes")
	}
	var first []string
	for _, n := range c.Sizes[:min(shown, len(c.Sizes))] {
		first = append(first, fmt.Sprint(n))
	}
	sizes := strings.Join(first, ", ") + ", …"
	if last := len(first) - 1; c.Count <= shown && last > 0 {
		sizes = strings.Join(first[:last], ", ") + " and " + first[last]
	}
	return fmt.Sprintf("%d, of %s nodes (%d in all)", c.Count, sizes, c.Nodes)
}

// ComponentsWithout returns the components that contain none of the nodes.
func ComponentsWithout(g *graph.Graph, nodes []int) Components {
	without := Components{Sizes: []int{}}
	_, sizes := g.Unreached(nodes)
	for _, size := range sizes {
		without.add(size)
	}
	return without
}

// MeasurementFacts describe measurements on a graph.
type MeasurementFacts struct {
	Nodes        int        `json:"nodes"` // measured nodes
	Measurements int        `json:"readings"`
	Min          float64    `json:"min"`
	Mean         float64    `json:"mean"`
	Max          float64    `json:"max"`
	SD           float64    `json:"sd"` // of the values, divisor n
	Unmeasured   Components `json:"components_without_any"`
}

// DescribeMeasurements summarizes measurements and where they are.
func DescribeMeasurements(g *graph.Graph, m *graphio.Measurements) *MeasurementFacts {
	facts := &MeasurementFacts{Unmeasured: ComponentsWithout(g, m.Nodes), Min: slices.Min(m.Values), Max: slices.Max(m.Values)}
	here := make([]bool, g.Len())
	n := float64(len(m.Values))
	for k, node := range m.Nodes {
		if !here[node] {
			here[node] = true
			facts.Nodes++
		}
		if m.Count == nil {
			facts.Measurements++
		} else {
			facts.Measurements += m.Count[k]
		}
		facts.Mean += m.Values[k] / n
	}
	facts.Mean = min(max(facts.Mean, facts.Min), facts.Max)
	facts.SD = deviation(m.Values, facts.Mean)
	return facts
}

// deviation returns the standard deviation about the mean, divisor n. Values are
// scaled below 1, by a power of two, so that no square overflows.
func deviation(values []float64, mean float64) float64 {
	_, exp := math.Frexp(max(math.Abs(slices.Min(values)), math.Abs(slices.Max(values))))
	sum := 0.0
	for _, v := range values {
		d := math.Ldexp(v, -exp) - math.Ldexp(mean, -exp)
		sum += d * d / float64(len(values))
	}
	return min(math.Ldexp(math.Sqrt(sum), exp), math.MaxFloat64)
}

// Lines returns the description as text, for a graph with the given number of
// nodes.
func (m *MeasurementFacts) Lines(nodes int) []Fact {
	var all facts
	all.add("measured", "%d of %d nodes (%.3g %%), %s", m.Nodes, nodes, 100*float64(m.Nodes)/float64(nodes),
		plural.Count(m.Measurements, "measurements"))
	all.add("values", "%.5g to %.5g, mean %.5g, sd %.4g", m.Min, m.Max, m.Mean, m.SD)
	if m.Unmeasured.Count > 0 {
		all.add("unmeasured", "components without a measurement: %v; predictions there equal the prior: the overall mean with the largest "+
			"uncertainty", m.Unmeasured)
	}
	return all
}

// DescribeFile returns the format and the contents that a reader detected in a
// file. The first fact consists of the given name and the name of the file. Notes
// write options by say, or as fields of graphio.Options if say is zero.
func DescribeFile(name string, r *graphio.Report, say graphio.Speller) []Fact {
	var all facts
	traits := []string{r.Format}
	if r.Compression != "" {
		traits = append(traits, r.Compression)
	}
	if r.Delimiter != "" {
		traits = append(traits, "delimiter "+r.Delimiter)
	}
	if r.Decimal != "" {
		traits = append(traits, "decimal "+r.Decimal)
	}
	switch r.Header {
	case "":
	case "none":
		traits = append(traits, "no header")
	default:
		traits = append(traits, "names from "+r.Header)
	}
	all.add(name, "%s", r.File)
	all.add("format", "%s", strings.Join(traits, ", "))
	for _, c := range r.Columns {
		role, text, _ := strings.Cut(c.String(), ": ")
		all.add(role, "%s", text)
	}
	if len(r.Unused) > 0 {
		all.add("not used", "%s", strings.Join(r.Unused, ", "))
	}
	if r.Weights != "" {
		all.add("weights", "%s", r.Weights)
	}
	all.add("ledger", "%s", r.Ledger)
	if r.Missing > 0 {
		all.add("missing", "%s", plural.Count(int(r.Missing), "values"))
	}
	for i, bad := range r.BadRows {
		all.add(map[bool]string{true: "bad rows"}[i == 0], "%s", bad)
	}
	if more := int(r.Ledger.Bad) - len(r.BadRows); more > 0 {
		all.add("", "and %d more", more)
	}
	for _, w := range r.Warnings {
		all.add("note", "%s", w.Text(say))
	}
	return all
}
