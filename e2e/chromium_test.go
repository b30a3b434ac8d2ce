// Package e2e looks at the page and at reports in a real browser: Chromium, from the variable
// CHROMIUM or the path. GRFGP_SCREENSHOTS=FOLDER keeps pictures of what the tests saw.
//
// It is a module of its own, so that whoever needs grfgp need not have the driver of a browser.
package e2e

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

	"grfgp/server/servertest"
)

// patience is how long a test waits for the page.
const patience = servertest.Patience

// chromium is the path of the browser, "" where there is none.
var chromium = sync.OnceValue(func() string {
	if path := os.Getenv("CHROMIUM"); path != "" {
		return path
	}
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	return ""
})

// inBrowser begins a test that looks at something in a browser, beside others that do. Where there
// is no Chromium, it skips the test.
func inBrowser(t *testing.T) {
	t.Helper()
	if chromium() == "" {
		t.Skip("there is no Chromium: nobody looked. The variable CHROMIUM names it, or it is on the PATH (apt-get install chromium)")
	}
	t.Parallel()
}

// allocator starts a browser, and ends it after the last test.
var allocator context.Context

func TestMain(m *testing.M) { os.Exit(runAll(m)) }

func runAll(m *testing.M) int {
	profile, err := os.MkdirTemp("", "grfgp-e2e")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(profile)
	var end context.CancelFunc
	allocator, end = chromedp.NewExecAllocator(context.Background(),
		chromedp.ExecPath(chromium()), chromedp.UserDataDir(profile), chromedp.Headless, chromedp.NoSandbox, chromedp.NoFirstRun,
		chromedp.DisableGPU,
		chromedp.Flag("use-angle", "swiftshader"), chromedp.Flag("enable-unsafe-swiftshader", true), // WebGL without a graphics card
		chromedp.Flag("disable-quic", true), chromedp.Flag("disable-background-networking", true),
		chromedp.Flag("disable-component-update", true), chromedp.Flag("disable-sync", true))
	defer end()
	return m.Run()
}

// browser is the one browser of all tests, without a window: the parent of tabs.
var browser = sync.OnceValues(func() (context.Context, error) {
	ctx, _ := chromedp.NewContext(allocator)
	return ctx, chromedp.Do(ctx, chromedp.Navigate("about:blank"))
})

// tab is a page of the browser. What it writes to the console as an error fails
// the test, but for refusals that were expected.
type tab struct {
	t      *testing.T
	ctx    context.Context
	base   string // of the server
	loaded bool   // the page is there

	mu       sync.Mutex
	expected []string // parts of console errors that are no failure
	errors   []string
}

// newTab opens a tab of its own, with the storage of its own, on a screen of so
// many pixels.
func newTab(t *testing.T, base string, width, height int64) *tab {
	t.Helper()
	all, err := browser()
	if err != nil {
		t.Fatalf("starting %s: %v", chromium(), err)
	}
	ctx, cancel := chromedp.NewContext(all, chromedp.WithNewBrowserContext())
	p := &tab{t: t, ctx: ctx, base: base}
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
				p.mu.Lock()
				p.errors = append(p.errors, fmt.Sprintf("%s (%s:%d)", m.Text, m.URL, m.Line))
				p.mu.Unlock()
			}
		}
	}()
	t.Cleanup(func() {
		if t.Failed() {
			p.shoot("failed-" + strings.ReplaceAll(t.Name(), "/", "-"))
		}
		cancel()
		<-read
		for _, e := range p.errors {
			if !p.isExpected(e) {
				t.Errorf("console: %s", e)
			}
		}
	})
	return p
}

// expect says that console errors with this part are no failure: a browser
// writes one for every request that is refused.
func (p *tab) expect(part string) { p.expected = append(p.expected, part) }

func (p *tab) isExpected(e string) bool {
	for _, part := range p.expected {
		if strings.Contains(e, part) {
			return true
		}
	}
	return false
}

// do runs actions.
func (p *tab) do(steps ...chromedp.Action[chromedp.Void]) {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, patience)
	defer cancel()
	if err := chromedp.Do(ctx, steps...); err != nil {
		p.t.Fatalf("in the browser: %v", err)
	}
}

// eval returns the value of an expression of JavaScript.
func eval[T any](p *tab, expression string) T {
	p.t.Helper()
	v, err := tryEval[T](p, expression)
	if err != nil {
		p.t.Fatalf("%s: %v", expression, err)
	}
	return v
}

func tryEval[T any](p *tab, expression string) (T, error) {
	ctx, cancel := context.WithTimeout(p.ctx, patience)
	defer cancel()
	return chromedp.Run(ctx, chromedp.Evaluate[T](expression))
}

// open goes to an address within the page, loading it the first time.
func (p *tab) open(address string) {
	p.t.Helper()
	if p.loaded {
		eval[string](p, fmt.Sprintf("location.hash = %q", address))
		return
	}
	p.do(chromedp.Navigate(p.base + "/" + address))
	p.loaded = true
	p.takeTime()
}

// reload loads the page again.
func (p *tab) reload() {
	p.t.Helper()
	p.do(chromedp.Reload())
	p.takeTime()
}

// takeTime makes the page wait for as long as a busy machine may need between two steps of a
// test, where people would have seconds.
func (p *tab) takeTime() {
	p.t.Helper()
	eval[bool](p, `(import(new URL("times.js", document.querySelector("script[src]").src).href).then(({ times }) => { times.undo = `+
		`3_600_000; window.patient = true; }), true)`)
	p.wait("window.patient")
}

// wait returns when an expression is true. It asks again and again from outside:
// the page's content policy lets nobody else do so. A page that is being loaded does not answer.
func (p *tab) wait(expression string) {
	p.t.Helper()
	for end := time.Now().Add(patience); ; time.Sleep(30 * time.Millisecond) {
		so, err := tryEval[bool](p, "!!("+expression+")")
		if so && err == nil {
			return
		}
		if time.Now().After(end) {
			p.t.Fatalf("the page never came to %s (%v); it shows:\n%s", expression, err, eval[string](p, "document.body.innerText"))
		}
	}
}

// kept waits until the browser has kept answers whose addresses have these parts: without a
// network it gives no others.
func (p *tab) kept(parts ...string) {
	p.t.Helper()
	for _, part := range parts {
		servertest.Eventually(p.t, func() bool {
			eval[bool](p, `(window.keptNow = null, caches.open("grfgp-data").then((cache) => cache.keys()).then((all) => { window.keptNow = `+
				`all.map((r) => r.url + "\n").join(""); }), true)`)
			p.wait("window.keptNow !== null")
			return strings.Contains(eval[string](p, "window.keptNow"), part)
		})
	}
}

// waitFor returns when there is an element.
func (p *tab) waitFor(selector string) {
	p.t.Helper()
	p.wait(fmt.Sprintf("document.querySelector(%q)", selector))
}

// waitText returns when an element has a text within.
func (p *tab) waitText(selector, text string) {
	p.t.Helper()
	p.wait(fmt.Sprintf("document.querySelector(%q)?.innerText.includes(%q)", selector, text))
}

func (p *tab) count(selector string) int {
	p.t.Helper()
	return eval[int](p, fmt.Sprintf("document.querySelectorAll(%q).length", selector))
}

// click presses the mouse in the middle of an element, as people do. The page may move
// meanwhile: a click that would meet something else does nothing, and is made again.
func (p *tab) click(selector string) {
	p.t.Helper()
	for end := time.Now().Add(patience); ; time.Sleep(30 * time.Millisecond) {
		if at, err := tryEval[[]float64](p, fmt.Sprintf(aim, selector)); err == nil && len(at) == 2 {
			p.do(chromedp.MouseClickXY(at[0], at[1]))
			hit, err := tryEval[bool](p, `(window.aimed?.end(), window.aimed?.hit ?? true)`)
			if hit || err != nil { // another page is there, or on its way
				return
			}
		}
		if time.Now().After(end) {
			p.t.Fatalf("%s cannot be clicked; the page shows:\n%s", selector, eval[string](p, "document.body.innerText"))
		}
	}
}

// aim returns the middle of an element that can be seen, and lets no click through that is not
// on it.
const aim = `((element) => {
	if (!element) return [];
	element.scrollIntoView({ block: "nearest" });
	const box = element.getBoundingClientRect();
	const at = [box.left + box.width / 2, box.top + box.height / 2];
	const on = (target) => element.contains(target) || target?.closest?.("label")?.control === element;
	if (!on(document.elementFromPoint(...at))) return [];
	const kinds = ["pointerdown", "mousedown", "pointerup", "mouseup", "click"];
	const guard = (event) => {
		if (!on(event.target)) {
			event.stopImmediatePropagation();
			event.preventDefault();
		} else if (event.type === "click") {
			window.aimed.hit = true;
		}
	};
	window.aimed?.end();
	window.aimed = { hit: false, end: () => kinds.forEach((kind) => window.removeEventListener(kind, guard, true)) };
	kinds.forEach((kind) => window.addEventListener(kind, guard, true));
	return at;
})(document.querySelector(%q))`

// middle is the centre of an element on the screen.
func (p *tab) middle(selector string) (x, y float64) {
	p.t.Helper()
	at := eval[[2]float64](p, fmt.Sprintf(`(({ left, top, width, height }) => [left + width / 2, top + height / `+
		`2])(document.querySelector(%q).getBoundingClientRect())`, selector))
	return at[0], at[1]
}

// drag moves an element by so many pixels, with the mouse.
func (p *tab) drag(selector string, dx, dy float64) {
	p.t.Helper()
	x, y := p.middle(selector)
	p.do(
		chromedp.MouseEvent(chromedp.MousePressed, x, y, chromedp.ButtonLeft),
		chromedp.MouseEvent(chromedp.MouseMoved, x+dx/2, y+dy/2, chromedp.ButtonLeft),
		chromedp.MouseEvent(chromedp.MouseMoved, x+dx, y+dy, chromedp.ButtonLeft),
		chromedp.MouseEvent(chromedp.MouseReleased, x+dx, y+dy, chromedp.ButtonLeft))
}

// unfold opens a part that is folded away.
func (p *tab) unfold(selector string) {
	p.t.Helper()
	p.waitFor(selector)
	eval[bool](p, fmt.Sprintf("document.querySelector(%q).open = true", selector))
}

// enter types a text into a field in place of what is there, and then the key Enter or Tab, if
// the text ends with it. It looks whether the text is there before the key: the page may have
// taken the focus elsewhere.
func (p *tab) enter(selector, text string) {
	p.t.Helper()
	typed := strings.TrimRight(text, "\r\t")
	p.waitFor(selector)
	for end := time.Now().Add(patience); ; {
		eval[bool](p, fmt.Sprintf("document.querySelector(%q).select() ?? true", selector))
		p.do(chromedp.SendKeys(chromedp.CSS(selector), typed))
		if eval[bool](p, fmt.Sprintf("((e) => e.value === %q && document.activeElement === e)(document.querySelector(%q))", typed, selector)) {
			break
		}
		if time.Now().After(end) {
			p.t.Fatalf("%q cannot be typed into %s", typed, selector)
		}
	}
	if key := text[len(typed):]; key != "" {
		p.press(key)
	}
}

// press sends keys to whatever has the focus.
func (p *tab) press(keys string) {
	p.t.Helper()
	p.do(chromedp.KeyEvent(keys))
}

// prefer emulates light or dark.
func (p *tab) prefer(scheme string) {
	p.t.Helper()
	p.emulate(scheme, "screen")
}

// emulate emulates light or dark, on a screen or in print.
func (p *tab) emulate(scheme, media string) {
	p.t.Helper()
	p.do(chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		_, err := cdp.Call(ctx, t, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
			Media:    media,
			Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}},
		})
		return err
	}))
}

// touch puts fingers on the screen, moves or lifts them: touchStart, touchMove, touchEnd.
func (p *tab) touch(kind input.DispatchTouchEventType, fingers ...[2]float64) {
	p.t.Helper()
	p.do(chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		all := input.DispatchTouchEventParams{Type: kind, TouchPoints: []*input.TouchPoint{}}
		for k, at := range fingers {
			id := float64(k)
			all.TouchPoints = append(all.TouchPoints, &input.TouchPoint{X: at[0], Y: at[1], ID: &id})
		}
		_, err := cdp.Call(ctx, t, input.DispatchTouchEvent, all)
		return err
	}))
}

// changes waits until an element does not look as it did before.
func (p *tab) changes(selector string, before []byte) {
	p.t.Helper()
	servertest.Eventually(p.t, func() bool { return !bytes.Equal(before, p.picture(selector)) })
}

// picture is what an element looks like.
func (p *tab) picture(selector string) []byte {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, patience)
	defer cancel()
	png, err := chromedp.Run(ctx, chromedp.Screenshot(chromedp.CSS(selector)))
	if err != nil {
		p.t.Fatal(err)
	}
	return png
}

// pictures is the variable that names the folder of pictures.
const pictures = "GRFGP_SCREENSHOTS"

// shoot writes a picture of the whole page to the folder of pictures, if there is
// one.
func (p *tab) shoot(name string) {
	dir := os.Getenv(pictures)
	if dir == "" {
		return
	}
	ctx, cancel := context.WithTimeout(p.ctx, patience)
	defer cancel()
	png, err := chromedp.Run(ctx, chromedp.FullScreenshot(100))
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, name+".png"), png, 0o644)
	}
	if err != nil {
		p.t.Logf("no picture of %s: %v", name, err)
	}
}
