package server_test

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"regexp"
	"strings"
	"testing"

	"grfgp/server"
)

// Numbers that are not finite stop at the door, however they are written.
func TestNotFiniteIn(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	h.Create(20)
	h.Must("POST", "/v1/studies/s/asks", `{"count":2}`, nil)
	graph := h.PutRing(20)
	for _, v := range []string{"NaN", "nan", "Infinity", "-Infinity", "inf", "-Inf", "+Inf", "1e999", "-1e999", `"NaN"`, `"-Infinity"`,
		`"inf"`, `"1e999"`} {
		for path, body := range map[string]string{
			"PUT /v1/studies/s/trials/1/result": `{"value":%s}`,
			"POST /v1/studies/s/observations":   `{"observations":[{"node":"n1","value":1},{"node":"n2","value":%s}]}`,
			"POST /v1/studies?by=a":             `{"name":"x","graph":"` + graph + `","budget":%s}`,
			"POST /v1/studies?by=b":             `{"name":"x","graph":"` + graph + `","cost":{"n1":%s}}`,
			"POST /v1/studies?by=c":             `{"name":"x","graph":"` + graph + `","spec":{"noise_sd":%s}}`,
			"POST /v1/studies?by=d":             `{"name":"x","graph":"` + graph + `","spec":{"mean":%s}}`,
		} {
			method, at, _ := strings.Cut(path, " ")
			a := h.Do(method, at, fmt.Sprintf(body, v))
			p := h.problem(a)
			text := v[0] == '"' && strings.Contains(at, "by=") // a text where a number is wanted
			if a.Status != 422 && !(text && a.Status == 400) {
				t.Errorf("%s %s: %d %+v", at, v, a.Status, p)
			}
		}
		goal := strings.Trim(v, `"`)
		if a := h.Do("POST", "/v1/studies", map[string]any{"name": "x", "graph": graph, "goal": "threshold=" + goal}); a.Status/100 != 4 {
			t.Errorf("threshold=%s: %d %s", goal, a.Status, a.Body)
		}
		if a := h.Do("GET", "/v1/graphs/"+graph+"/edges?box=0,0,1,"+goal, nil); a.Status != 400 && goal != "+Inf" {
			t.Errorf("box %s: %d", goal, a.Status)
		}
		csv := "source,target,weight\nn1,n2," + goal + "\nn2,n3,1\n"
		if a := h.Do("POST", "/v1/graphs", csv, "Content-Type: text/csv"); a.Status == 201 && !strings.EqualFold(goal, "nan") {
			t.Errorf("a weight of %s is taken: %s", goal, a.Body)
		}
	}
	var view struct {
		Values int
		Trials map[string]int
	}
	if h.Must("GET", "/v1/studies/s", nil, &view); view.Values != 0 || view.Trials["pending"] != 2 {
		t.Errorf("something was taken: %+v", view)
	}
}

// word finds what no JSON has, outside of texts.
var word = regexp.MustCompile(`(?i)[:\[,]\s*[-+]?(nan|inf)`)

// Numbers at the end of what float64 holds go in, and nothing that is not finite
// comes out of any endpoint: neither in JSON, nor in CSV, nor in columns.
func TestNotFiniteOut(t *testing.T) {
	t.Parallel()
	for name, values := range map[string][]float64{
		"largest":  {1e308, -1e308, 1e308, -1e308, math.MaxFloat64, -math.MaxFloat64},
		"smallest": {5e-324, 0, -5e-324, 1e-308, 2e-308, 3e-308},
		"mixed":    {1e308, 1, 2, 3, 4, 5e-324},
		"usual":    {1, 2, 3, 4, 5, 3},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHost(t, func(o *server.Options) { o.NewEngine = nil }) // the real one
			h.Create(30)
			var issued struct{ Trials []struct{ Trial int } }
			h.Must("POST", "/v1/studies/s/asks", `{"count":6}`, &issued)
			for k, v := range values {
				h.Must("PUT", fmt.Sprintf("/v1/studies/s/trials/%d/result", k+1), map[string]any{"value": v}, nil)
			}
			modelled := 0
			for _, r := range server.RouteList() {
				paths := []string{concrete(r.Path)}
				switch {
				case r.Method != "GET":
					continue
				case strings.HasSuffix(r.Path, "/predictions"):
					paths = append(paths, paths[0]+"?format=csv", paths[0]+"?format=columns", paths[0]+"?sort=-sd", paths[0]+"?node=n1")
				case strings.HasSuffix(r.Path, "/history"):
					paths = append(paths, paths[0]+"?random=yes")
				case strings.HasSuffix(r.Path, "/trials"), strings.HasSuffix(r.Path, "/observations"):
					paths = append(paths, paths[0]+"?format=csv")
				}
				for _, path := range paths {
					a := h.Do("GET", path, nil)
					if a.Status >= 500 || a.Status == 200 && len(a.Body) == 0 {
						t.Errorf("%s: %d %s", path, a.Status, a.Body)
					}
					if a.Status == 200 && strings.HasSuffix(path, "/predictions") {
						modelled++
					}
					checkFinite(t, path, a)
				}
			}
			if a := h.Do("POST", "/v1/studies/s/asks", `{"count":2}`); a.Status >= 500 {
				t.Errorf("ask: %d %s", a.Status, a.Body)
			} else {
				checkFinite(t, "asks", a)
			}
			if name == "usual" && modelled == 0 {
				t.Error("no model was looked at")
			}
		})
	}
}

// checkFinite looks for numbers that are none.
func checkFinite(t *testing.T, path string, a answer) {
	t.Helper()
	switch kind, _, _ := strings.Cut(a.Header.Get("Content-Type"), ";"); kind {
	case "application/json", "application/problem+json":
		if !json.Valid(a.Body) || word.Match(a.Body) {
			t.Errorf("%s: %s", path, a.Body)
		}
	case "text/csv":
		if regexp.MustCompile(`(?i)(^|,)[-+]?(nan|inf)`).Match(a.Body) {
			t.Errorf("%s: %s", path, a.Body)
		}
	case server.ColumnsType:
		c := readColumns(t, a.Body)
		for name, column := range c.floats {
			for _, v := range column {
				if f := float64(v); math.IsNaN(f) || math.IsInf(f, 0) {
					t.Errorf("%s: %s has %v", path, name, v)
				}
			}
		}
		if word.Match(c.head) {
			t.Errorf("%s: %s", path, c.head)
		}
	}
}

// table is binary columns as a client reads them.
type table struct {
	head   []byte
	floats map[string][]float32
	counts map[string][]uint32
	bytes  map[string][]byte
}

func readColumns(t testing.TB, body []byte) table {
	t.Helper()
	if !bytes.HasPrefix(body, []byte("GRFGPCO1")) {
		t.Fatalf("columns begin with %q", body[:8])
	}
	size := int(binary.LittleEndian.Uint32(body[8:]))
	base := 12 + size
	if base%8 != 0 {
		t.Errorf("data begin at byte %d", base)
	}
	out := table{body[12:base], map[string][]float32{}, map[string][]uint32{}, map[string][]byte{}}
	var head struct {
		Columns []struct {
			Name, Type   string
			Rows, Offset int
		}
	}
	if err := json.Unmarshal(out.head, &head); err != nil {
		t.Fatal(err)
	}
	for _, c := range head.Columns {
		data := body[base+c.Offset:]
		if c.Offset%4 != 0 {
			t.Errorf("%s begins at byte %d", c.Name, c.Offset)
		}
		numbers := func() (all []uint32) {
			for k := range c.Rows {
				all = append(all, binary.LittleEndian.Uint32(data[4*k:]))
			}
			return all
		}
		switch c.Type {
		case "float32":
			for _, bits := range numbers() {
				out.floats[c.Name] = append(out.floats[c.Name], math.Float32frombits(bits))
			}
		case "uint32":
			out.counts[c.Name] = numbers()
		case "uint16":
			for k := range c.Rows {
				out.counts[c.Name] = append(out.counts[c.Name], uint32(binary.LittleEndian.Uint16(data[2*k:])))
			}
		case "uint8":
			out.bytes[c.Name] = data[:c.Rows]
		default:
			t.Errorf("a column of the type %s", c.Type)
		}
	}
	return out
}
