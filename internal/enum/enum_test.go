package enum

import (
	"strings"
	"testing"
)

func TestEnum(t *testing.T) {
	t.Parallel()
	e := New("colour", "red", "green")
	for v, name := range e.Names() {
		text, err := e.Marshal(v)
		if err != nil || string(text) != name || e.Name(v) != name {
			t.Errorf("value %d is %s and %s, want %s (%v)", v, text, e.Name(v), name, err)
		}
		back := -1
		if err := e.Unmarshal(&back, text); err != nil || back != v {
			t.Errorf("%s comes back as %d, want %d (%v)", text, back, v, err)
		}
	}
	e.Names()[0] = "blue"
	if e.Name(0) != "red" {
		t.Error("the names can be changed from outside")
	}
	v := 1
	if err := e.Unmarshal(&v, []byte("blue")); err == nil || v != 1 || !strings.Contains(err.Error(), "red, green") {
		t.Errorf("an unknown name gives %d, %v", v, err)
	}
	if _, err := e.Marshal(2); err == nil || e.Valid(-1) || !strings.Contains(e.Name(2), "colour") {
		t.Errorf("value 2 is %s, %v", e.Name(2), err)
	}
}
