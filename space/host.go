package space

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"unsafe"

	"gonum.org/v1/gonum/mat"

	"grfgp/internal/meter"
	"grfgp/internal/parallel"
	"grfgp/internal/ranks"
	"grfgp/internal/rng"
	"grfgp/internal/scratch"
)

// blockRows is the number of rows whose sums are taken one after another.
const blockRows = ranks.BlockRows

// host is the memory of this process, with numbers of precision F. Where a group of processes shares axes, it
// is the part of each of them.
type host[F floats] struct{ *link }

// link is what the memories of one process know of others, in either precision.
type link struct {
	ctx   context.Context // of messages to other processes
	group *ranks.Group
	err   error // the first failure to hear of them
}

// Host returns the float64 memory of this process.
func Host() Space { return &host[float64]{&link{ctx: context.Background()}} }

// Host32 returns the float32 memory of this process. Sums over rows are float64.
func Host32() Space { return &host[float32]{&link{ctx: context.Background()}} }

// Together returns the memory of processes that share axes, with numbers of float32 or of float64.
func Together(ctx context.Context, g *ranks.Group, single bool) Space {
	l := &link{ctx: ctx, group: g}
	if single {
		return &host[float32]{l}
	}
	return &host[float64]{l}
}

// During makes a context that of messages to other processes from now on.
func During(ctx context.Context, s Space) {
	switch h := s.(type) {
	case *host[float32]:
		h.ctx = ctx
	case *host[float64]:
		h.ctx = ctx
	}
}

func (h *host[F]) Err() error      { return h.err }
func (h *host[F]) MaxColumns() int { return math.MaxInt }
func (h *host[F]) Single() bool    { return unsafe.Sizeof(F(0)) == 4 }

func (h *host[F]) fail(err error) {
	if h.err == nil {
		h.err = err
	}
}

func (h *host[F]) Axis(ctx context.Context, own int) (Axis, error) {
	if h.group.Alone() {
		return Rows(own), nil
	}
	sizes, _, err := ranks.Gather(ctx, h.group, []int{own})
	if err != nil {
		return Axis{}, err
	}
	return Axis{own, h.group, ranks.OfSizes(sizes)}, nil
}

// Memory of blocks that are not in use.
var (
	doubles scratch.Pool[float64]
	singles scratch.Pool[float32]
)

func poolOf[F floats]() *scratch.Pool[F] {
	if p, ok := any(&doubles).(*scratch.Pool[F]); ok {
		return p
	}
	return any(&singles).(*scratch.Pool[F])
}

// block is a block in the memory of this process, row by row without gaps.
type block[F floats] struct {
	host    *host[F]
	axis    Axis
	columns int
	data    []F
}

func (h *host[F]) Block(a Axis, columns int) Block { return h.block(a, columns) }

func (h *host[F]) block(a Axis, columns int) *block[F] {
	b := &block[F]{host: h, axis: a, columns: columns}
	n := a.Own * columns
	b.data = poolOf[F]().Get(n)
	return b
}

// DenseOf returns a block of the float64 memory of this process as a matrix, which shares its numbers; an empty one
// where there are none.
func DenseOf(b Block) *mat.Dense {
	own := b.(*block[float64])
	if len(own.data) == 0 {
		return &mat.Dense{}
	}
	return mat.NewDense(own.axis.Own, own.columns, own.data)
}

// View returns a matrix without gaps as a block of h, a float64 memory of this process, which shares its numbers and
// is not to be freed.
func View(s Space, a Axis, x *mat.Dense) Block {
	raw := x.RawMatrix()
	if raw.Rows != a.Own || raw.Rows > 1 && raw.Stride != raw.Cols {
		panic(fmt.Sprintf("space: a view of %d×%d with rows of %d for %d rows", raw.Rows, raw.Cols, raw.Stride, a.Own))
	}
	return &block[float64]{host: s.(*host[float64]), axis: a, columns: raw.Cols, data: raw.Data[:raw.Rows*raw.Cols]}
}

func (b *block[F]) Axis() Axis   { return b.axis }
func (b *block[F]) Columns() int { return b.columns }
func (b *block[F]) Like() Block  { return b.host.block(b.axis, b.columns) }

func (b *block[F]) Free() {
	poolOf[F]().Put(b.data)
	b.data = nil
}

func (b *block[F]) Reshape(a Axis, columns int) Block {
	if a.Own*columns != len(b.data) {
		panic(fmt.Sprintf("space: %d×%d as %d×%d", b.axis.Own, b.columns, a.Own, columns))
	}
	return &block[F]{host: b.host, axis: a, columns: columns, data: b.data}
}

// beside returns the numbers of another block of the same rows.
func (b *block[F]) beside(x Block) []F {
	other := x.(*block[F])
	if other.axis.Own != b.axis.Own {
		panic(fmt.Sprintf("space: %d rows and %d", b.axis.Own, other.axis.Own))
	}
	return other.data
}

// diagonal returns the numbers of a block of one column, one for each row; nil for nil.
func (b *block[F]) diagonal(x Block) []F {
	if x == nil {
		return nil
	}
	if x.Columns() != 1 {
		panic(fmt.Sprintf("space: a diagonal of %d columns", x.Columns()))
	}
	return b.beside(x)
}

// like returns the numbers of another block of the same shape.
func (b *block[F]) like(x Block) []F {
	other := x.(*block[F])
	if other.columns != b.columns || len(other.data) != len(b.data) {
		panic(fmt.Sprintf("space: %d×%d and %d×%d", b.axis.Own, b.columns, other.axis.Own, other.columns))
	}
	return other.data
}

// flat calls do for ranges of the numbers, in parallel.
func (b *block[F]) flat(passes int, do func(lo, hi int)) {
	pass := meter.Start()
	parallel.Ranges(len(b.data), 32*blockRows, do)
	pass.Done(passes * len(b.data) * int(unsafe.Sizeof(F(0))))
}

// rows calls do for ranges of rows, in parallel.
func (b *block[F]) rows(passes int, do func(lo, hi int)) {
	pass := meter.Start()
	parallel.Ranges(b.axis.Own, max(64, taskNumbers/max(1, b.columns)), do)
	pass.Done((passes*b.columns + 1) * b.axis.Own * int(unsafe.Sizeof(F(0))))
}

func (b *block[F]) Set(data []float64) {
	b.sized(data)
	to := b.data
	b.flat(2, func(lo, hi int) {
		for q, v := range data[lo:hi] {
			to[lo+q] = F(v)
		}
	})
}

func (b *block[F]) Get(data []float64) {
	b.sized(data)
	from := b.data
	b.flat(2, func(lo, hi int) {
		for q, v := range from[lo:hi] {
			data[lo+q] = float64(v)
		}
	})
}

// sized panics unless there is a number for each of the block.
func (b *block[F]) sized(data []float64) {
	if len(data) != len(b.data) {
		panic(fmt.Sprintf("space: %d numbers for %d×%d", len(data), b.axis.Own, b.columns))
	}
}

func (b *block[F]) Zero() { b.flat(1, func(lo, hi int) { clear(b.data[lo:hi]) }) }

func (b *block[F]) CopyFrom(x Block) {
	from := b.like(x)
	b.flat(2, func(lo, hi int) { copy(b.data[lo:hi], from[lo:hi]) })
}

func (b *block[F]) Pick(columns []int) Block {
	k, wide := len(columns), b.columns
	if k == wide {
		return b
	}
	out := b.host.block(b.axis, k)
	out.rows(3, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			to, from := out.data[i*k:][:k], b.data[i*wide:][:wide]
			for t, j := range columns {
				to[t] = from[j]
			}
		}
	})
	b.Free()
	return out
}

func (b *block[F]) SetColumn(column int, x Block, from int) {
	k, data, wide := b.columns, b.beside(x), x.Columns()
	b.rows(1, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			b.data[i*k+column] = data[i*wide+from]
		}
	})
}

func (b *block[F]) AddColumns(x Block, to []int, factor []float64) {
	k, data, wide := b.columns, b.beside(x), x.Columns()
	by := make([]F, len(factor))
	var list []int
	for t, j := range to {
		if by[t] = F(factor[t]); j >= 0 {
			list = append(list, t)
		}
	}
	b.rows(3, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			out, row := b.data[i*k:][:k], data[i*wide:][:wide]
			for _, t := range list {
				out[to[t]] += F(by[t] * row[t])
			}
		}
	})
}

func (b *block[F]) Scale(x, diag Block, factor float64) {
	from, c := b.like(x), F(factor)
	if diag == nil {
		b.flat(2, func(lo, hi int) {
			for q, v := range from[lo:hi] {
				b.data[lo+q] = F(c * v)
			}
		})
		return
	}
	k, d := b.columns, b.diagonal(diag)
	b.rows(2, func(lo, hi int) {
		if k == 4 {
			for i, s := range d[lo:hi] {
				v := F(c * s)
				in, out := (*[4]F)(from[4*(lo+i):]), (*[4]F)(b.data[4*(lo+i):])
				out[0], out[1], out[2], out[3] = v*in[0], v*in[1], v*in[2], v*in[3]
			}
			return
		}
		for i := lo; i < hi; i++ {
			v, out := F(c*d[i]), b.data[i*k:][:k]
			for t, w := range from[i*k:][:k] {
				out[t] = F(v * w)
			}
		}
	})
}

func (b *block[F]) AddScaled(x, diag Block, factor float64) {
	from, c := b.like(x), F(factor)
	if diag == nil {
		b.flat(3, func(lo, hi int) {
			for q, v := range from[lo:hi] {
				b.data[lo+q] += F(c * v)
			}
		})
		return
	}
	k, d := b.columns, b.diagonal(diag)
	b.rows(3, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			v, out := F(c*d[i]), b.data[i*k:][:k]
			for t, w := range from[i*k:][:k] {
				out[t] += F(v * w)
			}
		}
	})
}

func (b *block[F]) Subtract(x, keep, out Block) {
	k, from, left, right := b.columns, b.like(x), b.diagonal(keep), b.diagonal(out)
	b.rows(3, func(lo, hi int) {
		if k == 4 {
			for i := lo; i < hi; i++ {
				in, to, s, o := (*[4]F)(from[4*i:]), (*[4]F)(b.data[4*i:]), left[i], right[i]
				for t, v := range in {
					to[t] = F(s*v) - F(o*to[t])
				}
			}
			return
		}
		for i := lo; i < hi; i++ {
			s, o, to := left[i], right[i], b.data[i*k:][:k]
			for t, v := range from[i*k:][:k] {
				to[t] = F(s*v) - F(o*to[t])
			}
		}
	})
}

func (b *block[F]) Observe(y, g, sd Block) {
	k, ys, gs, sds := b.columns, b.diagonal(y), b.like(g), b.diagonal(sd)
	b.rows(3, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			to := b.data[i*k:][:k]
			for t, v := range gs[i*k:][:k] {
				to[t] = ys[i] - v - F(sds[i]*to[t])
			}
		}
	})
}

func (b *block[F]) Extrapolate(before Block, factor float64) {
	last, c := b.like(before), F(factor)
	b.flat(4, func(lo, hi int) {
		was := last[lo:hi]
		for q, v := range b.data[lo:hi] {
			b.data[lo+q], was[q] = v+F(c*(v-was[q])), v
		}
	})
}

func (b *block[F]) AddSpread(x, mean Block) {
	k, from, means := x.Columns(), b.beside(x), b.diagonal(mean)
	b.rows(1+k, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			sum, at := F(0), means[i]
			for _, v := range from[i*k:][:k] {
				sum += F((v - at) * (v - at))
			}
			b.data[i] += sum
		}
	})
}

func (b *block[F]) AddLevels(level []float64) {
	k, by := b.columns, make([]F, len(level))
	for t, v := range level {
		by[t] = F(v)
	}
	b.rows(2, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			row := b.data[i*k:][:k]
			for t, v := range by {
				row[t] += v
			}
		}
	})
}

// hostPlaces is a list of rows.
type hostPlaces []uint32

func (h *host[F]) Places(rows []uint32) Places { return hostPlaces(rows) }
func (p hostPlaces) Free()                     {}

// fit panics unless there is a place for each row of a block of the columns of another.
func (p hostPlaces) fit(b, other Block) {
	if len(p) != b.Axis().Own || b.Columns() != other.Columns() {
		panic(fmt.Sprintf("space: %d places for %d×%d of %d columns", len(p), b.Axis().Own, b.Columns(), other.Columns()))
	}
}

func (b *block[F]) Gather(x Block, rows Places) {
	other, list := x.(*block[F]), rows.(hostPlaces)
	k, from := b.columns, other.data
	list.fit(b, other)
	b.rows(2, func(lo, hi int) {
		for a := lo; a < hi; a++ {
			copy(b.data[a*k:][:k], from[int(list[a])*k:])
		}
	})
}

func (b *block[F]) Scatter(x Block, rows Places) {
	other, list := x.(*block[F]), rows.(hostPlaces)
	k := b.columns
	list.fit(other, b)
	other.rows(3, func(lo, hi int) {
		for a := lo; a < hi; a++ {
			to := b.data[int(list[a])*k:][:k]
			for t, v := range other.data[a*k:][:k] {
				to[t] += v
			}
		}
	})
}

// streamRows is the number of rows that share a stream of random numbers.
const streamRows = 1024

func (b *block[F]) Normals(seed uint64, purpose string, first int, nodes []uint32) {
	if nodes != nil {
		b.normalsOf(seed, purpose, first, nodes)
		return
	}
	_, row := b.axis.All()
	k := b.columns
	parallel.Ranges(b.axis.Own, streamRows, func(lo, hi int) {
		for t := range k {
			random := rand.New(rng.New(seed, purpose, uint64(first+t), uint64((row+lo)/streamRows)))
			for i := lo; i < hi; i++ {
				b.data[i*k+t] = F(random.NormFloat64())
			}
		}
	})
}

// normalsOf is Normals for some nodes: a stream is gone through as far as it is needed.
func (b *block[F]) normalsOf(seed uint64, purpose string, first int, nodes []uint32) {
	order, starts := byStream(nodes)
	k := b.columns
	parallel.Ranges(len(starts)-1, 1, func(s, _ int) {
		own := order[starts[s]:starts[s+1]]
		stream := nodes[own[0]] / streamRows
		for t := range k {
			random := rand.New(rng.New(seed, purpose, uint64(first+t), uint64(stream)))
			value, next := 0.0, stream*streamRows
			for _, a := range own {
				for ; next <= nodes[a]; next++ {
					value = random.NormFloat64()
				}
				b.data[int(a)*k+t] = F(value)
			}
		}
	})
}

// byStream returns the places of nodes in increasing order of these, and where those of each stream begin.
func byStream(nodes []uint32) (order []uint32, starts []int) {
	order = make([]uint32, len(nodes))
	sorted := true
	for a := range order {
		order[a] = uint32(a)
		sorted = sorted && (a == 0 || nodes[a-1] <= nodes[a])
	}
	if !sorted {
		slices.SortFunc(order, func(a, b uint32) int { return cmp.Compare(nodes[a], nodes[b]) })
	}
	for q, a := range order {
		if q == 0 || nodes[a]/streamRows != nodes[order[q-1]]/streamRows {
			starts = append(starts, q)
		}
	}
	return order, append(starts, len(order))
}

// IsHost reports whether a space is the float64 memory of this process alone.
func IsHost(s Space) bool {
	h, ok := s.(*host[float64])
	return ok && h.group.Alone()
}

// EvenAxis returns the axis of n rows of which processes have equal numbers.
func EvenAxis(s Space, n int) Axis {
	g := groupOf(s)
	if g.Alone() {
		return Rows(n)
	}
	layout := ranks.Even(n, g.Size())
	lo, hi := layout.Range(g.Rank())
	return Axis{hi - lo, g, layout}
}

// Local returns the memory of this process alone, of the same precision.
func Local(s Space) Space {
	switch s.(type) {
	case *host[float32]:
		return Host32()
	case *host[float64]:
		return Host()
	}
	return s
}

// Narrow returns the same memory with numbers of float32.
func Narrow(s Space) Space {
	if h, ok := s.(*host[float64]); ok {
		return &host[float32]{h.link}
	}
	return s
}

// Processes is the number of processes that share a space.
func Processes(s Space) int {
	if g := groupOf(s); !g.Alone() {
		return g.Size()
	}
	return 1
}

func groupOf(s Space) *ranks.Group {
	switch h := s.(type) {
	case *host[float32]:
		return h.group
	case *host[float64]:
		return h.group
	}
	return nil
}

// Gather returns the numbers of all processes of a space, one process after the other.
func Gather[T ranks.Number](ctx context.Context, s Space, own []T) ([]T, error) {
	all, _, err := ranks.Gather(ctx, groupOf(s), own)
	return all, err
}
