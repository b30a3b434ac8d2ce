// Package gp is Gaussian process regression over any covariance on nodes: it
// learns hyperparameters, conditions on measurements, and gives means, variances
// and samples. It sees kernels and solvers, never a graph.
package gp

import (
	"errors"
	"fmt"
	"math"
	"slices"
)

// ErrData is wrapped by every error about measurements that cannot be modelled.
var ErrData = errors.New("gp: measurements cannot be modelled")

// Data are measurements: value Y[k] at node Nodes[k]. A node may be measured
// more than once.
type Data struct {
	Nodes    []int
	Y        []float64
	NoiseVar []float64 // variance of each measurement's noise; nil: one unknown noise for all
}

// Len returns the number of measurements.
func (d Data) Len() int { return len(d.Nodes) }

// Clone returns a copy that shares nothing.
func (d Data) Clone() Data {
	return Data{slices.Clone(d.Nodes), slices.Clone(d.Y), slices.Clone(d.NoiseVar)}
}

// Check says what is wrong with the data, for a kernel over so many nodes.
func (d Data) Check(nodes int) error {
	if len(d.Y) != len(d.Nodes) || d.NoiseVar != nil && len(d.NoiseVar) != len(d.Nodes) {
		return fmt.Errorf("%w: %d nodes, %d values and %d noise variances", ErrData, len(d.Nodes), len(d.Y), len(d.NoiseVar))
	}
	if len(d.Nodes) == 0 {
		return fmt.Errorf("%w: there are none", ErrData)
	}
	for k, i := range d.Nodes {
		switch {
		case i < 0 || i >= nodes:
			return fmt.Errorf("%w: measurement %d is at node %d of %d", ErrData, k, i, nodes)
		case math.IsNaN(d.Y[k]) || math.IsInf(d.Y[k], 0):
			return fmt.Errorf("%w: measurement %d is %v", ErrData, k, d.Y[k])
		case d.NoiseVar != nil && !(d.NoiseVar[k] >= 0 && d.NoiseVar[k] <= math.MaxFloat64):
			return fmt.Errorf("%w: noise variance of measurement %d is %v, want a finite number ≥ 0", ErrData, k, d.NoiseVar[k])
		}
	}
	return nil
}

// Units turn values into standardised ones, (y − Center)/Scale, and back.
type Units struct {
	Center float64 `json:"center"`
	Scale  float64 `json:"scale"`
}

// mostSpread is how far values may be from their mean: variances are squares, and
// predictions several standard deviations wide.
const mostSpread = 1e150

// unitsOf returns the mean and standard deviation (divisor n) of y.
func unitsOf(y []float64) (Units, error) {
	n := float64(len(y))
	mean := 0.0 // dividing before adding keeps sums of huge values finite
	for _, v := range y {
		mean += v / n
	}
	largest := 0.0
	for _, v := range y {
		largest = max(largest, math.Abs(v-mean))
	}
	constant := !slices.ContainsFunc(y, func(v float64) bool { return v != y[0] }) // whatever the mean is rounded to
	switch {
	case constant || largest == 0:
		return Units{}, fmt.Errorf("%w: all %d values are %v; a constant says nothing about how values vary over the graph", ErrData, len(y), y[0])
	case !(largest <= mostSpread) || math.IsInf(mean, 0):
		return Units{}, fmt.Errorf("%w: values are up to %.3g from their mean, too far for a variance to be a number; correct them, or give them in another unit", ErrData, largest)
	}
	sum := 0.0
	for _, v := range y {
		r := (v - mean) / largest
		sum += r * r
	}
	return Units{mean, largest * math.Sqrt(sum/n)}, nil
}

// standard returns the data in these units, as a copy: who keeps it does not
// follow what the caller does to d.
func (u Units) standard(d Data) Data {
	s := Data{Nodes: slices.Clone(d.Nodes), Y: make([]float64, len(d.Y))}
	for k, y := range d.Y {
		s.Y[k] = (y - u.Center) / u.Scale
	}
	if d.NoiseVar != nil {
		s.NoiseVar = make([]float64, len(d.NoiseVar))
		for k, v := range d.NoiseVar {
			s.NoiseVar[k] = v / u.Scale / u.Scale
		}
	}
	return s
}
