package formats

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// The files of numpy.save and of scipy.sparse.save_npz. Nodes are numbered from 0, as in
// Python.
var (
	npyFormat = &Format{
		Name:   "NumPy",
		Detect: func(_ string, head []byte) bool { return bytes.HasPrefix(head, []byte(npyMagic)) },
		Read:   readNPY,
	}
	npzFormat = &Format{
		Name: "NumPy archive",
		Detect: func(_ string, head []byte) bool {
			if len(head) < 30 || !bytes.HasPrefix(head, []byte("PK\x03\x04")) {
				return false
			}
			n := int(binary.LittleEndian.Uint16(head[26:]))
			return bytes.HasSuffix(head[30:min(30+n, len(head))], []byte(".npy"))
		},
		Read: readNPZ,
	}
)

const npyMagic = "\x93NUMPY"

// fromZero is the note about nodes without names.
const fromZero = "nodes are numbered from 0, as the rows of the array"

// array is one of numpy.
type array struct {
	name  string
	kind  byte // of a number: f, i, u or b; of a text: S or U
	size  int  // of an element in bytes
	order binary.ByteOrder
	shape []int
	byCol bool // as in Fortran
	data  []byte
}

var npyHeader = regexp.MustCompile(`^\{\s*'descr'\s*:\s*'([<>|=])([a-zA-Z])(\d+)'\s*,\s*'fortran_order'\s*:\s*(True|False)\s*,` +
	`\s*'shape'\s*:\s*\(([\d,\s]*)\)\s*,?\s*\}\s*$`)

// parseNPY reads a file of one array.
func parseNPY(name string, data []byte) (*array, error) {
	cut := fail(Damaged, name+" ends in the middle", "was the file cut short? fetch or write it again")
	if len(data) < 12 || !bytes.HasPrefix(data, []byte(npyMagic)) {
		return nil, cut
	}
	size, start := int(binary.LittleEndian.Uint16(data[8:])), 10
	if data[6] > 1 {
		size, start = int(binary.LittleEndian.Uint32(data[8:])), 12
	}
	if size > len(data)-start {
		return nil, cut
	}
	m := npyHeader.FindStringSubmatch(string(data[start : start+size]))
	if m == nil {
		return nil, fail(Unsupported, fmt.Sprintf("%s is an array whose elements are not plain numbers", name),
			"save an array of one type of numbers")
	}
	a := &array{name: name, kind: m[2][0], order: binary.LittleEndian, byCol: m[4] == "True", data: data[start+size:]}
	if m[1] == ">" {
		a.order = binary.BigEndian
	}
	a.size, _ = strconv.Atoi(m[3]) // too long: 0 or the largest
	if a.kind == 'U' {
		a.size *= 4
	}
	count := 1
	for _, text := range strings.Split(m[5], ",") {
		if text = strings.TrimSpace(text); text == "" {
			continue
		}
		n, err := strconv.Atoi(text)
		if err != nil || n < 0 || n > 0 && count > math.MaxInt/n/max(1, a.size) {
			return nil, fail(Damaged, fmt.Sprintf("%s has a shape of (%s)", name, m[5]), "write the file again")
		}
		a.shape = append(a.shape, n)
		count *= n
	}
	if len(a.data) != count*a.size {
		return nil, fail(Damaged, fmt.Sprintf("%s should hold %d elements, but has %d bytes", name, count, len(a.data)),
			"was the file cut short? fetch or write it again")
	}
	if !slices.Contains([]string{"f4", "f8", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "b1"}, m[2]+m[3]) && a.kind != 'S' &&
		a.kind != 'U' {
		return nil, fail(Unsupported, fmt.Sprintf("%s has elements of type %s%s", name, m[2], m[3]), "save it with astype(float)")
	}
	return a, nil
}

// len returns the number of elements.
func (a *array) len() int {
	if a.size == 0 {
		return 0
	}
	return len(a.data) / a.size
}

// whole reports whether the elements are whole numbers, false for yes or no.
func (a *array) whole() bool { return a.kind == 'i' || a.kind == 'u' }

// integer returns element i of an array of whole numbers.
func (a *array) integer(i int) int64 {
	b := a.data[i*a.size:]
	switch a.size {
	case 1:
		if a.kind == 'i' {
			return int64(int8(b[0]))
		}
		return int64(b[0])
	case 2:
		if a.kind == 'i' {
			return int64(int16(a.order.Uint16(b)))
		}
		return int64(a.order.Uint16(b))
	case 4:
		if a.kind == 'i' {
			return int64(int32(a.order.Uint32(b)))
		}
		return int64(a.order.Uint32(b))
	}
	return int64(a.order.Uint64(b))
}

// text returns element i as it would be written.
func (a *array) text(i int) string {
	switch a.kind {
	case 'f':
		if a.size == 4 {
			return strconv.FormatFloat(float64(math.Float32frombits(a.order.Uint32(a.data[4*i:]))), 'g', -1, 32)
		}
		return strconv.FormatFloat(math.Float64frombits(a.order.Uint64(a.data[8*i:])), 'g', -1, 64)
	case 'u':
		if a.size == 8 {
			return strconv.FormatUint(a.order.Uint64(a.data[8*i:]), 10)
		}
	case 'S':
		return string(bytes.TrimRight(a.data[i*a.size:(i+1)*a.size], "\x00"))
	case 'U':
		var text []rune
		for k := i * a.size; k < (i+1)*a.size; k += 4 {
			if r := a.order.Uint32(a.data[k:]); r != 0 {
				text = append(text, rune(r))
			}
		}
		return string(text)
	}
	return strconv.FormatInt(a.integer(i), 10)
}

// at returns the place of an element of a matrix.
func (a *array) at(i, j int) int {
	if a.byCol {
		return j*a.shape[0] + i
	}
	return i*a.shape[1] + j
}

// readNPY reads an adjacency matrix, a list of edges, or values of nodes.
func readNPY(ctx context.Context, in Input, _ Options) (*File, error) {
	a, err := parseNPY("the array", in.Data)
	if err != nil {
		return nil, err
	}
	switch {
	case len(a.shape) == 1:
		return a.vector(), nil
	case len(a.shape) == 2 && a.shape[0] == a.shape[1] && a.kind != 'S' && a.kind != 'U':
		return a.matrix(ctx)
	case len(a.shape) == 2 && (a.shape[1] == 2 || a.shape[1] == 3):
		return a.edges(func(k, j int) string { return a.text(a.at(k, j)) }, a.shape[0], a.shape[1]), nil
	case len(a.shape) == 2 && a.shape[0] == 2 && a.whole(): // as in PyTorch Geometric
		return a.edges(func(k, j int) string { return a.text(a.at(j, k)) }, a.shape[1], 2), nil
	}
	return nil, fail(Unsupported, fmt.Sprintf("is an array of shape %v: neither a square matrix, nor edges in 2 or 3 columns, nor a vector",
		a.shape),
		"save the adjacency matrix, or an array of source and target", "write a table with named columns as CSV")
}

// vector makes values of nodes.
func (a *array) vector() *File {
	t := &Table{Names: []string{"node", "value"}, Unit: "element"}
	for i := range a.len() {
		t.Rows = append(t.Rows, []string{strconv.Itoa(i), a.text(i)})
	}
	return &File{Nodes: t, Notes: []string{"nodes are numbered from 0, as the elements of the array"}}
}

// edges makes a list of edges, with a weight in the third column.
func (a *array) edges(cell func(k, j int) string, n, columns int) *File {
	t := &Table{Names: []string{"source", "target", "weight"}[:columns], Unit: "row"}
	for k := range n {
		row := make([]string, columns)
		for j := range row {
			row[j] = cell(k, j)
		}
		if a.kind == 'f' { // ids are whole numbers, which Python writes as 7.0
			row[0], row[1] = strings.TrimSuffix(row[0], ".0"), strings.TrimSuffix(row[1], ".0")
		}
		t.Rows = append(t.Rows, row)
	}
	return &File{Edges: t}
}

// matrix makes edges of a dense adjacency matrix. Zero is no edge.
func (a *array) matrix(ctx context.Context) (*File, error) {
	n := a.shape[0]
	m := entries{n: n}
	for i := range n {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		for j := range n {
			if v := a.text(a.at(i, j)); v != "0" && v != "-0" {
				m.add(i, j, v)
			}
		}
	}
	return m.file(), nil
}

// entries are those of an adjacency matrix.
type entries struct {
	n     int
	rows  [][]string
	upper []bool // the entry is not below the diagonal
	both  *mirror
}

// add takes an entry.
func (m *entries) add(i, j int, v string) {
	if m.both == nil {
		m.both = newMirror()
	}
	m.rows = append(m.rows, []string{strconv.Itoa(i), strconv.Itoa(j), v})
	m.upper = append(m.upper, m.both.add(int64(i), int64(j), v))
}

// file makes a list of edges of the entries: of a symmetric matrix every edge once.
func (m *entries) file() *File {
	symmetric := m.both == nil || m.both.same() && m.both.sameWeights()
	t := &Table{Names: []string{"source", "target", "weight"}, Unit: "edge"}
	notes, ones := []string{fromZero}, true
	for k, row := range m.rows {
		if ones = ones && row[2] == "1"; !symmetric || m.upper[k] {
			t.Rows = append(t.Rows, row)
		}
	}
	if !symmetric {
		notes = append(notes, "the matrix is not symmetric: directions are dropped")
	}
	if ones {
		t.Names = t.Names[:2]
		for k, row := range t.Rows {
			t.Rows[k] = row[:2]
		}
	}
	return &File{Edges: t, Nodes: lone(t, int64(m.n), 0), Notes: notes}
}

// readNPZ reads a sparse adjacency matrix of scipy.
func readNPZ(ctx context.Context, in Input, _ Options) (*File, error) {
	z, err := zip.NewReader(bytes.NewReader(in.Data), int64(len(in.Data)))
	if err != nil {
		return nil, fail(Damaged, "the archive cannot be opened: "+err.Error(), "was the file cut short? fetch or write it again")
	}
	const much, ratio = 16 << 20, 100 // sparse matrices are less repetitive
	size := uint64(0)
	for _, entry := range z.File {
		if size += entry.UncompressedSize64; size > much && size > ratio*uint64(len(in.Data)) || entry.UncompressedSize64 > math.MaxInt64/2 {
			return nil, fail(Content, fmt.Sprintf("it unpacks to more than %d times its size", ratio),
				"save it with compressed=False if that is right")
		}
	}
	arrays := map[string]*array{}
	var names []string
	for _, entry := range z.File {
		name := strings.TrimSuffix(entry.Name, ".npy")
		data, err := unzip(entry)
		if err != nil {
			return nil, err
		}
		if arrays[name], err = parseNPY(name, data); err != nil {
			return nil, err
		}
		names = append(names, name)
	}
	form := arrays["format"]
	if form == nil || form.len() != 1 || arrays["shape"] == nil || arrays["data"] == nil {
		return nil, fail(Unsupported, "holds the arrays "+strings.Join(names, ", ")+", and is not a sparse matrix",
			"save the adjacency matrix with scipy.sparse.save_npz, or one array with numpy.save")
	}
	return readSparse(ctx, form.text(0), arrays)
}

// unzip returns the content of a file in an archive.
func unzip(entry *zip.File) ([]byte, error) {
	broken := func(why string) error {
		return fail(Damaged, fmt.Sprintf("%s in the archive cannot be read: %s", entry.Name, why), "fetch or write the file again")
	}
	r, err := entry.Open()
	if err != nil {
		return nil, broken(err.Error())
	}
	defer r.Close()
	data, err := io.ReadAll(io.LimitReader(r, int64(entry.UncompressedSize64)+1))
	if err != nil {
		return nil, broken(err.Error())
	}
	return data, nil
}

// readSparse makes edges of the arrays of a sparse matrix.
func readSparse(ctx context.Context, form string, arrays map[string]*array) (*File, error) {
	for _, name := range map[string][]string{"csr": {"indices", "indptr"}, "csc": {"indices", "indptr"}, "coo": {"row", "col"}}[form] {
		if arrays[name] == nil || len(arrays[name].shape) != 1 || !arrays[name].whole() {
			return nil, fail(Damaged, "there is no array "+name+" of whole numbers", "write the file again")
		}
	}
	shape, data := arrays["shape"], arrays["data"]
	if shape.len() != 2 || !shape.whole() || shape.integer(0) != shape.integer(1) {
		return nil, fail(Content, "the matrix is not square", "save the adjacency matrix, whose rows and columns are the nodes")
	}
	if data.kind == 'S' || data.kind == 'U' {
		return nil, fail(Unsupported, "the entries of the matrix are texts", "save a matrix of numbers")
	}
	n := shape.integer(0)
	if n < 0 {
		return nil, fail(Damaged, "the matrix has a negative size", "write the file again")
	}
	if err := checkSize(0, n, int64(data.len())); err != nil {
		return nil, err
	}
	m := entries{n: int(n)}
	wrong := fail(Damaged, "the arrays of the matrix do not fit together", "write the file again")
	add := func(i, j int64, k int) bool {
		if i < 0 || j < 0 || i >= n || j >= n || k%4096 == 0 && ctx.Err() != nil {
			return false
		}
		m.add(int(i), int(j), data.text(k))
		return true
	}
	switch form {
	case "csr", "csc":
		indices, ptr := arrays["indices"], arrays["indptr"]
		if int64(ptr.len()) != n+1 || indices.len() != data.len() {
			return nil, wrong
		}
		for i := range n {
			lo, hi := ptr.integer(int(i)), ptr.integer(int(i)+1)
			if lo < 0 || hi < lo || hi > int64(data.len()) {
				return nil, wrong
			}
			for k := int(lo); k < int(hi); k++ {
				row, col := i, indices.integer(k)
				if form == "csc" {
					row, col = col, row
				}
				if !add(row, col, k) {
					return nil, orEnded(ctx, wrong)
				}
			}
		}
	case "coo":
		row, col := arrays["row"], arrays["col"]
		if row.len() != data.len() || col.len() != data.len() {
			return nil, wrong
		}
		for k := range data.len() {
			if !add(row.integer(k), col.integer(k), k) {
				return nil, orEnded(ctx, wrong)
			}
		}
	default:
		return nil, fail(Unsupported, fmt.Sprintf("the matrix is in the form %s", quote(form)),
			"save it as scipy.sparse.save_npz(path, m.tocsr())")
	}
	return m.file(), nil
}

// orEnded returns the error of a context that has ended, or else the given one.
func orEnded(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return err
}
