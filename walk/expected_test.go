package walk

import (
	"math"
	"testing"

	"grfgp/internal/rng"
	"grfgp/internal/testkit"
)

// What is expected of a row without walking is what walks give. For n independent
// walkers and one length the variance of a row is (E‖walk‖² − ‖E walk‖²)/n: the
// measured noise, and 1/n of the measured signal, add up to the expected noise.
// Each row is measured by 3,000 pairs of ensembles, or fewer in the quick suite; of some 280 rows none may be
// off by five standard errors, which chance does in one of 6,000 such tests.
func TestExpectedNoise(t *testing.T) {
	t.Parallel()
	testkit.Unraced(t)
	const length, walks = 2, 3
	pairs := testkit.Size(800, 3000)
	for _, m := range smallMedia(t) {
		for _, opts := range []Options{
			{Sampler: Independent, Halt: 0.3, Scale: m.scale},
			{Sampler: Independent, Steps: Uniform},
			{Sampler: AdHoc, Halt: 0.3},
		} {
			opts.Walks, opts.MaxLen = walks, length
			if err := opts.validate(m.w); err != nil {
				t.Fatal(err)
			}
			p := newRun(m.w, opts)
			coeff := []float64{0, 0, 0.7}
			s := p.rowSampler()
			for i, want := range p.expectedNoise(coeff) {
				sum, squares := 0.0, 0.0
				for k := range pairs {
					f := s.compare(uint32(i), [2]rng.Stream{*rng.New(1, "a", uint64(k)), *rng.New(1, "b", uint64(k))}, coeff)
					x := f.noise[length+1] + f.signal[length+1]/walks
					sum += x / float64(pairs)
					squares += x * x / float64(pairs)
				}
				se := math.Sqrt(max(0, squares-sum*sum) / float64(pairs))
				if math.Abs(sum-want) > 5*se+1e-6*want {
					t.Errorf("%s, %v, %v, row %d: %v ± %v measured, %v expected", m.name, opts.Sampler, opts.Steps, i, sum, se, want)
				}
			}
		}
	}
}

// Repelling rows that the paths show to be exact are expected to have no noise,
// and have none; others are expected to have some.
func TestExpectedNoiseOfExactRows(t *testing.T) {
	t.Parallel()
	m := star(t, 300)
	opts := Options{Walks: 10, Budget: 20, MaxLen: 2, Scale: m.scale}
	if err := opts.validate(m.w); err != nil {
		t.Fatal(err)
	}
	p := newRun(m.w, opts)
	near, far := p.expectedNoise([]float64{1, 1, 0}), p.expectedNoise([]float64{1, 1, 1})
	if near[0] == 0 || near[1] != 0 || far[1] == 0 {
		t.Errorf("one hop: hub %v, leaf %v; two hops: leaf %v; want noise at the hub, and at a leaf from the second hop", near[0], near[1],
			far[1])
	}
}
