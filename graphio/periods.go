package graphio

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"time"
)

// MaxPeriods is the largest number of periods unless another is asked for.
const MaxPeriods = 400

// Periods are the times of measurements as a list of distinct moments, or of stretches
// of time if there are too many.
type Periods struct {
	Of    []int     // the period of each value of the Measurements
	Times []float64 // where each period lies, in the unit of Measurements.Time: its time, or the middle of the stretch; increasing
	Names []string  // to show to people
	// what a period is: "time" for distinct times, "hour", "day", "week", "month", "quarter", "year", "10 years", or "stretch of 5"
	Step string

	from []float64
	cut  cutting
}

// Len returns the number of periods.
func (p *Periods) Len() int { return len(p.Times) }

// Find returns the period of a time, such as one that the user asks for; false if no
// measurement is in it.
func (p *Periods) Find(t float64) (int, bool) {
	from, _ := p.cut.bounds(t)
	return slices.BinarySearch(p.from, from)
}

// With returns periods that include the one of a time, such as a moment of which there is
// no measurement but a prediction is wanted, and the number of that period.
func (p *Periods) With(t float64) (*Periods, int) {
	k, has := p.Find(t)
	if has {
		return p, k
	}
	q := *p
	from, to := p.cut.bounds(t)
	q.from, q.Times = slices.Insert(slices.Clone(p.from), k, from), slices.Insert(slices.Clone(p.Times), k, from+(to-from)/2)
	q.Names, q.Of = slices.Insert(slices.Clone(p.Names), k, p.cut.name(from)), slices.Clone(p.Of)
	for a, of := range p.Of {
		if of >= k {
			q.Of[a]++
		}
	}
	return &q, k
}

// Periods returns the periods of the measurements, at most so many, but two at least; 0
// stands for MaxPeriods. Each distinct time is one, unless there are too many. Then a
// period is an hour; or the first of day, week (from Monday), month, quarter, year, 10,
// 100 and 1,000 years that gives few enough. Times that are numbers are put into
// stretches of 1, 2 or 5 times a power of ten. Periods without a measurement are left
// out. Without times the result is nil.
func (m *Measurements) Periods(most int) *Periods {
	if m.Time == nil {
		return nil
	}
	if most <= 0 {
		most = MaxPeriods
	}
	most = max(most, 2)
	times := slices.Compact(slices.Sorted(slices.Values(m.Time)))
	cuts := []cutting{{"time", func(t float64) (float64, float64) { return t, t }, m.TimeUnit.Format}}
	switch {
	case len(times) <= most:
	case m.TimeUnit.Dates:
		cuts = calendar(m.TimeUnit.form == formClock)
	default:
		cuts = stretches(times, most)
	}
	var p *Periods
	var of []int
	for _, cut := range cuts {
		if p, of = cut.periods(times); p.Len() <= most {
			break
		}
	}
	p.Of = make([]int, len(m.Time))
	for a, t := range m.Time {
		k, _ := slices.BinarySearch(times, t)
		p.Of[a] = of[k]
	}
	return p
}

// cutting is a way to cut time into periods.
type cutting struct {
	step   string
	bounds func(t float64) (from, to float64) // of the period of t
	name   func(from float64) string
}

// periods returns the periods of the given times, which are sorted, and that of each.
func (c cutting) periods(times []float64) (p *Periods, of []int) {
	p, of = &Periods{Step: c.step, cut: c}, make([]int, len(times))
	for k, t := range times {
		from, to := c.bounds(t)
		if n := len(p.from); n == 0 || p.from[n-1] != from {
			p.from = append(p.from, from)
			p.Times, p.Names = append(p.Times, from+(to-from)/2), append(p.Names, c.name(from))
		}
		of[k] = len(p.from) - 1
	}
	return p, of
}

// calendar are hours, days and so on; of times of day, hours alone.
func calendar(clock bool) []cutting {
	grain := func(g timeGrain) func(float64) string {
		return func(t float64) string { return g.format(t, clock, false) }
	}
	every := func(days, offset float64) func(float64) (float64, float64) {
		return func(t float64) (float64, float64) {
			k := math.Floor((t-offset)/days + 1e-8) // 13:00 may be rounded to just before it
			return offset + k*days, offset + (k+1)*days
		}
	}
	months := func(n int) func(float64) (float64, float64) {
		return func(t float64) (float64, float64) {
			d := dateOf(t)
			first := (12*d.Year() + int(d.Month()) - 1) / n * n
			at := func(m int) float64 { return dayOf(time.Date(m/12, time.Month(m%12+1), 1, 0, 0, 0, 0, time.UTC)) }
			return at(first), at(first + n)
		}
	}
	const monday = -3 // 29 December 1969
	cuts := []cutting{
		{"hour", every(1.0/24, 0), grain(grainMinute)},
		{"day", every(1, 0), grain(grainDay)},
		{"week", every(7, monday), grain(grainWeek)},
		{"month", months(1), grain(grainMonth)},
		{"quarter", months(3), grain(grainQuarter)},
		{"year", months(12), grain(grainYear)},
	}
	if clock {
		return cuts[:1]
	}
	for _, n := range []int{10, 100, 1000} {
		cuts = append(cuts, cutting{fmt.Sprintf("%d years", n), months(12 * n), func(t float64) string {
			year := dateOf(t).Year()
			return fmt.Sprintf("%d to %d", year, year+n-1)
		}})
	}
	return cuts
}

// stretches are those of numbers, of growing length, the last so long that there are at
// most so many.
func stretches(times []float64, most int) (cuts []cutting) {
	span := times[len(times)-1] - times[0]
	least := span
	for k := 1; k < len(times); k++ {
		least = min(least, times[k]-times[k-1])
	}
	least = max(least, span*1e-12)
	text := func(v float64) string { return strconv.FormatFloat(v, 'g', 6, 64) }
	for exponent := int(math.Floor(math.Log10(least))); ; exponent++ {
		for _, digit := range []float64{1, 2, 5} {
			width := digit * math.Pow10(exponent)
			if width < least {
				continue
			}
			cuts = append(cuts, cutting{"stretch of " + text(width),
				func(t float64) (float64, float64) {
					k := math.Floor(t / width)
					return k * width, (k + 1) * width
				},
				func(from float64) string { return text(from) + " to " + text(from+width) }})
			if span/width < float64(most-1) {
				return cuts
			}
		}
	}
}
