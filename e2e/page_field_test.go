package e2e

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"grfgp/graphio"
	"grfgp/server"
	"grfgp/server/servertest"
	"grfgp/study"
)

// link is a connection to a host that tests cut.
type link struct {
	*httptest.Server
	cut     atomic.Bool
	version atomic.Value // of the page, if it is to look like another one
}

func newLink(t *testing.T, h *servertest.Host) *link {
	l := new(link)
	l.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if l.cut.Load() {
			panic(http.ErrAbortHandler)
		}
		if version, ok := l.version.Load().(string); ok {
			upgraded(h, version, w, r)
			return
		}
		h.Server.ServeHTTP(w, r)
	}))
	t.Cleanup(func() {
		l.CloseClientConnections()
		l.Close()
	})
	return l
}

func (l *link) down() {
	l.cut.Store(true)
	l.CloseClientConnections()
}

func (l *link) up() { l.cut.Store(false) }

// upgraded answers as a server with another version of the page would.
func upgraded(h *servertest.Host, version string, w http.ResponseWriter, r *http.Request) {
	probe := httptest.NewRecorder()
	h.Server.ServeHTTP(probe, httptest.NewRequest("GET", "http://localhost/", nil))
	was := probe.Header().Get("Grfgp-Page")
	r = r.Clone(r.Context())
	w = renamed{w, version}
	switch {
	case strings.Contains(r.URL.Path, was):
		http.NotFound(w, r)
	case r.URL.Path == "/" || r.URL.Path == "/worker.js":
		made := httptest.NewRecorder()
		r.Header.Del("If-None-Match")
		r.Header.Del("Accept-Encoding") // its text is changed below
		h.Server.ServeHTTP(made, r)
		w.Header().Set("Content-Type", made.Header().Get("Content-Type"))
		io.WriteString(w, strings.ReplaceAll(made.Body.String(), was, version))
	default:
		r.URL.Path = strings.ReplaceAll(r.URL.Path, version, was)
		h.Server.ServeHTTP(w, r)
	}
}

// renamed is an answer that names another version of the page.
type renamed struct {
	http.ResponseWriter
	version string
}

func (w renamed) WriteHeader(status int) {
	w.Header().Set("Grfgp-Page", w.version)
	w.ResponseWriter.WriteHeader(status)
}

func (w renamed) Write(p []byte) (int, error) {
	w.Header().Set("Grfgp-Page", w.version)
	return w.ResponseWriter.Write(p)
}

func (w renamed) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// sibling is another tab of the same browser, with the same storage.
func (p *tab) sibling() *tab {
	p.t.Helper()
	ctx, cancel := chromedp.NewContext(p.ctx)
	p.t.Cleanup(cancel)
	other := &tab{t: p.t, ctx: ctx, base: p.base}
	if err := chromedp.Do(ctx, chromedp.EmulateViewport(390, 844)); err != nil {
		p.t.Fatal(err)
	}
	return other
}

// guileless is an engine that never has a model: no value is far from what is expected.
type guileless struct{ servertest.Simple }

func newGuileless(net *graphio.Network, s study.Settings) (study.Engine, error) {
	e, err := servertest.NewSimple(net, s)
	return guileless{e.(servertest.Simple)}, err
}

func (guileless) Fit(context.Context, []study.Measurement) (study.Snapshot, error) {
	return nil, fmt.Errorf("%w: it never is", study.ErrNoModel)
}

// three values are there before a test begins.
var three = map[string]float64{"n0": 1, "n1": 2, "n2": 3}

// fieldHost has a study with three values and some nodes reserved by a holder.
func fieldHost(t *testing.T, holder string, count int, change ...func(*study.Settings)) *servertest.Host {
	t.Helper()
	h := servertest.New(t, func(o *server.Options) { o.NewEngine = newGuileless })
	h.Create(30, change...)
	h.Observe(three)
	h.Must("POST", "/v1/studies/s/asks", map[string]any{"count": count, "holder": holder}, nil)
	return h
}

// worker is a tab of somebody with a name, at the cards.
func worker(t *testing.T, base, name string) *tab {
	t.Helper()
	p := newTab(t, base, 390, 844)
	p.expect("/calibration") // there is no model
	p.open("#/")
	p.waitFor(".studies .card")
	eval[bool](p, fmt.Sprintf(`localStorage.setItem("grfgp-name", %q) ?? true`, name))
	p.open("#/studies/s/next")
	return p
}

// save enters a value at a card, also if it is far from what is expected.
func (p *tab) save(card, value string) {
	p.t.Helper()
	p.enter(card+" input.value", value+"\r")
	if p.wait(fmt.Sprintf(`document.querySelector("%[1]s.settled, %[1]s .question button")`, card)); p.count(card+".settled") == 0 {
		p.click(card + " .question button:last-child")
	}
}

// records are the values of the study that are not retracted.
func records(h *servertest.Host) (all []study.Record) {
	var got struct{ Observations []study.Record }
	h.Must("GET", "/v1/studies/s/observations", nil, &got)
	for _, r := range got.Observations {
		if !r.Retracted {
			all = append(all, r)
		}
	}
	return all[len(three):]
}

func trialOf(h *servertest.Host, number int) (trial study.Trial) {
	h.Must("GET", fmt.Sprintf("/v1/studies/s/trials/%d", number), nil, &trial)
	return trial
}

// isAt waits until the focus and the text are in the field of a trial.
func (p *tab) isAt(trial int, text string) {
	p.t.Helper()
	p.wait(fmt.Sprintf("document.activeElement.id === `value-%d` && document.activeElement.value === %q", trial, text))
}

// Commas and points are the same, the sign has a key, and a slip is questioned with what was
// probably meant.
func TestSlips(t *testing.T) {
	inBrowser(t)
	h := servertest.New(t, servertest.WithEngine)
	h.Create(30, func(s *study.Settings) { s.Spec.Method, s.Unit = "dense", "mph" })
	values := map[string]float64{}
	for k := range 12 {
		values[fmt.Sprintf("n%d", 2*k)] = 40 + float64(k%4)
	}
	h.Observe(values)
	h.Must("POST", "/v1/studies/s/asks", map[string]any{"count": 3, "holder": "ben"}, nil)
	h.Must("GET", "/v1/studies/s/predictions", nil, nil)
	ben := worker(t, h.HTTP.URL, "ben")
	ben.enter("#value-1", "41,5\r")
	ben.waitText("#trial-1", "41.5 mph saved")
	ben.enter("#value-2", "4150\r")
	ben.waitText("#trial-2 .question", "Did you mean 41.50?")
	ben.shoot("field-slip")
	ben.click("#trial-2 .question button:first-child")
	ben.waitText("#trial-2", "41.5 mph saved")
	ben.enter("#value-3", "41")
	ben.click("#trial-3 .sign")
	ben.isAt(3, "-41")
	ben.press("\r")
	ben.waitText("#trial-3 .question", "Did you mean 41?")
	ben.click("#trial-3 .question button:last-child")
	ben.waitText("#trial-3", "−41 mph saved")
	for trial, want := range map[int]float64{1: 41.5, 2: 41.5, 3: -41} {
		if got := trialOf(h, trial); *got.Value != want {
			t.Errorf("trial %d: %v", trial, *got.Value)
		}
	}
}

// Saving, giving back, not measuring, never measuring and retracting can be undone.
func TestUndo(t *testing.T) {
	inBrowser(t)
	h := fieldHost(t, "ben", 4)
	ben := worker(t, h.HTTP.URL, "ben")
	ben.waitFor("#value-1")
	ben.click("#trial-1 .actions button")
	ben.enter("#note-1", "by hand")
	ben.enter("#value-1", "17\r")
	ben.waitText("#trial-1", "17 saved: by hand")
	ben.isSaved(h, 1, study.TrialDone, "by hand")
	ben.click("#trial-1 .settled-note button")
	ben.isAt(1, "17")
	ben.isSaved(h, 1, study.TrialPending, "")
	ben.press("\r") // it was right after all
	ben.waitText("#trial-1", "17 saved: by hand")
	ben.isSaved(h, 1, study.TrialDone, "by hand")

	could := func(trial int, reason, choice string) {
		ben.click(fmt.Sprintf(`#trial-%d button[aria-label^="Could not"]`, trial))
		ben.click(fmt.Sprintf("#trial-%d .question > .actions button:nth-child(%s)", trial, choice))
		ben.waitText(fmt.Sprintf("#trial-%d", trial), "Say why")
		ben.enter(fmt.Sprintf("#reason-%d", trial), reason)
		ben.click(fmt.Sprintf("#trial-%d .question > .actions button:nth-child(%s)", trial, choice))
	}
	could(2, "gate locked", "1")
	ben.waitText("#trial-2", "Marked as not measured: gate locked")
	ben.isSaved(h, 2, study.TrialFailed, "gate locked")
	could(3, "flooded", "2")
	ben.waitText("#trial-3", "Never to be suggested again: flooded")
	ben.isSaved(h, 3, study.TrialAbandoned, "flooded")
	ben.click(`#trial-4 button[aria-label^="Give back"]`)
	ben.isSaved(h, 4, study.TrialReleased, "")
	ben.shoot("field-undo")
	for _, trial := range []int{2, 3, 4} {
		ben.click(fmt.Sprintf("#trial-%d .settled-note button", trial))
		ben.isSaved(h, trial, study.TrialPending, "")
		ben.waitFor(fmt.Sprintf("#trial-%d form:not([hidden])", trial))
	}

	eval[bool](ben, `(window.prompt = () => "wrong node") && true`)
	ben.click("#tab-values")
	ben.click(`button[id^="retract-"]`)
	ben.isSaved(h, 1, study.TrialRetracted, "by hand")
	ben.click("#notices .done button")
	ben.isSaved(h, 1, study.TrialDone, "by hand")
}

// isSaved waits until the server has a trial in a state, with a note.
func (p *tab) isSaved(h *servertest.Host, trial int, state study.TrialState, note string) {
	p.t.Helper()
	var got study.Trial
	for end := time.Now().Add(servertest.Patience); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		if got = trialOf(h, trial); got.State == state && got.Note == note {
			return
		}
	}
	p.t.Fatalf("trial %d is %+v, not %s with %q", trial, got, state, note)
}

// One's own cards come first, with numbers that stay; others' are folded, and guarded.
func TestOthers(t *testing.T) {
	inBrowser(t)
	h := fieldHost(t, "anna", 2)
	h.Must("POST", "/v1/studies/s/asks", map[string]any{"count": 2, "holder": "ben"}, nil)
	ben := worker(t, h.HTTP.URL, "ben")
	ben.waitText("#trial-3", "1 · n")
	ben.waitText("#trial-4", "2 · n")
	ben.waitText(".others summary", "Reserved by others: 2")
	if eval[bool](ben, `document.querySelector("#trial-1").checkVisibility()`) {
		t.Error("others' cards are open")
	}
	ben.click(".others summary")
	ben.click(`#trial-1 button[aria-label^="Give back"]`)
	ben.waitText("#trial-1 .question", "reserved by anna")
	ben.click("#trial-1 .question button:last-child")
	ben.wait(`document.querySelector("#trial-1 .question").hidden`)
	if got := trialOf(h, 1); got.State != study.TrialPending {
		t.Errorf("%+v", got)
	}
	h.Must("PUT", "/v1/studies/s/trials/3/result", `{"value":1,"by":"ben"}`, nil)
	ben.waitText("#trial-3.settled", "Saved by ben: 1.")
	ben.waitText("#trial-4", "2 · n")
	ben.shoot("field-others")
}

// Without a network, results wait in the browser, across views and loads, and are sent when the
// server is back; what others did meanwhile is shown.
func TestNoNetwork(t *testing.T) {
	inBrowser(t)
	h := fieldHost(t, "ben", 4)
	l := newLink(t, h)
	ben := worker(t, l.URL, "ben")
	ben.expect("net::ERR")
	ben.expect("409")
	ben.waitFor("#value-4")
	l.down()
	ben.enter("#value-1", "11\r")
	ben.waitText("#trial-1", "11 entered. Kept in this browser until it is sent.")
	ben.enter("#value-2", "22\r")
	ben.enter("#value-3", "3,") // a draft
	ben.waitText("#to-send", "offline · 2 to send")
	ben.click("#tab-log")
	ben.click("#tab-map")
	ben.waitText("#trial-2", "22 entered")
	ben.wait(`document.querySelector("#value-3").value === "3,"`)
	ben.shoot("field-offline")
	ben.click("#trial-2 .settled-note button") // it should have been 23
	ben.isAt(2, "22")
	ben.enter("#value-2", "23\r")
	ben.waitText("#to-send", "offline · 2 to send")
	h.Must("PUT", "/v1/studies/s/trials/1/result", map[string]any{"value": 10, "by": "anna"}, nil)
	l.up()
	ben.waitText("#trial-1", "Saved by anna: 10.")
	ben.wait(`document.querySelector("#value-1").value === "11"`)
	ben.isSaved(h, 2, study.TrialDone, "")
	ben.waitText("#to-send", "1 not accepted")
	ben.reload()
	ben.waitText("#trial-1", "Saved by anna: 10.")
	ben.wait(`document.querySelector("#value-3").value === "3,"`)
	ben.click("#trial-1 .resolutions button")
	ben.wait(`document.querySelector("#to-send").hidden`)
	if got := records(h); len(got) != 3 || got[1].Value != 23 || got[2].Value != 11 || got[2].Node != got[0].Node {
		t.Errorf("%+v", got)
	}
}

// A value that is entered at a node of the map is as safe as one of a card.
func TestOwnNode(t *testing.T) {
	inBrowser(t)
	h := fieldHost(t, "ben", 1)
	reserved, free := trialOf(h, 1).Node, "n17"
	if reserved == free {
		free = "n18"
	}
	l := newLink(t, h)
	ben := worker(t, l.URL, "ben")
	ben.expect("net::ERR")
	ben.waitFor("#value-1")
	ben.enter("#find", free+"\r")
	ben.waitText(".node-panel h2", free)
	ben.enter("#node-value", "4,") // a draft
	ben.click(".node-panel button.quiet")
	ben.enter("#find", free+"\r")
	ben.wait(`document.querySelector("#node-value")?.value === "4,"`)
	l.down()
	ben.enter("#node-value", "4,5\r")
	ben.waitText(".node-panel", "4.5 entered. Kept in this browser until it is sent.")
	ben.waitText("#to-send", "offline · 1 to send")
	l.up()
	ben.waitText(".node-panel", "4.5 saved.")
	if got := records(h); len(got) != 1 || got[0].Node != free || got[0].Value != 4.5 || got[0].By != "ben" {
		t.Errorf("%+v", got)
	}
	ben.click("#undo-reading")
	ben.wait(`document.querySelector("#node-value").value === "4,5" && document.querySelector("#to-send").hidden`)
	ben.wait(`!document.querySelector(".saved-reading p")`)
	if got := records(h); len(got) != 0 {
		t.Errorf("%+v", got)
	}
	// A reserved node has its card.
	ben.enter("#find", reserved+"\r")
	ben.waitText(".node-panel h2", reserved)
	ben.click("#to-card")
	ben.wait(`document.activeElement.id === "value-1"`)
}

// Tabs of one browser share the outbox and send nothing twice.
func TestTwoTabs(t *testing.T) {
	inBrowser(t)
	h := fieldHost(t, "ben", 3)
	l := newLink(t, h)
	first := worker(t, l.URL, "ben")
	first.expect("net::ERR")
	first.waitFor("#value-3")
	second := first.sibling()
	second.expect("net::ERR")
	second.open("#/studies/s/next")
	second.waitFor("#value-3")
	l.down()
	first.enter("#value-1", "11\r")
	second.enter("#value-2", "22\r")
	first.waitText("#to-send", "2 to send")
	second.waitText("#to-send", "2 to send")
	second.waitText("#trial-1", "11 entered")
	l.up()
	first.wait(`document.querySelector("#to-send").hidden`)
	second.wait(`document.querySelector("#to-send").hidden`)
	if got := records(h); len(got) != 2 {
		t.Errorf("%+v", got)
	}
	if n := strings.Count(h.Log.String(), "/result status=200"); n > 2 {
		t.Errorf("%d results were sent", n)
	}
}

// The page opens without a network, with what was last seen; the token is nowhere in what the
// browser keeps.
func TestOpensOffline(t *testing.T) {
	inBrowser(t)
	const secret = "sesame-sesame-sesame"
	h := servertest.New(t, func(o *server.Options) { o.Token, o.NewEngine = secret, newGuileless })
	h.Create(30)
	h.Observe(three)
	h.Must("POST", "/v1/studies/s/asks", map[string]any{"count": 2, "holder": "ben"}, nil)
	l := newLink(t, h)
	ben := newTab(t, l.URL, 390, 844)
	ben.expect("net::ERR")
	ben.expect("401")
	ben.open("#token=" + secret)
	ben.waitFor(".studies .card")
	eval[bool](ben, `localStorage.setItem("grfgp-name", "ben") ?? true`)
	ben.wait(`navigator.serviceWorker.controller`)
	ben.open("#/studies/s/map")
	ben.waitFor("#map[data-seq]")
	ben.open("#/studies/s/next")
	ben.enter("#value-1", "5")
	ben.kept("/v1/meta", "/v1/studies/s\n", "/trials?", "/map", "/places")
	l.down()
	ben.reload()
	ben.wait(`document.querySelector("#value-1")?.value === "5"`)
	ben.waitText("#to-send", "offline")
	ben.click("#value-1")
	ben.press("5\r")
	ben.waitText("#to-send", "offline · 1 to send")
	ben.shoot("field-opened-offline")
	ben.open("#/studies/s/map")
	ben.waitFor("#map[data-seq]")
	kept := `caches.keys().then(async (names) => {
		const all = [JSON.stringify(localStorage)];
		for (const name of names) {
			const cache = await caches.open(name);
			for (const request of await cache.keys()) {
				const response = await cache.match(request);
				all.push(name, request.url, JSON.stringify([...request.headers, ...response.headers]), await response.text());
			}
		}
		window.kept = all.join("\n");
	}) && true`
	eval[bool](ben, kept)
	ben.wait(`window.kept`)
	if text := eval[string](ben, `window.kept`); strings.Contains(text, secret) || !strings.Contains(text, "grfgp-data") {
		t.Error("the token is kept, or nothing is")
	}
	l.up()
	ben.wait(`document.querySelector("#to-send").hidden`)
	if got := records(h); len(got) != 1 || got[0].Value != 55 {
		t.Errorf("%+v", got)
	}
}

// After an upgrade, an open page says so and loads the new files; nothing old is used.
func TestUpgrade(t *testing.T) {
	inBrowser(t)
	h := fieldHost(t, "ben", 1)
	l := newLink(t, h)
	ben := worker(t, l.URL, "ben")
	ben.wait(`navigator.serviceWorker.controller`)
	ben.enter("#value-1", "5")
	old := eval[string](ben, `document.querySelector("script[src]").src`)
	ben.expect("net::ERR") // of the stream
	l.version.Store("0123456789abcdef")
	l.CloseClientConnections()
	h.Must("POST", "/v1/studies/s/asks", map[string]any{"count": 1, "holder": "ben"}, nil)
	ben.waitText("#notices", "The server was upgraded")
	ben.isAt(1, "5")
	ben.click("#tab-log")
	ben.waitFor(`script[src*="0123456789abcdef"]`)
	ben.waitText(".log", "reserved")
	ben.click("#tab-map")
	ben.wait(`document.querySelector("#value-1")?.value === "5"`)
	if now := eval[string](ben, `document.querySelector("script[src]").src`); now == old {
		t.Errorf("still %s", now)
	}
}
