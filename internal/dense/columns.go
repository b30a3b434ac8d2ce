package dense

import "math"

// Small products where the factors are, for the fronts of sparse matrices: packing them would take longer than the
// product. Matrices lie column by column; rows come in fours, and what is beyond the last row of a matrix is read and
// written as if it were a row.

// columnsMost is how many columns one call of the kernel takes.
const columnsMost = 4

// SubColumns subtracts l·right from c, whose columns are cStep apart; those of l are lStep apart. Element (p, q) of right
// is right[p·rightStep + q·rightCol]. Every element loses one sum, in order of the columns of l.
func SubColumns(rows, steps, cols int, l []float64, lStep int, right []float64, rightStep, rightCol int, c []float64, cStep int) {
	if rows == 0 || steps == 0 || cols == 0 {
		return
	}
	_, _, _ = l[(steps-1)*lStep+rows-1], right[(steps-1)*rightStep+(cols-1)*rightCol], c[(cols-1)*cStep+rows-1]
	for q := 0; q < cols; q += columnsMost {
		subColumns(rows, steps, min(columnsMost, cols-q), l, lStep, right[q*rightCol:], rightStep, rightCol, c[q*cStep:], cStep)
	}
}

// columnsGo is the definition of the kernel.
func columnsGo(rows, steps, cols int, l []float64, lStep int, right []float64, rightStep, rightCol int, c []float64, cStep int) {
	for i := 0; i < rows; i += 4 {
		for q := range cols {
			var s0, s1, s2, s3 float64
			for p := range steps {
				v, by := l[p*lStep+i:][:4], right[p*rightStep+q*rightCol]
				s0 = math.FMA(v[0], by, s0)
				s1 = math.FMA(v[1], by, s1)
				s2 = math.FMA(v[2], by, s2)
				s3 = math.FMA(v[3], by, s3)
			}
			to := c[q*cStep+i:][:4]
			to[0], to[1], to[2], to[3] = to[0]-s0, to[1]-s1, to[2]-s2, to[3]-s3
		}
	}
}

// SubDots subtracts lᵀ·x from c, whose columns are cStep apart, for so many columns of l and sides of x, which has zeros
// beyond the last row. Every element loses one sum, of those of every fourth row.
func SubDots(rows, cols, sides int, l []float64, lStep int, x []float64, xStep int, c []float64, cStep int) {
	if rows == 0 || cols == 0 || sides == 0 {
		return
	}
	_, _, _ = l[(cols-1)*lStep+rows-1], x[(sides-1)*xStep+rows-1], c[(sides-1)*cStep+cols-1]
	for q := 0; q < sides; {
		wide := 1
		if sides-q >= 3 {
			wide = 3
		}
		for p := 0; p < cols; {
			high := 1
			if cols-p >= 4 {
				high = 4
			}
			subDots(rows, high, wide, l[p*lStep:], lStep, x[q*xStep:], xStep, c[q*cStep+p:], cStep)
			p += high
		}
		q += wide
	}
}

// dotsGo is the definition of the kernel.
func dotsGo(rows, cols, sides int, l []float64, lStep int, x []float64, xStep int, c []float64, cStep int) {
	for q := range sides {
		for p := range cols {
			var s0, s1, s2, s3 float64
			for i := 0; i < rows; i += 4 {
				v, by := l[p*lStep+i:][:4], x[q*xStep+i:][:4]
				s0 = math.FMA(v[0], by[0], s0)
				s1 = math.FMA(v[1], by[1], s1)
				s2 = math.FMA(v[2], by[2], s2)
				s3 = math.FMA(v[3], by[3], s3)
			}
			c[q*cStep+p] -= (s0 + s2) + (s1 + s3)
		}
	}
}
