// Package web holds the web page of the server. It loads nothing from elsewhere.
package web

import "embed"

// Files are index.html and, under assets, the files that it loads.
//
//go:embed index.html all:assets
var Files embed.FS
