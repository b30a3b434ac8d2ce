package e2e

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"

	"grfgp/server"
	"grfgp/server/servertest"
	"grfgp/study"
)

// write writes files into a folder of their own.
func write(t *testing.T, files map[string]string) (folder string) {
	t.Helper()
	folder = t.TempDir()
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return folder
}

// choose chooses a file of a folder in a field.
func (p *tab) choose(field, path string) {
	p.t.Helper()
	p.waitFor(field)
	p.do(chromedp.SetUploadFiles(chromedp.CSS(field), []string{path}, chromedp.NodeReady))
}

// drop drops files on an element, as somebody with a mouse does.
func (p *tab) drop(selector string, files map[string]string) {
	p.t.Helper()
	p.waitFor(selector)
	script := `((files) => {
		const data = new DataTransfer();
		for (const [name, text] of Object.entries(files)) data.items.add(new File([text], name));
		document.querySelector(` + quoted(selector) + `).dispatchEvent(new DragEvent("drop", { dataTransfer: data, bubbles: true, cancelable: true }));
		return true;
	})(` + quoted(files) + `)`
	eval[bool](p, script)
}

// Files are read as soon as they are there; what is open is asked; nothing is created before
// somebody says so.
func TestTwoFiles(t *testing.T) {
	inBrowser(t)
	h := servertest.New(t, func(o *server.Options) { o.Limits.BodyTime = servertest.Patience })
	roads := strings.ReplaceAll(servertest.Ring(30), "\n", ",10\n")
	roads = strings.Replace(roads, "source,target,10", "from,to,length_m", 1)
	files := write(t, map[string]string{
		"roads.csv": roads, "speeds.csv": "detector,speed_am,speed_pm\nn0,50.5,51\nn1,48,47.5\nn2,31.5,30\nn3,62,63\nnowhere,1,2\n",
		"sheet.csv": "PK\x03\x04\x14\x00[Content_Types].xml",
	})
	p := newTab(t, h.HTTP.URL, 1000, 900)
	p.open("#/")
	p.waitText("h1", "Start with two files")
	p.shoot("start")

	// A file that cannot be used, a bad name: told at once.
	p.choose("#new-edges", filepath.Join(files, "sheet.csv"))
	p.waitText("#question-0", "spreadsheet")
	p.enter("#new-name", "my study\t")
	p.waitText("#new-name-refusal", "no blanks")
	p.enter("#new-name", "speeds\t")
	p.wait(`!document.querySelector("#new-name-refusal")`)

	p.choose("#new-edges", filepath.Join(files, "roads.csv"))
	p.waitText("#question-0", "What do the numbers mean?")
	p.waitText("#question-0", "length_m")
	p.shoot("start-question")
	p.click("#create")
	p.waitText("#question-0", "What do the numbers mean?") // nothing is created before it is answered
	p.click("#question-0-1")
	p.waitText("#read-edges .ledger", "31 lines: 1 header, 30 edges")
	p.choose("#new-measurements", filepath.Join(files, "speeds.csv"))
	p.waitText("#question-0", "Which column holds the measured values?")
	p.click("#question-0-0")
	p.waitText("#question-0", "not in the network: 1")
	p.click("#question-0-0")
	p.waitText("#reading-sum", "30 nodes, 30 edges and 4 measurements")
	p.waitText("#read-measurements .ledger", "6 lines: 1 header, 4 used, 1 of unknown nodes, left out")
	// What was read by its name can be read otherwise.
	eval[bool](p, `(() => { const s = document.querySelector("#column-measurements-value"); s.value = "speed_pm"; return `+
		`s.dispatchEvent(new Event("change")); })()`)
	p.wait(`document.querySelector("#column-measurements-value")?.value === "speed_pm" && document.querySelector("#reading-sum")`)
	p.wait(`!document.querySelector("#reading-bar")`)
	p.shoot("start-read")
	var agreed struct{ Studies []any }
	if h.Must("GET", "/v1/studies", nil, &agreed); len(agreed.Studies) != 0 {
		t.Errorf("%d studies before anybody agreed", len(agreed.Studies))
	}
	p.enter("#new-lease", "soon")
	p.click("#create")
	p.waitText("#new-lease-refusal", "not a number")
	p.enter("#new-lease", "2")
	p.click("#create")
	p.waitText(".study-head", "30 nodes, 30 edges")
	var got struct{ Observations []study.Record }
	h.Must("GET", "/v1/studies/speeds/observations", nil, &got)
	if len(got.Observations) != 4 || got.Observations[0].Value != 51 {
		t.Errorf("%+v", got.Observations)
	}

	// Dropped together, files find their places, and the study its name.
	p.open("#/new")
	p.drop("#files", map[string]string{"b.csv": "id,value\nn0,1.5\nn1,2.5\n", "a.csv": servertest.Ring(12), "allowed.csv": "n5\nn6\n"})
	p.waitText("#reading-sum", "12 nodes, 12 edges and 2 measurements. 2 nodes may be suggested.")
	if name := eval[string](p, `document.querySelector("#new-name").value`); name != "b" {
		t.Errorf("the study is called %q", name)
	}
	for range 16 { // so that the server forgets what this page had it read
		draft(h, servertest.File{"edges", servertest.Ring(3)})
	}
	p.expect("404")
	p.click("#create")
	p.waitText(".study-head", "12 nodes, 12 edges")

	// A large file shows how much of it is sent; a server that is gone is no end of the work.
	p.open("#/new")
	p.waitFor("#files")
	p.expect("ERR_INTERNET_DISCONNECTED")
	p.network(true, -1)
	large := strings.Repeat("# a long comment on a network that is small otherwise\n", 40_000) + servertest.Ring(9)
	p.drop("#files", map[string]string{"large.csv": large})
	p.waitText("#new-edges-refusal", "cannot be reached")
	p.network(false, 1<<16) // half a minute, if nobody saw it earlier
	p.click("#read-again")
	p.waitText("#reading-status", "of 2.")
	p.shoot("start-sending")
	p.network(false, -1)
	p.waitText("#reading-sum", "9 nodes, 9 edges")
	p.wait(`!document.querySelector("#new-edges-refusal") && !document.querySelector("#reading-bar")`)
}

// draft has a server read files and returns what the page would create a study of.
func draft(h *servertest.Host, files ...servertest.File) string {
	h.T.Helper()
	body, kind := servertest.Form(h.T, files...)
	var read struct{ Draft string }
	h.Must("POST", "/v1/drafts", body, &read, kind)
	return read.Draft
}

// quoted is a value as JavaScript writes it.
func quoted(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(text)
}

// emulateNetwork is the command that all versions of Chromium know.
var emulateNetwork = cdp.Command[map[string]any, cdp.Empty]{Method: "Network.emulateNetworkConditions"}

// network emulates a connection that is down, or sends so many bytes a second; -1: as fast as it
// can.
func (p *tab) network(down bool, rate float64) {
	p.t.Helper()
	p.do(chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		if _, err := cdp.Call(ctx, t, network.Enable, network.EnableParams{}); err != nil {
			return err
		}
		_, err := cdp.Call(ctx, t, emulateNetwork, map[string]any{
			"offline": down, "latency": 0, "downloadThroughput": -1, "uploadThroughput": rate})
		return err
	}))
}

// The first visitor of a server sees a filled page after one click.
func TestDemoPage(t *testing.T) {
	inBrowser(t)
	h := servertest.New(t, servertest.WithEngine)
	p := newTab(t, h.HTTP.URL, 390, 844)
	p.open("#/")
	p.click("#demo")
	p.waitText(".study-head", "demo")
	p.waitText(".study-head", "150")
	p.waitFor(".ramp")
	p.shoot("demo-phone")
}
