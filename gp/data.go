package gp

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"grfgp/internal/parallel"
)

// ErrData is wrapped by every error about measurements that cannot be modelled.
var ErrData = errors.New("measurements cannot be modelled")

// Data are measurements: value Y[k] at node Nodes[k]. A node may be measured
// more than once.
//
// A value may be the mean of n repeated measurements with one noise variance σ²; it
// then has the noise variance σ²/n. If their scatter is known as well, the mean is
// a sufficient statistic: a model learns and predicts as from all measurements one
// by one.
type Data struct {
	Nodes    []int
	Y        []float64
	NoiseVar []float64 // variance of the noise of each value; nil: σ² over Count, with one σ² for all measurements
	Count    []int     // number of measurements of which each value is the mean; nil: one each
	Scatter  []float64 // sum of squared deviations of these measurements from the value; nil: not known; not used with NoiseVar
	// of counts: expected number of events, or time at risk; of shares: number of trials, of which Y are positive; nil: 1 each
	Exposure []float64
}

// Len returns the number of values.
func (d Data) Len() int { return len(d.Nodes) }

// Measurements returns the number of measurements: of all those that values are means of.
func (d Data) Measurements() int {
	n := d.Len()
	for _, of := range d.Count {
		n += of - 1
	}
	return n
}

// count returns the number of measurements that value k is the mean of.
func (d Data) count(k int) float64 {
	if d.Count == nil {
		return 1
	}
	return float64(d.Count[k])
}

// scatter returns the sum of squared deviations behind value k, 0 if not known.
func (d Data) scatter(k int) float64 {
	if d.Scatter == nil {
		return 0
	}
	return d.Scatter[k]
}

// single reports whether every value is one measurement.
func (d Data) single() bool {
	return !slices.ContainsFunc(d.Count, func(n int) bool { return n > 1 })
}

// Clone returns a deep copy.
func (d Data) Clone() Data {
	return Data{slices.Clone(d.Nodes), slices.Clone(d.Y), slices.Clone(d.NoiseVar), slices.Clone(d.Count), slices.Clone(d.Scatter),
		slices.Clone(d.Exposure)}
}

// Select returns a copy of some of the values, in the order of rows.
func (d Data) Select(rows []int) Data {
	return Data{chosen(d.Nodes, rows), chosen(d.Y, rows), chosen(d.NoiseVar, rows), chosen(d.Count, rows), chosen(d.Scatter, rows),
		chosen(d.Exposure, rows)}
}

func chosen[T any](all []T, rows []int) []T {
	if all == nil {
		return nil
	}
	some := make([]T, len(rows))
	for k, r := range rows {
		some[k] = all[r]
	}
	return some
}

// Slice returns the values [lo, hi). They are shared with d.
func (d Data) Slice(lo, hi int) Data {
	return Data{part(d.Nodes, lo, hi), part(d.Y, lo, hi), part(d.NoiseVar, lo, hi), part(d.Count, lo, hi), part(d.Scatter, lo, hi),
		part(d.Exposure, lo, hi)}
}

func part[T any](all []T, lo, hi int) []T {
	if all == nil {
		return nil
	}
	return all[lo:hi:hi]
}

// Append returns the values of d and then those of e. Noise variances go with all
// of them or with none, and so does the scatter of means.
func (d Data) Append(e Data) (Data, error) {
	switch {
	case d.Len() == 0:
		return e.Clone(), nil
	case e.Len() == 0:
		return d, nil
	case (d.NoiseVar == nil) != (e.NoiseVar == nil):
		return Data{}, fmt.Errorf("%w: noise variances go with all measurements or with none", ErrData)
	case d.Scatter == nil && e.Scatter != nil && !d.single(), e.Scatter == nil && d.Scatter != nil && !e.single():
		return Data{}, fmt.Errorf("%w: the scatter of repeated measurements goes with all means or with none", ErrData)
	}
	return Data{
		append(d.Nodes, e.Nodes...), append(d.Y, e.Y...), append(d.NoiseVar, e.NoiseVar...),
		joined(d.Count, e.Count, d.Len(), e.Len(), 1), joined(d.Scatter, e.Scatter, d.Len(), e.Len(), 0),
		joined(d.Exposure, e.Exposure, d.Len(), e.Len(), 1),
	}, nil
}

// joined appends b, of m numbers, to a, of n; a list that is nil stands for so
// many times usual.
func joined[T any](a, b []T, n, m int, usual T) []T {
	if a == nil && b == nil {
		return nil
	}
	if a == nil {
		a = slices.Repeat([]T{usual}, n)
	}
	if b == nil {
		b = slices.Repeat([]T{usual}, m)
	}
	return append(a, b...)
}

// Pool returns one value for each node, the mean of all its measurements with
// their number and scatter, in order of first appearance. The mean is a sufficient
// statistic, because all measurements have one noise variance. Pool returns d
// unchanged if measurements have noise variances of their own, if they are means
// of unknown scatter, or if no node repeats. It is for Gaussian values, and returns
// those with an exposure unchanged: see PoolSums. d must pass Check.
func (d Data) Pool() Data {
	if d.NoiseVar != nil || d.Exposure != nil || d.Scatter == nil && !d.single() {
		return d
	}
	if !d.repeats() {
		return d
	}
	at := map[int]int{} // node → its place in p
	p := Data{Count: []int{}, Scatter: []float64{}}
	for k, i := range d.Nodes {
		r, again := at[i]
		if !again {
			at[i] = p.Len()
			p.Nodes, p.Y = append(p.Nodes, i), append(p.Y, d.Y[k])
			p.Count, p.Scatter = append(p.Count, int(d.count(k))), append(p.Scatter, d.scatter(k))
			continue
		}
		n, m := p.count(r), d.count(k)
		gap := d.Y[k] - p.Y[r]
		p.Y[r] += gap * m / (n + m)
		p.Scatter[r] += d.scatter(k) + gap*gap*n*m/(n+m)
		p.Count[r] += int(m)
	}
	return p
}

// repeats reports whether a node occurs more than once. A mark per node is cheaper
// than a map.
func (d Data) repeats() bool {
	if d.Len() == 0 {
		return false
	}
	seen := make([]bool, slices.Max(d.Nodes)+1)
	for _, i := range d.Nodes {
		if seen[i] {
			return true
		}
		seen[i] = true
	}
	return false
}

// Check returns an error, which wraps ErrData, unless the data fit a kernel on the
// given number of nodes. CheckValues checks what depends on the kind of values.
func (d Data) Check(nodes int) error {
	n := len(d.Nodes)
	for _, list := range []struct {
		what string
		len  int
		none bool
	}{
		{"values", len(d.Y), false}, {"noise variances", len(d.NoiseVar), d.NoiseVar == nil},
		{"counts of measurements", len(d.Count), d.Count == nil}, {"scatters of measurements", len(d.Scatter), d.Scatter == nil},
		{"exposures", len(d.Exposure), d.Exposure == nil},
	} {
		if !list.none && list.len != n {
			return fmt.Errorf("%w: %d nodes and %d %s", ErrData, n, list.len, list.what)
		}
	}
	if n == 0 {
		return fmt.Errorf("%w: there are none", ErrData)
	}
	exact := map[int]int{} // node → value without noise
	for k, i := range d.Nodes {
		if d.NoiseVar != nil && d.NoiseVar[k] == 0 {
			if before, again := exact[i]; again {
				return fmt.Errorf("%w: measurements %d and %d are both at node %d and both without noise; leave one of them out, or give them a noise",
					ErrData, before, k, i)
			}
			exact[i] = k
		}
		switch {
		case i < 0 || i >= nodes:
			return fmt.Errorf("%w: measurement %d is at node %d of %d", ErrData, k, i, nodes)
		case math.IsNaN(d.Y[k]) || math.IsInf(d.Y[k], 0):
			return fmt.Errorf("%w: measurement %d is %v", ErrData, k, d.Y[k])
		case d.NoiseVar != nil && !(d.NoiseVar[k] >= 0 && d.NoiseVar[k] <= math.MaxFloat64):
			return fmt.Errorf("%w: noise variance of measurement %d is %v, want a finite number ≥ 0", ErrData, k, d.NoiseVar[k])
		case d.Count != nil && d.Count[k] < 1:
			return fmt.Errorf("%w: measurement %d is the mean of %d measurements, want 1 or more", ErrData, k, d.Count[k])
		case !(d.scatter(k) >= 0 && d.scatter(k) <= math.MaxFloat64):
			return fmt.Errorf("%w: the scatter of the measurements behind mean %d is %v, want a finite number ≥ 0", ErrData, k, d.scatter(k))
		case !(d.exposure(k) > 0 && d.exposure(k) <= math.MaxFloat64):
			return fmt.Errorf("%w: the exposure of measurement %d, at node %d, is %v, want a finite number above 0; leave out measurements "+
				"without exposure", ErrData, k, i, d.exposure(k))
		case d.scatter(k) > 0 && d.count(k) == 1:
			return fmt.Errorf("%w: measurement %d is a single one, which has no scatter, but %v is given", ErrData, k, d.scatter(k))
		}
	}
	return nil
}

// within returns the log density of the scatter of repeated measurements about
// their means,
//
//	−½ Σ_k [(n_k − 1) log 2πσ² + log n_k + Scatter_k/σ²],
//
// and its derivative by σ². Together with the density of the means, each of noise
// σ²/n_k, it is the density of all measurements.
func (d Data) within(noise float64) (value, slope float64) {
	if d.Scatter == nil || d.NoiseVar != nil || noise == 0 {
		return 0, 0
	}
	for k, scatter := range d.Scatter {
		n := d.count(k)
		value -= ((n-1)*math.Log(2*math.Pi*noise) + math.Log(n) + scatter/noise) / 2
		slope -= ((n - 1) - scatter/noise) / noise / 2
	}
	return value, slope
}

// noises returns the noise variance of every value, where one measurement has the
// given variance.
func noises(d Data, noise float64) []float64 {
	if d.NoiseVar != nil {
		return d.NoiseVar
	}
	all := make([]float64, d.Len())
	parallel.Ranges(len(all), 1<<14, func(lo, hi int) {
		if d.Count == nil {
			for k := lo; k < hi; k++ {
				all[k] = noise
			}
			return
		}
		for k := lo; k < hi; k++ {
			all[k] = noise / d.count(k)
		}
	})
	return all
}
