package dataset

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"grfgp/covariate"
	"grfgp/graph"
	"grfgp/graphio"
)

// Known is a graph with values and covariates of all nodes. These data sets are not of
// the paper: they show what covariates and roles are good for.
type Known struct {
	Graph   *graph.Graph
	Value   []float64          // to be predicted; nil: Class is
	Class   []int              // numbers from 0; nil: Value is
	Classes int                // number of classes; 0: Value is to be predicted
	Columns []covariate.Column // what else is known of every node
}

// knownTable says how the table of nodes of a set is read.
type knownTable struct {
	edges, nodes, words string // paths; words "" if there are none
	header              string
	value, class        string   // column to be predicted; one of them
	columns             []string // that are covariates
	first               int      // number of the first node in the files
}

var knownTables = map[string]knownTable{
	"anaheim":           transportTable("anaheim"),
	"chicago":           transportTable("chicago"),
	"streamers-english": streamerTable("engb"),
	"streamers-spanish": streamerTable("es"),
	"cora-words": {
		edges: "cora_words/edges.csv.gz", nodes: "cora_words/labels.csv.gz", words: "cora_words/words.csv.gz",
		header: "node,class", class: "class",
	},
	"lip-cancer": {
		edges: "lip_cancer/edges.csv", nodes: "lip_cancer/districts.csv",
		header: "district,cases,expected,outdoor_work_percent", value: "cases", columns: []string{"expected", "outdoor_work_percent"}, first: 1,
	},
}

func transportTable(city string) knownTable {
	return knownTable{
		edges: "transport/" + city + "_edges.csv.gz", nodes: "transport/" + city + "_nodes.csv.gz",
		header: "node,from_junction,to_junction,capacity,length,free_flow_time,speed,type,volume", value: "volume",
		columns: []string{"capacity", "length", "free_flow_time", "speed", "type"},
	}
}

func streamerTable(language string) knownTable {
	return knownTable{
		edges: "twitch_small/" + language + "_edges.csv.gz", nodes: "twitch_small/" + language + "_nodes.csv.gz",
		header: "node,views,days,mature,partner", value: "views", columns: []string{"days", "mature", "partner"},
	}
}

// Known reads a data set with covariates: anaheim, chicago, streamers-english,
// streamers-spanish, cora-words or lip-cancer. Nodes have the numbers of the files, from
// 0 on.
func (s Store) Known(ctx context.Context, name string) (*Known, error) {
	set, err := Named(name)
	if err != nil {
		return nil, err
	}
	table, ok := knownTables[name]
	if !ok {
		return nil, fmt.Errorf("%w: %q has no covariates", ErrUnknown, name)
	}
	p, err := s.find(set)
	if err != nil {
		return nil, err
	}
	k := &Known{}
	if k.Graph, err = set.load(ctx, p); err != nil {
		return nil, err
	}
	if err := k.read(p, table); err != nil {
		return nil, set.withRemedy(p, err)
	}
	return k, nil
}

// readKnown returns a reader of the graph of a set with covariates.
func readKnown(name string) func(context.Context, location) (*graph.Graph, error) {
	return func(ctx context.Context, p location) (*graph.Graph, error) {
		return readByID(ctx, graphio.File(p.path(knownTables[name].edges)), graphio.Options{})
	}
}

// read reads the table of nodes, and the words.
func (k *Known) read(p location, t knownTable) error {
	n := k.Graph.Len()
	names := strings.Split(t.header, ",")
	cells := make([][]string, len(names))
	for j := range cells {
		cells[j] = make([]string, n)
	}
	rows := 0
	if err := eachRow(p.path(t.nodes), t.header, func(row []string) error {
		i, err := nodeBelow(row[0], n+t.first)
		if err != nil {
			return err
		}
		if i -= t.first; i < 0 {
			return fmt.Errorf("there is no node %s", row[0])
		}
		rows++
		for j, cell := range row {
			cells[j][i] = cell
		}
		return nil
	}); err != nil {
		return err
	}
	if rows != n {
		return fmt.Errorf("%w: %s has %d rows for %d nodes", ErrDamaged, p.path(t.nodes), rows, n)
	}
	for j, name := range names {
		switch name {
		case t.value:
			k.Value = make([]float64, n)
			for i, cell := range cells[j] {
				if err := numbers([]string{cell}, &k.Value[i]); err != nil {
					return fmt.Errorf("%w: %s: %w", ErrDamaged, p.path(t.nodes), err)
				}
			}
		case t.class:
			k.Class = make([]int, n)
			for i, cell := range cells[j] {
				c, err := strconv.Atoi(cell)
				if err != nil || c < 0 || c >= n {
					return fmt.Errorf("%w: %s: a class is %q", ErrDamaged, p.path(t.nodes), cell)
				}
				k.Class[i] = c
				k.Classes = max(k.Classes, c+1)
			}
		default:
			for _, chosen := range t.columns {
				if chosen == name {
					k.Columns = append(k.Columns, covariate.Detect(name, cells[j]))
				}
			}
		}
	}
	if t.words == "" {
		return nil
	}
	words := make([][]string, n)
	if err := eachRow(p.path(t.words), "node,word", func(row []string) error {
		i, err := nodeBelow(row[0], n)
		if err != nil {
			return err
		}
		words[i] = append(words[i], strings.Clone(row[1]))
		return nil
	}); err != nil {
		return err
	}
	k.Columns = append(k.Columns, covariate.NewWords("words", words))
	return nil
}
