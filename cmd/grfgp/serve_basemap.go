package main

import (
	"errors"
	"os"

	"grfgp/internal/cli"
	"grfgp/server/pmtiles"
)

// openBasemap opens the tiles of --basemap, which are read as long as the server runs.
func (f *serveFlags) openBasemap() (archive *pmtiles.Archive, end func(), err error) {
	const flag = "--basemap"
	if f.basemap == "" {
		return nil, func() {}, nil
	}
	file, err := os.Open(f.basemap)
	var info os.FileInfo
	if err == nil {
		info, err = file.Stat()
	}
	if err == nil && info.IsDir() {
		err = errors.New("it is a folder")
	}
	if err == nil {
		archive, err = pmtiles.Open(file, info.Size())
	}
	if err == nil {
		return archive, func() { file.Close() }, nil
	}
	if file != nil {
		file.Close()
	}
	const next = "give a file of map tiles, such as 'pmtiles extract' makes"
	if errors.Is(err, pmtiles.ErrFormat) || errors.Is(err, pmtiles.ErrUnsupported) {
		return nil, nil, cli.Dataf("%s %s: %w; %s", flag, f.basemap, err, next)
	}
	return nil, nil, cli.Unreadable(flag, f.basemap, err, next)
}
