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
		step(&sums, Mem{Base: a, Disp: 8 * rows * p}, Mem{Base: b, Disp: 32 * vectors * p})
	}
	ADDQ(U32(8*rows*unroll), a)
	ADDQ(U32(32*vectors*unroll), b)
	DECQ(turns)
	JNZ(LabelRef("turn"))

	Label("rest")
	ANDQ(Imm(unroll-1), steps)
	JZ(LabelRef("store"))
	Label("single")
	step(&sums, Mem{Base: a}, Mem{Base: b})
	ADDQ(U32(8*rows), a)
	ADDQ(U32(32*vectors), b)
	DECQ(steps)
	JNZ(LabelRef("single"))

	Label("store")
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

// step emits sums += a·bᵀ for one column a and one row b.
func step(sums *[rows][vectors]VecVirtual, a, b Mem) {
	var right [vectors]VecVirtual
	for j := range right {
		right[j] = YMM()
		VMOVUPD(b.Offset(32*j), right[j])
	}
	for i := range sums {
		left := YMM()
		VBROADCASTSD(a.Offset(8*i), left)
		for j, s := range sums[i] {
			VFMADD231PD(right[j], left, s)
		}
	}
}
