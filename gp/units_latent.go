package gp

// standardLatent returns data as observe takes them.
func (u Units) standardLatent(d Data, v Values) Data {
	if v.About().Noisy {
		return u.standard(d)
	}
	return d.Clone()
}

// standardMean returns a mean of f as observe without a center takes it.
func (u Units) standardMean(mean float64, v Values) float64 {
	if v.About().Noisy {
		return (mean - u.Center) / u.Scale
	}
	return mean
}
