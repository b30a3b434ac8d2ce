package gp

import "grfgp/kernel"

// newOneVsAll returns the regressions to +1 for a label's own class and −1 for
// the others. The noise is one for all, so classes share their factor.
func newOneVsAll(k kernel.Kernel, l Labels, p *params) (*regressions, float64) {
	order, begin := l.byClass()
	return &regressions{k, l.Select(order).Nodes, begin, side{target: 1}, side{target: -1}, 1, p}, 1
}
