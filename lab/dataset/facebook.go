package dataset

import (
	"context"
	"fmt"

	"grfgp/graph"
)

// Pages is the network of Facebook pages that like each other, with the type of every page.
type Pages struct {
	Graph   *graph.Graph
	Class   []int    // of every node
	Classes []string // names of the types
}

// pageTypes is the table of page types, which is beside the edges of the prepared form only.
const pageTypes = "snap/musae_facebook_page_type.csv.gz"

// Pages reads the pages and their types.
func (s Store) Pages(ctx context.Context) (*Pages, error) {
	set, err := Named("facebook")
	if err != nil {
		return nil, err
	}
	p, err := s.find(set)
	if err != nil {
		return nil, err
	}
	f := &Pages{Classes: []string{"company", "government", "politician", "tvshow"}}
	if f.Graph, err = set.load(ctx, p); err != nil {
		return nil, err
	}
	number := map[string]int{}
	for c, name := range f.Classes {
		number[name] = c
	}
	f.Class = make([]int, f.Graph.Len())
	for i := range f.Class {
		f.Class[i] = -1
	}
	err = eachRow(p.path(pageTypes), "id,page_type", func(row []string) error {
		i, known := f.Graph.IDs().Lookup([]byte(row[0]))
		c, named := number[row[1]]
		if !known || !named {
			return fmt.Errorf("%w: page %s of type %q", ErrDamaged, row[0], row[1])
		}
		f.Class[i] = c
		return nil
	})
	if err != nil && absent(err) {
		return nil, fmt.Errorf("%w: %s with the types of pages; put it beside the edges", ErrMissing, pageTypes)
	}
	for i, c := range f.Class {
		if err == nil && c < 0 {
			err = fmt.Errorf("%w: page %s has no type", ErrDamaged, f.Graph.IDs().At(i))
		}
	}
	if err != nil {
		return nil, set.withRemedy(p, err)
	}
	return f, nil
}
