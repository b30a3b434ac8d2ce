package gpu

import (
	"encoding/binary"
	"fmt"
	"math"
)

// maxColumns is the most columns of a block.
const maxColumns = 64

// factors are numbers for the columns of a block, one each, which kernels take by value.
type factors [maxColumns]float64

// arguments are the arguments of a kernel, one after the other, each at a multiple of its
// own size, as a C compiler lays them out.
type arguments struct {
	data   []byte
	starts []int // of the arguments in data
}

// pack lays out arguments: pointers, int32, uint32, int64, float64 and factors.
func pack(args ...any) *arguments {
	a := &arguments{}
	for _, arg := range args {
		switch v := arg.(type) {
		case pointer:
			a.word(8, uint64(v))
		case int32:
			a.word(4, uint64(uint32(v)))
		case uint32:
			a.word(4, uint64(v))
		case int64:
			a.word(8, uint64(v))
		case float64:
			a.word(8, math.Float64bits(v))
		case factors:
			a.align(8)
			a.starts = append(a.starts, len(a.data))
			for _, f := range v {
				a.data = binary.LittleEndian.AppendUint64(a.data, math.Float64bits(f))
			}
		default:
			panic(fmt.Sprintf("gpu: an argument of type %T", arg))
		}
	}
	return a
}

// word appends a number of so many bytes.
func (a *arguments) word(size int, v uint64) {
	a.align(size)
	a.starts = append(a.starts, len(a.data))
	if size == 4 {
		a.data = binary.LittleEndian.AppendUint32(a.data, uint32(v))
		return
	}
	a.data = binary.LittleEndian.AppendUint64(a.data, v)
}

// align appends zeros up to a multiple of size.
func (a *arguments) align(size int) {
	for len(a.data)%size != 0 {
		a.data = append(a.data, 0)
	}
}

// reader reads arguments in their order.
type reader struct {
	args *arguments
	next int
}

func (r *reader) bytes() []byte {
	at := r.args.starts[r.next]
	r.next++
	return r.args.data[at:]
}

func (r *reader) pointer() pointer { return pointer(binary.LittleEndian.Uint64(r.bytes())) }
func (r *reader) int32() int       { return int(int32(binary.LittleEndian.Uint32(r.bytes()))) }
func (r *reader) int64() int       { return int(binary.LittleEndian.Uint64(r.bytes())) }
func (r *reader) float64() float64 {
	return math.Float64frombits(binary.LittleEndian.Uint64(r.bytes()))
}

func (r *reader) factors() factors {
	var f factors
	data := r.bytes()
	for t := range f {
		f[t] = math.Float64frombits(binary.LittleEndian.Uint64(data[8*t:]))
	}
	return f
}
