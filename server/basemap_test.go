package server_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"grfgp/server"
	"grfgp/server/pmtiles"
	"grfgp/server/pmtiles/pmtilestest"
)

// picture is the one tile of withBasemap: the server never looks into it.
const picture = "a picture of roads"

// withBasemap gives a server a background map of one tile.
func withBasemap(t *testing.T) func(*server.Options) {
	t.Helper()
	body := pmtilestest.Archive{
		Kind: 2, Packing: 2, Inner: 2, MaxZoom: 10, Bounds: [4]float64{-122.4, 37, -121.3, 37.8},
		Metadata: `{"attribution":"<a href=\"https://maps.example\">© Mapmakers</a>"}`,
		Tiles:    map[pmtilestest.Tile][]byte{{Zoom: 10, X: 165, Y: 397}: []byte(picture)},
	}.Bytes()
	archive, err := pmtiles.Open(bytes.NewReader(body), int64(len(body)))
	if err != nil {
		t.Fatal(err)
	}
	return func(o *server.Options) { o.Basemap = archive }
}

// Tiles are sent to those who may look, once; gaps are no errors.
func TestTiles(t *testing.T) {
	h, _, secrets := roleHost(t, withBasemap(t))
	key := with("Authorization: Bearer " + secrets["look"])
	var meta struct{ Basemap map[string]any }
	h.Must("GET", "/v1/meta", nil, &meta, key)
	if got := fmt.Sprintf("%v %v %v", meta.Basemap["type"], meta.Basemap["max_zoom"],
		meta.Basemap["attribution"]); got != "png 10 © Mapmakers" {
		t.Errorf("%v", meta.Basemap)
	}
	a := h.Must("GET", "/v1/basemap/10/165/397", nil, nil, key)
	if string(a.Body) != picture || a.Header.Get("Content-Type") != "image/png" || a.Header.Get("Cache-Control") != "private, no-cache" {
		t.Errorf("%d bytes, %v", len(a.Body), a.Header)
	}
	if again := h.Do("GET", "/v1/basemap/10/165/397", nil, key, with("If-None-Match: "+a.Header.Get("ETag"))); again.Status != 304 {
		t.Errorf("again: %d", again.Status)
	}
	kept := h.Must("GET", fmt.Sprintf("/v1/basemap/10/165/397?version=%s", meta.Basemap["version"]), nil, nil, key)
	if !strings.Contains(kept.Header.Get("Cache-Control"), "immutable") {
		t.Errorf("%v", kept.Header)
	}
	for _, path := range []string{"10/165/396", "9/0/0", "11/330/794", "10/-1/5", "10/5000/5"} {
		if a := h.Do("GET", "/v1/basemap/"+path, nil, key); a.Status != 204 || len(a.Body) != 0 {
			t.Errorf("%s: %d", path, a.Status)
		}
	}
	h.refused("not-found", 404, "GET", "/v1/basemap/10/a/5", nil, key)
	h.refused("unauthorized", 401, "GET", "/v1/basemap/10/165/397", nil, "Authorization: Bearer nobody-knows-this-one")
	plain := newHost(t)
	plain.refused("not-found", 404, "GET", "/v1/basemap/10/165/397", nil)
	plain.Must("GET", "/v1/meta", nil, &meta)
}
