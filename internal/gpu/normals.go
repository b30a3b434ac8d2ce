package gpu

import (
	"math"
	"math/rand/v2"

	"grfgp/internal/rng"
)

// streamRows is the number of rows that share a stream of random numbers.
const streamRows = 1024

// Normals sets b to independent N(0, 1) numbers: those of rows 1024·j and following in column t are
// the numbers of the stream rng.New(seed, purpose, first+t, firstBlock+j), one after the other. They differ from those
// of math/rand by rounding alone, in about one number of ten thousand.
func (b *Block) Normals(seed uint64, purpose string, first, firstBlock int) {
	keys := make([]uint64, b.cols)
	for t := range keys {
		keys[t] = uint64(rng.Within(seed, purpose, uint64(first+t)))
	}
	d := b.device
	z := d.ziggurat()
	at := d.take(8 * int64(len(keys)))
	upload(d, at, keys)
	streams := groups(b.rows, streamRows) * b.cols
	d.run("normals", groups(streams, threads), threads, b.at, at, z.kn, z.wn, z.fn, int64(b.rows), int32(b.cols), int64(firstBlock))
	d.give(at)
}

// tables are those of the ziggurat in the memory of the card.
type tables struct{ kn, wn, fn pointer }

// ziggurat returns the tables, uploaded when first used; after a failure they are of zeros.
func (d *Device) ziggurat() tables {
	d.zigguratMu.Lock()
	defer d.zigguratMu.Unlock()
	if d.zigguratAt.kn == 0 {
		kn, wn, fn := ziggurat()
		at := tables{d.take(4 * 128), d.take(4 * 128), d.take(4 * 128)}
		upload(d, at.kn, kn[:])
		upload(d, at.wn, wn[:])
		upload(d, at.fn, fn[:])
		if d.failed() {
			d.give(at.kn)
			d.give(at.wn)
			d.give(at.fn)
			return tables{}
		}
		d.keepForGood(at.kn, at.wn, at.fn)
		d.zigguratAt = at
	}
	return d.zigguratAt
}

// ziggurat returns the tables of Marsaglia and Tsang ("The ziggurat method for generating random
// variables", 2000) for 128 strips of equal area under the normal density: strip i has its right edge at
// x_i, fn is the density there, wn scales 31 random bits to the strip, and kn bounds those that are
// under the curve for sure.
func ziggurat() (kn [128]uint32, wn, fn [128]float32) {
	const (
		bits = 1 << 31
		area = 9.91256303526217e-3
	)
	density := func(x float64) float64 { return math.Exp(-x * x / 2) }
	x := 3.442619855899 // where the tail begins
	base := area / density(x)
	kn[0], wn[0], fn[0] = uint32(x/base*bits), float32(base/bits), 1
	wn[127], fn[127] = float32(x/bits), float32(density(x))
	for i := 126; i >= 1; i-- {
		next := math.Sqrt(-2 * math.Log(area/x+density(x)))
		kn[i+1], wn[i], fn[i] = uint32(next/x*bits), float32(next/bits), float32(density(next))
		x = next
	}
	return kn, wn, fn
}

func normalsTwin(c *call) {
	dst, keys, kn, wn, fn := c.doubles(), view[uint64](c.memories, c.pointer()), c.words(), c.singles(), c.singles()
	if kn == nil || wn == nil || fn == nil {
		panic("gpu: random numbers without tables")
	}
	n, k, first := c.int64(), c.int32(), c.int64()
	for t := range k {
		for b := range groups(n, streamRows) {
			stream := rng.Key(keys[t]).At(uint64(b + first))
			random := rand.New(&stream)
			for i := b * streamRows; i < min(n, (b+1)*streamRows); i++ {
				dst[i*k+t] = random.NormFloat64()
			}
		}
	}
}
