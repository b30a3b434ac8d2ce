package server

import (
	"net/http"
	"slices"
	"strings"

	"grfgp/server/tokens"
)

// route is a method and path with the handler that answers it.
type route struct {
	method string
	path   string
	handle func(*Server, http.ResponseWriter, *http.Request) error
	public bool // needs no token and does not count towards Limits.Concurrent
	gate   gate
	role   tokens.Role // that it needs; empty: look to read, run to change
}

// needs returns the role that a request needs.
func (rt route) needs() tokens.Role {
	switch {
	case rt.role != "":
		return rt.role
	case rt.method == http.MethodGet:
		return tokens.Look
	}
	return tokens.Run
}

// routes are all routes of the server.
var routes = []route{
	{method: "GET", path: "/{$}", handle: (*Server).index, public: true},
	{method: "GET", path: "/assets/{path...}", handle: (*Server).asset, public: true},
	{method: "GET", path: "/worker.js", handle: (*Server).worker, public: true},
	{method: "GET", path: "/healthz", handle: (*Server).health, public: true},
	{method: "GET", path: "/readyz", handle: (*Server).ready, public: true},
	{method: "GET", path: "/metrics", handle: (*Server).showMetrics},
	{method: "GET", path: "/v1/meta", handle: (*Server).meta},
	{method: "GET", path: "/v1/openapi.json", handle: (*Server).openAPI},

	{method: "GET", path: "/v1/basemap/{z}/{x}/{y}", handle: (*Server).showTile},

	{method: "POST", path: "/v1/backup", handle: (*Server).backup, gate: downloads},

	{method: "GET", path: "/v1/graphs", handle: (*Server).listGraphs},
	{method: "POST", path: "/v1/graphs", handle: (*Server).putGraph, gate: uploads},
	{method: "GET", path: "/v1/graphs/{g}", handle: (*Server).getGraph, gate: downloads},
	{method: "DELETE", path: "/v1/graphs/{g}", handle: (*Server).deleteGraph},
	{method: "GET", path: "/v1/graphs/{g}/columns", handle: (*Server).showGraphColumns},
	{method: "GET", path: "/v1/graphs/{g}/places", handle: (*Server).showPlaces},
	{method: "GET", path: "/v1/graphs/{g}/edges", handle: (*Server).showEdges},

	{method: "POST", path: "/v1/drafts", handle: (*Server).postDraft, gate: uploads},
	{method: "POST", path: "/v1/demo", handle: (*Server).postDemo},

	{method: "GET", path: "/v1/studies", handle: (*Server).listStudies},
	{method: "POST", path: "/v1/studies", handle: (*Server).createStudy},
	{method: "POST", path: "/v1/imports", handle: (*Server).importStudy, gate: uploads},
	{method: "GET", path: "/v1/studies/{s}", handle: (*Server).showStudy},
	{method: "PATCH", path: "/v1/studies/{s}", handle: (*Server).changeSettings},
	{method: "DELETE", path: "/v1/studies/{s}", handle: (*Server).deleteStudy},
	{method: "POST", path: "/v1/studies/{s}/archive", handle: (*Server).archive},
	{method: "POST", path: "/v1/studies/{s}/restore", handle: (*Server).restore},
	{method: "POST", path: "/v1/studies/{s}/pause", handle: (*Server).pause},
	{method: "POST", path: "/v1/studies/{s}/resume", handle: (*Server).resume},
	{method: "POST", path: "/v1/studies/{s}/close", handle: (*Server).close},
	{method: "POST", path: "/v1/studies/{s}/retry", handle: (*Server).retry},
	{method: "GET", path: "/v1/studies/{s}/export", handle: (*Server).export, gate: downloads},

	{method: "POST", path: "/v1/studies/{s}/asks", handle: (*Server).ask, role: tokens.Measure},
	{method: "GET", path: "/v1/studies/{s}/operations", handle: (*Server).listOperations},
	{method: "GET", path: "/v1/studies/{s}/operations/{n}", handle: (*Server).showOperation},
	{method: "DELETE", path: "/v1/studies/{s}/operations/{n}", handle: (*Server).cancelOperation, role: tokens.Measure},
	{method: "GET", path: "/v1/studies/{s}/queue", handle: (*Server).showQueue},
	{method: "POST", path: "/v1/studies/{s}/queue", handle: (*Server).enqueue, role: tokens.Measure},
	{method: "DELETE", path: "/v1/studies/{s}/queue", handle: (*Server).unqueue, role: tokens.Measure},
	{method: "GET", path: "/v1/studies/{s}/trials", handle: (*Server).listTrials},
	{method: "GET", path: "/v1/studies/{s}/trials/{t}", handle: (*Server).showTrial},
	{method: "PUT", path: "/v1/studies/{s}/trials/{t}/result", handle: (*Server).tell, role: tokens.Measure},
	{method: "POST", path: "/v1/studies/{s}/trials/{t}/lease", handle: (*Server).renew, role: tokens.Measure},
	{method: "POST", path: "/v1/studies/{s}/trials/{t}/release", handle: (*Server).release, role: tokens.Measure},
	{method: "POST", path: "/v1/studies/{s}/trials/{t}/abandon", handle: (*Server).abandon, role: tokens.Measure},
	{method: "POST", path: "/v1/studies/{s}/trials/{t}/reopen", handle: (*Server).reopen, role: tokens.Measure},

	{method: "GET", path: "/v1/studies/{s}/observations", handle: (*Server).listObservations},
	{method: "POST", path: "/v1/studies/{s}/observations", handle: (*Server).observe, role: tokens.Measure},
	{method: "DELETE", path: "/v1/studies/{s}/observations/{o}", handle: (*Server).retract, role: tokens.Measure},
	{method: "POST", path: "/v1/studies/{s}/observations/{o}/reinstate", handle: (*Server).reinstate, role: tokens.Measure},

	{method: "GET", path: "/v1/studies/{s}/predictions", handle: (*Server).predictions},
	{method: "GET", path: "/v1/studies/{s}/history", handle: (*Server).history},
	{method: "GET", path: "/v1/studies/{s}/calibration", handle: (*Server).calibration},
	{method: "GET", path: "/v1/studies/{s}/effects", handle: (*Server).effects},
	{method: "GET", path: "/v1/studies/{s}/candidates", handle: (*Server).candidates},
	{method: "GET", path: "/v1/studies/{s}/map", handle: (*Server).showMap},
	{method: "GET", path: "/v1/studies/{s}/nodes", handle: (*Server).showNodes},
	{method: "GET", path: "/v1/studies/{s}/events", handle: (*Server).events},
}

// mux routes requests; a request without a route gets a problem document.
func (s *Server) mux() *http.ServeMux {
	mux := http.NewServeMux()
	allowed := map[string][]string{}
	for _, r := range routes {
		mux.Handle(r.method+" "+r.path, s.endpoint(r))
		allowed[r.path] = append(allowed[r.path], r.method)
		if r.method == "GET" {
			allowed[r.path] = append(allowed[r.path], "HEAD")
		}
	}
	for path, methods := range allowed {
		slices.Sort(methods)
		mux.Handle(path, s.endpoint(route{path: path, public: true, handle: func(_ *Server, _ http.ResponseWriter, r *http.Request) error {
			p := wrongMethod.because("method %s is not allowed; this path takes %s", r.Method, strings.Join(methods, ", "))
			p.allow = strings.Join(methods, ", ")
			return p
		}}))
	}
	mux.Handle("/", s.endpoint(route{path: "/", public: true, handle: func(*Server, http.ResponseWriter, *http.Request) error {
		return notFound.because("no such path; /v1/openapi.json lists all paths")
	}}))
	return mux
}
