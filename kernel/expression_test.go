package kernel_test

import (
	"encoding/json"
	"testing"

	"grfgp/kernel"
)

// An expression is a value: it has a name and a JSON form, is compared, and fills in holes.
func TestExpression(t *testing.T) {
	t.Parallel()
	e := kernel.Expression{Family: "matern", Nu: 2, Method: "grf", Hops: 5, Scales: "many", Trend: "degree", Variance: "unit",
		Terms: kernel.GraphTerm | kernel.RoleTerm, Laplacian: kernel.Usual}
	if name, want := e.Name(), "matern, ν = 2, unit variance, many scales, trend + roles"; name != want {
		t.Errorf("name %q, want %q", name, want)
	}
	text, err := json.Marshal(e)
	if err != nil {
		t.Fatal(err)
	}
	const want = `{"family":"matern","nu":2,"method":"grf","hops":5,"scales":"many","trend":"degree","variance":"unit","terms":["graph",` +
		`"roles"],"laplacian":"normalized"}`
	var read kernel.Expression
	if err := json.Unmarshal(text, &read); string(text) != want || err != nil || read != e {
		t.Errorf("JSON %s is read as %+v, %v", text, read, err)
	}
	if text, err := json.Marshal(kernel.Expression{}); string(text) != "{}" {
		t.Errorf("an open expression is %s, %v", text, err)
	}
	if json.Unmarshal([]byte(`{"terms": ["wind"]}`), &read) == nil {
		t.Error("there is a term wind")
	}
	for open, admits := range map[kernel.Expression]bool{
		{}: true, {Family: "matern"}: true, {Family: "matern", Nu: 2, Hops: 5}: true, {Pairs: 64}: true, e: true,
		{Family: "diffusion"}: false, {Nu: 1}: false, {Hops: 6}: false, {Terms: kernel.GraphTerm}: false, {Scales: "one"}: false,
	} {
		if open.Admits(e) != admits {
			t.Errorf("%+v admits %+v: %v", open, e, !admits)
		}
		if filled := open.FilledBy(e); admits && open.Pairs == 0 && filled != e {
			t.Errorf("%+v is filled in as %+v", open, filled)
		}
	}
}
