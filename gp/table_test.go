package gp_test

import (
	"context"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"grfgp/gp"
	"grfgp/graph"
	"grfgp/graphio"
)

func TestTables(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	g, err := graph.Ring(3)
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]gp.Data{
		"node,value\n0,2\n0,4\n2,3\n": {Nodes: []int{0, 2}, Y: []float64{3, 3}, Count: []int{2, 1}, Scatter: []float64{2, 0}},
		"node,value,sd\n0,2,0.5\n0,4,0.5\n2,3,3\n": {Nodes: []int{0, 2}, Y: []float64{3, 3}, Count: []int{2, 1},
			NoiseVar: []float64{0.125, 9}}, // two measurements of variance 1/4 have a mean of variance 1/8
	} {
		m, err := graphio.ReadMeasurements(ctx, graphio.Reader("m", strings.NewReader(text)), g, graphio.Options{})
		if err != nil {
			t.Fatal(err)
		}
		d, err := gp.DataOf(m)
		close := func(a, b float64) bool { return math.Abs(a-b) < 1e-14 }
		if err != nil || !slices.Equal(d.Nodes, want.Nodes) || !slices.EqualFunc(d.Y, want.Y, close) ||
			!slices.EqualFunc(d.NoiseVar, want.NoiseVar, close) ||
			!slices.Equal(d.Count, want.Count) || !slices.Equal(d.Scatter, want.Scatter) {
			t.Errorf("%q: %+v, want %+v; %v", text, d, want, err)
		}
	}
	// Counts of a node are added, and pass the check of counts; so do single values of 0 and 1.
	for _, c := range []struct {
		text   string
		opts   graphio.Options
		values gp.Values
		want   gp.Data
	}{
		{"node,cases,expected\n0,2,1.5\n0,4,0.5\n2,3,1\n", graphio.Options{Columns: map[graphio.Role]string{graphio.RoleExposure: "expected"}},
			gp.Counts,
			gp.Data{Nodes: []int{0, 2}, Y: []float64{6, 3}, Exposure: []float64{2, 1}}},
		{"node,positive,tested\n0,2,5\n0,4,4\n2,3,3\n", graphio.Options{Columns: map[graphio.Role]string{graphio.RoleTested: "tested"}},
			gp.Shares,
			gp.Data{Nodes: []int{0, 2}, Y: []float64{6, 3}, Exposure: []float64{9, 3}}},
		{"node,value\n0,1\n0,0\n2,1\n", graphio.Options{Repeats: graphio.RepeatsKeep}, gp.YesNo,
			gp.Data{Nodes: []int{0, 0, 2}, Y: []float64{1, 0, 1}}},
	} {
		m, err := graphio.ReadMeasurements(ctx, graphio.Reader("m", strings.NewReader(c.text)), g, c.opts)
		if err != nil {
			t.Fatal(err)
		}
		d, err := gp.DataOf(m)
		if err != nil || !slices.Equal(d.Nodes, c.want.Nodes) || !slices.Equal(d.Y, c.want.Y) || !slices.Equal(d.Exposure, c.want.Exposure) {
			t.Errorf("%q: %+v, want %+v; %v", c.text, d, c.want, err)
		}
		if err := d.CheckValues(3, c.values); err != nil {
			t.Errorf("%q as %s: %v", c.text, c.values, err)
		}
	}
	l, err := graphio.ReadLabels(ctx, graphio.Reader("l", strings.NewReader("node,class\n2,x\n0,y\n1,x\n")), g, graphio.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := gp.LabelsOf(l), (gp.Labels{Nodes: []int{2, 0, 1}, Class: []int{0, 1, 0}, Classes: 2}); !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
}
