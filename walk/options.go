package walk

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"grfgp/internal/enum"
	"grfgp/internal/parallel"
	"grfgp/sparse"
)

// ErrOptions is wrapped by every error about options that are out of range.
var ErrOptions = errors.New("bad options")

// Sampler is the way in which a row of features is estimated.
type Sampler int

const (
	// Repelling computes a row exactly while its support is small. From there walkers
	// are allotted to neighbours by systematic sampling, so that they spread out. It
	// is unbiased, with a smaller error than independent walks at the same number of
	// entries.
	Repelling Sampler = iota
	// Independent is the estimator of Algorithm 2: walks that are independent
	// of each other and halt at random.
	Independent
)

// Steps is the rule for the probability of a step from node i to node j.
type Steps int

const (
	// Proportional steps are drawn ∝ |W_ij|·v_j with v = Options.Scale. On
	// D^-½AD^-½ with v = √D the load of a walk from i to j telescopes to
	// √(D_i/D_j): bounded, whatever the weights on the way.
	Proportional Steps = iota
	// Uniform steps give every neighbour the same probability, as in the paper.
	Uniform
)

// Options of a run. A zero means zero, except in Hi and Scale: start from Default
// and change single fields.
type Options struct {
	Sampler Sampler `json:"sampler"` // zero: Repelling
	Steps   Steps   `json:"steps"`   // zero: Proportional
	Walks   int     `json:"walks"`   // walkers per node
	Halt    float64 `json:"halt"`    // probability that a walk ends before a step; Repelling never halts and ignores it
	MaxLen  int     `json:"max_len"` // L: lengths 0, 1, …, MaxLen are kept
	Budget  int     `json:"budget"`  // Repelling: a row is computed exactly while it has at most this many nodes
	// HubWalks is the least number of walkers per neighbour of the start node,
	// and half of the least Budget (Repelling). The load of a walk from i to j is
	// √(D_i/D_j), so the error of a row grows with D_i/walkers, and ‖φ_i‖² is above
	// K_ii by its square: with 100 walkers the variance of a hub of 1,000
	// neighbours is four times too high. One walker per neighbour bounds that for
	// every hub, and all nodes together have no more neighbours than edges.
	HubWalks float64   `json:"hub_walks,omitempty"`
	Seed     uint64    `json:"seed"`
	Scale    []float64 `json:"-"` // v for Proportional steps; nil means all ones
	// Strengths D make the matrix that is given A, and W = D^-½AD^-½: its entries are computed where they are
	// used, to the bits of graph.Graph.Normalized, so that A may be mapped from a file. Nil: the matrix is W.
	Strengths []float64 `json:"-"`
	// Rooted makes v = √D of the Strengths, in place of Scale and without its memory.
	Rooted bool `json:"-"`
	Lo     int  `json:"lo"`
	Hi     int  `json:"hi"` // start nodes [Lo, Hi), a shard of all rows; Hi = 0 means to the last node
}

// Upper limits of options: lengths and counts are stored in small integers.
const (
	MaxMaxLen = 254
	MaxWalks  = 1 << 24
	MaxBudget = 1 << 30
)

// Default returns the options that fit most graphs: lengths up to 10, and 100
// repelling walkers, or one per neighbour of the start node if it has more
// neighbours.
func Default() Options {
	return Options{Walks: 100, Halt: 0.1, MaxLen: 10, Budget: 200, HubWalks: 1, Seed: 1}
}

// validate checks o against the matrix and resolves Hi.
func (o *Options) validate(w *sparse.CSR) error {
	n, cols := w.Dims()
	if n != cols {
		return fmt.Errorf("%w: the matrix is %d×%d, not square", ErrOptions, n, cols)
	}
	if o.Hi == 0 {
		o.Hi = n
	}
	switch {
	case w.NNZ() > math.MaxUint32:
		return fmt.Errorf("%w: the matrix has %d entries, at most %d are possible", ErrOptions, w.NNZ(), uint32(math.MaxUint32))
	case !samplers.Valid(int(o.Sampler)):
		return fmt.Errorf("%w: unknown sampler %d", ErrOptions, o.Sampler)
	case !kinds.Valid(int(o.Steps)):
		return fmt.Errorf("%w: unknown kind of steps %d", ErrOptions, o.Steps)
	case o.Walks < 1 || o.Walks > MaxWalks:
		return fmt.Errorf("%w: %d walks a node, want 1 to %d", ErrOptions, o.Walks, MaxWalks)
	case !(o.Halt >= 0 && o.Halt < 1):
		return fmt.Errorf("%w: halting probability %v, want 0 ≤ p < 1", ErrOptions, o.Halt)
	case o.MaxLen < 0 || o.MaxLen > MaxMaxLen:
		return fmt.Errorf("%w: longest walk %d, want 0 to %d", ErrOptions, o.MaxLen, MaxMaxLen)
	case !(o.HubWalks >= 0 && o.HubWalks <= MaxWalks):
		return fmt.Errorf("%w: %v walks per neighbour, want 0 to %d", ErrOptions, o.HubWalks, MaxWalks)
	case o.Budget < 0 || o.Budget > MaxBudget:
		return fmt.Errorf("%w: budget %d, want 0 to %d", ErrOptions, o.Budget, MaxBudget)
	case o.Lo < 0 || o.Lo > o.Hi || o.Hi > n:
		return fmt.Errorf("%w: rows [%d, %d) of %d nodes", ErrOptions, o.Lo, o.Hi, n)
	case o.Strengths != nil && len(o.Strengths) != n:
		return fmt.Errorf("%w: there are %d strengths for %d nodes", ErrOptions, len(o.Strengths), n)
	case o.Rooted && (o.Strengths == nil || o.Scale != nil):
		return fmt.Errorf("%w: the roots of strengths are the scale, but there are no strengths, or there is another scale", ErrOptions)
	case o.Scale != nil && len(o.Scale) != n:
		return fmt.Errorf("%w: scale has %d entries for %d nodes", ErrOptions, len(o.Scale), n)
	}
	if i := firstBad(o.Strengths); i >= 0 {
		return fmt.Errorf("%w: the strength of node %d is %v, want a positive number", ErrOptions, i, o.Strengths[i])
	}
	if i := firstBad(o.Scale); i >= 0 {
		return fmt.Errorf("%w: scale of node %d is %v, want a positive number", ErrOptions, i, o.Scale[i])
	}
	return nil
}

// firstBad returns the place of the first number that is not positive and finite, -1 if all are.
func firstBad(x []float64) int {
	const numbers = 1 << 14
	found := make([]int, (len(x)+numbers-1)/numbers) // per block: its first, from 1; 0 if it has none
	parallel.Ranges(len(x), numbers, func(lo, hi int) {
		found[lo/numbers] = 1 + slices.IndexFunc(x[lo:hi], func(v float64) bool { return !(v > 0) || math.IsInf(v, 0) })
	})
	for b, i := range found {
		if i > 0 {
			return b*numbers + i - 1
		}
	}
	return -1
}

var (
	samplers = enum.New("sampler", "repelling", "independent", "ad-hoc")
	kinds    = enum.New("kind of steps", "proportional", "uniform")
)

// String returns the name of the sampler.
func (s Sampler) String() string { return samplers.Name(int(s)) }

// MarshalText returns the name.
func (s Sampler) MarshalText() ([]byte, error) { return samplers.Marshal(int(s)) }

// UnmarshalText reads the name.
func (s *Sampler) UnmarshalText(text []byte) error { return samplers.Unmarshal((*int)(s), text) }

// String returns the name of the kind of steps.
func (s Steps) String() string { return kinds.Name(int(s)) }

// MarshalText returns the name.
func (s Steps) MarshalText() ([]byte, error) { return kinds.Marshal(int(s)) }

// UnmarshalText reads the name.
func (s *Steps) UnmarshalText(text []byte) error { return kinds.Unmarshal((*int)(s), text) }
