package gpu

// The sweeps of conjugate gradients and of the Lanczos recursion; see solve/space.go. Blocks
// have one size, noise and scale are diagonals, and a nil scale is the identity.

// Begin sets p = scale∘r, and rz to rᵀp.
func Begin(rz []float64, p, r, scale *Block) {
	p.sameAs(r)
	p.diagonals(scale)
	p.summed(rz, "begin", []any{p.at, r.at, scale.pointer()})
}

// Turn sets p = scale∘r + β∘p.
func Turn(p, r, scale *Block, beta []float64) {
	p.sameAs(r)
	p.diagonals(scale)
	p.sweep("turn", []any{p.at, r.at, scale.pointer()}, perColumn(beta))
}

// Curvature sets pq to pᵀ(q + noise∘p).
func Curvature(pq []float64, p, q, noise *Block) {
	p.sameAs(q)
	p.diagonals(noise)
	p.summed(pq, "curvature", []any{p.at, q.at, noise.at})
}

// Step sets e += α∘p and r −= α∘(q + noise∘p), rr to rᵀr and rz to rᵀ(scale∘r), which is rr
// without a scale.
func Step(rr, rz []float64, e, r, p, q, noise, scale *Block, alpha []float64) {
	p.sameAs(e, r, q)
	p.diagonals(noise, scale)
	var both [2 * maxColumns]float64
	k := p.cols
	p.summed(both[:2*k], "step", []any{e.at, r.at, p.at, q.at, noise.at, scale.pointer()}, perColumn(alpha))
	copy(rr, both[:k])
	if copy(rz, both[:k]); scale != nil {
		copy(rz, both[k:2*k])
	}
}

// Recur sets u = a∘(q + noise∘v) − b∘v − c∘u, and uu to uᵀu.
func Recur(uu []float64, u, v, q, noise *Block, a, b, c []float64) {
	v.sameAs(u, q)
	v.diagonals(noise)
	v.summed(uu, "recur", []any{u.at, v.at, q.at, noise.at}, perColumn(a), perColumn(b), perColumn(c))
}

// Rest sets r = α∘(b − (q + noise∘x)), and rr to rᵀr. A nil q stands for x = 0.
func Rest(rr []float64, r, b, q, x, noise *Block, alpha []float64) {
	r.sameAs(b, q, x)
	r.diagonals(noise)
	r.summed(rr, "rest", []any{r.at, b.at, q.pointer(), x.pointer(), noise.pointer()}, perColumn(alpha))
}
