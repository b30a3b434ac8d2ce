// Package space has the memories in which systems are solved and kernels computed: float64
// and float32 of this process, a graphics card, and the rows that several processes
// share.
//
// Solvers (package solve) and kernels (package kernel) are written once, over the blocks, matrices and features of
// a Space. A block has a row for each element of an axis, such as the measurements, the nodes of a graph or
// the cells of a coarser one, and some columns. Where several processes share an axis, each has its own rows, and all
// call the same methods in the same order; sums over rows are then those of all of them.
//
// # Bits
//
// Sums over rows are taken block by block of 1,024 rows, and those of the blocks by one binary tree
// (ranks.TreeSum): the bits do not depend on the number of threads or processes. A card
// adds in an order of its own, which does not change either.
//
// # Failures
//
// A processor does not fail. Cards and other processes do, and methods of blocks do not say so: what they
// compute is undefined from then on, and Space.Err tells. Whoever uses results asks it first.
package space

import (
	"context"

	"gonum.org/v1/gonum/mat"

	"grfgp/internal/ranks"
	"grfgp/sparse"
)

// Space is a memory. It is used by one goroutine at a time.
type Space interface {
	// Err returns the failure after which results are undefined; nil: none.
	Err() error
	// MaxColumns is the most columns that a block may have.
	MaxColumns() int
	// Single reports that numbers are float32.
	Single() bool

	// Axis returns the axis of which this process has so many rows. Processes call it together.
	Axis(ctx context.Context, own int) (Axis, error)
	// Block returns a block with undefined contents.
	Block(a Axis, columns int) Block
	// Places returns a list of rows.
	Places(rows []uint32) Places
	// Sparse returns a matrix with the rows of one axis and the columns of another. Values are rounded to those of the
	// space.
	Sparse(ctx context.Context, rows, columns Axis, m Entries) (Matrix, error)
	// Dense returns a matrix with the rows of an axis and columns that every process has. It keeps x.
	Dense(rows Axis, x *mat.Dense) Matrix
	// Features returns features with a pattern, a row for each element of an axis; nil where the space has no place for
	// them. With unit, the rows of Φ are scaled to norm one.
	Features(ctx context.Context, rows Axis, p *Pattern, unit bool) (Features, error)
	// Compact returns a matrix of float32 entries for products by rows alone, with a column for each node; nil where the space
	// has no place for it.
	Compact(rows, columns Axis, m *sparse.Compact) Matrix
}

// Axis is what the rows of blocks stand for.
type Axis struct {
	// Own is the number of rows that this process has.
	Own int
	// group shares the rows, as layout says; a nil group has one process.
	group  *ranks.Group
	layout ranks.Layout
}

// Rows is an axis whose rows this process has all of.
func Rows(n int) Axis { return Axis{Own: n} }

// All returns the number of rows of all processes, and the first of this one.
func (a Axis) All() (n, first int) {
	if a.group.Alone() {
		return a.Own, 0
	}
	first, _ = a.layout.Range(a.group.Rank())
	return a.layout.Rows(), first
}

// Group returns the processes that share the rows; nil: there is one.
func (a Axis) Group() *ranks.Group { return a.group }

// Shared reports that other processes have rows too.
func (a Axis) Shared() bool { return !a.group.Alone() }

// Block is a block of vectors: rows of numbers. A diagonal is a block of one column. Its methods take blocks of
// the same space, and panic if sizes do not fit.
type Block interface {
	Axis() Axis
	Columns() int
	// Like returns a block of the same size with undefined contents.
	Like() Block
	Free()
	// Reshape returns the same numbers in rows of so many columns. It is not to be freed.
	Reshape(a Axis, columns int) Block

	// Set copies numbers to the block, row by row, and Get from it.
	Set(data []float64)
	Get(data []float64)
	Zero()
	CopyFrom(x Block)
	// Pick returns a new block of the given columns, which increase. It frees this one.
	Pick(columns []int) Block
	// SetColumn sets a column to one of x.
	SetColumn(column int, x Block, from int)
	// AddColumns adds factor[t] times column t of x to column to[t], unless that is negative.
	AddColumns(x Block, to []int, factor []float64)

	// Scale sets the block to factor·diag∘x; it may be x itself, and a nil diagonal stands for ones.
	Scale(x, diag Block, factor float64)
	// AddScaled adds factor·diag∘x.
	AddScaled(x, diag Block, factor float64)
	// Subtract sets the block to keep∘x − out∘block, for diagonals.
	Subtract(x, keep, out Block)
	// Observe sets the block to y − g − sd∘block, where y and sd have one column.
	Observe(y, g, sd Block)
	// Extrapolate sets the block to block + factor·(block − before), and before to what it was.
	Extrapolate(before Block, factor float64)
	// AddSpread adds Σ_t (x_it − mean_i)² to a block of one column.
	AddSpread(x, mean Block)
	// AddLevels adds level[t] to all numbers of column t.
	AddLevels(level []float64)
	// Normals sets column t to independent N(0, 1) numbers of the stream first+t of a purpose. Rows that are nodes
	// take the numbers of these; a nil list is that of all rows of all processes, in order.
	Normals(seed uint64, purpose string, first int, nodes []uint32)
	// Gather sets the rows of the block to the given rows of x.
	Gather(x Block, rows Places)
	// Scatter adds the rows of x to the given rows, none of which is given twice.
	Scatter(x Block, rows Places)
	// Sums returns Σ_i weight_i·block_it·x_it for every column t. A nil x or weight stands for ones.
	Sums(x, weight Block) []float64

	// The sweeps of conjugate gradients and of the Lanczos recursion, for the matrix A + diag(noise) and a
	// diagonal P⁻¹ (scale; nil: the identity), where q = A·p:

	// Begin sets the block to P⁻¹r, and returns rᵀP⁻¹r.
	Begin(rz []float64, r, scale Block)
	// Turn sets the block to scale∘r + β·block.
	Turn(r, scale Block, beta []float64)
	// Curvature sets pq to blockᵀ(q + noise∘block).
	Curvature(pq []float64, q, noise Block)
	// Step adds α·p to the block, subtracts α·(q + noise∘p) from r, and sets rr to rᵀr and rz to rᵀP⁻¹r.
	Step(rr, rz []float64, r, p, q, noise, scale Block, alpha []float64)
	// Recur sets the block to a·(q + noise∘v) − b·v − c·block, and uu to the squares of its columns.
	Recur(uu []float64, v, q, noise Block, a, b, c []float64)
	// Rest sets the block to α·(b − (q + noise∘x)), and rr to the squares of its columns; q and x may be nil, for zeros.
	Rest(rr []float64, b, q, x, noise Block, alpha []float64)
}

// Places is a list of rows in a space.
type Places interface{ Free() }

// Entries are the entries of a sparse matrix. Where processes share the columns, these are counted among all.
type Entries struct {
	Ptr []int
	Col []uint32
	Val []float64
	csr *sparse.CSR // the same, where there is one
}

// Of returns the entries of a matrix.
func Of(m *sparse.CSR) Entries {
	ptr, col, val := m.Raw()
	return Entries{ptr, col, val, m}
}

// Matrix is a matrix that multiplies blocks.
type Matrix interface {
	// Mul sets dst = scale·M·x, or adds it. A dst of fewer rows than the matrix has is that from row lo on, which only
	// the memory of a single process allows.
	Mul(dst, x Block, lo int, scale float64, add bool)
	// MulT sets dst = scale·Mᵀ·x, or adds it.
	MulT(dst, x Block, scale float64, add bool)
	Free()
}

// Features are Φ = Σ f_l Ψ_l, for one set of coefficients after another.
type Features interface {
	Matrix
	// Weights returns the axis of the columns, and their nodes; nil: all nodes, in order.
	Weights() (Axis, []uint32)
	// Set goes to other coefficients.
	Set(ctx context.Context, coeff []float64) error
	// Squares are the squared norms of the rows before they are scaled, to be read only.
	Squares() Block
	// Slopes adds the derivatives of Σ_s weight_s·u_sᵀΦΦᵀw_s by f_l to slope[l]. If rows are scaled to norm one, it
	// returns twice the sum itself.
	Slopes(slope, weight []float64, u, w Block) (twice float64)
}
