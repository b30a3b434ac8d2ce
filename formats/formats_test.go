package formats

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
)

// readCase is a text and what a reader makes of it: its tables and notes, or its error.
type readCase struct {
	name, text string
	opts       Options
	want       string
}

func (c readCase) run(t *testing.T, format *Format, file string) {
	t.Run(c.name, func(t *testing.T) {
		if got := Detect(file, []byte(c.text)); got != format {
			t.Fatalf("detected as %v", got)
		}
		f, err := format.Read(context.Background(), Input{Name: file, Data: []byte(c.text)}, c.opts)
		got := ""
		if err != nil {
			var typed *Error
			if !errors.As(err, &typed) || len(typed.Remedies) == 0 {
				t.Fatalf("%#v", err)
			}
			got = err.Error()
		} else {
			got = f.String()
		}
		if got != c.want {
			t.Errorf("got\n%s\nwant\n%s", got, c.want)
		}
	})
}

// String returns a file in one line.
func (f *File) String() string {
	var parts []string
	for _, t := range []struct {
		name string
		*Table
	}{{"edges", f.Edges}, {"nodes", f.Nodes}, {"rows", f.Rows}} {
		if t.Table == nil {
			continue
		}
		text := fmt.Sprintf("%s by %s: %s", t.name, t.Unit, strings.Join(t.Names, ","))
		for _, row := range t.Rows {
			text += " / " + strings.Join(row, ",")
		}
		parts = append(parts, text)
	}
	return strings.Join(append(parts, f.Notes...), "; ")
}
