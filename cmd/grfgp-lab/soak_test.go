package main

import (
	"encoding/json"
	"testing"

	"grfgp/internal/cli"
	"grfgp/internal/testkit"
	"grfgp/lab/load"
)

// A soak of a few seconds finds nothing wrong.
func TestSoak(t *testing.T) {
	testkit.Full(t)
	var answer load.Soaked
	r := runLine(t, "", "soak", "--time", "5s", "--clients", "4", "--program", product(t), "--json")
	if err := json.Unmarshal([]byte(r.out), &answer); r.code != cli.ExitOK || err != nil || answer.Told == 0 || answer.Compared < 3 {
		t.Errorf("%+v, %v", r, err)
	}
}
