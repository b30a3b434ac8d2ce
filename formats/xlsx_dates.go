package formats

import (
	"encoding/xml"
	"math"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// xlsxDate says whether the numbers of a style are dates: Excel has no other sign of them.
type xlsxDate uint8

const (
	noDate   xlsxDate = iota
	dateOnly          // or with the time of day, if there is one
	timeOnly          // of a day
)

// readStyles finds the styles that show numbers as dates.
func (w *workbook) readStyles() error {
	custom := map[int]string{}
	inCells := false
	_, err := w.each("xl/styles.xml", func(_ *xml.Decoder, e xml.StartElement) error {
		switch e.Name.Local {
		case "numFmt":
			if id, err := strconv.Atoi(attr(e, "numFmtId")); err == nil {
				custom[id] = attr(e, "formatCode")
			}
		case "cellXfs":
			inCells = true
		case "cellStyleXfs", "cellStyles", "dxfs":
			inCells = false
		case "xf":
			if inCells {
				id, _ := strconv.Atoi(attr(e, "numFmtId")) // 0: general
				w.dates = append(w.dates, dateStyle(id, custom))
			}
		}
		return nil
	})
	return err
}

// Parts of a format that are no letters for parts of a date.
var formatLiterals = regexp.MustCompile(`"[^"]*"|\\.|_.|\*.|\[[^\]]*\]`)

// elapsed keeps [h], [m] and [s], hours and so on that may be more than a day, of the parts
// that are no letters for dates.
func elapsed(literal string) string {
	if inner := strings.Trim(strings.ToLower(literal), "[]"); inner != "" && strings.HasPrefix(literal, "[") &&
		strings.Trim(inner, "hms") == "" {
		return inner
	}
	return ""
}

// dateStyle says what the number format with an id shows.
func dateStyle(id int, custom map[int]string) xlsxDate {
	switch {
	case id >= 18 && id <= 21, id >= 45 && id <= 47:
		return timeOnly
	case id >= 14 && id <= 22, id >= 27 && id <= 36, id >= 50 && id <= 58:
		return dateOnly
	}
	code, _, _ := strings.Cut(custom[id], ";") // that of positive numbers
	code = strings.ToLower(formatLiterals.ReplaceAllStringFunc(code, elapsed))
	switch {
	case code == "" || strings.Contains(code, "general"):
		return noDate
	case strings.ContainsAny(code, "yd"), strings.Contains(code, "mmm"):
		return dateOnly
	case strings.ContainsAny(code, "hs"):
		return timeOnly
	}
	return noDate
}

// format writes a number of days as a date, with the time of day unless that is midnight.
func (k xlsxDate) format(days float64, from1904 bool) string {
	const last = 2958466 // the year 10000
	if !(days >= 0 && days < last) {
		return shortest(days, 64)
	}
	if k == timeOnly && days < 1 {
		return timeOfDay(days)
	}
	day := time.Date(1899, 12, 30, 0, 0, 0, 0, time.UTC)
	switch {
	case from1904:
		day = time.Date(1904, 1, 1, 0, 0, 0, 0, time.UTC)
	case days < 61: // before the 29 February 1900, which Excel believes in
		day = day.AddDate(0, 0, 1)
	}
	whole := math.Floor(days)
	millis := math.Round((days - whole) * 86400e3)
	at := day.AddDate(0, 0, int(whole)).Add(time.Duration(millis) * time.Millisecond)
	if millis == 0 {
		return at.Format(time.DateOnly)
	}
	return instant(at, false)
}

// timeOfDay writes a part of a day.
func timeOfDay(days float64) string {
	return time.Time{}.Add(time.Duration(math.Round(days*86400e3)) * time.Millisecond).Format("15:04:05.999")
}
