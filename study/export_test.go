package study

// Query returns the query of the next ask for count nodes.
func (s *State) Query(count int) Query { return s.query(count) }
