package graphio

import (
	"fmt"
	"strings"
	"testing"

	"grfgp/graph"
	"grfgp/internal/testkit"
)

// numberRing is a ring of nodes 0, 1, …
func numberRing(n int) *graph.Graph {
	g, err := graph.Ring(n)
	if err != nil {
		panic(err)
	}
	return g
}

// valueTable is a table of measurements at nodes 0, 1, … with the given values.
func valueTable(values ...string) string {
	var b strings.Builder
	b.WriteString("node,value\n")
	for i, v := range values {
		fmt.Fprintf(&b, "%d,%s\n", i, v)
	}
	return b.String()
}

// Numbers that may stand for missing values are asked about, and no others.
func TestMissingCodes(t *testing.T) {
	t.Parallel()
	plain := []string{"44.5", "51.2", "38.9", "60.1", "47", "52.3", "49.9", "55.5", "41.7", "46.2"}
	with := func(more ...string) []string { return append(append([]string(nil), plain...), more...) }
	for _, c := range []struct {
		name    string
		values  []string
		opts    Options
		asked   string // part of the error; "": none
		warned  string // part of a warning; "": none about values
		missing int64
	}{
		{name: "plain", values: plain},
		{name: "one negative code", values: with("-9999"),
			asked: `1 value is -9999 (first on line 12), and all other values lie from 38.9 to 60.1: such numbers often stand for missing ` +
				`values; count it as missing with Options.Missing = "-9999", or keep it as a value with Options.Missing = "none"`},
		{name: "as a fraction", values: with("-9999.00"), asked: "-9999 (first"},
		{name: "two codes", values: with("-9999", "-999", "-9999"), asked: `1 value is -999 (first on line 13)`},
		{name: "one positive code may be a value", values: with("999")},
		{name: "positive codes", values: with("99999", "99999"), asked: "2 values are 99999"},
		{name: "codes with a fraction", values: with("-999.9"), asked: "-999.9"},
		{name: "within the values", values: []string{"900", "999", "1200", "999", "1500", "1100"}},
		{name: "beside negative values", values: []string{"-5", "-99", "3", "8", "-2"}},
		{name: "not far away", values: []string{"-900", "-999", "3", "8", "-999"}},
		{name: "other repeated numbers", values: with("-1000", "-1000", "-500")},
		{name: "missing by request", values: with("-9999", "-9999.0", "-999"), opts: Options{Missing: []string{"-9999", "-999"}}, missing: 3},
		{name: "values by request", values: with("-9999", "-9999"), opts: Options{Missing: []string{MissingNone}}},
		{name: "words", values: with("x", "ND"), opts: Options{Missing: []string{"x", "ND"}}, missing: 2},
		{name: "zeros", values: with("0", "0", "0.0"), warned: `3 values are 0 (first on line 12), and all other values lie from 38.9 to ` +
			`60.1: do zeros stand for missing values? They are used as values; count them as missing with Options.Missing = "0", or if they are ` +
			`real, say so with Options.Missing = "none"`},
		{name: "two zeros", values: with("0", "0")},
		{name: "zeros are missing", values: with("0", "0", "0"), opts: Options{Missing: []string{"0"}}, missing: 3},
		{name: "zeros are values", values: with("0", "0", "0"), opts: Options{Missing: []string{MissingNone}}},
		{name: "zeros beside negative values", values: with("0", "0", "0", "-3")},
		{name: "zeros of rain", values: []string{"0", "0", "0", "0.2", "1.4", "0.4", "3.1", "8", "2.2"}},
		{name: "zeros of counts", values: []string{"0", "0", "0", "40", "44", "45", "41"}, opts: Options{Counts: true}},
		{name: "zeros of ratings", values: []string{"0", "0", "0", "1", "2", "3", "4", "5", "3", "4"}},
		{name: "mostly zeros", values: []string{"0", "0", "0", "0", "40", "44", "45"}},
		{name: "a few levels", values: []string{"0", "0", "0", "1", "2", "1", "2", "1"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			m, err := readMeasurements(numberRing(50), valueTable(c.values...), c.opts)
			if (err == nil) != (c.asked == "") || err != nil && !strings.Contains(err.Error(), c.asked) {
				t.Fatalf("error %v, want %q", err, c.asked)
			}
			if err != nil {
				return
			}
			if m.Report.Ledger.Missing != c.missing {
				t.Errorf("%d missing, want %d", m.Report.Ledger.Missing, c.missing)
			}
			warned := ""
			for _, w := range m.Report.Warnings {
				if w.Loss {
					warned = w.String()
				}
			}
			if (warned == "") != (c.warned == "") || !strings.Contains(warned, c.warned) {
				t.Errorf("warning %q, want %q", warned, c.warned)
			}
		})
	}
}

// Codes for missing values hold for node tables and labels too.
func TestMissingElsewhere(t *testing.T) {
	t.Parallel()
	n, err := ReadNodes(t.Context(), Reader("n", strings.NewReader("node,lat,lon,income\na,50,8,-9999\nb,51,-9999,40\n")),
		Options{Missing: []string{"-9999"}})
	if err != nil {
		t.Fatal(err)
	}
	if n.Lon[1] == n.Lon[1] || n.Columns[0].Missing() != 1 {
		t.Errorf("lon %v, income %+v", n.Lon, n.Columns[0])
	}
	l, err := ReadLabels(t.Context(), Reader("l", strings.NewReader("node,class\n0,a\n1,unknown\n2,b\n")), numberRing(5),
		Options{Missing: []string{"unknown"}})
	if err != nil || len(l.Nodes) != 2 || l.Report.Ledger.Missing != 1 {
		t.Errorf("%+v, %v", l, err)
	}
}

// No column of the shared data sets is taken for one with codes.
func TestMissingCodesOfData(t *testing.T) {
	t.Parallel()
	none := true
	for _, c := range []struct {
		file    string
		columns string
	}{
		{"traffic_sanjose/sensor_speeds.csv.gz", "speed_mph"},
		{"wind_era5/era5_wind_2010-01_2.5deg.csv.gz", "lat lon u_1000hPa v_1000hPa u_800hPa v_800hPa u_500hPa v_500hPa"},
		{"transport/anaheim_nodes.csv.gz", "capacity length free_flow_time speed volume"},
		{"transport/chicago_nodes.csv.gz", "capacity length free_flow_time speed volume"},
		{"twitch_small/engb_nodes.csv.gz", "views days mature partner"},
		{"twitch_small/es_nodes.csv.gz", "views days mature partner"},
		{"lip_cancer/districts.csv", "cases expected outdoor_work_percent"},
	} {
		if !testkit.HasData(c.file) {
			continue
		}
		none = false
		source := File(testkit.Data(t, c.file))
		nodes, err := ReadNodes(t.Context(), source, Options{})
		if err != nil {
			t.Fatal(err)
		}
		g, _, err := graph.FromEdges(nodes.IDs, graph.Edges{}, graph.BuildOptions{})
		if err != nil {
			t.Fatal(err)
		}
		for _, column := range strings.Fields(c.columns) {
			m, err := ReadMeasurements(t.Context(), source, g, Options{Columns: map[Role]string{RoleValue: column}})
			if err != nil {
				t.Errorf("%s, %s: %v", c.file, column, err)
				continue
			}
			for _, w := range m.Report.Warnings {
				if w.Loss {
					t.Errorf("%s, %s: %v", c.file, column, w)
				}
			}
		}
	}
	if none {
		t.Skip("there are no shared data sets")
	}
}
