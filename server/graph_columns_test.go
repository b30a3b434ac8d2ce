package server_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"grfgp/server/servertest"
)

// putWells keeps a ring with the table of wells and returns its id.
func (s *host) putWells() string {
	s.T.Helper()
	part := func(name, text string) string {
		return fmt.Sprintf("--cut\r\nContent-Disposition: form-data; name=%q; filename=\"f.csv\"\r\n\r\n%s\r\n", name, text)
	}
	var g struct {
		ID      string
		Columns []struct {
			Name, Kind, Role string
			Missing          int
		}
	}
	s.Must("POST", "/v1/graphs", part("nodes", servertest.Wells())+part("edges", ring(30))+"--cut--\r\n", &g,
		"Content-Type: multipart/form-data; boundary=cut")
	got := fmt.Sprint(g.Columns)
	if want := "[{depth number  0} {type category  0} {drilled date  3} {serial identifier  0} {group category group 0}]"; got != want {
		s.T.Errorf("columns %s, want %s", got, want)
	}
	s.Must("GET", "/v1/graphs/"+g.ID+"/columns", nil, &g)
	if again := fmt.Sprint(g.Columns); again != got {
		s.T.Errorf("columns %s after an upload with %s", again, got)
	}
	return g.ID
}

// A study uses columns of the node table; predictions and calibration say that the
// model has them.
func TestCovariatesOfAStudy(t *testing.T) {
	t.Parallel()
	h := newHost(t, servertest.WithEngine)
	graph := h.putWells()
	settings := map[string]any{"name": "wells", "graph": graph, "goal": "learn", "covariates": []string{"depht"},
		"spec": map[string]any{"roles": "none"}}
	p := h.refused("invalid", 400, "POST", "/v1/studies", settings)
	if !strings.Contains(p.Detail, `did you mean "depth"`) || !strings.Contains(p.Detail, "drilled") {
		t.Errorf("%q names neither the nearest column nor all", p.Detail)
	}
	settings["covariates"] = []string{"depth", "type"}
	d := readDocument(t)
	d.conforms(t, "POST", "/v1/studies", h.Must("POST", "/v1/studies", settings, nil))
	h.Must("POST", "/v1/studies/wells/observations", map[string]any{"observations": servertest.WellValues(24)}, nil)
	var answer struct {
		Terms    []string
		Baseline map[string]*float64 `json:"baseline_rmse"`
	}
	for _, path := range []string{"predictions", "calibration"} {
		a := h.Must("GET", "/v1/studies/wells/"+path, nil, &answer)
		d.conforms(t, "GET", "/v1/studies/{s}/"+path, a)
		if !slices.Contains(answer.Terms, "covariates") || slices.Contains(answer.Terms, "roles") {
			t.Errorf("%s: terms %v", path, answer.Terms)
		}
	}
	if answer.Baseline["least squares on covariates"] == nil {
		t.Errorf("baselines %v", answer.Baseline)
	}
	var effects struct {
		Columns []struct{ Column string }
		Words   []string
	}
	d.conforms(t, "GET", "/v1/studies/{s}/effects", h.Must("GET", "/v1/studies/wells/effects", nil, &effects))
	if len(effects.Columns) != 4 || effects.Columns[0].Column != "depth" ||
		!strings.Contains(strings.Join(effects.Words, "; "), "all columns together") {
		t.Errorf("effects %+v", effects)
	}
	// A column that is what is measured is said to be so.
	settings["name"] = "disguised"
	h.Must("POST", "/v1/studies", settings, nil)
	values := servertest.WellValues(24)
	for i := range values {
		values[i].Value = 3*servertest.WellDepth(i) - 2
	}
	h.Must("POST", "/v1/studies/disguised/observations", map[string]any{"observations": values}, nil)
	var caution struct{ Warnings []string }
	d.conforms(t, "GET", "/v1/studies/{s}/calibration", h.Must("GET", "/v1/studies/disguised/calibration", nil, &caution))
	if len(caution.Warnings) != 1 || !strings.Contains(caution.Warnings[0], "depth") {
		t.Errorf("warnings %q", caution.Warnings)
	}
	h.refused("not-found", 404, "GET", "/v1/graphs/none/columns", nil)
}
