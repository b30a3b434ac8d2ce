package kernel

import (
	"cmp"
	"slices"

	"grfgp/internal/parallel"
	"grfgp/sparse"
)

// transposedBefore is the transpose of the pattern of a list without others.
type transposedBefore struct {
	ptr        []int // of the pattern itself
	transposed *sparse.Pattern
	from       []uint32
	others     []int
}

// freshEntry is an entry of a row that the list before had not.
type freshEntry struct{ col, row, place uint32 }

// growTranspose sets the transpose of p from that of the list without a few of its rows: in every
// column the entries that there were, with the numbers that their rows and places have now, and
// those of the others between them.
func (p *pattern) growTranspose(b *transposedBefore) bool {
	var fresh []freshEntry
	for _, a := range b.others {
		for q := p.ptr[a]; q < p.ptr[a+1]; q++ {
			fresh = append(fresh, freshEntry{p.col[q], uint32(a), uint32(q)})
		}
	}
	slices.SortStableFunc(fresh, func(x, y freshEntry) int { return cmp.Compare(x.col, y.col) }) // rows increase

	// Where the rows before are now, and how far their entries have moved.
	row, shift := make([]uint32, len(b.ptr)-1), make([]uint32, len(b.ptr)-1)
	grownPlaces(b.others, 0, len(p.rows), func(lo, hi, from int) {
		for a := lo; from >= 0 && a < hi; a++ {
			row[from], shift[from] = uint32(a), uint32(p.ptr[a]-b.ptr[from])
			from++
		}
	})

	ptrBefore, colBefore := b.transposed.Raw()
	known := len(ptrBefore) - 1 // columns; more may have come, at the end
	ptr, col := make([]int, p.width+1), make([]uint32, len(p.col))
	p.from, p.to = make([]uint32, len(p.col)), make([]uint32, len(p.col))
	const size = 1024
	parallel.Ranges(p.width, size, func(lo, hi int) {
		f, _ := slices.BinarySearchFunc(fresh, uint32(lo), func(e freshEntry, c uint32) int { return cmp.Compare(e.col, c) })
		q := ptrBefore[min(lo, known)] + f
		for c := lo; c < hi; c++ {
			if c < known {
				o, end := ptrBefore[c], ptrBefore[c+1]
				for ; f < len(fresh) && fresh[f].col == uint32(c); f++ {
					n := o
					for n < end && row[colBefore[n]] < fresh[f].row {
						n++
					}
					q = p.moved(col, q, colBefore[o:n], b.from[o:n], row, shift)
					q, o = p.put(col, q, fresh[f]), n
				}
				q = p.moved(col, q, colBefore[o:end], b.from[o:end], row, shift)
			}
			for ; f < len(fresh) && fresh[f].col == uint32(c); f++ {
				q = p.put(col, q, fresh[f])
			}
			ptr[c+1] = q
		}
	})
	var err error
	if p.transposed, err = sparse.NewPattern(p.width, len(p.rows), ptr, col); err != nil {
		p.transposed, p.from, p.to = nil, nil, nil
	}
	return err == nil
}

// put sets entry q of the transpose, and returns the next.
func (p *pattern) put(col []uint32, q int, e freshEntry) int {
	col[q], p.from[q], p.to[e.place] = e.row, e.place, uint32(q)
	return q + 1
}

// moved sets the entries of the transpose from q on to some that there were, and returns the next.
func (p *pattern) moved(col []uint32, q int, rows, places, row, shift []uint32) int {
	col, from, to := col[q:][:len(rows)], p.from[q:][:len(rows)], p.to
	for o, r := range rows {
		place := places[o] + shift[r]
		col[o], from[o], to[place] = row[r], place, uint32(q+o)
	}
	return q + len(rows)
}
