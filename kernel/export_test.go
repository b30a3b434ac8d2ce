package kernel

// FewPairs makes an exact series take so many leading eigenpairs of graphs that
// would otherwise have all of them taken. It returns how many there are.
func (s *Series) FewPairs(pairs, guard int) int {
	small, large := s.components()
	l := s.joined(s.somePairs(large, pairs, guard, leadingError), small)
	s.leading = func() *leading { return l }
	s.whole = func() *leading { return nil }
	if l == nil {
		return 0
	}
	return len(l.values)
}

// NoPairs makes an exact series do without eigenvectors.
func (s *Series) NoPairs() {
	s.leading = func() *leading { return nil }
	s.whole = s.leading
}
