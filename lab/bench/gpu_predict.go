package bench

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"grfgp/lab/dataset"
)

// GridJob is a prediction at all nodes of a grid: the program packs the graph, and predicts
// from the packed file on the card and, unless alone, on the processor.
type GridJob struct {
	Edges   func(w io.Writer) error               // writes the edge list
	Given   func(w io.Writer) error               // writes the measurements
	Alone   bool                                  // leave out the processor
	Compare func(card, processor io.Reader) error // reads both answers, CSV
}

// GridCost is what a job cost.
type GridCost struct {
	Pack      float64    `json:"pack_seconds"` // reading the edge list and packing the graph, once
	Card      Predicted  `json:"card"`
	Processor *Predicted `json:"processor,omitempty"`
}

// Predicted is the cost of a whole prediction, in a process of its own.
type Predicted struct {
	MediumCost
	Stages []StageTime `json:"stages"`
}

// StageTime is the time of a stage that the program reports.
type StageTime struct {
	Name    string  `json:"name"`
	Seconds float64 `json:"seconds"`
}

// CardPredict is a prediction at all nodes of a grid.
type CardPredict struct {
	Nodes    int `json:"nodes"`
	Edges    int `json:"edges"`
	Measured int `json:"measured"`
	GridCost
	SpeedUp    float64         `json:"speed_up,omitempty"` // over the processor
	Difference *GridDifference `json:"difference,omitempty"`
}

// GridDifference is that of the card to the processor, at most.
type GridDifference struct {
	Mean float64 `json:"mean"` // in standard deviations
	SD   float64 `json:"sd"`   // relative
}

func cardPredict(ctx context.Context, o GPUOptions) (*CardPredict, error) {
	nodes, measured := 3162*3162, 1000
	if o.Quick {
		nodes, measured = 20*20, 60
	}
	t, err := smoothOn(square)(ctx, dataset.Store{}, nodes, measured, o.Seed)
	if err != nil {
		return nil, err
	}
	c := &CardPredict{Nodes: t.graph.Len(), Edges: t.graph.Edges(), Measured: len(t.given)}
	job := GridJob{Edges: t.writeEdges, Given: t.writeGiven, Alone: o.Alone, Compare: func(card, processor io.Reader) (err error) {
		c.Difference, err = compareAnswers(card, processor)
		return err
	}}
	if c.GridCost, err = o.Predict(ctx, job); err != nil {
		return nil, err
	}
	if c.Processor != nil {
		c.SpeedUp = c.Processor.Seconds / c.Card.Seconds
	}
	return c, nil
}

// compareAnswers reads two answers of predict for the same nodes.
func compareAnswers(got, want io.Reader) (*GridDifference, error) {
	a, err := newAnswerReader(got)
	if err != nil {
		return nil, err
	}
	b, err := newAnswerReader(want)
	if err != nil {
		return nil, err
	}
	d := &GridDifference{}
	for rows := 0; ; rows++ {
		x, errA := a.next()
		y, errB := b.next()
		switch {
		case errA == io.EOF && errB == io.EOF && rows > 0:
			return d, nil
		case errA != nil || errB != nil:
			return nil, fmt.Errorf("row %d of the answers: %w", rows+1, errors.Join(errA, errB))
		case x.node != y.node:
			return nil, fmt.Errorf("row %d of the answers is for the nodes %q and %q", rows+1, x.node, y.node)
		}
		// The built-in max keeps NaN.
		d.Mean = max(d.Mean, math.Abs(x.mean-y.mean)/y.sd)
		d.SD = max(d.SD, math.Abs(x.sd-y.sd)/y.sd)
	}
}

// answerReader reads the rows of an answer in CSV, whose ids have no quotes.
type answerReader struct {
	in             *bufio.Reader
	node, mean, sd int // columns
}

type answerRow struct {
	node     string
	mean, sd float64
}

func newAnswerReader(in io.Reader) (*answerReader, error) {
	r := &answerReader{in: bufio.NewReaderSize(in, 1<<20)}
	head, err := r.in.ReadString('\n')
	if err != nil {
		return nil, fmt.Errorf("an answer without rows: %w", err)
	}
	at := map[string]int{}
	for c, name := range strings.Split(strings.TrimSpace(head), ",") {
		at[name] = c + 1
	}
	r.node, r.mean, r.sd = at["node"]-1, at["mean"]-1, at["sd"]-1
	if min(r.node, r.mean, r.sd) < 0 {
		return nil, fmt.Errorf("an answer with the columns %q", strings.TrimSpace(head))
	}
	return r, nil
}

func (r *answerReader) next() (row answerRow, err error) {
	line, err := r.in.ReadSlice('\n')
	if err != nil {
		return row, err
	}
	line = bytes.TrimSpace(line)
	for c := 0; len(line) > 0; c++ {
		var cell []byte
		cell, line, _ = bytes.Cut(line, []byte(","))
		switch c {
		case r.node:
			row.node = string(cell)
		case r.mean:
			row.mean, err = strconv.ParseFloat(string(cell), 64)
		case r.sd:
			row.sd, err = strconv.ParseFloat(string(cell), 64)
		}
		if err != nil || c >= max(r.node, r.mean, r.sd) {
			return row, err
		}
	}
	return row, errors.New("a row is too short")
}
