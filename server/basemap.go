package server

import (
	"errors"
	"net/http"
	"strconv"

	"grfgp/server/pmtiles"
)

// basemapView is the map that lies under graphs with latitudes and longitudes.
type basemapView struct {
	Type        pmtiles.Type `json:"type"`
	MinZoom     int          `json:"min_zoom"`
	MaxZoom     int          `json:"max_zoom"`
	Bounds      []float64    `json:"bounds"` // west, south, east, north, in degrees
	Name        string       `json:"name,omitempty"`
	Attribution string       `json:"attribution,omitempty"`
	Version     string       `json:"version"` // of the tiles
}

// basemapView describes the background map; nil: there is none.
func (s *Server) basemapView() *basemapView {
	b := s.opts.Basemap
	if b == nil {
		return nil
	}
	return &basemapView{b.Type, b.MinZoom, b.MaxZoom, []float64{b.Bounds.West, b.Bounds.South, b.Bounds.East, b.Bounds.North}, b.Name,
		b.Attribution, b.Tag}
}

// showTile sends a tile. One that does not exist is no error, as most maps have gaps: the answer is
// empty. An address with the version of the tiles never changes.
func (s *Server) showTile(w http.ResponseWriter, r *http.Request) error {
	q := only(r, "version")
	if q.err != nil {
		return q.err
	}
	b := s.opts.Basemap
	if b == nil {
		return notFound.because("this server has no background map")
	}
	var at [3]int
	for k, name := range []string{"z", "x", "y"} {
		var err error
		if at[k], err = strconv.Atoi(r.PathValue(name)); err != nil {
			return notFound.because("tiles are named by three whole numbers: zoom, x and y")
		}
	}
	tile, err := b.Tile(at[0], at[1], at[2])
	switch {
	case errors.Is(err, pmtiles.ErrNoTile):
		tile = nil
	case err != nil:
		return err
	}
	if q.text("version") == b.Tag {
		w.Header().Set("Cache-Control", "private, max-age=31536000, immutable")
	} else if unchanged(w, r, b.Tag) {
		return nil
	}
	if tile == nil {
		w.WriteHeader(http.StatusNoContent)
		return nil
	}
	w.Header().Set("Content-Type", b.Type.MediaType())
	w.Write(tile) // an error means that the client went away
	return nil
}
