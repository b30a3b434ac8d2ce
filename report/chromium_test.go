package report_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
)

// chromium starts a browser without a window, or skips the test where there is none.
func chromium(t *testing.T) context.Context {
	t.Helper()
	path := ""
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if found, err := exec.LookPath(name); err == nil {
			path = found
			break
		}
	}
	if path == "" {
		t.Skip("there is no Chromium on this machine: the report was not looked at (apt-get install chromium)")
	}
	options := []chromedp.ExecAllocatorOption{
		chromedp.ExecPath(path), chromedp.UserDataDir(t.TempDir()), chromedp.Headless, chromedp.NoSandbox, chromedp.NoFirstRun, chromedp.DisableGPU,
		chromedp.Flag("disable-background-networking", true), chromedp.Flag("disable-component-update", true), chromedp.Flag("disable-sync", true),
	}
	ctx, cancel := chromedp.NewExecAllocator(context.Background(), options...)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewContext(ctx)
	t.Cleanup(cancel)
	if err := chromedp.Do(ctx, chromedp.Navigate("about:blank")); err != nil {
		t.Fatalf("starting %s: %v", path, err)
	}
	return ctx
}

// patience is how long a test waits for the page: long, because machines are busy.
const patience = 90 * time.Second

// sheet is a report in a tab of the browser. What it writes to the console as an error fails the
// test.
type sheet struct {
	t   *testing.T
	ctx context.Context

	mu     sync.Mutex
	errors []string
}

// open writes a page to a file and opens that on a screen of so many pixels.
func open(t *testing.T, browser context.Context, page []byte, width, height int64) *sheet {
	t.Helper()
	file := filepath.Join(t.TempDir(), "report.html")
	if err := os.WriteFile(file, page, 0o644); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := chromedp.NewContext(browser, chromedp.WithNewBrowserContext())
	s := &sheet{t: t, ctx: ctx}
	if err := chromedp.Do(ctx, chromedp.EmulateViewport(width, height)); err != nil { // without a time limit: the tab would end with it
		t.Fatal(err)
	}
	console := chromedp.Console(ctx)
	read := make(chan struct{})
	go func() {
		defer close(read)
		for m, err := range console {
			if err != nil {
				return
			}
			if m.Type == "error" || m.IsException() {
				s.mu.Lock()
				s.errors = append(s.errors, fmt.Sprintf("%s (line %d)", m.Text, m.Line))
				s.mu.Unlock()
			}
		}
	}()
	t.Cleanup(func() {
		cancel()
		<-read
		for _, e := range s.errors {
			t.Errorf("console: %s", e)
		}
	})
	s.do(chromedp.Navigate("file://" + file))
	s.wait(`document.querySelector("canvas[data-zoom]")`)
	return s
}

func (s *sheet) do(steps ...chromedp.Action[chromedp.Void]) {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.ctx, patience)
	defer cancel()
	if err := chromedp.Do(ctx, steps...); err != nil {
		s.t.Fatalf("in the browser: %v", err)
	}
}

// look returns the value of an expression of JavaScript.
func look[T any](s *sheet, expression string) T {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.ctx, patience)
	defer cancel()
	v, err := chromedp.Run(ctx, chromedp.Evaluate[T](expression))
	if err != nil {
		s.t.Fatalf("%s: %v", expression, err)
	}
	return v
}

// wait returns when an expression is true.
func (s *sheet) wait(expression string) {
	s.t.Helper()
	for end := time.Now().Add(patience); !look[bool](s, "!!("+expression+")"); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			s.t.Fatalf("the page never came to %s; it shows:\n%s", expression, look[string](s, "document.body.innerText"))
		}
	}
}

// middle is the centre of an element on the screen, after it was scrolled into view.
func (s *sheet) middle(selector string) (x, y float64) {
	s.t.Helper()
	at := look[[2]float64](s, fmt.Sprintf(`((e) => { e.scrollIntoView({ block: "center" }); const b = e.getBoundingClientRect(); return [b.left + b.width / 2, b.top + b.height / 2]; })(document.querySelector(%q))`, selector))
	return at[0], at[1]
}

func (s *sheet) click(selector string) {
	s.t.Helper()
	x, y := s.middle(selector)
	s.do(chromedp.MouseClickXY(x, y))
}

// enter types a text into a field in place of what is there.
func (s *sheet) enter(selector, text string) {
	s.t.Helper()
	look[bool](s, fmt.Sprintf(`((e) => { e.value = ""; e.focus(); return true; })(document.querySelector(%q))`, selector))
	s.do(chromedp.KeyEvent(text))
}

// zoom is how many times larger than the whole map it is drawn.
func (s *sheet) zoom() float64 {
	return look[float64](s, `Number(document.querySelector("canvas").dataset.zoom)`)
}

// prefer emulates light or dark, on a screen or in print.
func (s *sheet) prefer(scheme, media string) {
	s.t.Helper()
	s.do(chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		_, err := cdp.Call(ctx, t, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
			Media:    media,
			Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}},
		})
		return err
	}))
}

// touch puts fingers on the screen, moves or lifts them: touchStart, touchMove, touchEnd.
func (s *sheet) touch(kind input.DispatchTouchEventType, fingers ...[2]float64) {
	s.t.Helper()
	s.do(chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		p := input.DispatchTouchEventParams{Type: kind, TouchPoints: []*input.TouchPoint{}}
		for k, at := range fingers {
			id := float64(k)
			p.TouchPoints = append(p.TouchPoints, &input.TouchPoint{X: at[0], Y: at[1], ID: &id})
		}
		_, err := cdp.Call(ctx, t, input.DispatchTouchEvent, p)
		return err
	}))
}

// shoot writes a picture of the page to the folder that the variable GRFGP_SCREENSHOTS names, if it
// is set.
func (s *sheet) shoot(name string) {
	dir := os.Getenv("GRFGP_SCREENSHOTS")
	if dir == "" {
		return
	}
	ctx, cancel := context.WithTimeout(s.ctx, patience)
	defer cancel()
	png, err := chromedp.Run(ctx, chromedp.FullScreenshot(100))
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, name+".png"), png, 0o644)
	}
	if err != nil {
		s.t.Logf("no picture of %s: %v", name, err)
	}
}

func TestInABrowser(t *testing.T) {
	if testing.Short() {
		t.Skip("it starts a browser")
	}
	browser := chromium(t)
	t.Run("page", func(t *testing.T) { readPage(t, browser) })
	t.Run("areas", func(t *testing.T) { pointAtAreas(t, browser) })
	t.Run("phone", func(t *testing.T) { readOnAPhone(t, browser) })
}

// readPage points, zooms, moves, searches, sorts, filters and saves.
func readPage(t *testing.T, browser context.Context) {
	var page bytes.Buffer
	if err := lattice(t).Write(&page); err != nil {
		t.Fatal(err)
	}
	s := open(t, browser, page.Bytes(), 1280, 900)

	// The tooltip of the node in the middle has both intervals.
	x, y := s.middle("canvas")
	s.do(chromedp.MouseEvent(chromedp.MouseMoved, x, y))
	s.wait(`!document.querySelector(".tip").hidden`)
	tip := look[string](s, `document.querySelector(".tip").innerText`)
	for _, want := range []string{"x4y4", "predicted mean", "95 % interval of the quantity", "95 % interval of a new reading", " to ", " m"} {
		if !strings.Contains(tip, want) {
			t.Errorf("no %q in the tooltip %q", want, tip)
		}
	}

	// Zoom by button, key and wheel changes all maps, and the whole map comes back.
	s.click(".tools .in")
	s.wait(`Number(document.querySelector("canvas").dataset.zoom) > 1.5`)
	look[bool](s, `document.querySelector("canvas").focus() ?? true`)
	before := s.zoom()
	s.do(chromedp.KeyEvent("+"))
	s.wait(fmt.Sprintf(`[...document.querySelectorAll("canvas")].every((c) => Number(c.dataset.zoom) > %v)`, before))
	before = s.zoom()
	look[bool](s, `document.querySelector("canvas").dispatchEvent(new WheelEvent("wheel", { deltaY: -200, cancelable: true }))`)
	s.wait(fmt.Sprintf(`Number(document.querySelector("canvas").dataset.zoom) > %v`, before))
	s.do(chromedp.KeyEvent("0"))
	s.wait(`Number(document.querySelector("canvas").dataset.zoom) === 1`)

	// Search finds a node by its label, marks it and shows its numbers; from there to the table.
	s.enter("#tools input[type=search]", "corner")
	s.wait(`document.querySelectorAll(".hits button").length === 1`)
	s.click(".hits button")
	s.wait(`document.querySelector("#card").innerText.includes("x0y0")`)
	s.click("#card > button:not(.close)")
	s.wait(`document.querySelector("#table tr.chosen")?.innerText.includes("x0y0")`)

	// The table sorts by a column, both ways, filters, and leads back to the map.
	first := `Number(document.querySelector("#table tbody tr td:nth-child(2)").innerText.replace("−", "-"))`
	s.click("#table th:nth-child(2) button")
	highest := look[float64](s, first)
	s.click("#table th:nth-child(2) button")
	if lowest := look[float64](s, first); !(lowest < highest) || look[string](s, `document.querySelector("#table th:nth-child(2)").ariaSort`) != "ascending" {
		t.Errorf("the first means are %v and %v", highest, lowest)
	}
	s.enter("#table input", "x3y")
	s.wait(`document.querySelectorAll("#table tbody tr").length === 9`)
	s.click("#table tbody tr button.node")
	s.wait(`document.querySelector("#card").innerText.includes("x3y") && Number(document.querySelector("canvas").dataset.zoom) > 1`)

	// The saved file has the rows that are shown, and the names of columns that files have.
	look[bool](s, `(URL.createObjectURL = (b) => { b.text().then((t) => (window.saved = t)); return "#"; }, HTMLAnchorElement.prototype.click = () => {}, true)`)
	s.click("#table .save")
	s.wait(`window.saved`)
	saved := strings.Split(strings.TrimSpace(look[string](s, `window.saved`)), "\n")
	if len(saved) != 10 || saved[0] != "node,label,mean,sd,lower,upper,reading_lower,reading_upper,measured,surprise" {
		t.Errorf("saved: %q", saved)
	}

	// In print, still pictures stand for the maps.
	s.prefer("light", "print")
	if shown := look[string](s, `[...document.querySelectorAll("figure.map canvas, figure.map svg, #tools, #table")].filter((e) => e.offsetParent || e.getClientRects().length > 0).map((e) => e.tagName).join(" ")`); shown != "svg svg" {
		t.Errorf("in print there are %q", shown)
	}
	s.prefer("light", "screen")

	// A trap of an id is text, and nothing was asked of the network.
	if look[bool](s, `window.trapped === true`) {
		t.Error("an id ran as a script")
	}
	if n := look[int](s, `performance.getEntriesByType("resource").length`); n != 0 {
		t.Errorf("%d requests", n)
	}
}

// pointAtAreas checks that areas take the pointer in their whole extent, but not in their holes.
func pointAtAreas(t *testing.T, browser context.Context) {
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
	s := open(t, browser, page.Bytes(), 1280, 900)
	if note := look[string](s, `document.querySelector("#maps > p").innerText`); !strings.Contains(note, "Nodes are drawn as their areas.") {
		t.Error(note)
	}
	x, y := s.middle("canvas")
	size := look[float64](s, `(document.querySelector("canvas").clientHeight - 24) / 9`) // of an area, in pixels
	for _, c := range []struct {
		dx, dy float64
		want   string
	}{{0.35, 0, "x4y4"}, {0, 0, ""}, {1.4, -1.4, "x5y5"}, {-3.65, 0, "x0y4"}} {
		s.do(chromedp.MouseEvent(chromedp.MouseMoved, x-3*size, y+3.5*size), chromedp.MouseEvent(chromedp.MouseMoved, x+c.dx*size, y+c.dy*size))
		got := look[string](s, `document.querySelector(".tip").hidden ? "" : document.querySelector(".tip .name").innerText.split(" ")[0]`)
		if got != c.want {
			t.Errorf("at %v, %v there is %q, want %q", c.dx, c.dy, got, c.want)
		}
	}
	s.do(chromedp.MouseClickXY(x+0.35*size, y))
	s.wait(`document.querySelector("#card").innerText.includes("x4y4")`)
}

// readOnAPhone checks that nothing is cut on the screen of a phone.
func readOnAPhone(t *testing.T, browser context.Context) {
	var page bytes.Buffer
	if err := lattice(t).Write(&page); err != nil {
		t.Fatal(err)
	}
	s := open(t, browser, page.Bytes(), 360, 740)
	if wide := look[int](s, `document.documentElement.scrollWidth`); wide > 360 {
		t.Errorf("the page is %d pixels wide: %s", wide, look[string](s, `[...document.querySelectorAll("body *")].filter((e) => e.getBoundingClientRect().right > 361 && !e.closest(".scroll")).map((e) => e.tagName + "." + e.className).slice(0, 5).join(" ")`))
	}
	// A tap chooses a node, and two fingers zoom.
	x, y := s.middle("canvas")
	s.touch("touchStart", [2]float64{x, y})
	s.touch("touchEnd")
	s.wait(`document.querySelector("#card").innerText.includes("x4y4")`)
	x, y = s.middle("canvas")
	s.touch("touchStart", [2]float64{x - 20, y}, [2]float64{x + 20, y})
	for _, far := range []float64{30, 45, 60} {
		s.touch("touchMove", [2]float64{x - far, y}, [2]float64{x + far, y})
	}
	s.touch("touchEnd")
	s.wait(`Number(document.querySelector("canvas").dataset.zoom) > 1.8`)
	s.shoot("report-phone")
	s.prefer("dark", "screen")
	s.shoot("report-phone-dark")
}

// TestPictures opens the report that GRFGP_REPORT names and takes pictures of it.
func TestPictures(t *testing.T) {
	file := os.Getenv("GRFGP_REPORT")
	if file == "" {
		t.Skip("it is for looking at a report: set GRFGP_REPORT to its file and GRFGP_SCREENSHOTS to a folder")
	}
	page, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	browser, name := chromium(t), strings.TrimSuffix(filepath.Base(file), ".html")
	for _, width := range []int64{1280, 360} {
		s := open(t, browser, page, width, 900)
		s.shoot(fmt.Sprintf("%s-%d", name, width))
		if wide := look[int64](s, `document.documentElement.scrollWidth`); wide > width {
			t.Errorf("the page is %d pixels wide on a screen of %d", wide, width)
		}
		s.prefer("dark", "screen")
		s.shoot(fmt.Sprintf("%s-%d-dark", name, width))
		s.prefer("light", "print")
		s.shoot(fmt.Sprintf("%s-%d-print", name, width))
	}
}
