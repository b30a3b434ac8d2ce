package graphio

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
)

// Every error about a file is an *Error and wraps ErrUsage or ErrData.
var (
	// ErrUsage: the file cannot be opened, an option does not fit it, or it can be
	// read in more than one way and an option must say which.
	ErrUsage = errors.New("cannot be read as asked")
	// ErrData: the file holds something that cannot be used.
	ErrData = errors.New("bad data")
	// ErrEmpty is wrapped, in addition to ErrData, by the error about a file without
	// rows; a header may be present.
	ErrEmpty = errors.New("empty file")
)

// Code is the kind of an [Error], for programs to act upon.
type Code string

// The kinds of errors. The first three wrap ErrUsage, the others ErrData.
const (
	CodeFile      Code = "file"      // the file cannot be opened
	CodeOption    Code = "option"    // an option has an unknown value, or one that does not fit the file
	CodeAmbiguous Code = "ambiguous" // the file can be read in several ways; the remedies list the options that decide
	CodeFormat    Code = "format"    // the file is in a format that is not read
	CodeDamaged   Code = "damaged"   // the file is cut short or damaged
	CodeEmpty     Code = "empty"     // the file has no rows; wraps ErrEmpty too
	CodeRow       Code = "row"       // a row cannot be used
	CodeIDs       Code = "ids"       // none of the ids is one of the graph or of the node table
	CodeContent   Code = "content"   // the rows are well formed, but do not make a graph or determine a model
)

// kinds returns the sentinels of a code.
func (c Code) kinds() []error {
	switch c {
	case CodeFile, CodeOption, CodeAmbiguous:
		return []error{ErrUsage}
	case CodeEmpty:
		return []error{ErrData, ErrEmpty}
	}
	return []error{ErrData}
}

// Table is the kind of table that a file was read as.
type Table string

// The kinds of tables.
const (
	TableEdges        Table = "edges"
	TableNodes        Table = "nodes"
	TableMeasurements Table = "measurements"
	TableLabels       Table = "labels"
)

// row returns the word for one row of the table.
func (t Table) row() string { return strings.TrimSuffix(string(t), "s") }

// Error says what is wrong with a file, where, and what to do about it.
type Error struct {
	Code     Code
	Table    Table // kind of table that was read; "" if that does not matter
	File     string
	Line     int64  // from 1; 0 if the error is about the whole file
	Column   int    // in characters from 1; 0 if the error is about the whole line
	Unit     string // of Line in a file of another program, such as "feature" or "row"; "" for a line of text
	What     string
	Remedies []Remedy // alternatives
	Columns  []string // of the file, as Options.Columns may name them; nil if they are not known
	Err      error    // the cause, if it is another error
}

// Error returns "file:line:column: what; remedies", or "file: row 12: what; remedies". Options have the names of the
// fields of Options.
func (e *Error) Error() string { return e.Text(Speller{}) }

// Text is Error with options written by say. Remedies that need an option for
// which say returns "" are left out.
func (e *Error) Text(say Speller) string {
	var b strings.Builder
	b.WriteString(e.File)
	if e.Line > 0 && e.Unit != "" {
		fmt.Fprintf(&b, ": %s %d", e.Unit, e.Line)
	} else if e.Line > 0 {
		fmt.Fprintf(&b, ":%d", e.Line)
		if e.Column > 0 {
			fmt.Fprintf(&b, ":%d", e.Column)
		}
	}
	b.WriteString(": ")
	b.WriteString(withRemedies(e.What, e.Table, e.Remedies, say))
	return b.String()
}

// Unwrap returns ErrUsage or ErrData, ErrEmpty for an empty file, and the cause.
func (e *Error) Unwrap() []error {
	if e.Err == nil {
		return e.Code.kinds()
	}
	return append(e.Code.kinds(), e.Err)
}

// Warning is a property of a file that its owner may not have intended.
type Warning struct {
	Table    Table
	What     string
	Remedies []Remedy
	Loss     bool // rows were skipped that somebody may miss: to be shown even where little is
}

// Text returns the warning with options written by say, as [Error.Text] does.
func (w Warning) Text(say Speller) string { return withRemedies(w.What, w.Table, w.Remedies, say) }

// String returns the warning; options have the names of the fields of Options.
func (w Warning) String() string { return w.Text(Speller{}) }

// MarshalText returns the warning without remedies that need an option.
func (w Warning) MarshalText() ([]byte, error) {
	return []byte(w.Text(withoutOptions)), nil
}

// UnmarshalText stores the text as What.
func (w *Warning) UnmarshalText(text []byte) error {
	*w = Warning{What: string(text)}
	return nil
}

// Remedy is one way to solve the problem: an action, with the options that carry it
// out, if any.
type Remedy struct {
	Do  string    // such as "leave such rows out"
	Set []Setting // all are needed together
}

// Setting is a value for an option.
type Setting struct {
	Option Option
	Role   Role   // with OptionColumns: which role
	Value  string // "" if only the owner of the file can know it
}

// Option names a field of [Options].
type Option string

// The options that remedies name. OptionReader is not a field: it asks for
// another function of this package, and Setting.Value is the name of that
// function.
const (
	OptionColumns   Option = "Columns"
	OptionDelimiter Option = "Delimiter"
	OptionHeader    Option = "Header"
	OptionDecimal   Option = "Decimal"
	OptionBadRows   Option = "BadRows"
	OptionUnknown   Option = "Unknown"
	OptionWeights   Option = "Weights"
	OptionKeepLoops Option = "KeepLoops"
	OptionRepeats   Option = "Repeats"
	OptionTimes     Option = "Times"
	OptionTable     Option = "Table"
	OptionReader    Option = "Reader"
)

// Speller writes settings in the form that the user knows, such as flags of a
// command or parameters of a request. The zero value writes the fields of
// Options.
type Speller struct {
	// Spell writes a setting for a file of the given kind of table. It returns "" if
	// the user has no such option.
	Spell func(table Table, s Setting) string
	// And is the text between settings that are needed together.
	And string
}

// all writes the settings of a remedy; false if the user lacks one of the options.
func (sp Speller) all(table Table, set []Setting) (string, bool) {
	var out []string
	for _, s := range set {
		text := sp.Spell(table, s)
		if text == "" {
			return "", false
		}
		out = append(out, text)
	}
	return strings.Join(out, sp.And), true
}

// inGo writes settings as a Go caller does, withoutOptions has none.
var (
	inGo           = Speller{goSetting, " and "}
	withoutOptions = Speller{func(Table, Setting) string { return "" }, ""}
)

func goSetting(_ Table, s Setting) string {
	switch {
	case s.Option == OptionReader:
		return s.Value
	case s.Option == OptionColumns && s.Value == "":
		return fmt.Sprintf("Options.Columns[%q]", s.Role)
	case s.Option == OptionColumns:
		return fmt.Sprintf("Options.Columns[%q] = %q", s.Role, s.Value)
	case s.Value == "":
		return "Options." + string(s.Option)
	}
	return fmt.Sprintf("Options.%s = %q", s.Option, s.Value)
}

// withRemedies returns "what; a, b, or c".
func withRemedies(what string, table Table, remedies []Remedy, say Speller) string {
	if say.Spell == nil {
		say = inGo
	}
	var ways []string
	last := ""
	for _, r := range remedies {
		text, ok := say.all(table, r.Set)
		switch {
		case !ok:
			continue
		case text == "":
			ways = append(ways, r.Do)
		case r.Do == last:
			ways[len(ways)-1] += " or " + text
		default:
			ways = append(ways, r.Do+" with "+text)
		}
		last = r.Do
	}
	switch n := len(ways); n {
	case 0:
		return what
	case 1:
		return what + "; " + ways[0]
	default:
		return what + "; " + strings.Join(ways[:n-1], ", ") + ", or " + ways[n-1]
	}
}

// do returns a remedy.
func do(what string, set ...Setting) Remedy { return Remedy{what, set} }

// nameColumn is the setting that names the column of a role; "" leaves the name open.
func nameColumn(role Role, name string) Setting { return Setting{OptionColumns, role, name} }

// skipRows is the remedy for bad rows that may be left out.
var skipRows = do("leave such rows out", Setting{Option: OptionBadRows, Value: string(BadRowsSkip)})

// quote shows a piece of a file: short, in one line, whatever is in it.
func quote(text []byte) string {
	const most = 40
	if len(text) <= most {
		return fmt.Sprintf("%q", text)
	}
	cut := most
	for cut > 0 && !utf8.RuneStart(text[cut]) {
		cut--
	}
	return fmt.Sprintf("%q…", text[:cut])
}

// list joins words as in "a, b or c".
func list(words []string, last string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:len(words)-1], ", ") + " " + last + " " + words[len(words)-1]
}

// counted returns "1 row" or "3 rows".
func counted[N int | int64](n N, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	if stem, ok := strings.CutSuffix(noun, "y"); ok {
		return fmt.Sprintf("%d %sies", n, stem)
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
