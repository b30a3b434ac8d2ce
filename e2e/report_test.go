package e2e

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// openReport writes a report to a file and opens that on a screen of so many pixels.
func openReport(t *testing.T, page []byte, width, height int64) *tab {
	t.Helper()
	file := filepath.Join(t.TempDir(), "report.html")
	if err := os.WriteFile(file, page, 0o644); err != nil {
		t.Fatal(err)
	}
	p := newTab(t, "file://"+file, width, height)
	p.do(chromedp.Navigate(p.base))
	p.waitFor("canvas[data-zoom]")
	return p
}

// zoom is how many times larger than the whole map it is drawn.
func (p *tab) zoom() float64 {
	p.t.Helper()
	return eval[float64](p, `Number(document.querySelector("canvas").dataset.zoom)`)
}

// centre scrolls to an element of a report and returns its middle.
func (p *tab) centre(selector string) (x, y float64) {
	p.t.Helper()
	eval[bool](p, fmt.Sprintf(`(document.querySelector(%q).scrollIntoView({ block: "center" }), true)`, selector))
	return p.middle(selector)
}

// A reader of a report points, zooms, moves, searches, sorts, filters and saves.
func TestReport(t *testing.T) {
	inBrowser(t)
	var page bytes.Buffer
	if err := lattice(t).Write(&page); err != nil {
		t.Fatal(err)
	}
	p := openReport(t, page.Bytes(), 1280, 900)

	// The tooltip of the node in the middle has both intervals.
	x, y := p.centre("canvas")
	p.do(chromedp.MouseEvent(chromedp.MouseMoved, x, y))
	p.wait(`!document.querySelector(".tip").hidden`)
	tip := eval[string](p, `document.querySelector(".tip").innerText`)
	for _, want := range []string{"x4y4", "predicted mean", "95 % interval of the quantity", "95 % interval of a new reading", " to ", " m"} {
		if !strings.Contains(tip, want) {
			t.Errorf("no %q in the tooltip %q", want, tip)
		}
	}

	// Zoom by button, key and wheel changes all maps, and the whole map comes back.
	p.click(".tools .in")
	p.wait(`Number(document.querySelector("canvas").dataset.zoom) > 1.5`)
	eval[bool](p, `document.querySelector("canvas").focus() ?? true`)
	before := p.zoom()
	p.do(chromedp.KeyEvent("+"))
	p.wait(fmt.Sprintf(`[...document.querySelectorAll("canvas")].every((c) => Number(c.dataset.zoom) > %v)`, before))
	before = p.zoom()
	eval[bool](p, `document.querySelector("canvas").dispatchEvent(new WheelEvent("wheel", { deltaY: -200, cancelable: true }))`)
	p.wait(fmt.Sprintf(`Number(document.querySelector("canvas").dataset.zoom) > %v`, before))
	p.do(chromedp.KeyEvent("0"))
	p.wait(`Number(document.querySelector("canvas").dataset.zoom) === 1`)

	// Search finds a node by its label, marks it and shows its numbers; from there to the table.
	p.enter("#tools input[type=search]", "corner")
	p.wait(`document.querySelectorAll(".hits button").length === 1`)
	p.click(".hits button")
	p.wait(`document.querySelector("#card").innerText.includes("x0y0")`)
	p.click("#card > button:not(.close)")
	p.wait(`document.querySelector("#table tr.chosen")?.innerText.includes("x0y0")`)

	// The table sorts by a column, both ways, filters, and leads back to the map.
	first := `Number(document.querySelector("#table tbody tr td:nth-child(2)").innerText.replace("−", "-"))`
	p.click("#table th:nth-child(2) button")
	highest := eval[float64](p, first)
	p.click("#table th:nth-child(2) button")
	if lowest := eval[float64](p, first); !(lowest < highest) ||
		eval[string](p, `document.querySelector("#table th:nth-child(2)").ariaSort`) != "ascending" {
		t.Errorf("the first means are %v and %v", highest, lowest)
	}
	p.enter("#table input", "x3y")
	p.wait(`document.querySelectorAll("#table tbody tr").length === 9`)
	p.click("#table tbody tr button.node")
	p.wait(`document.querySelector("#card").innerText.includes("x3y") && Number(document.querySelector("canvas").dataset.zoom) > 1`)

	// The saved file has the rows that are shown, and the names of columns that files have.
	eval[bool](p, `(URL.createObjectURL = (b) => { b.text().then((t) => (window.saved = t)); return "#"; }, `+
		`HTMLAnchorElement.prototype.click = () => {}, true)`)
	p.click("#table .save")
	p.wait(`window.saved`)
	saved := strings.Split(strings.TrimSpace(eval[string](p, `window.saved`)), "\n")
	if len(saved) != 10 || saved[0] != "node,label,mean,sd,lower,upper,reading_lower,reading_upper,measured,surprise" {
		t.Errorf("saved: %q", saved)
	}

	// In print, still pictures stand for the maps.
	p.emulate("light", "print")
	if shown := eval[string](p, `[...document.querySelectorAll("figure.map canvas, figure.map svg, #tools, #table")].filter((e) => `+
		`e.offsetParent || e.getClientRects().length > 0).map((e) => e.tagName).join(" ")`); shown != "svg svg" {
		t.Errorf("in print there are %q", shown)
	}
	p.emulate("light", "screen")

	// A trap of an id is text, and nothing was asked of the network.
	if eval[bool](p, `window.trapped === true`) {
		t.Error("an id ran as a script")
	}
	if n := eval[int](p, `performance.getEntriesByType("resource").length`); n != 0 {
		t.Errorf("%d requests", n)
	}
}

// Areas take the pointer in their whole extent, but not in their holes.
func TestReportAreas(t *testing.T) {
	inBrowser(t)
	r := lattice(t)
	nodes := r.Network.Nodes
	nodes.Shapes = make([]string, len(nodes.X))
	for i := range nodes.Shapes {
		x, y := nodes.X[i], nodes.Y[i]
		ring := func(r float64) string {
			return fmt.Sprintf("[[%g,%g],[%g,%g],[%g,%g],[%g,%g],[%g,%g]]", x-r, y-r, x+r, y-r, x+r, y+r, x-r, y+r, x-r, y-r)
		}
		nodes.Shapes[i] = `{"type":"Polygon","coordinates":[` + ring(0.5) + `,` + ring(0.2) + `]}`
	}
	var page bytes.Buffer
	if err := r.Write(&page); err != nil {
		t.Fatal(err)
	}
	p := openReport(t, page.Bytes(), 1280, 900)
	if note := eval[string](p, `document.querySelector("#maps > p").innerText`); !strings.Contains(note, "Nodes are drawn as their areas.") {
		t.Error(note)
	}
	x, y := p.centre("canvas")
	size := eval[float64](p, `(document.querySelector("canvas").clientHeight - 24) / 9`) // of an area, in pixels
	for _, c := range []struct {
		dx, dy float64
		want   string
	}{{0.35, 0, "x4y4"}, {0, 0, ""}, {1.4, -1.4, "x5y5"}, {-3.65, 0, "x0y4"}} {
		p.do(chromedp.MouseEvent(chromedp.MouseMoved, x-3*size, y+3.5*size), chromedp.MouseEvent(chromedp.MouseMoved, x+c.dx*size, y+c.dy*size))
		got := eval[string](p, `document.querySelector(".tip").hidden ? "" : document.querySelector(".tip .name").innerText.split(" ")[0]`)
		if got != c.want {
			t.Errorf("at %v, %v there is %q, want %q", c.dx, c.dy, got, c.want)
		}
	}
	p.do(chromedp.MouseClickXY(x+0.35*size, y))
	p.wait(`document.querySelector("#card").innerText.includes("x4y4")`)
}

// Nothing is cut on the screen of a phone.
func TestReportOnAPhone(t *testing.T) {
	inBrowser(t)
	var page bytes.Buffer
	if err := lattice(t).Write(&page); err != nil {
		t.Fatal(err)
	}
	p := openReport(t, page.Bytes(), 360, 740)
	if wide := eval[int](p, `document.documentElement.scrollWidth`); wide > 360 {
		t.Errorf("the page is %d pixels wide: %s", wide, eval[string](p,
			`[...document.querySelectorAll("body *")].filter((e) => e.getBoundingClientRect().right > 361 && !e.closest(".scroll")).map((e) => `+
				`e.tagName + "." + e.className).slice(0, 5).join(" ")`))
	}
	// A tap chooses a node, and two fingers zoom.
	x, y := p.centre("canvas")
	p.touch("touchStart", [2]float64{x, y})
	p.touch("touchEnd")
	p.wait(`document.querySelector("#card").innerText.includes("x4y4")`)
	x, y = p.centre("canvas")
	p.touch("touchStart", [2]float64{x - 20, y}, [2]float64{x + 20, y})
	for _, far := range []float64{30, 45, 60} {
		p.touch("touchMove", [2]float64{x - far, y}, [2]float64{x + far, y})
	}
	p.touch("touchEnd")
	p.wait(`Number(document.querySelector("canvas").dataset.zoom) > 1.8`)
	p.shoot("report-phone")
	p.emulate("dark", "screen")
	p.shoot("report-phone-dark")
}

// TestReportPictures opens the report that GRFGP_REPORT names and takes pictures of it.
func TestReportPictures(t *testing.T) {
	inBrowser(t)
	file := os.Getenv("GRFGP_REPORT")
	if file == "" {
		t.Skip("it is for looking at a report: set GRFGP_REPORT to its file and GRFGP_SCREENSHOTS to a folder")
	}
	page, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	name := strings.TrimSuffix(filepath.Base(file), ".html")
	for _, width := range []int64{1280, 360} {
		p := openReport(t, page, width, 900)
		p.shoot(fmt.Sprintf("%s-%d", name, width))
		if wide := eval[int64](p, `document.documentElement.scrollWidth`); wide > width {
			t.Errorf("the page is %d pixels wide on a screen of %d", wide, width)
		}
		p.emulate("dark", "screen")
		p.shoot(fmt.Sprintf("%s-%d-dark", name, width))
		p.emulate("light", "print")
		p.shoot(fmt.Sprintf("%s-%d-print", name, width))
	}
}
