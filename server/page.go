package server

import (
	"math"
	"net/http"

	"grfgp/study"
)

// page is part of a list of items numbered from 1.
type page struct {
	after, limit int
	newest       bool // newest first; the page then begins below after
}

// pageOf reads the page that a request asks for.
func (s *Server) pageOf(q *query) page {
	p := page{newest: q.choice("order", "asc", "desc") == "desc"}
	first := 0
	if p.newest {
		first = math.MaxInt
	}
	p.after = q.count("after", first, 0, math.MaxInt)
	p.limit = q.count("limit", min(100, s.opts.Limits.Page), 1, s.opts.Limits.Page)
	return p
}

// listing describes how the trials or the observations of a study are listed.
type listing[T any] struct {
	name   string // of the items: field of the JSON object, end of the file name
	items  func(*study.State) []T
	number func(T) int
	header []string // of the CSV table
	row    func(T) []string
	view   func(*openStudy, []T) any // the items of a page in JSON; nil: as they are
}

// send answers with the wanted items: one page in JSON, or all of them in CSV.
func (l listing[T]) send(s *Server, w http.ResponseWriter, r *http.Request, q *query, wanted func(T) bool) error {
	p, format := s.pageOf(q), q.choice("format", "json", "csv")
	if q.err != nil {
		return q.err
	}
	o, err := s.named(r)
	if err != nil {
		return err
	}
	if format == "csv" {
		p.limit = math.MaxInt
	}
	var items []T
	var total, next int
	o.View(func(st *study.State) { items, total, next = l.page(p, l.items(st), wanted) })
	if format == "csv" {
		return table(w, o.name+"-"+l.name, l.header, func(row func(...string)) {
			for _, item := range items {
				row(l.row(item)...)
			}
		})
	}
	answer := map[string]any{l.name: items, "total": total}
	if l.view != nil {
		answer[l.name] = l.view(o, items)
	}
	if next > 0 {
		answer["next"] = next
	}
	return respond(w, http.StatusOK, answer)
}

// page returns the wanted items on a page, the number of wanted items in all, and
// the number after which the next page begins; 0: this is the last.
func (l listing[T]) page(p page, all []T, wanted func(T) bool) (items []T, total, next int) {
	items = []T{}
	last := 0
	for k := range all {
		if p.newest {
			k = len(all) - 1 - k
		}
		if !wanted(all[k]) {
			continue
		}
		total++
		number := l.number(all[k])
		if p.newest && number >= p.after || !p.newest && number <= p.after {
			continue
		}
		if len(items) == p.limit {
			next = last
			continue
		}
		items = append(items, all[k])
		last = number
	}
	return items, total, next
}
