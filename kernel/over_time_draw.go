package kernel

import (
	"context"
	"math"

	"gonum.org/v1/gonum/mat"
)

// timeDraw holds draws of the kernel on nodes: of the innovations of every period, and
// of what stays. A draw of K is their mixture by a matrix L with LLᵀ = ρ, so
//
//	g + K[·, x]u = (L ⊗ I)·(e + (I ⊗ k[·, x])(Lᵀ ⊗ I)u).
type timeDraw struct {
	cov   *timeCovariance
	x     *timeList
	parts []Draw // of each period, and last of what stays
	at    *mat.Dense
}

func (c *timeCovariance) draw(ctx context.Context, draws int, seed uint64, x []int) (Draw, error) {
	d := &timeDraw{cov: c, x: c.list(x)}
	begin := AbilitiesOf(c.graph).Draw
	n, periods := len(d.x.nodes), len(c.times)
	for p := range periods + 1 {
		from := seed
		if p < periods {
			from = periodSeed(seed, p)
		}
		part, err := begin(ctx, draws, from, d.x.nodes)
		if err != nil {
			return nil, err
		}
		d.parts = append(d.parts, part)
	}
	known := c.block(n*periods, draws) // at the nodes of x, in all periods
	defer c.release(known)
	for p := range periods {
		for i := range n {
			copy(known.RawRowView(p*n+i), d.parts[p].At().RawRowView(i))
		}
	}
	c.accumulate(known, d.parts[periods].At())
	d.at = mat.NewDense(len(x), draws, nil)
	everyRow(len(x), func(a int) {
		copy(d.at.RawRowView(a), known.RawRowView(d.x.periods[d.x.period[a]]*n+d.x.node[a]))
	})
	return d, ctx.Err()
}

func (d *timeDraw) At() *mat.Dense { return d.at }

func (d *timeDraw) Update(ctx context.Context, dst, u *mat.Dense) error {
	c, periods := d.cov, len(d.cov.times)
	_, draws := u.Dims()
	v := d.transposed(u)
	defer c.release(v)
	part := mat.NewDense(len(d.x.nodes), draws, nil)
	update := func(to *mat.Dense, p int) error {
		everyRow(len(d.x.nodes), func(i int) {
			copy(part.RawRowView(i), v.RawRowView(i)[p*draws:][:draws])
		})
		return d.parts[p].Update(ctx, to, part)
	}
	for p := range periods {
		if err := update(c.period(dst, p), p); err != nil {
			return err
		}
	}
	still := c.block(c.kernel.Nodes(), draws)
	defer c.release(still)
	if err := update(still, periods); err != nil {
		return err
	}
	c.accumulate(dst, still)
	return ctx.Err()
}

// transposed returns (Lᵀ ⊗ I)·u by nodes: the columns of each period, and last those of
// what stays.
func (d *timeDraw) transposed(u *mat.Dense) *mat.Dense {
	c, periods := d.cov, len(d.cov.times)
	_, draws := u.Dims()
	v := c.block(len(d.x.nodes), (periods+1)*draws)
	stays, changes := math.Sqrt(c.stays), math.Sqrt(c.changes)
	everyRow(len(d.x.nodes), func(i int) {
		row := v.RawRowView(i)
		clear(row)
		still := row[periods*draws:]
		for _, a := range d.x.rows[d.x.first[i]:d.x.first[i+1]] {
			to := row[d.x.periods[d.x.period[a]]*draws:][:draws]
			for s, w := range u.RawRowView(a) {
				still[s] += stays * w
				to[s] += changes * w
			}
		}
		for p := periods - 1; p > 0; p-- { // from the derivative by h_p to those by h_(p−1) and e_p
			before, new := c.innovation(p)
			here, there := row[p*draws:][:draws], row[(p-1)*draws:]
			for s, w := range here {
				there[s] += before * w
				here[s] = new * w
			}
		}
	})
	return v
}
