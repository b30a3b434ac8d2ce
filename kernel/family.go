package kernel

import (
	"cmp"
	"fmt"
	"math"
	"slices"
)

// Family is a kernel family with what its name stands for: formulas, and all that is to be known where kernels are
// chosen, learned and described. A file that registers one is all that a further family takes.
type Family struct {
	Name    string // one word
	Formula string // of K, for people
	// Of returns a member; it must be a Spectrum too for dense kernels, and for series without a cut-off.
	Of    func(m Member) (Modulation, error)
	Words func(m Member) string // a member in words; nil: Name

	Nu, Alpha bool // members differ by a smoothness ν, or by coefficients α
	Ended     bool // the longest walk is part of the family, whatever the representation
	Length    int  // the power of the second hyperparameter, a length, that multiplies the Laplacian; 0: it is a function of W
	Coarse    bool // coarser scales have the same family; otherwise diffusion, as families without a length need it

	// Starts are hyperparameters from which learning on one scale starts, the shortest reach first; nil: the Start of every Param.
	Starts [][]float64
	// Apart returns hyperparameters by which neighbours may differ, given the coefficients of another family: the members
	// are unusual, and tried beside the others where the choice is open; nil: neighbours are alike.
	Apart func(coeffs []float64) [][]float64
	// Reach is the number of hops beyond which K is exactly zero, math.MaxInt within a component; nil: unknown.
	Reach func(m Member) int
	// Miss is the error of a member that is cut off at so many hops, of its largest eigenvalue; nil: that of the tail of
	// walks, as usual.
	Miss  func(m Modulation, hops int) float64
	Tried []Tried // members that are compared where the choice is left open
}

// Member says which member of a family is meant, as far as the family has several.
type Member struct {
	Nu    float64   // smoothness
	Alpha []float64 // coefficients of a power series
	Hops  int       // longest walk, of families that end there
}

// Tried is a member of a family that is tried if its smoothness is left open; if the family is too, where it has a
// place above 0 among the kernels for values, or for classes.
type Tried struct {
	Nu              float64
	Values, Classes int
}

var registered []Family

// Register adds a family, with the variance as first hyperparameter if it has one; it is called from init functions. It
// panics if the name is taken.
func Register(f Family) {
	if _, taken := FamilyNamed(f.Name); taken || f.Name == "" || f.Of == nil {
		panic(fmt.Sprintf("kernel: a family %q without members, or a second one of that name", f.Name))
	}
	if len(f.Tried) == 0 {
		f.Tried = []Tried{{}}
	}
	registered = append(registered, f)
}

// Families returns all families.
func Families() []Family { return slices.Clone(registered) }

// FamilyNamed returns the family of a name, and whether there is one.
func FamilyNamed(name string) (Family, bool) {
	k := slices.IndexFunc(registered, func(f Family) bool { return f.Name == name })
	if k < 0 {
		return Family{}, false
	}
	return registered[k], true
}

// FamilyNames returns the names of the families that satisfy a condition; nil: of all.
func FamilyNames(of func(f Family) bool) []string {
	var names []string
	for _, f := range registered {
		if of == nil || of(f) {
			names = append(names, f.Name)
		}
	}
	return names
}

// TakesNu reports whether members differ by a smoothness.
func (f Family) TakesNu() bool { return f.Nu }

// TakesAlpha reports whether members differ by coefficients.
func (f Family) TakesAlpha() bool { return f.Alpha }

// Automatic returns the members of all families that are tried where the choice is open, in the order of the places that
// of returns; 0: not tried.
func Automatic(of func(t Tried) int) []Expression {
	places := map[Expression]int{}
	var all []Expression
	for _, f := range registered {
		for _, t := range f.Tried {
			if e := (Expression{Family: f.Name, Nu: t.Nu}); of(t) > 0 {
				all, places[e] = append(all, e), of(t)
			}
		}
	}
	slices.SortStableFunc(all, func(a, b Expression) int { return cmp.Compare(places[a], places[b]) })
	return all
}

// String returns the name of a member in words.
func (f Family) String(m Member) string {
	if f.Words == nil {
		return f.Name
	}
	return f.Words(m)
}

// OnUnit returns a member on a Laplacian unit·(I − W) in place of I − W.
func (f Family) OnUnit(m Modulation, unit float64) Modulation {
	if f.Length == 0 {
		return m
	}
	return Stretch(m, math.Pow(unit, 1/float64(f.Length)))
}

// everywhere is the Reach of kernels that join all nodes of a component.
func everywhere(Member) int { return math.MaxInt }
