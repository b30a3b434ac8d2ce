package kernel

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"grfgp/space"
)

// ErrTheta is wrapped by every error about values of hyperparameters.
var ErrTheta = errors.New("bad hyperparameters")

// checkTheta returns an error unless theta has a finite value for each
// parameter, positive where it must be.
func checkTheta(theta []float64, params []Param) error {
	if len(theta) != len(params) {
		return fmt.Errorf("%w: %d values for %d parameters", ErrTheta, len(theta), len(params))
	}
	for j, p := range params {
		switch v := theta[j]; {
		case math.IsNaN(v) || math.IsInf(v, 0):
			return fmt.Errorf("%w: %s is %v, want a finite number", ErrTheta, p.Name, v)
		case p.Positive && v <= 0:
			return fmt.Errorf("%w: %s is %v, want a positive number", ErrTheta, p.Name, v)
		}
	}
	return nil
}

// Theta are values of hyperparameters by their paths, such as graph/beta, in an order.
type Theta []Value

// Value is that of one hyperparameter.
type Value struct {
	Path   string
	Number float64
}

// ThetaOf returns one number for each of the parameters by their paths.
func ThetaOf(params []Param, numbers []float64) Theta {
	t := make(Theta, len(params))
	for j, p := range params {
		t[j] = Value{p.Name, numbers[j]}
	}
	return t
}

// ThetaNamed is ThetaOf for the paths themselves.
func ThetaNamed(paths []string, numbers []float64) Theta {
	t := make(Theta, len(paths))
	for j, p := range paths {
		t[j] = Value{p, numbers[j]}
	}
	return t
}

// Begin returns numbers for the parameters from which learning may begin: for each that of the first Theta that has its
// path, and its Start where none has.
func Begin(params []Param, from ...Theta) []float64 {
	numbers := startOf(params)
	for j, p := range params {
		for _, t := range from {
			if v, ok := t.Get(p.Name); ok {
				numbers[j] = v
				break
			}
		}
	}
	return numbers
}

// Get returns the number of a path, and whether there is one.
func (t Theta) Get(path string) (float64, bool) {
	for _, v := range t {
		if v.Path == path {
			return v.Number, true
		}
	}
	return 0, false
}

// Under returns what lies under a path, by the rest of the paths: beta for graph/beta under graph.
func (t Theta) Under(path string) Theta {
	var some Theta
	for _, v := range t {
		if rest, ok := strings.CutPrefix(v.Path, path+"/"); ok {
			some = append(some, Value{rest, v.Number})
		}
	}
	return some
}

// In is the inverse of Under.
func (t Theta) In(path string) Theta {
	all := slices.Clone(t)
	for j := range all {
		all[j].Path = path + "/" + all[j].Path
	}
	return all
}

// Without returns what does not lie under a path.
func (t Theta) Without(path string) Theta {
	return slices.DeleteFunc(slices.Clone(t), func(v Value) bool { return strings.HasPrefix(v.Path, path+"/") })
}

// Holds reports whether t has every value of other.
func (t Theta) Holds(other Theta) bool {
	return !slices.ContainsFunc(other, func(v Value) bool {
		own, ok := t.Get(v.Path)
		return !ok || own != v.Number
	})
}

// Named returns a kernel with its hyperparameters under a path: beta as name/beta. Terms of a Sum are told apart by it.
func Named(name string, k Kernel) Kernel {
	n := &named{Kernel: k, params: slices.Clone(k.Params())}
	for j, p := range n.params {
		n.params[j].Name = name + "/" + p.Name
	}
	return n
}

// named is a kernel with other names of its hyperparameters.
type named struct {
	Kernel
	params []Param
}

func (n *named) Params() []Param { return n.params }

func (n *named) Training() Training {
	return TrainingOf(n.Kernel).wrapped(func(k Kernel) Kernel { return &named{k, n.params} })
}

func (n *named) root(ctx context.Context, s space.Space, rows []int, opts RootOptions) (Root, error) {
	return RootOf(ctx, n.Kernel, s, rows, opts)
}
