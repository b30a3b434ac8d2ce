package e2e

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"grfgp/internal/testkit"
	"grfgp/study"
)

// program is the grfgp program, as people run it.
type program struct {
	t          *testing.T
	path, dir  string
	address    string // that it listens on, once it was started
	serving    *exec.Cmd
	everything strings.Builder // that it wrote
}

// buildProgram makes the program, in the module that it belongs to.
func buildProgram(t *testing.T) *program {
	t.Helper()
	dir := t.TempDir()
	p := &program{t: t, path: filepath.Join(dir, "grfgp"), dir: dir, address: "127.0.0.1:0"}
	build := exec.Command("go", "build", "-o", p.path, "./cmd/grfgp")
	build.Dir = ".."
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("the program cannot be built: %v\n%s", err, out)
	}
	t.Cleanup(p.kill)
	return p
}

// run runs a command of the program.
func (p *program) run(args ...string) {
	p.t.Helper()
	cmd := exec.Command(p.path, args...)
	cmd.Dir = p.dir
	if out, err := cmd.CombinedOutput(); err != nil {
		p.t.Fatalf("grfgp %s: %v\n%s", strings.Join(args, " "), err, out)
	}
}

var listening = regexp.MustCompile(`127\.0\.0\.1:\d+`)

// serve starts the server, on the address that it had before.
func (p *program) serve() {
	p.t.Helper()
	p.serving = exec.Command(p.path, "serve", "--store", "field.db", "--listen", p.address)
	p.serving.Dir = p.dir
	out, err := p.serving.StdoutPipe()
	if err == nil {
		err = p.serving.Start()
	}
	if err != nil {
		p.t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		fmt.Fprintln(&p.everything, lines.Text())
		if found := listening.FindString(lines.Text()); found != "" && !strings.HasSuffix(found, ":0") {
			p.address = found
			go io.Copy(io.Discard, out)
			return
		}
	}
	p.t.Fatalf("the server did not start:\n%s", p.everything.String())
}

// kill ends the server as a crash would.
func (p *program) kill() {
	if p.serving != nil {
		p.serving.Process.Kill()
		p.serving.Wait()
		p.serving = nil
	}
}

// records are the observations of the study that are not retracted, with a note where there is
// one.
func (p *program) records() (all []study.Record) {
	p.t.Helper()
	resp, err := http.Get("http://" + p.address + "/v1/studies/speeds/observations?limit=1000")
	if err != nil {
		p.t.Fatal(err)
	}
	defer resp.Body.Close()
	var got struct{ Observations []study.Record }
	if err := json.NewDecoder(resp.Body).Decode(&got); err != nil {
		p.t.Fatal(err)
	}
	for _, r := range got.Observations {
		if !r.Retracted {
			all = append(all, r)
		}
	}
	return all
}

// roads are a grid of crossings with names and places, and speeds at some of them.
func (p *program) roads() (files []string) {
	p.t.Helper()
	const side = 9
	var edges, nodes, values strings.Builder
	edges.WriteString("source,target\n")
	nodes.WriteString("id,label,lat,lon\n")
	values.WriteString("id,value\n")
	for i := range side * side {
		x, y := i/side, i%side
		fmt.Fprintf(&nodes, "c%d,Crossing %d,%.4f,%.4f\n", i, i, 37.2+0.004*float64(x), -121.9+0.004*float64(y))
		if x+1 < side {
			fmt.Fprintf(&edges, "c%d,c%d\n", i, i+side)
		}
		if y+1 < side {
			fmt.Fprintf(&edges, "c%d,c%d\n", i, i+1)
		}
		if i%4 == 1 {
			fmt.Fprintf(&values, "c%d,%.1f\n", i, 45+15*math.Sin(float64(x)/3)*math.Cos(float64(y)/4))
		}
	}
	for name, text := range map[string]string{"edges.csv": edges.String(), "nodes.csv": nodes.String(), "values.csv": values.String()} {
		if err := os.WriteFile(filepath.Join(p.dir, name), []byte(text), 0o644); err != nil {
			p.t.Fatal(err)
		}
	}
	return []string{"--edges", "edges.csv", "--nodes", "nodes.csv", "--measurements", "values.csv"}
}

// saveAt saves a value at the card of a trial, questioned or not, and waits for words on it.
func (p *tab) saveAt(trial int, value, words string) {
	p.t.Helper()
	p.save(fmt.Sprintf("#trial-%d", trial), value)
	p.waitText(fmt.Sprintf("#trial-%d", trial), words)
}

// A day of somebody with a telephone: the program is the real one, and its server is killed and
// started again in between.
func TestFieldDay(t *testing.T) {
	testkit.Full(t)
	inBrowser(t)
	g := buildProgram(t)
	g.run(append([]string{"study", "create", "speeds", "--store", "field.db", "--goal", "minimize", "--budget", "30", "--unit", "mph",
		"--method", "dense", "--by", "anna"}, g.roads()...)...)
	g.serve()
	before := len(g.records())
	p := newTab(t, "http://"+g.address, 390, 844)
	p.expect("net::ERR")
	p.expect("503")
	p.open("#/")
	p.waitText(".studies", "speeds")
	p.wait(`navigator.serviceWorker.controller`) // the page can be opened again from now on
	p.click(".studies a")

	// Three nodes, each with its name, its place and what to expect there.
	p.waitFor("#ask-name")
	eval[bool](p, `(document.querySelector("#ask-name").closest("details") ?? {}).open = true`)
	p.enter("#ask-name", "ben")
	p.enter("#ask-count", "3")
	p.click("#take-more")
	p.wait(`document.querySelectorAll(".trial").length === 3`)
	for trial := 1; trial <= 3; trial++ {
		p.waitText(fmt.Sprintf("#trial-%d", trial), fmt.Sprintf("%d · Crossing", trial))
		p.waitText(fmt.Sprintf("#trial-%d", trial), "Expect ")
		p.waitFor(fmt.Sprintf(`#trial-%d a[href^="geo:37.2"]`, trial))
	}
	p.shoot("day-1-cards")

	// The first result, with the comma of the keypad.
	p.saveAt(1, "41,5", "41.5 mph saved")

	// The server is gone. A slip is questioned all the same, results and reasons wait, a reload
	// loses nothing, and what was entered can be changed.
	p.waitFor("#map[data-seq]")
	p.kept("/v1/meta", "/v1/studies/speeds\n", "/trials?", "/map", "/places")
	g.kill()
	p.waitText("#to-send", "offline")
	p.enter("#value-2", "4050\r")
	p.waitText("#trial-2 .question", "Did you mean 40.50?")
	p.click("#trial-2 .question button:first-child")
	p.waitText("#trial-2", "40.5 mph entered. Kept in this browser until it is sent.")
	p.click(`#trial-3 button[aria-label^="Could not"]`)
	p.enter("#reason-3", "gate locked")
	p.click("#trial-3 .question > .actions button:first-child")
	p.waitText("#trial-3", "Marked as not measured: gate locked")
	p.waitText("#to-send", "offline · 2 to send")
	p.reload()
	p.waitText("#trial-2", "40.5 mph entered")
	p.waitText("#trial-2", "2 · Crossing") // a number stays with its node
	p.waitText("#to-send", "offline · 2 to send")
	p.waitFor("#map[data-seq]")
	p.shoot("day-2-offline")
	p.click("#trial-2 .settled-note button")
	p.isAt(2, "40.50")
	p.saveAt(2, "40", "40 mph entered")

	// The server is back, and has everything.
	g.serve()
	p.wait(`document.querySelector("#to-send").hidden`)
	p.waitText("#trial-2", "40 mph saved")
	if got := g.records()[before:]; len(got) != 2 || got[0].Value != 41.5 || got[1].Value != 40 || got[1].By != "ben" {
		t.Fatalf("%+v", got)
	}

	// It could be measured after all; then the next nodes.
	p.click("#trial-3 .settled-note button")
	p.waitFor("#trial-3 form:not([hidden])")
	p.click(`#trial-3 .actions button`)
	p.enter("#note-3", "by the side gate")
	p.saveAt(3, "39.5", "39.5 mph saved: by the side gate")
	g.kill()
	g.serve()
	p.click("#take-more")
	p.wait(`document.querySelectorAll(".trial:not(.settled)").length >= 3`)
	p.shoot("day-3-next")
	if got := g.records()[before:]; len(got) != 3 || got[2].Value != 39.5 || got[2].Note != "by the side gate" {
		t.Fatalf("%+v", got)
	}
}
