package graph

import (
	"context"
	"crypto/sha256"
	"math"

	"grfgp/internal/parallel"
)

// Layout is the ordered form of a graph, made piece by piece, so that a large graph can
// be written in locality order without a second copy of it in memory.
type Layout struct {
	g     *Graph
	order []uint32 // node k is node order[k] of g; nil if all keep their numbers
	place []uint32 // the reverse
}

// Layout returns the ordered form of the graph. That of an ordered graph is the graph itself.
func (g *Graph) Layout() *Layout {
	if g.ordered {
		return &Layout{g: g}
	}
	order := g.order()
	for k, i := range order {
		if int(i) != k {
			return &Layout{g, order, inverse(order)}
		}
	}
	return &Layout{g: g}
}

// Node returns the node of the graph that is node k in order.
func (l *Layout) Node(k int) int {
	if l.order == nil {
		return k
	}
	return int(l.order[k])
}

// From returns, for every node of the graph before Ordered, its number in order; nil if all
// kept their number. It is to be read only.
func (l *Layout) From() []uint32 {
	if l.order == nil {
		return l.g.from
	}
	return l.place
}

// Numbers returns the ids in order, if all are whole numbers below 2³²; nil otherwise.
func (l *Layout) Numbers() []uint32 {
	ids := l.g.ids
	switch {
	case ids.form == asTexts:
		return nil
	case ids.form == inSequence && l.order != nil:
		return l.order
	case ids.form == asNumbers && l.order == nil:
		return ids.num[:l.g.Len()]
	}
	num := make([]uint32, l.g.Len())
	parallel.Ranges(len(num), rowBlock, func(lo, hi int) {
		for k := lo; k < hi; k++ {
			num[k] = ids.number(l.Node(k))
		}
	})
	return num
}

// Texts returns the ids in order if some are not such numbers, one after the other, and where each
// ends.
func (l *Layout) Texts() (text []byte, end []int) {
	ids := l.g.ids
	if ids.form != asTexts {
		return nil, nil
	}
	if l.order != nil {
		ids = pickIDs(ids, l.order)
	}
	n := l.g.Len()
	if n > 0 {
		text = ids.text[:ids.end[n-1]]
	}
	return text, ids.end[:n]
}

// Degree returns the number of entries of row k.
func (l *Layout) Degree(k int) int {
	cols, _ := l.g.adj.Row(l.Node(k))
	return len(cols)
}

// layoutRows is how many rows are made as one.
const layoutRows = 1 << 15

// EachRows calls do with the entries of all rows, some rows at a time and from first to last. The slices
// are valid during the call. Blocks of rows are made side by side, while do uses earlier ones.
func (l *Layout) EachRows(ctx context.Context, do func(cols []uint32, vals []float64) error) error {
	n := l.g.Len()
	blocks := (n + layoutRows - 1) / layoutRows
	if l.order == nil {
		rowPtr, col, val := l.g.adj.Raw()
		for b := range blocks {
			if err := ctx.Err(); err != nil {
				return err
			}
			lo, hi := rowPtr[b*layoutRows], rowPtr[min(n, (b+1)*layoutRows)]
			if err := do(col[lo:hi], val[lo:hi]); err != nil {
				return err
			}
		}
		return nil
	}
	batch := 2 * parallel.Workers(blocks)
	var made [2][]layoutBlock // one is used while the other is made
	for k := range made {
		made[k] = make([]layoutBlock, batch)
	}
	produce := func(first int) {
		to := made[first/batch%2]
		parallel.Ranges(min(batch, blocks-first), 1, func(b, _ int) { to[b].fill(l, first+b) })
	}
	if blocks > 0 {
		produce(0)
	}
	for first := 0; first < blocks; first += batch {
		ready := make(chan struct{})
		go func() {
			defer close(ready)
			if first+batch < blocks {
				produce(first + batch)
			}
		}()
		err := ctx.Err()
		for b := 0; b < batch && first+b < blocks && err == nil; b++ {
			err = do(made[first/batch%2][b].col, made[first/batch%2][b].val)
		}
		<-ready
		if err != nil {
			return err
		}
	}
	return nil
}

// layoutBlock is the entries of some rows.
type layoutBlock struct {
	col    []uint32
	val    []float64
	sorter rowSorter
}

func (b *layoutBlock) fill(l *Layout, block int) {
	b.col, b.val = b.col[:0], b.val[:0]
	for k := block * layoutRows; k < min(l.g.Len(), (block+1)*layoutRows); k++ {
		cols, vals := l.g.adj.Row(int(l.order[k]))
		start := len(b.col)
		for _, j := range cols {
			b.col = append(b.col, l.place[j])
		}
		b.val = append(b.val, vals...)
		b.sorter.sort(b.col[start:], b.val[start:])
	}
}

// Hash returns the hash of the ordered graph, see Graph.Hash.
func (l *Layout) Hash(ctx context.Context) ([sha256.Size]byte, error) {
	h := l.Hasher()
	h.Rows()
	err := l.EachRows(ctx, func(cols []uint32, vals []float64) error {
		h.Entries(cols, vals)
		return nil
	})
	if err != nil {
		return [sha256.Size]byte{}, err
	}
	h.IDs()
	return h.Sum(), nil
}

// Hasher computes the hash of the ordered graph where EachRows makes rows for another purpose, too: Rows
// first, then Entries with all of them, then IDs, then Sum.
type Hasher struct {
	l  *Layout
	to hasher
}

// Hasher returns a Hasher. It does nothing if the hash is known already.
func (l *Layout) Hasher() *Hasher {
	h := &Hasher{l: l, to: hasher{to: sha256.New()}}
	h.to.to.Write([]byte(hashFormat))
	return h
}

// known reports whether the graph has its hash.
func (h *Hasher) known() bool { return h.l.order == nil && h.l.g.hash != nil }

// Rows hashes where rows begin and end.
func (h *Hasher) Rows() {
	if h.known() {
		return
	}
	end := 0
	h.to.word(0)
	for k := range h.l.g.Len() {
		end += h.l.Degree(k)
		h.to.word(uint64(end))
	}
}

// Entries hashes the entries of the next rows.
func (h *Hasher) Entries(cols []uint32, vals []float64) {
	if h.known() {
		return
	}
	for p, j := range cols {
		h.to.word(uint64(j))
		h.to.word(math.Float64bits(vals[p]))
	}
}

// IDs hashes where ids end, and then the ids themselves.
func (h *Hasher) IDs() {
	if h.known() {
		return
	}
	ids, n := h.l.g.ids, h.l.g.Len()
	end, id := 0, make([]byte, 0, 32)
	for k := range n {
		id = ids.Append(id[:0], h.l.Node(k))
		end += len(id)
		h.to.word(uint64(end))
	}
	h.to.flush()
	text := make([]byte, 0, 1<<16)
	for k := range n {
		text = ids.Append(text, h.l.Node(k))
		if k == n-1 || len(text) > 1<<15 {
			h.to.to.Write(text)
			text = text[:0]
		}
	}
}

// Sum returns the hash.
func (h *Hasher) Sum() [sha256.Size]byte {
	if h.known() {
		return *h.l.g.hash
	}
	h.to.flush()
	return [sha256.Size]byte(h.to.to.Sum(nil))
}
