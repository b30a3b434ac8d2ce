package covariate

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"time"
)

// Layouts of dates in which the month cannot be mistaken for the day. Times may follow
// after a blank or T, with or without a zone.
var layouts = []string{
	"2006-1-2", "2006/1/2", "2006.1.2", "2.1.2006", "2-Jan-2006", "2 Jan 2006", "2 January 2006", "Jan 2, 2006", "January 2, 2006", "2006-01",
}

// clocks are the forms of the time of day; fractions of seconds are read with them.
var clocks = []string{"", "15:04", "15:04:05", "15:04Z07:00", "15:04:05Z07:00", "15:04:05 Z07:00", "15:04:05 MST"}

// dateLayouts are all layouts, and slashed those for which the column must tell whether
// day or month comes first.
var (
	dateLayouts          = withClocks(layouts...)
	dayFirst, monthFirst = withClocks("2/1/2006"), withClocks("1/2/2006")
)

func withClocks(dates ...string) []string {
	var out []string
	for _, date := range dates {
		for _, clock := range clocks {
			if clock == "" {
				out = append(out, date)
				continue
			}
			out = append(out, date+" "+clock)
			if strings.HasPrefix(date, "2006") {
				out = append(out, date+"T"+clock)
			}
		}
	}
	return out
}

// dateReader reads dates, trying the layout of the last one first.
type dateReader struct {
	layouts []string
	last    int
}

// days returns a date as days since 1970; false if it is none, or outside the years 1 to 9999.
func (r *dateReader) days(text string) (float64, bool) {
	if len(text) < len("1-2-2006")-1 || len(text) > 40 || !strings.ContainsAny(text, "0123456789") {
		return 0, false
	}
	for k := range r.layouts {
		at := (r.last + k) % len(r.layouts)
		if t, err := time.Parse(r.layouts[at], text); err == nil {
			r.last = at
			return float64(t.Unix())/86400 + float64(t.Nanosecond())/86400e9, true
		}
	}
	return 0, false
}

// dates reads the texts as dates, NaN where that fails; false unless nearly all cells
// are dates, in one way.
func (c *cells) dates() ([]float64, bool) {
	readers := []*dateReader{{layouts: dateLayouts}, {layouts: dayFirst}, {layouts: monthFirst}}
	best, bestShare, found := []float64(nil), 0.0, 0
	for _, r := range readers {
		if !c.looksDated(r) {
			continue
		}
		days := make([]float64, len(c.texts))
		for k, text := range c.texts {
			v, ok := r.days(text)
			if days[k] = v; !ok {
				days[k] = math.NaN()
			}
		}
		share := c.share(func(k int) bool { return !math.IsNaN(days[k]) }, c.absent)
		switch {
		case share < fits:
		case share > bestShare:
			best, bestShare, found = days, share, 1
		case share == bestShare:
			found++ // day or month first: both would do
		}
	}
	c.unclear = found > 1
	return best, found == 1
}

// looksDated tries a hundred texts, so that other columns cost little. Their choice
// does not depend on the order of the nodes.
func (c *cells) looksDated(r *dateReader) bool {
	type hashed struct {
		hash uint64
		text string
	}
	var some []hashed
	for k, text := range c.texts {
		if !c.absent(k) {
			some = append(some, hashed{fnv(text), text})
		}
	}
	slices.SortFunc(some, func(a, b hashed) int { return cmp.Or(cmp.Compare(a.hash, b.hash), cmp.Compare(a.text, b.text)) })
	some = some[:min(len(some), 100)]
	good := 0
	for _, s := range some {
		if _, ok := r.days(s.text); ok {
			good++
		}
	}
	return 2*good > len(some)
}

// fnv is the hash FNV-1a.
func fnv(text string) uint64 {
	h := uint64(14695981039346656037)
	for i := range len(text) {
		h = (h ^ uint64(text[i])) * 1099511628211
	}
	return h
}

// compactDates reads whole numbers such as 20240531 as days since 1970; false if one is
// not a date after 1800.
func compactDates(numbers []float64) ([]float64, bool) {
	out := make([]float64, len(numbers))
	for i, v := range numbers {
		if out[i] = v; math.IsNaN(v) {
			continue
		}
		if v < 18000101 || v > 22001231 {
			return nil, false
		}
		t, err := time.Parse("20060102", writeNumber(v))
		if err != nil {
			return nil, false
		}
		out[i] = float64(t.Unix()) / 86400
	}
	return out, true
}

// dateColumn returns the column of dates.
func (c *cells) dateColumn(days []float64) Column {
	out := Column{Name: c.name, Kind: Date, Numbers: make([]float64, len(c.codes))}
	odd := map[string]int{}
	for i, code := range c.codes {
		out.Numbers[i] = math.NaN()
		if code == 0 || c.absent(int(code-1)) {
			continue
		}
		if out.Numbers[i] = days[code-1]; math.IsNaN(days[code-1]) {
			odd[c.texts[code-1]]++
		}
	}
	out.tellOdd(odd)
	return out
}
