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
