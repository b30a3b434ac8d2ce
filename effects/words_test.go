package effects

import (
	"strings"
	"testing"
)

// The verb agrees with the name of the column of values.
func TestEffectsAgree(t *testing.T) {
	t.Parallel()
	for quantity, want := range map[string]string{"speed": "speed rises with lanes: ", "cases": "cases rise with lanes: ",
		"loss": "loss rises with lanes: ", "": "the value rises with lanes: "} {
		e := &Effects{Columns: []Effect{{Column: "lanes", Mean: 2, Lower: 1, Upper: 3, SD: 0.5, From: "1", To: "4"}}}
		if words := e.Words(quantity); !strings.HasPrefix(words[0], want) {
			t.Errorf("%q: %q, want %q", quantity, words, want)
		}
	}
	down := Effect{Column: "road", Of: "street", Mean: -2, Lower: -3, Upper: -1, SD: 0.5}
	if words := (&Effects{Columns: []Effect{down}}).Words("speeds"); !strings.HasPrefix(words[0], "speeds are lower where road is street: ") {
		t.Error(words)
	}
}
