package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"math"
	"slices"
	"strconv"

	"gonum.org/v1/gonum/stat/distuv"

	"grfgp"
	"grfgp/internal/ranks"
)

// rowsAtOnce is the number of rows that are made and written together, so that memory
// does not grow with their number.
const rowsAtOnce = 1 << 14

// predictRows are the rows of an answer: predictions joined with measurements, by
// period, in the order of the user's file.
type predictRows struct {
	*predictFlags
	d        *modelData
	m        *grfgp.Model
	periods  []int
	ranks    *ranks.Group
	share    grfgp.Share
	p        grfgp.Prediction    // of the share
	measured map[int]measuredRow // by place
	told     func(done, total int64)
}

// measuredRow is what a row has of the measurements.
type measuredRow struct {
	value, exposure float64
	n               int
}

func (f *predictFlags) newRows(group *ranks.Group, d *modelData, m *grfgp.Model, periods []int, share grfgp.Share, p grfgp.Prediction) *predictRows {
	g := d.net.Graph
	r := &predictRows{f, d, m, periods, group, share, p, map[int]measuredRow{}, func(_, _ int64) {}}
	first := map[int]int{} // row of each period
	for k, period := range periods {
		first[period] = k * g.Len()
	}
	for k, place := range d.data.Nodes {
		node, period := grfgp.AtPlace(g, place)
		start, shown := first[period]
		if !shown {
			continue
		}
		row, n, weight := r.measured[start+node], 1, 1.0
		if d.data.Count != nil {
			n = d.data.Count[k]
			weight = float64(n)
		}
		sum := d.data.Y[k] * weight
		if d.data.Exposure != nil {
			sum, weight = d.data.Y[k], d.data.Exposure[k]
		}
		if row.n > 0 {
			sum += row.value * row.exposure
		}
		row.n += n
		row.exposure += weight
		row.value = sum / row.exposure
		r.measured[start+node] = row
	}
	return r
}

// groups yields the rows, some at a time. All ranks go through them together, and rank 0
// gets them.
func (r *predictRows) groups(ctx context.Context) iter.Seq2[[]predictRow, error] {
	return func(yield func([]predictRow, error) bool) {
		n := r.d.net.Graph.Len()
		for k := range r.periods {
			for lo := 0; lo < n; lo += rowsAtOnce {
				rows, err := r.group(ctx, k, lo, min(n, lo+rowsAtOnce))
				if err == nil {
					err = ctx.Err()
				}
				if !yield(rows, err) || err != nil {
					return
				}
				r.told(int64(k*n+lo), int64(len(r.periods)*n))
			}
		}
	}
}

// group returns the rows lo to hi of the k-th period, on rank 0.
func (r *predictRows) group(ctx context.Context, k, lo, hi int) ([]predictRow, error) {
	g := r.d.net.Graph
	places := make([]int, hi-lo)
	for a := range places {
		places[a] = k*g.Len() + g.FromInput(lo+a)
	}
	numbers, err := r.gather(ctx, places)
	if err != nil || r.ranks.Rank() > 0 {
		return nil, err
	}
	rows := make([]predictRow, hi-lo)
	time := r.d.time.name(r.periods[k])
	for a := range rows {
		rows[a].Node, rows[a].Time = g.IDs().At(places[a]-k*g.Len()), time
		if known, ok := r.measured[places[a]]; ok {
			rows[a].Measured, rows[a].N, rows[a].Value = true, known.n, &known.value
			if r.d.data.Exposure != nil {
				rows[a].Exposure = known.exposure
			}
		}
		rows[a].set(numbers[a*rowNumbers:], r.aboveAsked)
	}
	return rows, nil
}

// rowNumbers is the number of numbers of a row that the model gives.
const rowNumbers = 5

// numbers returns them.
func (r predictRow) numbers() [rowNumbers]float64 {
	above := 0.0
	if r.Above != nil {
		above = *r.Above
	}
	return [rowNumbers]float64{r.Mean, r.SD, r.Lower, r.Upper, above}
}

// set sets them.
func (r *predictRow) set(to []float64, above bool) {
	r.Mean, r.SD, r.Lower, r.Upper = to[0], to[1], to[2], to[3]
	if above {
		r.Above = &to[4]
	}
}

// gather returns the numbers of the rows at some places, on rank 0: each rank computes those of
// its share, and sends them.
func (r *predictRows) gather(ctx context.Context, places []int) ([]float64, error) {
	lo, hi := r.share.Range()
	var local []int
	for _, place := range places {
		if place >= lo && place < hi {
			local = append(local, place-lo)
		}
	}
	rows := make([]predictRow, len(local))
	r.intervals(rows, r.d, r.m, r.p.Select(local))
	own := make([]float64, 0, len(rows)*rowNumbers)
	for _, row := range rows {
		numbers := row.numbers()
		own = append(own, numbers[:]...)
	}
	if r.ranks.Alone() {
		return own, nil
	}
	in, out := make([][]float64, r.ranks.Size()), make([][]float64, r.ranks.Size())
	out[0] = own
	if r.ranks.Rank() > 0 {
		return nil, ranks.Exchange(ctx, r.ranks, in, out)
	}
	owners, counts := make([]int, len(places)), make([]int, r.ranks.Size())
	for a, place := range places {
		owners[a] = r.share.Owner(place)
		counts[owners[a]]++
	}
	for rank := range in {
		in[rank] = make([]float64, counts[rank]*rowNumbers)
	}
	if err := ranks.Exchange(ctx, r.ranks, in, out); err != nil {
		return nil, err
	}
	all := make([]float64, 0, len(places)*rowNumbers)
	for _, rank := range owners {
		all = append(all, in[rank][:rowNumbers]...)
		in[rank] = in[rank][rowNumbers:]
	}
	return all, nil
}

// intervals fills in mean, sd and interval, of the quantity or of a reading, and the
// probability of being above the threshold.
func (f *predictFlags) intervals(rows []predictRow, d *modelData, m *grfgp.Model, p grfgp.Prediction) {
	if f.aboveAsked {
		above := p.Above(f.above)
		for i := range rows {
			rows[i].Above = &above[i]
		}
	}
	mean, sd := p.Mean, p.SD
	var lower, upper []float64
	switch plain := m.Spec().Values == "" && m.Spec().Transform == ""; {
	case f.reading && plain:
		z := distuv.UnitNormal.Quantile(0.5 + f.level/2)
		for i := range rows {
			sd := math.Hypot(p.SD[i], m.NoiseSD())
			rows[i].Mean, rows[i].SD, rows[i].Lower, rows[i].Upper = mean[i], sd, mean[i]-z*sd, mean[i]+z*sd
		}
		return
	case f.reading:
		mean, sd, lower, upper = p.Measurements(f.level, f.exposureOfNew(d.data))
	default:
		lower, upper = p.Interval(f.level)
	}
	for i := range rows {
		rows[i].Mean, rows[i].SD, rows[i].Lower, rows[i].Upper = mean[i], sd[i], lower[i], upper[i]
	}
}

// writePredictions writes the answer with its rows, which it makes on the way.
func (a *app) writePredictions(ctx context.Context, w io.Writer, answer *predictAnswer, rows *predictRows) error {
	s := a.talk.Stage("writing")
	defer s.End()
	rows.told = s.Update
	if a.ranks.Rank() > 0 {
		for _, err := range rows.groups(ctx) {
			if err != nil {
				return err
			}
		}
		return nil
	}
	buffered := bufio.NewWriterSize(w, 1<<16)
	write := a.predictionsCSV
	if a.json {
		write = a.predictionsJSON
	}
	if err := write(ctx, buffered, answer, rows); err != nil {
		return err
	}
	return buffered.Flush()
}

// predictionsJSON writes what json.Marshal writes for an answer with all its rows, which
// come last.
func (a *app) predictionsJSON(ctx context.Context, w io.Writer, answer *predictAnswer, rows *predictRows) error {
	const empty = `"nodes":[]}`
	head, err := json.Marshal(answer)
	if err != nil {
		return err
	}
	if !bytes.HasSuffix(head, []byte(empty)) {
		return fmt.Errorf("the answer has rows, or something behind them: %.100q", head[max(0, len(head)-100):])
	}
	if _, err := w.Write(head[:len(head)-2]); err != nil {
		return err
	}
	comma := false
	for group, err := range rows.groups(ctx) {
		if err != nil {
			return err
		}
		text, err := json.Marshal(group)
		if err != nil {
			return err
		}
		text = text[1 : len(text)-1]
		if comma {
			text = append([]byte(","), text...)
		}
		comma = true
		if _, err := w.Write(text); err != nil {
			return err
		}
	}
	_, err = io.WriteString(w, "]}\n")
	return err
}

func (a *app) predictionsCSV(ctx context.Context, w io.Writer, answer *predictAnswer, rows *predictRows) error {
	out := csv.NewWriter(w)
	number := func(v float64) string { return strconv.FormatFloat(v, 'g', 8, 64) }
	other := answer.Values != "" || answer.Change != ""
	head := []string{"node", "mean", "sd", "lower", "upper", "measured", "value", "n"}
	if answer.Time != nil {
		head = slices.Insert(head, 1, "time")
	}
	if answer.Above != nil {
		head = append(head, "above")
	}
	if other {
		head = append(head, "exposure", "quantity")
	}
	if err := out.Write(head); err != nil {
		return err
	}
	for group, err := range rows.groups(ctx) {
		if err != nil {
			return err
		}
		for _, r := range group {
			value := ""
			if r.Value != nil {
				value = number(*r.Value)
			}
			cells := []string{r.Node, number(r.Mean), number(r.SD), number(r.Lower), number(r.Upper), strconv.FormatBool(r.Measured), value, strconv.Itoa(r.N)}
			if answer.Time != nil {
				cells = slices.Insert(cells, 1, r.Time)
			}
			if r.Above != nil {
				cells = append(cells, number(*r.Above))
			}
			if other {
				exposure := ""
				if r.Exposure > 0 {
					exposure = number(r.Exposure)
				}
				cells = append(cells, exposure, answer.Of)
			}
			if err := out.Write(cells); err != nil {
				return err
			}
		}
	}
	out.Flush()
	return out.Error()
}
