package crossval_test

import (
	"regexp"
	"slices"
	"testing"

	"grfgp/crossval"
)

// Keys are identifiers, and tell all baselines apart.
func TestBaselineKeys(t *testing.T) {
	t.Parallel()
	seen := map[string]crossval.Baseline{}
	all := slices.Concat(crossval.Baselines(), crossval.ClassBaselines(), []crossval.Baseline{crossval.SameNode})
	for _, b := range all {
		key := b.Key()
		if other, ok := seen[key]; ok && other != b || !regexp.MustCompile(`^[a-z_]+$`).MatchString(key) {
			t.Errorf("%q has the key %q, and %q may have it", b, key, other)
		}
		seen[key] = b
	}
	own := crossval.Baseline("yesterday")
	scores := crossval.ByKey(map[crossval.Baseline]float64{crossval.Mean: 1, own: 2})
	if len(scores) != 2 || scores["mean"] != 1 || scores["yesterday"] != 2 || crossval.ByKey[int](nil) != nil {
		t.Errorf("%v", scores)
	}
}
