package walk

// Reached returns the nodes reached from start node i, in the order of Row. It
// is to be read only.
func (f *Features) Reached(i int) []uint32 {
	b, r := f.locate(i)
	return b.reached(r)
}

func (b *block) reached(r int) []uint32 {
	lo, hi := b.entries(r)
	return b.col[lo:hi:hi]
}

// CombineRow sets dst[e] = Σ_l coeff[l]·Ψ_l at entry e of row i. coeff must have
// MaxLen+1 elements, and dst one for every entry of the row.
func (f *Features) CombineRow(dst, coeff []float64, i int) {
	num, lens, vals := f.row(i)
	combine(dst, coeff, num, lens, vals)
}

// Padded returns coefficients with zeros for all lengths that features may have. CombineRow takes a third less time with
// them.
func Padded(coeff []float64) []float64 {
	full := make([]float64, everyLength)
	copy(full, coeff)
	return full
}

// ProjectRow adds Σ_e weight[e]·Ψ_l over the entries e of row i to dst[l]: the
// adjoint of CombineRow.
func (f *Features) ProjectRow(dst, weight []float64, i int) {
	num, lens, vals := f.row(i)
	project(dst, weight, num, lens, vals)
}

func project(dst, weight []float64, num, lens []uint8, vals []float32) {
	v := 0
	for e, k := range num {
		w := weight[e]
		for end := v + int(k); v < end; v++ {
			dst[lens[v]] += float64(w * float64(vals[v]))
		}
	}
}

// row returns the arrays of row i: values per entry, and their lengths and Ψ.
func (f *Features) row(i int) (num, lens []uint8, vals []float32) {
	b, r := f.locate(i)
	return b.row(r)
}

func (b *block) row(r int) (num, lens []uint8, vals []float32) {
	lo, hi := b.entries(r)
	v, end := b.values(r)
	return b.num[lo:hi], b.len[v:end], b.val[v:end]
}
