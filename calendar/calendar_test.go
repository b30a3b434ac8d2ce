package calendar

import (
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"grfgp/graph"
	"grfgp/kernel"
)

// Places number nodes period by period; a measurement informs all periods, or its own where they are apart.
func TestCalendar(t *testing.T) {
	t.Parallel()
	g, err := graph.Ring(8)
	if err != nil {
		t.Fatal(err)
	}
	joint := Calendar{Graph: g, Times: []float64{0, 1, 3}}
	apart := Calendar{Graph: g, Times: joint.Times, Apart: true}
	if node, period := AtPlace(g, Place(g, 5, 2)); node != 5 || period != 2 || joint.Places() != 24 || (Calendar{Graph: g}).Places() != 8 {
		t.Errorf("node %d in period %d of %d places", node, period, joint.Places())
	}
	measured := []int{Place(g, 1, 0), Place(g, 1, 1), Place(g, 4, 1)}
	if n := joint.Distinct(measured); n != 2 || !slices.Equal(NodesOf(g, measured), []int{1, 1, 4}) {
		t.Errorf("%d distinct nodes of %v", n, NodesOf(g, measured))
	}
	far := []int{Place(g, 3, 0), Place(g, 3, 2)}
	for _, c := range []struct {
		in     Calendar
		hops   []int
		unseen int
	}{{joint, []int{1, 1}, 0}, {apart, []int{2, -1}, 1}} {
		hops := c.in.HopsToMeasured(measured)
		if got := []int{hops(far[0]), hops(far[1])}; !slices.Equal(got, c.hops) || c.in.Unseen(far, measured) != c.unseen {
			t.Errorf("%v: %v hops, %d unseen; want %v and %d", c.in.Why(), got, c.in.Unseen(far, measured), c.hops, c.unseen)
		}
		k := c.in.OverTime(kernel.Constant(8))
		cov, err := k.At(kernel.Begin(k.Params()))
		if err != nil {
			t.Fatal(err)
		}
		gram := mat.NewSymDense(2, nil)
		if err := cov.Gram(t.Context(), gram, far); err != nil || (gram.At(0, 1) > 0) != c.in.Joint() {
			t.Errorf("two periods covary by %v, %v", gram.At(0, 1), err)
		}
	}
}
