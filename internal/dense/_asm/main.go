// Command asm writes the AVX2 kernel of package dense; run it by go generate in
// that package.
package main

import (
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
