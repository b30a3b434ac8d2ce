package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"grfgp/server/servertest"
)

// TestPageAccessible has axe look at every view, on a phone and on a desk, in light and in
// dark: it finds nothing serious.
func TestPageAccessible(t *testing.T) {
	axe := axeSource(t)
	if axe == "" {
		t.Skip("nobody looked whether the page is accessible: axe-core is not here (npm ci in server/web)")
	}
	inBrowser(t)
	l := servertest.Village(t)
	h := l.Host(t, "maximize", "speeds", "second")
	l.Measure(h, "speeds", 4)
	h.Must("POST", "/v1/studies/speeds/asks", map[string]any{"count": 2, "holder": "ben"}, nil)
	d := draft(h, servertest.File{"options", `{"values":"class"}`}, servertest.File{"edges", servertest.Ring(20)},
		servertest.File{"measurements", "node,class\nn0,oak\nn1,oak\nn3,oak\nn4,oak\nn10,beech\nn11,beech\nn13,beech\nn14,beech\n"})
	h.Must("POST", "/v1/studies?draft="+d, map[string]any{"name": "trees", "labels": true, "goal": "learn"}, nil)
	views := []struct{ name, address, ready string }{
		{"studies", "#/", ".studies .card"},
		{"question", "#/new", "#question-0"},
		{"start", "#/new", "#reading-sum"},
		{"map", "#/studies/speeds/map", ".map-legend .ramp"},
		{"next", "#/studies/speeds/next", ".suggestion"},
		{"progress", "#/studies/speeds/progress", ".line.best"},
		{"trust", "#/studies/speeds/trust", ".bar-goal"},
		{"values", "#/studies/speeds/values", ".values-view tbody tr"},
		{"log", "#/studies/speeds/log", ".log li"},
		{"settings", "#/studies/speeds/settings", "#set-budget"},
		{"compare", "#/compare/speeds/second", ".line.second"},
		{"classes", "#/studies/trees/map", ".class-legend"},
		{"classes-trust", "#/studies/trees/trust", ".trust-view table"},
	}
	for _, screen := range []struct {
		name          string
		width, height int64
	}{{"desk", 1440, 900}, {"phone", 390, 844}} {
		p := newTab(t, h.HTTP.URL, screen.width, screen.height)
		p.open("#/")
		p.waitFor("main *")
		eval[bool](p, axe+";true") // by the debugger: the page's policy would not let it in
		for _, view := range views {
			p.open(view.address)
			switch view.name {
			case "question":
				p.drop("#files", map[string]string{"a.csv": "from,to,length\na,b,1\nb,c,2\n"})
			case "start":
				p.drop("#files", map[string]string{"a.csv": servertest.Ring(12), "b.csv": "id,value\nn0,1.5\nn1,2.5\n"})
			}
			p.waitFor(view.ready)
			for _, scheme := range []string{"light", "dark"} {
				p.prefer(scheme)
				p.shoot(fmt.Sprintf("axe-%s-%s-%s", screen.name, scheme, view.name))
				for _, found := range p.axe() {
					t.Errorf("%s, %s, %s: %s", screen.name, scheme, view.name, found)
				}
			}
		}
	}
}

// axeSource is the program that looks whether a page is accessible, "" where it is not installed.
func axeSource(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "server", "web", "node_modules", "axe-core", "axe.min.js"))
	if err != nil {
		t.Log("axe-core is not here")
	}
	return string(text)
}

// axe returns what axe finds serious or worse.
func (p *tab) axe() []string {
	p.t.Helper()
	eval[bool](p, `(window.found = null, axe.run({ resultTypes: ["violations"] }).then((r) => { window.found = r.violations
		.filter((v) => ["serious", "critical"].includes(v.impact))
		.map((v) => v.id + ": " + v.help + "\n  " + v.nodes.slice(0, 3).map((n) => n.html.slice(0, 200)).join("\n  ")); },
		(e) => { window.found = ["axe: " + e]; }), true)`)
	p.wait("window.found")
	return eval[[]string](p, "window.found")
}
