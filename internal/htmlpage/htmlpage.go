// Package htmlpage holds the head of every HTML report: style for screens, dark and
// light, and for paper, and a content policy that allows no scripts and no requests.
package htmlpage

import (
	_ "embed"
	"html/template"
)

//go:embed head.html
var head string

// New parses the template of a page. Its text begins with {{template "head" .}}, which
// shows the field Title of the data.
func New(name, text string) *template.Template {
	return template.Must(template.Must(template.New(name).Parse(head)).Parse(text))
}
