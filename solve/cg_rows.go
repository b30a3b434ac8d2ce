package solve

// The loops of CG over a block of rows, as sweep calls them. The sums in part
// have one value per column.

// residualRows sets r = (b − q − diag(noise)·x)/‖b‖, given q = A·x, and adds up
// rᵀr. Where b is zero, so is x.
func (c *conjugate) residualRows(lo, hi int, part []float64) {
	xs, bs, rs, qs := c.x.RawMatrix(), c.b.RawMatrix(), c.r.RawMatrix(), c.q.RawMatrix()
	for i := lo; i < hi; i++ {
		x, b, r, q := row(xs, i), row(bs, i), row(rs, i), row(qs, i)
		for j, norm := range c.norm {
			if norm == 0 {
				x[j], r[j] = 0, 0
				continue
			}
			r[j] = (b[j] - q[j] - c.noise[i]*x[j]) / norm
			part[j] += r[j] * r[j]
		}
	}
}

// dotRows adds up rᵀz.
func (c *conjugate) dotRows(lo, hi int, part []float64) {
	rs, zs := c.r.RawMatrix(), c.z.RawMatrix()
	for i := lo; i < hi; i++ {
		r, z := row(rs, i), row(zs, i)
		for t := range part {
			part[t] += r[t] * z[t]
		}
	}
}

// turnRows sets p = z + βp.
func (c *conjugate) turnRows(lo, hi int, _ []float64) {
	ps, zs, beta := c.p.RawMatrix(), c.z.RawMatrix(), c.beta[:len(c.cols)]
	for i := lo; i < hi; i++ {
		p, z := row(ps, i), row(zs, i)
		for t, b := range beta {
			p[t] = z[t] + b*p[t]
		}
	}
}

// curvatureRows adds diag(noise)·p to q = A·p, and adds up pᵀq.
func (c *conjugate) curvatureRows(lo, hi int, part []float64) {
	ps, qs := c.p.RawMatrix(), c.q.RawMatrix()
	for i := lo; i < hi; i++ {
		p, q, d := row(ps, i), row(qs, i), c.noise[i]
		for t := range part {
			q[t] += d * p[t]
			part[t] += p[t] * q[t]
		}
	}
}

// stepRows sets x += αp and r −= αq, and adds up rᵀr.
func (c *conjugate) stepRows(lo, hi int, part []float64) {
	xs, rs, ps, qs := c.x.RawMatrix(), c.r.RawMatrix(), c.p.RawMatrix(), c.q.RawMatrix()
	alpha, cols := c.alpha[:len(part)], c.cols
	for i := lo; i < hi; i++ {
		x, r, p, q := row(xs, i), row(rs, i), row(ps, i), row(qs, i)
		for t, a := range alpha {
			j := cols[t]
			x[j] += a * c.norm[j] * p[t]
			r[t] -= a * q[t]
			part[t] += r[t] * r[t]
		}
	}
}
