package main

import (
	"fmt"
	"strings"
	"testing"
)

// quickModel are flags of a model that is fitted at once.
var quickModel = []string{"--family", "diffusion", "--method", "dense", "--scales", "one", "--roles", "none"}

// valuesAt is a file of measurements at nodes 1 to n, whose value a function writes.
func valuesAt(n int, value func(i int) string) string {
	var b strings.Builder
	b.WriteString("node,speed\n")
	for i := range n {
		fmt.Fprintf(&b, "%d,%s\n", i+1, value(i))
	}
	return b.String()
}

// Numbers that may stand for missing values, and units, are shown and asked about, also with
// --quiet, and the advice works as it is written.
func TestDoubtfulValues(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	edges := write(t, dir, "roads.csv", "source,target\n"+strings.Join(ringRows("%d", 40), "\n")+"\n")
	speed := func(form string) func(i int) string {
		return func(i int) string { return fmt.Sprintf(form, 40+float64(i*i%29)) }
	}
	mixed := func(every int, code string) string {
		return valuesAt(40, func(i int) string {
			if i%every == 3 {
				return code
			}
			return speed("%.1f")(i)
		})
	}
	for _, c := range []struct {
		name, values string
		flags        []string
		code         int
		said         string
	}{
		{"codes", mixed(9, "-9999"), nil, exitUsage, "5 values are -9999 (first on line 5), and all other values lie from 40 to 68: such " +
			"numbers often stand for missing values; count them as missing with --missing -9999, or keep them as values with --missing none"},
		{"codes are missing", mixed(9, "-9999"), []string{"--missing", "-9999"}, exitOK, ""},
		{"codes are values", mixed(9, "-9999"), []string{"--missing", "none"}, exitOK, ""},
		{"zeros", mixed(9, "0"), nil, exitOK, "do zeros stand for missing values? They are used as values; count them as missing with " +
			"--missing 0, or if they are real, say so with --missing none"},
		{"zeros are missing", mixed(9, "0"), []string{"--missing", "0"}, exitOK, ""},
		{"units", valuesAt(40, speed("%.1f mph")), nil, exitBadData,
			`numbers have "mph" beside them, as in "40.0 mph"; take "mph" off the numbers with --strip-unit mph`},
		{"dollars", valuesAt(40, speed("$%.1f")), nil, exitBadData, `with --strip-unit '$'`},
		{"units are off", valuesAt(40, speed("%.1f mph")), []string{"--strip-unit", "measurements=mph"}, exitOK, ""},
	} {
		values := write(t, dir, "speeds.csv", c.values)
		args := append([]string{"predict", "--quiet", "--edges", edges, "--measurements", values}, append(c.flags, quickModel...)...)
		r := runLine(t, "", args...)
		if r.code != c.code || !strings.Contains(r.err, c.said) || c.said == "" && r.err != "" {
			t.Errorf("%s: exit %d: %s", c.name, r.code, r.err)
		}
	}
}

// Files under each other's flags get the right command line.
func TestSwappedFlags(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	edges := write(t, dir, "the roads.csv", "source,target\n"+strings.Join(ringRows("%d", 40), "\n")+"\n")
	values := write(t, dir, "speeds.csv", valuesAt(40, func(i int) string { return fmt.Sprintf("%d.5", i*i%29) }))
	for _, args := range [][]string{{"check", "--edges", values, "--measurements", edges},
		{"check", "--edges=" + values, "--measurements=" + edges}} {
		r := runLine(t, "", args...)
		want := "try: grfgp " + args[0] + " "
		if len(args) > 3 {
			want += "--edges '" + edges + "' --measurements " + values + "\n"
		} else {
			want += "'--edges=" + edges + "' --measurements=" + values + "\n"
		}
		if r.code != exitUsage || !strings.HasSuffix(r.err, want) {
			t.Errorf("%v: exit %d: %s\nwant %s", args, r.code, r.err, want)
		}
	}
	// Two files of measurements are not swapped.
	if r := runLine(t, "", "check", "--edges", values, "--measurements", values); r.code != exitUsage || strings.Contains(r.err, "try:") {
		t.Errorf("%+v", r)
	}
}

// Flags that an error offers can be pasted into a shell.
func TestQuotedRemedy(t *testing.T) {
	t.Parallel()
	labels := "node,Test result,Second try\n1,a,b\n2,b,a\n3,a,a\n"
	edges := write(t, t.TempDir(), "e.csv", "source,target\n"+strings.Join(ringRows("%d", 5), "\n")+"\n")
	if r := runLine(t, labels, "classify", "--edges", edges, "--labels", "-"); !strings.Contains(r.err,
		"say which with --column 'class=Test result' or --column 'class=Second try'") {
		t.Error(r.err)
	}
}

func TestNearestFlag(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ flag, want string }{
		{"--edge", "did you mean --edges?"}, {"--measurement", "did you mean --measurements?"}, {"--on-badrow", "did you mean --on-bad-row?"},
		{"--nodse", "did you mean --nodes?"}, {"--frobnicate", ""},
	} {
		r := runLine(t, "", "predict", c.flag, "x")
		if r.code != exitUsage || strings.Contains(r.err, "did you mean") != (c.want != "") || !strings.Contains(r.err, c.want) {
			t.Errorf("%s: %s", c.flag, r.err)
		}
	}
}

// Points in one file give the same predictions as two files.
func TestPointsInOneFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	points, nodes, values := "lat,lon,level\n", "id,lat,lon\n", "node,level\n"
	for i := range 30 {
		lat, lon, level := 50+0.01*float64(i*i%31), 8+0.01*float64(i*7%29), fmt.Sprintf("%.2f", 3+float64(i*i%17)/4)
		if i%5 == 4 {
			level = "" // to be predicted
		}
		points += fmt.Sprintf("%.3f,%.3f,%s\n", lat, lon, level)
		nodes += fmt.Sprintf("%d,%.3f,%.3f\n", i+1, lat, lon)
		values += fmt.Sprintf("%d,%s\n", i+1, level)
	}
	file := write(t, dir, "points.csv", points)
	want := runLine(t, "", append([]string{"predict", "--nodes", write(t, dir, "nodes.csv", nodes), "--measurements",
		write(t, dir, "values.csv", values), "--knn", "4"}, quickModel...)...)
	if want.code != exitOK {
		t.Fatal(want.err)
	}
	for name, args := range map[string][]string{
		"one file":       {"predict", "--measurements", file, "--knn", "4"},
		"named twice":    {"predict", "--nodes", file, "--measurements", file, "--knn", "4"},
		"standard input": {"predict", "--measurements", "-", "--knn", "4"},
	} {
		r := runLine(t, points, append(args, quickModel...)...)
		if r.code != exitOK || r.out != want.out {
			t.Errorf("%s: exit %d, %s\n%s\nwant %s", name, r.code, r.err, r.out, want.out)
		}
	}
	if r := runLine(t, "", "predict", "--knn", "4", "--measurements", write(t, dir, "none.csv", values)); r.code == exitOK ||
		!strings.Contains(r.err, "there are no columns lat and lon") {
		t.Error(r.err)
	}
}

// Few measurements are said to be too few.
func TestFewMeasurements(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	edges := write(t, dir, "e.csv", "source,target\n"+strings.Join(ringRows("%d", 20), "\n")+"\n")
	values := write(t, dir, "m.csv", "node,value\n1,4.5\n5,7.25\n9,5.5\n")
	r := runLine(t, "", append([]string{"predict", "--edges", edges, "--measurements", values}, quickModel...)...)
	if r.code != exitOK || !strings.Contains(r.err, "only 3 nodes are measured: too few to judge the model") {
		t.Error(r.err)
	}
	r = runLine(t, "", append([]string{"validate", "--quiet", "--edges", edges, "--measurements", values}, quickModel...)...)
	if r.code != exitOK || !strings.Contains(r.out, "3 measurements are too few to tell") || strings.Contains(r.out, "as expected") {
		t.Error(r.out, r.err)
	}
}
