package server

import (
	_ "embed"
	"net/http"

	"grfgp/bayesopt"
	"grfgp/study"
)

// apiVersion is the version of the HTTP API.
const apiVersion = 1

//go:embed openapi.json
var openAPIDocument []byte

func (s *Server) openAPI(w http.ResponseWriter, _ *http.Request) error {
	w.Header().Set("Content-Type", "application/json")
	w.Write(openAPIDocument)
	return nil
}

func (s *Server) health(w http.ResponseWriter, _ *http.Request) error {
	select {
	case <-s.stopping:
		return stopping.because("the server is shutting down").after(2)
	default:
		return respond(w, http.StatusOK, map[string]string{"status": "ok"})
	}
}

func (s *Server) meta(w http.ResponseWriter, r *http.Request) error {
	studies, err := s.opts.Store.Studies(r.Context())
	if err != nil {
		return err
	}
	l, who := s.opts.Limits, callerOf(r)
	token, err := s.needsToken()
	if err != nil {
		return err
	}
	answer := map[string]any{
		"program": "grfgp", "version": s.opts.Version, "api": apiVersion, "read_only": s.opts.ReadOnly, "token": token, "name": who.name,
		"role": who.role, "studies": len(studies),
		"goals": []string{"maximize", "minimize", "learn", "threshold="}, "policies": bayesopt.PolicyNames(), "values": study.Kinds(),
		"limits": map[string]any{
			"body_bytes": l.Body, "graph_bytes": l.Graph, "rows": l.Rows, "page": l.Page, "id_bytes": study.MaxID, "note_bytes": study.MaxNote,
			"ask_count":  study.MaxCount,
			"concurrent": l.Concurrent, "streams": l.Streams, "uploads": l.Uploads, "downloads": l.Downloads, "studies_in_memory": l.Studies,
			"keep": l.Keep.String(), "map_nodes": l.MapNodes, "memory_bytes": s.memory.most, "model_time": l.ModelTime.String(),
			"patience": l.Patience.String(), "body_timeout": l.BodyTime.String(), "idle_timeout": l.IdleTime.String(),
		},
	}
	if b := s.basemapView(); b != nil {
		answer["basemap"] = b
	}
	return respond(w, http.StatusOK, answer)
}
