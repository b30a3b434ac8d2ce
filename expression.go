package grfgp

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"grfgp/kernel"
	"grfgp/walk"
)

// Expression is the part of a Spec that describes the kernel: see kernel.Expression.
type Expression = kernel.Expression

// Terms are the terms of a kernel.
type Terms = kernel.Terms

// The terms of kernels.
const (
	GraphTerm     = kernel.GraphTerm
	CovariateTerm = kernel.CovariateTerm
	RoleTerm      = kernel.RoleTerm
	ProductTerm   = kernel.ProductTerm

	knownTerms = kernel.KnownTerms
)

// normalized is the default of Expression.Laplacian.
const normalized = kernel.Usual

var (
	methodNames    = []string{"dense", "series", "grf", "lowrank"}
	scaleNames     = []string{"one", "many"}
	varianceNames  = []string{"natural", "unit"}
	trendNames     = []string{"none", "degree"}
	laplacianNames = []string{normalized, "raw", "signless"}
)

// Families returns the values of Expression.Family: the names of all families that kernel.Register knows.
func Families() []string { return kernel.FamilyNames(nil) }

// Methods returns the values of Expression.Method.
func Methods() []string { return slices.Clone(methodNames) }

// Scales returns the values of Expression.Scales.
func Scales() []string { return slices.Clone(scaleNames) }

// Variances returns the values of Expression.Variance.
func Variances() []string { return slices.Clone(varianceNames) }

// Trends returns the values of Expression.Trend.
func Trends() []string { return slices.Clone(trendNames) }

// Laplacians returns the values of Expression.Laplacian, the matrix L in kernels such as
// exp(−βL). With the weight matrix A and the diagonal matrix D of its row sums,
//
//	normalized  I − D^-½ A D^-½
//	signless    I + D^-½ A D^-½: neighbours are negatively correlated
//	raw         (D − A)/d̄, with d̄ the mean of D_i − A_ii over nodes with neighbours
//
// Divided by d̄, the raw Laplacian has the mean eigenvalue one, as the others have. So
// β and κ have the same starting values for all three and do not depend on the unit of
// the weights.
func Laplacians() []string { return slices.Clone(laplacianNames) }

// checkFamily returns an error if the family does not exist, or does not go with the rest.
func (s Spec) checkFamily() error {
	f, known := kernel.FamilyNamed(s.Family)
	switch {
	case s.Family != "" && !known:
		return fmt.Errorf("%w: no family is called %q; there are %s", ErrSpec, s.Family, strings.Join(Families(), ", "))
	case !(s.Nu >= 0 && s.Nu <= math.MaxFloat64) || s.Nu > 0 && !f.Nu:
		return fmt.Errorf("%w: ν = %v: only the family %s has it, and it must be positive and finite", ErrSpec, s.Nu,
			strings.Join(kernel.FamilyNames(kernel.Family.TakesNu), " or "))
	case len(s.Alpha) > 0 && !f.Alpha:
		return fmt.Errorf("%w: only the family %s has coefficients α", ErrSpec,
			strings.Join(kernel.FamilyNames(kernel.Family.TakesAlpha), " or "))
	case !known:
		return nil
	}
	m, err := f.Of(s.member(s.Expression))
	if err != nil {
		return fmt.Errorf("%w: the family %s: %w", ErrSpec, s.Family, err)
	}
	if _, exact := m.(kernel.Spectrum); s.Method == "dense" && !exact {
		return fmt.Errorf("%w: the method dense needs a kernel.Spectrum, which the family %q is not; use series or grf", ErrSpec, s.Family)
	}
	return nil
}

// checkExpression returns an error unless names and numbers of the kernel are some that exist, and go together.
func (s Spec) checkExpression() error {
	if err := s.checkFamily(); err != nil {
		return err
	}
	for _, c := range []struct {
		what, name string
		names      []string
	}{
		{"scales", s.Scales, scaleNames}, {"variances", s.Variance, varianceNames},
		{"trends", s.Trend, trendNames}, {"Laplacians", s.Laplacian, laplacianNames},
	} {
		if c.name != "" && !slices.Contains(c.names, c.name) {
			return fmt.Errorf("%w: %s are %s, not %q", ErrSpec, c.what, strings.Join(c.names, " or "), c.name)
		}
	}
	switch low := s.Method == "lowrank"; {
	case s.Method != "" && !slices.Contains(methodNames, s.Method):
		return fmt.Errorf("%w: no method is called %q; there are %s", ErrSpec, s.Method, strings.Join(methodNames, ", "))
	case low && s.Many():
		return fmt.Errorf("%w: lowrank has one scale; for many use grf, series or dense", ErrSpec)
	case s.Unit() && (low || !s.scaled()):
		return fmt.Errorf("%w: unit variance works neither with the method lowrank nor with families that have no variance, such as free; use "+
			"the natural variance", ErrSpec)
	case low && s.Trending():
		return fmt.Errorf("%w: lowrank has no trend; for one use grf, series or dense", ErrSpec)
	case s.Pairs < 0:
		return fmt.Errorf("%w: %d pairs of Fourier features; want 0 or more", ErrSpec, s.Pairs)
	case s.Hops < 0 || s.Hops > walk.MaxMaxLen:
		return fmt.Errorf("%w: %d hops, want 1 to %d", ErrSpec, s.Hops, walk.MaxMaxLen)
	}
	switch of := s.Terms; {
	case of&^(GraphTerm|knownTerms|ProductTerm) != 0:
		return fmt.Errorf("%w: no terms of a kernel are %d; there are %s", ErrSpec, of, strings.Join(kernel.TermNames(), ", "))
	case of != 0 && of&(GraphTerm|knownTerms) == 0, of.Has(ProductTerm) && (of&knownTerms == 0 || !of.Has(GraphTerm)):
		return fmt.Errorf("%w: a product needs the graph and covariates or roles", ErrSpec)
	case of&^GraphTerm != 0 && s.Method == "lowrank":
		return fmt.Errorf("%w: the method lowrank has neither covariates nor roles; use grf, series or dense", ErrSpec)
	case of.Has(RoleTerm) && s.Roles == "none":
		return fmt.Errorf("%w: the terms have roles, and roles are none; leave one of them out", ErrSpec)
	case of != 0 && !of.Has(GraphTerm) && s.Trending():
		return fmt.Errorf("%w: a trend with the degree belongs to the term graph; add it, or use roles", ErrSpec)
	}
	return nil
}

// member returns which member of its family an expression names, with the coefficients of the Spec.
func (s Spec) member(e Expression) kernel.Member {
	return kernel.Member{Nu: e.Nu, Alpha: s.Alpha, Hops: cmp.Or(e.Hops, walk.Default().MaxLen)}
}

// modulation returns the family of an expression by its coefficients; nil if there is none, or Check refuses it.
func (s Spec) modulation(e Expression) (kernel.Family, kernel.Modulation) {
	f, known := kernel.FamilyNamed(e.Family)
	if !known {
		return f, nil
	}
	m, err := f.Of(s.member(e))
	if err != nil {
		return f, nil
	}
	return f, m
}

// exact reports whether the family, if it is given, has eigenvalues of its own, as exact representations need them.
func (s Spec) exact() bool {
	_, m := s.modulation(s.Expression)
	_, exact := m.(kernel.Spectrum)
	return m == nil || exact
}

// scaled reports whether the family, if it is given, has a variance of its own.
func (s Spec) scaled() bool {
	_, m := s.modulation(s.Expression)
	return m == nil || m.Params()[0].Variance
}

// cutOff reports whether every representation of the family is cut off at a
// longest walk, because it has no exact series.
func (s Spec) cutOff() bool {
	f, m := s.modulation(s.Expression)
	return m != nil && (f.Ended || !s.exact())
}

// complete reports whether a Spec determines the kernel.
func (s Spec) complete() bool {
	f, _ := kernel.FamilyNamed(s.Family)
	return s.Family != "" && s.Terms != 0 && s.Method != "" && s.Scales != "" && s.Trend != "" && s.Variance != "" && s.Laplacian != "" &&
		(s.Nu > 0 || !f.Nu) && (s.Hops > 0 || s.Method == "dense" || s.Method == "series" && !s.cutOff())
}

// filled returns the Spec of a kernel.
func (s Spec) filled(e Expression) Spec {
	s.Expression = e
	return s
}

// members returns the members of families that the Spec leaves open; of all families those to which place gives one.
func (s Spec) members(place func(t kernel.Tried) int) []Expression {
	laplacian := cmp.Or(s.Laplacian, normalized)
	f, known := kernel.FamilyNamed(s.Family)
	var all []Expression
	if !known {
		for _, e := range kernel.Automatic(place) {
			e.Laplacian = laplacian
			all = append(all, e)
		}
		return all
	}
	for _, t := range f.Tried {
		if all = append(all, Expression{Family: f.Name, Nu: cmp.Or(s.Nu, t.Nu), Laplacian: laplacian}); s.Nu > 0 {
			break
		}
	}
	return all
}

// forValues and forClasses are the places of families among the kernels that are tried for measurements and for labels, whose
// kernels are smooth, because neighbouring nodes usually share a class.
func forValues(t kernel.Tried) int  { return t.Values }
func forClasses(t kernel.Tried) int { return t.Classes }
