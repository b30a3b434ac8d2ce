package randomstate

import (
	"slices"
	"testing"
)

func TestTwister(t *testing.T) {
	// The C++ standard states the 10,000th word of mt19937 for the seed 5489.
	r := New(5489)
	if x := r.words.Uint32(); x != 3499211612 {
		t.Errorf("first word %d", x)
	}
	for range 9998 {
		r.words.Uint32()
	}
	if x := r.words.Uint32(); x != 4123659995 {
		t.Errorf("10,000th word %d", x)
	}
}

// Expected values are those that numpy prints for the same seeds.
func TestLikeNumpy(t *testing.T) {
	for _, c := range []struct {
		name string
		seed uint32
		draw func(*State) float64
		want []float64
	}{
		{"rand", 42, unit, []float64{0.3745401188473625, 0.9507143064099162}},
		{"rand", 0, unit, []float64{0.5488135039273248, 0.7151893663724195, 0.6027633760716439}},
		{"randn", 42, (*State).Normal, []float64{0.4967141530112327, -0.13826430117118466, 0.6476885381006925, 1.5230298564080254,
			-0.23415337472333597}},
		{"randn", 0, (*State).Normal, []float64{1.764052345967664, 0.4001572083672233, 0.9787379841057392, 2.240893199201458,
			1.8675579901499675}},
		{"randint(10)", 42, integer(10), []float64{6, 3, 7, 4, 6}},
		{"randint(100)", 42, integer(100), []float64{51, 92, 14, 71, 60}},
	} {
		r := New(c.seed)
		for k, want := range c.want {
			if got := c.draw(r); got != want {
				t.Errorf("RandomState(%d).%s, number %d: %v, want %v", c.seed, c.name, k, got, want)
			}
		}
	}
	x := []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}
	if Shuffle(New(42), x); !slices.Equal(x, []int{8, 1, 5, 0, 7, 2, 9, 4, 3, 6}) {
		t.Errorf("RandomState(42).permutation(10): %v", x)
	}
}

func unit(r *State) float64 { return r.Uniform(0, 1) }

func integer(n uint32) func(*State) float64 {
	return func(r *State) float64 { return float64(r.Below(n)) }
}

func TestBelowOneDrawsNothing(t *testing.T) {
	r := New(5489)
	if x := r.Below(1); x != 0 {
		t.Errorf("%d is not below 1", x)
	}
	if x := r.words.Uint32(); x != 3499211612 {
		t.Errorf("next word %d, not the first", x)
	}
}

func TestDrawsDoNotAllocate(t *testing.T) {
	r := New(1)
	if n := testing.AllocsPerRun(1000, func() { r.Normal(); r.Below(10); r.Bits53() }); n != 0 {
		t.Errorf("%v allocations per draw", n)
	}
}

func BenchmarkBits53(b *testing.B) {
	r := New(1)
	for b.Loop() {
		r.Bits53()
	}
}
