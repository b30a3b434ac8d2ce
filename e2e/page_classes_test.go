package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/chromedp/chromedp"

	"grfgp/server/servertest"
	"grfgp/study"
)

// treesHost has a study of classes on the village: oak in the west, beech in the east, pine in
// between, with some labels.
func treesHost(t *testing.T) (h *servertest.Host, class func(node string) string) {
	t.Helper()
	l := servertest.Village(t)
	h = l.Host(t, "learn")
	class = func(node string) string {
		i, ok := l.Graph.IDs().Lookup([]byte(node))
		if !ok {
			t.Fatalf("no node %q", node)
		}
		return []string{"oak", "pine", "beech"}[min(2, int(l.Nodes.X[i]/4.5))]
	}
	var graphs struct{ Graphs []struct{ ID string } }
	h.Must("GET", "/v1/graphs", nil, &graphs)
	h.Must("POST", "/v1/studies", map[string]any{"name": "trees", "graph": graphs.Graphs[0].ID, "goal": "learn",
		"classes": []string{"oak", "pine", "beech"}, "budget": 60,
		"spec": map[string]any{"family": "diffusion", "scales": "one", "roles": "none"}}, nil)
	var rows []study.Measurement
	for k := 0; k < len(l.Known); k += 3 {
		node := l.Graph.IDs().At(l.Known[k])
		rows = append(rows, study.Measurement{Node: node, Class: class(node)})
	}
	h.Must("POST", "/v1/studies/trees/observations", map[string]any{"observations": rows, "by": "anna"}, nil)
	return h, class
}

// Classes are chosen on the card, coloured and named on the map, and judged.
func TestClasses(t *testing.T) {
	inBrowser(t)
	h, class := treesHost(t)
	var ask study.Ask
	h.Must("POST", "/v1/studies/trees/asks", `{"count":1}`, &ask)
	node := ask.Trials[0].Node
	p := newTab(t, h.HTTP.URL, 1440, 900)
	p.open("#/studies/trees/map")
	p.waitFor("#value-1")
	p.waitText("#trial-1", "could be")
	p.click("#trial-1 button.primary")
	p.waitText("#trial-1", "Choose a class")
	p.click(fmt.Sprintf("#trial-1 .class-choice:has([value=%q])", class(node)))
	p.waitText("#trust-line", "Can I trust it?")
	p.shoot("classes-card")
	// What is chosen outlives a look elsewhere, and what was saved can be taken back.
	p.open("#/studies/trees/log")
	p.waitFor(".log")
	p.open("#/studies/trees/map")
	chosen := fmt.Sprintf(`document.querySelector("#trial-1 [value=%s]")?.checked`, class(node))
	p.wait(chosen)
	p.click("#trial-1 button.primary")
	p.waitText("#trial-1", class(node)+" saved")
	told := func() bool {
		var got struct{ Observations []study.Record }
		h.Must("GET", "/v1/studies/trees/observations?order=desc&limit=1", nil, &got)
		last := got.Observations[0]
		return last.Measurement == study.Measurement{Node: node, Class: class(node)} && !last.Retracted
	}
	servertest.Eventually(t, told)
	eval[bool](p, `([...document.querySelectorAll("#trial-1 button")].find((b) => b.innerText === "Undo").click(), true)`)
	servertest.Eventually(t, func() bool { return !told() })
	p.wait(chosen)
	p.click("#trial-1 button.primary")
	p.waitText("#trial-1", class(node)+" saved")
	servertest.Eventually(t, told)

	p.wait(`document.querySelector("#map").dataset.coloured === "true"`)
	p.waitText(".class-legend", "oak")
	for _, scheme := range []string{"light", "dark"} {
		p.prefer(scheme)
		p.shoot("classes-map-" + scheme)
	}
	p.prefer("light")
	p.enter("#find", node+"\r")
	p.waitText(".node-panel", "%")
	p.waitText(".node-panel", class(node))
	if n := p.count(".node-panel .chances li"); n != 3 {
		t.Errorf("%d probabilities", n)
	}
	p.shoot("classes-node")

	// A class may be added; one that was found stays.
	p.expect("409")
	p.open("#/studies/trees/settings")
	p.enter("#set-classes", "oak, pine\r")
	p.waitText("#set-classes-refusal", "beech")
	p.enter("#set-classes", "oak, pine, beech, ash\r")
	servertest.Eventually(t, func() bool {
		var now struct{ Settings study.Settings }
		h.Must("GET", "/v1/studies/trees", nil, &now)
		return len(now.Settings.Classes) == 4
	})

	p.open("#/studies/trees/trust")
	p.waitText(".trust-view", "are right")
	p.waitText(".trust-view table.confusion", "beech")
	p.shoot("classes-trust")
	p.open("#/studies/trees/progress")
	p.waitText(".progress-view", "labels of 3 classes")
	p.shoot("classes-progress")
	p.open("#/studies/trees/log")
	p.waitText(".log", node+" is "+class(node))
}

// A file of labels becomes a study of classes, and results may bring new ones.
func TestNewClasses(t *testing.T) {
	inBrowser(t)
	h := servertest.New(t, servertest.WithEngine)
	dir := t.TempDir()
	edges, labels := filepath.Join(dir, "edges.csv"), filepath.Join(dir, "kinds.csv")
	for file, text := range map[string]string{edges: servertest.Ring(30), labels: "node,kind\nn0,oak\nn1,oak\nn15,beech\nn16,beech\n"} {
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	p := newTab(t, h.HTTP.URL, 390, 844)
	p.open("#/new")
	p.waitFor("#create")
	p.do(chromedp.SetUploadFiles(chromedp.CSS("#new-edges"), []string{edges}))
	p.do(chromedp.SetUploadFiles(chromedp.CSS("#new-measurements"), []string{labels}))
	p.wait(`[...document.querySelectorAll("button.answer")].some((b) => b.innerText.includes("They are classes"))`)
	p.shoot("classes-question")
	eval[bool](p, `([...document.querySelectorAll("button.answer")].find((b) => b.innerText.includes("They are classes")).click(), true)`)
	p.wait(`document.querySelector("#new-goal").disabled && document.querySelector("#new-goal").value === "learn" && ` +
		`!document.querySelector("#new-classes").closest(".field").hidden`)
	p.waitText("#reading-sum", "30 nodes, 30 edges and 4 measurements")
	p.enter("#new-name", "kinds")
	p.shoot("classes-create")
	p.click("#create")
	p.waitText(".study-head", "30 nodes")
	var made struct {
		Settings study.Settings
		Classes  []study.ClassCount
	}
	h.Must("GET", "/v1/studies/kinds", nil, &made)
	if !made.Settings.Labels || made.Settings.Classes != nil || len(made.Classes) != 2 {
		t.Errorf("%+v", made)
	}
	h.Must("POST", "/v1/studies/kinds/asks", `{"nodes":["n8"]}`, nil)
	p.enter("#value-1", "ash\r")
	servertest.Eventually(t, func() bool {
		h.Must("GET", "/v1/studies/kinds", nil, &made)
		return len(made.Classes) == 3 && made.Classes[2] == study.ClassCount{Class: "ash", Count: 1}
	})
	p.shoot("classes-phone")
	p.open("#/studies/kinds/values")
	p.waitFor("#observe")
	eval[bool](p, `(document.querySelector("#observe").closest("details").open = true)`)
	p.enter("#observe", "n20, beech\nn5; oak")
	eval[bool](p, `(document.querySelector("#observe").form.requestSubmit(), true)`)
	p.waitText(".values-view", "7 measurements")
}
