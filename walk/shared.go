package walk

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"io"

	"grfgp/internal/ranks"
	"grfgp/sparse"
)

// Shared are features that several processes, ranks, have sampled together. Each has
// consecutive rows, in whole blocks.
type Shared struct {
	own   *Features
	ranks *ranks.Group // nil: one process has all
	opts  Options      // of all rows
}

// SampleShared is SampleProgress for rows that ranks share, each of which holds W.
func SampleShared(ctx context.Context, g *ranks.Group, w *sparse.CSR, opts Options, progress func(done, total int64)) (*Shared, error) {
	if err := opts.validate(w); err != nil {
		return nil, err
	}
	s := &Shared{ranks: g, opts: opts}
	s.opts.Scale, s.opts.Strengths, s.opts.Rooted = nil, nil, false
	lo, hi := ranks.Even(opts.Hi-opts.Lo, g.Size()).Range(g.Rank())
	opts.Lo, opts.Hi = opts.Lo+lo, opts.Lo+hi
	var err error
	s.own, err = sample(ctx, w, opts, nil, progress)
	return s, err
}

// Own returns the rows of this rank.
func (s *Shared) Own() *Features { return s.own }

// Options returns the options of the run, for the rows of all ranks.
func (s *Shared) Options() Options { return s.opts }

// Size returns the size of the features of all ranks, which call it together.
func (s *Shared) Size(ctx context.Context) (Size, error) {
	own := s.own.Size()
	all, _, err := ranks.Gather(ctx, s.ranks, []int64{own.Entries, own.Values, own.ExactRows})
	total := Size{Rows: s.opts.Hi - s.opts.Lo}
	for k := 0; k < len(all); k += 3 {
		total.Entries += all[k]
		total.Values += all[k+1]
		total.ExactRows += all[k+2]
	}
	total.Bytes = featureBytes(int64(total.Rows), total.Entries, total.Values)
	return total, err
}

// pieceBytes is how much of a file ranks send at a time, at least.
const pieceBytes = 8 << 20

// Encode writes the features of all ranks as one file, the same that one process writes, and
// returns its size. Ranks call it together; rank 0 writes, and never holds the rows of others.
func (s *Shared) Encode(ctx context.Context, w io.Writer, matrix string) (int64, error) {
	written, err := s.encode(ctx, w, matrix)
	if err != nil {
		err = fmt.Errorf("writing features: %w", err)
	}
	return written, err
}

func (s *Shared) encode(ctx context.Context, w io.Writer, matrix string) (written int64, err error) {
	blocks, starts, err := s.fileBlocks(ctx)
	if err != nil {
		return 0, err
	}
	if s.ranks.Rank() == 0 {
		header, err := json.Marshal(fileHeader{Nodes: s.own.nodes, Options: s.opts, Matrix: matrix, Blocks: blocks})
		if err != nil {
			return 0, err
		}
		header = append(header, bytes.Repeat([]byte{' '}, padding(len(header)))...)
		head := []byte(fileMagic)
		head = binary.LittleEndian.AppendUint32(head, uint32(len(header)))
		head = binary.LittleEndian.AppendUint32(head, crc32.Checksum(header, castagnoli))
		if written, err = write(w, head, header); err != nil {
			return written, err
		}
		for k := range s.own.blocks {
			n, err := s.own.blocks[k].writeTo(w)
			written += n
			if err != nil {
				return written, err
			}
		}
	}
	for r := 1; r < s.ranks.Size(); r++ {
		for lo, hi := starts[r], starts[r]; lo < starts[r+1]; lo = hi {
			size := 0
			for ; hi < starts[r+1] && size < pieceBytes; hi++ {
				size += blocks[hi].size()
			}
			n, err := s.send(ctx, w, r, lo-starts[r], hi-starts[r], size)
			written += n
			if err != nil {
				return written, err
			}
		}
	}
	return written, nil
}

// fileBlocks returns the blocks of all ranks as the header of a file has them, and where
// those of each rank begin.
func (s *Shared) fileBlocks(ctx context.Context) (all []fileBlock, starts []int, err error) {
	var own []int64
	for k := range s.own.blocks {
		b := &s.own.blocks[k]
		crc := crc32.New(castagnoli)
		if _, err := b.writeTo(crc); err != nil {
			return nil, nil, err
		}
		own = append(own, int64(len(b.exact)), int64(len(b.col)), int64(len(b.val)), int64(crc.Sum32()))
	}
	numbers, starts, err := ranks.Gather(ctx, s.ranks, own)
	if err != nil {
		return nil, nil, err
	}
	all = make([]fileBlock, 0, len(numbers)/4)
	for k := 0; k < len(numbers); k += 4 {
		all = append(all, fileBlock{int(numbers[k]), int(numbers[k+1]), int(numbers[k+2]), uint32(numbers[k+3])})
	}
	for r := range starts {
		starts[r] /= 4
	}
	return all, starts, nil
}

// send sends the blocks [lo, hi) of a rank, with the given size, to rank 0, which writes
// them. The other ranks look on.
func (s *Shared) send(ctx context.Context, w io.Writer, from, lo, hi, size int) (int64, error) {
	in, out := make([][]byte, s.ranks.Size()), make([][]byte, s.ranks.Size())
	switch s.ranks.Rank() {
	case 0:
		in[from] = make([]byte, size)
	case from:
		var piece bytes.Buffer
		piece.Grow(size)
		for k := lo; k < hi; k++ {
			if _, err := s.own.blocks[k].writeTo(&piece); err != nil {
				return 0, err
			}
		}
		out[0] = piece.Bytes()
	}
	if err := ranks.Exchange(ctx, s.ranks, in, out); err != nil || s.ranks.Rank() > 0 {
		return 0, err
	}
	n, err := w.Write(in[from])
	return int64(n), err
}
