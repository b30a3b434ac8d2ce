package server_test

import (
	"encoding/csv"
	"fmt"
	"math"
	"strings"
	"testing"

	"grfgp/study"
)

// Numbers tested travel with the results: told, observed, listed, and in rates of nodes.
func TestExposures(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	h.Create(10, func(s *study.Settings) { s.Spec.Values = "share" })
	var shown struct{ Settings study.Settings }
	h.Must("GET", "/v1/studies/s", nil, &shown)
	if !shown.Settings.Exposures {
		t.Errorf("settings %+v", shown.Settings)
	}
	for _, body := range []string{`{"value":3}`, `{"value":3,"exposure":2}`, `{"value":3,"exposure":-2}`} {
		h.Must("POST", "/v1/studies/s/asks", nil, nil)
		h.refused("invalid", 400, "PUT", "/v1/studies/s/trials/1/result", body)
	}
	h.refused("not-finite", 422, "PUT", "/v1/studies/s/trials/1/result", `{"value":3,"exposure":"NaN"}`)
	var trial study.Trial
	h.Must("PUT", "/v1/studies/s/trials/1/result", `{"value":3,"exposure":4}`, &trial)
	if trial.Exposure != 4 || *trial.Value != 3 {
		t.Errorf("%+v", trial)
	}
	rows := []study.Measurement{{Node: "n0", Value: 1, Exposure: 2}, {Node: "n0", Value: 1, Exposure: 6}, {Node: "n5", Value: 0, Exposure: 9},
		{Node: "n6", Value: 9, Exposure: 9}, {Node: "n7", Value: 3, Exposure: 9}}
	h.Must("POST", "/v1/studies/s/observations", map[string]any{"observations": rows}, nil)
	refused := h.refused("invalid", 400, "POST", "/v1/studies/s/observations",
		map[string]any{"observations": []study.Measurement{{Node: "n1", Value: 1}}})
	if !strings.Contains(refused.Detail, "number tested") {
		t.Errorf("%+v", refused)
	}
	table, err := csv.NewReader(strings.NewReader(string(h.Do("GET", "/v1/studies/s/observations?format=csv", nil).Body))).ReadAll()
	if err != nil || fmt.Sprint(table[0][:4], table[1][2:4]) != "[observation node value exposure] [3 4]" {
		t.Errorf("%v, %v", table, err)
	}
	var p struct{ Nodes []struct{ Value float64 } }
	h.Must("GET", "/v1/studies/s/predictions?node=n0", nil, &p)
	told := 2.0 / 8
	if trial.Node == "n0" {
		told = 5.0 / 12
	}
	if got := p.Nodes[0].Value; math.Abs(got-told) > 1e-12 {
		t.Errorf("rate %v at n0, want %v", got, told)
	}
	var history struct{ Points []study.HistoryPoint }
	h.Must("GET", "/v1/studies/s/history", nil, &history)
	if n := len(history.Points); n != 6 || *history.Points[n-1].Best != 1 {
		t.Errorf("%+v", history)
	}
}
