package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"

	"grfgp/internal/parallel"
	"grfgp/internal/table"
)

// relay makes blocks of rows, several at once, and writes them in their order. The blocks of
// a group are written while those of the next are made, so two groups are in memory.
type relay[B any] struct {
	fresh       func() B
	write       func(B) error
	full, spare []B
	left        int // full blocks that are not written yet
}

// next makes the blocks of a group of so many rows: fill sets a block to the rows [lo, hi).
func (r *relay[B]) next(ctx context.Context, rows int, fill func(b *B, lo, hi int) error) error {
	blocks := (rows + blockRows - 1) / blockRows
	for len(r.spare) < blocks {
		r.spare = append(r.spare, r.fresh())
	}
	made := r.spare
	err := parallel.Blocks(ctx, blocks+1, func(_, b int) error {
		if b == 0 {
			return r.flush()
		}
		return fill(&made[b-1], (b-1)*blockRows, min(rows, b*blockRows))
	})
	if err != nil {
		return err
	}
	r.full, r.spare, r.left = made, r.full, blocks
	return nil
}

// flush writes the blocks of the last group.
func (r *relay[B]) flush() error {
	for _, b := range r.full[:r.left] {
		if err := r.write(b); err != nil {
			return err
		}
	}
	return nil
}

// writePredictions writes the answer with its rows, which it makes on the way.
func (a *app) writePredictions(ctx context.Context, w io.Writer, answer *predictAnswer, rows *predictRows) error {
	s := a.Talk.Stage("writing")
	defer s.End()
	rows.told = s.Update
	if a.Ranks.Rank() > 0 {
		for _, err := range rows.groups(ctx) {
			if err != nil {
				return err
			}
		}
		return nil
	}
	if !a.JSON {
		return rows.writeTable(w, slices.Concat(rows.columns[:1:1], rows.known.head(), rows.columns[1:], rows.known.tail()),
			func(out table.Writer) error {
				return rows.writeTo(ctx, out, answer)
			})
	}
	return table.Compress(w, rows.out, func(w io.Writer) error {
		buffered := bufio.NewWriterSize(w, 1<<16)
		if err := rows.writeJSON(ctx, buffered, answer); err != nil {
			return err
		}
		return buffered.Flush()
	})
}

// writeTo writes the rows to a table, with what is known of their nodes.
func (r *predictRows) writeTo(ctx context.Context, out table.Writer, answer *predictAnswer) error {
	to := relay[table.Block]{fresh: out.NewBlock, write: out.WriteBlock}
	for group, err := range r.groups(ctx) {
		if err != nil {
			return err
		}
		err = to.next(ctx, len(group.places), func(b *table.Block, lo, hi int) error {
			(*b).Reset()
			var cells []table.Cell
			return r.eachRow(group, lo, hi, func(row *predictRow) error {
				cells = r.appendCells(cells[:0], answer, row)
				return (*b).Add(table.Row{Cells: cells, Geometry: r.known.geometry(row.number)})
			})
		})
		if err != nil {
			return err
		}
	}
	return to.flush()
}

// appendCells appends the cells of a row.
func (r *predictRows) appendCells(cells []table.Cell, answer *predictAnswer, row *predictRow) []table.Cell {
	number := table.NumberCell
	cells = r.known.appendHead(append(cells, table.TextCell(row.Node)), row.number)
	if answer.Time != nil {
		cells = append(cells, table.TextCell(row.Time))
	}
	cells = append(cells, number(row.Mean), number(row.SD), number(row.Lower), number(row.Upper), number(row.ReadingLower),
		number(row.ReadingUpper),
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
	return r.known.appendTail(cells, row.number)
}

// writeJSON writes what json.Marshal writes for an answer with all its rows, which
// come last.
func (r *predictRows) writeJSON(ctx context.Context, w io.Writer, answer *predictAnswer) error {
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
	some := false
	to := relay[[]byte]{fresh: func() []byte { return nil }, write: func(list []byte) error { // the rows in brackets
		list[0] = ','
		if !some {
			list = list[1:]
		}
		some = true
		_, err := w.Write(list[:len(list)-1])
		return err
	}}
	for group, err := range r.groups(ctx) {
		if err != nil {
			return err
		}
		err = to.next(ctx, len(group.places), func(b *[]byte, lo, hi int) error {
			rows := make([]predictRow, 0, hi-lo)
			if err := r.eachRow(group, lo, hi, func(row *predictRow) error {
				row.nodeInfo = r.known.info(row.number)
				rows = append(rows, *row)
				return nil
			}); err != nil {
				return err
			}
			list, err := json.Marshal(rows)
			*b = list
			return err
		})
		if err != nil {
			return err
		}
	}
	if err := to.flush(); err != nil {
		return err
	}
	_, err = io.WriteString(w, "]}\n")
	return err
}
