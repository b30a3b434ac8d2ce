package study_test

import (
	"slices"
	"testing"

	"grfgp/bayesopt"
	"grfgp/study"
)

// Policies that look at no predictions need no model.
func TestModelled(t *testing.T) {
	threshold, err := bayesopt.ParseGoal("threshold=1")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range bayesopt.PolicyNames() {
		blind := slices.Contains([]string{"random", "bfs", "dfs", "degree"}, name)
		if got := (study.Settings{Policy: name, Goal: threshold}).UsesModel(); got == blind {
			t.Errorf("%s is modelled: %v", name, got)
		}
	}
}
