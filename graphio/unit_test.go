package graphio

import (
	"strings"
	"testing"
)

func TestUnitOf(t *testing.T) {
	t.Parallel()
	for cell, want := range map[string]string{
		"44.5 mph": "mph", "44.5mph": "mph", "44.5%": "%", "44,5 %": "%", "$12": "$", "-$12": "$", "€ 3.50": "€", "12 km/h": "km/h",
		"3.1 °C": "°C", "5 µg/m³": "µg/m³", "7 m2": "m2", "1,234 kg": "kg", "-3 m": "m", "USD 5": "USD",
		"44.5": "", "": "", "mph": "", "N001": "N", "0x1p4": "", "$5 each": "", "3 of 4": "", "2024-01-31": "", "08:15": "",
		"route 66 north of town": "", "user_7": "",
	} {
		if got := unitOf(cell); got != want {
			t.Errorf("unit of %q: %q, want %q", cell, got, want)
		}
	}
}

func TestIsGrouped(t *testing.T) {
	t.Parallel()
	for cell, want := range map[string]bool{
		"1,234": true, "1,234,567": true, "1.234.567": true, "1 234": true, "1'234": true, "-12,345": true, "1,234.5": true,
		"1,23": false, "1234": false, "1,2345": false, ",234": false, "1234,567": false, "12": false, "": false,
	} {
		if got := isGrouped(cell); got != want {
			t.Errorf("%q: %v", cell, got)
		}
	}
}

// Units are shown and taken off on request, never silently.
func TestUnits(t *testing.T) {
	t.Parallel()
	g := numberRing(10)
	for _, c := range []struct {
		name, text, unit, want string // part of the error; "": none
		values                 []float64
	}{
		{"no option", "node,speed\n1,44.5 mph\n2,50 mph\n", "",
			`in column speed numbers have "mph" beside them, as in "44.5 mph"; take "mph" off the numbers with Options.Unit = "mph", or name the ` +
				`column`, nil},
		{"off", "node,speed\n1,44.5 mph\n2,50 mph\n3,\n", "mph", "", []float64{44.5, 50}},
		{"percent", "node;share\n1;44,5%\n2;50,25 %\n", "%", "", []float64{44.5, 50.25}},
		{"money", "node,price\n1,$12\n2,-$3.5\n", "$", "", []float64{12, -3.5}},
		{"another unit", "node,speed\n1,44.5 mph\n2,50 km/h\n3,40 mph\n", "mph", `m:3:3: value "50 km/h" has no "mph" beside it`, nil},
		{"no unit", "node,speed\n1,44.5 mph\n2,50\n", "mph", `value "50" has no "mph" beside it`, nil},
		{"one cell", "node,value\n1,44.5\n2,50 mph\n3,12\n", "",
			`m:3:3: value "50 mph" is not a plain number: "mph" stands beside it; correct the line, leave such rows out with Options.BadRows = ` +
				`"skip", or if all numbers have it, take it off with Options.Unit = "mph"`, nil},
		{"thousands", "node,income\n1,\"1,234,567\"\n2,\"2,345,678\"\n", "",
			`numbers have separators of thousands, as in "1,234,567"; write them without separators`, nil},
		{"thousands or decimals", "node;income\n1;12,345\n2;1,234\n3;17,000\n", "", "may have separators of thousands, or decimal commas", nil},
		{"decimals", "node;income\n1;12,345\n2;0,234\n3;17,000\n", "", "", []float64{12.345, 0.234, 17}},
		{"text", "node,speed\n1,fast\n2,slow\n", "", `the other columns hold text: speed (such as "fast")`, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			m, err := readMeasurements(g, c.text, Options{Unit: c.unit})
			if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
				t.Fatalf("error %v, want %q", err, c.want)
			}
			for k, v := range c.values {
				if m.Values[k] != v {
					t.Errorf("values %v, want %v", m.Values, c.values)
				}
			}
		})
	}
	net, err := ReadGraph(t.Context(), Reader("e", strings.NewReader("u,v,length\na,b,2 km\nb,c,4 km\n")),
		Options{Unit: "km", Weights: WeightsDistance})
	if err != nil || net.Report.Weights != "mean distance / distance; the mean distance is 3" {
		t.Errorf("%v, %v", net, err)
	}
}
