package city

import (
	"math"
	"slices"
	"testing"
)

func TestEveryCityIsOne(t *testing.T) {
	t.Parallel()
	for seed := range uint64(8) {
		c := New(seed)
		n := c.Graph.Len()
		if n < 1050 || n > 1350 || len(c.X) != n || len(c.Y) != n || len(c.Truth) != n {
			t.Errorf("city %d has %d junctions, %d and %d places, %d speeds", seed, n, len(c.X), len(c.Y), len(c.Truth))
		}
		if _, sizes := c.Graph.Components(); len(sizes) != 1 {
			t.Errorf("city %d is in %d pieces", seed, len(sizes))
		}
		if len(c.Sensors) != streetSensors+motorwaySensors || len(c.Readings) != len(c.Sensors) ||
			len(slices.Compact(slices.Sorted(slices.Values(c.Sensors)))) != len(c.Sensors) {
			t.Errorf("city %d has sensors at %v", seed, c.Sensors)
		}
		if lo, hi := slices.Min(c.Truth), slices.Max(c.Truth); lo < 0 || hi > 120 || hi-lo < 30 {
			t.Errorf("city %d has speeds from %.1f to %.1f km/h", seed, lo, hi)
		}
	}
}

func TestSameSeedSameCity(t *testing.T) {
	t.Parallel()
	a, b, other := New(3), New(3), New(4)
	if a.Graph.Hash() != b.Graph.Hash() || !slices.Equal(a.X, b.X) || !slices.Equal(a.Truth, b.Truth) ||
		!slices.Equal(a.Readings, b.Readings) {
		t.Error("one seed made two cities")
	}
	if a.Graph.Hash() == other.Graph.Hash() {
		t.Error("two seeds made one city")
	}
}

// Few streets cross the river: the four bridges and the motorway, twice.
func TestBridges(t *testing.T) {
	t.Parallel()
	const seed = 1
	c, p := New(seed), newPlan(seed)
	crossings := 0
	for i := range c.Graph.Len() {
		cols, _ := c.Graph.Adjacency().Row(i)
		for _, j := range cols {
			if int(j) > i && p.north(c.X[i], c.Y[i]) != p.north(c.X[j], c.Y[j]) {
				crossings++
			}
		}
	}
	if crossings < 5 || crossings > 8 {
		t.Errorf("%d streets cross the river", crossings)
	}
}

func TestSpeeds(t *testing.T) {
	t.Parallel()
	c := New(1)
	mean := func(wanted func(i int) bool) float64 {
		sum, n := 0.0, 0.0
		for i, v := range c.Truth {
			if wanted(i) {
				sum, n = sum+v, n+1
			}
		}
		return sum / n
	}
	kind := func(i int) byte { return c.Graph.IDs().At(i)[0] }
	away := func(i int) float64 { return math.Hypot(c.X[i], c.Y[i]) }
	motorway := mean(func(i int) bool { return kind(i) == 'M' })
	centre := mean(func(i int) bool { return away(i) < 1500 })
	rim := mean(func(i int) bool { return away(i) > 4500 })
	if !(centre+10 < rim && rim+10 < motorway) {
		t.Errorf("%.0f km/h in the centre, %.0f at the rim, %.0f on the motorway", centre, rim, motorway)
	}
	// The mean square of 150 errors is within 5 standard errors of theirs.
	square := 0.0
	for k, i := range c.Sensors {
		e := (c.Readings[k] - c.Truth[i]) / NoiseSD
		square += e * e / float64(len(c.Sensors))
	}
	if bound := 5 * math.Sqrt(2/float64(len(c.Sensors))); math.Abs(square-1) > bound {
		t.Errorf("noise has %.2f of its variance, want 1 ± %.2f", square, bound)
	}
}
