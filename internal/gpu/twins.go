package gpu

import "math"

// The twins of the kernels in kernels.cu: what each of them computes, in the same order of
// operations, so that results have the same bits.

const (
	threads        = 256 // of a group
	longRow        = 512 // entries; longer rows have a group of threads each
	fewLanes       = 8   // threads of a row in products with few columns
	fewColumns     = 4   // that these can have
	projectThreads = 128
	projectRows    = 1024
	projectLengths = 16
)

// call is a launch of a kernel: its arguments are read in their order.
type call struct {
	reader
	memories map[pointer][]uint64
	groups   int
}

func (c *call) doubles() []float64 { return view[float64](c.memories, c.pointer()) }
func (c *call) singles() []float32 { return view[float32](c.memories, c.pointer()) }
func (c *call) words() []uint32    { return view[uint32](c.memories, c.pointer()) }
func (c *call) small() []uint8     { return view[uint8](c.memories, c.pointer()) }

// twins are the twins by the names of their kernels.
var twins = map[string]func(c *call){
	"product64":      func(c *call) { productTwin(c, (*call).doubles) },
	"product32":      func(c *call) { productTwin(c, (*call).singles) },
	"product_few64":  func(c *call) { fewTwin(c, (*call).doubles) },
	"product_few32":  func(c *call) { fewTwin(c, (*call).singles) },
	"product_long64": func(c *call) { longTwin(c, (*call).doubles) },
	"product_long32": func(c *call) { longTwin(c, (*call).singles) },
	"row_norms64":    func(c *call) { rowNormsTwin(c, (*call).doubles) },
	"row_norms32":    func(c *call) { rowNormsTwin(c, (*call).singles) },
	"dense":          denseTwin,
	"combine":        combineTwin,
	"pick":           pickTwin,
	"pairs":          pairsTwin,
	"project":        projectTwin,
	"total":          totalTwin,
	"begin":          beginTwin,
	"turn":           turnTwin,
	"curvature":      curvatureTwin,
	"step":           stepTwin,
	"recur":          recurTwin,
	"rest":           restTwin,
	"dot":            dotTwin,
	"add_columns":    addColumnsTwin,
	"columns":        columnsTwin,
	"gather":         gatherTwin,
	"scatter":        scatterTwin,
	"scale_rows":     scaleRowsTwin,
	"subtract":       subtractTwin,
	"observe":        observeTwin,
	"levels":         levelsTwin,
	"invert":         invertTwin,
	"extrapolate":    extrapolateTwin,
	"spread":         spreadTwin,
	"normals":        normalsTwin,
}

// threadsOf returns the number of threads of a group of a kernel.
func threadsOf(kernel string) int {
	if kernel == "project" {
		return projectThreads
	}
	return threads
}

// scaled returns scale·s, added to what is there if add is not zero.
func scaled(before, scale, s float64, add int) float64 {
	if add != 0 {
		return before + float64(scale*s)
	}
	return scale * s
}

func productTwin[V float32 | float64](c *call, values func(*call) []V) {
	dst, ptr, col, val, x := c.doubles(), c.words(), c.words(), values(c), c.doubles()
	n, k, scale, add := c.int32(), c.int32(), c.float64(), c.int32()
	for i := range n {
		if ptr[i+1]-ptr[i] > longRow {
			continue
		}
		for t := range k {
			sum := 0.0
			for e := ptr[i]; e < ptr[i+1]; e++ {
				sum += float64(float64(val[e]) * x[int(col[e])*k+t])
			}
			dst[i*k+t] = scaled(dst[i*k+t], scale, sum, add)
		}
	}
}

func fewTwin[V float32 | float64](c *call, values func(*call) []V) {
	dst, ptr, col, val, x := c.doubles(), c.words(), c.words(), values(c), c.doubles()
	n, k, scale, add := c.int32(), c.int32(), c.float64(), c.int32()
	for i := range n {
		if ptr[i+1]-ptr[i] > longRow {
			continue
		}
		for t := range k {
			var all [fewLanes]float64
			for e := ptr[i]; e < ptr[i+1]; e++ {
				all[(e-ptr[i])%fewLanes] += float64(float64(val[e]) * x[int(col[e])*k+t])
			}
			for half := fewLanes / 2; half > 0; half /= 2 {
				for lane := range half {
					all[lane] += all[lane+half]
				}
			}
			dst[i*k+t] = scaled(dst[i*k+t], scale, all[0], add)
		}
	}
}

// reduceTwin adds up what threads hold for the columns, by a tree: thread r·k+t has a sum for
// column t, r < count. The sums end up with the first k threads.
func reduceTwin(all *[threads]float64, k, count int) {
	half := 1
	for half < count {
		half *= 2
	}
	for half /= 2; half > 0; half /= 2 {
		for r := range half {
			for t := 0; t < k && r+half < count; t++ {
				all[r*k+t] += all[(r+half)*k+t]
			}
		}
	}
}

func longTwin[V float32 | float64](c *call, values func(*call) []V) {
	dst, ptr, col, val, x := c.doubles(), c.words(), c.words(), values(c), c.doubles()
	rows, k, scale, add := c.words(), c.int32(), c.float64(), c.int32()
	count := threads / k
	for _, i := range rows[:c.groups] {
		var all [threads]float64
		for r := range count {
			for t := range k {
				for e := int(ptr[i]) + r; e < int(ptr[i+1]); e += count {
					all[r*k+t] += float64(float64(val[e]) * x[int(col[e])*k+t])
				}
			}
		}
		reduceTwin(&all, k, count)
		for t := range k {
			dst[int(i)*k+t] = scaled(dst[int(i)*k+t], scale, all[t], add)
		}
	}
}

func rowNormsTwin[V float32 | float64](c *call, values func(*call) []V) {
	inverse, ptr, val, n := c.doubles(), c.words(), values(c), c.int32()
	for i := range n {
		sum := 0.0
		for _, v := range val[ptr[i]:ptr[i+1]] {
			sum += float64(float64(v) * float64(v))
		}
		if inverse[i] = 0; sum > 0 {
			inverse[i] = 1 / math.Sqrt(sum)
		}
	}
}

func denseTwin(c *call) {
	dst, a, x, m, k := c.doubles(), c.doubles(), c.doubles(), c.int32(), c.int32()
	count := threads / k
	for i := range c.groups {
		var all [threads]float64
		for r := range count {
			for t := range k {
				for j := r; j < m; j += count {
					all[r*k+t] += float64(a[i*m+j] * x[j*k+t])
				}
			}
		}
		reduceTwin(&all, k, count)
		copy(dst[i*k:][:k], all[:k])
	}
}

func combineTwin(c *call) {
	val, square, inverse := c.doubles(), c.doubles(), c.doubles()
	ptr, first, num, lens, psi, coeff, n := c.words(), c.words(), c.small(), c.small(), c.singles(), c.doubles(), c.int32()
	for i := range n {
		norm, v := 0.0, int(first[i])
		row := val[ptr[i]:ptr[i+1]]
		for e := range row {
			sum := 0.0
			for end := v + int(num[int(ptr[i])+e]); v < end; v++ {
				sum += float64(coeff[lens[v]] * float64(psi[v]))
			}
			row[e] = sum
			norm += float64(sum * sum)
		}
		square[i] = norm
		if inverse == nil {
			continue
		}
		if inverse[i] = 0; norm > 0 {
			inverse[i] = 1 / math.Sqrt(norm)
		}
		for e := range row {
			row[e] *= inverse[i]
		}
	}
}

func pickTwin(c *call) {
	dst, src, from, n := c.doubles(), c.doubles(), c.words(), c.int64()
	for q := range n {
		dst[q] = src[from[q]]
	}
}

func pairsTwin(c *call) {
	q, along, ptr, col, val, inverse := c.doubles(), c.doubles(), c.words(), c.words(), c.doubles(), c.doubles()
	u, w, a, b := c.doubles(), c.doubles(), c.doubles(), c.doubles()
	n, k, weight := c.int32(), c.int32(), c.factors()
	for i := range n {
		dot := 0.0
		for e := ptr[i]; e < ptr[i+1]; e++ {
			at, sum := int(col[e])*k, 0.0
			for s := range k {
				both := float64(u[i*k+s]*b[at+s]) + float64(w[i*k+s]*a[at+s])
				sum += float64(weight[s] * both)
			}
			q[e] = sum
			if inverse != nil {
				dot += float64(val[e] * sum)
			}
		}
		if inverse == nil {
			continue
		}
		along[i] = dot
		for e := ptr[i]; e < ptr[i+1]; e++ {
			q[e] = (q[e] - float64(dot*val[e])) * inverse[i]
		}
	}
}

func projectTwin(c *call) {
	parts, ptr, first, num, lens := c.doubles(), c.words(), c.words(), c.small(), c.small()
	psi, q, n, low := c.singles(), c.doubles(), c.int32(), c.int32()
	for g := range c.groups {
		var all [projectLengths][projectThreads]float64
		for i := g * projectRows; i < min(n, (g+1)*projectRows); i++ {
			thread, v := i%projectThreads, int(first[i])
			for e := ptr[i]; e < ptr[i+1]; e++ {
				for end := v + int(num[e]); v < end; v++ {
					if l := int(lens[v]) - low; l >= 0 && l < projectLengths {
						all[l][thread] += float64(float64(psi[v]) * q[e])
					}
				}
			}
		}
		for l := range all {
			for half := projectThreads / 2; half > 0; half /= 2 {
				for thread := range half {
					all[l][thread] += all[l][thread+half]
				}
			}
			parts[g*projectLengths+l] = all[l][0]
		}
	}
}

func totalTwin(c *call) {
	sums, parts, blocks, width := c.doubles(), c.doubles(), c.int32(), c.int32()
	for t := range c.groups {
		var all [threads]float64
		for b := range blocks {
			all[b%threads] += parts[b*width+t]
		}
		reduceTwin(&all, 1, threads)
		sums[t] = all[0]
	}
}
