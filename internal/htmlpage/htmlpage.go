// Package htmlpage holds the head of every HTML report: style for screens, dark and
// light, and for paper, and a content policy that allows no requests, and no script but
// that of the page.
package htmlpage

import (
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"html/template"
)

//go:embed head.html
var head string

// New parses the template of a page. Its text begins with {{template "head" .}}, which
// shows the field Title of the data, and may contain {{script}} within a script element:
// the given script, the only one that the content policy lets run. Without a script none
// runs.
func New(name, text, script string) *template.Template {
	policy := ""
	if script != "" {
		sum := sha256.Sum256([]byte(script))
		policy = "; script-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
	}
	t := template.New(name).Funcs(template.FuncMap{
		"scriptPolicy": func() string { return policy },
		"script":       func() template.JS { return template.JS(script) },
	})
	return template.Must(template.Must(t.Parse(head)).Parse(text))
}
