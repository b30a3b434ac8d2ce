package server

// RouteList lists the routes, for tests.
func RouteList() (list []struct{ Method, Path string }) {
	for _, r := range routes {
		list = append(list, struct{ Method, Path string }{r.method, r.path})
	}
	return list
}

// OpenAPI is the document as it is served.
func OpenAPI() []byte { return openAPIDocument }

// Specs is how many models are prepared for a graph.
func (s *Server) Specs(graph string) int {
	n := s.network(graph)
	n.making.Lock()
	defer n.making.Unlock()
	return len(n.engines)
}
