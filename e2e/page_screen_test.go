package e2e

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp/kb"

	"grfgp/server"
	"grfgp/server/servertest"
	"grfgp/study"
)

// coastHost has a study of named nodes by the sea, whose values rise and fall.
func coastHost(t *testing.T, goal string) *servertest.Host {
	t.Helper()
	h := servertest.New(t, servertest.WithEngine)
	h.Must("POST", "/v1/studies", map[string]any{"name": "s", "graph": h.Coast(60), "goal": goal, "budget": 30, "spec": servertest.Quick}, nil)
	values := map[string]float64{}
	for i := 0; i < 60; i += 6 {
		values[fmt.Sprintf("n%d", i)] = math.Round(100*(50+20*math.Sin(float64(i)/7))) / 100
	}
	h.Observe(values)
	return h
}

// Suggestions have names and reasons of their own; one is shown on the map, one is taken, and
// five more, all without leaving the screen. Tables and a picture can be saved.
func TestOneScreen(t *testing.T) {
	inBrowser(t)
	h := coastHost(t, "minimize")
	p := newTab(t, h.HTTP.URL, 1440, 900)
	p.open("#/studies/s/map")
	p.wait(`document.querySelectorAll(".suggestion").length === 5`)
	p.waitText(".suggestion", "Pier ")
	reasons := eval[[]string](p, `[...document.querySelectorAll(".suggestion .why")].map((e) => e.innerText)`)
	seen := map[string]bool{}
	for _, why := range reasons {
		if seen[why] || !strings.Contains(why, "could be") {
			t.Errorf("a reason: %q", why)
		}
		seen[why] = true
	}
	p.waitText("#trust-line", "Can I trust it?")
	p.waitText("#trust-line", "Typical miss")
	if wide := eval[float64](p, `document.querySelector("#map").getBoundingClientRect().width`); wide < 950 {
		t.Errorf("the map is %v pixels wide", wide)
	}
	p.shoot("screen-desk")

	// By keys: down the list, and one is shown.
	eval[bool](p, `document.querySelector(".suggestion button").focus() ?? true`)
	p.press(kb.ArrowDown)
	second := eval[string](p, `document.querySelectorAll(".suggestion")[1].dataset.node`)
	if at := eval[string](p, `document.activeElement.closest("li").dataset.node`); at != second {
		t.Errorf("the focus is at %s", at)
	}
	p.press(kb.Enter)
	p.waitText(".node-panel", "95 %")
	p.wait(fmt.Sprintf(`location.hash.includes("node=%s")`, second))

	p.click(`.suggestion[data-node="` + second + `"] button[id^="take-"]`)
	p.waitFor(`.trial[data-node="` + second + `"]`)
	p.click("#take-more")
	p.wait(`document.querySelectorAll(".trial").length === 6`)
	p.waitText(".study-facts", "24 of 30 left")
	p.shoot("screen-desk-taken")

	// What is saved is caught before it goes to a folder.
	eval[bool](p, `(window.saved = [], document.addEventListener("click", (e) => {
		const link = e.target.closest?.("a[download]");
		if (link) { e.preventDefault(); }
	}, true), HTMLAnchorElement.prototype.click = function () { window.saved.push(this.download + " " + this.href); }, true)`)
	for _, id := range []string{"predictions", "ranking", "values", "picture"} {
		p.click("#downloads summary")
		p.click("#download-" + id)
		p.wait(fmt.Sprintf(`window.saved.length > 0 && !document.querySelector("#downloads").open && window.saved.length === %d`,
			map[string]int{"predictions": 1, "ranking": 2, "values": 3, "picture": 4}[id]))
	}
	names := eval[string](p, `window.saved.map((s) => s.split(" ")[0]).join()`)
	if names != "s-predictions.csv,s-ranking.csv,s-measurements.csv,s-map.png" {
		t.Errorf("saved %s", names)
	}
	if size := eval[int](p, `0 || window.saved.length`); size != 4 {
		t.Errorf("%d files", size)
	}
}

// On a phone the map and the list are both seen; the sheet is raised by a tap and by dragging,
// and never hides the whole map. A new page is seen from its top.
func TestPhone(t *testing.T) {
	inBrowser(t)
	h := coastHost(t, "minimize")
	for k := range 8 {
		h.Must("POST", "/v1/studies", map[string]any{"name": fmt.Sprintf("other%d", k), "graph": h.PutRing(30)}, nil)
	}
	h.Must("POST", "/v1/studies/s/asks", map[string]any{"count": 2}, nil)
	p := newTab(t, h.HTTP.URL, 390, 844)
	p.open("#/")
	p.waitFor(".studies .card")
	eval[bool](p, `(window.scrollTo(0, 400), true)`)
	p.open("#/studies/s/map")
	p.waitFor(".trial")
	p.waitFor("#map[data-seq]")
	if y := eval[float64](p, "window.scrollY"); y != 0 {
		t.Errorf("the study is opened %v pixels below its top", y)
	}
	// covered is the share of the map that the sheet hides.
	covered := func() float64 {
		return eval[float64](p, `(() => {
			const frame = document.querySelector(".screen").getBoundingClientRect(), sheet = document.querySelector(".sheet").getBoundingClientRect();
			return sheet.height / frame.height;
		})()`)
	}
	if share := covered(); share < 0.4 || share > 0.6 {
		t.Errorf("at first the sheet covers %v", share)
	}
	inside := `(() => { const card = document.querySelector(".trial").getBoundingClientRect(); return card.top < innerHeight - 100; })()`
	if !eval[bool](p, inside) {
		t.Error("one's own card is not seen at first")
	}
	p.shoot("screen-phone")
	p.click(".sheet-handle")
	p.wait(`document.querySelector(".sheet").dataset.at === "high"`)
	if share := covered(); share > 0.9 {
		t.Errorf("raised, the sheet covers %v", share)
	}
	p.shoot("screen-phone-high")
	p.drag(".sheet-handle", 0, 600)
	p.wait(`document.querySelector(".sheet").dataset.at === "low"`)
	p.shoot("screen-phone-low")
	p.press(kb.Enter) // the handle has the focus
	p.wait(`document.querySelector(".sheet").dataset.at === "half"`)
	if wide := eval[int64](p, "document.documentElement.scrollWidth"); wide > 390 {
		t.Errorf("%d pixels wide", wide)
	}
}

// The address has study, node and camera: it can be shared, and the back button goes back.
func TestAddress(t *testing.T) {
	inBrowser(t)
	h := coastHost(t, "minimize")
	p := newTab(t, h.HTTP.URL, 1440, 900)
	p.open("#/studies/s/map")
	p.wait(`document.querySelectorAll(".suggestion").length === 5`)
	p.waitFor("#map[data-seq]")
	nodes := eval[[]string](p, `[...document.querySelectorAll(".suggestion")].map((e) => e.dataset.node)`)
	p.click(".suggestion:nth-child(1) button.id")
	p.wait(fmt.Sprintf(`location.hash.includes("node=%s")`, nodes[0]))
	p.click(".suggestion:nth-child(2) button.id")
	p.wait(fmt.Sprintf(`location.hash.includes("node=%s")`, nodes[1]))
	p.wait(`location.hash.includes("at=")`)
	address := eval[string](p, "location.hash")
	eval[bool](p, "history.back() ?? true")
	p.wait(fmt.Sprintf(`location.hash.includes("node=%s")`, nodes[0]))
	p.waitText(".node-panel h2", "Pier "+nodes[0][1:])

	other := newTab(t, h.HTTP.URL, 1440, 900)
	other.open(address)
	other.waitText(".node-panel h2", "Pier "+nodes[1][1:])
	other.waitFor("#map[data-seq]")
	other.wait(fmt.Sprintf(`location.hash === %q`, address))
	other.shoot("address")
	other.open("#/studies/s/log")
	other.waitFor(".log li")
	eval[bool](other, "history.back() ?? true")
	other.waitText(".node-panel h2", "Pier "+nodes[1][1:])
}

// A study that looks for nodes above a level tells the chance of it, on the map, at the node and
// in a list.
func TestThreshold(t *testing.T) {
	inBrowser(t)
	h := coastHost(t, "threshold=60")
	p := newTab(t, h.HTTP.URL, 1440, 900)
	p.open("#/studies/s/map")
	p.waitText("#above", "Likely above 60:")
	p.click("#above summary")
	p.waitText("#above li", "%")
	p.click("#above li button")
	p.waitText(".node-panel", "Chance of being above")
	p.click("#colour-chance")
	p.waitText(".map-legend", "above 60")
	p.shoot("threshold")
	p.waitText(".suggestion", "chance of being above 60 is")
}

// Verdicts do not claim more than the values can tell.
func TestVerdicts(t *testing.T) {
	inBrowser(t)
	h := coastHost(t, "minimize") // ten values
	p := newTab(t, h.HTTP.URL, 1280, 900)
	p.open("#/studies/s/trust")
	p.waitText(".verdicts", "Not enough values to tell whether the intervals are right")
	p.open("#/studies/s/progress")
	p.waitText(".progress-view", "so there is no search to judge yet")
	h.Must("POST", "/v1/studies/s/asks", map[string]any{"count": 1}, nil)
	h.Must("PUT", "/v1/studies/s/trials/1/result", map[string]any{"value": 55}, nil)
	p.waitText(".progress-view", "The best value was there before the first suggestion.")
	p.click(".behind summary")
	p.waitFor(".behind table tbody tr")
	p.shoot("verdicts")
}

// The log and the table of measurements reach to the first, and can be searched.
func TestTables(t *testing.T) {
	inBrowser(t)
	h := servertest.New(t, func(o *server.Options) { o.Limits.Page = 40 })
	h.Create(200)
	for k := range 130 {
		h.Must("POST", "/v1/studies/s/observations", map[string]any{
			"observations": []study.Measurement{{Node: fmt.Sprintf("n%d", k), Value: float64(k)}}, "by": "anna"}, nil)
	}
	p := newTab(t, h.HTTP.URL, 1280, 900)
	p.open("#/studies/s/values")
	p.waitText(".values-view", "of 130 measurements")
	for range 3 {
		rows := p.count(".values-view tbody tr")
		p.click("#values-older")
		p.wait(fmt.Sprintf(`document.querySelectorAll(".values-view tbody tr").length > %d`, rows))
		if p.count("#retract-1") == 1 {
			break
		}
	}
	p.waitFor("#retract-1")
	p.enter("#values-filter", "n7")
	p.wait(`document.querySelectorAll(".values-view tbody tr").length === 11`)
	eval[bool](p, "(window.prompt = () => 'slip') && true")
	p.enter("#values-filter", "n77")
	p.wait(`document.querySelectorAll(".values-view tbody tr").length === 1`)
	p.click("#retract-78")
	p.waitText(".values-view tbody", "retracted")

	p.open("#/studies/s/log")
	p.waitText(".log", "retracted 77 at n77")
	for p.count("#log-older[hidden]") == 0 {
		rows := p.count(".log li")
		p.click("#log-older")
		p.wait(fmt.Sprintf(`document.querySelectorAll(".log li").length > %d`, rows))
	}
	p.waitText(".log", "created the study")
	p.enter("#log-filter", "n55 is")
	p.wait(`document.querySelectorAll(".log li").length === 1`)
	p.shoot("log-filter")
}

// Budget, time to measure and unit are changed on the page; a node is queued, and whoever asks
// next gets it.
func TestSettingsAndQueue(t *testing.T) {
	inBrowser(t)
	h := servertest.New(t)
	h.Create(30)
	p := newTab(t, h.HTTP.URL, 1280, 900)
	p.expect("400")
	p.open("#/studies/s/settings")
	p.enter("#set-budget", "12")
	p.enter("#set-lease", "a day")
	p.click(".settings-view form button.primary")
	p.waitText("#set-lease-refusal", "a day")
	p.enter("#set-lease", "90m")
	p.click(".settings-view form button.primary")
	p.waitText("#notices", "The settings are saved.")
	p.waitText(".study-facts", "12 of 12 left")
	var got struct{ Settings study.Settings }
	h.Must("GET", "/v1/studies/s", nil, &got)
	if *got.Settings.Budget != 12 || time.Duration(got.Settings.Lease) != 90*time.Minute {
		t.Errorf("%+v", got.Settings)
	}
	p.shoot("settings")

	p.open("#/studies/s/map")
	p.unfold(".other-ways")
	p.enter("#ask-node", "n17")
	p.click("#queue-own")
	p.waitText("#queue", "n17")
	p.waitText(".suggestion", "n17")
	p.enter("#ask-count", "1")
	p.click("#take-more")
	p.waitFor(`.trial[data-node="n17"]`)
	p.wait(`!document.querySelector("#queue li")`)
}

// Many studies are searched, sorted and deleted; two that are alike are compared.
func TestStudyList(t *testing.T) {
	inBrowser(t)
	now := servertest.NewClock(time.Now())
	h := servertest.New(t, func(o *server.Options) { o.Now = now.Now })
	graph := h.PutRing(30)
	for k := range 8 {
		h.Must("POST", "/v1/studies", map[string]any{"name": fmt.Sprintf("study%d", k), "graph": graph,
			"goal": []string{"learn", "minimize"}[k%2]}, nil)
	}
	for _, k := range []int{3, 5} {
		now.Pass(time.Minute) // the list is sorted by time
		h.Must("POST", fmt.Sprintf("/v1/studies/study%d/observations", k), `{"observations":[{"node":"n1","value":2}]}`, nil)
	}
	p := newTab(t, h.HTTP.URL, 1280, 900)
	p.open("#/")
	p.wait(`document.querySelectorAll(".studies .card").length === 8`)
	if first := eval[string](p, `document.querySelector(".studies h2").innerText`); first != "study5" {
		t.Errorf("the study that changed last is not the first, but %s", first)
	}
	eval[bool](p, `((e) => { e.value = "name"; e.dispatchEvent(new Event("change")); return true; })(document.querySelector("#study-order"))`)
	p.waitText(".studies li:first-child", "study0")
	p.enter("#study-search", "study4")
	p.wait(`document.querySelectorAll(".studies .card").length === 1`)
	eval[bool](p, `(window.prompt = () => "study4") && true`)
	p.click(`button[aria-label="Delete the study study4"]`)
	p.waitText("#notices", "study4 is deleted")
	if a := h.Do("GET", "/v1/studies/study4", nil); a.Status != 404 {
		t.Errorf("%d", a.Status)
	}
	p.shoot("studies-search")
	p.expect("409") // there is no model of one value
	p.open("#/compare")
	p.waitFor(".line.second")
	if two := eval[string](p,
		`document.querySelector("#compare-0").value + document.querySelector("#compare-1").value`); two != "study5study3" {
		t.Errorf("compared are %s", two)
	}
}
