package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"grfgp/graphio"
	"grfgp/internal/city"
	"grfgp/server"
	"grfgp/server/servertest"
	"grfgp/server/tokens"
	"grfgp/study"
)

// theCity is good to look at.
func theCity() servertest.Land {
	c := city.New(1)
	nodes := &graphio.NodeTable{IDs: c.Graph.IDs(), X: c.X, Y: c.Y}
	return servertest.Land{Network: &graphio.Network{Graph: c.Graph, Nodes: nodes}, Truth: c.Truth, Known: c.Sensors}
}

// namelessElements are controls and pictures that a screen reader cannot name,
// and ids that occur twice.
const namelessElements = `[...document.querySelectorAll("input, select, textarea, button, a, canvas, svg, nav, dialog")].filter((e) =>
	!e.hidden && !e.labels?.length && !e.getAttribute("aria-label") && !e.getAttribute("aria-labelledby") && !e.textContent.trim() && e.getAttribute("aria-hidden") !== "true"
).concat([...document.querySelectorAll("[id]")].filter((e) => document.querySelectorAll("#" + CSS.escape(e.id)).length > 1)).map((e) => e.outerHTML)`

// Every view is there on a desk and on a phone, in light and in dark, and none
// is wider than its screen.
func TestViews(t *testing.T) {
	inBrowser(t)
	l := servertest.Village(t)
	if os.Getenv(pictures) != "" {
		l = theCity()
	}
	h := l.Host(t, "maximize", "speeds", "second")
	for _, name := range []string{"speeds", "second"} {
		l.Measure(h, name, 8)
		h.Must("POST", "/v1/studies/"+name+"/asks", map[string]any{"count": 3, "holder": "ben"}, nil)
	}
	views := []struct{ name, address, ready string }{
		{"studies", "#/", ".studies .card"},
		{"new", "#/new", "#new-name"},
		{"map", "#/studies/speeds/map", ".map-legend .ramp"},
		{"next", "#/studies/speeds/next", ".suggestion"},
		{"progress", "#/studies/speeds/progress", ".line.best"},
		{"trust", "#/studies/speeds/trust", ".bar-goal"},
		{"values", "#/studies/speeds/values", ".values-view tbody tr"},
		{"log", "#/studies/speeds/log", ".log li"},
		{"settings", "#/studies/speeds/settings", "#set-budget"},
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
			p := newTab(t, h.HTTP.URL, screen.width, screen.height)
			p.prefer(screen.scheme)
			for _, view := range views {
				p.open(view.address)
				p.waitFor(view.ready)
				if wide := eval[int64](p, "document.documentElement.scrollWidth"); wide > screen.width {
					t.Errorf("%s is %d pixels wide", view.name, wide)
				}
				if nameless := eval[[]string](p, namelessElements); len(nameless) > 0 {
					t.Errorf("%s: without a name for those who do not see: %q", view.name, nameless)
				}
				if view.name == "map" {
					p.enter("#find", l.Graph.IDs().At(l.Known[0])+"\r")
					p.waitText(".node-panel", "95 % credible interval")
				}
				p.shoot(screen.name + "-" + view.name)
				if view.name == "map" {
					p.click(".node-panel button.quiet") // on a phone it is over the legend
					p.click(`input[value="sd"]`)
					p.wait(`document.querySelector(".map-legend").textContent.includes("Standard deviation")`) // a low map has no room to show it
					p.click(`.zoom button[aria-label="Show all"]`)
					p.shoot(screen.name + "-sd")
				}
			}
			light := eval[bool](p, `getComputedStyle(document.body).backgroundColor.match(/\d+/g).slice(0, 3).every((v) => Number(v) > 128)`)
			if light != (screen.scheme == "light") {
				t.Errorf("the page is light: %v, in %s", light, screen.scheme)
			}
		})
	}
}

// A study comes from a file of edges; a name that is taken is refused, and what
// was entered stays.
func TestCreate(t *testing.T) {
	inBrowser(t)
	h := servertest.New(t)
	file := filepath.Join(t.TempDir(), "edges.csv")
	if err := os.WriteFile(file, []byte(servertest.Ring(30)), 0o644); err != nil {
		t.Fatal(err)
	}
	p := newTab(t, h.HTTP.URL, 1000, 900)
	p.open("#/")
	p.waitText("main", "Start with two files")
	p.do(chromedp.SetUploadFiles(chromedp.CSS("#new-edges"), []string{file}))
	p.waitText("#reading-sum", "30 nodes, 30 edges and no measurements yet")
	p.enter("#new-name", "ring")
	p.enter("#new-budget", "12")
	p.click("#create")
	p.waitFor("#ask-count")
	p.waitText(".study-head", "30 nodes, 30 edges")
	p.waitText(".study-facts", "12 of 12 left")

	p.open("#/new")
	p.enter("#new-name", "ring")
	p.do(chromedp.SetValue(chromedp.CSS("#new-graph"), eval[string](p, `document.querySelector("#new-graph option:last-child").value`)))
	eval[bool](p, `document.querySelector("#new-graph").dispatchEvent(new Event("change"))`)
	p.enter("#new-budget", "13")
	p.click("#create")
	p.waitText("#new-name-refusal", "already")
	if got := eval[string](p, `document.querySelector("#new-budget").value`); got != "13" {
		t.Errorf("the budget is now %q", got)
	}
	p.shoot("refused-create")

	// A study that was exported comes back elsewhere, and here it is refused.
	archive := filepath.Join(t.TempDir(), "ring.ndjson")
	if err := os.WriteFile(archive, h.Must("GET", "/v1/studies/ring/export", nil, nil).Body, 0o644); err != nil {
		t.Fatal(err)
	}
	p.expect("409")
	p.open("#/")
	p.waitFor("#import-file")
	p.do(chromedp.SetUploadFiles(chromedp.CSS("#import-file"), []string{archive}, chromedp.NodeReady))
	p.waitText("#notices .wrong", "ring")
	elsewhere := newTab(t, servertest.New(t).HTTP.URL, 1000, 900)
	elsewhere.open("#/")
	elsewhere.waitFor("#import-file")
	elsewhere.do(chromedp.SetUploadFiles(chromedp.CSS("#import-file"), []string{archive}, chromedp.NodeReady))
	elsewhere.waitText(".study-head", "30 nodes, 30 edges")
}

// The columns of a node table are offered with their kinds, from files and of a network
// that is known; the page says what the model uses of them.
func TestCovariates(t *testing.T) {
	inBrowser(t)
	h := servertest.New(t, servertest.WithEngine)
	dir := t.TempDir()
	edges, nodes := filepath.Join(dir, "edges.csv"), filepath.Join(dir, "nodes.csv")
	for file, text := range map[string]string{edges: servertest.Ring(30), nodes: servertest.Wells()} {
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	p := newTab(t, h.HTTP.URL, 1000, 900)
	p.open("#/new")
	p.waitFor("#create")
	p.click("#create")
	p.waitText("#new-edges-refusal", "Choose the file of the network first")
	p.enter("#new-name", "wells")
	p.do(chromedp.SetUploadFiles(chromedp.CSS("#new-edges"), []string{edges}))
	p.do(chromedp.SetUploadFiles(chromedp.CSS("#new-nodes"), []string{nodes}, chromedp.NodeReady))
	p.waitText("#new-columns", "drilled dates; missing at 3 nodes")
	p.waitText("#new-columns", "serial identifiers; cannot be used")
	p.click("#columns-all")
	chosen := `[...document.querySelectorAll("#new-columns input:checked")].map((b) => b.id).join()`
	if got := eval[string](p, chosen); got != "column-0,column-1,column-2" {
		t.Errorf("all are %s", got)
	}
	p.shoot("create-covariates")
	p.click("#column-2")
	p.click("#create")
	p.waitFor("#ask-count")
	var made struct{ Settings study.Settings }
	h.Must("GET", "/v1/studies/wells", nil, &made)
	if got := made.Settings; !slices.Equal(got.Covariates, []string{"depth", "type"}) || got.Spec.Roles != "auto" {
		t.Errorf("%+v", got)
	}
	h.Must("POST", "/v1/studies/wells/observations", map[string]any{"observations": servertest.WellValues(24)}, nil)
	p.open("#/studies/wells/trust")
	p.waitText("#model-terms", "the columns depth, type")
	p.waitText("#effects", "all columns together")
	p.waitText("#effects table", "depth")
	p.shoot("trust-covariates")

	p.open("#/new")
	p.waitFor("#new-graph")
	p.do(chromedp.SetValue(chromedp.CSS("#new-graph"), made.Settings.Graph))
	eval[bool](p, `document.querySelector("#new-graph").dispatchEvent(new Event("change"))`)
	p.waitText("#new-columns", "depth numbers")
	p.click("#columns-all")
	p.click("#columns-none")
	if got := eval[string](p, chosen); got != "" {
		t.Errorf("none are %s", got)
	}
}

// A study of shares takes the number tested with every result, in all its forms.
func TestShares(t *testing.T) {
	inBrowser(t)
	h := servertest.New(t)
	h.Create(10, func(s *study.Settings) { s.Spec.Values = "share" })
	h.Must("POST", "/v1/studies/s/asks", `{"count":1}`, nil)
	p := newTab(t, h.HTTP.URL, 1000, 900)
	p.open("#/studies/s/next")
	p.waitFor("#value-1")
	p.enter("#value-1", "3")
	p.click("#trial-1 button.primary")
	p.waitText("#trial-1", "A number is missing")
	p.shoot("next-shares")
	p.enter("#value-1-size", "20\r")
	p.open("#/studies/s/values")
	p.waitText(".values-view", "3 of 20")
	p.enter("#observe", "n5, 1, 4\nn6; 2; 9")
	p.click("details button.primary")
	p.waitText(".values-view", "2 of 9")
	var got struct{ Observations []study.Record }
	h.Must("GET", "/v1/studies/s/observations", nil, &got)
	if all := got.Observations; len(all) != 3 || all[0].Exposure != 20 || all[1].Exposure != 4 ||
		all[2].Measurement != (study.Measurement{Node: "n6", Value: 2, Exposure: 9}) {
		t.Errorf("%+v", all)
	}
}

// A node of one's own choice is reserved; a study is archived, restored, and deleted when its
// name is repeated.
func TestLife(t *testing.T) {
	inBrowser(t)
	h := servertest.New(t)
	h.Create(10)
	p := newTab(t, h.HTTP.URL, 1000, 900)
	p.expect("422")
	p.expect("400")
	p.expect("404") // of streams of the deleted study
	p.open("#/studies/s/next")
	p.unfold(".other-ways")
	p.enter("#ask-node", "n7")
	p.click("#ask-own")
	p.waitText("#trial-1", "n7")
	p.enter("#ask-node", "nowhere")
	p.click("#ask-own")
	p.waitText("#ask-node-refusal", "nowhere")
	eval[bool](p, `(window.confirm = () => true) && true`)
	p.click("#tab-settings")
	p.click("#archive")
	p.waitFor("#restore")
	p.open("#/")
	p.waitFor("#archived")
	if text := eval[string](p, `document.body.textContent`); strings.Contains(text, "1 pending") {
		t.Error("an archived study is listed")
	}
	p.click("#archived")
	p.waitText(".studies", "archived")
	p.open("#/studies/s/log")
	p.waitText(".log", "archived the study")
	p.click("#tab-settings")
	p.click("#restore")
	p.waitFor("#pause")
	p.click("#archive")
	p.waitFor("#delete")
	eval[bool](p, `(window.prompt = () => "another") && true`)
	p.click("#delete")
	p.waitText("#notices", "was not deleted")
	eval[bool](p, `(window.prompt = () => "s") && true`)
	p.click("#delete")
	p.waitFor(".drop") // there is no study left
	if a := h.Do("GET", "/v1/studies/s", nil); a.Status != 404 {
		t.Errorf("%d", a.Status)
	}
}

// A study that learns shows how far its predictions are off.
func TestLearn(t *testing.T) {
	inBrowser(t)
	l := servertest.Village(t)
	h := l.Host(t, "learn", "all")
	l.Measure(h, "all", 7)
	p := newTab(t, h.HTTP.URL, 1280, 900)
	p.open("#/studies/all/progress")
	p.waitText(".progress-view", "Root mean square error of the last 10 predictions")
	p.shoot("learn")
}

// The way of every day: reserve nodes, enter results, give one back, and see the
// map change.
func TestAskAndTell(t *testing.T) {
	inBrowser(t)
	h := servertest.Village(t).Host(t, "maximize", "speeds")
	p := newTab(t, h.HTTP.URL, 1280, 900)
	p.open("#/studies/speeds/next")
	p.unfold(".other-ways")
	p.enter("#ask-name", "carla")
	p.enter("#ask-count", "4")
	p.click("#take-more")
	p.wait(`document.querySelectorAll(".trial").length === 4`)
	p.waitText(".study-facts", "56 of 60 left")
	node := eval[string](p, `document.querySelector(".trial").dataset.node`)
	p.save(".trial", "99.5")
	p.waitText(".trial.settled", "99.5 saved")
	p.click(`.trial:not(.settled) button[aria-label^="Give back"]`)
	p.wait(`document.querySelectorAll(".trial.settled").length === 2`)
	p.click(`.trial:not(.settled) button[aria-label^="Could not"]`)
	p.enter(`.trial input[id^="reason-"]`, "flooded")
	p.click(".trial .question > .actions button:nth-child(2)")
	p.wait(`document.querySelectorAll(".trial.settled").length === 3`)
	p.shoot("told")

	p.waitFor("#map[data-seq]")
	p.waitFor(".map-legend .ramp")
	before := p.picture("#map")
	seq := eval[string](p, `document.querySelector("#map").dataset.seq`)
	p.enter("#find", node+"\r")
	p.waitText(".node-panel", "95 % credible interval")
	p.waitText(".node-panel", "99.5")
	p.shoot("node")
	other := eval[string](p, `document.querySelector("#find").value`)
	if other != node {
		t.Errorf("looked for %s, not %s", other, node)
	}
	p.enter("#node-value", "5\r") // far from all others: colours must change
	p.wait(`document.querySelector(".node-panel #undo-reading, .node-panel .question button")`)
	if p.count(".node-panel #undo-reading") == 0 { // a model that knows little of this node yet asks first
		p.click(".node-panel .question button:last-child")
	}
	p.wait(fmt.Sprintf(`document.querySelector("#map").dataset.seq !== %q`, seq))
	p.waitText(".node-panel", "mean of 2")
	p.click(`.zoom button[aria-label="Show all"]`)
	p.click(".node-panel button.quiet")
	p.changes("#map", before)

	p.click("#tab-log")
	p.waitText(".log", "carla reserved")
	p.waitText(".log", node+" is 99.5")
	p.click("#tab-settings")
	p.click("#pause")
	p.waitText(".study-head .badge", "paused")
	p.click("#tab-map")
	p.waitText(".suggested", "The study is paused")
	p.click("#tab-settings")
	p.click("#resume")
	p.waitText(".study-head .badge", "open")
	p.click("#tab-values")

	eval[bool](p, "(window.confirm = () => true) && (window.prompt = () => 'slip') && true") // what people answer
	p.click(`button[id^="retract-"]`)
	p.waitText(".values-view table", "retracted")
	p.click("#tab-settings")
	p.click("#close")
	p.waitText(".study-head .badge", "closed")
	p.click("#tab-map")
	p.waitText(".suggested", "The study is closed")
}

// What the server refuses is said at the field, and what was entered stays.
func TestRefusals(t *testing.T) {
	inBrowser(t)
	h := servertest.New(t)
	h.Create(30)
	p := newTab(t, h.HTTP.URL, 1280, 900)
	p.expect("422")
	p.expect("404")
	p.open("#/studies/s/values")
	p.enter("#observe", "n1, 2\nnowhere, 3")
	p.click("details button.primary")
	p.waitText("#observe-refusal", "nowhere")
	if got := eval[string](p, `document.querySelector("#observe").value`); !strings.Contains(got, "n1, 2") {
		t.Errorf("what was entered is now %q", got)
	}
	if got := eval[string](p, `document.activeElement.id + document.activeElement.getAttribute("aria-invalid")`); got != "observetrue" {
		t.Errorf("the focus is at %s", got)
	}
	p.shoot("refused")
	p.enter("#observe", "n1; 2,5")
	p.wait(`!document.querySelector("#observe-refusal")`)
	p.click("details button.primary")
	p.waitText("#notices", "1 measurement saved")

	// An id is text, whatever it looks like.
	const odd = "<img src=x onerror=alert(1)>"
	var graph struct{ ID string }
	h.Must("POST", "/v1/graphs", "source,target\n"+odd+",b\nb,c\n", &graph, "Content-Type: text/csv")
	h.Must("POST", "/v1/studies", map[string]any{"name": "odd", "graph": graph.ID}, nil)
	h.Must("POST", "/v1/studies/odd/observations", map[string]any{
		"observations": []study.Measurement{{Node: odd, Value: 1}}, "by": "<b>anna</b>"}, nil)
	for view, where := range map[string]string{"log": ".log", "values": ".values-view", "progress": ".progress-view"} {
		p.open("#/studies/odd/" + view)
		p.waitText(where, odd)
		if n := p.count("main img, main b b"); n != 0 {
			t.Errorf("an id became %d elements of %s", n, view)
		}
	}

	p.open("#/studies/nobody/map")
	p.waitText("main", "nobody")
	p.waitText("main", "Try again")
	p.shoot("not-found")
}

// Everything that a mouse does, keys do.
func TestKeyboard(t *testing.T) {
	inBrowser(t)
	h := servertest.Village(t).Host(t, "maximize", "speeds")
	p := newTab(t, h.HTTP.URL, 1280, 900)
	p.open("#/")
	p.waitFor(".studies .card")
	// tabTo presses Tab until an element has the focus, and looks whether it shows.
	tabTo := func(selector string) {
		t.Helper()
		for range 60 {
			p.press(kb.Tab)
			if eval[bool](p, fmt.Sprintf("document.activeElement.matches(%q)", selector)) {
				if eval[string](p, "getComputedStyle(document.activeElement).outlineStyle") == "none" {
					t.Errorf("nothing shows that %s has the focus", selector)
				}
				return
			}
		}
		t.Fatalf("Tab never comes to %s", selector)
	}
	tabTo(`.studies a`)
	p.press(kb.Enter)
	p.waitFor("#map[data-seq]")
	p.waitFor(".map-legend .ramp")
	tabTo("#map")
	before := p.picture("#map")
	p.press("++++")
	p.press(kb.ArrowLeft + kb.ArrowUp)
	p.changes("#map", before)
	p.press("0")
	for k := 0; p.count(".node-panel h2.id") == 0; k++ {
		if k == 40 {
			t.Fatal("no node is under the crosshair")
		}
		p.press([]string{kb.ArrowRight, kb.ArrowDown}[k%2] + kb.Enter)
	}
	p.waitText(".node-panel", "95 % credible interval")
	p.shoot("keyboard-map")
	tabTo("#take-more") // around, from the last element to the first
	tabTo(".other-ways summary")
	p.press(kb.Enter)
	tabTo("#ask-count")
	p.press("3" + kb.Enter) // in place of the 5, which is selected
	p.wait(`document.querySelectorAll(".trial").length === 3`)
	p.wait(`document.activeElement.matches(".trial input.value")`)
	p.press("50" + kb.Enter)
	if p.wait(`document.querySelector(".trial.settled, .trial .question button")`); p.count(".trial.settled") == 0 {
		tabTo(".trial .question button:last-child")
		p.press(kb.Enter)
	}
	p.waitText(".trial.settled", "50 saved")
	if eval[bool](p, `document.activeElement.matches("input")`) {
		t.Error("what is typed on would land at another node")
	}
	tabTo(".trial:not(.settled) input.value")
	tabTo(`button[aria-label^="Could not"]`)
	p.press(kb.Enter)
	p.press("gate locked")
	tabTo(".trial .question > .actions button")
	p.press(kb.Enter)
	p.wait(`document.querySelectorAll(".trial.settled").length === 2`)
}

// A server with a token asks for it, once, and says when it is wrong.
func TestToken(t *testing.T) {
	inBrowser(t)
	h := servertest.New(t, func(o *server.Options) { o.Token = "sesame-sesame-sesame" })
	h.Create(30)
	h.Observe(servertest.Five)
	p := newTab(t, h.HTTP.URL, 800, 700)
	p.expect("401")
	p.open("#/studies/s/log")
	p.enter("#token", "wrong\r")
	p.waitText("dialog", "refused that token")
	p.shoot("token")
	p.enter("#token", "sesame-sesame-sesame\r")
	p.waitText(".log", "added 5 measurements")
	p.wait(`!document.querySelector("dialog")`)
}

// Without the right to write there is nothing to write with.
func TestPageRoles(t *testing.T) {
	inBrowser(t)
	h, _, secrets := servertest.NewWithRoles(t, func(o *server.Options) { o.BasePath = "/lab/grfgp" })
	h.Create(30)
	h.Observe(servertest.Five)
	open := func(role tokens.Role) *tab {
		p := newTab(t, h.HTTP.URL+"/lab/grfgp", 1000, 800)
		p.open("#token=" + secrets[role])
		p.waitFor(".studies .card")
		if at := eval[string](p, "location.href + JSON.stringify(history.state)"); strings.Contains(at, secrets[role]) {
			t.Errorf("the token stays in the address: %s", at)
		}
		return p
	}
	p := open(tokens.Look)
	p.waitText("main", "your role: look")
	p.open("#/studies/s/next")
	p.waitText(".study-head", "your role: look")
	p.waitFor(".suggestion")
	if n := p.count(".sheet input, .sheet form, .suggestion button[id^=take]"); n != 0 {
		t.Errorf("%d controls for those who look", n)
	}
	p = open(tokens.Measure)
	p.open("#/studies/s/next")
	p.waitFor(".suggestion")
	p.unfold(".other-ways")
	p.waitText("#ask-name", "measureer")
	p.enter("#ask-count", "2")
	p.click("#take-more")
	p.wait(`document.querySelectorAll(".trial").length === 2`)
	p.waitText(".trial", "yours")
	if n := p.count("#pause, #close"); n != 0 {
		t.Errorf("%d buttons that are refused", n)
	}
	p.shoot("measure")
	p = open(tokens.Run)
	p.open("#/studies/s/log")
	p.waitText(".log", "measureer reserved")
	p.click("#tab-settings")
	p.click("#pause")
	p.waitText(".study-head .badge", "paused")
}

func TestReadOnly(t *testing.T) {
	inBrowser(t)
	kept := servertest.OpenStore(t, "memory:")
	writer := servertest.New(t, func(o *server.Options) { o.Store = kept })
	writer.Create(30)
	writer.Observe(servertest.Five)
	reader := servertest.New(t, func(o *server.Options) { o.Store, o.ReadOnly = kept, true })
	p := newTab(t, reader.HTTP.URL, 800, 700)
	p.open("#/studies/s/values")
	p.waitFor(".values-view tbody tr")
	p.waitText(".study-head", "read-only")
	if n := p.count(".view button:not([hidden]), .view textarea"); n != 0 {
		t.Errorf("%d controls", n)
	}
}

// A server may give fewer rows at once than the page would like.
func TestSmallPages(t *testing.T) {
	inBrowser(t)
	h := servertest.New(t, func(o *server.Options) { o.Limits.Page = 5 })
	h.Create(30)
	for k := range 8 {
		h.Observe(map[string]float64{fmt.Sprintf("n%d", k): float64(k)})
	}
	p := newTab(t, h.HTTP.URL, 800, 700)
	for view, text := range map[string]string{"values": "n7", "log": "n7 is 7"} {
		p.open("#/studies/s/" + view)
		p.waitText(".view", text)
	}
}
