// Package pmtiles reads map tiles from archives in the PMTiles format, version 3: one file with a
// directory of tiles, which are pictures or vector tiles in the Web Mercator projection.
//
// An archive is read by ranges. What is in memory at a time is a directory, a tile, and the
// directories that were used last.
package pmtiles

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"io"
	"math"
	"regexp"
	"strings"
	"sync"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// Type is the kind of the tiles of an archive.
type Type string

// The kinds of tiles that are known.
const (
	MVT  Type = "mvt" // Mapbox Vector Tiles
	PNG  Type = "png"
	JPEG Type = "jpeg"
	WebP Type = "webp"
)

// MediaType is the type of tiles in HTTP.
func (t Type) MediaType() string {
	if t == MVT {
		return "application/vnd.mapbox-vector-tile"
	}
	return "image/" + string(t)
}

var (
	// ErrFormat is the error of a file that is no archive, or a damaged one.
	ErrFormat = errors.New("not a PMTiles archive of version 3")
	// ErrUnsupported is that of an archive with tiles or a compression that is not known.
	ErrUnsupported = errors.New("a PMTiles archive that cannot be used")
	// ErrNoTile says that an archive has no such tile.
	ErrNoTile = errors.New("there is no such tile")
)

// Sizes that no archive exceeds, so that a damaged one takes little memory.
const (
	headerSize     = 127
	mostPacked     = 16 << 20 // bytes of a directory, the metadata or a tile in the file
	mostDirectory  = 32 << 20 // bytes of a directory, unpacked
	mostMetadata   = 16 << 20
	mostTile       = 16 << 20
	deepest        = 4    // directories from the root to a tile
	highestZoom    = 26   // more would overflow the numbers of other programs
	mostKept       = 32   // directories in memory, besides the root
	mostKeptLength = 1e6  // entries of all of them
	degree         = 1e-7 // unit of the coordinates in the header
)

// Bounds are degrees of longitude and latitude.
type Bounds struct{ West, South, East, North float64 }

// Archive is an open archive. Its methods may be called at the same time.
type Archive struct {
	Type             Type
	MinZoom, MaxZoom int
	Bounds           Bounds
	Name             string
	Attribution      string // whom the map is by, in plain text
	Tag              string // differs between archives with different tiles

	file     io.ReaderAt
	size     uint64
	inner    compression // of directories and metadata
	packing  compression // of tiles
	leaves   section
	tiles    section
	root     directory
	mu       sync.Mutex
	kept     map[uint64]directory // by offset
	recent   []uint64             // offsets of kept, the one used last at the end
	keptSize int                  // entries in kept
}

// section is a part of the file.
type section struct{ offset, length uint64 }

type compression byte

const (
	plain   compression = 1
	gzipped compression = 2
	brotli  compression = 3
	zstded  compression = 4
)

// Open reads the header, the root directory and the metadata of an archive of so many bytes. The
// file is read as long as the archive is used.
func Open(file io.ReaderAt, size int64) (*Archive, error) {
	a := &Archive{file: file, size: uint64(max(0, size)), kept: map[uint64]directory{}}
	head, err := a.read(section{0, headerSize}, headerSize)
	if err != nil || !bytes.HasPrefix(head, []byte("PMTiles")) {
		if err != nil && !errors.Is(err, ErrFormat) {
			return nil, err
		}
		return nil, fmt.Errorf("%w: it does not begin with the header of one", ErrFormat)
	}
	if head[7] != 3 {
		return nil, fmt.Errorf("%w: its version is %d", ErrFormat, head[7])
	}
	at := func(offset int) section {
		return section{binary.LittleEndian.Uint64(head[offset:]), binary.LittleEndian.Uint64(head[offset+8:])}
	}
	root, metadata := at(8), at(24)
	a.leaves, a.tiles = at(40), at(56)
	if err := a.readKinds(head); err != nil {
		return nil, err
	}
	packedRoot, err := a.read(root, mostPacked)
	if err != nil {
		return nil, fmt.Errorf("the root directory: %w", err)
	}
	if a.root, err = a.unpackDirectory(packedRoot); err != nil {
		return nil, fmt.Errorf("the root directory: %w", err)
	}
	packedText, err := a.read(metadata, mostPacked)
	if err != nil {
		return nil, fmt.Errorf("the metadata: %w", err)
	}
	if err := a.readMetadata(packedText); err != nil {
		return nil, fmt.Errorf("the metadata: %w", err)
	}
	sum := sha256.New()
	for _, part := range [][]byte{head, packedRoot, packedText} {
		sum.Write(part)
	}
	a.Tag = hex.EncodeToString(sum.Sum(nil)[:12])
	return a, nil
}

// readKinds reads what the tiles are, and where.
func (a *Archive) readKinds(head []byte) error {
	a.inner, a.packing = compression(head[97]), compression(head[98])
	for what, c := range map[string]compression{"directories": a.inner, "tiles": a.packing} {
		if c != plain && c != gzipped && c != zstded {
			return fmt.Errorf("%w: its %s are compressed by %s; gzip, zstd and no compression can be read", ErrUnsupported, what, c)
		}
	}
	types := map[byte]Type{1: MVT, 2: PNG, 3: JPEG, 4: WebP}
	var known bool
	if a.Type, known = types[head[99]]; !known {
		return fmt.Errorf("%w: its tiles are of kind %d; vector tiles (MVT), PNG, JPEG and WebP can be drawn", ErrUnsupported, head[99])
	}
	a.MinZoom, a.MaxZoom = int(head[100]), int(head[101])
	if a.MinZoom > a.MaxZoom || a.MaxZoom > highestZoom {
		return fmt.Errorf("%w: its zooms are %d to %d", ErrFormat, a.MinZoom, a.MaxZoom)
	}
	coordinate := func(offset int) float64 { return degree * float64(int32(binary.LittleEndian.Uint32(head[offset:]))) }
	a.Bounds = Bounds{coordinate(102), coordinate(106), coordinate(110), coordinate(114)}
	if b := a.Bounds; !(b.West < b.East && b.South < b.North && b.West >= -180 && b.East <= 180 && b.South >= -90 && b.North <= 90) {
		return fmt.Errorf("%w: it spans longitudes %v to %v and latitudes %v to %v", ErrFormat, b.West, b.East, b.South, b.North)
	}
	return nil
}

func (c compression) String() string {
	switch c {
	case brotli:
		return "Brotli"
	case 0:
		return "an unknown method"
	}
	return fmt.Sprintf("method %d", byte(c))
}

// readMetadata reads the JSON object with the name and the attribution.
func (a *Archive) readMetadata(packed []byte) error {
	text, err := unpack(packed, a.inner, mostMetadata)
	if err != nil {
		return err
	}
	var m struct {
		Name        any `json:"name"`
		Attribution any `json:"attribution"`
	}
	if len(bytes.TrimSpace(text)) > 0 {
		if err := json.Unmarshal(text, &m); err != nil {
			return fmt.Errorf("%w: no JSON object: %v", ErrFormat, err)
		}
	}
	a.Name, a.Attribution = plainText(m.Name), plainText(m.Attribution)
	return nil
}

var htmlTags = regexp.MustCompile(`<[^<>]*>`)

// mostText is the length of a text that is shown.
const mostText = 300

// plainText is a text without the HTML that attributions often have; "" for what is no text.
func plainText(v any) string {
	s, ok := v.(string)
	if !ok {
		return ""
	}
	s = strings.Join(strings.Fields(html.UnescapeString(htmlTags.ReplaceAllString(s, " "))), " ")
	if letters := []rune(s); len(letters) > mostText {
		s = string(letters[:mostText]) + " …"
	}
	return strings.ToValidUTF8(s, "")
}

// Tile returns a tile, unpacked, or ErrNoTile.
func (a *Archive) Tile(zoom, x, y int) ([]byte, error) {
	if zoom < a.MinZoom || zoom > a.MaxZoom || x < 0 || y < 0 || x >= 1<<zoom || y >= 1<<zoom {
		return nil, ErrNoTile
	}
	number := numberOf(zoom, x, y)
	dir := a.root
	for range deepest {
		e, ok := dir.find(number)
		if !ok {
			return nil, ErrNoTile
		}
		if e.run > 0 {
			where, err := a.tiles.within(e)
			if err != nil {
				return nil, err
			}
			packed, err := a.read(where, mostPacked)
			if err != nil {
				return nil, fmt.Errorf("the tile %d/%d/%d: %w", zoom, x, y, err)
			}
			return unpack(packed, a.packing, mostTile)
		}
		var err error
		if dir, err = a.leaf(e); err != nil {
			return nil, fmt.Errorf("the directory of the tile %d/%d/%d: %w", zoom, x, y, err)
		}
	}
	return nil, fmt.Errorf("%w: its directories are nested too deeply", ErrFormat)
}

// within returns the part of the file that an entry names.
func (s section) within(e entry) (section, error) {
	if e.offset > s.length || uint64(e.length) > s.length-e.offset || s.offset > math.MaxInt64-e.offset {
		return section{}, fmt.Errorf("%w: an entry of a directory leads out of its section", ErrFormat)
	}
	return section{s.offset + e.offset, uint64(e.length)}, nil
}

// leaf returns the directory that an entry names, from memory if it was used lately.
func (a *Archive) leaf(e entry) (directory, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if dir, ok := a.kept[e.offset]; ok {
		a.touch(e.offset)
		return dir, nil
	}
	where, err := a.leaves.within(e)
	if err != nil {
		return nil, err
	}
	packed, err := a.read(where, mostPacked)
	if err != nil {
		return nil, err
	}
	dir, err := a.unpackDirectory(packed)
	if err != nil {
		return nil, err
	}
	a.kept[e.offset] = dir
	a.recent = append(a.recent, e.offset)
	a.keptSize += len(dir)
	for len(a.recent) > 1 && (len(a.recent) > mostKept || a.keptSize > mostKeptLength) {
		a.keptSize -= len(a.kept[a.recent[0]])
		delete(a.kept, a.recent[0])
		a.recent = a.recent[1:]
	}
	return dir, nil
}

// touch makes a directory the one that was used last.
func (a *Archive) touch(offset uint64) {
	for k, o := range a.recent {
		if o == offset {
			a.recent = append(append(a.recent[:k:k], a.recent[k+1:]...), offset)
			return
		}
	}
}

// read returns a part of the file, of at most so many bytes.
func (a *Archive) read(s section, most uint64) ([]byte, error) {
	if s.offset > a.size || s.length > a.size-s.offset {
		return nil, fmt.Errorf("%w: it ends early, after %d bytes", ErrFormat, a.size)
	}
	if s.length > most {
		return nil, fmt.Errorf("%w: a part of it has %d bytes; more than %d are not read", ErrFormat, s.length, most)
	}
	body := make([]byte, s.length)
	if _, err := a.file.ReadAt(body, int64(s.offset)); err != nil && !(errors.Is(err, io.EOF) && s.length == 0) {
		if errors.Is(err, io.EOF) {
			return nil, fmt.Errorf("%w: it has become shorter since it was opened", ErrFormat)
		}
		return nil, err
	}
	return body, nil
}

// unpack undoes a compression; what unpacks to more than so many bytes is refused.
func unpack(packed []byte, how compression, most int64) ([]byte, error) {
	var body io.Reader = bytes.NewReader(packed)
	switch how {
	case gzipped:
		z, err := gzip.NewReader(body)
		if err != nil {
			return nil, fmt.Errorf("%w: gzip: %v", ErrFormat, err)
		}
		defer z.Close()
		body = z
	case zstded:
		z, err := zstd.NewReader(body, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(uint64(2*most)))
		if err != nil {
			return nil, fmt.Errorf("%w: zstd: %v", ErrFormat, err)
		}
		defer z.Close()
		body = z
	}
	out, err := io.ReadAll(io.LimitReader(body, most+1))
	if err != nil {
		return nil, fmt.Errorf("%w: it cannot be decompressed: %v", ErrFormat, err)
	}
	if int64(len(out)) > most {
		return nil, fmt.Errorf("%w: a part of it unpacks to more than %d bytes", ErrFormat, most)
	}
	return out, nil
}
