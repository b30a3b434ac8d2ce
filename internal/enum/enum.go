// Package enum gives integer enumerations their names: one style for all of them.
//
//	type Solver int
//
//	const (
//		Exact Solver = iota
//		Iterative
//	)
//
//	var solvers = enum.New("solver", "exact", "iterative")
//
//	func (s Solver) String() string                   { return solvers.Name(int(s)) }
//	func (s Solver) MarshalText() ([]byte, error)     { return solvers.Marshal(int(s)) }
//	func (s *Solver) UnmarshalText(text []byte) error { return solvers.Unmarshal((*int)(s), text) }
package enum

import (
	"fmt"
	"slices"
	"strings"
)

// Enum holds the names of the values 0, 1, 2, ….
type Enum struct {
	kind  string
	names []string
}

// New returns the enumeration of a kind of thing.
func New(kind string, names ...string) Enum { return Enum{kind, names} }

// Names returns all names in the order of their values.
func (e Enum) Names() []string { return slices.Clone(e.names) }

// Valid reports whether v is a value.
func (e Enum) Valid(v int) bool { return v >= 0 && v < len(e.names) }

// Name returns the name of v.
func (e Enum) Name(v int) string {
	if !e.Valid(v) {
		return fmt.Sprintf("unknown %s (%d)", e.kind, v)
	}
	return e.names[v]
}

// Marshal returns the name of v, or an error if it is not a value.
func (e Enum) Marshal(v int) ([]byte, error) {
	if !e.Valid(v) {
		return nil, fmt.Errorf("%s", e.Name(v))
	}
	return []byte(e.names[v]), nil
}

// Unmarshal sets v to the value of a name.
func (e Enum) Unmarshal(v *int, name []byte) error {
	k := slices.Index(e.names, string(name))
	if k < 0 {
		return fmt.Errorf("no %s is called %q; there are %s", e.kind, name, strings.Join(e.names, ", "))
	}
	*v = k
	return nil
}
