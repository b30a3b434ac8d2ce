package server_test

import (
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
	"github.com/chromedp/chromedp"
)

// chromium starts a browser without a window, or skips the test where there is
// none. What it returns is the parent of tabs.
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
		t.Skip("there is no Chromium on this machine: the page was not looked at (apt-get install chromium)")
	}
	options := []chromedp.ExecAllocatorOption{
		chromedp.ExecPath(path), chromedp.UserDataDir(t.TempDir()), chromedp.Headless, chromedp.NoSandbox, chromedp.NoFirstRun, chromedp.DisableGPU,
		chromedp.Flag("use-angle", "swiftshader"), chromedp.Flag("enable-unsafe-swiftshader", true), // WebGL without a graphics card
		chromedp.Flag("disable-quic", true), chromedp.Flag("disable-background-networking", true),
		chromedp.Flag("disable-component-update", true), chromedp.Flag("disable-sync", true),
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
func newTab(t *testing.T, browser context.Context, base string, width, height int64) *tab {
	t.Helper()
	ctx, cancel := chromedp.NewContext(browser, chromedp.WithNewBrowserContext())
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
	ctx, cancel := context.WithTimeout(p.ctx, patience)
	defer cancel()
	v, err := chromedp.Run(ctx, chromedp.Evaluate[T](expression))
	if err != nil {
		p.t.Fatalf("%s: %v", expression, err)
	}
	return v
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
}

// wait returns when an expression is true. It asks again and again from outside:
// the page's content policy lets nobody else do so.
func (p *tab) wait(expression string) {
	p.t.Helper()
	for end := time.Now().Add(patience); !eval[bool](p, "!!("+expression+")"); time.Sleep(30 * time.Millisecond) {
		if time.Now().After(end) {
			p.t.Fatalf("the page never came to %s; it shows:\n%s", expression, eval[string](p, "document.body.innerText"))
		}
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

// click presses the mouse in the middle of an element, as people do: once it stands still.
func (p *tab) click(selector string) {
	p.t.Helper()
	p.waitFor(selector)
	middle := func() [2]float64 {
		return eval[[2]float64](p, fmt.Sprintf(`((element) => {
			if (!element) return [-1, -1];
			element.scrollIntoView({ block: "nearest" });
			const box = element.getBoundingClientRect();
			return [box.left + box.width / 2, box.top + box.height / 2];
		})(document.querySelector(%q))`, selector))
	}
	at := middle()
	for end := time.Now().Add(patience); time.Now().Before(end); {
		time.Sleep(30 * time.Millisecond)
		before := at
		if at = middle(); at == before && at[0] >= 0 {
			break
		}
	}
	p.do(chromedp.MouseClickXY(at[0], at[1]))
}

// drag moves an element by so many pixels, with the mouse.
func (p *tab) drag(selector string, dx, dy float64) {
	p.t.Helper()
	at := eval[[2]float64](p, fmt.Sprintf(`(({ left, top, width, height }) => [left + width / 2, top + height / 2])(document.querySelector(%q).getBoundingClientRect())`, selector))
	p.do(
		chromedp.MouseEvent(chromedp.MousePressed, at[0], at[1], chromedp.ButtonLeft),
		chromedp.MouseEvent(chromedp.MouseMoved, at[0]+dx/2, at[1]+dy/2, chromedp.ButtonLeft),
		chromedp.MouseEvent(chromedp.MouseMoved, at[0]+dx, at[1]+dy, chromedp.ButtonLeft),
		chromedp.MouseEvent(chromedp.MouseReleased, at[0]+dx, at[1]+dy, chromedp.ButtonLeft))
}

// unfold opens a part that is folded away.
func (p *tab) unfold(selector string) {
	p.t.Helper()
	p.waitFor(selector)
	eval[bool](p, fmt.Sprintf("document.querySelector(%q).open = true", selector))
}

// enter types a text into a field in place of what is there.
func (p *tab) enter(selector, text string) {
	p.t.Helper()
	p.waitFor(selector)
	eval[bool](p, fmt.Sprintf("document.querySelector(%q).select() ?? true", selector))
	p.do(chromedp.SendKeys(chromedp.CSS(selector), text))
}

// press sends keys to whatever has the focus.
func (p *tab) press(keys string) {
	p.t.Helper()
	p.do(chromedp.KeyEvent(keys))
}

// prefer emulates light or dark.
func (p *tab) prefer(scheme string) {
	p.t.Helper()
	p.do(chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		_, err := cdp.Call(ctx, t, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
			Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}},
		})
		return err
	}))
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
