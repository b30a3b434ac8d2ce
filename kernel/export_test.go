package kernel

import "context"

// FewPairs limits the number of leading eigenpairs of an exact series on a graph
// of which all eigenpairs would otherwise be computed. It returns the number that
// it has.
func (s *Series) FewPairs(pairs, guard int) int {
	small, large := s.components()
	l := s.joined(s.somePairs(context.Background(), large, pairs, guard, leadingError), small)
	s.leading = func() *leading { return l }
	s.whole = func() *leading { return nil }
	if l == nil {
		return 0
	}
	return len(l.values)
}

// NoPairs makes an exact series work without eigenvectors.
func (s *Series) NoPairs() {
	s.leading = func() *leading { return nil }
	s.whole = s.leading
}

// InPieces returns a product of kernels that forms at most the given number of entries at a time.
func InPieces(k Kernel, entries int) Kernel {
	p := *k.(*product)
	p.entries = entries
	return &p
}

// CompactFrom makes Φ of all nodes compact from a number of nodes on. It is for a kernel that was
// not used yet.
func (k *GRF) CompactFrom(nodes int) { k.large = k.Nodes() > nodes }

// CompactFrom does that for the fine kernel, if it has features, and for every scale.
func (m *Multiscale) CompactFrom(nodes int) {
	if k, ok := m.fine.(interface{ CompactFrom(nodes int) }); ok {
		k.CompactFrom(nodes)
	}
	for _, s := range m.scales {
		s.grf.CompactFrom(nodes)
	}
}

// FullColumns returns the number of full columns of the features of a list, and of all columns.
func FullColumns(cov Covariance, rows []int) (full, width int) {
	f := cov.(*grfCovariance).factor(rows)
	return f.fulls().count, f.width
}

// KeepsCells reports whether covariances of cells are kept for further rows.
func KeepsCells(cov Covariance) bool { return cov.(*multiscaleCovariance).kept.above != nil }

// SharedFrom sets the least number of nodes per rank of a scale that ranks share.
func (m *Multiscale) SharedFrom(nodes int) { m.sharedFrom = nodes }

// LoneSample returns the nodes whose spread is taken for that of all, nil where there are no lone nodes.
func LoneSample(k Kernel) []int {
	if l, ok := k.(*lone); ok {
		return l.sample
	}
	return nil
}
