// Command asm writes the AVX2 sweeps of package solve; run it by go generate in that
// package.
package main

import (
	"fmt"
	"strings"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

func main() {
	ConstraintExpr("!purego")
	for _, single := range []bool{false, true} {
		for _, scaled := range []bool{false, true} {
			turn(single, scaled)
			step(single, scaled)
			begin(single, scaled)
		}
		curvature(single)
		dot(single)
		recur(single)
		rest(single)
	}
	Generate()
}

// widths are the numbers of columns that go through registers together.
var widths = []int{8, 4, 2, 1}

// sweep is a loop over rows of blocks of the same shape, for one strip of columns
// after another.
type sweep struct {
	single bool
	width  int // of the strip

	blocks       map[string]Register // pointers to the first column of the strip
	noise, scale Register
	row, i       Register // offset of the row in bytes; its number
}

// emit writes a function. blocks, diagonals, factors and sums are names of
// parameters; body emits one row.
func emit(name string, single bool, doc string, blocks, diagonals, factors, sums []string,
	body func(s *sweep, factor, sum map[string][]VecVirtual)) {
	float, size := "float64", 8
	if single {
		float, size = "float32", 4
	}
	params := []string{"rows, columns int"}
	for _, names := range [][]string{blocks, diagonals, factors} {
		for _, p := range names {
			params = append(params, p+" *"+float)
		}
	}
	for _, p := range sums {
		params = append(params, p+" *float64")
	}
	TEXT(name, NOSPLIT, "func("+strings.Join(params, ", ")+")")
	Pragma("noescape")
	Doc(name+" "+doc, "It is for rows ≥ 1 rows of columns ≥ 1 columns, stored without gaps.")

	s := &sweep{single: single, blocks: map[string]Register{}}
	rows := Load(Param("rows"), GP64())
	stride := Load(Param("columns"), GP64())
	left := GP64()
	MOVQ(stride, left)
	SHLQ(Imm(uint64(log2(size))), stride)
	for _, p := range blocks {
		s.blocks[p] = Load(Param(p), GP64())
	}
	for _, p := range diagonals {
		r := Load(Param(p), GP64())
		if p == "noise" {
			s.noise = r
		} else {
			s.scale = r
		}
	}
	done, at := GP64(), GP64() // columns done; scratch
	XORQ(done, done)
	s.row, s.i = GP64(), GP64()
	for n, width := range widths {
		s.width = width
		label := func(what string) string { return fmt.Sprintf("%s%d", what, width) }
		after := "end"
		if n+1 < len(widths) {
			after = fmt.Sprintf("strip%d", widths[n+1])
		}
		Label(label("strip"))
		if n == 0 {
			CMPQ(left, Imm(uint64(width)))
			JLT(LabelRef(after))
		} else {
			TESTQ(U32(uint32(width)), left)
			JZ(LabelRef(after))
		}
		factor, sum := map[string][]VecVirtual{}, map[string][]VecVirtual{}
		for _, p := range factors {
			Load(Param(p), at)
			factor[p] = s.load(Mem{Base: at, Index: done, Scale: uint8(size)})
		}
		wide := &sweep{width: width}
		for _, p := range sums {
			Load(Param(p), at)
			sum[p] = wide.load(Mem{Base: at, Index: done, Scale: 8})
		}
		XORQ(s.row, s.row)
		XORQ(s.i, s.i)
		Label(label("row"))
		body(s, factor, sum)
		ADDQ(stride, s.row)
		INCQ(s.i)
		CMPQ(s.i, rows)
		JLT(LabelRef(label("row")))
		for _, p := range sums {
			Load(Param(p), at)
			wide.store(sum[p], Mem{Base: at, Index: done, Scale: 8})
		}
		for _, p := range blocks {
			ADDQ(Imm(uint64(width*size)), s.blocks[p])
		}
		ADDQ(Imm(uint64(width)), done)
		if n == 0 {
			SUBQ(Imm(uint64(width)), left)
			JMP(LabelRef(label("strip")))
		}
	}
	Label("end")
	VZEROUPPER()
	RET()
}

func log2(n int) int {
	if n == 8 {
		return 3
	}
	return 2
}

// lanes is the number of columns in a register.
func (s *sweep) lanes() int {
	if s.single {
		return min(8, s.width)
	}
	return min(4, s.width)
}

// vector returns a register for some columns.
func (s *sweep) vector() VecVirtual {
	if s.single && s.width < 8 || !s.single && s.width < 4 {
		return XMM()
	}
	return YMM()
}

func (s *sweep) count() int { return s.width / s.lanes() }

func (s *sweep) bytes() int {
	if s.single {
		return 4
	}
	return 8
}

// load emits loads of a strip.
func (s *sweep) load(from Mem) []VecVirtual {
	all := make([]VecVirtual, s.count())
	for k := range all {
		all[k] = s.vector()
		at := from.Offset(k * s.lanes() * s.bytes())
		switch {
		case s.single && s.width >= 4:
			VMOVUPS(at, all[k])
		case s.single && s.width == 2:
			VMOVSD(at, all[k])
		case s.single:
			VMOVSS(at, all[k])
		case s.width >= 2:
			VMOVUPD(at, all[k])
		default:
			VMOVSD(at, all[k])
		}
	}
	return all
}

// store emits stores of a strip.
func (s *sweep) store(v []VecVirtual, to Mem) {
	for k := range v {
		at := to.Offset(k * s.lanes() * s.bytes())
		switch {
		case s.single && s.width >= 4:
			VMOVUPS(v[k], at)
		case s.single && s.width == 2:
			VMOVSD(v[k], at)
		case s.single:
			VMOVSS(v[k], at)
		case s.width >= 2:
			VMOVUPD(v[k], at)
		default:
			VMOVSD(v[k], at)
		}
	}
}

// at is a block at the row in hand.
func (s *sweep) at(name string) Mem {
	return Mem{Base: s.blocks[name], Index: s.row, Scale: 1}
}

// spread emits the value of a diagonal at the row in hand, in all lanes.
func (s *sweep) spread(diagonal Register) VecVirtual {
	from := Mem{Base: diagonal, Index: s.i, Scale: uint8(s.bytes())}
	v := s.vector()
	switch {
	case s.single:
		VBROADCASTSS(from, v)
	case s.width >= 4:
		VBROADCASTSD(from, v)
	default:
		VMOVDDUP(from, v)
	}
	return v
}

// times emits a·b, where a is one register for all or one for each.
func (s *sweep) times(a, b []VecVirtual) []VecVirtual {
	return s.each(a, b, VMULPS, VMULPD)
}

func (s *sweep) plus(a, b []VecVirtual) []VecVirtual  { return s.each(a, b, VADDPS, VADDPD) }
func (s *sweep) minus(a, b []VecVirtual) []VecVirtual { return s.each(b, a, VSUBPS, VSUBPD) }

// each emits op(a, b) in the operand order of Go's assembler: the last source is the
// first operand of the operation.
func (s *sweep) each(a, b []VecVirtual, single, double func(ops ...Op)) []VecVirtual {
	out := make([]VecVirtual, s.count())
	for k := range out {
		x, y := a[min(k, len(a)-1)], b[min(k, len(b)-1)]
		out[k] = s.vector()
		if s.single {
			single(x, y, out[k])
		} else {
			double(x, y, out[k])
		}
	}
	return out
}

// add emits sum += a·b in float64.
func (s *sweep) add(sum, a, b []VecVirtual) {
	wide := &sweep{width: s.width}
	x := s.widen(a)
	y := x
	if &a[0] != &b[0] {
		y = s.widen(b)
	}
	for k, v := range wide.times(x, y) {
		VADDPD(v, sum[k], sum[k])
	}
}

// widen emits float64 registers of the same columns.
func (s *sweep) widen(a []VecVirtual) []VecVirtual {
	if !s.single {
		return a
	}
	wide := &sweep{width: s.width}
	out := make([]VecVirtual, wide.count())
	for k := range out {
		out[k] = wide.vector()
	}
	switch s.width {
	case 8:
		high := XMM()
		VCVTPS2PD(a[0].(Vec).AsX(), out[0])
		VEXTRACTF128(Imm(1), a[0], high)
		VCVTPS2PD(high, out[1])
	case 1:
		VCVTSS2SD(a[0], a[0], out[0])
	default:
		VCVTPS2PD(a[0], out[0])
	}
	return out
}

func one(v VecVirtual) []VecVirtual { return []VecVirtual{v} }

func named(what string, single bool) string {
	if single {
		return what + "Single"
	}
	return what + "Double"
}

// shifted emits q + noise∘p.
func (s *sweep) shifted(q, p []VecVirtual) []VecVirtual {
	return s.plus(q, s.times(one(s.spread(s.noise)), p))
}

func turn(single, scaled bool) {
	name, diagonals := named("turn", single), []string(nil)
	doc := "sets p = r + β∘p."
	if scaled {
		name, diagonals, doc = named("turnScaled", single), []string{"scale"}, "sets p = scale∘r + β∘p."
	}
	emit(name, single, doc, []string{"p", "r"}, diagonals, []string{"beta"}, nil, func(s *sweep, factor, _ map[string][]VecVirtual) {
		r := s.load(s.at("r"))
		if scaled {
			r = s.times(one(s.spread(s.scale)), r)
		}
		p := s.load(s.at("p"))
		s.store(s.plus(r, s.times(factor["beta"], p)), s.at("p"))
	})
}

func step(single, scaled bool) {
	name, diagonals, sums := named("step", single), []string{"noise"}, []string{"rr"}
	doc := "sets e += α∘p and r −= α∘(q + noise∘p), and adds rᵀr to rr."
	if scaled {
		name, diagonals, sums = named("stepScaled", single), append(diagonals, "scale"), append(sums, "rz")
		doc = "sets e += α∘p and r −= α∘(q + noise∘p), and adds rᵀr to rr and rᵀ(scale∘r) to rz."
	}
	emit(name, single, doc, []string{"e", "r", "p", "q"}, diagonals, []string{"alpha"}, sums,
		func(s *sweep, factor, sum map[string][]VecVirtual) {
			p := s.load(s.at("p"))
			h := s.shifted(s.load(s.at("q")), p)
			s.store(s.plus(s.load(s.at("e")), s.times(factor["alpha"], p)), s.at("e"))
			r := s.minus(s.load(s.at("r")), s.times(factor["alpha"], h))
			s.store(r, s.at("r"))
			s.add(sum["rr"], r, r)
			if scaled {
				s.add(sum["rz"], r, s.times(one(s.spread(s.scale)), r))
			}
		})
}

func begin(single, scaled bool) {
	name, diagonals := named("begin", single), []string(nil)
	doc := "sets p = r, and adds rᵀp to rz."
	if scaled {
		name, diagonals, doc = named("beginScaled", single), []string{"scale"}, "sets p = scale∘r, and adds rᵀp to rz."
	}
	emit(name, single, doc, []string{"p", "r"}, diagonals, nil, []string{"rz"}, func(s *sweep, _, sum map[string][]VecVirtual) {
		r := s.load(s.at("r"))
		p := r
		if scaled {
			p = s.times(one(s.spread(s.scale)), r)
		}
		s.store(p, s.at("p"))
		s.add(sum["rz"], r, p)
	})
}

func rest(single bool) {
	emit(named("rest", single), single, "sets r = α∘(p − (q + noise∘e)), and adds rᵀr to rr.", []string{"e", "r", "p", "q"}, []string{"noise"},
		[]string{"alpha"}, []string{"rr"},
		func(s *sweep, factor, sum map[string][]VecVirtual) {
			h := s.shifted(s.load(s.at("q")), s.load(s.at("e")))
			r := s.times(factor["alpha"], s.minus(s.load(s.at("p")), h))
			s.store(r, s.at("r"))
			s.add(sum["rr"], r, r)
		})
}

func curvature(single bool) {
	emit(named("curvature", single), single, "adds pᵀ(q + noise∘p) to pq.", []string{"p", "q"}, []string{"noise"}, nil, []string{"pq"},
		func(s *sweep, _, sum map[string][]VecVirtual) {
			p := s.load(s.at("p"))
			s.add(sum["pq"], p, s.shifted(s.load(s.at("q")), p))
		})
}

func dot(single bool) {
	emit(named("dot", single), single, "adds pᵀq to pq.", []string{"p", "q"}, nil, nil, []string{"pq"},
		func(s *sweep, _, sum map[string][]VecVirtual) { s.add(sum["pq"], s.load(s.at("p")), s.load(s.at("q"))) })
}

func recur(single bool) {
	emit(named("recur", single), single, "sets e = α∘(q + noise∘p) − β∘p − γ∘e, and adds eᵀe to ee.", []string{"e", "p", "q"},
		[]string{"noise"}, []string{"alpha", "beta", "gam"}, []string{"ee"},
		func(s *sweep, factor, sum map[string][]VecVirtual) {
			p := s.load(s.at("p"))
			v := s.times(factor["alpha"], s.shifted(s.load(s.at("q")), p))
			v = s.minus(v, s.times(factor["beta"], p))
			v = s.minus(v, s.times(factor["gam"], s.load(s.at("e"))))
			s.store(v, s.at("e"))
			s.add(sum["ee"], v, v)
		})
}
