package space_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"grfgp/internal/ranks"
	"grfgp/internal/rng"
	"grfgp/space"
)

// Numbers come and go, and blocks have the size that was asked for.
func TestSetAndGet(t *testing.T) {
	examine(t, sized(func(e *exam, a space.Axis, n, k int) {
		x := e.numbers(n * k)
		b := e.block(a, k, x)
		e.check("Set", e.all(b), x)
		c := b.Like()
		for _, got := range []space.Block{b, c} {
			if all, _ := got.Axis().All(); all != n || got.Axis().Own != a.Own || got.Columns() != k {
				panic(fmt.Sprintf("%d of %d rows and %d columns, not %d of %d and %d", got.Axis().Own, all, got.Columns(), a.Own, n, k))
			}
		}
		c.CopyFrom(b)
		b.Zero()
		e.check("Zero", e.all(b), make([]float64, n*k))
		e.check("CopyFrom", e.all(c), x)
		flat := c.Reshape(space.Rows(a.Own*k), 1)
		flat.Scale(flat, nil, 2)
		e.check("Reshape", e.all(c), e.table(n, k, func(i, t int) float64 { return 2 * x[i*k+t] }))
		free(b, c)
	}))
}

// Columns are taken, set and added.
func TestColumns(t *testing.T) {
	examine(t, sized(func(e *exam, a space.Axis, n, k int) {
		x := e.numbers(n * k)
		var list, all []int
		for j := range k {
			if all = append(all, j); j%3 != 1 {
				list = append(list, j)
			}
		}
		some := e.block(a, k, x).Pick(all).Pick(list)
		width := len(list)
		picked := make([]float64, n*width)
		for q := range picked {
			picked[q] = x[q/width*k+list[q%width]]
		}
		e.check("Pick", e.all(some), picked)

		wide := e.block(a, k, x)
		wide.SetColumn(k-1, some, width/2)
		want := slices.Clone(x)
		for i := range n {
			want[i*k+k-1] = picked[i*width+width/2]
		}
		e.check("SetColumn", e.all(wide), want)

		to, factor := make([]int, width), e.numbers(width)
		for t := range to {
			if to[t] = k - 1 - list[t]; t%4 == 1 {
				to[t] = -1
			}
		}
		wide.AddColumns(some, to, factor)
		for i := range n {
			for t, j := range to {
				if j >= 0 {
					want[i*k+j] += factor[t] * picked[i*width+t]
				}
			}
		}
		e.check("AddColumns", e.all(wide), want)
		free(some, wide)
	}))
}

// Blocks are scaled and added to each other, with factors for rows, for columns and for all.
func TestArithmetic(t *testing.T) {
	examine(t, sized(func(e *exam, a space.Axis, n, k int) {
		x, y, d, s := e.numbers(n*k), e.numbers(n*k), e.numbers(n), e.numbers(n)
		bx, by, bd, bs, to := e.block(a, k, x), e.block(a, k, y), e.block(a, 1, d), e.block(a, 1, s), e.fresh(a, k)
		each := func(number func(x, y, d, s float64) float64) []float64 {
			return e.table(n, k, func(i, t int) float64 { return number(x[i*k+t], y[i*k+t], d[i], s[i]) })
		}
		to.Scale(bx, nil, 0.7)
		e.check("Scale", e.all(to), each(func(x, _, _, _ float64) float64 { return 0.7 * x }))
		to.Scale(bx, bd, -0.3)
		e.check("Scale by rows", e.all(to), each(func(x, _, d, _ float64) float64 { return -0.3 * d * x }))
		to.Scale(to, bs, 2)
		e.check("Scale itself", e.all(to), each(func(x, _, d, s float64) float64 { return -0.6 * s * d * x }))
		to.CopyFrom(by)
		to.AddScaled(bx, nil, 0.7)
		e.check("AddScaled", e.all(to), each(func(x, y, _, _ float64) float64 { return y + 0.7*x }))
		to.CopyFrom(by)
		to.AddScaled(bx, bd, -0.3)
		e.check("AddScaled by rows", e.all(to), each(func(x, y, d, _ float64) float64 { return y - 0.3*d*x }))
		to.CopyFrom(by)
		to.Subtract(bx, bd, bs)
		e.check("Subtract", e.all(to), each(func(x, y, d, s float64) float64 { return d*x - s*y }))
		to.CopyFrom(by)
		to.Observe(bd, bx, bs)
		e.check("Observe", e.all(to), each(func(x, y, d, s float64) float64 { return d - x - s*y }))
		to.CopyFrom(by)
		to.Extrapolate(bx, 0.4)
		e.check("Extrapolate", e.all(to), each(func(x, y, _, _ float64) float64 { return y + 0.4*(y-x) }))
		e.check("Extrapolate, before", e.all(bx), y)
		bx.Set(own(a, k, x))
		level := e.numbers(k)
		to.CopyFrom(by)
		to.AddLevels(level)
		e.check("AddLevels", e.all(to), e.table(n, k, func(i, t int) float64 { return y[i*k+t] + level[t] }))
		bd.AddSpread(bx, bs)
		e.check("AddSpread", e.all(bd), e.table(n, 1, func(i, _ int) float64 {
			sum := d[i]
			for _, v := range x[i*k:][:k] {
				sum += (v - s[i]) * (v - s[i])
			}
			return sum
		}))
		e.check("what is read only", append(append(e.all(bx), e.all(by)...), e.all(bs)...), slices.Concat(x, y, s))
		free(bx, by, bd, bs, to)
	}))
}

// Rows are taken from a block and added to it, in any order.
func TestGatherAndScatter(t *testing.T) {
	examine(t, sized(func(e *exam, a space.Axis, n, k int) {
		x := e.numbers(n * k)
		var rows []int // every third row, those of a block from the last on
		for lo := 0; lo < n; lo += ranks.BlockRows {
			for i := min(n, lo+ranks.BlockRows) - 1; i >= lo; i -= 3 {
				rows = append(rows, i)
			}
		}
		_, lo := a.All()
		var near []uint32
		for _, i := range rows {
			if i >= lo && i < lo+a.Own {
				near = append(near, uint32(i-lo))
			}
		}
		of, err := e.space.Axis(e, len(near))
		must(err)
		places := e.space.Places(near)
		b, some := e.block(a, k, x), e.fresh(of, k)
		some.Gather(b, places)
		e.check("Gather", e.all(some), e.table(len(rows), k, func(i, t int) float64 { return x[rows[i]*k+t] }))
		some.Scale(some, nil, 3)
		b.Scatter(some, places)
		want := slices.Clone(x)
		for _, i := range rows {
			for t := range k {
				want[i*k+t] *= 4
			}
		}
		e.check("Scatter", e.all(b), want)
		places.Free()
		free(b, some)
	}))
}

// Random numbers are those of the streams of their columns and blocks of rows, and the same whatever processes share them.
func TestNormals(t *testing.T) {
	const seed, first = 7, 2
	normals := func(row, column int) float64 {
		random := rand.New(rng.New(seed, "test", uint64(first+column), uint64(row/1024)))
		v := 0.0
		for range row%1024 + 1 {
			v = random.NormFloat64()
		}
		return v
	}
	known := map[[2]int]float64{}
	number := func(row, column int) float64 {
		at := [2]int{row, column}
		if _, ok := known[at]; !ok {
			known[at] = normals(row, column)
		}
		return known[at]
	}
	examine(t, func(e *exam) {
		for _, n := range []int{0, 1, 1500, 3*ranks.BlockRows + 10} {
			nodes := make([]uint32, n) // in any order, some of them twice
			for a := range nodes {
				nodes[a] = uint32(e.random.IntN(3000))
			}
			const k = 3
			a := e.axis(n)
			b := e.fresh(a, k)
			b.Normals(seed, "test", first, nil)
			e.check("Normals", e.all(b), e.table(n, k, number))
			b.Normals(seed, "test", first, own(a, 1, nodes))
			e.check("Normals of nodes", e.all(b), e.table(n, k, func(i, t int) float64 { return number(int(nodes[i]), t) }))
			free(b)
		}
	})
}

// Sums are over the rows of all processes.
func TestSums(t *testing.T) {
	examine(t, sized(func(e *exam, a space.Axis, n, k int) {
		x, y, w := e.numbers(n*k), e.numbers(n*k), e.numbers(n)
		bx, by, bw := e.block(a, k, x), e.block(a, k, y), e.block(a, 1, w)
		e.checkSums("sums", bx.Sums(nil, nil), n, k, func(i, t int) float64 { return x[i*k+t] })
		e.checkSums("weighted sums", bx.Sums(nil, bw), n, k, func(i, t int) float64 { return w[i] * x[i*k+t] })
		e.checkSums("products", bx.Sums(by, nil), n, k, func(i, t int) float64 { return x[i*k+t] * y[i*k+t] })
		e.checkSums("weighted products", bx.Sums(by, bw), n, k, func(i, t int) float64 { return w[i] * x[i*k+t] * y[i*k+t] })
		e.checkSums("squares", bx.Sums(bx, nil), n, k, func(i, t int) float64 { return x[i*k+t] * x[i*k+t] })
		free(bx, by, bw)

		mine := own(a, 1, w)
		e.checkSums("Sum", []float64{space.Sum(e.space, a, mine)}, n, 1, func(i, _ int) float64 { return w[i] })
		rows := own(a, k, x)
		sums := space.SumRows(e.space, a, k, func(lo, hi int, sums []float64) {
			if hi-lo > ranks.BlockRows {
				panic("more rows than a block")
			}
			for q := lo * k; q < hi*k; q++ {
				sums[q%k] += rows[q]
			}
		})
		e.checkSums("SumRows", sums, n, k, func(i, t int) float64 { return x[i*k+t] })
		e.check("SumOf", []float64{space.SumOf(e.space, a, float64(a.Own))}, []float64{float64(n)})
		all, err := space.Gather(e, e.space, mine)
		must(err)
		if a.Shared() || e.group.Alone() {
			e.check("Gather", all, w)
		}
	}))
}

// The sweeps of conjugate gradients and of the Lanczos recursion, without a preconditioner and with a diagonal one.
func TestSweepsOfBlocks(t *testing.T) {
	examine(t, sized(func(e *exam, a space.Axis, n, k int) {
		p, q, r, x := e.numbers(n*k), e.numbers(n*k), e.numbers(n*k), e.numbers(n*k)
		d, s, f, g, h := e.numbers(n), e.numbers(n), e.numbers(k), e.numbers(k), e.numbers(k)
		bp, bq, br, bx := e.block(a, k, p), e.block(a, k, q), e.block(a, k, r), e.block(a, k, x)
		bd, bs, to := e.block(a, 1, d), e.block(a, 1, s), e.fresh(a, k)
		at := func(x []float64, i, t int) float64 { return x[i*k+t] }
		for _, scale := range []space.Block{nil, bs} {
			by := func(i int) float64 {
				if scale == nil {
					return 1
				}
				return s[i]
			}
			rr, rz := make([]float64, k), make([]float64, k)
			to.Begin(rz, br, scale)
			e.check("Begin", e.all(to), e.table(n, k, func(i, t int) float64 { return by(i) * at(r, i, t) }))
			e.checkSums("Begin, sums", rz, n, k, func(i, t int) float64 { return by(i) * at(r, i, t) * at(r, i, t) })
			to.CopyFrom(bp)
			to.Turn(br, scale, f)
			e.check("Turn", e.all(to), e.table(n, k, func(i, t int) float64 { return by(i)*at(r, i, t) + f[t]*at(p, i, t) }))
			to.CopyFrom(bx)
			left := func(i, t int) float64 { return at(r, i, t) - f[t]*(at(q, i, t)+d[i]*at(p, i, t)) }
			to.Step(rr, rz, br, bp, bq, bd, scale, f)
			e.check("Step", e.all(to), e.table(n, k, func(i, t int) float64 { return at(x, i, t) + f[t]*at(p, i, t) }))
			e.check("Step, residuals", e.all(br), e.table(n, k, left))
			e.checkSums("Step, squares", rr, n, k, func(i, t int) float64 { return left(i, t) * left(i, t) })
			e.checkSums("Step, sums", rz, n, k, func(i, t int) float64 { return by(i) * left(i, t) * left(i, t) })
			br.Set(own(a, k, r))
		}
		sums := make([]float64, k)
		bp.Curvature(sums, bq, bd)
		e.checkSums("Curvature", sums, n, k, func(i, t int) float64 { return at(p, i, t) * (at(q, i, t) + d[i]*at(p, i, t)) })
		to.CopyFrom(bx)
		next := func(i, t int) float64 {
			return f[t]*(at(q, i, t)+d[i]*at(p, i, t)) - g[t]*at(p, i, t) - h[t]*at(x, i, t)
		}
		to.Recur(sums, bp, bq, bd, f, g, h)
		e.check("Recur", e.all(to), e.table(n, k, next))
		e.checkSums("Recur, squares", sums, n, k, func(i, t int) float64 { return next(i, t) * next(i, t) })
		rest := func(i, t int) float64 { return f[t] * (at(r, i, t) - at(q, i, t) - d[i]*at(x, i, t)) }
		to.Rest(sums, br, bq, bx, bd, f)
		e.check("Rest", e.all(to), e.table(n, k, rest))
		e.checkSums("Rest, squares", sums, n, k, func(i, t int) float64 { return rest(i, t) * rest(i, t) })
		to.Rest(sums, br, nil, nil, bd, f)
		e.check("Rest of zeros", e.all(to), e.table(n, k, func(i, t int) float64 { return f[t] * at(r, i, t) }))
		e.checkSums("Rest of zeros, squares", sums, n, k, func(i, t int) float64 { return f[t] * at(r, i, t) * f[t] * at(r, i, t) })
		e.check("what is read only", slices.Concat(e.all(bp), e.all(bq), e.all(br), e.all(bx), e.all(bd), e.all(bs)),
			slices.Concat(p, q, r, x, d, s))
		free(bp, bq, br, bx, bd, bs, to)
	}))
}
