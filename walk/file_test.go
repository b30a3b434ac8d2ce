package walk

import (
	"bytes"
	"context"
	"errors"
	"testing"
)

func encoded(t testing.TB, f *Features) []byte {
	t.Helper()
	var buf bytes.Buffer
	n, err := f.Encode(&buf, "ring")
	if err != nil {
		t.Fatal(err)
	}
	if int(n) != buf.Len() {
		t.Fatalf("Encode says %d bytes, wrote %d", n, buf.Len())
	}
	return buf.Bytes()
}

func TestFileRoundTrip(t *testing.T) {
	t.Parallel()
	m := bigRing(t, blockRows+5)
	for _, cut := range [][2]int{{0, 0}, {3, 17}, {9, 9}} {
		f, err := Sample(context.Background(), m.w, Options{Walks: 5, MaxLen: 6, Budget: 10, Lo: cut[0], Hi: cut[1]})
		if err != nil {
			t.Fatal(err)
		}
		data := encoded(t, f)
		// At every alignment: a mapped file is aligned, a buffer need not be.
		for shift := range 4 {
			moved := append(make([]byte, shift), data...)[shift:]
			g, matrix, err := Decode(moved)
			if err != nil {
				t.Fatal(err)
			}
			if matrix != "ring" || g.Size() != f.Size() || g.Nodes() != f.Nodes() {
				t.Errorf("got %q %+v, want the same as %+v", matrix, g.Size(), f.Size())
			}
			requireEqual(t, g, f, cut[0], m.w)
		}
	}
}

// Every cut and every flipped bit is noticed.
func TestTornAndAlteredFiles(t *testing.T) {
	t.Parallel()
	f, err := Sample(context.Background(), bigRing(t, 40).w, Options{Walks: 3, MaxLen: 3, Budget: 4})
	if err != nil {
		t.Fatal(err)
	}
	data := encoded(t, f)
	for n := range data {
		if _, _, err := Decode(data[:n:n]); !errors.Is(err, ErrFile) {
			t.Fatalf("cut after %d of %d bytes: %v", n, len(data), err)
		}
	}
	for i := range data {
		bad := bytes.Clone(data)
		bad[i] ^= 0x10
		if _, _, err := Decode(bad); !errors.Is(err, ErrFile) {
			t.Fatalf("flipped byte %d of %d: %v", i, len(data), err)
		}
	}
	if _, _, err := Decode(append(data, 0)); !errors.Is(err, ErrFile) {
		t.Errorf("a byte too many: %v", err)
	}
}

func FuzzDecode(f *testing.F) {
	features, err := Sample(context.Background(), bigRing(f, 20).w, Options{Walks: 3, MaxLen: 3, Budget: 4})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(encoded(f, features))
	f.Add([]byte(fileMagic))
	f.Fuzz(func(t *testing.T, data []byte) {
		if g, _, err := Decode(data); err == nil {
			readAll(g)
		}
	})
}

// FuzzBlock goes past the checksums, which stop nearly all that FuzzDecode tries.
func FuzzBlock(f *testing.F) {
	f.Add([]byte{1, 0, 0, 0, 2, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0}, uint8(1), uint8(0), uint8(0))
	f.Fuzz(func(t *testing.T, data []byte, rows, entries, values uint8) {
		fb := fileBlock{Rows: int(rows), Entries: int(entries), Values: int(values)}
		h := &fileHeader{Nodes: 5, Options: Options{MaxLen: 3, Hi: int(rows)}, Blocks: []fileBlock{fb}}
		if h.check() != nil {
			return
		}
		data = append(data, make([]byte, fb.size())...)[:fb.size()]
		var b block
		if b.decode(data, fb, h) == nil {
			readAll(&Features{opts: h.Options, nodes: h.Nodes, blocks: []block{b}})
		}
	})
}

// readAll visits everything; a bad index would panic.
func readAll(f *Features) {
	f.Size()
	lo, hi := f.Rows()
	coeff := make([]float64, f.MaxLen()+1)
	for i := lo; i < hi; i++ {
		for e := range f.Row(i) {
			for k, l := range e.Lengths {
				coeff[l] += float64(e.Values[k])
			}
		}
	}
}
