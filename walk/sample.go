package walk

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"

	"grfgp/internal/parallel"
	"grfgp/internal/rng"
	"grfgp/sparse"
)

// Sample estimates the features of the rows [opts.Lo, opts.Hi) of W. A row
// depends on W, the options and its own number alone: shards, threads and
// repeated runs give the same bytes.
func Sample(ctx context.Context, w *sparse.CSR, opts Options) (*Features, error) {
	return SampleProgress(ctx, w, opts, nil)
}

// SampleProgress is Sample with a callback after every block of rows; it is
// called concurrently.
func SampleProgress(ctx context.Context, w *sparse.CSR, opts Options, progress func(done, total int64)) (*Features, error) {
	if err := opts.validate(w); err != nil {
		return nil, err
	}
	return sample(ctx, w, opts, nil, progress)
}

// SampleRows is Sample for only the given nodes of [opts.Lo, opts.Hi): their rows
// are those of Sample, and all other rows are empty.
func SampleRows(ctx context.Context, w *sparse.CSR, opts Options, rows []int) (*Features, error) {
	if err := opts.validate(w); err != nil {
		return nil, err
	}
	wanted := make([]bool, opts.Hi-opts.Lo)
	for _, i := range rows {
		if i < opts.Lo || i >= opts.Hi {
			return nil, fmt.Errorf("%w: row %d is not in [%d, %d)", ErrOptions, i, opts.Lo, opts.Hi)
		}
		wanted[i-opts.Lo] = true
	}
	return sample(ctx, w, opts, wanted, nil)
}

// sample estimates the rows that are wanted; nil means all.
func sample(ctx context.Context, w *sparse.CSR, opts Options, wanted []bool, progress func(done, total int64)) (*Features, error) {
	n, _ := w.Dims()
	total := opts.Hi - opts.Lo
	f := &Features{opts: opts, nodes: n, blocks: make([]block, (total+blockRows-1)/blockRows)}
	f.opts.Scale, f.opts.Strengths, f.opts.Rooted = nil, nil, false
	p := newRun(w, opts)
	scratch := make([]*rowSampler, parallel.Workers(len(f.blocks)))
	var done atomic.Int64
	err := parallel.Blocks(ctx, len(f.blocks), func(worker, i int) error {
		if scratch[worker] == nil {
			scratch[worker] = p.rowSampler()
		}
		lo := opts.Lo + i*blockRows
		hi := min(opts.Hi, lo+blockRows)
		s := scratch[worker]
		s.out.empty()
		for root := lo; root < hi; root++ {
			if wanted == nil || wanted[root-opts.Lo] {
				s.sample(uint32(root), p.key.At(uint64(root)))
			} else {
				s.out.skip()
			}
		}
		if s.tally.err != nil {
			return s.tally.err
		}
		f.blocks[i] = s.out.clone()
		if progress != nil {
			progress(done.Add(int64(hi-lo)), int64(total))
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return f, nil
}

// run is the state that all rows of a run share.
type run struct {
	steps    *steps
	opts     Options
	key      rng.Key
	expected [][]expectation // by length and node; nil until a pilot asks
}

func newRun(w *sparse.CSR, opts Options) *run {
	return &run{steps: newSteps(w, opts, nil), opts: opts, key: rng.Derive(opts.Seed, "walk")}
}

// sampler estimates one row after another into a tally.
type sampler interface {
	row(t *tally, root uint32, stream *rng.Stream) (exact uint8)
}

// rowSampler is the scratch of one goroutine: nothing is allocated per row once its
// buffers have grown.
type rowSampler struct {
	steps   *steps
	sampler sampler
	weight  []float64
	tally   *tally
	stream  rng.Stream
	out     block
}

func (p *run) rowSampler() *rowSampler {
	s := &rowSampler{steps: p.steps, tally: newTally()}
	if p.opts.Sampler == Repelling {
		r := newRepelling(p.steps, p.opts)
		s.sampler, s.weight = r, r.weight
	} else {
		r := newIndependent(p.steps, p.opts)
		s.sampler, s.weight = r, r.weight
	}
	return s
}

// sample appends the row of one root to out.
func (s *rowSampler) sample(root uint32, stream rng.Stream) {
	s.stream = stream // a field, so that it does not escape to the heap
	exact := s.sampler.row(s.tally, root, &s.stream)
	s.tally.flush(&s.out, s.steps, root, s.weight)
	s.out.exact = append(s.out.exact, exact)
}

// skip appends an empty row.
func (b *block) skip() {
	b.entryEnd = append(b.entryEnd, uint32(len(b.col)))
	b.valueEnd = append(b.valueEnd, uint32(len(b.val)))
	b.exact = append(b.exact, 0)
}

func (b *block) empty() {
	b.entryEnd, b.valueEnd, b.exact = b.entryEnd[:0], b.valueEnd[:0], b.exact[:0]
	b.col, b.num, b.len, b.val = b.col[:0], b.num[:0], b.len[:0], b.val[:0]
}

// clone returns a copy without spare room.
func (b *block) clone() block {
	return block{
		slices.Clone(b.entryEnd), slices.Clone(b.valueEnd), slices.Clone(b.exact),
		slices.Clone(b.col), slices.Clone(b.num), slices.Clone(b.len), slices.Clone(b.val),
	}
}
