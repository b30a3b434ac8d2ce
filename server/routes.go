package server

import (
	"net/http"
	"slices"
	"strings"
)

// route is what can be done at a path.
type route struct {
	method string
	path   string
	handle func(*Server, http.ResponseWriter, *http.Request) error
	kind   routeKind
}

// routeKind says who may use a route and how it is counted.
type routeKind int

const (
	ordinary routeKind = iota
	public             // needs no token and no place in the queue
)

// routes are all there are.
var routes = []route{
	{"GET", "/{$}", (*Server).index, public},
	{"GET", "/assets/{path...}", (*Server).asset, public},
	{"GET", "/healthz", (*Server).health, public},
	{"GET", "/metrics", (*Server).showMetrics, ordinary},
	{"GET", "/v1/meta", (*Server).meta, ordinary},
	{"GET", "/v1/openapi.json", (*Server).openAPI, ordinary},

	{"GET", "/v1/graphs", (*Server).listGraphs, ordinary},
	{"POST", "/v1/graphs", (*Server).putGraph, ordinary},
	{"GET", "/v1/graphs/{g}", (*Server).getGraph, ordinary},

	{"GET", "/v1/studies", (*Server).listStudies, ordinary},
	{"POST", "/v1/studies", (*Server).createStudy, ordinary},
	{"POST", "/v1/imports", (*Server).importStudy, ordinary},
	{"GET", "/v1/studies/{s}", (*Server).showStudy, ordinary},
	{"POST", "/v1/studies/{s}/pause", (*Server).pause, ordinary},
	{"POST", "/v1/studies/{s}/resume", (*Server).resume, ordinary},
	{"POST", "/v1/studies/{s}/close", (*Server).close, ordinary},
	{"GET", "/v1/studies/{s}/export", (*Server).export, ordinary},

	{"POST", "/v1/studies/{s}/asks", (*Server).ask, ordinary},
	{"GET", "/v1/studies/{s}/trials", (*Server).listTrials, ordinary},
	{"GET", "/v1/studies/{s}/trials/{t}", (*Server).showTrial, ordinary},
	{"PUT", "/v1/studies/{s}/trials/{t}/result", (*Server).tell, ordinary},
	{"POST", "/v1/studies/{s}/trials/{t}/lease", (*Server).renew, ordinary},
	{"POST", "/v1/studies/{s}/trials/{t}/release", (*Server).release, ordinary},
	{"POST", "/v1/studies/{s}/trials/{t}/abandon", (*Server).abandon, ordinary},

	{"GET", "/v1/studies/{s}/observations", (*Server).listObservations, ordinary},
	{"POST", "/v1/studies/{s}/observations", (*Server).observe, ordinary},
	{"DELETE", "/v1/studies/{s}/observations/{o}", (*Server).retract, ordinary},

	{"GET", "/v1/studies/{s}/predictions", (*Server).predictions, ordinary},
	{"GET", "/v1/studies/{s}/history", (*Server).history, ordinary},
	{"GET", "/v1/studies/{s}/calibration", (*Server).calibration, ordinary},
	{"GET", "/v1/studies/{s}/candidates", (*Server).candidates, ordinary},
	{"GET", "/v1/studies/{s}/map", (*Server).showMap, ordinary},
	{"GET", "/v1/studies/{s}/events", (*Server).events, ordinary},
}

// mux finds the route of a request; where there is none it answers with a problem.
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
		mux.Handle(path, s.endpoint(route{path: path, kind: public, handle: func(_ *Server, _ http.ResponseWriter, r *http.Request) error {
			p := wrongMethod.because("%s cannot be done here; there is %s", r.Method, strings.Join(methods, ", "))
			p.allow = strings.Join(methods, ", ")
			return p
		}}))
	}
	mux.Handle("/", s.endpoint(route{path: "/", kind: public, handle: func(*Server, http.ResponseWriter, *http.Request) error {
		return notFound.because("there is nothing at this path; /v1/openapi.json lists what there is")
	}}))
	return mux
}
