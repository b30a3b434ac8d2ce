package progress

import (
	"math"
	"math/rand/v2"
	"sync"
	"testing"
	"time"
)

// watched returns work and the states that it reports.
func watched() (*Work, *[]State) {
	var all []State
	return New(func(s State) { all = append(all, s) }), &all
}

func share(all *[]State) float64 {
	if len(*all) == 0 {
		return 0
	}
	return (*all)[len(*all)-1].Share
}

// TestParts: parts take the shares of their costs, and parts of parts those of theirs.
func TestParts(t *testing.T) {
	t.Parallel()
	w, all := watched()
	want := func(v float64) {
		t.Helper()
		if got := share(all); math.Abs(got-v) > 1e-12 {
			t.Fatalf("%v is done, want %v", got, v)
		}
	}
	w.Part(1, 3).Count(1, 2)
	want(0.125)
	second := w.Part(1, 2) // the first is done
	want(0.25)
	second.Part(1, 1).Done()
	want(0.375)
	second.Part(1, 0).Rounds(8, 10)
	want(0.475)
	last := w.Part(2, 0)
	want(0.5)
	last.Rounds(1000, 10)
	if got := share(all); got < 0.99 || got >= 1 {
		t.Errorf("%v is done after many rounds, want nearly all", got)
	}
	w.Done()
	want(1)
}

// TestPlansThatChange: the share never falls and ends at 1, whatever is expected.
func TestPlansThatChange(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		w, all := watched()
		for range 1 + random.IntN(20) {
			p := w.Part(random.ExpFloat64(), float64(random.IntN(4))*random.ExpFloat64())
			p.Step("a name")
			p.Count(random.Int64N(10), random.Int64N(10))
		}
		w.Done()
		last := 0.0
		for _, s := range *all {
			if s.Share < last || s.Share > 1 {
				t.Fatalf("%v after %v", s.Share, last)
			}
			last = s.Share
		}
		if last != 1 {
			t.Fatalf("%v is done in the end", last)
		}
	}
}

// TestNobody: a nil Work does nothing, and costs no memory.
func TestNobody(t *testing.T) {
	var w *Work
	if n := testing.AllocsPerRun(10, func() {
		p := w.Part(1, 2)
		p.Step("a name")
		p.Count(1, 2)
		p.Rounds(1, 2)
		w.Done()
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// TestConcurrent: counts may come from any goroutine.
func TestConcurrent(t *testing.T) {
	t.Parallel()
	w, all := watched()
	var group sync.WaitGroup
	for k := range 8 {
		group.Go(func() {
			for n := range 100 {
				w.Count(int64(8*n+k+1), 800)
			}
		})
	}
	group.Wait()
	if share(all) != 1 {
		t.Errorf("%v is done", share(all))
	}
}

// TestRemaining: over scripted runs, the estimate is within a factor of two of the time
// left, from a tenth of the run on, and does not jump.
func TestRemaining(t *testing.T) {
	t.Parallel()
	const total = 100 * time.Second
	for name, done := range map[string]func(x float64) float64{ // share done after a share x of the time
		"steady":                         func(x float64) float64 { return x },
		"slower at first":                func(x float64) float64 { return x * (0.7 + 0.3*x) },
		"faster at first":                func(x float64) float64 { return x * (1.4 - 0.4*x) },
		"in ten lumps":                   func(x float64) float64 { return math.Floor(10*x) / 10 },
		"half the speed from a third on": func(x float64) float64 { return min(1.4*x, 1.4/3+0.8*(x-1./3)) },
	} {
		var r Remaining
		last := time.Duration(0)
		for now := time.Duration(0); now < total*95/100; now += 200 * time.Millisecond {
			left, ok := r.At(now, done(float64(now)/float64(total)))
			if now < total/8 {
				last = left
				continue
			}
			if !ok {
				t.Fatalf("%s: no estimate after %v", name, now)
			}
			if q := float64(left) / float64(total-now); now < total*85/100 && (q > 2 || q < 0.5) {
				t.Errorf("%s: %v left after %v of %v", name, left.Round(time.Second), now, total)
			}
			if step := (left - last).Abs(); step > max(time.Second, last/5) {
				t.Errorf("%s: from %v to %v after %v", name, last, left, now)
			}
			last = left
		}
	}
	var r Remaining
	if _, ok := r.At(500*time.Millisecond, 0.3); ok {
		t.Error("an estimate after half a second")
	}
	if _, ok := r.At(time.Minute, 0.001); ok {
		t.Error("an estimate from a thousandth of the work")
	}
	if left, ok := r.At(2*time.Minute, 1); !ok || left != 0 {
		t.Errorf("%v left in the end", left)
	}
}
