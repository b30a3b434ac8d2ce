// Package web is the page of the server: files that need nothing from outside.
package web

import "embed"

// Files are index.html and what it loads, under assets.
//
//go:embed index.html all:assets
var Files embed.FS
