package examples

import (
	"math"
	"reflect"
	"testing"
)

func TestSameSeedSameData(t *testing.T) {
	t.Parallel()
	if !reflect.DeepEqual(NewAreas(3), NewAreas(3)) || !reflect.DeepEqual(NewPapers(3), NewPapers(3)) {
		t.Error("one seed made two data sets")
	}
	if reflect.DeepEqual(NewAreas(3), NewAreas(4)) || reflect.DeepEqual(NewPapers(3), NewPapers(4)) {
		t.Error("two seeds made one data set")
	}
}

func TestAreas(t *testing.T) {
	t.Parallel()
	for seed := range uint64(8) {
		a := NewAreas(seed)
		n := areaRows * areaColumns
		if len(a.IDs) != n || len(a.X) != n || len(a.Farming) != n || len(a.Cases) != n || len(a.Borders) != 2*n-areaRows-areaColumns+
			(areaRows-1)*(areaColumns-1) {
			t.Fatalf("%d areas, %d borders", len(a.IDs), len(a.Borders))
		}
		// Σ (cases − mean)² / mean has mean m and variance 2m + Σ 1/mean.
		chi, m, variance := 0.0, 0.0, 0.0
		for i, c := range a.Cases {
			if mean := a.Expected[i] * a.Risk[i]; c >= 0 {
				chi += (float64(c) - mean) * (float64(c) - mean) / mean
				m, variance = m+1, variance+2+1/mean
			}
		}
		if math.Abs(chi-m) > 5*math.Sqrt(variance) {
			t.Errorf("seed %d: χ² is %.1f for %.0f areas", seed, chi, m)
		}
		if m == float64(n) || m < 0.8*float64(n) {
			t.Errorf("seed %d: %.0f of %d areas have reported", seed, m, n)
		}
	}
}

func TestPapers(t *testing.T) {
	t.Parallel()
	for seed := range uint64(8) {
		p := NewPapers(seed)
		same, seen := 0, map[string]bool{}
		for _, c := range p.Citations {
			if c[1] >= c[0] {
				t.Fatalf("paper %d cites paper %d", c[0], c[1])
			}
			if p.Topic[c[0]] == p.Topic[c[1]] {
				same++
			}
		}
		for _, i := range p.Known {
			seen[p.Topic[i]] = true
		}
		if share := float64(same) / float64(len(p.Citations)); share < 0.8 || share > 0.92 {
			t.Errorf("seed %d: %.2f of the citations are within a topic", seed, share)
		}
		if len(seen) != len(topics) || len(p.Known) != knownTopics {
			t.Errorf("seed %d: %d topics are known, of %d papers", seed, len(seen), len(p.Known))
		}
	}
}
