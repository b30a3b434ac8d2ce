package gpu

import (
	"fmt"
	"math"
)

// Matrix is a sparse matrix in the memory of a card, row by row. Its values are float64, or
// float32 to save memory.
type Matrix struct {
	device     *Device
	rows, cols int
	entries    int
	ptr, col   pointer // of each row: its first entry; of each entry: its column
	val        pointer
	narrow     bool    // values are float32
	long       pointer // rows of more than longRow entries,
	longs      int     // and their number
}

// Fits reports whether a matrix with so many rows and entries can be on a card: places of entries have
// 32 bits.
func Fits(rows, entries int) bool {
	return rows < math.MaxInt32-projectRows && entries < math.MaxUint32-threads // loops look ahead
}

// Matrix returns a matrix with float64 values; nil values are set later. Row i has the entries ptr[i] to
// ptr[i+1].
func (d *Device) Matrix(rows, cols int, ptr []int, col []uint32, val []float64) *Matrix {
	m := d.pattern(rows, cols, ptr, col)
	m.val = d.take(8 * int64(len(col)))
	upload(d, m.val, val)
	return m
}

// Narrow returns a matrix with float32 values.
func (d *Device) Narrow(rows, cols int, ptr []int, col []uint32, val []float32) *Matrix {
	m := d.pattern(rows, cols, ptr, col)
	m.narrow, m.val = true, d.take(4*int64(len(col)))
	upload(d, m.val, val)
	return m
}

// pattern uploads the places of the entries.
func (d *Device) pattern(rows, cols int, ptr []int, col []uint32) *Matrix {
	if !Fits(rows, len(col)) || len(ptr) != rows+1 || ptr[rows] != len(col) {
		panic(fmt.Sprintf("gpu: a matrix of %d rows with %d entries", rows, len(col)))
	}
	starts := make([]uint32, len(ptr))
	var long []uint32
	for i, p := range ptr {
		starts[i] = uint32(p)
		if i > 0 && p-ptr[i-1] > longRow {
			long = append(long, uint32(i-1))
		}
	}
	m := &Matrix{device: d, rows: rows, cols: cols, entries: len(col), longs: len(long)}
	m.ptr, m.col, m.long = d.take(4*int64(len(starts))), d.take(4*int64(len(col))), d.take(4*int64(len(long)))
	upload(d, m.ptr, starts)
	upload(d, m.col, col)
	upload(d, m.long, long)
	return m
}

// Dims returns the number of rows and columns.
func (m *Matrix) Dims() (rows, cols int) { return m.rows, m.cols }

// Free gives the memory of a matrix back; nil has none.
func (m *Matrix) Free() {
	if m == nil {
		return
	}
	for _, at := range []*pointer{&m.ptr, &m.col, &m.val, &m.long} {
		m.device.give(*at)
		*at = 0
	}
}

// manyEntries is the mean number of entries of a row from which threads share rows, if columns are few.
const manyEntries = 16

// Mul sets dst = scale·M·x.
func (m *Matrix) Mul(dst, x *Block, scale float64) { m.mul(dst, x, scale, 0) }

// MulAdd adds scale·M·x to dst.
func (m *Matrix) MulAdd(dst, x *Block, scale float64) { m.mul(dst, x, scale, 1) }

func (m *Matrix) mul(dst, x *Block, scale float64, add int32) {
	if dst.rows != m.rows || x.rows != m.cols || dst.cols != x.cols {
		panic(fmt.Sprintf("gpu: %d×%d times %d×%d to %d×%d", m.rows, m.cols, x.rows, x.cols, dst.rows, dst.cols))
	}
	bits := "64"
	if m.narrow {
		bits = "32"
	}
	k := x.cols
	kernel, lanes := "product", k // threads of a row
	switch {
	case k <= fewColumns && m.entries >= manyEntries*m.rows:
		kernel, lanes = "product_few", fewLanes
	case k%2 == 0:
		lanes = k / 2
	}
	m.device.run(kernel+bits, groups(m.rows*lanes, threads), threads, dst.at, m.ptr, m.col, m.val, x.at, int32(m.rows), int32(k), scale, add)
	m.device.run("product_long"+bits, m.longs, threads, dst.at, m.ptr, m.col, m.val, x.at, m.long, int32(k), scale, add)
}

// InverseNorms returns 1 over the norms of the rows; 0 for rows of zeros.
func (m *Matrix) InverseNorms() *Block {
	b := m.device.Block(m.rows, 1)
	bits := "64"
	if m.narrow {
		bits = "32"
	}
	m.device.run("row_norms"+bits, groups(m.rows, threads), threads, b.at, m.ptr, m.val, int32(m.rows))
	return b
}

// Dense is a dense matrix in the memory of a card.
type Dense struct {
	device     *Device
	rows, cols int
	at         pointer
}

// Dense returns a dense matrix, given row by row.
func (d *Device) Dense(rows, cols int, data []float64) *Dense {
	if len(data) != rows*cols {
		panic(fmt.Sprintf("gpu: %d numbers for %d×%d", len(data), rows, cols))
	}
	m := &Dense{d, rows, cols, d.take(8 * int64(len(data)))}
	upload(d, m.at, data)
	return m
}

// Free gives the memory of a matrix back; nil has none.
func (m *Dense) Free() {
	if m != nil {
		m.device.give(m.at)
		m.at = 0
	}
}

// Mul sets dst = M·x.
func (m *Dense) Mul(dst, x *Block) {
	if dst.rows != m.rows || x.rows != m.cols || dst.cols != x.cols {
		panic(fmt.Sprintf("gpu: %d×%d times %d×%d to %d×%d", m.rows, m.cols, x.rows, x.cols, dst.rows, dst.cols))
	}
	m.device.run("dense", m.rows, threads, dst.at, m.at, x.at, int32(m.cols), int32(x.cols))
}
