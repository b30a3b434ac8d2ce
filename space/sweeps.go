package space

import "grfgp/sparse"

// The sweeps of a space over rows of blocks in the memory of this process: their
// definition, which the assembly follows bit for bit. A block is stored row by row.
// Numbers are rounded to the precision F of the blocks after every operation; the
// conversion of each product forbids the compiler to fuse it with a sum, which would
// round differently from one processor to the next. Sums are float64, one for each
// column, in the order of the rows.

//go:generate go -C _asm run . -pkg space -out ../sweeps_amd64.s -stubs ../sweeps_amd64.go

// floats are the precisions of blocks.
type floats interface{ sparse.Float }

// operands are what a sweep works on: blocks of the same shape, diagonals, which have
// a value per row, and factors, which have one per column. Each sweep uses some.
type operands[F floats] struct {
	columns          int
	e, p, q, r       []F // blocks
	noise, scale     []F // diagonals; a nil scale is the identity
	alpha, beta, gam []F // factors
}

// rows returns the operands of rows lo to hi.
func (o operands[F]) rows(lo, hi int) operands[F] {
	k := o.columns
	cut := func(x []F, width int) []F {
		if x == nil {
			return nil
		}
		return x[lo*width : hi*width]
	}
	o.e, o.p, o.q, o.r = cut(o.e, k), cut(o.p, k), cut(o.q, k), cut(o.r, k)
	o.noise, o.scale = cut(o.noise, 1), cut(o.scale, 1)
	return o
}

// turnGo sets p = scale∘r + β∘p.
func turnGo[F floats](o *operands[F], _ []float64) {
	k := o.columns
	for i := 0; i*k < len(o.p); i++ {
		p, r, beta := o.p[i*k:][:k], o.r[i*k:][:k], o.beta[:k]
		if o.scale == nil {
			for t, b := range beta {
				p[t] = r[t] + F(b*p[t])
			}
			continue
		}
		s := o.scale[i]
		for t, b := range beta {
			p[t] = F(s*r[t]) + F(b*p[t])
		}
	}
}

// curvatureGo adds pᵀ(q + noise∘p) to the sums.
func curvatureGo[F floats](o *operands[F], sums []float64) {
	k := o.columns
	for i := 0; i*k < len(o.p); i++ {
		p, q, d := o.p[i*k:][:k], o.q[i*k:][:k], o.noise[i]
		for t, v := range p {
			h := q[t] + F(d*v)
			sums[t] += float64(float64(v) * float64(h))
		}
	}
}

// stepGo sets e += α∘p and r −= α∘(q + noise∘p), and adds rᵀr to the first sums and
// rᵀ(scale∘r) to the others.
func stepGo[F floats](o *operands[F], sums []float64) {
	k := o.columns
	for i := 0; i*k < len(o.p); i++ {
		e, r, p, q, d := o.e[i*k:][:k], o.r[i*k:][:k], o.p[i*k:][:k], o.q[i*k:][:k], o.noise[i]
		for t, a := range o.alpha[:k] {
			h := q[t] + F(d*p[t])
			e[t] += F(a * p[t])
			r[t] -= F(a * h)
			sums[t] += float64(float64(r[t]) * float64(r[t]))
		}
		if o.scale == nil {
			continue
		}
		s, rz := o.scale[i], sums[k:][:k]
		for t, v := range r {
			rz[t] += float64(float64(v) * float64(F(s*v)))
		}
	}
}

// beginGo sets p = scale∘r, and adds rᵀp to the sums.
func beginGo[F floats](o *operands[F], sums []float64) {
	k := o.columns
	for i := 0; i*k < len(o.p); i++ {
		p, r := o.p[i*k:][:k], o.r[i*k:][:k]
		for t, v := range r {
			if p[t] = v; o.scale != nil {
				p[t] = F(o.scale[i] * v)
			}
			sums[t] += float64(float64(v) * float64(p[t]))
		}
	}
}

// restGo sets r = α∘(p − (q + noise∘e)), and adds rᵀr to the sums.
func restGo[F floats](o *operands[F], sums []float64) {
	k := o.columns
	for i := 0; i*k < len(o.p); i++ {
		e, r, p, q, d := o.e[i*k:][:k], o.r[i*k:][:k], o.p[i*k:][:k], o.q[i*k:][:k], o.noise[i]
		for t, a := range o.alpha[:k] {
			h := q[t] + F(d*e[t])
			r[t] = F(a * (p[t] - h))
			sums[t] += float64(float64(r[t]) * float64(r[t]))
		}
	}
}

// dotGo adds pᵀq to the sums.
func dotGo[F floats](o *operands[F], sums []float64) {
	k := o.columns
	for i := 0; i*k < len(o.p); i++ {
		q := o.q[i*k:][:k]
		for t, v := range o.p[i*k:][:k] {
			sums[t] += float64(float64(v) * float64(q[t]))
		}
	}
}

// recurGo sets e = α∘(q + noise∘p) − β∘p − γ∘e, and adds eᵀe to the sums.
func recurGo[F floats](o *operands[F], sums []float64) {
	k := o.columns
	for i := 0; i*k < len(o.p); i++ {
		e, p, q, d := o.e[i*k:][:k], o.p[i*k:][:k], o.q[i*k:][:k], o.noise[i]
		for t, a := range o.alpha[:k] {
			h := q[t] + F(d*p[t])
			v := F(a*h) - F(o.beta[t]*p[t])
			v -= F(o.gam[t] * e[t])
			e[t] = v
			sums[t] += float64(float64(v) * float64(v))
		}
	}
}
