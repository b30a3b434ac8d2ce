// Package web holds the web page of the server. It loads nothing from elsewhere.
package web

import "embed"

// Files are index.html, under assets the files that it loads, and worker.js, by which it opens
// without a network.
//
//go:embed index.html worker.js all:assets
var Files embed.FS
