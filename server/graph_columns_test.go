package server_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"grfgp/study"
)

// wellDepth is the column depth of a node of putWells. It has nothing to do with the ring.
func wellDepth(i int) float64 { return 1.5 * float64(rand.New(rand.NewPCG(1, 1)).Perm(30)[i]) }

// wells is a node table of a ring of 30 nodes, with several columns.
func wells() string {
	var nodes strings.Builder
	nodes.WriteString("id,depth,type,drilled,serial,group\n")
	for i := range 30 {
		drilled := fmt.Sprintf("2024-%02d-%02d", 1+i%12, 1+i%28)
		if i < 3 {
			drilled = ""
		}
		fmt.Fprintf(&nodes, "n%d,%v,%s,%s,S-%d-x,%c\n", i, wellDepth(i), []string{"rock", "sand", "clay"}[i%3], drilled, 1000+i*i, 'a'+i%2)
	}
	return nodes.String()
}

// wellValues are measurements that depend on depth alone.
func wellValues(n int) (all []study.Measurement) {
	for i := range n {
		x := wellDepth(i)
		all = append(all, study.Measurement{Node: fmt.Sprintf("n%d", i), Value: (x - 18) * (x - 18)})
	}
	return all
}

// putWells keeps a ring with the table of wells and returns its id.
func (s *host) putWells() string {
	s.t.Helper()
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
	s.must("POST", "/v1/graphs", part("nodes", wells())+part("edges", ring(30))+"--cut--\r\n", &g, "Content-Type: multipart/form-data; boundary=cut")
	got := fmt.Sprint(g.Columns)
	if want := "[{depth number  0} {type category  0} {drilled date  3} {serial identifier  0} {group category group 0}]"; got != want {
		s.t.Errorf("columns %s, want %s", got, want)
	}
	s.must("GET", "/v1/graphs/"+g.ID+"/columns", nil, &g)
	if again := fmt.Sprint(g.Columns); again != got {
		s.t.Errorf("columns %s after an upload with %s", again, got)
	}
	return g.ID
}

// A study uses columns of the node table; predictions and calibration say that the
// model has them.
func TestCovariatesOfAStudy(t *testing.T) {
	h := newHost(t, withEngine)
	graph := h.putWells()
	settings := map[string]any{"name": "wells", "graph": graph, "goal": "learn", "covariates": []string{"depht"}, "spec": map[string]any{"roles": "none"}}
	p := h.refused("invalid", 400, "POST", "/v1/studies", settings)
	if !strings.Contains(p.Detail, `did you mean "depth"`) || !strings.Contains(p.Detail, "drilled") {
		t.Errorf("%q names neither the nearest column nor all", p.Detail)
	}
	settings["covariates"] = []string{"depth", "type"}
	d := readDocument(t)
	d.conforms(t, "POST", "/v1/studies", h.must("POST", "/v1/studies", settings, nil))
	h.must("POST", "/v1/studies/wells/observations", map[string]any{"observations": wellValues(24)}, nil)
	var answer struct {
		Terms    []string
		Baseline map[string]*float64 `json:"baseline_rmse"`
	}
	for _, path := range []string{"predictions", "calibration"} {
		a := h.must("GET", "/v1/studies/wells/"+path, nil, &answer)
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
	d.conforms(t, "GET", "/v1/studies/{s}/effects", h.must("GET", "/v1/studies/wells/effects", nil, &effects))
	if len(effects.Columns) != 4 || effects.Columns[0].Column != "depth" || !strings.Contains(strings.Join(effects.Words, "; "), "all columns together") {
		t.Errorf("effects %+v", effects)
	}
	// A column that is what is measured is said to be so.
	settings["name"] = "disguised"
	h.must("POST", "/v1/studies", settings, nil)
	values := wellValues(24)
	for i := range values {
		values[i].Value = 3*wellDepth(i) - 2
	}
	h.must("POST", "/v1/studies/disguised/observations", map[string]any{"observations": values}, nil)
	var caution struct{ Warnings []string }
	d.conforms(t, "GET", "/v1/studies/{s}/calibration", h.must("GET", "/v1/studies/disguised/calibration", nil, &caution))
	if len(caution.Warnings) != 1 || !strings.Contains(caution.Warnings[0], "depth") {
		t.Errorf("warnings %q", caution.Warnings)
	}
	h.refused("not-found", 404, "GET", "/v1/graphs/none/columns", nil)
}
