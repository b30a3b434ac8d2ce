package server

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io/fs"
	"mime"
	"net/http"
	"path"
	"strings"
	"sync"

	"grfgp/server/web"
)

// pageVersion is the name of the files of the page, made of all their contents. Addresses of
// assets have it, so that a browser never mixes the files of two versions, and answers tell
// it, so that a page that is still open notices that the server was upgraded.
var pageVersion = sync.OnceValue(func() string {
	sum := sha256.New()
	for _, name := range pageFiles() {
		body, _ := fs.ReadFile(web.Files, name) // it was listed
		sum.Write([]byte(name))
		sum.Write([]byte{0})
		sum.Write([]byte(fileTag(body)))
	}
	return hex.EncodeToString(sum.Sum(nil)[:8])
})

// pageFiles lists the files of the page, in order.
func pageFiles() (names []string) {
	fs.WalkDir(web.Files, ".", func(name string, d fs.DirEntry, err error) error { // no error: the files are in the program
		if err == nil && !d.IsDir() {
			names = append(names, name)
		}
		return err
	})
	return names
}

// versionHeader tells the version of the page.
const versionHeader = "Grfgp-Page"

// index sends the web page.
func (s *Server) index(w http.ResponseWriter, r *http.Request) error {
	return sendFile(w, r, "index.html", indexPage())
}

// indexPage is the page as it is sent. It names all its modules, so that a browser asks for them at
// once, and not for one after the other as they import each other.
var indexPage = sync.OnceValue(func() []byte {
	body, _ := fs.ReadFile(web.Files, "index.html")
	var links strings.Builder
	for _, name := range pageFiles() {
		if within, ok := strings.CutPrefix(name, "assets/"); ok && strings.HasSuffix(name, ".js") && !strings.HasPrefix(within, onDemand) {
			fmt.Fprintf(&links, "<link rel=\"modulepreload\" href=\"%s\">\n", name)
		}
	}
	body = bytes.Replace(body, []byte("</head>"), []byte(links.String()+"</head>"), 1)
	return bytes.ReplaceAll(body, []byte(`="assets/`), []byte(`="assets/`+pageVersion()+`/`))
})

// onDemand begins the names of assets that the page loads when somebody wants them, and the
// browser keeps from then on.
const onDemand = "basemap/"

// worker sends the script by which the page opens without a network, with the version and
// the addresses of what it keeps.
func (s *Server) worker(w http.ResponseWriter, r *http.Request) error {
	keep := []string{"./"}
	for _, name := range pageFiles() {
		if within, ok := strings.CutPrefix(name, "assets/"); ok && !strings.HasPrefix(within, onDemand) {
			keep = append(keep, "assets/"+pageVersion()+"/"+within)
		}
	}
	list, err := json.Marshal(keep)
	if err != nil {
		return err
	}
	body, _ := fs.ReadFile(web.Files, "worker.js")
	head := fmt.Sprintf("const version = %q;\nconst files = %s;\n", pageVersion(), list)
	return sendFile(w, r, "worker.js", append([]byte(head), body...))
}

// asset sends a file of the web page. Its address may have the version; then it never
// changes, and that of another version is not there.
func (s *Server) asset(w http.ResponseWriter, r *http.Request) error {
	name, versioned := strings.CutPrefix(r.PathValue("path"), pageVersion()+"/")
	body, err := fs.ReadFile(web.Files, "assets/"+name) // refuses names with ".."
	if err != nil {
		return notFound.because("there is no such file")
	}
	if versioned {
		h := w.Header()
		h.Set("Content-Type", fileType(name))
		h.Set("Cache-Control", "public, max-age=31536000, immutable")
		w.Write(body)
		return nil
	}
	return sendFile(w, r, name, body)
}

// sendFile sends a file of the web page that may change with the server.
func sendFile(w http.ResponseWriter, r *http.Request, name string, body []byte) error {
	w.Header().Set("Content-Type", fileType(name))
	if unchanged(w, r, fileTag(body)) {
		return nil
	}
	w.Write(body)
	return nil
}

// fileType returns the media type of a file, independent of the machine for those of the page.
func fileType(name string) string {
	if known, ok := fileTypes[path.Ext(name)]; ok {
		return known
	}
	return mime.TypeByExtension(path.Ext(name))
}

var fileTypes = map[string]string{
	".html": "text/html; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".css": "text/css; charset=utf-8", ".svg": "image/svg+xml",
	".png": "image/png", ".woff2": "font/woff2", ".webmanifest": "application/manifest+json",
}

// fileTag returns the ETag of a file.
func fileTag(body []byte) string {
	sum := sha256.Sum256(body)
	return hex.EncodeToString(sum[:12])
}
