package study

// Query returns the query of the next ask for count nodes.
func (s *State) Query(count int) Query { return s.query(count) }

// Available reports whether a node may be suggested, as far as its own history goes.
func (s *State) Available(id string) bool { return s.available(id) }
