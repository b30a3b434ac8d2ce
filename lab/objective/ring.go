package objective

import (
	"math"
	"math/rand/v2"

	"grfgp/graph"
	"grfgp/internal/rng"
	"grfgp/lab/randomstate"
)

// Circle returns the sum of three random waves on a ring of 10,000 nodes, each joined to
// the four nodes before and after it. Random numbers are drawn in the order frequency,
// height and phase of each wave, then noise.
func Circle() (*Task, error) {
	const name, n = "circle", 10_000
	g, err := graph.RingK(n, 4)
	if err != nil {
		return nil, failed(name, err)
	}
	r := randomstate.New(paperSeed)
	y := make([]float64, n)
	for range 3 {
		frequency := 1 + float64(r.Below(5))
		height := r.Uniform(0.5, 2)
		phase := r.Uniform(0, 2*math.Pi)
		for i := range y {
			y[i] += height * math.Sin(frequency*angle(i, n)+phase)
		}
	}
	return newTask(name, g, y, r), nil
}

// Ring returns the function of the paper's scaling experiment on a ring of n nodes:
// y = 2 sin 2a + 0.5 cos 4a + 0.3 sin a at angle a. It is not scaled; the noise depends on
// the seed and has standard deviation 0.1, as in the authors' code (the paper says
// variance).
func Ring(n int, seed uint64) (*Task, error) {
	const name = "ring"
	g, err := graph.Ring(n)
	if err != nil {
		return nil, failed(name, err)
	}
	t := &Task{Name: name, Graph: g, Truth: make([]float64, n), Table: make([]float64, n), NoiseSD: noiseSD}
	r := rand.New(rng.New(seed, "ring noise"))
	for i := range n {
		a := angle(i, n)
		t.Truth[i] = 2*math.Sin(2*a) + 0.5*math.Cos(4*a) + 0.3*math.Sin(a)
		t.Table[i] = t.Truth[i] + noiseSD*r.NormFloat64()
	}
	return t, nil
}

// angle returns the angle of node i on a ring of n nodes, in radians.
func angle(i, n int) float64 { return 2 * math.Pi * float64(i) / float64(n) }
