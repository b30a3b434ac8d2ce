package space

import (
	"context"
	"fmt"
	"math"
	"unsafe"

	"grfgp/internal/meter"
	"grfgp/internal/parallel"
	"grfgp/internal/ranks"
)

// kind names a sweep.
type kind int

const (
	turning kind = iota
	curving
	stepping
	multiplying
	recurring
	beginning
	resting
)

// sweepRows is a sweep over some rows. It adds to sums.
func sweepRows[F floats](which kind, o *operands[F], sums []float64) {
	switch which {
	case turning:
		turnRows(o, sums)
	case curving:
		curvatureRows(o, sums)
	case stepping:
		stepRows(o, sums)
	case multiplying:
		dotRows(o, sums)
	case recurring:
		recurRows(o, sums)
	case beginning:
		beginRows(o, sums)
	case resting:
		restRows(o, sums)
	}
}

// taskNumbers is about how many numbers of each block one task of a sweep covers.
const taskNumbers = 1 << 15

// sweep goes over all rows of an axis, by blocks of rows, and sets total to the sums over those of all processes.
func (h *host[F]) sweep(a Axis, at *operands[F], total []float64, which kind) {
	pass := meter.Start()
	defer pass.Done(traffic(a.Own, at, which))
	at.check(a.Own, len(total), which)
	k := len(total)
	if a.Own <= blockRows && a.group.Alone() {
		clear(total)
		sweepRows(which, at, total)
		return
	}
	blocks := (a.Own + blockRows - 1) / blockRows
	parts := make([]float64, blocks*k)
	each := max(1, taskNumbers/(blockRows*max(1, at.columns)))
	parallel.Ranges(blocks, each, func(first, end int) {
		for b := first; b < end; b++ {
			rows := at.rows(b*blockRows, min(a.Own, (b+1)*blockRows))
			sweepRows(which, &rows, parts[b*k:][:k])
		}
	})
	h.add(a, total, parts)
}

// check panics unless there is a factor and a sum for each column, or two: the assembly does not look at lengths. Blocks and
// diagonals have the rows of the axis.
func (o *operands[F]) check(rows, sums int, which kind) {
	want := o.columns
	switch {
	case which == turning:
		want = 0
	case which == stepping && o.scale != nil:
		want *= 2
	}
	for _, x := range [][]F{o.alpha, o.beta, o.gam} {
		if x != nil && len(x) != o.columns || sums != want {
			panic(fmt.Sprintf("space: %d factors and %d sums for %d×%d", len(x), sums, rows, o.columns))
		}
	}
}

// traffic is the number of bytes that a sweep reads and writes.
func traffic[F floats](rows int, at *operands[F], which kind) int {
	blocks := [...]int{turning: 3, curving: 2, stepping: 6, multiplying: 2, recurring: 4, beginning: 2, resting: 4}[which]
	diagonals := 0
	for _, d := range [][]F{at.noise, at.scale} {
		if d != nil {
			diagonals++
		}
	}
	return rows * (blocks*at.columns + diagonals) * int(unsafe.Sizeof(F(0)))
}

// add sets total to the sum of parts, one for every block of rows, over those of all processes; NaN after a failure.
// It overwrites parts.
func (h *host[F]) add(a Axis, total, parts []float64) {
	if a.group.Alone() {
		ranks.TreeSum(total, parts)
		return
	}
	if h.err == nil {
		h.fail(a.group.Sum(h.ctx, total, parts, a.layout))
	}
	if h.err != nil {
		for j := range total {
			total[j] = math.NaN()
		}
	}
}

// sum returns k sums over the rows of all processes: do adds those of rows [lo, hi), at most a block.
func (h *host[F]) sum(a Axis, k int, do func(lo, hi int, sums []float64)) []float64 {
	total := make([]float64, k)
	if a.Own <= blockRows && a.group.Alone() {
		do(0, a.Own, total)
		return total
	}
	blocks := (a.Own + blockRows - 1) / blockRows
	parts := make([]float64, blocks*k)
	// A worker adds up in memory of its own: sums of two workers in one cache line would cost more than the rows.
	width := k + 8
	scratch := make([]float64, parallel.Workers(blocks)*width)
	_ = parallel.Blocks(context.Background(), blocks, func(worker, b int) error {
		sums := scratch[worker*width:][:k]
		clear(sums)
		do(b*blockRows, min(a.Own, (b+1)*blockRows), sums)
		copy(parts[b*k:], sums)
		return nil
	})
	h.add(a, total, parts)
	return total
}

func (b *block[F]) Sums(x, weight Block) []float64 {
	k, total := b.columns, make([]float64, b.columns)
	if x != nil && weight == nil {
		b.host.sweep(b.axis, &operands[F]{columns: k, p: b.data, q: b.like(x)}, total, multiplying)
		return total
	}
	by := b.diagonal(weight)
	var others []F
	if x != nil {
		others = b.like(x)
	}
	return b.host.sum(b.axis, k, func(lo, hi int, sums []float64) {
		for i := lo; i < hi; i++ {
			row := b.data[i*k:][:k]
			switch {
			case others == nil && by == nil:
				for t, v := range row {
					sums[t] += float64(v)
				}
			case others == nil:
				for t, v := range row {
					sums[t] += float64(float64(by[i]) * float64(v))
				}
			default:
				w, other := float64(by[i]), others[i*k:][:k]
				for t, v := range row {
					sums[t] += float64(w * float64(float64(v)*float64(other[t])))
				}
			}
		}
	})
}

func (b *block[F]) Begin(rz []float64, r, scale Block) {
	b.host.sweep(b.axis, &operands[F]{columns: b.columns, p: b.data, r: b.like(r), scale: b.diagonal(scale)}, rz, beginning)
}

func (b *block[F]) Turn(r, scale Block, beta []float64) {
	b.host.sweep(b.axis, &operands[F]{columns: b.columns, p: b.data, r: b.like(r), scale: b.diagonal(scale), beta: factors[F](beta)}, nil,
		turning)
}

func (b *block[F]) Curvature(pq []float64, q, noise Block) {
	b.host.sweep(b.axis, &operands[F]{columns: b.columns, p: b.data, q: b.like(q), noise: b.diagonal(noise)}, pq, curving)
}

func (b *block[F]) Step(rr, rz []float64, r, p, q, noise, scale Block, alpha []float64) {
	k := b.columns
	at := &operands[F]{columns: k, e: b.data, r: b.like(r), p: b.like(p), q: b.like(q), noise: b.diagonal(noise), scale: b.diagonal(scale),
		alpha: factors[F](alpha)}
	if scale == nil {
		b.host.sweep(b.axis, at, rr, stepping)
		copy(rz, rr)
		return
	}
	both := make([]float64, 2*k)
	b.host.sweep(b.axis, at, both, stepping)
	copy(rr, both[:k])
	copy(rz, both[k:])
}

func (b *block[F]) Recur(uu []float64, v, q, noise Block, x, y, z []float64) {
	b.host.sweep(b.axis, &operands[F]{columns: b.columns, e: b.data, p: b.like(v), q: b.like(q), noise: b.diagonal(noise),
		alpha: factors[F](x), beta: factors[F](y), gam: factors[F](z)}, uu, recurring)
}

func (b *block[F]) Rest(rr []float64, side, q, x, noise Block, alpha []float64) {
	if q != nil {
		b.host.sweep(b.axis, &operands[F]{columns: b.columns, e: b.like(x), p: b.like(side), q: b.like(q), r: b.data, noise: b.diagonal(noise),
			alpha: factors[F](alpha)}, rr, resting)
		return
	}
	k, from, by := b.columns, b.like(side), factors[F](alpha)
	b.rows(2, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			to := b.data[i*k:][:k]
			for t, v := range from[i*k:][:k] {
				to[t] = F(by[t] * v)
			}
		}
	})
	copy(rr, b.Sums(b, nil))
}

// factors returns numbers in the precision of blocks.
func factors[F floats](x []float64) []F {
	out := make([]F, len(x))
	for t, v := range x {
		out[t] = F(v)
	}
	return out
}

// SumRows returns k sums over the rows of all processes, in float64: do adds those of rows [lo, hi), at most a block of
// this process, to sums.
func SumRows(s Space, a Axis, k int, do func(lo, hi int, sums []float64)) []float64 {
	switch h := s.(type) {
	case *host[float32]:
		return h.sum(a, k, do)
	case *host[float64]:
		return h.sum(a, k, do)
	}
	return Host().(*host[float64]).sum(a, k, do)
}

// Sum returns the sum of x, a number for each row, over the rows of all processes.
func Sum(s Space, a Axis, x []float64) float64 {
	return SumRows(s, a, 1, func(lo, hi int, sums []float64) {
		for _, v := range x[lo:hi] {
			sums[0] += v
		}
	})[0]
}

// sumIntegers replaces every number by its sum over the processes of a space.
func sumIntegers(s Space, x []int64) error {
	switch h := s.(type) {
	case *host[float32]:
		return h.group.SumIntegers(h.ctx, x)
	case *host[float64]:
		return h.group.SumIntegers(h.ctx, x)
	}
	return nil
}

// Convert sets dst to src, of another space, or adds it.
func Convert(dst, src Block, add bool) {
	if add {
		from, narrow := src.(*block[float32])
		to, wide := dst.(*block[float64])
		if narrow && wide {
			addConverted(to, from)
			return
		}
		part := dst.Like()
		defer part.Free()
		Convert(part, src, false)
		dst.AddScaled(part, nil, 1)
		return
	}
	switch from := src.(type) {
	case *block[float64]:
		if to, ok := dst.(*block[float32]); ok {
			convert(to, from)
			return
		}
		dst.Set(from.data)
	case *block[float32]:
		if to, ok := dst.(*block[float64]); ok {
			convert(to, from)
			return
		}
		dst.Set(wide(from.data))
	default:
		if to, ok := dst.(*block[float64]); ok {
			from.Get(to.data)
			return
		}
		data := make([]float64, src.Axis().Own*src.Columns())
		from.Get(data)
		dst.Set(data)
	}
}

func convert[F, G floats](to *block[F], from *block[G]) {
	to.flat(3, func(lo, hi int) {
		for q, v := range from.data[lo:hi] {
			to.data[lo+q] = F(v)
		}
	})
}

func addConverted[F, G floats](to *block[F], from *block[G]) {
	to.flat(3, func(lo, hi int) {
		for q, v := range from.data[lo:hi] {
			to.data[lo+q] += F(v)
		}
	})
}

// SumOf returns the sum of a number of each process.
func SumOf(s Space, a Axis, x float64) float64 {
	g := groupOf(s)
	if !a.Shared() {
		return x
	}
	all, err := Gather(context.Background(), s, []float64{x})
	if err != nil {
		fail(s, err)
		return math.NaN()
	}
	sum := 0.0
	for _, v := range all[:g.Size()] {
		sum += v
	}
	return sum
}

func fail(s Space, err error) {
	switch h := s.(type) {
	case *host[float32]:
		h.fail(err)
	case *host[float64]:
		h.fail(err)
	}
}
