package covariate

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/mat"

	"grfgp/internal/parallel"
	"grfgp/internal/rng"
)

// ErrColumns is wrapped by the errors about columns that cannot be encoded.
var ErrColumns = errors.New("covariates cannot be used")

// Options are the choices of Encode. The zero value is good for most data.
type Options struct {
	Kinds     map[string]Kind // kinds of columns, where those that were detected are wrong
	MaxLevels int             // levels of a category that get a column of their own, the commonest; 0 means 50
	MaxDense  int             // columns of Set.X at most; 0 means 20,000
	MaxBytes  int             // bytes of Set.X at most; 0 means 4 GiB
}

func (o Options) withDefaults() Options {
	o.MaxLevels = cmp.Or(o.MaxLevels, 50)
	o.MaxDense = cmp.Or(o.MaxDense, 20_000)
	o.MaxBytes = cmp.Or(o.MaxBytes, 4<<30)
	return o
}

// manyColumns is the number of source columns beyond which columns of a kind share a group.
const manyColumns = 30

// dense is a column of Set.X to be.
type dense struct {
	name    string
	reading Reading
	source  int // number of the source column
	at      func(i int) float64
}

// plan is what becomes of one source column.
type plan struct {
	dense []dense
	notes []note
}

// note is a sentence about a column.
type note struct {
	column string
	text   string
	format string // equal for sentences that say the same of different columns
}

// note adds a sentence, which begins with the name of a column.
func (p *plan) note(format, column string, args ...any) {
	p.notes = append(p.notes, note{column, fmt.Sprintf(format, append([]any{column}, args...)...), format})
}

// Of more than tooAlike columns that have the same note, the first is told in full, and
// the others are counted, some by name.
const (
	tooAlike  = 12
	likeNamed = 3
)

// told returns notes as sentences.
func told(notes []note) []string {
	alike := map[string][]string{} // columns by format
	for _, n := range notes {
		alike[n.format] = append(alike[n.format], n.column)
	}
	var out []string
	seen := map[string]bool{}
	for _, n := range notes {
		others := alike[n.format]
		switch {
		case len(others) <= tooAlike:
			out = append(out, n.text)
		case !seen[n.format]:
			seen[n.format] = true
			out = append(out, fmt.Sprintf("%s; likewise %s more columns: %s and so on", n.text, grouped(len(others)-1),
				strings.Join(others[1:1+likeNamed], ", ")))
		}
	}
	return out
}

// Encode turns columns into numbers. It looks at all nodes and at no measurement, so
// that held-out measurements stay unseen. The result does not depend on the order of
// the nodes: with the rows of all columns permuted, the rows of the set are permuted
// and have the same bits. Errors wrap ErrColumns.
//
// The rules are in the documentation of the package; Set.Notes says what they led to.
func Encode(columns []Column, nodes int, opts Options) (*Set, error) {
	opts = opts.withDefaults()
	columns, err := prepare(columns, nodes, opts)
	if err != nil {
		return nil, err
	}
	s := &Set{Nodes: nodes}
	for _, c := range columns {
		s.Sources = append(s.Sources, c.Name)
	}
	plans := make([]plan, len(columns))
	for levels := opts.MaxLevels; ; levels /= 2 {
		parallel.Ranges(len(columns), 1, func(lo, hi int) {
			for k := lo; k < hi; k++ {
				plans[k] = planColumn(columns[k], k, levels)
			}
		})
		need := 0
		for _, p := range plans {
			need += len(p.dense)
		}
		if need <= opts.MaxDense && need <= opts.MaxBytes/8/max(1, nodes) {
			break
		}
		if levels < 4 {
			return nil, fmt.Errorf("%w: they make %s for %s (at most %s and %d MiB fit); name fewer of them, or give a list of words instead of "+
				"one column per word",
				ErrColumns, grouped(need)+" columns of numbers", counted(nodes, "nodes"), grouped(opts.MaxDense), opts.MaxBytes>>20)
		}
		if levels == opts.MaxLevels {
			s.Notes = append(s.Notes, "the levels of categories are pooled more than usual, because there are too many columns")
		}
	}
	var all []dense
	for _, p := range plans {
		all = append(all, p.dense...)
	}
	all, doubles := withoutDoubles(all, nodes)
	var notes []note
	for k, p := range plans {
		notes = append(append(notes, p.notes...), doubles[k]...)
	}
	s.Notes = append(s.Notes, told(notes)...)
	s.fill(all)
	s.groups(columns, all)
	s.words(columns)
	return s, nil
}

// prepare checks the columns, and changes the kinds of those that Options.Kinds names.
func prepare(columns []Column, nodes int, opts Options) ([]Column, error) {
	if nodes < 0 {
		return nil, fmt.Errorf("%w: %d nodes", ErrColumns, nodes)
	}
	seen := map[string]bool{}
	out := slices.Clone(columns)
	for k, c := range out {
		if seen[c.Name] {
			return nil, fmt.Errorf("%w: two columns are called %q; give each its own name", ErrColumns, c.Name)
		}
		seen[c.Name] = true
		if err := c.Check(nodes); err != nil {
			return nil, fmt.Errorf("%w: %w", ErrColumns, err)
		}
		if kind, ok := opts.Kinds[c.Name]; ok {
			var err error
			if out[k], err = c.As(kind); err != nil {
				return nil, fmt.Errorf("%w: %w", ErrColumns, err)
			}
		}
	}
	for name := range opts.Kinds {
		if !seen[name] {
			return nil, fmt.Errorf("%w: %w", ErrColumns, unknown(columns, name))
		}
	}
	return out, nil
}

// planColumn decides what becomes of a column.
func planColumn(c Column, source, levels int) (p plan) {
	for _, text := range c.Notes {
		p.notes = append(p.notes, note{c.Name, text, strings.TrimPrefix(text, c.Name)})
	}
	switch c.Kind {
	case Number, Date:
		planNumbers(&p, c)
	case Category:
		planCategory(&p, c, levels)
	case Identifier:
		p.note("%s: left out: nearly one value per node (%s)", c.Name, counted(c.Distinct, "distinct values"))
	case Empty:
		if len(c.Notes) == 0 {
			p.note("%s: left out: no values", c.Name)
		}
	}
	for j := range p.dense {
		p.dense[j].source = source
	}
	return p
}

// few is the number of nodes that a level, or missing values, need for a column of
// their own: a twentieth of the nodes, at least 2, at most 5.
func few(nodes int) int { return max(2, min(5, nodes/20)) }

// planAbsent adds a column that says where a value is missing, if enough are: few
// nodes and one in a hundred at least.
func planAbsent(p *plan, c Column, missing int) {
	n := c.Len()
	switch {
	case missing == 0:
		return
	case missing < few(n) || 100*missing < n || missing > n-few(n):
		p.note("%s: %s of %s missing, taken as the mean", c.Name, grouped(missing), grouped(n))
		return
	}
	p.note("%s: %s of %s missing, taken as the mean, with a column that says where", c.Name, grouped(missing), grouped(n))
	p.add(c.Name+" missing", indicator(Reading{Column: c.Name, Form: Absent, Missing: missing}, missing, n, math.Sqrt2),
		func(i int) bool { return !c.Has(i) })
}

// indicator completes the reading of a column that is size at count of n nodes and 0
// elsewhere, less the mean.
func indicator(r Reading, count, n int, size float64) Reading {
	r.Center, r.Scale = float64(count)/float64(n), 1/size
	return r
}

// add plans a column of zeros and ones.
func (p *plan) add(name string, r Reading, is func(i int) bool) {
	no, yes := -r.Center/r.Scale, (1-r.Center)/r.Scale
	p.dense = append(p.dense, dense{name: name, reading: r, at: func(i int) float64 {
		if is(i) {
			return yes
		}
		return no
	}})
}

// fill computes X.
func (s *Set) fill(all []dense) {
	if len(all) == 0 || s.Nodes == 0 {
		return
	}
	s.X = mat.NewDense(s.Nodes, len(all), nil)
	parallel.Ranges(s.Nodes, 256, func(lo, hi int) {
		for j, d := range all { // a source column is read through, block by block
			for i := lo; i < hi; i++ {
				s.X.Set(i, j, d.at(i))
			}
		}
	})
	for _, d := range all {
		s.Names = append(s.Names, d.name)
		s.Readings = append(s.Readings, d.reading)
	}
}

// groups numbers the groups of columns that share hyperparameters.
func (s *Set) groups(columns []Column, all []dense) {
	sources := 0
	for j := range s.Names {
		if j == 0 || all[j].source != all[j-1].source {
			sources++
		}
	}
	name := func(c Column) string { return c.Name }
	if sources > manyColumns {
		name = func(c Column) string {
			if c.Kind == Category {
				return "categories"
			}
			return "numbers"
		}
		s.Notes = append(s.Notes, fmt.Sprintf("%s: all numbers share one relevance, and all categories another", counted(sources, "columns")))
	}
	number := map[string]int{}
	for j := range s.Names {
		of := name(columns[all[j].source])
		g, ok := number[of]
		if !ok {
			g = len(s.Groups)
			number[of] = g
			s.Groups = append(s.Groups, of)
		}
		s.Group = append(s.Group, g)
	}
}

// same is the correlation, whatever its sign, beyond which a column adds nothing to another.
const same = 1 - 1e-9

// withoutDoubles drops columns that are multiples of earlier ones, and says so, by source.
//
// Columns of unit length that nearly agree have nearly the same product with any
// vector. Sorted by the product with a random one, the few neighbours of a column are
// candidates, and only these are compared. What is dropped does not depend on the vector.
func withoutDoubles(all []dense, nodes int) ([]dense, map[int][]note) {
	type shape struct{ mean, norm, product float64 }
	shapes := make([]shape, len(all))
	key := rng.Derive(1, "covariate doubles")
	probe := make([]float64, nodes)
	for i := range probe {
		stream := key.At(uint64(i))
		probe[i] = stream.Float64() - 0.5
	}
	parallel.Ranges(len(all), 1, func(lo, hi int) {
		for j := lo; j < hi; j++ {
			var sum, squares, product, probes float64
			for i, r := range probe {
				v := all[j].at(i)
				sum += v
				squares += v * v
				product += r * v
				probes += r
			}
			mean := sum / float64(nodes)
			norm := math.Sqrt(max(0, squares-sum*mean))
			shapes[j] = shape{mean, norm, math.Abs(product-mean*probes) / norm}
		}
	})
	order := make([]int, len(all))
	for j := range order {
		order[j] = j
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Or(cmp.Compare(shapes[a].product, shapes[b].product), a-b) })

	// Unit vectors of correlation 1 − ε are √(2ε) apart, so their products with the probe,
	// whose entries have variance 1/12, differ by √(ε/6) in the root mean square: 20 times that is safe.
	window := 20 * math.Sqrt((1-same)/6)
	correlated := func(a, b int) bool {
		dot := 0.0
		for i := range nodes {
			dot += (all[a].at(i) - shapes[a].mean) * (all[b].at(i) - shapes[b].mean)
		}
		return math.Abs(dot) > same*shapes[a].norm*shapes[b].norm
	}
	twin := make([]int, len(all)) // the first column that it is a multiple of, or itself
	for j := range twin {
		twin[j] = j
	}
	for p, a := range order {
		for _, b := range order[p+1:] {
			if shapes[b].product-shapes[a].product > window {
				break
			}
			if first, second := min(a, b), max(a, b); twin[second] == second && correlated(first, second) {
				twin[second] = first
			}
		}
	}
	var kept []dense
	notes := map[int][]note{}
	for j, d := range all {
		first := j
		for twin[first] != first {
			first = twin[first]
		}
		if first == j {
			kept = append(kept, d)
			continue
		}
		const format = "%s: left out: the same as %s"
		notes[d.source] = append(notes[d.source], note{d.name, fmt.Sprintf(format, d.name, all[first].name), format})
	}
	return kept, notes
}
