package report

import (
	"encoding/json"
	"html"
	"io"
)

// markup is HTML. Constants are markup by themselves; data is not, and the compiler refuses it until text or
// asJSON has escaped it. Nothing else is converted to markup but what this program has drawn.
//
// There are no templates: they call methods by name, and the linker then keeps every exported method.
type markup string

// text escapes data, for elements and for attributes in double quotes.
func text(data string) markup { return markup(html.EscapeString(data)) }

// asJSON returns data for a script element: encoding/json escapes <, > and &.
func asJSON(data any) (markup, error) {
	b, err := json.Marshal(data)
	return markup(b), err
}

// sentences returns texts, each with a space behind it.
func sentences(all []string) (m markup) {
	for _, s := range all {
		m += text(s) + " "
	}
	return m
}

// isolated is a name whose direction of writing does not change that of what is beside it.
func isolated(name string) markup { return "<bdi>" + text(name) + "</bdi>" }

// cells are those of a row of a table: the first, and texts.
func cells(first markup, texts ...string) []markup {
	row := []markup{first}
	for _, s := range texts {
		row = append(row, text(s))
	}
	return row
}

// writer writes a page, and keeps the first error.
type writer struct {
	w   io.Writer
	err error
}

func (w *writer) add(parts ...markup) {
	for _, part := range parts {
		if w.err == nil {
			_, w.err = io.WriteString(w.w, string(part))
		}
	}
}

// list writes an element ul, whose attributes begin with a space.
func (w *writer) list(attributes markup, items []string) {
	w.add("<ul", attributes, ">")
	for _, s := range items {
		w.add("\n<li>", text(s), "</li>")
	}
	w.add("\n</ul>\n")
}

// th is the title of a column of a table, and the class of its cells: "t" for long texts, "c" for short ones.
type th struct{ title, class markup }

func (w *writer) table(headings []th, rows [][]markup) {
	classes := make([]markup, len(headings))
	w.add(`<div class="scroll"><table>`, "\n<thead><tr>")
	for k, h := range headings {
		if h.class != "" {
			classes[k] = ` class="` + h.class + `"`
		}
		w.add("<th", classes[k], ">", h.title, "</th>")
	}
	w.add("</tr></thead>\n<tbody>")
	for _, row := range rows {
		w.add("\n<tr>")
		for k, cell := range row {
			w.add("<td", classes[k], ">", cell, "</td>")
		}
		w.add("</tr>")
	}
	w.add("\n</tbody>\n</table></div>\n")
}

// facts writes a list of facts, with a gap in place of an empty one.
func (w *writer) facts(title markup, all facts) {
	w.add("<div>\n<h3>", title, "</h3>\n<dl>")
	for _, f := range all {
		if f == (Fact{}) {
			w.add("\n", `<div class="gap"></div>`)
		} else {
			w.add("\n<dt>", text(f.Name), "</dt><dd>", text(f.Text), "</dd>")
		}
	}
	w.add("\n</dl>\n</div>\n")
}

func (w *writer) figure(f figure) {
	w.add("<figure>\n", f.Picture)
	if f.Note != "" {
		w.add("<figcaption>", text(f.Note), "</figcaption>")
	}
	w.add("\n</figure>\n")
}
