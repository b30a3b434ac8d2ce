package gpu

import "fmt"

// Features are the features Ψ_0 … Ψ_L of some nodes in the memory of a card, and Φ = Σ f_l Ψ_l
// with its transpose. Each entry of a row has one value for every length at which it was reached.
type Features struct {
	Phi, PhiT *Matrix

	device  *Device
	rows    int
	lengths int     // L + 1
	unit    bool    // rows of Φ are scaled to norm one
	from    pointer // of each entry of Φᵀ: its place in Φ
	first   pointer // of each row: its first value
	num     pointer // of each entry: the number of its values
	lens    pointer // of each value: the length
	psi     pointer // of each value: Ψ_len
	coeff   pointer // 256 coefficients
	square  *Block  // squared norms of the rows of Φ, before they are scaled
	inverse *Block  // what they are scaled by; nil: they are not
	q       pointer // of each entry: its weight in a gradient; 0 until first used
}

// Listed are features of rows as they are in memory.
type Listed struct {
	Rows, Cols, Lengths int
	Ptr                 []int    // of each row: its first entry; and one more
	Col                 []uint32 // of each entry: the column
	First               []uint32 // of each row: its first value
	Num                 []uint8  // of each entry: the number of values
	Lens                []uint8  // of each value: the length
	Psi                 []float32
	PtrT                []int    // the same pattern by columns,
	ColT                []uint32 // and
	From                []uint32 // for each of its entries the place in Col
	Unit                bool     // rows of Φ are scaled to norm one
}

// Features uploads features. Set gives Φ its values.
func (d *Device) Features(l Listed) *Features {
	f := &Features{device: d, rows: l.Rows, lengths: l.Lengths, unit: l.Unit}
	f.Phi = d.Matrix(l.Rows, l.Cols, l.Ptr, l.Col, nil)
	f.PhiT = d.Matrix(l.Cols, l.Rows, l.PtrT, l.ColT, nil)
	f.from, f.first = d.take(4*int64(len(l.From))), d.take(4*int64(len(l.First)))
	f.num, f.lens, f.psi = d.take(int64(len(l.Num))), d.take(int64(len(l.Lens))), d.take(4*int64(len(l.Psi)))
	f.coeff = d.take(8 * 256)
	upload(d, f.from, l.From)
	upload(d, f.first, l.First)
	upload(d, f.num, l.Num)
	upload(d, f.lens, l.Lens)
	upload(d, f.psi, l.Psi)
	f.square = d.Block(l.Rows, 1)
	if l.Unit {
		f.inverse = d.Block(l.Rows, 1)
	}
	return f
}

// Free gives the memory of features back; nil have none.
func (f *Features) Free() {
	if f == nil {
		return
	}
	f.Phi.Free()
	f.PhiT.Free()
	f.square.Free()
	f.inverse.Free()
	for _, at := range []*pointer{&f.from, &f.first, &f.num, &f.lens, &f.psi, &f.coeff, &f.q} {
		f.device.give(*at)
		*at = 0
	}
}

// Set computes Φ and its transpose for coefficients.
func (f *Features) Set(coeff []float64) {
	if len(coeff) != f.lengths {
		panic(fmt.Sprintf("gpu: %d coefficients for %d lengths", len(coeff), f.lengths))
	}
	var all [256]float64
	copy(all[:], coeff)
	d := f.device
	upload(d, f.coeff, all[:])
	d.run("combine", groups(f.rows, threads), threads, f.Phi.val, f.square.at, f.inverse.pointer(), f.Phi.ptr, f.first, f.num, f.lens, f.psi,
		f.coeff, int32(f.rows))
	n := f.Phi.entries
	d.run("pick", groups(n, threads), threads, f.PhiT.val, f.Phi.val, f.from, int64(n))
}

// Squares returns the squared norms of the rows of Φ, before they are scaled; the block belongs
// to the features.
func (f *Features) Squares() *Block { return f.square }

// Slopes adds to slope[l] the derivative by f_l of Σ_s weight_s·u_sᵀΦΦᵀw_s, given a = Φᵀu and
// b = Φᵀw. Where rows are scaled to norm one the scaling follows, and it returns
// 2·Σ_s weight_s·u_sᵀΦΦᵀw_s.
func (f *Features) Slopes(slope, weight []float64, u, w, a, b *Block) (twice float64) {
	u.sameAs(w)
	a.sameAs(b)
	if u.rows != f.rows || a.rows != f.PhiT.rows || u.cols != a.cols || len(slope) != f.lengths {
		panic(fmt.Sprintf("gpu: slopes of %d×%d and %d×%d for %d×%d", u.rows, u.cols, a.rows, a.cols, f.rows, f.PhiT.rows))
	}
	d := f.device
	if f.q == 0 {
		f.q = d.take(8 * int64(f.Phi.entries))
	}
	var along *Block
	if f.unit {
		along = d.Block(f.rows, 1)
		defer along.Free()
	}
	d.run("pairs", groups(f.rows, threads), threads, f.q, along.pointer(), f.Phi.ptr, f.Phi.col, f.Phi.val, f.inverse.pointer(),
		u.at, w.at, a.at, b.at, int32(f.rows), int32(u.cols), perColumn(weight))
	blocks := groups(f.rows, projectRows)
	parts, out := d.take(8*projectLengths*int64(blocks)), d.take(8*projectLengths)
	for low := 0; low < f.lengths; low += projectLengths {
		d.run("project", blocks, projectThreads, parts, f.Phi.ptr, f.first, f.num, f.lens, f.psi, f.q, int32(f.rows), int32(low))
		d.run("total", projectLengths, threads, out, parts, int32(blocks), int32(projectLengths))
		var sums [projectLengths]float64
		if f.rows > 0 {
			d.numbers(sums[:], out)
		}
		for l := low; l < min(f.lengths, low+projectLengths); l++ {
			slope[l] += sums[l-low]
		}
	}
	d.give(parts)
	d.give(out)
	if f.unit {
		sum := []float64{0}
		along.Sums(sum, nil, nil)
		twice = sum[0]
	}
	return twice
}
