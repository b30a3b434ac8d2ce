package space

import (
	"context"
	"fmt"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"grfgp/internal/dense"
	"grfgp/internal/parallel"
	"grfgp/internal/ranks"
	"grfgp/sparse"
	"grfgp/sparse/spread"
)

// product multiplies a few columns of blocks: dst may have fewer rows than the matrix, those from row lo on.
type product[F floats] func(dst, x sparse.Block[F], lo int, add bool) error

// productOf returns the products of a sparse matrix.
func productOf[F floats](m *sparse.Values[F]) product[F] {
	return func(dst, x sparse.Block[F], lo int, add bool) error {
		m.Multiply(dst, x, lo, add)
		return nil
	}
}

// spreadProduct returns the products of a matrix whose rows and columns processes share.
func spreadProduct[F floats](h *host[F], m *spread.Matrix[F]) product[F] {
	return func(dst, x sparse.Block[F], _ int, add bool) error { return m.Multiply(h.ctx, dst, x, add) }
}

// stripColumns is the number of columns that share a product: rows of x that are used soon again stay near the processor.
const stripColumns = 32

// multiply sets dst = scale·M·x, or adds it.
func (h *host[F]) multiply(p product[F], dst, x Block, lo int, scale float64, add bool) {
	to, from := dst.(*block[F]), x.(*block[F])
	if to.columns != from.columns {
		panic(fmt.Sprintf("space: %d columns to %d", from.columns, to.columns))
	}
	if scale != 1 && add {
		t := h.block(to.axis, to.columns)
		defer t.Free()
		h.multiply(p, t, x, lo, scale, false)
		to.AddScaled(t, nil, 1)
		return
	}
	for first := 0; first < to.columns; first += stripColumns {
		end := min(to.columns, first+stripColumns)
		if err := p(to.strip(first, end), from.strip(first, end), lo, add); err != nil {
			h.fail(err)
			return
		}
	}
	if scale != 1 {
		to.Scale(to, nil, scale)
	}
}

// strip returns columns [lo, hi).
func (b *block[F]) strip(lo, hi int) sparse.Block[F] {
	v := sparse.Block[F]{Rows: b.axis.Own, Cols: hi - lo, Stride: max(1, b.columns), Data: b.data}
	if len(b.data) > 0 {
		v.Data = b.data[lo : len(b.data)-b.columns+hi]
	}
	return v
}

// hostSparse is a sparse matrix.
type hostSparse[F floats] struct {
	host          *host[F]
	plain, turned product[F]
	turn          func() (product[F], error) // makes turned when it is first used
}

func (h *host[F]) Sparse(ctx context.Context, rows, columns Axis, m Entries) (Matrix, error) {
	if !rows.group.Alone() && !columns.group.Alone() {
		return h.sharedSparse(ctx, rows, columns, m)
	}
	a := m.csr
	if a == nil {
		var err error
		if a, err = sparse.NewCSR(rows.Own, columns.Own, m.Ptr, m.Col, m.Val); err != nil {
			return nil, err
		}
	}
	s := &hostSparse[F]{host: h, plain: productOf(sparse.ValuesOf[F](a))}
	s.turn = func() (product[F], error) { return productOf(sparse.ValuesOf[F](a.T())), nil }
	if rows.group.Alone() {
		return s, nil
	}
	var err error
	s.turn, err = h.meeting(ctx, rows, columns, m)
	return s, err
}

func (s *hostSparse[F]) Mul(dst, x Block, lo int, scale float64, add bool) {
	s.host.multiply(s.plain, dst, x, lo, scale, add)
}

func (s *hostSparse[F]) MulT(dst, x Block, scale float64, add bool) {
	if s.turned == nil {
		var err error
		if s.turned, err = s.turn(); err != nil {
			s.host.fail(err)
			return
		}
	}
	s.host.multiply(s.turned, dst, x, 0, scale, add)
}

func (s *hostSparse[F]) Free() {}

// sharedSparse is a matrix whose rows and columns processes share: its products fetch the rows of blocks that other
// processes have.
func (h *host[F]) sharedSparse(ctx context.Context, rows, columns Axis, m Entries) (*hostSparse[F], error) {
	shape, err := spread.NewPattern(ctx, h.group, rows.layout, columns.layout, m.Ptr, m.Col)
	if err != nil {
		return nil, err
	}
	val := factors[F](m.Val)
	plain, err := spread.With(shape, val)
	if err != nil {
		return nil, err
	}
	return &hostSparse[F]{host: h, plain: spreadProduct(h, plain), turn: func() (product[F], error) {
		turned, err := shape.Transposed(h.ctx)
		if err != nil {
			return nil, err
		}
		to := make([]F, turned.Entries())
		if err := spread.Carry(h.ctx, turned, to, val); err != nil {
			return nil, err
		}
		m, err := spread.With(turned.Pattern, to)
		if err != nil {
			return nil, err
		}
		return spreadProduct(h, m), nil
	}}, nil
}

// meeting returns the transposed products of a matrix whose rows processes share, and whose columns all of them have: each
// process computes some of the columns, and tells all others.
func (h *host[F]) meeting(ctx context.Context, rows, columns Axis, m Entries) (func() (product[F], error), error) {
	part := Axis{group: h.group, layout: ranks.Even(columns.Own, h.group.Size())}
	lo, hi := part.layout.Range(h.group.Rank())
	part.Own = hi - lo
	shared, err := h.sharedSparse(ctx, rows, part, m)
	if err != nil {
		return nil, err
	}
	return func() (product[F], error) {
		turned, err := shared.turn()
		if err != nil {
			return nil, err
		}
		return func(dst, x sparse.Block[F], _ int, add bool) error {
			k := x.Cols
			all := sparse.Block[F]{Rows: columns.Own, Cols: k, Stride: k, Data: make([]F, columns.Own*k)}
			own := sparse.Block[F]{Rows: part.Own, Cols: k, Stride: k, Data: all.Data[lo*k : hi*k]}
			if err := turned(own, x, 0, false); err != nil {
				return err
			}
			starts := make([]int, h.group.Size()+1)
			for r := range h.group.Size() {
				_, end := part.layout.Range(r)
				starts[r+1] = end * k
			}
			if err := ranks.Complete(h.ctx, h.group, all.Data, starts); err != nil {
				return err
			}
			for j := range columns.Own {
				to := dst.Data[j*dst.Stride:][:k]
				for t, v := range all.Data[j*k:][:k] {
					if add {
						v += to[t]
					}
					to[t] = v
				}
			}
			return nil
		}, nil
	}, nil
}

// hostDense is a dense matrix of few columns, which every process has.
type hostDense[F floats] struct {
	host *host[F]
	rows Axis
	x    *mat.Dense
}

func (h *host[F]) Dense(rows Axis, x *mat.Dense) Matrix { return &hostDense[F]{h, rows, x} }

func (m *hostDense[F]) Free() {}

func (m *hostDense[F]) Mul(dst, x Block, lo int, scale float64, add bool) {
	to, from := dst.(*block[F]), x.(*block[F])
	k, width := to.columns, from.axis.Own
	if to.axis.Own*k == 0 {
		return
	}
	w := mat.NewDense(width, k, wide(from.data))
	if width <= thin {
		parallel.Ranges(to.axis.Own, denseRows, func(first, end int) { m.mulThin(to, w, first, end, lo, scale, add) })
		return
	}
	parallel.Ranges(to.axis.Own, denseRows, func(first, end int) {
		out := make([]float64, (end-first)*k)
		dense.Add(dense.View(mat.NewDense(end-first, k, out)), scale, dense.View(m.x).Block(lo+first, lo+end, 0, width), dense.View(w))
		into := to.data[first*k:][:len(out)]
		for q, v := range out {
			if add {
				into[q] += F(v)
			} else {
				into[q] = F(v)
			}
		}
	})
}

// thin is the most columns of a matrix whose products are as quick row by row as by blocks.
const thin = 4

// mulThin is Mul for rows [first, end), by w.
func (m *hostDense[F]) mulThin(to *block[F], w *mat.Dense, first, end, lo int, scale float64, add bool) {
	k := to.columns
	for i := first; i < end; i++ {
		out := to.data[i*k:][:k]
		if !add {
			clear(out)
		}
		for d, v := range m.x.RawRowView(lo + i) {
			by, c := w.RawRowView(d)[:len(out)], scale*v
			for t := range out {
				out[t] += F(c * by[t])
			}
		}
	}
}

// sumThin adds Xᵀu over rows [lo, hi) to sums.
func (m *hostDense[F]) sumThin(sums []float64, u []F, lo, hi int) {
	k := len(sums) / m.x.RawMatrix().Cols
	for i := lo; i < hi; i++ {
		row := u[i*k:][:k]
		for d, v := range m.x.RawRowView(i) {
			sum := sums[d*k:][:len(row)]
			for t, x := range row {
				sum[t] += float64(v * float64(x))
			}
		}
	}
}

// denseRows is the number of rows of a dense matrix that are multiplied at a time.
const denseRows = blockRows

// wide returns numbers in float64: themselves, if they are.
func wide[F floats](x []F) []float64 {
	if own, ok := any(x).([]float64); ok {
		return own
	}
	out := make([]float64, len(x))
	for i, v := range x {
		out[i] = float64(v)
	}
	return out
}

func (m *hostDense[F]) MulT(dst, x Block, scale float64, add bool) {
	to, from := dst.(*block[F]), x.(*block[F])
	k, width := to.columns, to.axis.Own
	total := m.host.sum(m.rows, width*k, func(lo, hi int, sums []float64) {
		if hi == lo {
			return
		}
		if width <= thin {
			m.sumThin(sums, from.data, lo, hi)
			return
		}
		dense.Add(dense.View(mat.NewDense(width, k, sums)), 1, dense.View(m.x).Block(lo, hi, 0, width).T(),
			dense.View(mat.NewDense(hi-lo, k, wide(from.data[lo*k:hi*k]))))
	})
	for q, v := range total {
		if v *= scale; add {
			to.data[q] += F(v)
		} else {
			to.data[q] = F(v)
		}
	}
}

// DenseView returns numbers of float64 as a matrix; an empty one where there are none.
func DenseView(b sparse.Block[float64]) *mat.Dense {
	m := &mat.Dense{}
	if b.Rows*b.Cols > 0 {
		m.SetRawMatrix(blas64.General(b))
	}
	return m
}
