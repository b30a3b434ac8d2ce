package kernel

// Stretch returns a family with a variance and a length scale whose length counts factor times: exp(−β·factor·(I−W)) for
// Diffusion, (1 + (κ·factor)²·(I−W)/2ν)^−ν for Matern. The result is a Spectrum if m is one.
func Stretch(m Modulation, factor float64) Modulation { return viewed{m, factor, 1}.modulation() }

// Signless returns a family with the signless Laplacian I + W in place of I − W: it
// gives high variance to functions whose values alternate in sign between
// neighbours. It uses the same matrix W: the signs of f_l alternate. The result is
// a Spectrum if m is one.
func Signless(m Modulation) Modulation { return viewed{m, 1, -1}.modulation() }

// viewed is a family in another unit of length, or of −W.
type viewed struct {
	Modulation
	factor float64 // of the length, the second parameter
	sign   float64 // of W
}

// viewedSpectrum is that of a Spectrum.
type viewedSpectrum struct {
	viewed
	spectrum Spectrum
}

func (v viewed) modulation() Modulation {
	if s, ok := v.Modulation.(Spectrum); ok {
		return viewedSpectrum{v, s}
	}
	return v
}

// inner returns the parameters of the family itself.
func (v viewed) inner(theta []float64) []float64 {
	if v.factor == 1 { // there may be no length
		return theta
	}
	return []float64{theta[0], v.factor * theta[1]}
}

func (v viewed) Coeffs(dst, theta []float64) {
	v.Modulation.Coeffs(dst, v.inner(theta))
	v.turn(dst)
}

func (v viewed) CoeffsGrad(dst [][]float64, theta []float64) {
	v.Modulation.CoeffsGrad(dst, v.inner(theta))
	for j, d := range dst {
		v.turn(d)
		for l := range d {
			d[l] *= v.slope(j)
		}
	}
}

// turn changes the sign of every other coefficient if W has the other sign.
func (v viewed) turn(f []float64) {
	for l := 1; l < len(f); l += 2 {
		f[l] *= v.sign
	}
}

// slope is the derivative of parameter j of the family by that of the view.
func (v viewed) slope(j int) float64 {
	if j == 1 {
		return v.factor
	}
	return 1
}

func (v viewedSpectrum) Density(w float64, theta []float64) float64 {
	return v.spectrum.Density(v.sign*w, v.inner(theta))
}

func (v viewedSpectrum) DensityGrad(dst []float64, w float64, theta []float64) {
	v.spectrum.DensityGrad(dst, v.sign*w, v.inner(theta))
	for j := range dst {
		dst[j] *= v.slope(j)
	}
}
