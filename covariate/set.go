package covariate

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"hash"
	"math"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/mat"

	"grfgp/sparse"
)

// Set is what kernels use: columns of numbers and words, one row per node. A Set is
// not changed once it is made and is safe for concurrent use.
type Set struct {
	Nodes int
	// X has a row per node. Every number is finite and within ±4, and 0 is the mean of
	// a column, which missing values get. It is nil if there are no such columns.
	X        *mat.Dense
	Names    []string  // of the columns of X, such as "capacity" or "type=3"
	Readings []Reading // how to read an effect of a column of X
	Group    []int     // of each column of X: number of its group, which shares hyperparameters
	Groups   []string  // names of the groups: the source columns, or "numbers" and "categories"

	Words      *sparse.CSR // a row of unit length per node, or of zeros without words; nil without words
	Vocabulary []string    // of the columns of Words

	Sources []string // names of the columns from which the set was made
	Notes   []string // what was done, in sentences
}

// Dim returns the number of columns of X.
func (s *Set) Dim() int { return len(s.Names) }

// Empty reports whether there is nothing to learn from.
func (s *Set) Empty() bool { return s.X == nil && s.Words == nil }

// Form is how the values of a source column became a column of numbers.
type Form int

// The forms.
const (
	Plain     Form = iota // (v − Center)/Scale
	Log                   // (log(1 + v/Base) − Center)/Scale
	SignedLog             // the same of |v − Base|/Spread, with the sign of v − Base
	Level                 // 1 at nodes with the level, 0 elsewhere, less the mean; times √2 if there are two levels
	Absent                // √2 at nodes where the value is missing, 0 elsewhere, less the mean
)

// Reading says how a column of Set.X follows from its source column, so that an effect
// can be told on the scale of the user.
type Reading struct {
	Column        string  // the source
	Form          Form    //
	Of            string  // Level: which
	Date          bool    // the source holds dates
	Center, Scale float64 // after the logarithm, if any
	Base, Spread  float64 // of the logarithm
	Low, High     float64 // quartiles of the source: a typical difference between nodes
	Missing       int     // nodes without a value
}

// Position returns the number in Set.X for the value v of the source, for Plain, Log
// and SignedLog.
func (r Reading) Position(v float64) float64 { return clip((r.transform(v) - r.Center) / r.Scale) }

// bound is the largest number in Set.X.
const bound = 4

func clip(v float64) float64 { return max(-bound, min(bound, v)) }

func (r Reading) transform(v float64) float64 {
	switch r.Form {
	case Log:
		return math.Log1p(finite(v / r.Base))
	case SignedLog:
		d := finite(v - r.Base)
		return math.Copysign(math.Log1p(finite(math.Abs(d)/r.Spread)), d)
	}
	return v
}

func finite(v float64) float64 { return max(-math.MaxFloat64, min(math.MaxFloat64, v)) }

// PerUnit is by how much the column of Set.X differs over one unit, as Unit names it:
// a coefficient times PerUnit is the effect of one unit.
func (r Reading) PerUnit() float64 {
	switch r.Form {
	case Log, SignedLog:
		return math.Ln2 / r.Scale
	case Level, Absent:
		return 1 / r.Scale
	}
	return 1
}

// Unit names the unit of an effect: "per 1200 more of capacity (one sd)", "per doubling
// of capacity" (exact well above Base), "where type is 3".
func (r Reading) Unit() string {
	switch r.Form {
	case Log:
		return "per doubling of " + r.Column
	case SignedLog:
		return fmt.Sprintf("per doubling of the distance of %s from %s", r.Column, short(r.Base))
	case Level:
		return fmt.Sprintf("where %s is %s", r.Column, r.Of)
	case Absent:
		return fmt.Sprintf("where %s is missing", r.Column)
	}
	if r.Date {
		return fmt.Sprintf("per %s days of %s (one sd)", short(r.Scale), r.Column)
	}
	return fmt.Sprintf("per %s more of %s (one sd)", short(r.Scale), r.Column)
}

// short writes a number with three digits.
func short(v float64) string {
	if a := math.Abs(v); a >= 1000 && a < 1e15 {
		return grouped(int(math.Round(v)))
	}
	return strconv.FormatFloat(v, 'g', 3, 64)
}

// grouped writes a whole number with commas between thousands.
func grouped(n int) string {
	s := strconv.Itoa(n)
	digits := s
	if n < 0 {
		digits = s[1:]
	}
	out := ""
	for len(digits) > 3 {
		out = "," + digits[len(digits)-3:] + out
		digits = digits[:len(digits)-3]
	}
	if n < 0 {
		return "-" + digits + out
	}
	return digits + out
}

// counted writes a number and a noun that ends in s in the plural.
func counted(n int, plural string) string {
	if n == 1 {
		return "1 " + strings.TrimSuffix(plural, "s")
	}
	return grouped(n) + " " + plural
}

// hashFormat changes whenever the hashed bytes do.
const hashFormat = "grfgp covariates 1\n"

// Hash identifies the numbers and names of the set, on every machine and in every run.
func (s *Set) Hash() [sha256.Size]byte {
	h := hasher{to: sha256.New()}
	h.to.Write([]byte(hashFormat))
	h.count(s.Nodes)
	h.texts(s.Names)
	h.texts(s.Groups)
	for _, g := range s.Group {
		h.count(g)
	}
	if s.X != nil {
		for i := range s.Nodes {
			for _, v := range s.X.RawRowView(i) {
				h.count(int(math.Float64bits(v)))
			}
		}
	}
	h.texts(s.Vocabulary)
	if s.Words != nil {
		for i := range s.Nodes {
			cols, vals := s.Words.Row(i)
			h.count(len(cols))
			for p, j := range cols {
				h.count(int(j))
				h.count(int(math.Float64bits(vals[p])))
			}
		}
	}
	h.flush()
	return [sha256.Size]byte(h.to.Sum(nil))
}

// hasher hashes words of 64 bits in blocks.
type hasher struct {
	to  hash.Hash
	buf []byte
}

func (h *hasher) count(n int) {
	if h.buf = binary.LittleEndian.AppendUint64(h.buf, uint64(n)); len(h.buf) >= 8192 {
		h.flush()
	}
}

func (h *hasher) texts(all []string) {
	h.count(len(all))
	for _, text := range all {
		h.count(len(text))
		h.buf = append(h.buf, text...)
	}
}

func (h *hasher) flush() {
	h.to.Write(h.buf)
	h.buf = h.buf[:0]
}
