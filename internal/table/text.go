package table

import "io"

// textWriter writes rows as text. Every row but the first follows the separator, with which add begins it.
type textWriter struct {
	out       io.Writer
	add       func(to []byte, row Row) ([]byte, error) // appends a row; used by several goroutines at once
	separator int                                      // bytes
	end       string                                   // what Close writes
	own       textBlock
	rows      bool // some were written
}

// textBlock is the text of some rows.
type textBlock struct {
	add  func(to []byte, row Row) ([]byte, error)
	text []byte
}

func (b *textBlock) Reset() { b.text = b.text[:0] }

func (b *textBlock) Add(row Row) (err error) {
	b.text, err = b.add(b.text, row)
	return err
}

func (t *textWriter) NewBlock() Block { return &textBlock{add: t.add} }

func (t *textWriter) Write(row Row) error {
	t.own.add = t.add
	t.own.Reset()
	if err := t.own.Add(row); err != nil {
		return err
	}
	return t.WriteBlock(&t.own)
}

func (t *textWriter) WriteBlock(b Block) error {
	text := b.(*textBlock).text
	if len(text) == 0 {
		return nil
	}
	if !t.rows {
		text = text[t.separator:]
	}
	t.rows = true
	_, err := t.out.Write(text)
	return err
}

func (t *textWriter) Close() error {
	_, err := io.WriteString(t.out, t.end)
	return err
}
