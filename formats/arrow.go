package formats

import (
	"bytes"
	"context"
)

// arrowFormat is the file format of Apache Arrow, also called Feather. It is recognized, but
// not read: the library for it would add much to the program, and every program that writes
// it writes Parquet.
var arrowFormat = &Format{
	Name: "Arrow",
	Detect: func(_ string, head []byte) bool {
		return bytes.HasPrefix(head, []byte("ARROW1\x00\x00")) || bytes.HasPrefix(head, []byte("FEA1"))
	},
	Read: func(context.Context, Input, Options) (*File, error) {
		return nil, fail(Unsupported, "is an Arrow (Feather) file, which is not read",
			"write it as Parquet with pandas: pandas.read_feather('FILE').to_parquet('NEW.parquet')",
			"with R: arrow::write_parquet(arrow::read_feather('FILE'), 'NEW.parquet')")
	},
}
