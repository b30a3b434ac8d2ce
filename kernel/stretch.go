package kernel

// Stretch returns a family with a variance and a length scale whose length counts factor times: exp(−β·factor·(I−W)) for
// Diffusion, (1 + (κ·factor)²·(I−W)/2ν)^−ν for Matern. The result is a Spectrum if m is one.
func Stretch(m Modulation, factor float64) Modulation {
	if s, ok := m.(Spectrum); ok {
		return stretchedSpectrum{stretched{m, factor}, s}
	}
	return stretched{m, factor}
}

// stretched is a family with a variance and a length scale, in another unit of
// length.
type stretched struct {
	modulation Modulation
	factor     float64 // of the length
}

func (s stretched) Params() []Param { return s.modulation.Params() }

// inner returns the parameters of the family itself.
func (s stretched) inner(theta []float64) []float64 {
	return []float64{theta[0], s.factor * theta[1]}
}

func (s stretched) Coeffs(dst, theta []float64) { s.modulation.Coeffs(dst, s.inner(theta)) }

func (s stretched) CoeffsGrad(dst [][]float64, theta []float64) {
	s.modulation.CoeffsGrad(dst, s.inner(theta))
	for l := range dst[1] {
		dst[1][l] *= s.factor
	}
}

type stretchedSpectrum struct {
	stretched
	spectrum Spectrum
}

func (s stretchedSpectrum) Density(w float64, theta []float64) float64 {
	return s.spectrum.Density(w, s.inner(theta))
}

func (s stretchedSpectrum) DensityGrad(dst []float64, w float64, theta []float64) {
	s.spectrum.DensityGrad(dst, w, s.inner(theta))
	dst[1] *= s.factor
}

// Signless returns a family with the signless Laplacian I + W in place of I − W: it
// gives high variance to functions whose values alternate in sign between
// neighbours. It uses the same matrix W: the signs of f_l alternate. The result is
// a Spectrum if m is one.
func Signless(m Modulation) Modulation {
	if s, ok := m.(Spectrum); ok {
		return signlessSpectrum{signless{m}, s}
	}
	return signless{m}
}

type signless struct{ Modulation }

func (s signless) Coeffs(dst, theta []float64) {
	s.Modulation.Coeffs(dst, theta)
	alternate(dst)
}

func (s signless) CoeffsGrad(dst [][]float64, theta []float64) {
	s.Modulation.CoeffsGrad(dst, theta)
	for _, d := range dst {
		alternate(d)
	}
}

// alternate changes the sign of every other number.
func alternate(f []float64) {
	for l := 1; l < len(f); l += 2 {
		f[l] = -f[l]
	}
}

type signlessSpectrum struct {
	signless
	spectrum Spectrum
}

func (s signlessSpectrum) Density(w float64, theta []float64) float64 {
	return s.spectrum.Density(-w, theta)
}

func (s signlessSpectrum) DensityGrad(dst []float64, w float64, theta []float64) {
	s.spectrum.DensityGrad(dst, -w, theta)
}
