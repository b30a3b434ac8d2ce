package meter

import (
	"testing"
	"time"
)

// TestMeter: passes count between Begin and End only, and Begin starts from zero.
func TestMeter(t *testing.T) {
	Start().Done(7)
	Begin()
	p := Start()
	time.Sleep(time.Millisecond)
	p.Done(100)
	Start().Done(20)
	if r := End(); r.Bytes != 120 || r.Seconds < 1e-3 {
		t.Errorf("%+v", r)
	}
	Start().Done(7)
	Begin()
	if r := End(); r != (Reading{}) {
		t.Errorf("%+v after a new beginning", r)
	}
}
