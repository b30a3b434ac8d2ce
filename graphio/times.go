package graphio

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// Times says what becomes of the times of measurements.
type Times string

// The choices for times. Naming a column of times (RoleTime) asks for TimesKeep.
const (
	TimesAuto   Times = ""       // not used; measurements of a node at different times are an error, because their mean is no measurement
	TimesKeep   Times = "keep"   // every value has its time: Measurements.Time
	TimesLatest Times = "latest" // of every node the values of its latest time
	TimesIgnore Times = "ignore" // not looked at: measurements of a node are repeats, whenever they were made
)

// TimeUnit says what the numbers in Measurements.Time mean.
type TimeUnit struct {
	// Dates says that times are days since 1 January 1970 in UTC, with fractions for
	// the time of day. Otherwise they are the numbers of the file.
	Dates bool

	form  timeForm
	grain timeGrain // the finest that was read
	zoned bool      // a time zone was given
	comma bool      // numbers have decimal commas
}

// String returns the unit in words.
func (u TimeUnit) String() string {
	switch {
	case u.form == formClock:
		return "days since midnight"
	case u.Dates:
		return "days since 1970-01-01"
	}
	return "as in the file"
}

// Format returns a time as text: a number, or a date as precise as those of the file.
func (u TimeUnit) Format(t float64) string {
	if !u.Dates {
		return strconv.FormatFloat(t, 'g', -1, 64)
	}
	return u.grain.format(t, u.form == formClock, u.zoned)
}

// Parse reads a time as the file writes it, or as Format does.
func (u TimeUnit) Parse(text string) (float64, error) {
	for _, form := range []timeForm{u.form, formYearFirst} {
		if r, ok := form.parse(strings.TrimSpace(text), u.comma); ok && (form != formYearFirst || u.Dates && u.form != formClock) {
			return r.at, nil
		}
	}
	return 0, fmt.Errorf("%q is not a time like %s", text, u.form.example())
}

// timeForm is a way to write times.
type timeForm uint8

const (
	formNone         timeForm = iota
	formNumber                // 7.5, 2019
	formYearFirst             // 2024-01-31 13:45, 2024/01/31, 2024-01, 2024-W05, 2024-Q1
	formDayFirst              // 31.01.2024, 31/01/2024
	formMonthFirst            // 01/31/2024
	formMonthName             // 31 Jan 2024, January 31, 2024, Jan 2024
	formClock                 // 13:45
	formCompact               // 20240131
	formCompactMonth          // 202401
	formSeconds               // since 1970
	formMillis                // since 1970
)

func (f timeForm) dates() bool { return f > formNumber }

// example shows the form.
func (f timeForm) example() string {
	return [...]string{"2024-01-31", "2024", "2024-01-31", "31.01.2024", "01/31/2024", "31 Jan 2024", "13:45", "20240131", "202401",
		"1706659200", "1706659200000"}[f]
}

// timeGrain is the precision of a date.
type timeGrain uint8

const (
	grainYear timeGrain = iota
	grainQuarter
	grainMonth
	grainWeek
	grainDay
	grainMinute
	grainSecond
	grainFraction
)

// dayOf returns the days from 1 January 1970.
func dayOf(t time.Time) float64 {
	return float64(t.Unix())/86400 + float64(t.Nanosecond())/86400e9
}

// dateOf is the inverse of dayOf, to a microsecond.
func dateOf(days float64) time.Time {
	whole := math.Floor(days)
	return time.Unix(int64(whole)*86400, 0).UTC().Add(time.Duration(math.Round((days-whole)*86400e6)) * time.Microsecond)
}

func (g timeGrain) format(days float64, clock, zoned bool) string {
	t := dateOf(days)
	layout := "2006-01-02"
	switch g {
	case grainYear:
		return t.Format("2006")
	case grainQuarter:
		return fmt.Sprintf("%s-Q%d", t.Format("2006"), (int(t.Month())+2)/3)
	case grainMonth:
		return t.Format("2006-01")
	case grainWeek:
		year, week := t.ISOWeek()
		return fmt.Sprintf("%04d-W%02d", year, week)
	case grainDay:
		return t.Format(layout)
	case grainMinute:
		layout += " 15:04"
	case grainSecond:
		layout += " 15:04:05"
	default:
		layout += " 15:04:05.000"
	}
	if clock {
		return t.Format(layout[len("2006-01-02 "):])
	}
	if zoned {
		layout += "Z"
	}
	return t.Format(layout)
}

// readTime is a time that was read: a number, or days with their precision.
type readTime struct {
	at    float64
	grain timeGrain
	zoned bool
}

// parse reads a time of the form.
func (f timeForm) parse(text string, comma bool) (readTime, bool) {
	switch f {
	case formNumber:
		v, state := parseNumber([]byte(text), comma)
		return readTime{at: v}, state == numberOK
	case formYearFirst:
		return parseYearFirst(text)
	case formDayFirst:
		return parseYearLast(text, false)
	case formMonthFirst:
		return parseYearLast(text, true)
	case formMonthName:
		return parseMonthName(text)
	case formClock:
		seconds, grain, rest, ok := parseClock(text)
		return readTime{at: seconds / 86400, grain: grain}, ok && rest == ""
	case formCompact:
		if len(text) != 8 || !digits(text) {
			return readTime{}, false
		}
		return date(text[:4], text[4:6], text[6:])
	case formCompactMonth:
		if len(text) != 6 || !digits(text) {
			return readTime{}, false
		}
		r, ok := date(text[:4], text[4:], "1")
		r.grain = grainMonth
		return r, ok
	case formSeconds, formMillis:
		v, state := parseNumber([]byte(text), comma)
		if f == formMillis {
			v /= 1000
		}
		r := readTime{at: v / 86400, grain: grainSecond}
		if v != math.Trunc(v) {
			r.grain = grainFraction
		}
		return r, state == numberOK && v >= 1e8 && v < 1e10
	}
	return readTime{}, false
}

func digits(text string) bool { return text != "" && strings.Trim(text, "0123456789") == "" }

// date returns a day that exists. A text longer than two digits is no month or day.
func date(year, month, day string) (readTime, bool) {
	if len(year) != 4 || !digits(year) || len(month) > 2 || !digits(month) || len(day) > 2 || !digits(day) {
		return readTime{}, false
	}
	y, _ := strconv.Atoi(year)
	m, _ := strconv.Atoi(month)
	d, _ := strconv.Atoi(day)
	t := time.Date(y, time.Month(m), d, 0, 0, 0, 0, time.UTC)
	if t.Year() != y || int(t.Month()) != m || t.Day() != d {
		return readTime{}, false
	}
	return readTime{at: dayOf(t), grain: grainDay}, true
}

// parseYearFirst reads a date of ISO 8601, or with slashes or points for hyphens.
func parseYearFirst(text string) (readTime, bool) {
	if len(text) < 4 || !digits(text[:4]) {
		return readTime{}, false
	}
	year, rest := text[:4], text[4:]
	if rest == "" {
		r, ok := date(year, "1", "1")
		r.grain = grainYear
		return r, ok
	}
	if part := strings.TrimLeft(rest, "- "); len(rest)-len(part) <= 1 && part != "" && (part[0] == 'W' || part[0] == 'Q') {
		return partOfYear(year, part)
	}
	sep := rest[:1]
	if !strings.Contains("-/.", sep) {
		return readTime{}, false
	}
	month, rest, more := strings.Cut(rest[1:], sep)
	if !more {
		r, ok := date(year, month, "1")
		r.grain = grainMonth
		return r, ok
	}
	end := 0
	for end < len(rest) && rest[end]-'0' <= 9 {
		end++
	}
	r, ok := date(year, month, rest[:end])
	if !ok {
		return r, false
	}
	return r.withClock(rest[end:])
}

// partOfYear reads W05 and Q1.
func partOfYear(year, part string) (readTime, bool) {
	number := part[1:]
	if len(number) > 2 || !digits(number) {
		return readTime{}, false
	}
	n, _ := strconv.Atoi(number)
	if part[0] == 'Q' {
		if n < 1 || n > 4 {
			return readTime{}, false
		}
		r, ok := date(year, strconv.Itoa(3*n-2), "1")
		r.grain = grainQuarter
		return r, ok
	}
	first, ok := date(year, "1", "4") // is in week 1
	monday := first.at - float64((int(dateOf(first.at).Weekday())+6)%7) + 7*float64(n-1)
	in, week := dateOf(monday).ISOWeek()
	return readTime{at: monday, grain: grainWeek}, ok && week == n && fmt.Sprintf("%04d", in) == year
}

// withClock adds the time of day, and a time zone, to a date.
func (r readTime) withClock(text string) (readTime, bool) {
	if text == "" {
		return r, true
	}
	if text[0] != 'T' && text[0] != 't' && text[0] != ' ' {
		return r, false
	}
	seconds, grain, rest, ok := parseClock(strings.TrimLeft(text[1:], " "))
	if !ok {
		return r, false
	}
	r.at, r.grain = r.at+seconds/86400, grain
	offset, zoned, ok := parseZone(strings.TrimLeft(rest, " "))
	r.at -= float64(offset) / 1440
	r.zoned = zoned
	return r, ok
}

// parseClock reads 13:45, 13:45:10, 13:45:10.5 or 1:45 PM, and returns the text that
// follows.
func parseClock(text string) (seconds float64, grain timeGrain, rest string, ok bool) {
	number := func(most int) (int, bool) {
		end := 0
		for end < len(text) && end < 2 && text[end]-'0' <= 9 {
			end++
		}
		if end == 0 {
			return 0, false
		}
		v, _ := strconv.Atoi(text[:end])
		text = text[end:]
		return v, v <= most
	}
	hour, ok := number(24)
	if !ok || text == "" || text[0] != ':' {
		return 0, 0, "", false
	}
	text = text[1:]
	minute, ok := number(59)
	if !ok {
		return 0, 0, "", false
	}
	seconds, grain = float64(3600*hour+60*minute), grainMinute
	if text != "" && text[0] == ':' {
		text = text[1:]
		second, ok := number(60)
		if !ok {
			return 0, 0, "", false
		}
		seconds, grain = seconds+float64(second), grainSecond
		if len(text) > 1 && (text[0] == '.' || text[0] == ',') && text[1]-'0' <= 9 {
			end := 1
			for end < len(text) && text[end]-'0' <= 9 {
				end++
			}
			fraction, _ := strconv.ParseFloat("0."+text[1:end], 64)
			seconds, text = seconds+fraction, text[end:]
			if fraction > 0 {
				grain = grainFraction
			}
		}
	}
	half := strings.ToUpper(strings.TrimLeft(text, " "))
	if afternoon := strings.HasPrefix(half, "PM"); afternoon || strings.HasPrefix(half, "AM") {
		if hour < 1 || hour > 12 {
			return 0, 0, "", false
		}
		text = half[2:]
		if seconds -= float64(3600 * (hour / 12 * 12)); afternoon {
			seconds += 12 * 3600
		}
	}
	return seconds, grain, text, seconds <= 86400
}

// parseZone reads Z, UTC, +02:00, +0200 or +02 as minutes east of UTC.
func parseZone(text string) (minutes int, zoned, ok bool) {
	switch strings.ToUpper(text) {
	case "":
		return 0, false, true
	case "Z", "UTC", "GMT":
		return 0, true, true
	}
	sign := 1
	switch text[0] {
	case '-':
		sign = -1
	case '+':
	default:
		return 0, false, false
	}
	number := strings.Replace(text[1:], ":", "", 1)
	if !digits(number) || len(number) != 2 && len(number) != 4 {
		return 0, false, false
	}
	hours, _ := strconv.Atoi(number[:2])
	rest, _ := strconv.Atoi("0" + number[2:])
	return sign * (60*hours + rest), true, hours <= 14 && rest < 60
}

// parseYearLast reads 31.01.2024, 31/01/2024 and 31-01-2024, or with the month first.
// With points the day is always first.
func parseYearLast(text string, monthFirst bool) (readTime, bool) {
	at := strings.IndexAny(text, "./-")
	if at < 0 || monthFirst && text[at] == '.' {
		return readTime{}, false
	}
	sep := text[at : at+1]
	parts := strings.SplitN(text, sep, 3)
	if len(parts) < 3 || len(parts[2]) < 4 {
		return readTime{}, false
	}
	day, month := parts[0], parts[1]
	if monthFirst {
		day, month = month, day
	}
	r, ok := date(parts[2][:4], month, day)
	if !ok {
		return r, false
	}
	return r.withClock(parts[2][4:])
}

var monthNames = strings.Fields("january february march april may june july august september october november december")

// parseMonthName reads 31 Jan 2024, 31-Jan-2024, January 31, 2024 and Jan 2024.
func parseMonthName(text string) (readTime, bool) {
	clock := ""
	if at := strings.IndexByte(text, ':'); at > 0 {
		cut := strings.LastIndexByte(text[:at], ' ')
		if cut < 0 {
			return readTime{}, false
		}
		text, clock = text[:cut], text[cut:]
	}
	parts := strings.FieldsFunc(text, func(r rune) bool { return r == ' ' || r == ',' || r == '-' || r == '.' })
	if len(parts) < 2 || len(parts) > 3 {
		return readTime{}, false
	}
	month, day, year, days := 0, "1", "", 0
	for _, p := range parts {
		switch {
		case len(p) == 4 && digits(p) && year == "":
			year = p
		case digits(p) && days == 0:
			day, days = p, 1
		case month == 0:
			month = monthOf(p)
		default:
			return readTime{}, false
		}
	}
	if month == 0 || len(parts) == 3 && days == 0 {
		return readTime{}, false
	}
	r, ok := date(year, strconv.Itoa(month), day)
	if days == 0 {
		r.grain = grainMonth
		return r, ok && clock == ""
	}
	if !ok {
		return r, false
	}
	return r.withClock(clock)
}

// monthOf returns the number of a month by its English name, or the first three letters
// or more of it; 0 for other words.
func monthOf(word string) int {
	if len(word) < 3 {
		return 0
	}
	for m, name := range monthNames {
		if word = strings.ToLower(word); strings.HasPrefix(name, word) || name == "september" && word == "sept" {
			return m + 1
		}
	}
	return 0
}

// detectForm returns the form in which most of the texts are written, and the share of
// those that are. It is none if no form fits half of them. Of two forms that fit
// alike and differ in meaning, both are returned: 03/04/2024.
func detectForm(texts []string, name string) (form, other timeForm, share float64) {
	var all []string
	for _, text := range texts {
		if wordState([]byte(text)) != numberMissing {
			all = append(all, text)
		}
	}
	count := func(f timeForm) (n int) {
		for _, text := range all {
			if _, ok := f.parse(text, false); ok {
				n++
			} else if _, ok := f.parse(text, true); ok {
				n++
			}
		}
		return n
	}
	best := 0
	for f := formNumber; f <= formClock; f++ {
		switch n := count(f); {
		case n > best:
			form, other, best = f, formNone, n
		case n == best && n > 0 && form == formDayFirst && f == formMonthFirst && differ(all):
			other = f
		}
	}
	if 2*best < len(all) || best == 0 {
		return formNone, formNone, 0
	}
	if form == formNumber {
		for _, f := range specialNumbers(name) {
			if count(f) == len(all) {
				form = f
				break
			}
		}
	}
	return form, other, float64(best) / float64(len(all))
}

// specialNumbers are the forms that numbers of a column of this name may have.
func specialNumbers(name string) (forms []timeForm) {
	w := words(name)
	if anyOf(w, strings.Fields("date day time datetime yyyymmdd period week")) || name == "" {
		forms = append(forms, formCompact)
	}
	if anyOf(w, strings.Fields("month yyyymm period yearmonth")) {
		forms = append(forms, formCompactMonth)
	}
	if anyOf(w, strings.Fields("timestamp ts epoch unix unixtime time datetime")) {
		forms = append(forms, formSeconds, formMillis)
	}
	return forms
}

// differ reports whether the order of day and month matters to one of the texts.
func differ(texts []string) bool {
	for _, text := range texts {
		a, one := parseYearLast(text, false)
		b, two := parseYearLast(text, true)
		if one && two && a.at != b.at {
			return true
		}
	}
	return false
}
