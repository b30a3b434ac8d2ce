// Command asm writes the AVX2 kernel of package dense; run it by go generate in
// that package.
package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// A tile of rows × 4·vectors sums takes 12 registers, a row of b 3 and an
// element of a 1: all 16. unroll is how many steps a turn of the loop takes.
const (
	rows    = 4
	vectors = 3
	unroll  = 4
)

func main() {
	ConstraintExpr("!purego")
	tile()
	tileStrided()
	for cols := 1; cols <= rows; cols++ {
		columns(cols)
	}
	dots(4, 3)
	dots(4, 1)
	dots(1, 3)
	dots(1, 1)
	Generate()
}

// tile emits c += alpha·Σ_p a[p]·b[p]ᵀ. Every sum runs over p in order and in a
// register of its own, one fused step after the other.
func tile() {
	TEXT("tileAVX2", NOSPLIT, "func(steps int, alpha float64, a, b, c *float64, stride int)")
	Pragma("noescape")
	Doc("tileAVX2 is tileGo for a pointer to c, whose rows are stride elements apart.")

	steps := Load(Param("steps"), GP64())
	a := Load(Param("a"), GP64())
	b := Load(Param("b"), GP64())
	c := Load(Param("c"), GP64())
	stride := Load(Param("stride"), GP64())
	SHLQ(Imm(3), stride)

	Comment("The tile is wanted at the end: ask for it now.")
	at := GP64()
	MOVQ(c, at)
	for i := range rows {
		if i > 0 {
			ADDQ(stride, at)
		}
		PREFETCHT0(Mem{Base: at})
		PREFETCHT0(Mem{Base: at, Disp: 64})
	}

	var sums [rows][vectors]VecVirtual
	for i := range sums {
		for j := range sums[i] {
			sums[i][j] = YMM()
			VXORPD(sums[i][j], sums[i][j], sums[i][j])
		}
	}
	turns := GP64()
	MOVQ(steps, turns)
	SHRQ(Imm(2), turns)
	JZ(LabelRef("rest"))
	Label("turn")
	for p := range unroll {
		step(&sums, packed(a, 8*rows*p), Mem{Base: b, Disp: 32 * vectors * p})
	}
	ADDQ(U32(8*rows*unroll), a)
	ADDQ(U32(32*vectors*unroll), b)
	DECQ(turns)
	JNZ(LabelRef("turn"))

	Label("rest")
	ANDQ(Imm(unroll-1), steps)
	JZ(LabelRef("store"))
	Label("single")
	step(&sums, packed(a, 0), Mem{Base: b})
	ADDQ(U32(8*rows), a)
	ADDQ(U32(32*vectors), b)
	DECQ(steps)
	JNZ(LabelRef("single"))

	Label("store")
	store(&sums, c, stride)
}

// store emits c += alpha·sums, and the end of the function.
func store(sums *[rows][vectors]VecVirtual, c, stride Register) {
	alpha := YMM()
	VBROADCASTSD(NewParamAddr("alpha", 8), alpha)
	for i := range sums {
		for j, s := range sums[i] {
			old := YMM()
			VMOVUPD(Mem{Base: c, Disp: 32 * j}, old)
			VFMADD231PD(s, alpha, old)
			VMOVUPD(old, Mem{Base: c, Disp: 32 * j})
		}
		if i+1 < rows {
			ADDQ(stride, c)
		}
	}
	VZEROUPPER()
	RET()
}

// tileStrided emits the same for an a and a b that are not packed.
func tileStrided() {
	TEXT("tileStridedAVX2", NOSPLIT, "func(steps int, alpha float64, a *float64, aRow, aStep int, b *float64, bStep int, c *float64, "+
		"stride int)")
	Pragma("noescape")
	Doc("tileStridedAVX2 is tileStridedGo for pointers.")

	steps := Load(Param("steps"), GP64())
	a := Load(Param("a"), GP64())
	aRow := Load(Param("aRow"), GP64())
	aStep := Load(Param("aStep"), GP64())
	b := Load(Param("b"), GP64())
	bStep := Load(Param("bStep"), GP64())
	c := Load(Param("c"), GP64())
	stride := Load(Param("stride"), GP64())
	for _, distance := range []Register{aRow, aStep, bStep, stride} {
		SHLQ(Imm(3), distance)
	}
	last := GP64()
	LEAQ(Mem{Base: aRow, Index: aRow, Scale: 2}, last)

	var sums [rows][vectors]VecVirtual
	for i := range sums {
		for j := range sums[i] {
			sums[i][j] = YMM()
			VXORPD(sums[i][j], sums[i][j], sums[i][j])
		}
	}
	left := [rows]Mem{{Base: a}, {Base: a, Index: aRow, Scale: 1}, {Base: a, Index: aRow, Scale: 2}, {Base: a, Index: last, Scale: 1}}
	Label("step")
	step(&sums, left, Mem{Base: b})
	ADDQ(aStep, a)
	ADDQ(bStep, b)
	DECQ(steps)
	JNZ(LabelRef("step"))
	store(&sums, c, stride)
}

// packed returns the places of the elements of a column of a, from a number of bytes on.
func packed(a Register, from int) (at [rows]Mem) {
	for i := range at {
		at[i] = Mem{Base: a, Disp: from + 8*i}
	}
	return at
}

// step emits sums += a·bᵀ for one column a and one row b.
func step(sums *[rows][vectors]VecVirtual, a [rows]Mem, b Mem) {
	var right [vectors]VecVirtual
	for j := range right {
		right[j] = YMM()
		VMOVUPD(b.Offset(32*j), right[j])
	}
	for i := range sums {
		left := YMM()
		VBROADCASTSD(a[i], left)
		for j, s := range sums[i] {
			VFMADD231PD(right[j], left, s)
		}
	}
}

// columns emits c -= l·right for a c of so many columns, 12 rows at a time and the rest by 4. All that is left of a sum is
// subtracted at once, as it is in a tile.
func columns(cols int) {
	TEXT(fmt.Sprintf("columns%dAVX2", cols), NOSPLIT, "func(rows, steps int, l *float64, lStep int, right *float64, rightStep, rightCol int, "+
		"c *float64, cStep int)")
	Pragma("noescape")
	Doc(fmt.Sprintf("columns%dAVX2 is columnsGo for pointers and %d columns.", cols, cols))

	left := Load(Param("rows"), GP64())
	steps := Load(Param("steps"), GP64())
	l := Load(Param("l"), GP64())
	lStep := Load(Param("lStep"), GP64())
	right := Load(Param("right"), GP64())
	rightStep := Load(Param("rightStep"), GP64())
	rightCol := Load(Param("rightCol"), GP64())
	c := Load(Param("c"), GP64())
	cStep := Load(Param("cStep"), GP64())
	for _, distance := range []Register{lStep, rightStep, rightCol, cStep} {
		SHLQ(Imm(3), distance)
	}
	last := GP64()
	LEAQ(Mem{Base: rightCol, Index: rightCol, Scale: 2}, last)
	for _, wide := range []int{vectors, 1} {
		turn, next := fmt.Sprintf("turn%d", wide), fmt.Sprintf("next%d", wide)
		Label(turn)
		CMPQ(left, Imm(uint64(4*wide)))
		JLT(LabelRef(next))
		columnsTurn(cols, wide, steps, l, lStep, right, rightStep, rightCol, last, c, cStep)
		ADDQ(Imm(uint64(32*wide)), l)
		ADDQ(Imm(uint64(32*wide)), c)
		SUBQ(Imm(uint64(4*wide)), left)
		JMP(LabelRef(turn))
		Label(next)
	}
	VZEROUPPER()
	RET()
}

// columnsTurn emits the sums of 4·wide rows.
func columnsTurn(cols, wide int, steps, l, lStep, right, rightStep, rightCol, last, c, cStep Register) {
	sums := make([][]VecVirtual, cols)
	for i := range sums {
		for range wide {
			s := YMM()
			VXORPD(s, s, s)
			sums[i] = append(sums[i], s)
		}
	}
	p, from, by := GP64(), GP64(), GP64()
	MOVQ(steps, p)
	MOVQ(l, from)
	MOVQ(right, by)
	step := fmt.Sprintf("step%d", wide)
	Label(step)
	var x []VecVirtual
	for j := range wide {
		v := YMM()
		VMOVUPD(Mem{Base: from, Disp: 32 * j}, v)
		x = append(x, v)
	}
	at := []Mem{{Base: by}, {Base: by, Index: rightCol, Scale: 1}, {Base: by, Index: rightCol, Scale: 2}, {Base: by, Index: last, Scale: 1}}
	for i := range sums {
		v := YMM()
		VBROADCASTSD(at[i], v)
		for j, s := range sums[i] {
			VFMADD231PD(x[j], v, s)
		}
	}
	ADDQ(lStep, from)
	ADDQ(rightStep, by)
	DECQ(p)
	JNZ(LabelRef(step))
	MOVQ(c, from)
	for i := range sums {
		for j, s := range sums[i] {
			old := YMM()
			VMOVUPD(Mem{Base: from, Disp: 32 * j}, old)
			VSUBPD(s, old, old)
			VMOVUPD(old, Mem{Base: from, Disp: 32 * j})
		}
		if i+1 < cols {
			ADDQ(cStep, from)
		}
	}
}

// dots emits c -= lᵀ·x for so many columns of l and of x: four sums each, of every fourth row, which are added at the end.
func dots(cols, sides int) {
	TEXT(fmt.Sprintf("dots%dx%dAVX2", cols, sides), NOSPLIT,
		"func(rows int, l *float64, lStep int, x *float64, xStep int, c *float64, cStep int)")
	Pragma("noescape")
	Doc(fmt.Sprintf("dots%dx%dAVX2 is dotsGo for pointers, %d columns of l and %d of x.", cols, sides, cols, sides))

	left := Load(Param("rows"), GP64())
	l := Load(Param("l"), GP64())
	lStep := Load(Param("lStep"), GP64())
	x := Load(Param("x"), GP64())
	xStep := Load(Param("xStep"), GP64())
	c := Load(Param("c"), GP64())
	cStep := Load(Param("cStep"), GP64())
	for _, distance := range []Register{lStep, xStep, cStep} {
		SHLQ(Imm(3), distance)
	}
	last := GP64()
	LEAQ(Mem{Base: lStep, Index: lStep, Scale: 2}, last)
	sums := make([][]VecVirtual, sides)
	for q := range sums {
		for range cols {
			s := YMM()
			VXORPD(s, s, s)
			sums[q] = append(sums[q], s)
		}
	}
	columns := []Mem{{Base: l}, {Base: l, Index: lStep, Scale: 1}, {Base: l, Index: lStep, Scale: 2}, {Base: l, Index: last, Scale: 1}}
	vectors := []Mem{{Base: x}, {Base: x, Index: xStep, Scale: 1}, {Base: x, Index: xStep, Scale: 2}}
	Label("turn")
	var right []VecVirtual
	for q := range sides {
		v := YMM()
		VMOVUPD(vectors[q], v)
		right = append(right, v)
	}
	for p := range cols {
		v := YMM()
		VMOVUPD(columns[p], v)
		for q := range sides {
			VFMADD231PD(v, right[q], sums[q][p])
		}
	}
	ADDQ(Imm(32), l)
	ADDQ(Imm(32), x)
	SUBQ(Imm(4), left)
	JNZ(LabelRef("turn"))
	for q := range sums {
		for p, s := range sums[q] {
			high, old := XMM(), XMM()
			VEXTRACTF128(Imm(1), s, high)
			VADDPD(high, s.AsX(), high)
			VHADDPD(high, high, high)
			VMOVSD(Mem{Base: c, Disp: 8 * p}, old)
			VSUBSD(high, old, old)
			VMOVSD(old, Mem{Base: c, Disp: 8 * p})
		}
		if q+1 < sides {
			ADDQ(cStep, c)
		}
	}
	VZEROUPPER()
	RET()
}
