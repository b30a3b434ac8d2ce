package server

import (
	"fmt"
	"net/http"
	"sync"

	"grfgp"
	"grfgp/bayesopt"
	"grfgp/graphio"
	"grfgp/internal/city"
	"grfgp/store"
	"grfgp/study"
)

// demoSeed is that of the city.
const demoSeed = 1

// demoCity is the network and the first measurements of the demo, made once.
var demoCity = sync.OnceValues(func() (*draft, error) {
	c := city.New(demoSeed)
	packed, err := graphio.Encode(&graphio.Network{Graph: c.Graph, Nodes: &graphio.NodeTable{IDs: c.Graph.IDs(), X: c.X, Y: c.Y}})
	made := &draft{packed: packed}
	for k, node := range c.Sensors {
		made.measurements = append(made.measurements, study.Measurement{Node: c.Graph.IDs().At(node), Value: c.Readings[k]})
	}
	return made, err
})

// demoSettings are those of the demo: where is traffic slowest? The model is one that is fitted
// within seconds.
func demoSettings(name string) study.Settings {
	budget := 40.0
	return study.Settings{
		Name: name, Unit: "km/h", Goal: bayesopt.Minimize, Budget: &budget, Seed: demoSeed,
		Spec: grfgp.Spec{Expression: grfgp.Expression{Family: "matern", Nu: 2, Method: "dense", Scales: "one"}, Seed: demoSeed, Roles: "none"},
	}
}

// postDemo creates a study on a made-up city, with speeds at 150 junctions, so that somebody
// sees a study before they have one. Asked again, it shows the same study.
func (s *Server) postDemo(w http.ResponseWriter, r *http.Request) error {
	q := only(r, "by")
	if q.err != nil {
		return q.err
	}
	made, err := demoCity()
	if err != nil {
		return err
	}
	name := "demo"
	for k := 2; ; k++ {
		o, err := s.study(r.Context(), name)
		if err != nil {
			break
		}
		if o.Settings().Graph == store.GraphID(made.packed) {
			return s.created(w, o, false)
		}
		name = fmt.Sprintf("demo-%d", k) // another study has the name
	}
	o, isNew, err := s.studyFrom(r, made, demoSettings(name), by(r, q.text("by")))
	if err != nil {
		return err
	}
	return s.created(w, o, isNew)
}
