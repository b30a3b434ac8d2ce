// Command asm writes the AVX2 kernels of package sparse; run it by
// go generate in that package.
package main

import (
	"fmt"
	"slices"
	"strings"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// strip is a run of columns whose sums stay in registers while a row's entries
// go by. The last two say how far ahead of the entry in hand the rows of x are
// prefetched, in entries and in cache lines per row; both were measured. Wide
// strips ask for little: there the processor's own prefetcher does most. Zero entries
// are none at all.
type strip struct{ width, ahead, lines int }

var strips = []strip{{32, 4, 2}, {16, 16, 2}, {8, 32, 1}, {4, 32, 1}, {2, 32, 1}, {1, 32, 1}}

func main() {
	ConstraintExpr("!purego")
	mulRows("mulRowsAVX2", float64s, storing)
	mulRows("mulRowsStreamAVX2", float64s, streaming)
	mulRows("mulSingleAVX2", float32s, storing)
	mulRows("mulSingleStreamAVX2", float32s, streaming)
	mulRows("mulRowsAddAVX2", float64s, adding)
	mulRows("mulSingleAddAVX2", float32s, adding)
	mulRows("mulRowsNearAVX2", float64s.near(), storing)
	mulRows("mulSingleNearAVX2", float32s.near(), storing)
	mulRows("mulRowsNear4AVX2", float64s.near().only(4), storing)
	mulRows("mulSingleNear4AVX2", float32s.near().only(4), storing)
	mulRows("mulRowsAddNearAVX2", float64s.near(), adding)
	mulRows("mulSingleAddNearAVX2", float32s.near(), adding)
	dots()
	dotsSingle()
	Generate()
}

// What becomes of a sum.
type mode int

const (
	storing   mode = iota
	streaming      // stored past the caches
	adding         // added to dst
)

// precision is a type of numbers.
type precision struct {
	name   string
	shift  uint64 // log₂ of its bytes
	strips []strip
	exact  bool // blocks have as many columns as the one strip
}

var (
	float64s = precision{name: "float64", shift: 3, strips: strips}
	float32s = precision{name: "float32", shift: 2, strips: []strip{{32, 8, 2}, {16, 16, 1}, {8, 32, 1}, {4, 32, 1}, {2, 32, 1}, {1, 32, 1}}}
)

// near returns p without prefetching in narrow strips, where it costs as much as the
// product itself: for matrices whose columns are near each other.
func (p precision) near() precision {
	p.strips = slices.Clone(p.strips)
	for i, s := range p.strips {
		if s.width <= 8 {
			p.strips[i].ahead = 0
		}
	}
	return p
}

// only returns p for blocks of exactly so many columns: rows of few entries then cost
// little beside them.
func (p precision) only(width int) precision {
	p.strips = slices.DeleteFunc(slices.Clone(p.strips), func(s strip) bool { return s.width != width })
	p.exact = true
	return p
}

// bytes is the size of a number.
func (p precision) bytes() int { return 1 << p.shift }

// line is how many numbers a cache line has.
func (p precision) line() int { return 64 / p.bytes() }

// mulRows emits dst[i, :] = Σ_p val[p]·x[colIdx[p], :] over the entries p of each
// row i of a range. A row's strips come one after another, so that its rows of
// x are still near when the next strip reads them. Products and sums are
// separate instructions: a fused one would round differently from Go.
func mulRows(name string, of precision, to mode) {
	stream := to == streaming
	TEXT(name, NOSPLIT, strings.ReplaceAll("func(dst *F, dstStride int, x *F, xStride, width int, rowPtr *int, rows int, colIdx *uint32, "+
		"val *F)", "F", of.name))
	Pragma("noescape")
	doc := []string{
		name + " sets rows rows of dst, of width columns, to the product of the matrix rows",
		"from rowPtr on with x. Strides count elements; rows is at least 1.",
	}
	if to == adding {
		doc[0] = name + " adds the product of the matrix rows"
		doc[1] = "from rowPtr on with x to rows rows of dst, of width columns. Strides count elements; rows is at least 1."
	}
	if of.exact {
		doc = append(doc, fmt.Sprintf("It is for a width of %d.", of.strips[0].width))
	}
	if stream {
		doc = append(doc, "It writes past the caches: dst is aligned to 64 bytes, dstStride and width are",
			fmt.Sprintf("multiples of %d.", of.line()))
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
	SHLQ(Imm(of.shift), dstStep)
	SHLQ(Imm(of.shift), xStride)
	Comment("The last entry that may be prefetched.")
	MOVQ(Mem{Base: rowPtr, Index: rows, Scale: 8}, last)
	DECQ(last)

	if of.exact {
		Load(Param("x"), x)
	}
	Label("row")
	if !of.exact {
		Load(Param("x"), x)
		Load(Param("width"), left)
	}
	for i, s := range of.strips {
		if stream && s.width < of.line() {
			break
		}
		label := func(name string) string { return fmt.Sprintf("%s%d", name, s.width) }
		after := "next"
		if i+1 < len(of.strips) && (!stream || of.strips[i+1].width >= of.line()) {
			after = fmt.Sprintf("strip%d", of.strips[i+1].width)
		}

		Label(label("strip"))
		switch {
		case of.exact:
		case i == 0:
			CMPQ(left, Imm(uint64(s.width)))
			JLT(LabelRef(after))
		default:
			TESTQ(U32(s.width), left)
			JZ(LabelRef(after))
		}
		acc := of.accumulators(s.width)
		MOVQ(Mem{Base: rowPtr}, p)
		CMPQ(p, Mem{Base: rowPtr, Disp: 8})
		JGE(LabelRef(label("store")))

		Label(label("entry"))
		if s.ahead > 0 {
			LEAQ(Mem{Base: p, Disp: s.ahead}, offset)
			CMPQ(offset, last)
			CMOVQGT(last, offset)
			MOVL(Mem{Base: colIdx, Index: offset, Scale: 4}, offset.As32())
			IMULQ(xStride, offset)
			for line := range s.lines {
				PREFETCHT0(Mem{Base: x, Index: offset, Scale: 1, Disp: 64 * line})
			}
		}
		MOVL(Mem{Base: colIdx, Index: p, Scale: 4}, offset.As32())
		IMULQ(xStride, offset)
		of.multiplyAdd(acc, s.width, Mem{Base: val, Index: p, Scale: uint8(of.bytes())}, Mem{Base: x, Index: offset, Scale: 1})
		INCQ(p)
		CMPQ(p, Mem{Base: rowPtr, Disp: 8})
		JLT(LabelRef(label("entry")))

		Label(label("store"))
		for k, a := range acc {
			at := Mem{Base: dst, Disp: 32 * k}
			if to == adding {
				of.addTo(a, at, s.width)
			}
			of.store(a, at, s.width, stream)
		}
		ADDQ(U32(of.bytes()*s.width), dst)
		if of.exact {
			continue
		}
		ADDQ(U32(of.bytes()*s.width), x)
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

// addTo emits a += what is there.
func (p precision) addTo(a VecVirtual, at Mem, width int) {
	single := p.shift == 2
	switch {
	case width == 1 && single:
		VADDSS(at, a, a)
	case width == 1:
		VADDSD(at, a, a)
	case width == 2 && single:
		pair := XMM()
		VMOVSD(at, pair)
		VADDPS(pair, a, a)
	case single:
		VADDPS(at, a, a)
	default:
		VADDPD(at, a, a)
	}
}

// store emits a store of a register of a strip.
func (p precision) store(a VecVirtual, to Mem, width int, stream bool) {
	single := p.shift == 2
	switch {
	case stream && single:
		VMOVNTPS(a, to)
	case stream:
		VMOVNTPD(a, to)
	case width == 1 && single:
		VMOVSS(a, to)
	case width == 1, width == 2 && single:
		VMOVSD(a, to)
	case single:
		VMOVUPS(a, to)
	default:
		VMOVUPD(a, to)
	}
}

// accumulators emits registers for the sums of a strip, set to zero.
func (p precision) accumulators(width int) []VecVirtual {
	lanes := 32 / p.bytes()
	acc := make([]VecVirtual, (width+lanes-1)/lanes)
	for k := range acc {
		acc[k] = YMM()
		if width < lanes {
			acc[k] = XMM()
		}
		VXORPD(acc[k], acc[k], acc[k])
	}
	return acc
}

// multiplyAdd emits acc += val·x for one entry.
func (p precision) multiplyAdd(acc []VecVirtual, width int, val, x Mem) {
	if p.shift == 2 {
		multiplyAddSingle(acc, width, val, x)
		return
	}
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

func multiplyAddSingle(acc []VecVirtual, width int, val, x Mem) {
	switch width {
	case 1:
		v := XMM()
		VMOVSS(val, v)
		VMULSS(x, v, v)
		VADDSS(v, acc[0], acc[0])
	case 2:
		v, pair := XMM(), XMM()
		VBROADCASTSS(val, v)
		VMOVSD(x, pair)
		VMULPS(pair, v, v)
		VADDPS(v, acc[0], acc[0])
	case 4:
		v := XMM()
		VBROADCASTSS(val, v)
		VMULPS(x, v, v)
		VADDPS(v, acc[0], acc[0])
	default:
		v := YMM()
		VBROADCASTSS(val, v)
		for k, a := range acc {
			product := YMM()
			VMULPS(x.Offset(32*k), v, product)
			VADDPS(product, a, a)
		}
	}
}

// dots emits dst[e] = u·v[cols[e], :]. Lane j of a register has the sum over columns j,
// j+4, …; the four are added as (0 + 2) + (1 + 3).
func dots() {
	TEXT("dotsAVX2", NOSPLIT, "func(dst, u, v *float64, stride, width int, cols *uint32, n int)")
	Pragma("noescape")
	Doc("dotsAVX2 sets dst[e] to the product of u and row cols[e] of v, for n ≥ 1 entries. width is a",
		"multiple of 4; stride counts elements.")
	dst := Load(Param("dst"), GP64())
	u := Load(Param("u"), GP64())
	v := Load(Param("v"), GP64())
	stride := Load(Param("stride"), GP64())
	width := Load(Param("width"), GP64())
	cols := Load(Param("cols"), GP64())
	n := Load(Param("n"), GP64())
	row, w := GP64(), GP64()
	SHLQ(Imm(3), stride)

	Label("entry")
	MOVL(Mem{Base: cols}, row.As32())
	IMULQ(stride, row)
	ADDQ(v, row)
	sum := YMM()
	VXORPD(sum, sum, sum)
	XORQ(w, w)
	Label("columns")
	product := YMM()
	VMOVUPD(Mem{Base: u, Index: w, Scale: 8}, product)
	VMULPD(Mem{Base: row, Index: w, Scale: 8}, product, product)
	VADDPD(product, sum, sum)
	ADDQ(Imm(4), w)
	CMPQ(w, width)
	JLT(LabelRef("columns"))
	high, one := XMM(), XMM()
	VEXTRACTF128(Imm(1), sum, high)
	VADDPD(high, sum.AsX(), high)
	VUNPCKHPD(high, high, one)
	VADDSD(one, high, high)
	VMOVSD(high, Mem{Base: dst})
	ADDQ(Imm(8), dst)
	ADDQ(Imm(4), cols)
	DECQ(n)
	JNZ(LabelRef("entry"))
	VZEROUPPER()
	RET()
}

// dotsSingle emits dots for float32: lane j of a register has the sum over columns j, j+8,
// …; lanes j and j+4 are added, and the four sums as (0 + 2) + (1 + 3). The result is
// widened.
func dotsSingle() {
	TEXT("dotsSingleAVX2", NOSPLIT, "func(dst *float64, u, v *float32, stride, width int, cols *uint32, n int)")
	Pragma("noescape")
	Doc("dotsSingleAVX2 sets dst[e] to the product of u and row cols[e] of v, for n ≥ 1 entries. width is a",
		"multiple of 8; stride counts elements.")
	dst := Load(Param("dst"), GP64())
	u := Load(Param("u"), GP64())
	v := Load(Param("v"), GP64())
	stride := Load(Param("stride"), GP64())
	width := Load(Param("width"), GP64())
	cols := Load(Param("cols"), GP64())
	n := Load(Param("n"), GP64())
	row, w := GP64(), GP64()
	SHLQ(Imm(2), stride)

	Label("entry")
	MOVL(Mem{Base: cols}, row.As32())
	IMULQ(stride, row)
	ADDQ(v, row)
	sum := YMM()
	VXORPS(sum, sum, sum)
	XORQ(w, w)
	Label("columns")
	product := YMM()
	VMOVUPS(Mem{Base: u, Index: w, Scale: 4}, product)
	VMULPS(Mem{Base: row, Index: w, Scale: 4}, product, product)
	VADDPS(product, sum, sum)
	ADDQ(Imm(8), w)
	CMPQ(w, width)
	JLT(LabelRef("columns"))
	four, two, one := XMM(), XMM(), XMM()
	VEXTRACTF128(Imm(1), sum, four)
	VADDPS(four, sum.AsX(), four)
	VMOVHLPS(four, four, two)
	VADDPS(two, four, two)
	VMOVSHDUP(two, one)
	VADDSS(one, two, two)
	VCVTSS2SD(two, two, two)
	VMOVSD(two, Mem{Base: dst})
	ADDQ(Imm(8), dst)
	ADDQ(Imm(4), cols)
	DECQ(n)
	JNZ(LabelRef("entry"))
	VZEROUPPER()
	RET()
}
