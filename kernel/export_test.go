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

// SetProductEntries makes products of kernels form fewer entries at a time. It returns
// the number so far.
func SetProductEntries(n int) (before int) {
	before, productEntries = productEntries, n
	return before
}

// SetCompactFrom sets the number of nodes from which Φ of all nodes is compact;
// the result resets it.
func SetCompactFrom(n int) (reset func()) {
	was := compactFrom
	compactFrom = n
	return func() { compactFrom = was }
}

// FullColumns returns the number of full columns of the features of a list, and of all columns.
func FullColumns(cov Covariance, rows []int) (full, width int) {
	f := cov.(*grfCovariance).factor(rows)
	return f.fulls().count, f.width
}

// KeepsCells reports whether covariances of cells are kept for further rows.
func KeepsCells(cov Covariance) bool { return cov.(*multiscaleCovariance).kept.above != nil }

// SetSharedCells sets the least number of nodes per rank of a scale that ranks share; the
// result resets it.
func SetSharedCells(n int) (reset func()) {
	was := sharedCells
	sharedCells = n
	return func() { sharedCells = was }
}

// LoneSample returns the nodes whose spread is taken for that of all, nil where there are no lone nodes.
func LoneSample(k Kernel) []int {
	if l, ok := k.(*lone); ok {
		return l.sample
	}
	return nil
}
