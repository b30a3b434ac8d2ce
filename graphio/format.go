package graphio

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"grfgp/formats"
	"grfgp/internal/compression"
)

// unpack sets in.text. Compression, and files that are not text, are recognized by
// their first bytes and not by the name of the file.
func (in *input) unpack() error {
	raw := bufio.NewReaderSize(in.raw, 256<<10)
	head, err := peek(raw, 2048)
	if err != nil {
		return in.readError(err)
	}
	if len(head) == 0 {
		return in.fail(CodeEmpty, "the file is empty", do("write it again"), otherFile)
	}
	var text io.Reader = raw
	switch in.compression = compression.Detect(head); in.compression {
	case compression.Gzip:
		z, err := gzip.NewReader(raw)
		if err != nil {
			return in.readError(err)
		}
		text = z
	case compression.Zstd:
		z, err := zstd.NewReader(raw, zstd.WithDecoderConcurrency(1))
		if err != nil {
			return fmt.Errorf("unpacking %s: %w", in.name, err)
		}
		in.closers = append(in.closers, z.Close)
		text = z
	}
	in.text = bufio.NewReaderSize(text, lookAhead)
	if head, err = peek(in.text, lookAhead); err != nil {
		return in.readError(err)
	}
	if len(head) == 0 {
		return in.fail(CodeContent, fmt.Sprintf("the %s stream is empty", in.compression), do("compress the file again"), otherFile)
	}
	if in.compression != "" {
		in.path = ""
	}
	in.kind = formats.Detect(in.name, head)
	if what, next := notText(head); what != "" && in.kind == nil {
		return in.fail(CodeFormat, what, do(next))
	}
	if bytes.HasPrefix(head, []byte("\xef\xbb\xbf")) {
		if _, err := in.text.Discard(3); err != nil {
			return in.readError(err)
		}
	}
	return nil
}

// peek returns the first n bytes, or all where there are fewer.
func peek(r *bufio.Reader, n int) ([]byte, error) {
	head, err := r.Peek(n)
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return head, err
}

// notText recognizes files that are not text, and returns what to do with them.
func notText(head []byte) (what, next string) {
	has := func(magic string) bool { return bytes.HasPrefix(head, []byte(magic)) }
	within := func(text string) bool { return bytes.Contains(head[:min(len(head), 2048)], []byte(text)) }
	switch {
	case has("PK\x03\x04") && (within("[Content_Types].xml") || within("xl/") || within("opendocument")):
		return "is a spreadsheet, not text", "open it and save the sheet as CSV (UTF-8)"
	case has("PK\x03\x04"), has("PK\x05\x06"):
		return "is a zip archive", "unpack it and name the file inside"
	case has("\xd0\xcf\x11\xe0"):
		return "is an old Excel or Word file, not text", "open it and save the sheet as CSV (UTF-8)"
	case has("BZh"):
		return "is compressed with bzip2, which is not supported", "unpack it with bunzip2, or compress it with gzip or zstd"
	case has("\xfd7zXZ\x00"):
		return "is compressed with xz, which is not supported", "unpack it with unxz, or compress it with gzip or zstd"
	case compression.Detect(head) != "":
		return "is compressed twice", "unpack it once"
	case has("%PDF-"):
		return "is a PDF document", "name a file that holds the data as text"
	case has("MATLAB 5.0 MAT-file"):
		return "is a MATLAB file, which is not read", "save its adjacency matrix with Python: scipy.sparse.save_npz('net.npz', " +
			"scipy.io.loadmat('FILE')['A'])"
	case has("\x89HDF\r\n"):
		return "is an HDF5 file (MATLAB 7.3 and others), which is not read", "write the edges as CSV"
	case len(head) > 3 && head[0] == 0x80 && head[1] >= 2 && head[1] <= 5 && bytes.IndexByte(head, 0) > 0:
		return "is a Python pickle, which is not read: it is a program rather than data", "write the graph with networkx.write_graphml"
	case packedText(head):
		return "is a packed graph of grfgp, not text", "name it as the file of edges, itself and not as a stream or compressed; if it is, " +
			"another version wrote it: pack the graph again"
	case len(head) > 262 && string(head[257:262]) == "ustar":
		return "is a tar archive", "unpack it with tar -xf and name the file inside"
	case has("\xff\xfe"), has("\xfe\xff"):
		return "is text in UTF-16", "convert it: iconv -f UTF-16 -t UTF-8 FILE > NEW, or save it as CSV (UTF-8)"
	}
	if bytes.IndexByte(head, 0) < 0 {
		return "", ""
	}
	if order := wideText(head); order != "" {
		return "looks like text in UTF-16 without a byte-order mark", "convert it: iconv -f UTF-16" + order + " -t UTF-8 FILE > NEW"
	}
	return "is a binary file of a kind that is not known: it holds NUL bytes", "save it as CSV, GraphML or another format that is read"
}

// wideText returns the byte order, LE or BE, if the text looks like UTF-16: nearly
// every second byte is NUL, and hardly any other.
func wideText(head []byte) string {
	var nul [2]int
	for i, c := range head {
		if c == 0 {
			nul[i%2]++
		}
	}
	most, few := len(head)*2/5, len(head)/100
	switch {
	case nul[1] >= most && nul[0] <= few:
		return "LE"
	case nul[0] >= most && nul[1] <= few:
		return "BE"
	}
	return ""
}

// The formats of a text file.
const (
	formatDelimited    = "delimited text"
	formatMatrixMarket = "MatrixMarket"
	formatGraphML      = "GraphML"
)

// format detects the format from the first bytes of the text.
func (in *input) format() (string, error) {
	head, err := peek(in.text, lookAhead-3)
	if err != nil {
		return "", in.readError(err)
	}
	if len(head) == 0 {
		return "", in.fail(CodeContent, "the file is empty but for its byte-order mark", do("write it again"), otherFile)
	}
	start := bytes.ToLower(bytes.TrimLeft(head, " \t\r\n"))
	has := func(prefix string) bool { return bytes.HasPrefix(start, []byte(prefix)) }
	within := func(text string) bool { return bytes.Contains(start, []byte(text)) }
	switch {
	case has("%%matrixmarket"):
		return formatMatrixMarket, nil
	case has("<!doctype html"), has("<html"):
		return "", in.fail(CodeFormat, "is a web page, not data", do("the download saved the page instead of the file: fetch the file itself"))
	case has("<") && (within("<graphml") || has("<?xml") || has("<!--")):
		return formatGraphML, nil
	}
	return formatDelimited, nil
}
