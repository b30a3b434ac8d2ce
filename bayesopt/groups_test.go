package bayesopt

import (
	"slices"
	"testing"
)

func TestNumberGroups(t *testing.T) {
	t.Parallel()
	if got, want := NumberGroups([]string{"b", "", "a", "b", "", "a"}), []int{0, 1, 2, 0, 3, 2}; !slices.Equal(got, want) {
		t.Errorf("groups %v, want %v", got, want)
	}
}
