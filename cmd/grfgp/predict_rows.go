package main

import (
	"context"
	"iter"

	"grfgp"
	"grfgp/internal/parallel"
	"grfgp/internal/ranks"
	"grfgp/internal/table"
)

// Rows are made and written some at a time, so that memory does not grow with their number: a
// group, in blocks that several processors work on. An interruption is looked for after each
// block: the interval of a count takes up to a millisecond.
const (
	groupRows = 1 << 16
	blockRows = 512
)

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
	exposed  float64             // exposure of a reading
	measured map[int]measuredRow // by place
	told     func(done, total int64)
	columns  []table.Column // without those of the node table
}

// measuredRow is what a row has of the measurements.
type measuredRow struct {
	value, exposure float64
	n               int
}

func (f *predictFlags) newRows(group *ranks.Group, d *modelData, m *grfgp.Model, periods []int, share grfgp.Share,
	p grfgp.Prediction) *predictRows {
	g := d.net.Graph
	r := &predictRows{predictFlags: f, d: d, m: m, periods: periods, ranks: group, share: share, p: p, exposed: f.exposureOfNew(d.data),
		measured: map[int]measuredRow{}, told: func(_, _ int64) {}}
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

// predictGroup is some rows of one period.
type predictGroup struct {
	time    string
	first   int       // place of the period's first node
	places  []int     // of the rows
	numbers []float64 // rowNumbers of each
}

// groups yields the rows, a group at a time, which is valid until the next. All ranks go
// through them together; rank 0 has their numbers.
func (r *predictRows) groups(ctx context.Context) iter.Seq2[*predictGroup, error] {
	return func(yield func(*predictGroup, error) bool) {
		g := r.d.net.Graph
		n, group := g.Len(), &predictGroup{}
		for k := range r.periods {
			group.time, group.first = r.d.time.name(r.periods[k]), k*n
			for lo := 0; lo < n; lo += groupRows {
				group.places = group.places[:0]
				for a := lo; a < min(n, lo+groupRows); a++ {
					group.places = append(group.places, group.first+g.FromInput(a))
				}
				err := r.gather(ctx, group)
				if err == nil {
					err = ctx.Err()
				}
				if !yield(group, err) || err != nil {
					return
				}
				r.told(int64(k*n+lo), int64(len(r.periods)*n))
			}
		}
	}
}

// eachRow calls do with the rows [lo, hi) of a group, each valid during its call.
func (r *predictRows) eachRow(group *predictGroup, lo, hi int, do func(row *predictRow) error) error {
	ids := r.d.net.Graph.IDs()
	var text []byte
	ends := make([]int, 0, hi-lo)
	for _, place := range group.places[lo:hi] {
		text = ids.Append(text, place-group.first)
		ends = append(ends, len(text))
	}
	names, start := string(text), 0 // of all rows: one string
	var row predictRow
	for a := lo; a < hi; a++ {
		place, numbers := group.places[a], group.numbers[a*rowNumbers:(a+1)*rowNumbers]
		row = predictRow{
			Node: names[start:ends[a-lo]], Time: group.time, number: place - group.first,
			Mean: numbers[0], SD: numbers[1], Lower: numbers[2], Upper: numbers[3], ReadingLower: numbers[4], ReadingUpper: numbers[5],
		}
		start = ends[a-lo]
		if r.aboveAsked {
			row.Above = &numbers[6]
		}
		if known, ok := r.measured[place]; ok {
			value := known.value
			row.Measured, row.N, row.Value = true, known.n, &value
			if r.d.data.Exposure != nil {
				row.Exposure = known.exposure
			}
		}
		if err := do(&row); err != nil {
			return err
		}
	}
	return nil
}

// rowNumbers is the number of numbers of a row that the model gives: mean, sd and interval of
// the quantity, the interval of a reading, and the probability of being above the threshold.
const rowNumbers = 7

// compute appends the numbers of the rows at some places of the share.
func (r *predictRows) compute(ctx context.Context, to []float64, at []int) ([]float64, error) {
	from := len(to)
	to = append(to, make([]float64, len(at)*rowNumbers)...)
	blocks := (len(at) + blockRows - 1) / blockRows
	err := parallel.Blocks(ctx, blocks, func(_, b int) error {
		for a := b * blockRows; a < min(len(at), (b+1)*blockRows); a++ {
			k, of := at[a], r.p.At(at[a])
			row := to[from+a*rowNumbers:][:rowNumbers]
			row[0], row[1] = r.p.Mean[k], r.p.SD[k]
			row[2], row[3] = of.Interval(r.level)
			row[4], row[5] = of.Measurement(r.exposed).Interval(r.level)
			if r.aboveAsked {
				row[6] = of.Above(r.above)
			}
		}
		return nil
	})
	return to, err
}

// gather sets the numbers of a group, on rank 0: each rank computes those of its share, and
// sends them.
func (r *predictRows) gather(ctx context.Context, group *predictGroup) error {
	lo, hi := r.share.Range()
	local := make([]int, 0, len(group.places))
	for _, place := range group.places {
		if place >= lo && place < hi {
			local = append(local, place-lo)
		}
	}
	own, err := r.compute(ctx, group.numbers[:0], local)
	if err != nil {
		return err
	}
	if r.ranks.Alone() {
		group.numbers = own
		return nil
	}
	in, out := make([][]float64, r.ranks.Size()), make([][]float64, r.ranks.Size())
	out[0] = own
	if r.ranks.Rank() > 0 {
		return ranks.Exchange(ctx, r.ranks, in, out)
	}
	owners, counts := make([]int, len(group.places)), make([]int, r.ranks.Size())
	for a, place := range group.places {
		owners[a] = r.share.Owner(place)
		counts[owners[a]]++
	}
	for rank := range in {
		in[rank] = make([]float64, counts[rank]*rowNumbers)
	}
	if err := ranks.Exchange(ctx, r.ranks, in, out); err != nil {
		return err
	}
	group.numbers = make([]float64, 0, len(group.places)*rowNumbers)
	for _, rank := range owners {
		group.numbers = append(group.numbers, in[rank][:rowNumbers]...)
		in[rank] = in[rank][rowNumbers:]
	}
	return nil
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
