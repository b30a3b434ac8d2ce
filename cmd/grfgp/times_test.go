package main

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"grfgp/internal/rng"
)

// Measurements of a node at different times are averaged only if the user says so.
func TestTimes(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	edges := write(t, dir, "edges.csv", "source,target\na,b\nb,c\nc,d\nd,e\ne,a\n")
	values := write(t, dir, "values.csv", "node,date,value\na,2024-01-01,1\nb,2024-01-01,2\na,2024-02-01,9\nc,2024-01-15,4\n")
	rest := []string{"--edges", edges, "--measurements", values, "--mean", "3", "--noise-sd", "0.1"}
	base := append([]string{"predict"}, rest...)
	const first, ways = `node "a" was measured before, on line 2, at another time (column date); `,
		`take the latest of each node with --time-model latest, or take them as repeats of one value with --time-model ignore`
	if r := runLine(t, "", base...); r.code != exitUsage || !strings.Contains(r.err, first+"use the times with --time auto, "+ways) {
		t.Errorf("code %d, %s", r.code, r.err)
	}
	for _, c := range []struct{ model, says string }{
		{"latest", "of each node the latest values are used: 3 of 4, from 2024-01-01 to 2024-02-01"},
		{"ignore", "repeated measurements of a node: 1"},
		{"joint", "3 periods, from 2024-01-01 to 2024-02-01"},
		{"separate", "independent functions in 3 periods"},
	} {
		if r := runLine(t, "", append(base, "-v", "--time-model", c.model)...); r.code != exitOK || !strings.Contains(r.err, c.says) {
			t.Errorf("--time-model %s: code %d, %s, want %s", c.model, r.code, r.err, c.says)
		}
	}
	// Searches have no model over time, and offer none.
	suggest := append([]string{"suggest", "--goal", "learn"}, rest...)
	if r := runLine(t, "", suggest...); r.code != exitUsage || !strings.Contains(r.err, first+ways) {
		t.Errorf("suggest: code %d, %s", r.code, r.err)
	}
	if r := runLine(t, "", append(suggest, "--time", "date")...); r.code != exitUsage || !strings.Contains(r.err, "add --time-model latest") {
		t.Errorf("suggest with times: code %d, %s", r.code, r.err)
	}
	if r := runLine(t, "", append(suggest, "--time", "date", "--time-model", "latest")...); r.code != exitOK {
		t.Errorf("suggest by the latest: code %d, %s", r.code, r.err)
	}
}

// level is a quantity on a ring of 24 nodes that turns slowly, by month.
func level(node, month int) float64 {
	x := 2 * math.Pi * float64(node) / 24
	return 10 + 2*math.Sin(x) + math.Sin(2*x+float64(month)/2)
}

var months = []string{"2024-01", "2024-02", "2024-03", "2024-04", "2024-05"}

// levels are readings of a third of the nodes a month, as a long table and as both wide
// ones, and the long one with its rows in another order.
func levels(t testing.TB) (long, byNode, byTime, shuffled string) {
	t.Helper()
	r := rand.New(rng.New(1, "levels"))
	table := make([][]string, 24) // node × month
	var rows []string
	for node := range table {
		table[node] = make([]string, len(months))
		for p, month := range months {
			if (7*node+5*p)%3 == 0 {
				v := strconv.FormatFloat(level(node, p)+0.1*r.NormFloat64(), 'f', 5, 64)
				table[node][p] = v
				rows = append(rows, fmt.Sprintf("%d,%s,%s\n", node, month, v))
			}
		}
	}
	const head = "node,month,level\n"
	long = head + strings.Join(rows, "")
	r.Shuffle(len(rows), func(a, b int) { rows[a], rows[b] = rows[b], rows[a] })
	shuffled = head + strings.Join(rows, "")
	byNode = "node," + strings.Join(months, ",") + "\n"
	byTime = "month"
	for node, row := range table {
		byNode += fmt.Sprintf("%d,%s\n", node, strings.Join(row, ","))
		byTime += fmt.Sprintf(",%d", node)
	}
	for p, month := range months {
		byTime += "\n" + month
		for _, row := range table {
			byTime += "," + row[p]
		}
	}
	return long, byNode, byTime + "\n", shuffled
}

// Long and wide tables give the same bytes, whatever the order of rows and the number of
// threads, by both models over time.
func TestPredictOverTime(t *testing.T) {
	dir := t.TempDir()
	long, byNode, byTime, shuffled := levels(t)
	files := 0
	line := func(text string, args ...string) []string {
		files++
		return append([]string{"predict", "--generate", "ring:24", "--family", "diffusion", "--at", "all", "--measurements",
			write(t, dir, fmt.Sprint(files, ".csv"), text)}, args...)
	}
	for _, model := range []string{"joint", "separate"} {
		want := runLine(t, "", line(long, "--time", "month", "--time-model", model)...)
		if want.code != exitOK {
			t.Fatalf("%+v", want)
		}
		for name, args := range map[string][]string{
			"nodes × times":  line(byNode, "--time", "auto", "--time-model", model),
			"times × nodes":  line(byTime, "--time", "month", "--time-model", model),
			"another order":  line(shuffled, "--time-model", model),
			"column of time": line(long, "--column", "time=month", "--time-model", model),
			"one thread":     line(long, "--time", "month", "--time-model", model, "--threads", "1"),
		} {
			if got := runLine(t, "", args...); got.code != exitOK || got.out != want.out {
				t.Errorf("%s, %s: code %d, other bytes: %s", model, name, got.code, got.err)
			}
		}
		rows, err := csv.NewReader(strings.NewReader(want.out)).ReadAll()
		if err != nil || len(rows) != 1+24*5 || !slices.Equal(rows[0],
			[]string{"node", "time", "mean", "sd", "lower", "upper", "reading_lower", "reading_upper", "measured", "value", "n"}) {
			t.Fatalf("%d rows, %v, %v", len(rows), rows[0], err)
		}
		square := 0.0
		for k, row := range rows[1:] {
			if row[0] != strconv.Itoa(k%24) || row[1] != months[k/24] || row[8] != strconv.FormatBool((7*(k%24)+5*(k/24))%3 == 0) {
				t.Fatalf("row %d is %v", k, row)
			}
			mean, err := strconv.ParseFloat(row[2], 64)
			if err != nil {
				t.Fatal(err)
			}
			square += (mean - level(k%24, k/24)) * (mean - level(k%24, k/24)) / 120
		}
		if square > 0.25 { // a tenth of the variance
			t.Errorf("%s: mean squared error %.3g", model, square)
		}
	}
}

// --at chooses a period, with or without measurements, also of a saved model.
func TestPredictAt(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	long, _, _, _ := levels(t)
	file, saved := write(t, dir, "levels.csv", long), filepath.Join(dir, "levels.model")
	base := []string{"predict", "--generate", "ring:24", "--family", "diffusion", "--measurements", file, "--time", "month"}
	all := runLine(t, "", append(base, "--at", "all", "--save-model", saved)...)
	if all.code != exitOK {
		t.Fatalf("%+v", all)
	}
	period := func(month string) string { // as --at all has it
		var text strings.Builder
		for _, line := range strings.SplitAfter(all.out, "\n") {
			if strings.HasPrefix(line, "node") || strings.Contains(line, ","+month+",") {
				text.WriteString(line)
			}
		}
		return text.String()
	}
	for at, month := range map[string]string{"": "2024-05", "2024-02": "2024-02", "2024-02-01": "2024-02"} {
		args := slices.Clone(base)
		if at != "" {
			args = append(args, "--at", at)
		}
		if got := runLine(t, "", args...); got.out != period(month) {
			t.Errorf("--at %q: %s%s", at, got.err, got.out)
		}
	}
	if got := runLine(t, "", "predict", "--generate", "ring:24", "--model", saved, "--at", "2024-03"); got.out != period("2024-03") {
		t.Errorf("a saved model: %+v", got)
	}
	later := runLine(t, "", append(base, "--at", "2024-08", "--json")...)
	var answer struct {
		Time  timeAnswer
		Nodes []predictRow
	}
	if err := json.Unmarshal([]byte(later.out), &answer); err != nil ||
		!strings.Contains(later.err, "2024-08 is after the last measurement, of 2024-05") {
		t.Fatalf("%v: %+v", err, later)
	}
	if p := answer.Time.Periods; answer.Time.Model != "joint" || len(p) != 6 || p[5].Name != "2024-08" || p[5].Measurements != 0 ||
		p[0].Measurements != 8 || answer.Nodes[3].Time != "2024-08" || !slices.Equal(answer.Time.At, []string{"2024-08"}) {
		t.Errorf("%+v", answer)
	}

	one := write(t, dir, "one.csv", "node,month,level\n1,2024-01,3\n5,2024-01,4\n9,2024-01,6\n12,2024-01,5\n")
	for _, c := range []struct {
		args string
		code int
		want string
	}{
		{"--measurements " + file + " --time month --at soon", exitUsage,
			`--at "soon" is not a time like 2024-01-31; measurements are from 2024-01 to 2024-05`},
		{"--measurements " + file + " --time month --at 2024-09 --time-model separate", exitBadData,
			"separate periods do not inform each other; give one of 2024-01, 2024-02, 2024-03, 2024-04 or 2024-05, or use --time-model joint"},
		{"--measurements " + file + " --time month --at 2024-02 --time-model latest", exitUsage,
			"a model without time has no times to choose from"},
		{"--measurements " + file + " --at 2024-02", exitUsage, "name the column of times with --time"},
		{"--measurements " + file + " --time monat", exitUsage, `there is no column "monat" for time; the columns are node, month and level`},
		{"--measurements " + file + " --time level --time-model ignore", exitUsage, "give only one"},
		{"--measurements " + one + " --time month", exitOK, "all measurements are of one time, 2024-01: the model has no time"},
		{"--measurements " + one + " --time month --at 2024-01", exitOK, "24 nodes at 2024-01"},
		{"--measurements " + one + " --time month --at 2024-02", exitBadData, "nothing is known about change over time"},
		{"--model " + saved + " --at 2024-09", exitUsage, "the saved model has no such time; give one of 2024-01"},
		{"--model " + saved + " --time month", exitUsage, "leave out --time"},
	} {
		args := append([]string{"predict", "--generate", "ring:24"}, strings.Fields(c.args)...)
		if r := runLine(t, "", args...); r.code != c.code || !strings.Contains(r.err, c.want) {
			t.Errorf("%s: code %d, want %d and %q:\n%s", c.args, r.code, c.code, c.want, r.err)
		}
	}
}

// Validation has a table of all periods and one of the latest; a report shows one period.
func TestValidateAndReportOverTime(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	long, _, _, _ := levels(t)
	base := []string{"--generate", "ring:24", "--family", "diffusion", "--measurements", write(t, dir, "levels.csv", long), "--time", "month",
		"--folds", "4"}
	r := runLine(t, "", append([]string{"validate"}, base...)...)
	for _, want := range []string{"same node at the nearest time",
		"At nodes held out in the latest period, 2024-05, by all other measurements:"} {
		if r.code != exitOK || !strings.Contains(r.out, want) {
			t.Errorf("no %q in\n%+v", want, r)
		}
	}
	if n := strings.Count(r.out, "Can I trust it?"); n != 2 {
		t.Errorf("%d verdicts, want 2:\n%s", n, r.out)
	}
	r = runLine(t, "", append([]string{"validate", "--json"}, base...)...)
	var answer struct {
		Left   []struct{ Node, Time string }
		Latest struct{ Left []struct{ Node, Time string } } `json:"latest_period"`
	}
	if err := json.Unmarshal([]byte(r.out), &answer); err != nil || len(answer.Left) != 40 || len(answer.Latest.Left) != 8 ||
		answer.Latest.Left[0].Time != "2024-05" {
		t.Errorf("%v: %+v", err, answer)
	}
	page := filepath.Join(dir, "r.html")
	if r := runLine(t, "", append([]string{"report", "-o", page, "--at", "2024-03"}, base...)...); r.code != exitOK {
		t.Errorf("%+v", r)
	}
	if text := readText(t, page); !strings.Contains(text, "levels.csv, 2024-03") ||
		!strings.Contains(text, "2024-03 is shown; the model (joint) is fitted to 5 periods") {
		t.Error("the report does not say which period it shows")
	}
	if r := runLine(t, "", append([]string{"report", "-o", page, "--at", "all"}, base...)...); r.code != exitUsage {
		t.Errorf("%+v", r)
	}
}

// readText returns the text of a file.
func readText(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}
