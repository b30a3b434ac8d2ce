package walk

import (
	"context"
	"math"
	"slices"
	"sync"

	"grfgp/internal/parallel"
	"grfgp/internal/rng"
	"grfgp/sparse"
)

// Lazy returns the features of Sample without sampling them: a row is sampled when it
// is used. Rows that List has returned are kept, and later lists share them; a pass
// over all rows, by Compact, keeps none. A model that is fitted to a few nodes of a
// large graph then holds the features of these nodes alone. The matrix must not be
// changed.
func Lazy(w *sparse.CSR, opts Options) (*Features, error) {
	return NewGround(w, opts).Lazy(opts)
}

// Lazy is the function Lazy on the matrix of the ground, whose Scale, Strengths and Rooted replace those of the options.
func (g *Ground) Lazy(opts Options) (*Features, error) {
	opts.Scale, opts.Strengths, opts.Rooted = g.opts.Scale, g.opts.Strengths, g.opts.Rooted
	if err := opts.validate(g.w); err != nil {
		return nil, err
	}
	n, _ := g.w.Dims()
	p := &run{steps: g.steps(opts), opts: opts, key: rng.Derive(opts.Seed, "walk")}
	l := &lazy{run: p, slot: newPages(opts.Hi - opts.Lo)}
	l.samplers.New = func() any { return p.rowSampler() }
	f := &Features{opts: opts, nodes: n, lazy: l}
	f.opts.Scale, f.opts.Strengths, f.opts.Rooted = nil, nil, false
	return f, nil
}

// lazy samples rows, and keeps those that lists have used.
type lazy struct {
	run      *run
	samplers sync.Pool // *rowSampler

	mu    sync.Mutex
	slot  pages   // per row: its place among the kept rows + 1, 0 if it is not kept
	kept  []block // of blockRows rows each
	sizes *Size   // of all rows, once they have been counted
}

// pages is a list of numbers, in memory where some were set: a process that uses a range of a
// large graph has no memory for the rest.
type pages [][]uint32

const pageRows = 1 << 10

func newPages(n int) pages { return make(pages, (n+pageRows-1)/pageRows) }

func (p pages) at(i int) uint32 {
	if page := p[i/pageRows]; page != nil {
		return page[i%pageRows]
	}
	return 0
}

func (p pages) set(i int, v uint32) {
	if p[i/pageRows] == nil {
		p[i/pageRows] = make([]uint32, pageRows)
	}
	p[i/pageRows][i%pageRows] = v
}

// one samples one row.
func (l *lazy) one(i int) *block {
	s := l.samplers.Get().(*rowSampler)
	defer l.samplers.Put(s)
	s.out.empty()
	s.sample(uint32(i), l.run.key.At(uint64(i)))
	b := s.out.clone()
	return &b
}

// sample returns rows in blocks.
func (l *lazy) sample(ctx context.Context, rows []int) ([]block, error) {
	blocks := make([]block, (len(rows)+blockRows-1)/blockRows)
	err := parallel.Blocks(ctx, len(blocks), func(_, b int) error {
		s := l.samplers.Get().(*rowSampler)
		defer l.samplers.Put(s)
		s.out.empty()
		for _, i := range rows[b*blockRows : min(len(rows), (b+1)*blockRows)] {
			s.sample(uint32(i), l.run.key.At(uint64(i)))
		}
		blocks[b] = s.out.clone()
		return s.takeError()
	})
	return blocks, err
}

// list samples the rows that are not kept yet, and returns all of the list.
func (l *lazy) list(ctx context.Context, lo int, rows []int) (*List, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	var missing []int
	for _, i := range rows {
		if l.slot.at(i-lo) == 0 {
			l.slot.set(i-lo, 1) // found, so that it is not missing twice
			missing = append(missing, i)
		}
	}
	fresh, err := l.sample(ctx, missing)
	if err != nil {
		for _, i := range missing {
			l.slot.set(i-lo, 0)
		}
		return nil, err
	}
	first := len(l.kept) * blockRows
	l.kept = slices.Concat(l.kept, fresh) // lists hold the old slice
	for k, i := range missing {
		l.slot.set(i-lo, uint32(first+k+1))
	}
	out := &List{blocks: l.kept, at: make([]uint32, len(rows))}
	for a, i := range rows {
		out.at[a] = l.slot.at(i-lo) - 1
	}
	return out, nil
}

// hasAll reports whether all rows are kept.
func (l *lazy) hasAll(lo int, rows []int) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return !slices.ContainsFunc(rows, func(i int) bool { return l.slot.at(i-lo) == 0 })
}

// takeError returns the error of a row that could not be stored, and forgets it.
func (s *rowSampler) takeError() error {
	err := s.tally.err
	s.tally.err = nil
	return err
}

// List is the features of a list of nodes, by their places in the list.
type List struct {
	blocks []block
	at     []uint32 // the row of each place, counted over the blocks
}

// List returns the features of the given rows. The rows of lazy features are sampled
// now, if no list had them before.
func (f *Features) List(ctx context.Context, rows []int) (*List, error) {
	for _, i := range rows {
		f.checkRow(i)
	}
	if f.lazy != nil {
		return f.lazy.list(ctx, f.opts.Lo, rows)
	}
	l := &List{blocks: f.blocks, at: make([]uint32, len(rows))}
	for a, i := range rows {
		l.at[a] = uint32(i - f.opts.Lo)
	}
	return l, nil
}

// ListOnce is List for rows that are used once: those of lazy features are not kept, unless
// all of them are kept already.
func (f *Features) ListOnce(ctx context.Context, rows []int) (*List, error) {
	for _, i := range rows {
		f.checkRow(i)
	}
	if f.lazy == nil || f.lazy.hasAll(f.opts.Lo, rows) {
		return f.List(ctx, rows)
	}
	blocks, err := f.lazy.sample(ctx, rows)
	if err != nil {
		return nil, err
	}
	l := &List{blocks: blocks, at: make([]uint32, len(rows))}
	for a := range l.at {
		l.at[a] = uint32(a)
	}
	return l, nil
}

func (l *List) locate(a int) (*block, int) {
	return &l.blocks[l.at[a]/blockRows], int(l.at[a] % blockRows)
}

// Bytes returns the memory of the rows of the list, as Size counts it.
func (l *List) Bytes() int64 {
	entries, values := 0, 0
	for a := range l.at {
		b, r := l.locate(a)
		num, _, vals := b.row(r)
		entries, values = entries+len(num), values+len(vals)
	}
	return featureBytes(int64(len(l.at)), int64(entries), int64(values))
}

// Reached returns the nodes that the row at place a has entries for, to be read only.
func (l *List) Reached(a int) []uint32 {
	b, r := l.locate(a)
	return b.reached(r)
}

// CombineRow sets dst[e] = Σ_l coeff[l]·Ψ_l at entry e of the row at place a, as
// Features.CombineRow does.
func (l *List) CombineRow(dst, coeff []float64, a int) {
	b, r := l.locate(a)
	num, lens, vals := b.row(r)
	combine(dst, coeff, num, lens, vals)
}

// ProjectRow is the adjoint of CombineRow.
func (l *List) ProjectRow(dst, weight []float64, a int) {
	b, r := l.locate(a)
	num, lens, vals := b.row(r)
	project(dst, weight, num, lens, vals)
}

// Compact returns Φ = Σ_l coeff[l]·Ψ_l with float32 entries, as those of Ψ_l are. coeff
// must have MaxLen+1 elements. Lazy features are sampled block by block, and only Φ is kept.
func (f *Features) Compact(ctx context.Context, coeff []float64) (*sparse.Compact, error) {
	rows := f.opts.Hi - f.opts.Lo
	m := sparse.NewCompact(rows, f.nodes, blockRows)
	values := make([][]float64, parallel.Workers(m.Blocks()))
	sizes, err := f.each(ctx, func(worker, k int, b *block) error {
		if cap(values[worker]) < len(b.col) {
			values[worker] = make([]float64, len(b.col))
		}
		val := values[worker][:len(b.col)]
		combine(val, coeff, b.num, b.len, b.val)
		return m.Set(k, b.entryEnd, b.col, val)
	})
	if err == nil && f.lazy != nil {
		f.lazy.mu.Lock()
		f.lazy.sizes = sizes
		f.lazy.mu.Unlock()
	}
	return m, err
}

// each calls do with every block of rows in turn, several at once; the block is valid
// during the call. It returns the size of them all.
func (f *Features) each(ctx context.Context, do func(worker, k int, b *block) error) (*Size, error) {
	blocks := (f.opts.Hi - f.opts.Lo + blockRows - 1) / blockRows
	parts := make([]Size, blocks)
	scratch := make([]*rowSampler, parallel.Workers(blocks))
	err := parallel.Blocks(ctx, blocks, func(worker, k int) error {
		b := (*block)(nil)
		if f.lazy == nil {
			b = &f.blocks[k]
		} else {
			if scratch[worker] == nil {
				scratch[worker] = f.lazy.run.rowSampler()
			}
			s := scratch[worker]
			s.out.empty()
			for i := f.opts.Lo + k*blockRows; i < min(f.opts.Hi, f.opts.Lo+(k+1)*blockRows); i++ {
				s.sample(uint32(i), f.lazy.run.key.At(uint64(i)))
			}
			if err := s.takeError(); err != nil {
				return err
			}
			b = &s.out
		}
		parts[k].add(b, f.opts.MaxLen)
		return do(worker, k, b)
	})
	total := &Size{Rows: f.opts.Hi - f.opts.Lo}
	for _, p := range parts {
		total.Entries += p.Entries
		total.Values += p.Values
		total.ExactRows += p.ExactRows
	}
	total.Bytes = featureBytes(int64(total.Rows), total.Entries, total.Values)
	return total, err
}

// add counts a block.
func (s *Size) add(b *block, maxLen int) {
	s.Entries += int64(len(b.col))
	s.Values += int64(len(b.val))
	for _, l := range b.exact {
		if int(l) == maxLen {
			s.ExactRows++
		}
	}
}

// EntriesPerRow returns the mean number of entries of a row; of lazy features that of
// some rows at equal distances.
func (f *Features) EntriesPerRow() float64 {
	rows := f.opts.Hi - f.opts.Lo
	if rows == 0 {
		return 0
	}
	if f.lazy == nil {
		return float64(f.Size().Entries) / float64(rows)
	}
	const most = 256
	total, count := 0, 0
	for k := range min(rows, most) {
		total += len(f.lazy.one(f.opts.Lo + k*rows/min(rows, most)).col)
		count++
	}
	return float64(total) / float64(count)
}

// stored returns the features with all rows in blocks.
func (f *Features) stored(ctx context.Context) (*Features, error) {
	if f.lazy == nil {
		return f, nil
	}
	s := &Features{opts: f.opts, nodes: f.nodes, blocks: make([]block, (f.opts.Hi-f.opts.Lo+blockRows-1)/blockRows)}
	_, err := f.each(ctx, func(_, k int, b *block) error {
		s.blocks[k] = b.clone()
		return nil
	})
	return s, err
}

// Flat returns the values of all rows of a list one after the other: for each row the place
// of its first value, for each entry the number of its values, and of each value the length and
// Ψ. ok is false if there are too many for 32 bits.
func (l *List) Flat() (first []uint32, num, lens []uint8, psi []float32, ok bool) {
	first = make([]uint32, len(l.at))
	starts := make([]int, len(l.at)+1) // of the entries of the rows
	values := 0
	for a := range l.at {
		b, r := l.locate(a)
		own, _, vals := b.row(r)
		first[a], starts[a+1] = uint32(values), starts[a]+len(own)
		values += len(vals)
	}
	if values > math.MaxUint32 {
		return nil, nil, nil, nil, false
	}
	num, lens, psi = make([]uint8, starts[len(l.at)]), make([]uint8, values), make([]float32, values)
	parallel.Ranges(len(l.at), blockRows, func(lo, hi int) {
		for a := lo; a < hi; a++ {
			b, r := l.locate(a)
			own, ls, vals := b.row(r)
			copy(num[starts[a]:], own)
			copy(lens[first[a]:], ls)
			copy(psi[first[a]:], vals)
		}
	})
	return first, num, lens, psi, true
}
