package formats

import (
	"archive/zip"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"
)

// Zip archives are recognized by the names of files that they begin with.
var (
	zippedGTFSFormat = &Format{Name: "zipped GTFS", Read: readArchive, Detect: func(_ string, head []byte) bool {
		return isZip(head) && filesOfGTFS.Match(head)
	}}
	zippedShapefileFormat = &Format{Name: "zipped shapefile", Read: readArchive, Detect: func(_ string, head []byte) bool {
		return isZip(head) && filesOfShapes.Match(head)
	}}
	filesOfGTFS   = regexp.MustCompile(`\b(agency|calendar|calendar_dates|feed_info|routes|shapes|stops|stop_times|trips)\.txt`)
	filesOfShapes = regexp.MustCompile(`(?i)\.(shp|shx|dbf|prj|cpg)`)
)

func isZip(head []byte) bool { return bytes.HasPrefix(head, []byte("PK\x03\x04")) }

// archiveLimit is the largest unpacked size of an archive.
const archiveLimit = 1 << 30

func readArchive(ctx context.Context, in Input, opts Options) (*File, error) {
	z, err := zip.NewReader(bytes.NewReader(in.Data), int64(len(in.Data)))
	if err != nil {
		return nil, &Error{Kind: Damaged, What: "the zip archive is damaged (" + err.Error() + ")", Remedies: []Remedy{{Do: "fetch it again"}},
			Err: err}
	}
	size := uint64(0)
	for _, f := range z.File {
		size += f.UncompressedSize64
	}
	if size > archiveLimit {
		return nil, fail(Unsupported, fmt.Sprintf("is an archive of %d MiB when unpacked", size>>20), "unpack it and name the file inside")
	}
	file, err := readArchived(ctx, z, opts)
	if err != nil && (errors.Is(err, zip.ErrChecksum) || errors.Is(err, zip.ErrFormat) || errors.Is(err, zip.ErrAlgorithm)) {
		return nil, &Error{Kind: Damaged, What: "the zip archive is damaged (" + err.Error() + ")",
			Remedies: []Remedy{{Do: "fetch it again, or unpack it"}}, Err: err}
	}
	return file, err
}

func readArchived(ctx context.Context, z *zip.Reader, opts Options) (*File, error) {
	var shapes, folders []string
	for _, f := range z.File {
		if strings.HasPrefix(f.Name, "__MACOSX") || strings.HasPrefix(path.Base(f.Name), ".") || !fs.ValidPath(f.Name) {
			continue
		}
		if strings.EqualFold(path.Ext(f.Name), ".shp") {
			shapes = append(shapes, f.Name)
		}
		if path.Base(f.Name) == "stop_times.txt" {
			folders = append(folders, path.Dir(f.Name))
		}
	}
	if len(folders) == 1 {
		if files, err := fs.Sub(z, folders[0]); err == nil && isGTFS(files) {
			return readGTFS(ctx, files)
		}
	}
	slices.Sort(shapes)
	if opts.Table != "" {
		shapes = slices.DeleteFunc(shapes, func(name string) bool {
			return opts.Table != name && !strings.EqualFold(opts.Table, strings.TrimSuffix(path.Base(name), path.Ext(name)))
		})
	}
	switch len(shapes) {
	case 0:
		return nil, fail(Unsupported, "is a zip archive without a shapefile and without a timetable (GTFS)", "unpack it and name the file inside")
	case 1:
		return readShapefileIn(ctx, z, shapes[0], opts)
	}
	e := fail(Ambiguous, fmt.Sprintf("the archive holds %d shapefiles", len(shapes)))
	for _, name := range shapes[:min(len(shapes), 5)] {
		e.Remedies = append(e.Remedies, Remedy{Do: "say which", Option: "Table", Value: strings.TrimSuffix(path.Base(name), path.Ext(name))})
	}
	return nil, e
}
