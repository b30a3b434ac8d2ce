package walk

import (
	"context"
	"fmt"
	"slices"

	"grfgp/internal/parallel"
	"grfgp/internal/rng"
	"grfgp/sparse"
)

// Part says how a matrix is a part of a larger one, that of all nodes: see SamplePart.
type Part struct {
	Nodes   int      // of the larger matrix
	Numbers []uint32 // node of every row and column of the part, increasing
	Facts   Facts    // of the larger matrix
}

// SamplePart is Sample for a process that holds a part of W only: the rows and columns of the nodes [opts.Lo, opts.Hi) and of
// all nodes within opts.MaxLen hops of them. Rows of the outermost nodes need not be complete. The
// rows are the same bytes as those of Sample, if opts.Scale has the values of W's for the nodes of the part. Only the given
// nodes are sampled, others have empty rows; nil means all of [opts.Lo, opts.Hi).
func SamplePart(ctx context.Context, w *sparse.CSR, opts Options, part Part, rows []int) (*Features, error) {
	lo, hi := opts.Lo, opts.Hi
	n, _ := w.Dims()
	if len(part.Numbers) != n || !slices.IsSorted(part.Numbers) || n > 0 && int(part.Numbers[n-1]) >= part.Nodes {
		return nil, fmt.Errorf("%w: the part has %d nodes, and %d numbers, which must increase and be below %d", ErrOptions, n, len(part.Numbers),
			part.Nodes)
	}
	first, _ := slices.BinarySearch(part.Numbers, uint32(lo))
	if lo < 0 || hi < lo || first+hi-lo > n || hi > lo && (int(part.Numbers[first]) != lo || int(part.Numbers[first+hi-lo-1]) != hi-1) {
		return nil, fmt.Errorf("%w: nodes [%d, %d) are not in the part", ErrOptions, lo, hi)
	}
	opts.Lo, opts.Hi = 0, n
	if err := opts.validate(w); err != nil {
		return nil, err
	}
	wanted := make([]bool, hi-lo)
	for k := range wanted {
		wanted[k] = rows == nil
	}
	for _, i := range rows {
		if i < lo || i >= hi {
			return nil, fmt.Errorf("%w: row %d is not in [%d, %d)", ErrOptions, i, lo, hi)
		}
		wanted[i-lo] = true
	}
	p := &run{steps: newSteps(w, opts, &part.Facts), opts: opts, key: rng.Derive(opts.Seed, "walk")}
	opts.Lo, opts.Hi, opts.Scale, opts.Strengths, opts.Rooted = lo, hi, nil, nil, false
	f := &Features{opts: opts, nodes: part.Nodes, blocks: make([]block, (hi-lo+blockRows-1)/blockRows)}
	scratch := make([]*rowSampler, parallel.Workers(len(f.blocks)))
	err := parallel.Blocks(ctx, len(f.blocks), func(worker, b int) error {
		if scratch[worker] == nil {
			scratch[worker] = p.rowSampler()
		}
		s := scratch[worker]
		s.out.empty()
		for k := b * blockRows; k < min(hi-lo, (b+1)*blockRows); k++ {
			if wanted[k] {
				s.sample(uint32(first+k), p.key.At(uint64(lo+k)))
			} else {
				s.out.skip()
			}
		}
		if err := s.takeError(); err != nil {
			return err
		}
		f.blocks[b] = s.out.clone()
		for e, k := range f.blocks[b].col {
			f.blocks[b].col[e] = part.Numbers[k]
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return f, nil
}

// Outside returns the nodes outside the rows of the features that they have entries for, in increasing order: what
// a product with Φ needs of other processes.
func (f *Features) Outside() []uint32 {
	var all []uint32
	mine := 0 // sorted so far
	for k := range f.blocks {
		for _, j := range f.blocks[k].col {
			if int(j) < f.opts.Lo || int(j) >= f.opts.Hi {
				all = append(all, j)
			}
		}
		if len(all) > 2*mine+1<<16 {
			slices.Sort(all)
			all = slices.Compact(all)
			mine = len(all)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}
