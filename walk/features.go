package walk

import (
	"context"
	"fmt"
	"iter"

	"grfgp/internal/parallel"
	"grfgp/sparse"
)

// blockRows is the number of rows that are sampled, stored and combined together.
const blockRows = 1024

// Features are the sparse matrices Ψ_0 … Ψ_L of a graph, one row per start node:
// one pattern for all lengths, and in each entry the values of the lengths at
// which it was reached. They are immutable and safe for concurrent use.
type Features struct {
	opts   Options // with Hi resolved; without Scale
	nodes  int
	blocks []block
	lazy   *lazy // samples rows when they are used; nil: all are in blocks
}

// block holds the features of blockRows rows (the last one fewer).
type block struct {
	entryEnd []uint32  // per row: end of its entries in col and num
	valueEnd []uint32  // per row: end of its values in len and val
	exact    []uint8   // per row: lengths up to this have no sampling error
	col      []uint32  // per entry: the node reached
	num      []uint8   // per entry: at how many lengths
	len      []uint8   // per value: the length, increasing within an entry
	val      []float32 // per value: Ψ_len
}

// Options returns the options of the run, with Hi resolved and without Scale.
func (f *Features) Options() Options { return f.opts }

// Nodes returns N, the number of columns.
func (f *Features) Nodes() int { return f.nodes }

// Rows returns the start nodes [lo, hi) that the features cover.
func (f *Features) Rows() (lo, hi int) { return f.opts.Lo, f.opts.Hi }

// MaxLen returns L.
func (f *Features) MaxLen() int { return f.opts.MaxLen }

// Entry is a node reached from a start node, with the values Ψ_l at the lengths
// l at which it was reached, in increasing order.
type Entry struct {
	Node    int
	Lengths []uint8
	Values  []float32
}

// Row yields the entries of start node i in the order in which they were first
// reached. The slices must not be changed.
func (f *Features) Row(i int) iter.Seq[Entry] {
	b, r := f.locate(i)
	return func(yield func(Entry) bool) {
		lo, hi := b.entries(r)
		v, _ := b.values(r)
		for e := lo; e < hi; e++ {
			end := v + int(b.num[e])
			if !yield(Entry{int(b.col[e]), b.len[v:end:end], b.val[v:end:end]}) {
				return
			}
			v = end
		}
	}
}

// ExactTo returns the longest length up to which row i is free of sampling
// error; MaxLen means the whole row.
func (f *Features) ExactTo(i int) int {
	b, r := f.locate(i)
	return int(b.exact[r])
}

func (f *Features) checkRow(i int) {
	if i < f.opts.Lo || i >= f.opts.Hi {
		panic(fmt.Sprintf("walk: row %d outside [%d, %d)", i, f.opts.Lo, f.opts.Hi))
	}
}

func (f *Features) locate(i int) (*block, int) {
	f.checkRow(i)
	if f.lazy != nil {
		return f.lazy.one(i), 0
	}
	i -= f.opts.Lo
	return &f.blocks[i/blockRows], i % blockRows
}

func (b *block) entries(r int) (lo, hi int) { return within(b.entryEnd, r) }
func (b *block) values(r int) (lo, hi int)  { return within(b.valueEnd, r) }

func within(ends []uint32, r int) (lo, hi int) {
	if r > 0 {
		lo = int(ends[r-1])
	}
	return lo, int(ends[r])
}

// Size counts the contents of features.
type Size struct {
	Rows      int   `json:"rows"`
	Entries   int64 `json:"entries"`    // of the common pattern: the non-zeros of Φ
	Values    int64 `json:"values"`     // the non-zeros of Ψ_0 … Ψ_L together
	ExactRows int64 `json:"exact_rows"` // rows free of sampling error
	Bytes     int64 `json:"bytes"`      // memory, and about the size of the file
}

// Size returns the size of f. Lazy features are sampled for it, unless Compact has
// counted them.
func (f *Features) Size() Size {
	if f.lazy == nil {
		s, _ := f.each(context.Background(), func(int, int, *block) error { return nil })
		return *s
	}
	f.lazy.mu.Lock()
	defer f.lazy.mu.Unlock()
	if f.lazy.sizes == nil {
		// A row that cannot be stored fails where it is used.
		f.lazy.sizes, _ = f.each(context.Background(), func(int, int, *block) error { return nil })
	}
	return *f.lazy.sizes
}

// featureBytes is the memory of a block's arrays: 9 bytes a row, 5 an entry and
// 5 a value.
func featureBytes(rows, entries, values int64) int64 { return 9*rows + 5*entries + 5*values }

// Combine returns Φ = Σ_l coeff[l]·Ψ_l, with a row per start node and a column
// per node. Missing coefficients are zero.
func (f *Features) Combine(coeff []float64) (*sparse.CSR, error) {
	if len(coeff) > f.opts.MaxLen+1 {
		return nil, fmt.Errorf("%w: %d coefficients for lengths 0 to %d", ErrOptions, len(coeff), f.opts.MaxLen)
	}
	f, err := f.stored(context.Background())
	if err != nil {
		return nil, err
	}
	full := make([]float64, f.opts.MaxLen+1)
	copy(full, coeff)

	rows := f.opts.Hi - f.opts.Lo
	rowPtr := make([]int, rows+1)
	starts := make([]int, len(f.blocks)+1)
	for i := range f.blocks {
		starts[i+1] = starts[i] + len(f.blocks[i].col)
		for r, end := range f.blocks[i].entryEnd {
			rowPtr[i*blockRows+r+1] = starts[i] + int(end)
		}
	}
	col := make([]uint32, starts[len(f.blocks)])
	val := make([]float64, len(col))
	parallel.Ranges(len(f.blocks), 1, func(i, _ int) {
		b := &f.blocks[i]
		copy(col[starts[i]:], b.col)
		combine(val[starts[i]:starts[i+1]], full, b.num, b.len, b.val)
	})
	return sparse.NewCSR(rows, f.nodes, rowPtr, col, val)
}

// everyLength is the number of lengths that a byte can have. Loops over values need no check of the
// length where there is a coefficient for each.
const everyLength = 256

// combineAny is combine with a coefficient for every length.
func combineAny(dst []float64, coeff *[everyLength]float64, num, lens []uint8, vals []float32) {
	vals, dst = vals[:len(lens)], dst[:len(num)]
	v := 0
	for e, k := range num {
		sum := 0.0
		for end := v + int(k); v < end; v++ {
			sum += float64(coeff[lens[v]] * float64(vals[v]))
		}
		dst[e] = sum
	}
}

// combine sets dst[e] = Σ_l coeff[l]·Ψ_l of every entry e, which has num[e]
// values.
func combine(dst, coeff []float64, num, lens []uint8, vals []float32) {
	if len(coeff) == everyLength {
		combineAny(dst, (*[everyLength]float64)(coeff), num, lens, vals)
		return
	}
	v := 0
	for e, k := range num {
		sum := 0.0
		for end := v + int(k); v < end; v++ {
			sum += float64(coeff[lens[v]] * float64(vals[v]))
		}
		dst[e] = sum
	}
}
