package dataset

import (
	"compress/gzip"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
)

// eachRow calls row for every row of a CSV file, gzipped if its name ends in .gz, after
// checking the header. The slice is valid until the next call.
func eachRow(file, header string, row func(cells []string) error) error {
	f, err := os.Open(file)
	if err != nil {
		return fmt.Errorf("reading a table: %w", err)
	}
	defer f.Close()
	var r io.Reader = f
	if strings.HasSuffix(file, ".gz") {
		z, err := gzip.NewReader(f)
		if err != nil {
			return fmt.Errorf("%w: unpacking %s: %w", ErrDamaged, file, err)
		}
		r = z
	}
	table := csv.NewReader(r)
	table.ReuseRecord = true
	for line := 1; ; line++ {
		cells, err := table.Read()
		switch {
		case errors.Is(err, io.EOF) && line > 1:
			return nil
		case err != nil:
			return fmt.Errorf("%w: reading %s: %w", ErrDamaged, file, err)
		case line == 1 && strings.Join(cells, ",") != header:
			return fmt.Errorf("%w: %s has columns %q, want %q", ErrDamaged, file, strings.Join(cells, ","), header)
		case line > 1:
			if err := row(cells); err != nil {
				return fmt.Errorf("%w: %s, line %d: %w", ErrDamaged, file, line, err)
			}
		}
	}
}

// numbers parses cells as numbers.
func numbers(cells []string, into ...*float64) error {
	for k, x := range into {
		v, err := strconv.ParseFloat(cells[k], 64)
		if err != nil {
			return err
		}
		*x = v
	}
	return nil
}

// nodeBelow parses a node number.
func nodeBelow(cell string, nodes int) (int, error) {
	i, err := strconv.Atoi(cell)
	if err == nil && (i < 0 || i >= nodes) {
		err = fmt.Errorf("there is no node %d", i)
	}
	return i, err
}
