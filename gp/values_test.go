package gp

import (
	"encoding/json"
	"errors"
	"math"
	"reflect"
	"strings"
	"testing"
)

func TestValuesNames(t *testing.T) {
	t.Parallel()
	for v, name := range ValuesNames() {
		var back Values
		text, err := Values(v).MarshalText()
		if err != nil || string(text) != name || back.UnmarshalText(text) != nil || back != Values(v) {
			t.Errorf("%d is %q and comes back as %v (%v)", v, text, back, err)
		}
		for _, x := range []float64{0.2, 0.5, 0.9} {
			if got := back.Inverse(back.Link(x)); math.Abs(got-x) > 1e-12 {
				t.Errorf("%v: link of %v and back is %v", back, x, got)
			}
		}
	}
	if Gaussian != 0 {
		t.Error("the zero value is not Gaussian")
	}
}

// TestStateKeepsTheLikelihood writes models to JSON and reads them again; what was
// written before there were kinds of values is Gaussian.
func TestStateKeepsTheLikelihood(t *testing.T) {
	t.Parallel()
	for _, c := range []State{
		{Values: Counts, Shape: Shape{Dispersion: 0.25}},
		{Values: Student, Noise: 0.5, Shape: Shape{Freedom: 4}, Units: Units{3, 2}},
		{Values: Shares},
		{},
	} {
		m := ringModel(t, 10, c)
		text, err := json.Marshal(m.State())
		if err != nil {
			t.Fatal(err)
		}
		if c.Values == Gaussian && (strings.Contains(string(text), "values") || strings.Contains(string(text), "shape")) {
			t.Errorf("a Gaussian state is written as %s", text)
		}
		var s State
		if err := json.Unmarshal(text, &s); err != nil {
			t.Fatal(err)
		}
		again, err := NewModel(m.kernel, s)
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(again.State(), m.State()) || again.Values() != c.Values {
			t.Errorf("%+v comes back as %+v", m.State(), again.State())
		}
	}
	k := ringModel(t, 10, State{}).kernel
	for _, bad := range []State{
		{Values: Student}, {Values: 9}, {Values: Counts, Shape: Shape{Dispersion: -1}}, {Values: Counts, Shape: Shape{Freedom: 4}},
		{Shape: Shape{Dispersion: 1}},
	} {
		bad.Theta, bad.Units, bad.Solver = []float64{1, 1}, Units{0, 1}, Exact
		if _, err := NewModel(k, bad); err == nil {
			t.Errorf("%+v is taken", bad)
		}
	}
}

func TestCheckValues(t *testing.T) {
	t.Parallel()
	nodes := []int{0, 1}
	for name, c := range map[string]struct {
		values Values
		data   Data
		want   string // part of the error; none if empty
	}{
		"counts":             {Counts, Data{Nodes: nodes, Y: []float64{0, 3}, Exposure: []float64{0.1, 20}}, ""},
		"half a count":       {Counts, Data{Nodes: nodes, Y: []float64{0, 2.5}}, "measurement 1, at node 1, is 2.5, which is no count"},
		"negative count":     {Counts, Data{Nodes: nodes, Y: []float64{-1, 2}}, "no count"},
		"no exposure":        {Counts, Data{Nodes: nodes, Y: []float64{0, 2}, Exposure: []float64{1, 0}}, "exposure of measurement 1"},
		"exposures too few":  {Counts, Data{Nodes: nodes, Y: []float64{0, 2}, Exposure: []float64{1}}, "2 nodes and 1 exposures"},
		"shares":             {Shares, Data{Nodes: nodes, Y: []float64{0, 2}, Exposure: []float64{1, 2}}, ""},
		"too many positives": {Shares, Data{Nodes: nodes, Y: []float64{0, 3}, Exposure: []float64{1, 2}}, "3 positives of 2 trials"},
		"half a trial":       {Shares, Data{Nodes: nodes, Y: []float64{0, 1}, Exposure: []float64{1, 2.5}}, "2.5 trials"},
		"yes-no":             {YesNo, Data{Nodes: nodes, Y: []float64{0, 1}}, ""},
		"neither":            {YesNo, Data{Nodes: nodes, Y: []float64{0, 2}}, "want 0 or 1"},
		"yes-no with exposure": {YesNo, Data{Nodes: nodes, Y: []float64{0, 1}, Exposure: []float64{1, 2}},
			"exposure goes with values of kind count or share"},
		"values with exposure": {Gaussian, Data{Nodes: nodes, Y: []float64{0, 1}, Exposure: []float64{1, 2}},
			"exposure goes with values of kind count or share"},
		"means":                 {Student, Data{Nodes: nodes, Y: []float64{0, 1}, Count: []int{1, 2}}, "one by one"},
		"variances of counts":   {Counts, Data{Nodes: nodes, Y: []float64{0, 1}, NoiseVar: []float64{1, 2}}, "no noise variances"},
		"student without noise": {Student, Data{Nodes: nodes, Y: []float64{0, 1}, NoiseVar: []float64{1, 0}}, "without noise"},
		"unknown":               {7, Data{Nodes: nodes, Y: []float64{0, 1}}, "unknown"},
	} {
		err := c.data.CheckValues(2, c.values)
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want) || !errors.Is(err, ErrData)) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}

func TestExposureGoesWithTheRows(t *testing.T) {
	t.Parallel()
	d := Data{Nodes: []int{4, 5, 4}, Y: []float64{1, 2, 3}, Exposure: []float64{10, 20, 30}}
	check := func(what string, got Data, nodes []int, y, exposure []float64) {
		t.Helper()
		if !reflect.DeepEqual(got.Nodes, nodes) || !reflect.DeepEqual(got.Y, y) || !reflect.DeepEqual(got.Exposure, exposure) {
			t.Errorf("%s: %+v", what, got)
		}
	}
	c := d.Clone()
	c.Exposure[0] = 7
	check("changing a clone", d, []int{4, 5, 4}, []float64{1, 2, 3}, []float64{10, 20, 30})
	check("select", d.Select([]int{2, 0}), []int{4, 4}, []float64{3, 1}, []float64{30, 10})
	check("slice", d.Slice(1, 3), []int{5, 4}, []float64{2, 3}, []float64{20, 30})
	both, err := d.Clone().Append(Data{Nodes: []int{9}, Y: []float64{8}})
	if err != nil {
		t.Fatal(err)
	}
	check("append", both, []int{4, 5, 4, 9}, []float64{1, 2, 3, 8}, []float64{10, 20, 30, 1})
	check("pool", d.Pool(), d.Nodes, d.Y, d.Exposure)
	check("pool sums", d.PoolSums(), []int{4, 5}, []float64{4, 2}, []float64{40, 20})
}
