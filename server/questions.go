package server

import (
	"fmt"
	"slices"

	"grfgp/graphio"
)

// question is what must be known before a file can be used, as data: somebody chooses, and the
// files are read again with what the choice sets. Without choices the file must be changed.
type question struct {
	File    string       `json:"file"` // part of the form
	Code    graphio.Code `json:"code"` // that of the reader, or unknown, missing or kind
	Line    int64        `json:"line,omitempty"`
	Column  int          `json:"column,omitempty"`
	Text    string       `json:"text"`
	Advice  []string     `json:"advice,omitempty"` // what can be done about the file itself
	Choices []choice     `json:"choices,omitempty"`
	Columns []string     `json:"columns,omitempty"` // of the file, for choices whose value is open
}

// choice is one way to read a file.
type choice struct {
	Text string    `json:"text"`
	Set  []setting `json:"set"` // all of them together
}

// setting is an option of the form, with its value; "" if only the owner of the file can know
// it.
type setting struct {
	Option string       `json:"option"`
	Role   graphio.Role `json:"role,omitempty"` // with columns
	Value  string       `json:"value"`
}

// The codes of questions that the readers do not ask.
const (
	codeUnknown graphio.Code = "unknown" // some measurements are of nodes that the network does not have
	codeMissing graphio.Code = "missing" // some rows have no value
	codeKind    graphio.Code = "kind"    // values may be counts, or yes and no
)

// optionNames are the options of a file in a form, see fileOptions.
var optionNames = map[graphio.Option]string{
	graphio.OptionColumns: "columns", graphio.OptionDelimiter: "delimiter", graphio.OptionHeader: "header", graphio.OptionDecimal: "decimal",
	graphio.OptionBadRows: "bad_rows", graphio.OptionWeights: "weights", graphio.OptionRepeats: "repeats", graphio.OptionTimes: "times",
	graphio.OptionUnit: "unit", graphio.OptionMissing: "missing", graphio.OptionTable: "table",
}

// skipping is the choice that leaves rows out.
var skipping = choice{"leave these rows out", []setting{{Option: "bad_rows", Value: string(graphio.BadRowsSkip)}}}

// questionOf is an error of a reader as a question about a file of the form.
func questionOf(file string, e *graphio.Error) question {
	q := question{File: file, Code: e.Code, Line: e.Line, Column: e.Column, Text: e.What, Columns: e.Columns}
	if e.Unit != "" && e.Line > 0 { // not a line of text
		q.Line, q.Text = 0, fmt.Sprintf("%s %d: %s", e.Unit, e.Line, e.What)
	}
	q.Advice, q.Choices = choicesOf(e.Remedies)
	return q
}

// asksFor reports whether the question is which column has a role.
func (q question) asksFor(role graphio.Role) bool {
	return slices.ContainsFunc(q.Choices, func(c choice) bool {
		return slices.ContainsFunc(c.Set, func(s setting) bool { return s.Role == role })
	})
}

// choicesOf divides remedies into those that change the file and those that change how it is
// read. Those that studies do not have are left out.
func choicesOf(remedies []graphio.Remedy) (advice []string, choices []choice) {
	for _, r := range remedies {
		if len(r.Set) == 0 {
			advice = append(advice, r.Do)
			continue
		}
		c := choice{Text: r.Do}
		for _, s := range r.Set {
			name := optionNames[s.Option]
			times := s.Option == graphio.OptionTimes && s.Value == string(graphio.TimesKeep) || s.Role == graphio.RoleTime
			if name == "" || times {
				c.Set = nil
				break
			}
			if last := len(c.Set) - 1; s.Option == graphio.OptionMissing && last >= 0 { // several codes are one setting
				c.Set[last].Value += "," + s.Value
				continue
			}
			c.Set = append(c.Set, setting{name, s.Role, s.Value})
		}
		if c.Set != nil {
			choices = append(choices, c)
		}
	}
	return advice, choices
}

// notesOf are the warnings of a report, with what could be chosen instead.
func notesOf(file string, r *graphio.Report) (notes []question) {
	for _, w := range r.Warnings {
		n := question{File: file, Code: graphio.CodeContent, Text: w.What}
		n.Advice, n.Choices = choicesOf(w.Remedies)
		notes = append(notes, n)
	}
	return notes
}

// strangers is a question about rows of nodes that the network does not have.
func strangers(r *graphio.Report, o draftOptions) []question {
	if r.Ledger.Unknown == 0 || o.Files["measurements"].BadRows == graphio.BadRowsSkip {
		return nil
	}
	q := question{File: "measurements", Code: codeUnknown,
		Text: fmt.Sprintf("rows of nodes that are not in the network: %d", r.Ledger.Unknown), Choices: []choice{skipping}}
	for _, w := range r.Warnings {
		q.Advice = append(q.Advice, w.What)
	}
	return []question{q}
}

// doubts are questions about measurements that were read: rows that would be lost, and values
// that may not be numbers on a continuous scale. As on the command line, nothing is lost unasked.
func doubts(m *graphio.Measurements, o draftOptions) (all []question) {
	l, skip := m.Report.Ledger, o.Files["measurements"].BadRows == graphio.BadRowsSkip
	all = strangers(m.Report, o)
	if l.Missing > 0 && !skip {
		all = append(all, question{File: "measurements", Code: codeMissing, Text: fmt.Sprintf("rows without a value: %d", l.Missing),
			Choices: []choice{skipping}})
	}
	if o.Values == "" && !o.Exposures {
		if kind, why := m.Ask(); kind != graphio.KindNumber {
			all = append(all, question{File: "measurements", Code: codeKind, Text: why, Choices: []choice{
				{"take them for " + map[graphio.Kind]string{graphio.KindYesNo: "yes and no", graphio.KindCount: "counts"}[kind],
					[]setting{{Option: "values", Value: string(kind)}}},
				{"take them for numbers", []setting{{Option: "values", Value: "gaussian"}}},
			}})
		}
	}
	return all
}
