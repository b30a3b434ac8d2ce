// Package htmlpage holds the head of every HTML report: style for screens, dark and
// light, and for paper, and a content policy that allows no requests, and no script but
// that of the page.
package htmlpage

import (
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"html"
)

//go:embed style.css
var style string

// Head returns the HTML before the body of a page. The given script is the only one that the
// content policy lets run; without a script none runs.
func Head(title, script string) string {
	policy := "default-src 'none'; style-src 'unsafe-inline'; img-src data:"
	if script != "" {
		sum := sha256.Sum256([]byte(script))
		policy += "; script-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
	}
	return `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="` + policy + `">
<meta name="color-scheme" content="light dark">
<title>` + html.EscapeString(title) + `</title>
<style>
` + style + `</style>
</head>
`
}
