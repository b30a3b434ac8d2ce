package meter

import (
	"testing"
	"testing/synctest"
	"time"
)

// TestMeter: passes count between Begin and End only, and Begin starts from zero.
func TestMeter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // by a clock of its own
		Start().Done(7)
		Begin()
		p := Start()
		time.Sleep(time.Second)
		p.Done(100)
		Start().Done(20)
		if r := End(); r.Bytes != 120 || r.Seconds != 1 {
			t.Errorf("%+v", r)
		}
	})
	Start().Done(7)
	Begin()
	if r := End(); r != (Reading{}) {
		t.Errorf("%+v after a new beginning", r)
	}
}
