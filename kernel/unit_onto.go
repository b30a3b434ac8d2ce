package kernel

import (
	"context"
	"sync"

	"gonum.org/v1/gonum/mat"

	"grfgp/internal/parallel"
	"grfgp/sparse"
)

// ontoPattern is the pattern of P_k·Φ̂_k for one list, which is the same for every θ. The zero value is ready for use.
type ontoPattern struct {
	once sync.Once
	p    *pattern
	err  error
}

// ontoFactor is onto with a pattern that is found once and used again.
func (u unit) ontoFactor(list *chain, k int, shape *ontoPattern) (*factor, error) {
	whole, err := list.whole(k + 1)
	if err != nil {
		return nil, err
	}
	f := u.raw.factor(list.nodes[k+1])
	if f.err != nil {
		return nil, f.err
	}
	shape.once.Do(func() {
		product, err := whole.Times(f.phi)
		if err != nil {
			shape.err = err
			return
		}
		ptr, col, _ := product.Raw()
		shape.p = &pattern{rows: list.nodes[0], width: f.width, ptr: ptr, col: col}
	})
	if shape.err != nil {
		return nil, shape.err
	}
	p := shape.p
	val := make([]float64, len(p.col))
	u.eachOnto(whole, f, u.inverses(list.nodes[k+1]), func(i int, row []float64) {
		for q := p.ptr[i]; q < p.ptr[i+1]; q++ {
			c := p.col[q]
			val[q], row[c] = row[c], 0
		}
	})
	phi, err := p.with(val)
	return newFactor(u.raw, p, phi, err), err
}

// eachOnto calls do with every row of P·Φ̂, in parallel. The row has an entry for every column of Φ̂, and do sets it to zero.
func (u unit) eachOnto(whole *sparse.CSR, f *factor, inv []float64, do func(i int, row []float64)) {
	const size = 64
	rows, _ := whole.Dims()
	blocks := (rows + size - 1) / size
	scratch := make([][]float64, parallel.Workers(blocks))
	_ = parallel.Blocks(context.Background(), blocks, func(worker, b int) error {
		if scratch[worker] == nil {
			scratch[worker] = make([]float64, f.width)
		}
		row := scratch[worker]
		for i := b * size; i < min(rows, (b+1)*size); i++ {
			cells, weights := whole.Row(i)
			for q, j := range cells {
				v := weights[q] * inv[j]
				cols, vals := f.phi.Row(int(j))
				for p, c := range cols {
					row[c] += float64(v * vals[p])
				}
			}
			do(i, row)
		}
		return nil
	})
}

// addOntoSquares adds the squared norms of the rows of P_k·Φ̂_k, times the variance, to dst.
func (u unit) addOntoSquares(dst []float64, list *chain, k int) error {
	whole, err := list.whole(k + 1)
	if err != nil {
		return err
	}
	f := u.raw.factor(list.nodes[k+1])
	if f.err != nil {
		return f.err
	}
	u.eachOnto(whole, f, u.inverses(list.nodes[k+1]), func(i int, row []float64) {
		sum := 0.0
		cells, _ := whole.Row(i)
		for _, j := range cells {
			cols, _ := f.phi.Row(int(j))
			for _, c := range cols { // the second time a column comes, it is zero
				sum += float64(row[c] * row[c])
				row[c] = 0
			}
		}
		dst[i] += u.variance * sum
	})
	return nil
}

// addSquare adds scale·ΦΦᵀ to the upper triangle of dst.
func addSquare(ctx context.Context, dst *mat.SymDense, phi *sparse.CSR, scale float64) error {
	rows, width := phi.Dims()
	ptr, col, _ := phi.Raw()
	f := &factor{pattern: &pattern{rows: make([]int, rows), width: width, ptr: ptr, col: col}, phi: phi}
	f.once.Do(func() { f.phiT = phi.T() }) // a pattern that is not used again need not know the places of its entries
	return f.addGram(ctx, dst.RawSymmetric(), scale)
}
