package dense

// pack copies x into panels of width columns, a multiple of 4, one after the
// other: the elements of a row of a panel are neighbours. Columns that are
// missing from the last panel are zeros.
func pack(dst []float64, x Matrix, width int) {
	for j := 0; j < x.Cols; j += width {
		panel := dst[:x.Rows*width]
		dst = dst[len(panel):]
		take := x.Block(0, x.Rows, j, min(x.Cols, j+width))
		switch {
		case take.ColStep != 1:
			packColumns(panel, take, width)
		case take.Cols == width && width == tileCols:
			for p := range take.Rows {
				*(*[tileCols]float64)(panel[p*tileCols:]) = [tileCols]float64(take.Data[p*take.RowStep:])
			}
		case take.Cols == width && width == tileRows:
			for p := range take.Rows {
				copyFour((*[tileRows]float64)(panel[p*tileRows:]), (*[tileRows]float64)(take.Data[p*take.RowStep:]))
			}
		default:
			for p := range take.Rows {
				row := panel[p*width:][:width]
				clear(row[copy(row, take.Data[p*take.RowStep:][:take.Cols]):])
			}
		}
	}
}

// copyFour is *to = *from without a call: the compiler calls memmove where arrays might overlap, which takes
// longer for so few elements.
func copyFour(to, from *[tileRows]float64) {
	a, b, c, d := from[0], from[1], from[2], from[3]
	to[0], to[1], to[2], to[3] = a, b, c, d
}

// packColumns packs one panel of a matrix whose columns are contiguous.
func packColumns(panel []float64, x Matrix, width int) {
	j := 0
	for ; j+4 <= x.Cols; j += 4 {
		x0 := x.Data[j*x.ColStep:][:x.Rows]
		x1 := x.Data[(j+1)*x.ColStep:][:len(x0)]
		x2 := x.Data[(j+2)*x.ColStep:][:len(x0)]
		x3 := x.Data[(j+3)*x.ColStep:][:len(x0)]
		for p, v := range x0 {
			to := panel[p*width+j:][:4]
			to[0], to[1], to[2], to[3] = v, x1[p], x2[p], x3[p]
		}
	}
	for ; j < x.Cols; j++ {
		for p, v := range x.Data[j*x.ColStep:][:x.Rows] {
			panel[p*width+j] = v
		}
	}
	if j < width {
		for p := range x.Rows {
			clear(panel[p*width+j:][:width-j])
		}
	}
}
