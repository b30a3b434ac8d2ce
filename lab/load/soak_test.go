package load

import (
	"fmt"
	"strings"
	"testing"

	"grfgp/client"
	"grfgp/study"
)

// What is lost, twice or changed is found.
func TestSoakFindsFaults(t *testing.T) {
	one, two := 1.0, 2.0
	good := func() *client.Overview {
		return &client.Overview{
			AllTrials: []study.Trial{
				{Issued: study.Issued{Trial: 1, Node: "a"}, State: study.TrialDone, Value: &one},
				{Issued: study.Issued{Trial: 2, Node: "b"}, State: study.TrialFailed},
			},
			Observations: []study.Record{
				{Number: 1, Measurement: study.Measurement{Node: "a", Value: 1}, Trial: 1},
				{Number: 2, Measurement: study.Measurement{Node: "c", Value: 3}, Retracted: true},
			},
		}
	}
	of := &subject{
		name: "s", told: map[int]float64{1: 1}, failed: map[int]bool{2: true},
		asked:     map[string][]study.Issued{"k": {{Trial: 1, Node: "a"}, {Trial: 2, Node: "b"}}},
		observed:  map[string][]study.Record{"o": {{Number: 2, Measurement: study.Measurement{Node: "c", Value: 3}}}},
		retracted: map[int]bool{2: true},
	}
	for want, change := range map[string]func(*client.Overview){
		"":                                   func(*client.Overview) {},
		"result 1 of trial 1 is lost":        func(o *client.Overview) { o.AllTrials[0].Value = &two },
		"that trial 2 failed is lost":        func(o *client.Overview) { o.AllTrials[1].State = study.TrialExpired },
		"at node a, which is lost":           func(o *client.Overview) { o.AllTrials[0].Node = "x" },
		"observation 2 of key \"o\" is lost": func(o *client.Overview) { o.Observations = o.Observations[:1] },
		"2 was retracted is lost":            func(o *client.Overview) { o.Observations[1].Retracted = false },
		"2 observations were acknowledged, and there are 2 and 3": func(o *client.Overview) {
			o.Observations = append(o.Observations, study.Record{Number: 3, Measurement: o.Observations[1].Measurement})
		},
	} {
		s, shown := new(soak), good()
		change(shown)
		of.clone().compareWith(s, shown, true)
		if got := strings.Join(s.faults, "; "); !strings.Contains(got, want) || (want == "") != (got == "") {
			t.Errorf("%q, want %q", got, want)
		}
	}
	s := new(soak)
	for k := range 100 {
		s.fault("%d", k)
	}
	if len(s.faults) > 20 || fmt.Sprint(s.faults[0]) != "0" {
		t.Errorf("%v", s.faults)
	}
}
