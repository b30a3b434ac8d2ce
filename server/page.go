package server

import "math"

// page is a part of a list of things that are numbered from 1.
type page struct {
	after, limit int
	newest       bool // the newest come first, and after means below
}

// pageOf reads which page is wanted.
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

// listed is a page of things.
type listed[T any] struct {
	items []T
	total int // of the whole list
	next  int // after which the next page begins; 0: this is the last
}

// listOf returns a page of what is wanted of all; wanted tells the number, too.
func listOf[T any](p page, all []T, wanted func(T) (number int, ok bool)) listed[T] {
	l := listed[T]{items: []T{}}
	last := 0
	for k := range all {
		if p.newest {
			k = len(all) - 1 - k
		}
		number, ok := wanted(all[k])
		if !ok {
			continue
		}
		l.total++
		if p.newest && number >= p.after || !p.newest && number <= p.after {
			continue
		}
		if len(l.items) == p.limit {
			l.next = last
			continue
		}
		l.items = append(l.items, all[k])
		last = number
	}
	return l
}

// as is the page in JSON, its items under a name.
func (l listed[T]) as(name string) map[string]any {
	m := map[string]any{name: l.items, "total": l.total}
	if l.next > 0 {
		m["next"] = l.next
	}
	return m
}
