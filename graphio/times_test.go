package graphio

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"
)

// Every form is read as the time package would, and written back.
func TestTimeForms(t *testing.T) {
	t.Parallel()
	day := func(year int, month time.Month, day, hour, minute, second int) float64 {
		return float64(time.Date(year, month, day, hour, minute, second, 0, time.UTC).Unix()) / 86400
	}
	for _, c := range []struct {
		form timeForm
		text string
		want float64
		back string
	}{
		{formNumber, "7.5", 7.5, "7.5"},
		{formYearFirst, "2024-02-29", day(2024, 2, 29, 0, 0, 0), "2024-02-29"},
		{formYearFirst, "2024/2/9", day(2024, 2, 9, 0, 0, 0), "2024-02-09"},
		{formYearFirst, "2024.02.09", day(2024, 2, 9, 0, 0, 0), "2024-02-09"},
		{formYearFirst, "2024-02-29T13:45", day(2024, 2, 29, 13, 45, 0), "2024-02-29 13:45"},
		{formYearFirst, "2024-02-29 13:45:07", day(2024, 2, 29, 13, 45, 7), "2024-02-29 13:45:07"},
		{formYearFirst, "2024-02-29T13:45:07.5Z", day(2024, 2, 29, 13, 45, 7) + 0.5/86400, "2024-02-29 13:45:07.500Z"},
		{formYearFirst, "2024-02-29T01:45+02:00", day(2024, 2, 28, 23, 45, 0), "2024-02-28 23:45Z"},
		{formYearFirst, "2024-02-29 23:45 -0130", day(2024, 3, 1, 1, 15, 0), "2024-03-01 01:15Z"},
		{formYearFirst, "2024-02", day(2024, 2, 1, 0, 0, 0), "2024-02"},
		{formYearFirst, "2024-W01", day(2024, 1, 1, 0, 0, 0), "2024-W01"},
		{formYearFirst, "2020-W53", day(2020, 12, 28, 0, 0, 0), "2020-W53"},
		{formYearFirst, "2021-W01", day(2021, 1, 4, 0, 0, 0), "2021-W01"},
		{formYearFirst, "2024Q3", day(2024, 7, 1, 0, 0, 0), "2024-Q3"},
		{formYearFirst, "1969-12-31", -1, "1969-12-31"},
		{formDayFirst, "31.01.2024", day(2024, 1, 31, 0, 0, 0), "2024-01-31"},
		{formDayFirst, "3/4/2024 07:05", day(2024, 4, 3, 7, 5, 0), "2024-04-03 07:05"},
		{formMonthFirst, "3/4/2024", day(2024, 3, 4, 0, 0, 0), "2024-03-04"},
		{formMonthName, "31 Jan 2024", day(2024, 1, 31, 0, 0, 0), "2024-01-31"},
		{formMonthName, "31-JAN-2024", day(2024, 1, 31, 0, 0, 0), "2024-01-31"},
		{formMonthName, "January 31, 2024", day(2024, 1, 31, 0, 0, 0), "2024-01-31"},
		{formMonthName, "Sept 2024", day(2024, 9, 1, 0, 0, 0), "2024-09"},
		{formMonthName, "31 Jan 2024 1:05 PM", day(2024, 1, 31, 13, 5, 0), "2024-01-31 13:05"},
		{formClock, "13:45", 13.75 / 24, "13:45"},
		{formClock, "12:15 am", 0.25 / 24, "00:15"},
		{formCompact, "20240131", day(2024, 1, 31, 0, 0, 0), "2024-01-31"},
		{formCompactMonth, "202402", day(2024, 2, 1, 0, 0, 0), "2024-02"},
		{formSeconds, "1706659200", day(2024, 1, 31, 0, 0, 0), "2024-01-31 00:00:00"},
		{formMillis, "1706659200500", day(2024, 1, 31, 0, 0, 0) + 0.5/86400, "2024-01-31 00:00:00.500"},
	} {
		r, ok := c.form.parse(c.text, false)
		if !ok || math.Abs(r.at-c.want) > 1e-10 {
			t.Errorf("%q is %v (%v), want %v", c.text, r.at, ok, c.want)
		}
		u := TimeUnit{form: c.form, Dates: c.form.dates()}
		u.take(r)
		if got := u.Format(r.at); got != c.back {
			t.Errorf("%q comes back as %q, want %q", c.text, got, c.back)
		}
		for _, text := range []string{c.text, c.back} {
			if again, err := u.Parse(text); err != nil || math.Abs(again-c.want) > 1e-10 {
				t.Errorf("%q by the unit is %v, %v, want %v", text, again, err, c.want)
			}
		}
	}
}

func TestNoTimes(t *testing.T) {
	t.Parallel()
	for form, texts := range map[timeForm][]string{
		formYearFirst: {"", "x", "2023-02-29", "2024-13-01", "2024-1-1-1", "24-01-31", "2024-W54", "2021-W53", "2024-Q5", "2024-01-31 25:00",
			"2024-01-31 12:60", "2024-01-31x", "2024-01-31 12:00 CEST", "2024-01-31 12:00+99"},
		formDayFirst:     {"1/31/2024", "31/1/24", "31.1", "1.2.3"},
		formMonthFirst:   {"31/1/2024", "1.31.2024"},
		formMonthName:    {"31 Foo 2024", "Jan", "31 Feb 2024", "Jan 31", "31 Jan 2024 x", "1 2 2024"},
		formClock:        {"24:01", "1", "13:45:", "13:60", "13:45 PM", "0:10 am"},
		formCompact:      {"20241301", "2024", "99999999"},
		formCompactMonth: {"202413", "2024"},
		formSeconds:      {"5", "x", "1706659200000"},
	} {
		for _, text := range texts {
			if r, ok := form.parse(text, false); ok {
				t.Errorf("%q was read as %v", text, r.at)
			}
		}
	}
	u := TimeUnit{form: formYearFirst, Dates: true}
	if _, err := u.Parse("soon"); err == nil || err.Error() != `"soon" is not a time like 2024-01-31` {
		t.Error(err)
	}
}

func TestDetectForm(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		texts, name string
		form, other timeForm
	}{
		{"2019 2020 NA 2021", "year", formNumber, formNone},
		{"20190101 20190201", "date", formCompact, formNone},
		{"20190101 20190201", "volume", formNumber, formNone},
		{"201901 201912", "month", formCompactMonth, formNone},
		{"1706659200 1706659260", "timestamp", formSeconds, formNone},
		{"1706659200123 1706659260456", "ts", formMillis, formNone},
		{"1 2 3", "timestamp", formNumber, formNone},
		{"2024-01-31 2024-02-01T12:00 oops", "date", formYearFirst, formNone},
		{"03/04/2024 05/06/2024", "date", formDayFirst, formMonthFirst},
		{"03/04/2024 13/06/2024", "date", formDayFirst, formNone},
		{"03/04/2024 05/26/2024", "date", formMonthFirst, formNone},
		{"03.04.2024 05.06.2024", "date", formDayFirst, formNone},
		{"03/03/2024 05/05/2024", "date", formDayFirst, formNone},
		{"13:45 14:00", "time", formClock, formNone},
		{"a b 2019-01-01", "date", formNone, formNone},
	} {
		if form, other, _ := detectForm(strings.Fields(c.texts), c.name); form != c.form || other != c.other {
			t.Errorf("%s under %s: forms %d and %d, want %d and %d", c.texts, c.name, form, other, c.form, c.other)
		}
	}
}

// shown writes measurements as node@time=value/exposure.
func shown(m *Measurements) string {
	var all []string
	for k, node := range m.Nodes {
		s := fmt.Sprint(node)
		if m.Time != nil {
			s += "@" + m.TimeUnit.Format(m.Time[k])
		}
		s += fmt.Sprintf("=%.6g", m.Values[k])
		if e := m.Exposures(); e != nil {
			s += fmt.Sprintf("/%.6g", e[k])
		}
		if m.Count[k] > 1 {
			s += fmt.Sprintf("×%d", m.Count[k])
		}
		all = append(all, s)
	}
	return strings.Join(all, " ")
}

func columns(pairs ...string) map[Role]string {
	all := map[Role]string{}
	for k := 0; k < len(pairs); k += 2 {
		all[Role(pairs[k])] = pairs[k+1]
	}
	return all
}

func TestReadTimes(t *testing.T) {
	t.Parallel()
	g := ring("a", "b", "c", "101")
	keep := Options{Times: TimesKeep}
	for _, c := range []struct {
		name, text string
		opts       Options
		want       string
		ledger     string
	}{
		{"dates", "node,date,value\na,2024-01-01,1\nb,2024-01-01,2\na,2024-02-01,3\n", keep, "0@2024-01-01=1 1@2024-01-01=2 0@2024-02-01=3",
			"4 lines = 1 header + 3 rows"},
		{"by column", "node,at,value\na,1,1\nb,1,2\na,2.5,3\n", Options{Columns: columns("time", "at")}, "0@1=1 1@1=2 0@2.5=3",
			"4 lines = 1 header + 3 rows"},
		{"repeats at one time", "node,date,value\na,2024-01-01,1\na,2024-01-01,2\na,2024-02-01,3\n", keep, "0@2024-01-01=1.5×2 0@2024-02-01=3",
			"4 lines = 1 header + 2 rows + 1 repeat"},
		{"latest", "node,date,value\na,2024-02-01,3\nb,2024-01-01,2\na,2024-01-01,1\na,2024-02-01,5\n", Options{Times: TimesLatest},
			"0@2024-02-01=4×2 1@2024-01-01=2", "5 lines = 1 header + 3 rows + 1 repeat"},
		{"ignored", "node,date,value\na,2024-01-01,1\nb,2024-01-01,2\na,2024-02-01,3\n", Options{Times: TimesIgnore}, "0=2×2 1=2",
			"4 lines = 1 header + 2 rows + 1 repeat"},
		{"last row", "node,date,value\na,2024-02-01,1\na,2024-01-01,3\n", Options{Repeats: RepeatsLast}, "0=3",
			"3 lines = 1 header + 1 row + 1 repeat"},
		{"one time for each node", "node,date,value\na,2024-01-01,1\nb,2024-02-01,2\n", Options{}, "0=1 1=2", "3 lines = 1 header + 2 rows"},
		{"the same time again", "node,date,value\na,2024-01-01,1\na,2024-01-01,2\n", Options{}, "0=1.5×2",
			"3 lines = 1 header + 1 row + 1 repeat"},
		{"a number that is no time", "node,travel_time,value\na,5,1\na,6,2\n", Options{}, "0=1.5×2", "3 lines = 1 header + 1 row + 1 repeat"},
		{"decimal commas", "node;time;value\na;1,5;1\na;2;2,5\n", keep, "0@1.5=1 0@2=2.5", "3 lines = 1 header + 2 rows"},
		{"no time, no value", "node,date,value\na,,\nb,2024-01-01,2\n", keep, "1@2024-01-01=2", "3 lines = 1 header + 1 row + 1 missing value"},
		{"bad times", "node,date,value\na,2024-01-01,1\nb,2024-13-01,2\nc,,3\nb,2024-01-02,4\n", Options{Times: TimesKeep, BadRows: BadRowsSkip},
			"0@2024-01-01=1 1@2024-01-02=4", "5 lines = 1 header + 2 rows + 2 bad"},
		{"times × nodes", "date,a,b,c\n2024-01-01,1,2,\n2024-01-02,NA,5,6\n2024-01-03,,,\n", keep,
			"0@2024-01-01=1 1@2024-01-01=2 1@2024-01-02=5 2@2024-01-02=6", "4 lines = 1 header + 2 rows + 1 missing value"},
		{"times × nodes, ids that are numbers", "year,a,101\n2019,1,2\n2020,3,4\n", keep, "0@2019=1 3@2019=2 0@2020=3 3@2020=4",
			"3 lines = 1 header + 2 rows"},
		{"times × nodes, latest", "date,a,b,c\n2024-01-01,1,2,\n2024-01-02,NA,5,6\n", Options{Times: TimesLatest},
			"0@2024-01-01=1 1@2024-01-02=5 2@2024-01-02=6", "3 lines = 1 header + 2 rows"},
		{"times × nodes, ignored", "date,a,b\n2024-01-01,1,2\n2024-01-02,3,\n", Options{Times: TimesIgnore}, "0=2×2 1=2",
			"3 lines = 1 header + 1 row + 1 repeat"},
		{"times × nodes, a time twice", "date,a,b\n2024-01-01,1,2\n2024-01-01,3,4\n", keep, "0@2024-01-01=2×2 1@2024-01-01=3×2",
			"3 lines = 1 header + 1 row + 1 repeat"},
		{"times × nodes, by column", "t,a,b,zz\n1,1,2,0\n2,3,4,0\n", Options{Columns: columns("time", "t")}, "0@1=1 1@1=2 0@2=3 1@2=4",
			"3 lines = 1 header + 2 rows"},
		{"nodes × years", "node,2019,2020,2021\na,1,,3\nb,4,5,6\nzz,1,1,1\n", Options{Times: TimesKeep, Unknown: UnknownSkip},
			"0@2019=1 0@2021=3 1@2019=4 1@2020=5 1@2021=6", "4 lines = 1 header + 2 rows + 1 unknown id"},
		{"nodes × days", "node,20190131,20190201\na,1,2\nb,4,5\n", keep, "0@2019-01-31=1 0@2019-02-01=2 1@2019-01-31=4 1@2019-02-01=5",
			"3 lines = 1 header + 2 rows"},
		{"nodes × months", "station,2019-01,2019-02,note\na,1,2,x\nb,3,4,y\n", keep, "0@2019-01=1 0@2019-02=2 1@2019-01=3 1@2019-02=4",
			"3 lines = 1 header + 2 rows"},
		{"one of the years", "node,2019,2020\na,1,2\nb,4,5\n", Options{Columns: columns("value", "2020")}, "0=2 1=5",
			"3 lines = 1 header + 2 rows"},
		{"counts over time", "node,week,cases\na,2024-W01,1\na,2024-W02,4\nb,2024-W01,0\na,2024-W01,2\n", Options{Times: TimesKeep, Counts: true},
			"0@2024-W01=3/2 0@2024-W02=4/1 1@2024-W01=0/1", "5 lines = 1 header + 3 rows + 1 repeat"},
	} {
		t.Run(c.name, func(t *testing.T) {
			m, err := readMeasurements(g, c.text, c.opts)
			if err != nil {
				t.Fatal(err)
			}
			if got := shown(m); got != c.want {
				t.Errorf("measurements %s, want %s", got, c.want)
			}
			if l := m.Report.Ledger; l.String() != c.ledger || !l.Balanced() {
				t.Errorf("ledger %s, want %s", l, c.ledger)
			}
		})
	}
}

func TestReadCounts(t *testing.T) {
	t.Parallel()
	g := ring("a", "b", "c")
	exposure, tested := Options{Columns: columns("exposure", "expected")}, Options{Columns: columns("tested", "n")}
	for _, c := range []struct {
		name, text string
		opts       Options
		want       string
		ledger     string
	}{
		{"exposure", "district,cases,expected,farmers\na,9,1.4,16\nb,39,8.7,16\n", exposure, "0=9/1.4 1=39/8.7", "3 lines = 1 header + 2 rows"},
		{"sums", "node,cases,expected\na,1,0.5\nb,2,3\na,4,0.25\n", exposure, "0=5/0.75 1=2/3", "4 lines = 1 header + 2 rows + 1 repeat"},
		{"kept", "node,cases,expected\na,1,0.5\nb,2,3\na,4,0.25\n", Options{Columns: columns("exposure", "expected"), Repeats: RepeatsKeep},
			"0=1/0.5 1=2/3 0=4/0.25", "4 lines = 1 header + 3 rows"},
		{"last", "node,cases,expected\na,1,0.5\na,4,0.25\n", Options{Columns: columns("exposure", "expected"), Repeats: RepeatsLast}, "0=4/0.25",
			"3 lines = 1 header + 1 row + 1 repeat"},
		{"without exposure", "node,value\na,1\nb,2\na,4\n", Options{Counts: true}, "0=5/2 1=2/1", "4 lines = 1 header + 2 rows + 1 repeat"},
		{"tested", "node,positive,n\na,3,10\nb,0,5\na,1,2\n", tested, "0=4/12 1=0/5", "4 lines = 1 header + 2 rows + 1 repeat"},
		{"nobody tested", "node,positive,n\na,3,10\nb,0,0\n", tested, "0=3/10", "3 lines = 1 header + 1 row + 1 missing value"},
		{"a rate beside", "node,rate,cases,expected\na,0.5,1,2\nb,2,4,2\n", exposure, "0=1/2 1=4/2", "3 lines = 1 header + 2 rows"},
		{"cases by name", "node,cases,expected\na,1,2.5\nb,4,2\n", Options{}, "0=1 1=4", "3 lines = 1 header + 2 rows"},
	} {
		t.Run(c.name, func(t *testing.T) {
			m, err := readMeasurements(g, c.text, c.opts)
			if err != nil {
				t.Fatal(err)
			}
			if got := shown(m); got != c.want {
				t.Errorf("measurements %s, want %s", got, c.want)
			}
			if l := m.Report.Ledger; l.String() != c.ledger || !l.Balanced() {
				t.Errorf("ledger %s, want %s", l, c.ledger)
			}
		})
	}
	m, err := readMeasurements(g, "node,cases,expected\na,1,2\nb,4,2\n", Options{})
	if want := `column "expected" looks like an exposure, the number of cases to expect or the people at risk; it is not used; name it to ` +
		`use it with Options.Columns["exposure"] = "expected"`; err != nil || !slices.Contains(warnings(m.Report), want) {
		t.Errorf("%v; warnings %q, want %q", err, m.Report.Warnings, want)
	}
	m, err = readMeasurements(g, "node,positive,tested\na,1,2\nb,4,7\n", Options{})
	if want := `column "tested" looks like the number tested, of which the values are positive; it is not used; name it to use it with ` +
		`Options.Columns["tested"] = "tested"`; err != nil || !slices.Contains(warnings(m.Report), want) {
		t.Errorf("%v; warnings %q, want %q", err, m.Report.Warnings, want)
	}
}

func TestTimeErrors(t *testing.T) {
	t.Parallel()
	const skip = `; correct the line, or leave such rows out with Options.BadRows = "skip"`
	const ways = `take the latest of each node with Options.Times = "latest", or take them as repeats of one value with Options.Times = ` +
		`"ignore"`
	keep := Options{Times: TimesKeep}
	for _, c := range []struct {
		name, text string
		opts       Options
		kind       error
		want       string
	}{
		{"averaged over time", "node,date,value\na,2024-01-01,1\nb,2024-01-01,1\na,2024-01-02,3\n", Options{}, ErrUsage,
			`m:4: node "a" was measured before, on line 2, at another time (column date); use the times with Options.Times = "keep", ` + ways},
		{"averaged over years", "node,year,value\na,2019,1\na,2020,3\n", Options{}, ErrUsage,
			`m:3: node "a" was measured before, on line 2, at another time (column year); use the times with Options.Times = "keep", ` + ways},
		{"without a name for it", "node,seen,value\na,31.12.2023,1\na,1.1.2024,3\n", Options{}, ErrUsage,
			`m:3: node "a" was measured before, on line 2, at another time (column seen); use the times with Options.Times = "keep", ` + ways},
		{"two columns", "node,year,month,value\na,2019,1,1\na,2019,2,3\n", Options{}, ErrUsage,
			`m:3: node "a" was measured before, on line 2, at another time (column year or month); use the times with Options.Columns["time"] = ` +
				`"year" or Options.Columns["time"] = "month", ` + ways},
		{"not even if bad rows are skipped", "node,date,value\na,2024-01-01,1\na,2024-01-02,3\n", Options{BadRows: BadRowsSkip}, ErrUsage,
			`m:3: node "a" was measured before, on line 2, at another time (column date); use the times with Options.Times = "keep", ` + ways},
		{"times × nodes", "date,a,b,c\n2024-01-01,1,2,3\n", Options{}, ErrUsage,
			`m: columns are named by nodes, such as "a", "b" and "c": it is a table of times × nodes; use the times with Options.Times = "keep", ` +
				`take the latest of each node with Options.Times = "latest", or take one column with Options.Columns["value"]`},
		{"nodes × times", "node,2019,2020\na,1,2\n", Options{}, ErrUsage,
			`m: columns are named by times, such as "2019" and "2020": it is a table of nodes × times; use the times with Options.Times = "keep",` +
				` take the latest of each node with Options.Times = "latest", or take one column with Options.Columns["value"]`},
		{"a date that is none", "node,date,value\na,2024-01-01,1\nb,2024-02-30,1\n", keep, ErrData,
			`m:3:3: time "2024-02-30" is not a time like 2024-01-31` + skip},
		{"another form", "node,date,value\na,31/01/2024,1\nb,13/01/2024,1\nb,01/31/2024,1\n", keep, ErrData,
			`m:4:3: time "01/31/2024" is not a time like 31.01.2024` + skip},
		{"no time", "node,date,value\na,2024-01-01,1\nb,,1\n", keep, ErrData,
			`m:3:3: the time is missing; fill it in, or leave such rows out with Options.BadRows = "skip"`},
		{"day or month", "node,date,value\na,03/04/2024,1\nb,05/06/2024,1\n", keep, ErrUsage,
			`m: in dates such as "03/04/2024" either number may be the month; write dates like 2024-01-31`},
		{"no column of times", "node,value\na,1\n", keep, ErrData,
			`m: there is no column of times, among node and value; name it with Options.Columns["time"]`},
		{"several", "node,date,measured_on,value\na,2024-01-01,2024-01-02,1\n", keep, ErrUsage,
			`m: the time may be date or measured_on; say which with Options.Columns["time"] = "date" or Options.Columns["time"] = "measured_on"`},
		{"no times in it", "node,topic,value\na,x,1\nb,y,1\n", Options{Columns: columns("time", "topic")}, ErrData,
			`m: column topic holds no times: "x" is neither a number nor a date; write dates like 2024-01-31, or name the column of times with ` +
				`Options.Columns["time"]`},
		{"twice in a wide table", "date,a,b\n2024-01-01,1,2\n2024-01-01,1,2\n", Options{Times: TimesKeep, Repeats: RepeatsError}, ErrData,
			`m:3:12: node "1" was already measured on line 2; keep all its measurements with Options.Repeats = "keep", or take the last one with ` +
				`Options.Repeats = "last"`},
		{"a cell of a wide table", "date,a,b\n2024-01-01,1,x\n2024-01-02,1,2\n", keep, ErrData, `m:2:14: value "x" is not a number` + skip},
		{"a node twice", "date,a,a\n2024-01-01,1,2\n", keep, ErrData, `m: 2 columns are named by node "a"; give every node one column`},
		{"unknown choice", "node,value\na,1\n", Options{Times: "now"}, ErrUsage,
			`m: times cannot be treated as "now"; give keep, latest or ignore`},

		{"exposure of nobody", "node,cases,expected\na,1,0\n", Options{Columns: columns("exposure", "expected")}, ErrData,
			`m:2:5: exposure "0" is not positive` + skip},
		{"no exposure", "node,cases,expected\na,1,\n", Options{Columns: columns("exposure", "expected")}, ErrData,
			`m:2:5: the exposure is missing; fill it in, or leave such rows out with Options.BadRows = "skip"`},
		{"no count", "node,cases,expected\na,1.5,1\n", Options{Columns: columns("exposure", "expected")}, ErrData,
			`m:2:3: value "1.5" is not a count: a whole number from 0 on` + skip},
		{"below zero", "node,cases,expected\na,-1,1\n", Options{Columns: columns("exposure", "expected")}, ErrData,
			`m:2:3: value "-1" is not a count: a whole number from 0 on` + skip},
		{"more than tested", "node,positive,n\na,3,2\n", Options{Columns: columns("tested", "n")}, ErrData,
			`m:2:3: value "3" is more than the number tested, 2` + skip},
		{"half a test", "node,positive,n\na,1,2.5\n", Options{Columns: columns("tested", "n")}, ErrData,
			`m:2:5: tested "2.5" is not a count: a whole number from 0 on` + skip},
		{"both", "node,positive,n,e\na,1,2,3\n", Options{Columns: columns("tested", "n", "exposure", "e")}, ErrUsage,
			`m: values cannot have both an exposure and a number tested; name one of the two columns`},
		{"two roles", "node,positive,n\na,1,2\n", Options{Columns: columns("tested", "n", "value", "n")}, ErrUsage,
			`m: one column has two roles; give different columns for node, value, sd and tested`},
		{"sd of counts", "node,cases,sd\na,1,2\n", Options{Counts: true, Columns: columns("sd", "sd")}, ErrUsage,
			`m: counts have no sd; leave the column of sds out`},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := readMeasurements(ring("a", "b", "c"), c.text, c.opts)
			checkError(t, err, c.kind, c.want)
		})
	}
}

// A column of a wide table that is named by no node is told of.
func TestWideStrangers(t *testing.T) {
	t.Parallel()
	m, err := readMeasurements(ring("a", "b"), "date,a,b,zz,note\n2024-01-01,1,2,3,x\n", Options{Times: TimesKeep})
	if err != nil {
		t.Fatal(err)
	}
	if want := `columns whose names are not ids of the graph: 1, such as "zz"`; !slices.Contains(warnings(m.Report), want) {
		t.Errorf("warnings %q, want %q", m.Report.Warnings, want)
	}
	if m.Report.Cells != 2 || !slices.Equal(m.Report.Unused, []string{"zz", "note"}) ||
		fmt.Sprint(m.Report.Columns) != `[time: column 1 "date" (it holds times, and other columns are named by nodes) value: column 2 "a" `+
			`(the first of 2 columns named by nodes)]` {
		t.Errorf("%d cells, unused %q, columns %v", m.Report.Cells, m.Report.Unused, m.Report.Columns)
	}
}

// Where measurements at different times are combined on request, the report says so.
func TestDifferentTimesAreTold(t *testing.T) {
	t.Parallel()
	const text = "node,date,hour,value\na,2024-02-01,1,1\na,2024-02-01,2,3\nb,2024-02-01,1,3\n"
	for _, c := range []struct {
		opts Options
		want string
	}{
		{Options{Repeats: RepeatsKeep}, `nodes were measured at different times (column date or hour), and their values are taken as repeats; `},
		{Options{Repeats: RepeatsLast}, `nodes were measured at different times (column date or hour), and the last row of each is used, ` +
			`whatever its time; `},
		{Options{Columns: columns("time", "date")}, `measurements of a node that differ in column hour, but not in the column of times, are ` +
			`taken as repeats`},
		{Options{Times: TimesIgnore}, ""},
		{Options{Columns: columns("time", "hour")}, ""},
	} {
		m, err := readMeasurements(ring("a", "b"), text, c.opts)
		if err != nil {
			t.Fatal(err)
		}
		all := strings.Join(warnings(m.Report), "\n")
		if !strings.Contains(all, c.want) || c.want == "" && all != "" {
			t.Errorf("%+v: warnings %q, want %q", c.opts, all, c.want)
		}
	}
}

// The order of rows changes nothing but the order of values.
func TestCountsInAnyOrder(t *testing.T) {
	t.Parallel()
	rows := []string{"a,2024-01-01,3,0.1", "b,2024-01-02,1,0.7", "a,2024-01-01,4,0.2", "a,2024-01-01,5,0.3", "b,2024-01-02,2,1e-9"}
	var want map[string]string
	for turn := range rows {
		turned := append(slices.Clone(rows[turn:]), rows[:turn]...)
		m, err := readMeasurements(ring("a", "b"), "node,date,cases,expected\n"+strings.Join(turned, "\n"),
			Options{Columns: columns("time", "date", "exposure", "expected")})
		if err != nil {
			t.Fatal(err)
		}
		got := map[string]string{}
		for k, i := range m.Nodes {
			got[fmt.Sprint(i, m.Time[k])] = fmt.Sprint(m.Values[k], math.Float64bits(m.Exposure[k]))
		}
		if want == nil {
			want = got
		}
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%v, want %v", got, want)
		}
	}
}

// A model without time is refused values of several times; each way out is taken.
func TestStatisticsOverTime(t *testing.T) {
	t.Parallel()
	const text = "node,date,value\na,2024-01-01,1\nb,2024-01-01,2\na,2024-02-01,3\na,2024-02-03,4\nc,2024-02-01,9\n"
	m, err := readMeasurements(ring("a", "b", "c"), text, Options{Times: TimesKeep})
	if err != nil {
		t.Fatal(err)
	}
	_, _, _, _, _, err = m.Statistics()
	checkError(t, err, ErrData, `m: nodes were measured at different times, such as 2024-01-01 and 2024-02-01, and a model without time `+
		`has one value for each node; choose a period, take the latest of each node with Options.Times = "latest", or take them as repeats of `+
		`one value with Options.Times = "ignore"`)
	if got, want := shown(m.Latest()), "1@2024-01-01=2 0@2024-02-03=4 2@2024-02-01=9"; got != want {
		t.Errorf("latest %s, want %s", got, want)
	}
	p := m.Periods(0)
	if !slices.Equal(p.Of, []int{0, 0, 1, 2, 1}) || !slices.Equal(p.Names, []string{"2024-01-01", "2024-02-01", "2024-02-03"}) ||
		p.Times[2]-p.Times[0] != 33 {
		t.Errorf("periods %+v", p)
	}
	if got, want := shown(m.InPeriod(p, 1)), "0=3 2=9"; got != want {
		t.Errorf("in a period %s, want %s", got, want)
	}
	if got, want := shown(m.OverTime(p, 3)), "0=1 1=2 3=3 6=4 5=9"; got != want {
		t.Errorf("over time %s, want %s", got, want)
	}
	for _, some := range []*Measurements{m.Latest(), m.InPeriod(p, 1), m.OverTime(p, 3)} {
		if _, _, _, _, _, err := some.Statistics(); err != nil {
			t.Error(err)
		}
	}
	for _, at := range []float64{0.5, 1.25, 9} { // before, between and after the days, in units of the first
		t0 := math.Floor(at * p.Times[0])
		if at == 1.25 {
			t0 = p.Times[1] + 1
		}
		q, k := p.With(t0)
		if q.Len() != 4 || q.Times[k] != t0 || q.Names[k] != m.TimeUnit.Format(t0) || p.Len() != 3 || !slices.IsSorted(q.Times) {
			t.Errorf("with %v: %+v", t0, q)
		}
		for a, of := range q.Of {
			if q.Times[of] != m.Time[a] {
				t.Errorf("with %v: value %d is in the period at %v", t0, a, q.Times[of])
			}
		}
	}
	if q, k := p.With(p.Times[1]); q != p || k != 1 {
		t.Errorf("a period that is there: %d of %+v", k, q)
	}
	if (&Measurements{Nodes: []int{1}}).Periods(0) != nil {
		t.Error("there are periods without times")
	}
}

// Too many times become hours, days, weeks and so on, the first that are few enough;
// numbers become stretches of round length.
func TestPeriods(t *testing.T) {
	t.Parallel()
	dates := func(n int, step float64) *Measurements {
		m := &Measurements{TimeUnit: TimeUnit{Dates: true, form: formYearFirst, grain: grainSecond}}
		start := float64(time.Date(2023, 12, 30, 0, 0, 0, 0, time.UTC).Unix()) / 86400
		for k := range n {
			m.Time = append(m.Time, start+float64(n-1-k)*step) // backwards
		}
		return m
	}
	numbers := func(n int, step float64) *Measurements {
		m := &Measurements{}
		for k := range n {
			m.Time = append(m.Time, float64(k)*step)
		}
		return m
	}
	for _, c := range []struct {
		name        string
		m           *Measurements
		most, count int
		step        string
		first, last string
	}{
		{"all", dates(400, 1), 0, 400, "time", "2023-12-30 00:00:00", "2025-02-01 00:00:00"},
		{"hours", dates(3600, 1.0/1440), 100, 60, "hour", "2023-12-30 00:00", "2024-01-01 11:00"},
		{"days", dates(2000, 1.0/24), 100, 84, "day", "2023-12-30", "2024-03-22"},
		{"weeks", dates(500, 1), 100, 73, "week", "2023-W52", "2025-W20"},
		{"months", dates(500, 1), 30, 18, "month", "2023-12", "2025-05"},
		{"quarters", dates(500, 1), 10, 7, "quarter", "2023-Q4", "2025-Q2"},
		{"years", dates(500, 1), 5, 3, "year", "2023", "2025"},
		{"decades", dates(500, 40), 10, 6, "10 years", "2020 to 2029", "2070 to 2079"},
		{"stretches", numbers(1000, 1), 400, 200, "stretch of 5", "0 to 5", "995 to 1000"},
		{"fractions", numbers(1000, 0.001), 60, 50, "stretch of 0.02", "0 to 0.02", "0.98 to 1"},
		{"two", numbers(1000, 1), 1, 2, "stretch of 500", "0 to 500", "500 to 1000"},
	} {
		p := c.m.Periods(c.most)
		if p.Len() != c.count || p.Step != c.step || p.Names[0] != c.first || p.Names[p.Len()-1] != c.last {
			t.Errorf("%s: %d periods by %s from %s to %s, want %d by %s from %s to %s", c.name, p.Len(), p.Step, p.Names[0], p.Names[p.Len()-1],
				c.count, c.step, c.first, c.last)
		}
		for k := 1; k < p.Len(); k++ {
			if !(p.Times[k] > p.Times[k-1]) {
				t.Fatalf("%s: periods at %v", c.name, p.Times[k-1:k+1])
			}
		}
		for a, k := range p.Of {
			if found, ok := p.Find(c.m.Time[a]); !ok || found != k {
				t.Fatalf("%s: time %v is in period %d, and found in %d (%v)", c.name, c.m.Time[a], k, found, ok)
			}
		}
		if _, ok := p.Find(c.m.Time[0] + 1e6); ok {
			t.Errorf("%s: a period far away was found", c.name)
		}
	}
}

func TestKind(t *testing.T) {
	t.Parallel()
	repeat := func(v ...float64) []float64 { return slices.Repeat(v, 20) }
	for _, c := range []struct {
		name   string
		values []float64
		want   Kind
	}{
		{"yes or no", repeat(0, 1, 1), KindYesNo},
		{"always yes", repeat(1), KindNumber},
		{"counts", repeat(0, 1, 3, 2, 0, 7), KindCount},
		{"large counts", repeat(812, 790, 845, 801, 777), KindCount},
		{"fractions", append(repeat(0, 1, 3), 0.5), KindNumber},
		{"negative", append(repeat(0, 1, 3), -1), KindNumber},
		{"ratings", repeat(3, 4, 4, 5, 3, 4), KindNumber},
		{"years", repeat(1990, 2019, 2005, 1900), KindNumber},
		{"a numbering", []float64{3, 1, 2, 7, 5, 4, 6, 9, 8}, KindNumber},
		{"populations", repeat(12000, 5, 40000), KindNumber},
		{"two codes", repeat(1, 5), KindNumber},
		{"one value", []float64{3}, KindNumber},
	} {
		kind, why := KindOf(c.values)
		if kind != c.want || (why == "") != (kind == KindNumber) {
			t.Errorf("%s: %q because %q, want %q", c.name, kind, why, c.want)
		}
		slices.Reverse(c.values)
		if again, _ := KindOf(c.values); again != kind {
			t.Errorf("%s: %q, and backwards %q", c.name, kind, again)
		}
	}
	// Means of repeated 0 and 1 are fractions; what was read counts.
	m, err := readMeasurements(ring("a", "b"), "node,value\na,0\na,1\nb,1\n", Options{})
	if err != nil {
		t.Fatal(err)
	}
	if kind, why := m.Kind(); kind != KindYesNo || why != "all 3 values are 0 or 1" || m.Values[0] != 0.5 {
		t.Errorf("%q because %q", kind, why)
	}
	for role, want := range map[string]Kind{"exposure": KindCount, "tested": KindShare} {
		m, err := readMeasurements(ring("a", "b"), "node,value,n\na,1,2\nb,1,3\n", Options{Columns: columns(role, "n")})
		if err != nil {
			t.Fatal(err)
		}
		if kind, _ := m.Kind(); kind != want {
			t.Errorf("%s: %q, want %q", role, kind, want)
		}
	}
}

// A wide table may be mostly empty, also at the ends of its rows.
func TestWideWithGaps(t *testing.T) {
	t.Parallel()
	net, err := ReadGraph(t.Context(), Reader("edges", strings.NewReader("source,target\n0,1\n1,2\n2,3\n3,4\n4,0\n")), Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, table := range []string{
		"node,2019,2020,2021,2022\n0,1,,,\n1,,2,,\n2,,,3,\n3,4,,,\n4,,5,,\n",
		"year,0,1,2,3,4\n2019,1,,,4,\n2020,,2,,,5\n2021,,,3,,\n2022,,,,,\n",
	} {
		m, err := ReadMeasurements(t.Context(), Reader("levels", strings.NewReader(table)), net.Graph, Options{Times: TimesKeep})
		if err != nil {
			t.Fatal(err)
		}
		if len(m.Values) != 5 || m.Periods(0).Len() != 3 {
			t.Errorf("%d values in %d periods of\n%s", len(m.Values), m.Periods(0).Len(), table)
		}
	}
}
