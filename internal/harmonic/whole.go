package harmonic

// whole is a small network, eliminated node by node. Nothing is subtracted, so it
// is exact to rounding however weak the ground is beside the weights.
type whole struct {
	size   int
	share  []float64 // share[k*size+j]: weight from k to j over the total of k, for j > k when k is taken out
	totals []float64
}

func newWhole(n *network) *whole {
	size := len(n.ground)
	w := &whole{size, make([]float64, size*size), make([]float64, size)}
	ground := append([]float64(nil), n.ground...)
	for i := range size {
		to, weight := n.row(i)
		for k, j := range to {
			w.share[i*size+int(j)] = weight[k]
		}
	}
	for k := range size {
		row := w.share[k*size : (k+1)*size]
		w.totals[k] = ground[k]
		for _, v := range row[k+1:] {
			w.totals[k] += v
		}
		for i := k + 1; i < size; i++ {
			part := row[i] / w.totals[k]
			if part == 0 {
				continue
			}
			ground[i] += part * ground[k]
			to := w.share[i*size : (i+1)*size]
			for j := k + 1; j < size; j++ {
				if j != i {
					to[j] += part * row[j]
				}
			}
		}
		for j := k + 1; j < size; j++ {
			row[j] /= w.totals[k]
		}
	}
	return w
}

// solve sets x to the solution for b.
func (w *whole) solve(x, b []float64) {
	copy(x, b)
	for k := range w.size {
		for j := k + 1; j < w.size; j++ {
			x[j] += w.share[k*w.size+j] * x[k]
		}
	}
	for k := w.size - 1; k >= 0; k-- {
		x[k] /= w.totals[k]
		for j := k + 1; j < w.size; j++ {
			x[k] += w.share[k*w.size+j] * x[j]
		}
	}
}
