package solve

import (
	"context"
	"math"
	"slices"
	"unsafe"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/mat"

	"grfgp/internal/meter"
	"grfgp/internal/parallel"
	"grfgp/internal/scratch"
)

// vectors is a block in the memory of this process, row by row. dense is its view for
// operators, for float64; single that for float32.
type vectors[F floats] struct {
	rows, cols int
	data       []F
	dense      *mat.Dense
	single     blas32.General
}

func (v *vectors[F]) columns() int { return v.cols }

// host is the space of this process's memory, with iterates of precision F. Whatever
// F is, right-hand sides and solutions are float64.
type host[F floats] struct {
	*sides
	apply        func(ctx context.Context, dst, x *vectors[F]) error
	precond      func(dst, r *vectors[F]) // nil: diagonal, or none
	noise, scale []F                      // a nil scale is no preconditioner

	at      operands[F] // of the sweep in progress
	parts   []float64
	both    []float64 // rᵀr and rᵀP⁻¹r
	factors []F
}

// sides are the right-hand sides and solutions of a system, at full precision.
type sides struct {
	n     int
	a     Operator
	noise []float64
	sums  *summation
	b, x  *mat.Dense
	norm  []float64 // of the columns of b
}

// newDouble returns a space of float64 for a system.
func newDouble(s *sides, precond Preconditioner) *host[float64] {
	h := &host[float64]{sides: s, noise: s.noise}
	h.apply = func(ctx context.Context, dst, x *vectors[float64]) error { return s.a.Apply(ctx, dst.dense, x.dense) }
	switch p := precond.(type) {
	case nil:
	case *Jacobi:
		h.scale = p.inv
	default:
		h.precond = func(dst, r *vectors[float64]) { p.Apply(dst.dense, r.dense) }
	}
	return h
}

// newSingle returns a space of float32 for a system, or nil if its operator or its
// preconditioner has no products of float32.
func newSingle(s *sides, precond Preconditioner) *host[float32] {
	h := &host[float32]{sides: s}
	apply := singleOf(s.a)
	if apply == nil {
		return nil
	}
	h.apply = func(ctx context.Context, dst, x *vectors[float32]) error { return apply(ctx, dst.single, x.single) }
	switch p := precond.(type) {
	case nil:
	case *Jacobi:
		h.scale = rounded(p.inv)
	default:
		own, ok := p.(SinglePreconditioner)
		if !ok {
			return nil
		}
		solve := own.Single()
		if solve == nil {
			return nil
		}
		h.precond = func(dst, r *vectors[float32]) { solve(dst.single, r.single) }
	}
	h.noise = rounded(s.noise)
	return h
}

// rounded returns x in float32.
func rounded(x []float64) []float32 {
	out := make([]float32, len(x))
	parallel.Ranges(len(x), 16*blockRows, func(lo, hi int) {
		for i, v := range x[lo:hi] {
			out[lo+i] = float32(v)
		}
	})
	return out
}

// Memory of blocks that are not in use.
var (
	doubles scratch.Pool[float64]
	singles scratch.Pool[float32]
)

func (h *host[F]) block(columns int) block {
	n := h.n * columns
	v := &vectors[F]{rows: h.n, cols: columns}
	switch at := any(v).(type) {
	case *vectors[float64]:
		at.data = doubles.Get(n)
		at.dense = mat.NewDense(h.n, columns, at.data)
	case *vectors[float32]:
		at.data = singles.Get(n)
		at.single = blas32.General{Rows: h.n, Cols: columns, Stride: columns, Data: at.data}
	}
	return v
}

func (h *host[F]) free(b block) {
	switch at := b.(type) {
	case *vectors[float64]:
		doubles.Put(at.data)
	case *vectors[float32]:
		singles.Put(at.data)
	}
}

// of returns the numbers of a block.
func (h *host[F]) of(b block) []F { return b.(*vectors[F]).data }

func (h *host[F]) zero(b block) {
	data := h.of(b)
	parallel.Ranges(len(data), 64*blockRows, func(lo, hi int) { clear(data[lo:hi]) })
}

func (h *host[F]) narrow(b block, keep []int) block {
	k := b.columns()
	if len(keep) == k {
		return b
	}
	out := h.block(len(keep))
	from, to := h.of(b), h.of(out)
	parallel.Ranges(h.n, blockRows, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			row, wide := to[i*len(keep):][:len(keep)], from[i*k:][:k]
			for t, j := range keep {
				row[t] = wide[j]
			}
		}
	})
	h.free(b)
	return out
}

func (h *host[F]) product(ctx context.Context, q, p block) error {
	return h.apply(ctx, q.(*vectors[F]), p.(*vectors[F]))
}

func (h *host[F]) diagonal() bool { return h.precond == nil }

func (h *host[F]) precondition(rz []float64, z, r block) {
	if h.precond == nil {
		h.at = operands[F]{columns: r.columns(), p: h.of(z), r: h.of(r), scale: h.scale}
		h.sweep(rz, beginning)
		return
	}
	h.precond(z.(*vectors[F]), r.(*vectors[F]))
	h.at = operands[F]{columns: r.columns(), p: h.of(r), q: h.of(z)}
	h.sweep(rz, multiplying)
}

func (h *host[F]) turn(p, z block, beta []float64) {
	h.at = operands[F]{columns: p.columns(), p: h.of(p), r: h.of(z), scale: h.scale, beta: h.factor(0, beta)}
	h.sweep(nil, turning)
}

func (h *host[F]) curvature(pq []float64, p, q block) {
	h.at = operands[F]{columns: p.columns(), p: h.of(p), q: h.of(q), noise: h.noise}
	h.sweep(pq, curving)
}

func (h *host[F]) step(rr, rz []float64, e, r, p, q block, alpha []float64) {
	k := p.columns()
	h.at = operands[F]{columns: k, e: h.of(e), r: h.of(r), p: h.of(p), q: h.of(q), noise: h.noise, scale: h.scale, alpha: h.factor(0, alpha)}
	if h.scale == nil {
		h.sweep(rr, stepping)
		copy(rz, rr)
		return
	}
	if len(h.both) < 2*k {
		h.both = make([]float64, 2*k)
	}
	h.sweep(h.both[:2*k], stepping)
	copy(rr, h.both[:k])
	copy(rz, h.both[k:2*k])
}

func (h *host[F]) recur(uu []float64, u, v, q block, a, b, c []float64) {
	h.at = operands[F]{columns: v.columns(), e: h.of(u), p: h.of(v), q: h.of(q), noise: h.noise,
		alpha: h.factor(0, a), beta: h.factor(1, b), gam: h.factor(2, c)}
	h.sweep(uu, recurring)
}

// factor returns x in the precision of the blocks; a sweep has up to three.
func (h *host[F]) factor(which int, x []float64) []F {
	if len(h.factors) < 3*len(x) {
		h.factors = make([]F, 3*len(x))
	}
	out := h.factors[which*len(x):][:len(x)]
	for t, v := range x {
		out[t] = F(v)
	}
	return out
}

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
	adding
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
	case adding:
		addRows(o, sums)
	}
}

// traffic is the number of bytes that the sweep in progress reads and writes.
func (h *host[F]) traffic(which kind) int {
	blocks := [...]int{turning: 3, curving: 2, stepping: 6, multiplying: 2, recurring: 4, beginning: 2, resting: 4, adding: 3}[which]
	diagonals := 0
	for _, d := range [][]F{h.at.noise, h.at.scale} {
		if d != nil {
			diagonals++
		}
	}
	return h.n * (blocks*h.at.columns + diagonals) * int(unsafe.Sizeof(F(0)))
}

// taskNumbers is about how many numbers of each block one task of a sweep covers.
const taskNumbers = 1 << 15

// sweep goes over all rows, by blocks of rows, and sets total to the sums.
func (h *host[F]) sweep(total []float64, which kind) {
	pass := meter.Start()
	defer pass.Done(h.traffic(which))
	k := len(total)
	if h.n <= blockRows && h.sums.alone() {
		clear(total)
		sweepRows(which, &h.at, total)
		return
	}
	blocks := rowBlocks(h.n)
	if len(h.parts) < blocks*k {
		h.parts = make([]float64, blocks*k)
	}
	parts := h.parts[:blocks*k]
	each := max(1, taskNumbers/(blockRows*max(1, h.at.columns)))
	parallel.Ranges(blocks, each, func(first, end int) {
		for b := first; b < end; b++ {
			part := parts[b*k:][:k]
			clear(part)
			rows := h.at.rows(b*blockRows, min(h.n, (b+1)*blockRows))
			sweepRows(which, &rows, part)
		}
	})
	h.sums.add(total, parts)
}

func (h *host[F]) residual(ctx context.Context, rr []float64, r block, cold bool) error {
	_, k := h.b.Dims()
	var product []float64
	if !cold {
		double := host[float64]{sides: h.sides}
		q := double.block(k).(*vectors[float64])
		defer double.free(q)
		if err := h.a.Apply(ctx, q.dense, h.x); err != nil {
			return err
		}
		product = q.data
	}
	if h.rest(rr, r, product) {
		return nil
	}
	xs, bs, to, noise := h.x.RawMatrix(), h.b.RawMatrix(), h.of(r), h.sides.noise
	total := h.sums.sumRows(h.n, k, func(lo, hi int, sums []float64) {
		for i := lo; i < hi; i++ {
			x, b, out := row(xs, i), row(bs, i), to[i*k:][:k]
			if cold {
				for j, norm := range h.norm {
					v := 0.0
					if norm > 0 {
						v = b[j] / norm
					}
					out[j] = F(v)
					sums[j] += float64(v * v)
				}
				continue
			}
			q, d := product[i*k:][:k], noise[i]
			for j, norm := range h.norm {
				v := 0.0
				if norm > 0 {
					v = (b[j] - q[j] - float64(d*x[j])) / norm
				} else {
					x[j] = 0
				}
				out[j] = F(v)
				sums[j] += float64(v * v)
			}
		}
	})
	copy(rr, total)
	return nil
}

// rest is residual for float64 without gaps, given A·X, in one sweep. It reports whether
// that could be done.
func (h *host[F]) rest(rr []float64, r block, product []float64) bool {
	double, ok := any(h).(*host[float64])
	if !ok || product == nil || !gapless(h.x) || !gapless(h.b) || slices.Contains(h.norm, 0) {
		return false
	}
	double.at = operands[float64]{columns: r.columns(), e: h.x.RawMatrix().Data, p: h.b.RawMatrix().Data, q: product, r: double.of(r),
		noise: h.sides.noise, alpha: inverses(h.norm)}
	double.sweep(rr, resting)
	return true
}

// gapless reports that the rows of x follow each other.
func gapless(x *mat.Dense) bool { return x.RawMatrix().Stride == x.RawMatrix().Cols }

// inverses returns 1/x; 0 for 0.
func inverses(x []float64) []float64 {
	inv := make([]float64, len(x))
	for j, v := range x {
		if v != 0 {
			inv[j] = 1 / v
		}
	}
	return inv
}

func (h *host[F]) correct(e block, cols, list []int) {
	if len(list) == 0 {
		return
	}
	if double, ok := any(h).(*host[float64]); ok && len(list) == len(h.norm) && len(cols) == len(list) && gapless(h.x) {
		double.at = operands[float64]{columns: len(list), e: h.x.RawMatrix().Data, p: double.of(e), alpha: h.norm}
		double.sweep(nil, adding)
		return
	}
	k, from, xs := e.columns(), h.of(e), h.x.RawMatrix()
	parallel.Ranges(h.n, blockRows, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			x, row := row(xs, i), from[i*k:][:k]
			for _, t := range list {
				j := cols[t]
				x[j] += float64(h.norm[j] * float64(row[t]))
			}
		}
	})
}

// sumRows calls add for blocks of rows and returns the sums of its k sums.
func (s *summation) sumRows(n, k int, add func(lo, hi int, sums []float64)) []float64 {
	total := make([]float64, k)
	if n <= blockRows && s.alone() {
		add(0, n, total)
		return total
	}
	blocks := rowBlocks(n)
	parts := make([]float64, blocks*k)
	// A worker adds up in memory of its own: sums of two workers in one cache line would
	// cost more than the rows. 64 bytes keep neighbours apart.
	width := k + 8
	scratch := make([]float64, parallel.Workers(blocks)*width)
	_ = parallel.Blocks(context.Background(), blocks, func(worker, b int) error {
		sums := scratch[worker*width:][:k]
		clear(sums)
		add(b*blockRows, min(n, (b+1)*blockRows), sums)
		copy(parts[b*k:], sums)
		return nil
	})
	s.add(total, parts)
	return total
}

// columnNorms returns the Euclidean norms of the columns of b, and whether all
// numbers are finite. Columns whose squares leave the range of float64 are scaled.
func (s *summation) columnNorms(b *mat.Dense) (norms []float64, ok bool) {
	n, k := b.Dims()
	raw := b.RawMatrix()
	norms = s.sumRows(n, k, func(lo, hi int, sums []float64) {
		for i := lo; i < hi; i++ {
			for j, v := range row(raw, i) {
				sums[j] += float64(v * v)
			}
		}
	})
	safe := true
	for j, v := range norms {
		norms[j] = math.Sqrt(v)
		safe = safe && v > 1e-200 && v < 1e200
	}
	if safe {
		return norms, true
	}
	return s.scaledNorms(b)
}

// scaledNorms is columnNorms by numbers that are divided by the largest.
func (s *summation) scaledNorms(b *mat.Dense) ([]float64, bool) {
	n, k := b.Dims()
	raw := b.RawMatrix()
	tops := make([]float64, rowBlocks(n)*k)
	parallel.Ranges(n, blockRows, func(lo, hi int) {
		top := tops[lo/blockRows*k:][:k]
		for i := lo; i < hi; i++ {
			for j, v := range row(raw, i) {
				if !finite(v) {
					v = math.Inf(1)
				}
				top[j] = max(top[j], math.Abs(v))
			}
		}
	})
	top := make([]float64, k)
	for q, v := range tops {
		top[q%k] = max(top[q%k], v)
	}
	s.most(top)
	for _, v := range top {
		if !finite(v) {
			return nil, false
		}
	}
	norms := s.sumRows(n, k, func(lo, hi int, sums []float64) {
		for i := lo; i < hi; i++ {
			for j, v := range row(raw, i) {
				if top[j] > 0 {
					v /= top[j]
					sums[j] += float64(v * v)
				}
			}
		}
	})
	for j := range norms {
		norms[j] = top[j] * math.Sqrt(norms[j])
	}
	return norms, true
}
