package gpu

// Twins of the kernels that go over the rows of blocks.

// eachTwin calls do for the elements of every group: row i, column t, place at; thread is
// the one that has them. After a group it calls done, which may be nil.
func eachTwin(groups, n, k, rows int, do func(thread, i, t, at int), done func(group, count int)) {
	count := threads / k
	for g := range groups {
		for i := g * rows; i < min(n, (g+1)*rows); i++ {
			for t := range k {
				do((i-g*rows)%count*k+t, i, t, i*k+t)
			}
		}
		if done != nil {
			done(g, count)
		}
	}
}

// sumTwin writes parts of the sums of what do returns.
func sumTwin(groups, n, k, rows int, parts []float64, do func(i, t, at int) float64) {
	var all [threads]float64
	eachTwin(groups, n, k, rows, func(thread, i, t, at int) { all[thread] += do(i, t, at) }, func(g, count int) {
		reduceTwin(&all, k, count)
		copy(parts[g*k:], all[:k])
		all = [threads]float64{}
	})
}

// at1 returns diag[i]·v; a nil diagonal is of ones.
func at1(diag []float64, i int, v float64) float64 {
	if diag == nil {
		return v
	}
	return diag[i] * v
}

func beginTwin(c *call) {
	parts, p, r, scale, n, k, rows := c.doubles(), c.doubles(), c.doubles(), c.doubles(), c.int64(), c.int32(), c.int32()
	sumTwin(c.groups, n, k, rows, parts, func(i, _, at int) float64 {
		p[at] = at1(scale, i, r[at])
		return float64(r[at] * p[at])
	})
}

func turnTwin(c *call) {
	p, r, scale, n, k, rows, beta := c.doubles(), c.doubles(), c.doubles(), c.int64(), c.int32(), c.int32(), c.factors()
	eachTwin(c.groups, n, k, rows, func(_, i, t, at int) { p[at] = float64(at1(scale, i, r[at])) + float64(beta[t]*p[at]) }, nil)
}

func curvatureTwin(c *call) {
	parts, p, q, noise, n, k, rows := c.doubles(), c.doubles(), c.doubles(), c.doubles(), c.int64(), c.int32(), c.int32()
	sumTwin(c.groups, n, k, rows, parts, func(i, _, at int) float64 {
		h := q[at] + float64(noise[i]*p[at])
		return float64(p[at] * h)
	})
}

func stepTwin(c *call) {
	parts, e, r, p, q, noise, scale := c.doubles(), c.doubles(), c.doubles(), c.doubles(), c.doubles(), c.doubles(), c.doubles()
	n, k, rows, alpha := c.int64(), c.int32(), c.int32(), c.factors()
	var rr, rz [threads]float64
	eachTwin(c.groups, n, k, rows, func(thread, i, t, at int) {
		h := q[at] + float64(noise[i]*p[at])
		e[at] += float64(alpha[t] * p[at])
		r[at] -= float64(alpha[t] * h)
		rr[thread] += float64(r[at] * r[at])
		if scale != nil {
			rz[thread] += float64(r[at] * float64(scale[i]*r[at]))
		}
	}, func(g, count int) {
		reduceTwin(&rr, k, count)
		reduceTwin(&rz, k, count)
		copy(parts[g*2*k:], rr[:k])
		copy(parts[g*2*k+k:], rz[:k])
		rr, rz = [threads]float64{}, [threads]float64{}
	})
}

func recurTwin(c *call) {
	parts, u, v, q, noise := c.doubles(), c.doubles(), c.doubles(), c.doubles(), c.doubles()
	n, k, rows, a, b, f := c.int64(), c.int32(), c.int32(), c.factors(), c.factors(), c.factors()
	sumTwin(c.groups, n, k, rows, parts, func(i, t, at int) float64 {
		h := q[at] + float64(noise[i]*v[at])
		y := float64(a[t]*h) - float64(b[t]*v[at])
		y -= float64(f[t] * u[at])
		u[at] = y
		return float64(y * y)
	})
}

func restTwin(c *call) {
	parts, r, b, q, x, noise := c.doubles(), c.doubles(), c.doubles(), c.doubles(), c.doubles(), c.doubles()
	n, k, rows, alpha := c.int64(), c.int32(), c.int32(), c.factors()
	sumTwin(c.groups, n, k, rows, parts, func(i, t, at int) float64 {
		v := b[at]
		if q != nil {
			v -= q[at] + float64(noise[i]*x[at])
		}
		r[at] = alpha[t] * v
		return float64(r[at] * r[at])
	})
}

func dotTwin(c *call) {
	parts, p, q, weight, n, k, rows := c.doubles(), c.doubles(), c.doubles(), c.doubles(), c.int64(), c.int32(), c.int32()
	sumTwin(c.groups, n, k, rows, parts, func(i, _, at int) float64 {
		v := p[at]
		if q != nil {
			v *= q[at]
		}
		return float64(at1(weight, i, v))
	})
}

func addColumnsTwin(c *call) {
	x, e, n, k, width, rows, to, factor, add := c.doubles(), c.doubles(), c.int64(), c.int32(), c.int32(), c.int32(), c.factors(), c.factors(),
		c.int32()
	eachTwin(c.groups, n, k, rows, func(_, i, t, at int) {
		if column := int(to[t]); column >= 0 {
			x[i*width+column] = scaled(x[i*width+column], factor[t], e[at], add)
		}
	}, nil)
}

func columnsTwin(c *call) {
	dst, src, n, k, width, rows, from := c.doubles(), c.doubles(), c.int64(), c.int32(), c.int32(), c.int32(), c.factors()
	eachTwin(c.groups, n, k, rows, func(_, i, t, at int) { dst[at] = src[i*width+int(from[t])] }, nil)
}

func gatherTwin(c *call) {
	dst, src, index, n, k, rows := c.doubles(), c.doubles(), c.words(), c.int64(), c.int32(), c.int32()
	eachTwin(c.groups, n, k, rows, func(_, i, t, at int) { dst[at] = src[int(index[i])*k+t] }, nil)
}

func scatterTwin(c *call) {
	dst, src, index, n, k, rows := c.doubles(), c.doubles(), c.words(), c.int64(), c.int32(), c.int32()
	eachTwin(c.groups, n, k, rows, func(_, i, t, at int) { dst[int(index[i])*k+t] += src[at] }, nil)
}

func scaleRowsTwin(c *call) {
	dst, x, scale, n, k, rows, factor, add := c.doubles(), c.doubles(), c.doubles(), c.int64(), c.int32(), c.int32(), c.float64(), c.int32()
	eachTwin(c.groups, n, k, rows, func(_, i, _, at int) { dst[at] = scaled(dst[at], factor, at1(scale, i, x[at]), add) }, nil)
}

func subtractTwin(c *call) {
	dst, x, keep, out, n, k, rows := c.doubles(), c.doubles(), c.doubles(), c.doubles(), c.int64(), c.int32(), c.int32()
	eachTwin(c.groups, n, k, rows, func(_, i, _, at int) { dst[at] = float64(keep[i]*x[at]) - float64(out[i]*dst[at]) }, nil)
}

func observeTwin(c *call) {
	e, y, g, sd, n, k, rows := c.doubles(), c.doubles(), c.doubles(), c.doubles(), c.int64(), c.int32(), c.int32()
	eachTwin(c.groups, n, k, rows, func(_, i, _, at int) { e[at] = y[i] - g[at] - float64(sd[i]*e[at]) }, nil)
}

func levelsTwin(c *call) {
	dst, level, n, k, rows, factor := c.doubles(), c.doubles(), c.int64(), c.int32(), c.int32(), c.float64()
	eachTwin(c.groups, n, k, rows, func(_, _, t, at int) { dst[at] += float64(factor * level[t]) }, nil)
}

func invertTwin(c *call) {
	dst, a, b, f, n := c.doubles(), c.doubles(), c.doubles(), c.float64(), c.int64()
	for i := range n {
		dst[i] = 1 / (a[i] + b[i] + f)
	}
}

func extrapolateTwin(c *call) {
	now, before, n, factor := c.doubles(), c.doubles(), c.int64(), c.float64()
	for at := range n {
		v := now[at]
		now[at], before[at] = v+float64(factor*(v-before[at])), v
	}
}

func spreadTwin(c *call) {
	square, x, mean, n, k := c.doubles(), c.doubles(), c.doubles(), c.int64(), c.int32()
	for i := range n {
		sum := 0.0
		for _, v := range x[i*k:][:k] {
			sum += float64((v - mean[i]) * (v - mean[i]))
		}
		square[i] += sum
	}
}
