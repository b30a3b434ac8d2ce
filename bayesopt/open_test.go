package bayesopt

import (
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"grfgp/internal/ranks"
	"grfgp/internal/testkit"
)

// The highest value of a draw is that of a plain search from the first candidate to the
// last, at any number of threads: with ties, NaN and infinities, costs, groups, a budget,
// candidates taken, and draws at all nodes or at the candidates alone.
func TestHighestIsThatOfAPlainSearch(t *testing.T) {
	testkit.Unraced(t)
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	const nodes, draws = 50_000, 2
	random := rand.New(rand.NewPCG(1, 1))
	pick := []float64{0, 1, 2, 3, 3, math.NaN(), math.Inf(-1), -2}
	for round := range 60 {
		runtime.GOMAXPROCS(1 + round%4)
		list := random.Perm(nodes)[:1+random.IntN(nodes)]
		l := Limits{}
		if round%3 == 1 {
			l.Cost = make([]float64, nodes)
			for i := range l.Cost {
				l.Cost[i] = 1 + float64(random.IntN(3))
			}
		}
		if round%5 == 1 {
			l.Group, l.GroupCap = make([]int, nodes), 1
			for i := range l.Group {
				l.Group[i] = random.IntN(4)
			}
		}
		budget := 2.0
		c, err := NewCandidates(nodes, list, l, []*float64{nil, &budget}[round%2])
		if err != nil {
			t.Fatal(err)
		}
		for range random.IntN(3) {
			c.Take(random.IntN(len(list)))
		}
		among := 1 + random.IntN(len(pick)) // few: many ties
		d := &drawn{}
		rows := len(list)
		if round%4 < 2 {
			d.places, rows = list, nodes
		}
		d.parts = ranks.Even(rows, 1)
		d.values = mat.NewDense(rows, draws, nil)
		for i, raw := 0, d.values.RawMatrix().Data; i < len(raw); i++ {
			if raw[i] = pick[random.IntN(among)]; round%7 == 6 {
				raw[i] = random.NormFloat64()
			}
		}
		for k := range draws {
			toward, floor := []float64{1, -1}[round/2%2], []float64{0, 0.5}[k]
			value := func(at int) float64 { return toward * d.row(at)[k] }
			want := choice{at: c.best(func(at int) float64 { return perCost(value(at)-floor, c.Cost(at)) })}
			if want.at >= 0 {
				want.value = value(want.at)
				want.score = perCost(want.value-floor, c.Cost(want.at))
			}
			got := d.highest(c, k, toward, floor)
			if got.at < 0 {
				got = choice{at: got.at}
			}
			if got != want {
				t.Fatalf("round %d, draw %d: %+v, want %+v", round, k, got, want)
			}
		}
	}
}

// The list that is kept is the one that is made anew, however measurements come.
func TestOpenNodesAreMadeAnew(t *testing.T) {
	t.Parallel()
	const nodes = 3000
	random := rand.New(rand.NewPCG(1, 2))
	for name, allowed := range map[string][]int{"all": allNodes(nodes), "some": random.Perm(nodes)[:2000], "none": {}} {
		var o openNodes
		kept, marked, measured := slices.Clone(allowed), make([]bool, nodes), []int(nil)
		for round := range 30 {
			for range []int{0, 1, 3, takeOutSingly, takeOutSingly + 1}[round%5] {
				i := random.IntN(nodes)
				measured, marked[i] = append(measured, i), true
			}
			pending, excluded := random.Perm(nodes)[:random.IntN(20)], random.Perm(nodes)[:random.IntN(3)]
			got := o.unmeasured(allowed, measured, marked)
			want := slices.DeleteFunc(slices.Clone(allowed), func(i int) bool { return marked[i] })
			if !slices.Equal(got, want) {
				t.Fatalf("%s: in round %d %d nodes are left, want %d", name, round, len(got), len(want))
			}
			got = o.without(got, nodes, pending, excluded)
			want = slices.DeleteFunc(want, func(i int) bool { return slices.Contains(pending, i) || slices.Contains(excluded, i) })
			if !slices.Equal(got, want) {
				t.Fatalf("%s: in round %d %d nodes are neither pending nor excluded, want %d", name, round, len(got), len(want))
			}
			room := o.room(len(got))
			if len(room) != len(got) || slices.Contains(room, true) {
				t.Fatalf("%s: in round %d there is room for %d of %d, or it is used", name, round, len(room), len(got))
			}
			for at := range room {
				room[at] = true
			}
		}
		if !slices.Equal(allowed, kept) {
			t.Errorf("%s: the allowed nodes have changed", name)
		}
	}
}
