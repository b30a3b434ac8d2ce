// Command asm writes the AVX2 kernels of package sparse; run it by
// go generate in that package.
package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// strip is a run of columns whose sums stay in registers while a row's entries
// go by. The last two say how far ahead of the entry in hand the rows of x are
// prefetched, in entries and in cache lines per row; both were measured. Wide
// strips ask for little: there the processor's own prefetcher does most.
type strip struct{ width, ahead, lines int }

var strips = []strip{{32, 4, 2}, {16, 16, 2}, {8, 32, 1}, {4, 32, 1}, {2, 32, 1}, {1, 32, 1}}

func main() {
	ConstraintExpr("!purego")
	mulRows("mulRowsAVX2", false)
	mulRows("mulRowsStreamAVX2", true)
	Generate()
}

// mulRows emits dst[i, :] = Σ_p val[p]·x[colIdx[p], :] over the entries p of each
// row i of a range. A row's strips come one after another, so that its rows of
// x are still near when the next strip reads them. Products and sums are
// separate instructions: a fused one would round differently from Go.
func mulRows(name string, stream bool) {
	TEXT(name, NOSPLIT, "func(dst *float64, dstStride int, x *float64, xStride, width int, rowPtr *int, rows int, colIdx *uint32, val *float64)")
	Pragma("noescape")
	doc := []string{
		name + " sets rows rows of dst, of width columns, to the product of the matrix rows",
		"from rowPtr on with x. Strides count elements; rows is at least 1.",
	}
	if stream {
		doc = append(doc, "It writes past the caches: dst is aligned to 64 bytes, dstStride and width are",
			"multiples of 8.")
	}
	Doc(doc...)

	dst := Load(Param("dst"), GP64())
	dstStep := Load(Param("dstStride"), GP64())
	xStride := Load(Param("xStride"), GP64())
	rowPtr := Load(Param("rowPtr"), GP64())
	rows := Load(Param("rows"), GP64())
	colIdx := Load(Param("colIdx"), GP64())
	val := Load(Param("val"), GP64())
	x, left := GP64(), GP64()
	p, last, offset := GP64(), GP64(), GP64()

	Comment("Strides in bytes; dst itself moves along the row.")
	Load(Param("width"), left)
	SUBQ(left, dstStep)
	SHLQ(Imm(3), dstStep)
	SHLQ(Imm(3), xStride)
	Comment("The last entry that may be prefetched.")
	MOVQ(Mem{Base: rowPtr, Index: rows, Scale: 8}, last)
	DECQ(last)

	Label("row")
	Load(Param("x"), x)
	Load(Param("width"), left)
	for i, s := range strips {
		if stream && s.width < 8 {
			break
		}
		label := func(name string) string { return fmt.Sprintf("%s%d", name, s.width) }
		after := "next"
		if i+1 < len(strips) && (!stream || strips[i+1].width >= 8) {
			after = fmt.Sprintf("strip%d", strips[i+1].width)
		}

		Label(label("strip"))
		if i == 0 {
			CMPQ(left, Imm(uint64(s.width)))
			JLT(LabelRef(after))
		} else {
			TESTQ(U32(s.width), left)
			JZ(LabelRef(after))
		}
		acc := accumulators(s.width)
		MOVQ(Mem{Base: rowPtr}, p)
		CMPQ(p, Mem{Base: rowPtr, Disp: 8})
		JGE(LabelRef(label("store")))

		Label(label("entry"))
		LEAQ(Mem{Base: p, Disp: s.ahead}, offset)
		CMPQ(offset, last)
		CMOVQGT(last, offset)
		MOVL(Mem{Base: colIdx, Index: offset, Scale: 4}, offset.As32())
		IMULQ(xStride, offset)
		for line := range s.lines {
			PREFETCHT0(Mem{Base: x, Index: offset, Scale: 1, Disp: 64 * line})
		}
		MOVL(Mem{Base: colIdx, Index: p, Scale: 4}, offset.As32())
		IMULQ(xStride, offset)
		multiplyAdd(acc, s.width, Mem{Base: val, Index: p, Scale: 8}, Mem{Base: x, Index: offset, Scale: 1})
		INCQ(p)
		CMPQ(p, Mem{Base: rowPtr, Disp: 8})
		JLT(LabelRef(label("entry")))

		Label(label("store"))
		for k, a := range acc {
			to := Mem{Base: dst, Disp: 32 * k}
			switch {
			case stream:
				VMOVNTPD(a, to)
			case s.width == 1:
				VMOVSD(a, to)
			default:
				VMOVUPD(a, to)
			}
		}
		ADDQ(U32(8*s.width), x)
		ADDQ(U32(8*s.width), dst)
		if i == 0 {
			SUBQ(Imm(uint64(s.width)), left)
			JMP(LabelRef(label("strip")))
		}
	}
	Label("next")
	ADDQ(dstStep, dst)
	ADDQ(Imm(8), rowPtr)
	DECQ(rows)
	JNZ(LabelRef("row"))
	if stream {
		Comment("Streamed stores are seen by other processors only after a fence.")
		SFENCE()
	}
	VZEROUPPER()
	RET()
}

// accumulators emits registers for the sums of a strip, set to zero.
func accumulators(width int) []VecVirtual {
	acc := make([]VecVirtual, (width+3)/4)
	for k := range acc {
		acc[k] = YMM()
		if width < 4 {
			acc[k] = XMM()
		}
		VXORPD(acc[k], acc[k], acc[k])
	}
	return acc
}

// multiplyAdd emits acc += val·x for one entry.
func multiplyAdd(acc []VecVirtual, width int, val, x Mem) {
	switch width {
	case 1:
		v := XMM()
		VMOVSD(val, v)
		VMULSD(x, v, v)
		VADDSD(v, acc[0], acc[0])
	case 2:
		v := XMM()
		VMOVDDUP(val, v)
		VMULPD(x, v, v)
		VADDPD(v, acc[0], acc[0])
	default:
		v := YMM()
		VBROADCASTSD(val, v)
		for k, a := range acc {
			product := YMM()
			VMULPD(x.Offset(32*k), v, product)
			VADDPD(product, a, a)
		}
	}
}
