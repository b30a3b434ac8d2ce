package formats

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"grfgp/internal/geometry"
)

// shapefileFormat is a shapefile: shapes in FILE.shp, properties in FILE.dbf, the reference
// system in FILE.prj and the encoding of text in FILE.cpg.
var shapefileFormat = &Format{
	Name: "shapefile",
	Detect: func(_ string, head []byte) bool {
		return bytes.HasPrefix(head, []byte{0, 0, 0x27, 0x0a}) && len(head) >= 100 && head[28] == 0xe8 && head[29] == 0x03
	},
	Read:   readShapefile,
	ByPath: true,
}

func readShapefile(ctx context.Context, in Input, opts Options) (*File, error) {
	if in.Path == "" {
		return nil, fail(Unsupported, "is a shapefile without the files beside it, which hold the properties",
			"name the .shp file itself, or a zip archive of all its files")
	}
	if hasExtension(strings.ToLower(in.Path), ".shx") {
		return nil, fail(Unsupported, "is the index of a shapefile", "name the .shp file beside it")
	}
	dir, name := filepath.Split(in.Path)
	if dir == "" {
		dir = "."
	}
	return readShapefileIn(ctx, os.DirFS(dir), name, opts)
}

// readShapefileIn reads a shapefile and the files beside it, whose names differ in their endings.
func readShapefileIn(ctx context.Context, files fs.FS, name string, opts Options) (*File, error) {
	beside := func(ending string) ([]byte, error) {
		stem := strings.TrimSuffix(name, filepath.Ext(name))
		for _, e := range []string{ending, strings.ToUpper(ending), strings.TrimSuffix(name, stem) + ending} {
			data, err := readWhole(files, stem+e)
			if err == nil || !errors.Is(err, fs.ErrNotExist) {
				return data, err
			}
		}
		return nil, nil
	}
	parts := map[string][]byte{}
	for _, ending := range []string{".dbf", ".prj", ".cpg"} {
		data, err := beside(ending)
		if err != nil {
			return nil, &Error{Kind: Damaged, What: "the file " + ending + " beside it cannot be read",
				Remedies: []Remedy{{Do: "check its permissions"}}, Err: err}
		}
		parts[ending] = data
	}
	data, err := readWhole(files, name)
	if err != nil {
		return nil, &Error{Kind: Damaged, What: "cannot be read", Remedies: []Remedy{{Do: "check the disk"}}, Err: err}
	}
	l := newLayer()
	var rows [][]string
	if table := parts[".dbf"]; table != nil {
		if rows, err = l.readDBF(ctx, table, string(parts[".cpg"])); err != nil {
			return nil, err
		}
	} else {
		l.note("there is no file .dbf beside it: shapes have no properties")
	}
	if err := l.readShapes(ctx, data, rows, parts[".dbf"] != nil); err != nil {
		return nil, err
	}
	l.readReference(string(parts[".prj"]))
	return l.file(opts)
}

// readWhole reads a file without trust in its stated size, which a damaged archive may have
// wrong.
func readWhole(files fs.FS, name string) ([]byte, error) {
	f, err := files.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, fileLimit+1))
	if err == nil && int64(len(data)) > fileLimit {
		err = fmt.Errorf("%s is larger than %d GiB", name, int64(fileLimit)>>30)
	}
	return data, err
}

// fileLimit is that of a shapefile: offsets in it are 32-bit numbers of 16-bit words.
const fileLimit = 8 << 30

// readShapes adds the shapes of a .shp file; rows are their properties, nil for those that
// are marked as deleted.
func (l *layer) readShapes(ctx context.Context, data []byte, rows [][]string, hasRows bool) error {
	const header = 100
	if len(data) < header {
		return fail(Damaged, "the file .shp ends within its first 100 bytes", "fetch it again")
	}
	deleted := 0
	for at, n := header, 0; at < len(data); n++ {
		if n%1024 == 0 {
			if err := ctx.Err(); err != nil {
				return err
			}
		}
		if len(data)-at < 12 {
			return failFeature(int64(n+1), Damaged, "the file .shp ends in the middle", "the file was cut short: fetch it again")
		}
		size := 2 * int64(binary.BigEndian.Uint32(data[at+4:]))
		at += 8
		if size < 4 || size > int64(len(data)-at) {
			return failFeature(int64(n+1), Damaged, fmt.Sprintf("its size is given as %d bytes, but %d follow", size, len(data)-at),
				"the file was cut short or is damaged: fetch it again")
		}
		shape, err := readShape(data[at : at+int(size)])
		if err != nil {
			return failFeature(int64(n+1), Content, err.Error(), "correct or remove the feature")
		}
		at += int(size)
		var row []string
		if hasRows {
			if n >= len(rows) {
				return fail(Damaged, fmt.Sprintf("the file .shp has more shapes than the %d rows of the file .dbf", len(rows)),
					"the two files do not belong together: fetch them again")
			}
			if row = rows[n]; row == nil {
				deleted++
				continue
			}
		}
		l.add(feature{shape: shape, row: row})
	}
	if n := len(l.features) + l.empty + deleted; hasRows && n != len(rows) {
		return fail(Damaged, fmt.Sprintf("the file .shp has %d shapes, but the file .dbf %d rows", n, len(rows)),
			"the two files do not belong together: fetch them again")
	}
	if deleted > 0 {
		l.note("features marked as deleted: %d; left out", deleted)
	}
	return nil
}

// readShape reads the content of a record. Heights and measures come after what is used.
func readShape(data []byte) (*geometry.Shape, error) {
	s := &geometry.Shape{}
	kind := binary.LittleEndian.Uint32(data)
	data = data[4:]
	short := errors.New("its record is too short for its points")
	switch kind {
	case 0:
		return s, nil
	case 1, 11, 21:
		if len(data) < 16 {
			return nil, short
		}
		return s, s.AddPoint(pointAt(data))
	case 8, 28, 18:
		points, _, err := pointsAfter(data, 36, 32, 0)
		for _, p := range points {
			if err == nil {
				err = s.AddPoint(p)
			}
		}
		return s, err
	case 3, 13, 23, 5, 15, 25:
		if len(data) < 40 {
			return nil, short
		}
		parts := int64(binary.LittleEndian.Uint32(data[32:]))
		points, starts, err := pointsAfter(data, 40, 36, parts)
		if err != nil {
			return nil, err
		}
		var rings [][]geometry.Point
		for k, from := range starts {
			to := len(points)
			if k+1 < len(starts) {
				to = starts[k+1]
			}
			if from < 0 || from > to || to > len(points) {
				return nil, errors.New("its parts are not in order")
			}
			rings = append(rings, points[from:to:to])
		}
		if kind%10 == 3 {
			for _, line := range rings {
				if err := s.AddLine(line); err != nil {
					return nil, err
				}
			}
			return s, nil
		}
		for _, ring := range rings {
			if len(ring) == 0 {
				return nil, errors.New("a ring has no points")
			}
		}
		for _, polygon := range geometry.Polygons(rings) {
			if err := s.AddPolygon(polygon); err != nil {
				return nil, err
			}
		}
		return s, nil
	case 31:
		return nil, errors.New("it is a surface in space (MultiPatch), which is not read")
	}
	return nil, fmt.Errorf("its shape type %d is not known", kind)
}

// pointsAfter reads the starts of parts and the points of a shape. The number of points is
// at offset count, the starts at offset from, and the points follow.
func pointsAfter(data []byte, from, count int, parts int64) (points []geometry.Point, starts []int, err error) {
	if len(data) < from {
		return nil, nil, errors.New("its record is too short for its points")
	}
	n := int64(binary.LittleEndian.Uint32(data[count:]))
	if int64(from)+4*parts+16*n > int64(len(data)) {
		return nil, nil, fmt.Errorf("its record is too short for %d points", n)
	}
	for k := range int(parts) {
		starts = append(starts, int(int32(binary.LittleEndian.Uint32(data[from+4*k:]))))
	}
	data = data[from+4*int(parts):]
	for k := range int(n) {
		points = append(points, pointAt(data[16*k:]))
	}
	return points, starts, nil
}

func pointAt(data []byte) geometry.Point {
	return geometry.Point{X: math.Float64frombits(binary.LittleEndian.Uint64(data)),
		Y: math.Float64frombits(binary.LittleEndian.Uint64(data[8:]))}
}

var (
	projected  = regexp.MustCompile(`^\s*(?:PROJCS|PROJCRS|PROJECTEDCRS)\s*\[\s*"([^"]*)"`)
	linearUnit = regexp.MustCompile(`(?:LENGTH)?UNIT\s*\[\s*"([^"]*)"\s*,\s*([-+.0-9eE]+)`)
)

// readReference reads the reference system of a .prj file: degrees, or the unit of a plane.
func (l *layer) readReference(text string) {
	if text == "" {
		l.note("there is no file .prj beside it: whether coordinates are degrees follows from their size")
		return
	}
	m := projected.FindStringSubmatch(text)
	if m == nil {
		return // geographic, or judged by the size of the coordinates
	}
	unit := 1.0
	for _, u := range linearUnit.FindAllStringSubmatch(text, -1) {
		if x, err := strconv.ParseFloat(u[2], 64); err == nil && x > 0 && !strings.Contains(strings.ToLower(u[1]), "degree") {
			unit = x
		}
	}
	l.decide(m[1], unit)
}
