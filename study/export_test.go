package study

// Query returns the query of the next ask for count nodes.
func (s *State) Query(count int) Query { return s.query(count) }

// Available reports whether a node may be suggested, as far as its own history goes.
func (s *State) Available(id string) bool { return s.available(id) }

// Clone returns a copy of the state.
func (s *State) Clone() *State { return s.clone() }

// Waiting returns the number of commands that wait to be written.
func (s *Study) Waiting() int {
	s.writing.Lock()
	defer s.writing.Unlock()
	return len(s.queue)
}
