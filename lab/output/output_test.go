package output

import "testing"

func TestDuration(t *testing.T) {
	for seconds, want := range map[float64]string{5: "5 s", 600: "10 min", 36000: "10 h"} {
		if got := Duration(seconds); got != want {
			t.Errorf("%v: %q", seconds, got)
		}
	}
}
