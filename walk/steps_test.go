package walk

import (
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"grfgp/sparse"
)

// Facts that are told from the weights of a row alone are those of its steps, also where weights differ by about the
// tolerance, are far from one, negative or zero, and where strengths are not the sums of rows.
func TestQuickFacts(t *testing.T) {
	t.Parallel()
	const n = 12
	random := rand.New(rand.NewPCG(1, 1))
	seen := map[Facts]int{}
	quick := 0
	for trial := range 4000 {
		unit := []float64{1, 0.3, 7e-9, 1e-90, 1e90, 1e-150, 1e150}[random.IntN(7)]
		noise := []float64{0, 1e-16, 1e-14, 3e-13, 9.99e-13, 1e-12, 1.001e-12, 5e-12, 1e-11, 1e-9, 0.5}[random.IntN(11)]
		rowPtr, col, val, strengths := []int{0}, []uint32{}, []float64{}, make([]float64, n)
		for i := range n {
			for j := range n {
				if random.IntN(3) == 0 && (trial%3 > 0 || i > 0) {
					continue
				}
				w := unit * (1 + noise*random.Float64())
				switch random.IntN(400) {
				case 0:
					w = -w
				case 1:
					w = 0
				}
				if trial%5 == 0 && i == 3 {
					continue
				}
				col, val = append(col, uint32(j)), append(val, w)
				strengths[i] += w
			}
			rowPtr = append(rowPtr, len(col))
			if random.IntN(100) == 0 {
				strengths[i] *= 1 + []float64{1e-14, 1e-12, 0.1}[random.IntN(3)]
			}
			if !(strengths[i] > 0) {
				strengths[i] = unit
			}
		}
		w, err := sparse.NewCSR(n, n, rowPtr, col, val)
		if err != nil {
			t.Fatal(err)
		}
		s := &steps{strengths: strengths, rooted: true}
		s.matrix(w)
		want := Facts{}
		for i := range uint32(n) {
			own, told := Facts{}, Facts{}
			s.rowFacts(i, &own)
			want = want.Or(own)
			if s.tame() && s.quickFacts(i, &told) {
				quick++
				if told != own {
					t.Fatalf("row %v with strength %v: %+v, want %+v", val[rowPtr[i]:rowPtr[i+1]], strengths[i], told, own)
				}
			}
		}
		if got := s.facts(0, n); got != want {
			t.Fatalf("%+v, want %+v", got, want)
		}
		seen[want]++
	}
	if len(seen) < 6 || quick < 10000 {
		t.Errorf("%d kinds of matrices, %d rows told by their weights: the test has lost its reach", len(seen), quick)
	}
}

// Runs on one ground share the tables of proportional steps; runs with other steps have their own.
func TestGroundShares(t *testing.T) {
	t.Parallel()
	w, err := sparse.NewCSR(3, 3, []int{0, 2, 4, 6}, []uint32{1, 2, 0, 2, 0, 1}, []float64{0.25, 0.75, 0.25, 0.5, 0.75, 0.5})
	if err != nil {
		t.Fatal(err)
	}
	opts := Default()
	opts.MaxLen, opts.Scale = 3, []float64{1, 2, 1}
	g := NewGround(w, opts)
	lazy := func(change func(o *Options)) *Features {
		o := opts
		change(&o)
		o.Scale = nil // that of the ground counts
		f, err := g.Lazy(o)
		if err != nil {
			t.Fatal(err)
		}
		o.Scale = opts.Scale
		stored, err := Sample(t.Context(), w, o)
		if err != nil {
			t.Fatal(err)
		}
		for i := range 3 {
			if a, b := slices.Collect(f.Row(i)), slices.Collect(stored.Row(i)); !reflect.DeepEqual(a, b) {
				t.Errorf("row %d is %v, want %v", i, a, b)
			}
		}
		return f
	}
	a := lazy(func(*Options) {})
	b := lazy(func(o *Options) { o.Seed, o.MaxLen, o.Walks, o.Sampler = 5, 4, 3, Independent })
	if a.lazy.run.steps != b.lazy.run.steps || a.lazy.run.steps.cum == nil {
		t.Error("runs do not share the tables")
	}
	if c := lazy(func(o *Options) { o.Steps = Uniform }); c.lazy.run.steps == a.lazy.run.steps {
		t.Error("uniform steps are proportional ones")
	}
	bad := NewGround(w, Options{Scale: []float64{1, math.NaN(), 1}})
	if _, err := bad.Lazy(opts); err == nil {
		t.Error("a scale that is no number")
	}
}
