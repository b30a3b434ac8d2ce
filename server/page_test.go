package server_test

import (
	"context"
	"fmt"
	"testing"

	"grfgp/internal/city"
)

// TestPage looks at the page in a real browser. GRFGP_SCREENSHOTS=DIR keeps
// pictures of what it saw.
func TestPage(t *testing.T) {
	browser := chromium(t)
	for _, test := range []struct {
		name string
		run  func(*testing.T, context.Context)
	}{
		{"every view on every screen", testViews},
	} {
		t.Run(test.name, func(t *testing.T) { test.run(t, browser) })
	}
}

// busySite has a study under way and a second one to compare with.
func busySite(t *testing.T) *site {
	s := newSite(t, nil)
	c := city.New(1)
	id := s.putCity(c)
	for k, name := range []string{"speeds", "second"} {
		s.study(name, id, map[string]any{"goal": "maximize", "budget": 60, "seed": k})
		var first []reading
		for r, i := range c.Sensors {
			if r%6 == k {
				first = append(first, reading{c.Graph.Labels().At(i), c.Readings[r]})
			}
		}
		s.observe(name, first...)
		for range 8 {
			for _, trial := range s.ask(name, 2, "anna") {
				i, _ := c.Graph.Labels().Lookup([]byte(trial.Node))
				s.tell(name, trial.Trial, c.Truth[i])
			}
		}
		s.ask(name, 3, "ben")
	}
	return s
}

// Every view is there on a desk and on a phone, in light and in dark, and none
// is wider than its screen.
func testViews(t *testing.T, browser context.Context) {
	s := busySite(t)
	views := []struct{ name, address, ready string }{
		{"studies", "#/", ".studies .card"},
		{"new", "#/new", "#new-name"},
		{"map", "#/studies/speeds/map", "#map[data-seq] ~ *"},
		{"next", "#/studies/speeds/next", ".trial"},
		{"progress", "#/studies/speeds/progress", ".line.best"},
		{"trust", "#/studies/speeds/trust", ".bar-goal"},
		{"log", "#/studies/speeds/log", ".log li"},
		{"compare", "#/compare/speeds/second", ".line.second"},
	}
	for _, screen := range []struct {
		name, scheme  string
		width, height int64
	}{
		{"desk", "light", 1280, 900},
		{"dark", "dark", 1280, 900},
		{"phone", "light", 360, 740},
	} {
		t.Run(screen.name, func(t *testing.T) {
			p := newTab(t, browser, s.URL, screen.width, screen.height)
			p.prefer(screen.scheme)
			for _, view := range views {
				p.open(view.address)
				p.waitFor(view.ready)
				if view.name == "map" {
					p.wait(`document.querySelector(".map-legend .ramp")`)
				}
				if wide := eval[int64](p, "document.documentElement.scrollWidth"); wide > screen.width {
					t.Errorf("%s is %d pixels wide", view.name, wide)
				}
				p.shoot(fmt.Sprintf("%s-%s", screen.name, view.name))
			}
			light := eval[bool](p, `getComputedStyle(document.body).backgroundColor.match(/\d+/g).slice(0, 3).every((v) => Number(v) > 128)`)
			if light != (screen.scheme == "light") {
				t.Errorf("the page is light: %v, in %s", light, screen.scheme)
			}
		})
	}
}
