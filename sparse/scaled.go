package sparse

import "math"

// Scaled returns w/√(a·b) for any positive numbers, the same bits for (b, a): an entry of D^-½AD^-½.
func Scaled(w, a, b float64) float64 {
	const smallestNormal = 0x1p-1022
	if p := a * b; p >= smallestNormal && p <= math.MaxFloat64 {
		return w / math.Sqrt(p)
	}
	// The product is out of range: compute with exponents apart.
	fw, ew := math.Frexp(w)
	fa, ea := math.Frexp(a)
	fb, eb := math.Frexp(b)
	p, e := fa*fb, ea+eb
	if e%2 != 0 {
		p, e = 2*p, e-1
	}
	return math.Ldexp(fw/math.Sqrt(p), ew-e/2)
}
