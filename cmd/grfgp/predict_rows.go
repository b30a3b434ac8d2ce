package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"slices"

	"grfgp"
	"grfgp/internal/ranks"
	"grfgp/internal/table"
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
	columns  []table.Column // without those of the node table
}

// measuredRow is what a row has of the measurements.
type measuredRow struct {
	value, exposure float64
	n               int
}

func (f *predictFlags) newRows(group *ranks.Group, d *modelData, m *grfgp.Model, periods []int, share grfgp.Share, p grfgp.Prediction) *predictRows {
	g := d.net.Graph
	r := &predictRows{predictFlags: f, d: d, m: m, periods: periods, ranks: group, share: share, p: p, measured: map[int]measuredRow{}, told: func(_, _ int64) {}}
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
		node := places[a] - k*g.Len()
		rows[a].Node, rows[a].Time, rows[a].number = g.IDs().At(node), time, node
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

// intervalsAtOnce is the number of rows after which an interruption is looked for: the interval
// of a count takes up to a millisecond.
const intervalsAtOnce = 512

// rowNumbers is the number of numbers of a row that the model gives.
const rowNumbers = 7

// numbers returns them.
func (r predictRow) numbers() [rowNumbers]float64 {
	above := 0.0
	if r.Above != nil {
		above = *r.Above
	}
	return [rowNumbers]float64{r.Mean, r.SD, r.Lower, r.Upper, r.ReadingLower, r.ReadingUpper, above}
}

// set sets them.
func (r *predictRow) set(to []float64, above bool) {
	r.Mean, r.SD, r.Lower, r.Upper, r.ReadingLower, r.ReadingUpper = to[0], to[1], to[2], to[3], to[4], to[5]
	if above {
		r.Above = &to[6]
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
	for lo := 0; lo < len(local); lo += intervalsAtOnce {
		hi := min(len(local), lo+intervalsAtOnce)
		if r.intervals(rows[lo:hi], r.d, r.p.Select(local[lo:hi])); ctx.Err() != nil {
			return nil, ctx.Err()
		}
	}
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

// intervals fills in mean, sd and interval of the quantity, the interval of a reading, and
// the probability of being above the threshold.
func (f *predictFlags) intervals(rows []predictRow, d *modelData, p grfgp.Prediction) {
	if f.aboveAsked {
		above := p.Above(f.above)
		for i := range rows {
			rows[i].Above = &above[i]
		}
	}
	lower, upper := p.Interval(f.level)
	from, to := p.ReadingInterval(f.level, f.exposureOfNew(d.data))
	for i := range rows {
		rows[i].Mean, rows[i].SD, rows[i].Lower, rows[i].Upper = p.Mean[i], p.SD[i], lower[i], upper[i]
		rows[i].ReadingLower, rows[i].ReadingUpper = from[i], to[i]
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
	if !a.json {
		return rows.writeTable(w, slices.Concat(rows.columns[:1:1], rows.known.head(), rows.columns[1:], rows.known.tail()), func(write func(table.Row) error) error {
			return rows.each(ctx, answer, write)
		})
	}
	return table.Compress(w, rows.out, func(w io.Writer) error {
		buffered := bufio.NewWriterSize(w, 1<<16)
		if err := a.predictionsJSON(ctx, buffered, answer, rows); err != nil {
			return err
		}
		return buffered.Flush()
	})
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
		for k := range group {
			group[k].nodeInfo = rows.known.info(group[k].number)
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

// columns returns those of a table of predictions, without those of the node table.
func (answer *predictAnswer) columns() []table.Column {
	all := []table.Column{{Name: "node"}}
	if answer.Time != nil {
		all = append(all, table.Column{Name: "time"})
	}
	all = append(all, figures("mean", "sd", "lower", "upper", "reading_lower", "reading_upper")...)
	all = append(all, table.Column{Name: "measured", Kind: table.Truth})
	all = append(all, figures("value")...)
	all = append(all, table.Column{Name: "n", Kind: table.Whole})
	if answer.Above != nil {
		all = append(all, figures("above")...)
	}
	if answer.other() {
		all = append(append(all, figures("exposure")...), table.Column{Name: "quantity"})
	}
	return all
}

// other reports whether values are not measurements on a continuous scale, taken as they are.
func (answer *predictAnswer) other() bool { return answer.Values != "" || answer.Change != "" }

// each writes the rows, with what is known of their nodes.
func (r *predictRows) each(ctx context.Context, answer *predictAnswer, write func(table.Row) error) error {
	var cells []table.Cell
	number := table.NumberCell
	for group, err := range r.groups(ctx) {
		if err != nil {
			return err
		}
		for _, row := range group {
			cells = r.known.appendHead(append(cells[:0], table.TextCell(row.Node)), row.number)
			if answer.Time != nil {
				cells = append(cells, table.TextCell(row.Time))
			}
			cells = append(cells, number(row.Mean), number(row.SD), number(row.Lower), number(row.Upper), number(row.ReadingLower), number(row.ReadingUpper),
				table.TruthCell(row.Measured), table.NumberAt(row.Value), table.WholeCell(row.N))
			if answer.Above != nil {
				cells = append(cells, table.NumberAt(row.Above))
			}
			if answer.other() {
				exposure := table.Cell{}
				if row.Exposure > 0 {
					exposure = number(row.Exposure)
				}
				cells = append(cells, exposure, table.TextCell(answer.Of))
			}
			cells = r.known.appendTail(cells, row.number)
			if err := write(table.Row{Cells: cells, Geometry: r.known.geometry(row.number)}); err != nil {
				return err
			}
		}
	}
	return nil
}
