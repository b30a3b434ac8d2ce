package crossval

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"

	"grfgp/internal/dense"
	"grfgp/internal/rng"
	"grfgp/solve"
	"grfgp/sparse"
)

// design holds the columns of a linear rule at some nodes, a row per node: dense ones
// first, then words.
type design struct {
	rows, width, vocabulary int
	x                       *mat.Dense  // nil: width is 0
	words                   *sparse.CSR // nil: vocabulary is 0
}

func (d design) size() int { return d.width + d.vocabulary }

// times returns the design times coefficients, a column per target.
func (d design) times(beta *mat.Dense) *mat.Dense {
	_, k := beta.Dims()
	out := mat.NewDense(d.rows, k, nil)
	if d.x != nil {
		dense.Mul(dense.View(out), dense.View(d.x), dense.View(beta.Slice(0, d.width, 0, k).(*mat.Dense)))
	}
	if d.words != nil {
		part := mat.NewDense(d.rows, k, nil)
		d.words.Mul(part, beta.Slice(d.width, d.size(), 0, k).(*mat.Dense))
		out.Add(out, part)
	}
	return out
}

// against sets dst to the transpose of the design times values, a row per node.
func (d design) against(dst, values *mat.Dense) {
	_, k := values.Dims()
	if d.x != nil {
		dense.Mul(dense.View(dst.Slice(0, d.width, 0, k).(*mat.Dense)), dense.View(d.x).T(), dense.View(values))
	}
	if d.words != nil {
		d.words.T().Mul(dst.Slice(d.width, d.size(), 0, k).(*mat.Dense), values)
	}
}

// ridge is a linear regression with a penalty on the squares of coefficients, but not on
// the intercepts, of weighted rows; a column of y per target.
type ridge struct {
	d       design // rows times the square root of their weights
	mean    []float64
	yMean   []float64
	total   float64    // of the weights
	y       *mat.Dense // less yMean, times the square roots
	root    []float64
	average float64 // diagonal element of the products of columns, on average
	gram    *mat.SymDense
	beta    *mat.Dense // of the last solution, where the next one starts
}

// newRidge takes over d and y.
func newRidge(d design, y *mat.Dense, weight []float64) *ridge {
	_, k := y.Dims()
	r := &ridge{d: d, y: y, mean: make([]float64, d.size()), yMean: make([]float64, k), root: make([]float64, d.rows)}
	for i, w := range weight {
		r.total += w
		r.root[i] = math.Sqrt(w)
	}
	ones := mat.NewDense(d.rows, 1, nil)
	for i, w := range weight {
		ones.Set(i, 0, w/r.total)
		for c, v := range y.RawRowView(i) {
			r.yMean[c] += w / r.total * v
		}
	}
	if d.size() > 0 {
		d.against(mat.NewDense(d.size(), 1, r.mean), ones)
	}
	for i := range d.rows {
		row := y.RawRowView(i)
		for c := range row {
			row[c] = r.root[i] * (row[c] - r.yMean[c])
		}
	}
	r.center()
	return r
}

// center weighs the rows of the design. Dense columns lose their means; words would
// be sparse no longer: products subtract their means later.
func (r *ridge) center() {
	squares := 0.0
	if r.d.x != nil {
		for i := range r.d.rows {
			row := r.d.x.RawRowView(i)
			for c := range row {
				row[c] = r.root[i] * (row[c] - r.mean[c])
				squares += float64(row[c] * row[c])
			}
		}
	}
	if r.d.words != nil {
		ptr, col, old := r.d.words.Raw()
		val := make([]float64, len(old))
		for i := range r.d.rows {
			for p := ptr[i]; p < ptr[i+1]; p++ {
				val[p] = r.root[i] * old[p]
				squares += float64(val[p] * val[p])
			}
		}
		words, err := sparse.NewCSR(r.d.rows, r.d.vocabulary, ptr, col, val)
		if err != nil {
			panic("crossval: a valid matrix with other values: " + err.Error())
		}
		r.d.words = words
	}
	r.average = squares / float64(max(1, r.d.size()))
}

// solve returns the coefficients at a penalty, in units of the average square of columns: by a
// Cholesky factor, or with words by conjugate gradients.
func (r *ridge) solve(ctx context.Context, penalty float64) (*mat.Dense, error) {
	_, k := r.y.Dims()
	if r.beta == nil {
		r.beta = mat.NewDense(r.d.size(), k, nil)
	}
	if r.average == 0 {
		return r.beta, nil
	}
	right := mat.NewDense(r.d.size(), k, nil)
	r.d.against(right, r.y) // the weighted sum of y is 0, so means of columns cancel
	if r.d.words != nil {
		noise := make([]float64, r.d.size())
		for c := range noise {
			noise[c] = penalty * r.average
		}
		opts := solve.Options{Tol: 1e-6, MaxIter: 1000}
		if _, err := solve.CG(ctx, r.beta, r, noise, right, nil, opts); err != nil && !errors.Is(err, solve.ErrNotConverged) {
			return nil, err
		}
		return r.beta, nil
	}
	for ; ; penalty *= 100 { // rank is lacking beyond rounding only with a tiny penalty
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		c, err := solve.NewCholesky(r.penalised(penalty))
		if err == nil {
			c.Solve(r.beta, right)
			return r.beta, nil
		}
		if penalty > 1 {
			return nil, fmt.Errorf("ridge regression: %w", err)
		}
	}
}

// penalised returns the products of dense columns with a penalty on the diagonal.
func (r *ridge) penalised(penalty float64) *mat.SymDense {
	n := r.d.size()
	if r.gram == nil {
		whole := mat.NewDense(n, n, nil)
		dense.Mul(dense.View(whole), dense.View(r.d.x).T(), dense.View(r.d.x))
		r.gram = mat.NewSymDense(n, nil)
		for i := range n {
			for j := i; j < n; j++ {
				r.gram.SetSym(i, j, whole.At(i, j))
			}
		}
	}
	h := mat.NewSymDense(n, nil)
	h.CopySym(r.gram)
	for i := range n {
		h.SetSym(i, i, h.At(i, i)+penalty*r.average)
	}
	return h
}

// Dims and Apply make the products of centred columns an operator.
func (r *ridge) Dims() (int, int) { return r.d.size(), r.d.size() }

// Apply is part of solve.Operator.
func (r *ridge) Apply(_ context.Context, dst, beta *mat.Dense) error {
	_, k := beta.Dims()
	values := r.d.times(beta)
	shift := make([]float64, k) // what the means of words contribute
	for c := r.d.width; c < r.d.size(); c++ {
		for t, b := range beta.RawRowView(c) {
			shift[t] += float64(r.mean[c] * b)
		}
	}
	for i := range r.d.rows {
		row := values.RawRowView(i)
		for t := range row {
			row[t] -= float64(r.root[i] * shift[t])
		}
	}
	r.d.against(dst, values)
	// Centred values have a weighted sum of 0 with dense columns; words were not centred.
	sums := make([]float64, k)
	for i := range r.d.rows {
		for t, v := range values.RawRowView(i) {
			sums[t] += float64(r.root[i] * v)
		}
	}
	for c := r.d.width; c < r.d.size(); c++ {
		row := dst.RawRowView(c)
		for t := range row {
			row[t] -= float64(r.mean[c] * sums[t])
		}
	}
	return nil
}

// predict returns the predictions of coefficients at the rows of another design.
func (r *ridge) predict(beta *mat.Dense, d design) *mat.Dense {
	_, k := beta.Dims()
	out := d.times(beta)
	shift := append([]float64(nil), r.yMean...)
	for c, m := range r.mean {
		for t, b := range beta.RawRowView(c) {
			shift[t] -= float64(m * b)
		}
	}
	for i := range d.rows {
		row := out.RawRowView(i)
		for t := range k {
			row[t] += shift[t]
		}
	}
	return out
}

// penalties are tried from the largest to the smallest, in units of the average square of columns.
var penalties = []float64{10, 3, 1, 0.3, 0.1, 0.03, 0.01, 3e-3, 1e-3}

const tinyPenalty = 1e-8 // for columns that depend on each other

// linear is a linear rule learned from some rows.
type linear struct {
	all *mat.Dense // predictions at all nodes, a column per target
	// Rows that were held out to choose the penalty, and their predictions at the penalty that
	// was chosen; nil if no penalty was chosen.
	heldOut   []int
	predicted *mat.Dense
}

// learn fits a linear rule to y, a row per entry of nodes and a column per target. With
// choose, the penalty with the smallest squared error on a held-out fifth is taken.
func (c columns) learn(ctx context.Context, nodes []int, y *mat.Dense, weight []float64, choose bool) (*linear, error) {
	l := &linear{}
	_, k := y.Dims()
	every := make([]int, c.nodes)
	for i := range every {
		every[i] = i
	}
	if c.width() == 0 && c.words == nil { // nothing to look at: the mean
		r := newRidge(design{rows: len(nodes)}, mat.DenseCopyOf(y), weight)
		l.all = mat.NewDense(c.nodes, k, nil)
		for i := range c.nodes {
			l.all.SetRow(i, r.yMean)
		}
		return l, nil
	}
	penalty := tinyPenalty
	if choose {
		var err error
		if penalty, err = c.choose(ctx, l, nodes, y, weight); err != nil {
			return nil, err
		}
	}
	r := newRidge(c.pick(nodes), mat.DenseCopyOf(y), weight)
	beta, err := r.solve(ctx, penalty)
	if err != nil {
		return nil, err
	}
	l.all = r.predict(beta, c.pick(every))
	return l, nil
}

// choose returns the penalty with the smallest squared error on a held-out fifth.
func (c columns) choose(ctx context.Context, l *linear, nodes []int, y *mat.Dense, weight []float64) (float64, error) {
	in, out := fifth(nodes)
	if len(in) == 0 || len(out) == 0 {
		return 1, nil // nothing to choose by
	}
	_, k := y.Dims()
	part := func(rows []int) (where []int, values *mat.Dense, w []float64) {
		values = mat.NewDense(len(rows), k, nil)
		for at, r := range rows {
			where, w = append(where, nodes[r]), append(w, weight[r])
			values.SetRow(at, y.RawRowView(r))
		}
		return where, values, w
	}
	trainNodes, trainY, trainWeight := part(in)
	testNodes, testY, testWeight := part(out)
	r, test := newRidge(c.pick(trainNodes), trainY, trainWeight), c.pick(testNodes)
	best, least := 1.0, math.Inf(1)
	for _, penalty := range penalties {
		beta, err := r.solve(ctx, penalty)
		if err != nil {
			return 0, err
		}
		predicted := r.predict(beta, test)
		if e := squaredError(predicted, testY, testWeight); e < least {
			best, least = penalty, e
			l.heldOut, l.predicted = out, predicted
		}
	}
	return best, nil
}

func squaredError(a, b *mat.Dense, weight []float64) float64 {
	sum := 0.0
	for i, w := range weight {
		x, y := a.RawRowView(i), b.RawRowView(i)
		for t := range x {
			sum += w * (x[t] - y[t]) * (x[t] - y[t])
		}
	}
	return sum
}

// fifth divides rows into four fifths and one fifth, by their nodes, which stay together. The
// division depends only on which nodes there are.
func fifth(nodes []int) (in, out []int) {
	unique := distinct(nodes)
	random := rand.New(rng.New(0, "held-out fifth"))
	random.Shuffle(len(unique), func(a, b int) { unique[a], unique[b] = unique[b], unique[a] })
	held := map[int]bool{}
	for _, i := range unique[:len(unique)/5] {
		held[i] = true
	}
	for r, i := range nodes {
		if held[i] {
			out = append(out, r)
		} else {
			in = append(in, r)
		}
	}
	return in, out
}
