package cli

import "testing"

// TestGarbage: small programs are collected as always, large ones more often.
func TestGarbage(t *testing.T) {
	for live, want := range map[uint64]int{0: 100, 1 << 20: 100, 64 << 20: 100, 256 << 20: 25, 1 << 30: 6, 1 << 40: 5} {
		if got := percentFor(live); got != want {
			t.Errorf("%d %% of %d bytes, want %d", got, live, want)
		}
	}
}
