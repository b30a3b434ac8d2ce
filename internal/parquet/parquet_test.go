package parquet

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"
)

// joinedTexts are texts with common beginnings, and how the format's specification writes them.
func TestTextsWithCommonBeginnings(t *testing.T) {
	t.Parallel()
	deltas := func(v ...int64) []byte { // four values: a block of one part
		e := encoder{out: []byte{0x80, 0x01, 0x01}} // 128 values in one part
		e.unsigned(uint64(len(v)))
		e.zigzag(v[0])
		least := int64(1 << 40)
		for k := 1; k < len(v); k++ {
			least = min(least, v[k]-v[k-1])
		}
		e.zigzag(least)
		e.out = append(e.out, 8) // bits of a difference
		for k := 1; k < len(v); k++ {
			e.out = append(e.out, byte(v[k]-v[k-1]-least))
		}
		return append(e.out, make([]byte, 128-len(v)+1)...)
	}
	data := append(deltas(0, 2, 0, 3), deltas(4, 2, 6, 5)...)
	data = append(data, "axislebabbleyhood"...)
	from, err := sourceOf(Column{Type: ByteArray}, encodingDeltaBytes, data, 4, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"axis", "axle", "babble", "babyhood"} {
		if v, err := from.next(); err != nil || string(v.Bytes) != want {
			t.Errorf("%s, %v, want %s", v.Bytes, err, want)
		}
	}
	if _, err := from.next(); err == nil {
		t.Error("a fifth text")
	}
	if _, err := sourceOf(Column{Type: ByteArray}, encodingDeltaBytes, data, 3, nil); err == nil {
		t.Error("more texts than the page has rows")
	}
}

// Runs of one number, and of numbers that are packed: the specification's 0 to 7 in three bits.
func TestRuns(t *testing.T) {
	t.Parallel()
	r, err := newRuns([]byte{0x03, 0x88, 0xc6, 0xfa, 5 << 1, 6}, 3)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []uint64{0, 1, 2, 3, 4, 5, 6, 7, 6, 6, 6, 6, 6} {
		if got, err := r.number(); err != nil || got != want {
			t.Fatalf("%d, %v, want %d", got, err, want)
		}
	}
	if _, err := r.number(); err == nil {
		t.Error("a number after the last run")
	}
}

// LZ4 copies that overlap themselves; sizes that cannot be are refused before memory is taken.
func TestLZ4(t *testing.T) {
	t.Parallel()
	block := []byte{0x26, 'a', 'b', 2, 0, 0x10, '!'} // "ab", ten bytes from two back, "!"
	out, err := lz4(block, 13)
	if err != nil || string(out) != "abababababab!" {
		t.Errorf("%q, %v", out, err)
	}
	for _, size := range []int64{12, 14, 1 << 27} {
		if out, err := lz4(block, size); err == nil {
			t.Errorf("%d bytes: %q", size, out)
		}
	}
	if out, err := lz4([]byte{0x26, 'a', 'b', 3, 0, 0x10, '!'}, 13); err == nil {
		t.Errorf("a copy from before the beginning: %q", out)
	}
}

func table(t *testing.T, values ...Value) []byte {
	t.Helper()
	var out bytes.Buffer
	w, err := NewWriter(&out, []Column{{Name: "value", Type: Double}})
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range values {
		w.Set(0, v)
		if err := w.EndRow(); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// A file that is cut or changed anywhere is refused, or read as something; it never panics.
func TestDamage(t *testing.T) {
	t.Parallel()
	whole := table(t, Value{Known: true, Bits: 1}, Value{}, Value{Known: true, Bits: 3})
	read := func(text []byte) error {
		f, err := Open(bytes.NewReader(text), int64(len(text)))
		if err != nil {
			return err
		}
		for g := range f.Groups() {
			for k := range f.Columns {
				n := 0
				if err := f.Read(t.Context(), g, k, func(Value) error {
					if n++; n > 1000 {
						return errors.New("too many")
					}
					return nil
				}); err != nil {
					return err
				}
			}
		}
		return nil
	}
	if err := read(whole); err != nil {
		t.Fatal(err)
	}
	for n := range whole {
		if read(whole[:n]) == nil {
			t.Errorf("%d of %d bytes are read", n, len(whole))
		}
		for _, flip := range []byte{1, 0x80, 0xff} {
			changed := bytes.Clone(whole)
			changed[n] ^= flip
			read(changed)
		}
	}
}

func TestReadEnds(t *testing.T) {
	t.Parallel()
	text := table(t, Value{}, Value{})
	f, err := Open(bytes.NewReader(text), int64(len(text)))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := f.Read(ctx, 0, 0, func(Value) error { return nil }); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	if _, err := NewWriter(&bytes.Buffer{}, []Column{{Name: "a", Type: Int96}}); err == nil || !strings.Contains(err.Error(), "column a") {
		t.Errorf("%v", err)
	}
	if text := table(t); len(text) == 0 {
		t.Error("no rows, no file")
	}
}
