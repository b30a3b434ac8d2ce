package gpu

import (
	"fmt"
	"slices"
)

// MaxColumns is the most columns of a block.
const MaxColumns = maxColumns

// Block is a block of vectors in the memory of a card: rows of up to MaxColumns numbers. A
// diagonal is a block of one column. It is freed by its owner.
type Block struct {
	device     *Device
	rows, cols int
	at         pointer
}

// Block returns a block with undefined contents.
func (d *Device) Block(rows, cols int) *Block {
	if cols < 1 || cols > maxColumns {
		panic(fmt.Sprintf("gpu: a block of %d columns", cols))
	}
	return &Block{d, rows, cols, d.take(8 * int64(rows) * int64(cols))}
}

// Reshape returns the same numbers in other rows and columns. It is not to be freed.
func (b *Block) Reshape(rows, cols int) *Block {
	if rows*cols != b.rows*b.cols || cols > maxColumns {
		panic(fmt.Sprintf("gpu: %d×%d as %d×%d", b.rows, b.cols, rows, cols))
	}
	return &Block{b.device, rows, cols, b.at}
}

// Zeros returns a block of zeros.
func (d *Device) Zeros(rows, cols int) *Block {
	b := d.Block(rows, cols)
	b.Zero()
	return b
}

// Upload returns a block with the given numbers, row by row.
func (d *Device) Upload(cols int, data []float64) *Block {
	b := d.Block(len(data)/cols, cols)
	b.Set(data)
	return b
}

// Rows and Cols return the size of a block.
func (b *Block) Rows() int { return b.rows }
func (b *Block) Cols() int { return b.cols }

// Device returns the card.
func (b *Block) Device() *Device { return b.device }

// Free gives the memory of a block back. Nil blocks have none.
func (b *Block) Free() {
	if b != nil {
		b.device.give(b.at)
		b.at = 0
	}
}

// Set copies numbers to the block, row by row.
func (b *Block) Set(data []float64) {
	if len(data) != b.rows*b.cols {
		panic(fmt.Sprintf("gpu: %d numbers for %d×%d", len(data), b.rows, b.cols))
	}
	upload(b.device, b.at, data)
}

// Get copies the numbers of the block to data; they are NaN after a failure.
func (b *Block) Get(data []float64) {
	if len(data) != b.rows*b.cols {
		panic(fmt.Sprintf("gpu: %d numbers for %d×%d", len(data), b.rows, b.cols))
	}
	b.device.numbers(data, b.at)
}

// Zero sets all numbers to zero.
func (b *Block) Zero() {
	if d := b.device; b.rows > 0 && !d.failed() {
		d.fail(d.driver.clear(b.at, 8*int64(b.rows)*int64(b.cols)))
	}
}

// CopyFrom sets the block to another of the same size.
func (b *Block) CopyFrom(from *Block) {
	b.sameAs(from)
	if d := b.device; b.rows > 0 && !d.failed() {
		d.fail(d.driver.copy(b.at, from.at, 8*int64(b.rows)*int64(b.cols)))
	}
}

func (b *Block) sameAs(others ...*Block) {
	for _, o := range others {
		if o != nil && (o.rows != b.rows || o.cols != b.cols) {
			panic(fmt.Sprintf("gpu: blocks of %d×%d and %d×%d", b.rows, b.cols, o.rows, o.cols))
		}
	}
}

// diagonals panics unless the diagonals, which may be nil, have a number for each row.
func (b *Block) diagonals(all ...*Block) {
	for _, o := range all {
		if o != nil && (o.rows != b.rows || o.cols != 1) {
			panic(fmt.Sprintf("gpu: a diagonal of %d×%d for %d rows", o.rows, o.cols, b.rows))
		}
	}
}

// pointer returns the memory of a block; 0 for nil.
func (b *Block) pointer() pointer {
	if b == nil {
		return 0
	}
	return b.at
}

// rowsEach is the number of rows of a group of threads in sweeps over k columns: it depends on
// nothing else, so that sums have one order.
func rowsEach(k int) int { return max(64, 4096/k) }

// groups returns the number of groups of threads for n items.
func groups(n, each int) int { return (n + each - 1) / each }

// sweep queues a kernel that goes over the rows of a block. Its arguments end with the size of
// the block, the rows of a group of threads, and what follows.
func (b *Block) sweep(kernel string, before []any, after ...any) {
	each := rowsEach(b.cols)
	args := append(append(before, int64(b.rows), int32(b.cols), int32(each)), after...)
	b.device.run(kernel, groups(b.rows, each), threads, args...)
}

// summed is sweep with sums: the first argument of the kernel is room for their parts. It
// sets all sums, which may be several for each column.
func (b *Block) summed(sums []float64, kernel string, before []any, after ...any) {
	d := b.device
	if b.rows == 0 {
		clear(sums)
		return
	}
	out := b.summedHere(len(sums), kernel, before, after...)
	d.numbers(sums, out)
	d.give(out)
}

// summedHere is summed with the sums in the memory of the card, to be given back.
func (b *Block) summedHere(count int, kernel string, before []any, after ...any) pointer {
	d, blocks := b.device, groups(b.rows, rowsEach(b.cols))
	parts, out := d.take(8*int64(blocks)*int64(count)), d.take(8*int64(count))
	b.sweep(kernel, append([]any{parts}, before...), after...)
	d.run("total", count, threads, out, parts, int32(blocks), int32(count))
	d.give(parts)
	return out
}

// perColumn returns numbers for the columns as an argument.
func perColumn(x []float64) factors {
	var f factors
	copy(f[:], x)
	return f
}

// columnNumbers returns the numbers of columns as an argument.
func columnNumbers(list []int) factors {
	var f factors
	for t, j := range list {
		f[t] = float64(j)
	}
	return f
}

// Columns returns a new block of the given columns.
func (b *Block) Columns(keep []int) *Block {
	out := b.device.Block(b.rows, len(keep))
	each := rowsEach(out.cols)
	b.device.run("columns", groups(b.rows, each), threads, out.at, b.at, int64(b.rows), int32(out.cols), int32(b.cols), int32(each),
		columnNumbers(keep))
	return out
}

// AddColumns adds factor[t]·e[:, t] to column to[t], unless to[t] is negative.
func (b *Block) AddColumns(e *Block, to []int, factor []float64) { b.putColumns(e, to, factor, 1) }

// SetColumn sets a column to one of x.
func (b *Block) SetColumn(column int, x *Block, from int) {
	to, factor := slices.Repeat([]int{-1}, x.cols), make([]float64, x.cols)
	to[from], factor[from] = column, 1
	b.putColumns(x, to, factor, 0)
}

func (b *Block) putColumns(e *Block, to []int, factor []float64, add int32) {
	if e.rows != b.rows || len(to) != e.cols || len(factor) != e.cols {
		panic(fmt.Sprintf("gpu: %d×%d and %d places to add to %d rows", e.rows, e.cols, len(to), b.rows))
	}
	each := rowsEach(e.cols)
	b.device.run("add_columns", groups(b.rows, each), threads, b.at, e.at, int64(b.rows), int32(e.cols), int32(b.cols), int32(each),
		columnNumbers(to), perColumn(factor), add)
}

// Sums sets sums[t] = Σ_i weight_i·p_it·q_it. A nil q or weight stands for ones.
func (b *Block) Sums(sums []float64, q, weight *Block) {
	b.sameAs(q)
	b.diagonals(weight)
	b.summed(sums, "dot", []any{b.at, q.pointer(), weight.pointer()})
}

// AddConstant adds variance·Σ_i x_it to all numbers of column t.
func (b *Block) AddConstant(x *Block, variance float64) {
	if variance == 0 || b.rows == 0 || x.rows == 0 {
		return
	}
	sums := x.summedHere(x.cols, "dot", []any{x.at, pointer(0), pointer(0)})
	b.sweep("levels", []any{b.at, sums}, variance)
	b.device.give(sums)
}

// AddLevels adds factor·level[t] to all numbers of column t.
func (b *Block) AddLevels(level []float64, factor float64) {
	at := b.device.take(8 * int64(len(level)))
	upload(b.device, at, level)
	b.sweep("levels", []any{b.at, at}, factor)
	b.device.give(at)
}

// Scale sets b = factor·(diag∘x); b and x may be one block, and a nil diagonal stands for ones.
func (b *Block) Scale(x, diag *Block, factor float64) { b.scale(x, diag, factor, 0) }

// AddScaled adds factor·(diag∘x).
func (b *Block) AddScaled(x, diag *Block, factor float64) { b.scale(x, diag, factor, 1) }

func (b *Block) scale(x, diag *Block, factor float64, add int32) {
	b.sameAs(x)
	b.diagonals(diag)
	b.sweep("scale_rows", []any{b.at, x.at, diag.pointer()}, factor, add)
}

// Subtract sets b = keep∘x − out∘b.
func (b *Block) Subtract(x, keep, out *Block) {
	b.sameAs(x)
	b.diagonals(keep, out)
	b.sweep("subtract", []any{b.at, x.at, keep.at, out.at})
}

// Observe sets b = y − g − sd∘b, where y and sd have a number for each row.
func (b *Block) Observe(y, g, sd *Block) {
	b.sameAs(g)
	b.diagonals(y, sd)
	b.sweep("observe", []any{b.at, y.at, g.at, sd.at})
}

// Invert sets b = 1/(x + y + c), number by number.
func (b *Block) Invert(x, y *Block, c float64) {
	b.sameAs(x, y)
	n := b.rows * b.cols
	b.device.run("invert", groups(n, threads), threads, b.at, x.at, y.at, c, int64(n))
}

// Extrapolate sets b to b + factor·(b − before), and before to what b was.
func (b *Block) Extrapolate(before *Block, factor float64) {
	b.sameAs(before)
	n := b.rows * b.cols
	b.device.run("extrapolate", groups(n, threads), threads, b.at, before.at, int64(n), factor)
}

// AddSpread adds Σ_t (x_it − mean_i)² to b, which has one column.
func (b *Block) AddSpread(x, mean *Block) {
	x.diagonals(b, mean)
	b.device.run("spread", groups(b.rows, threads), threads, b.at, x.at, mean.at, int64(b.rows), int32(x.cols))
}

// Places is a list of rows in the memory of a card.
type Places struct {
	device *Device
	n      int
	at     pointer
}

// Places returns a list of rows.
func (d *Device) Places(rows []uint32) *Places {
	p := &Places{d, len(rows), d.take(4 * int64(len(rows)))}
	upload(d, p.at, rows)
	return p
}

// Free gives the memory of the list back; nil has none.
func (p *Places) Free() {
	if p != nil {
		p.device.give(p.at)
		p.at = 0
	}
}

// Gather sets the rows of b to the given rows of x.
func (b *Block) Gather(x *Block, rows *Places) {
	if b.rows != rows.n || b.cols != x.cols {
		panic(fmt.Sprintf("gpu: %d rows of %d columns to %d×%d", rows.n, x.cols, b.rows, b.cols))
	}
	b.sweep("gather", []any{b.at, x.at, rows.at})
}

// Scatter adds the rows of x to the given rows of b, none of which is given twice.
func (b *Block) Scatter(x *Block, rows *Places) {
	if x.rows != rows.n || b.cols != x.cols {
		panic(fmt.Sprintf("gpu: %d×%d to %d rows of %d columns", x.rows, x.cols, rows.n, b.cols))
	}
	x.sweep("scatter", []any{b.at, x.at, rows.at})
}
