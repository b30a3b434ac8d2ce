package ranks

import (
	"context"
	"fmt"
	"testing"
)

// TestTraffic: what ranks send together is what they receive together, and is counted by hand here.
func TestTraffic(t *testing.T) {
	const size = 3
	together(t, size, func(ctx context.Context, g *Group) error {
		before := g.Traffic()
		own := make([]float64, g.Rank()) // rank 0 gives nothing
		if _, _, err := Gather(ctx, g, own); err != nil {
			return err
		}
		got := g.Traffic().Since(before)
		// A length of 8 bytes to two others, and the numbers; from others two lengths and all other numbers.
		want := Traffic{Sent: 2 * int64(8+8*g.Rank()), Received: int64(2*8 + 8*(0+1+2-g.Rank())), Messages: 4}
		if g.Rank() == 0 {
			want.Messages = 2
		}
		if got.Seconds <= 0 {
			return fmt.Errorf("%v seconds", got.Seconds)
		}
		if got.Seconds = 0; got != want {
			return fmt.Errorf("gathering: %+v, want %+v", got, want)
		}
		before = g.Traffic()
		in, out := make([][]uint32, size), make([][]uint32, size)
		if g.Rank() == 0 { // five numbers to rank 2, nothing else
			out[2] = make([]uint32, 5)
		}
		if g.Rank() == 2 {
			in[0] = make([]uint32, 5)
		}
		if err := Exchange(ctx, g, in, out); err != nil {
			return err
		}
		got = g.Traffic().Since(before)
		got.Seconds = 0
		want = []Traffic{{Sent: 20, Messages: 1}, {}, {Received: 20}}[g.Rank()]
		if got != want {
			return fmt.Errorf("exchanging: %+v, want %+v", got, want)
		}
		return nil
	})
	var none *Group
	if none.Traffic() != (Traffic{}) {
		t.Error("one rank alone has traffic")
	}
}
