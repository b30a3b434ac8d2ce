package e2e

import (
	"context"
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"grfgp"
	"grfgp/graph"
	"grfgp/graphio"
	"grfgp/internal/testkit"
	"grfgp/server"
	"grfgp/server/servertest"
	"grfgp/store"
	"grfgp/study"
)

// theCountry is a grid with places and names, whose engine predicts waves.
func theCountry(t *testing.T, side int) *graphio.Network {
	t.Helper()
	g, err := graph.Grid(side, side)
	if err != nil {
		t.Fatal(err)
	}
	net := &graphio.Network{Graph: g, Nodes: &graphio.NodeTable{IDs: g.IDs()}}
	for i := range side * side {
		net.Nodes.Lon = append(net.Nodes.Lon, -121.9+0.4*float64(i%side)/float64(side))
		net.Nodes.Lat = append(net.Nodes.Lat, 37.2+0.3*float64(i/side)/float64(side))
		net.Nodes.Name = append(net.Nodes.Name, fmt.Sprintf("Road %d", i))
	}
	return net
}

// putCountry keeps a network as the graph of the study s, with some values.
func putCountry(h *servertest.Host, net *graphio.Network) {
	h.T.Helper()
	packed, err := graphio.Encode(net)
	if err != nil {
		h.T.Fatal(err)
	}
	var kept struct{ ID string }
	h.Must("POST", "/v1/graphs", packed, &kept, "Content-Type: application/vnd.grfgp.network")
	h.Must("POST", "/v1/studies", study.Settings{Name: "s", Graph: kept.ID}, nil)
	values := map[string]float64{}
	for k := range 200 {
		values[net.Graph.IDs().At(k*net.Graph.Len()/200)] = 30 + float64(k%40)
	}
	h.Observe(values)
}

// waving predicts waves.
type waving struct{ servertest.Simple }

func newWaving(net *graphio.Network, s study.Settings) (study.Engine, error) {
	e, err := servertest.NewSimple(net, s)
	return waving{e.(servertest.Simple)}, err
}

func (e waving) Fit(ctx context.Context, m []study.Measurement) (study.Snapshot, error) {
	s, err := e.Simple.Fit(ctx, m)
	if err != nil {
		return nil, err
	}
	return wavingSnapshot{s.(servertest.SimpleSnapshot)}, nil
}

type wavingSnapshot struct{ servertest.SimpleSnapshot }

func (k wavingSnapshot) Predict(_ context.Context, nodes []int) (p grfgp.Prediction, _ error) {
	t := k.Net.Nodes
	for _, i := range nodes {
		x, y := (t.Lon[i]+121.9)*10, (t.Lat[i]-37.2)*10
		p.Mean = append(p.Mean, 45+15*math.Sin(2*x)*math.Cos(3*y))
		p.SD = append(p.SD, 2+x)
	}
	return p, nil
}

// coloured is the share of the pixels of the map that have colours of values.
func (p *tab) coloured() float64 {
	p.t.Helper()
	picture := p.look()
	box, coloured := picture.Bounds(), 0
	for y := box.Min.Y; y < box.Max.Y; y++ {
		for x := box.Min.X; x < box.Max.X; x++ {
			r, g, b, _ := picture.At(x, y).RGBA()
			if max(r, g, b)-min(r, g, b) > 0x3000 {
				coloured++
			}
		}
	}
	return float64(coloured) / float64(box.Dx()*box.Dy())
}

// All of many nodes are drawn, in few bytes, and can be found and zoomed to: a million of them in the full
// suite.
func TestManyNodes(t *testing.T) {
	inBrowser(t)
	side := testkit.Size(150, 1000)
	h := servertest.New(t, func(o *server.Options) { o.NewEngine, o.Limits.Patience = newWaving, servertest.Patience })
	putCountry(h, theCountry(t, side))
	nodes := side * side
	p := newTab(t, h.HTTP.URL, 1440, 900)
	p.expect("503") // while the graph is loaded
	began := time.Now()
	p.open("#/studies/s/map")
	p.waitFor("#map[data-placed]")
	t.Logf("places after %v", time.Since(began))
	p.waitFor(`#map[data-coloured="true"]`)
	t.Logf("colours after %v", time.Since(began))
	p.waitText("#map-status", "nodes")
	p.wait(`performance.getEntriesByName("map-drawn").length > 0`)
	t.Logf("first picture %d ms after the page was opened", eval[int](p, `Math.round(performance.getEntriesByName("map-drawn")[0].startTime)`))
	if got := eval[string](p, `document.querySelector("#map").dataset.placed`); got != fmt.Sprint(nodes) {
		t.Errorf("%s nodes are drawn", got)
	}
	sizes := eval[map[string]int](p, `Object.fromEntries(performance.getEntriesByType("resource").filter((e) => `+
		`/places|map\b/.test(e.name) && e.transferSize > 0).map((e) => [e.name.split("/").pop(), e.transferSize]))`)
	t.Logf("bytes: %v", sizes)
	if per := float64(nodes) / 1e6; float64(sizes["places"]+sizes["map"]) > 8e6*per+2e4 || float64(sizes["map"]) > 3e6*per+2e4 {
		t.Errorf("too many bytes: %v", sizes)
	}
	p.shoot("million")
	p.enter("#find", "road 12345")
	p.waitText("#find-list", "Road 12345")
	p.press("\r")
	p.waitText(".node-panel", "Road 12345")
	p.waitText(".node-panel", "95 % credible interval")
	p.wait(`Number(document.querySelector("#map").dataset.edges) > 0`)
	p.shoot("million-node")
}

// The places are drawn before the model is there, and the colours come by themselves, also after a restart.
func TestMapLearning(t *testing.T) {
	inBrowser(t)
	kept := servertest.OpenStore(t, store.Memory)
	writer := servertest.New(t, func(o *server.Options) { o.Store, o.NewEngine = kept, newWaving })
	putCountry(writer, theCountry(t, 30))
	writer.Close()
	fit, predict := make(chan struct{}), make(chan struct{})
	h := servertest.New(t, func(o *server.Options) {
		o.Store = kept
		o.Limits.Patience = 300 * time.Millisecond // all waiting requests give up, again and again
		o.NewEngine = func(net *graphio.Network, s study.Settings) (study.Engine, error) {
			e, err := newWaving(net, s)
			return servertest.Gated(e, fit, predict), err
		}
	})
	p := newTab(t, h.HTTP.URL, 1280, 900)
	p.expect("503")
	p.open("#/studies/s/map")
	p.waitFor(`#map[data-placed="900"]`)
	p.waitText("#map-status", "learning from 200 values")
	p.shoot("map-learning")
	close(fit)
	servertest.Eventually(t, func() bool {
		var view struct{ Engine struct{ Running int } }
		h.Must("GET", "/v1/studies/s", nil, &view)
		return view.Engine.Running == 1
	})
	if eval[bool](p, `document.querySelector("#map").dataset.coloured === "true"`) {
		t.Error("coloured, before anything is predicted")
	}
	close(predict)
	p.waitFor(`#map[data-coloured="true"]`)
	p.waitFor(".map-legend .ramp")
	p.wait(`!document.querySelector("#map-status").innerText.includes("learning")`)
	p.shoot("map-learned")
}

// Names and values under the mouse, search by name, suggestions, a map that cannot be lost, a picture.
func TestMapTools(t *testing.T) {
	inBrowser(t)
	h := servertest.New(t, func(o *server.Options) { o.NewEngine = newWaving })
	putCountry(h, theCountry(t, 20))
	for _, screen := range []struct {
		name          string
		width, height int64
	}{{"desk", 1440, 900}, {"phone", 390, 844}} {
		p := newTab(t, h.HTTP.URL, screen.width, screen.height)
		p.open("#/studies/s/map")
		p.waitFor(`#map[data-coloured="true"]`)
		p.wait(`document.querySelector("#map").dataset.suggestions.split(" ").length === 5`)
		p.wait(`Number(document.querySelector("#map").dataset.edges) === 760`)
		p.shoot("map-" + screen.name)

		x, y := p.middle("#map")
		tries := 0.0
		hover := func() bool { // a node is near one of these places
			tries++
			at := math.Mod(tries, 8) * 4
			p.do(chromedp.MouseEvent(chromedp.MouseMoved, x+at, y+at))
			return eval[bool](p, `/Road \d+[^]*(likely|measured)/.test(document.querySelector(".map-tip").innerText)`)
		}
		servertest.Eventually(t, hover)
		p.shoot("map-hover-" + screen.name)

		// Three long swipes do not lose the map.
		for range 3 {
			p.drag("#map", -300, -300)
		}
		if coloured := p.coloured(); coloured < 0.03 {
			t.Errorf("%s: only %.3f of the map shows nodes", screen.name, coloured)
		}
		p.click(`.zoom button[aria-label="Show all"]`)

		p.enter("#find", "ROAD 39")
		p.waitText("#find-list", "Road 394")
		p.shoot("map-find-" + screen.name)
		p.press("\r")
		p.waitText(".node-panel h2", "Road 39")
		p.waitText(".node-panel", "Place")
		p.shoot("map-node-" + screen.name)
		if share := eval[float64](p,
			`document.querySelector(".node-panel").offsetHeight / document.querySelector(".map-view").offsetHeight`); share > 0.75 {
			t.Errorf("%s: the panel covers %.2f of the map", screen.name, share)
		}
		p.click(".node-panel button.quiet")

		eval[bool](p, `(HTMLAnchorElement.prototype.click = function () { window.saved = [this.download, this.href]; }) && true`)
		eval[bool](p, `document.querySelector("#download-picture").click() ?? true`)
		p.wait(`window.saved`)
		name := eval[string](p, `window.saved[0]`)
		eval[bool](p, `(() => { const i = new Image(); i.onload = () => { window.pictured = [i.width, i.height]; }; i.src = window.saved[1]; `+
			`return true; })()`)
		p.wait(`window.pictured`)
		size := eval[[2]int](p, `window.pictured`)
		if name != "s-map.png" || size[0] < 300 || size[1] < 300 {
			t.Errorf("%s: the picture %s is %v", screen.name, name, size)
		}
	}
}
