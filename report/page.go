package report

import (
	"grfgp/crossval"
	"grfgp/internal/chart"
	"grfgp/internal/htmlpage"
)

// page is what both kinds of report show.
type page struct {
	Title, Subtitle string
	Verdict         Headline
	Tiles           []tile
	Files           facts // a paragraph per file, separated by empty facts
	Graph           facts
	Model           facts
	Why             []string
	Maps            []figure
	MapNotes        []string
	Mark            string // what is marked on the maps
	Settings        facts
	Terms           facts
	Data            markup // for the script
}

// tile is a figure at the top; Tone is its style, empty for none.
type tile struct{ Value, Name, Tone string }

type figure struct {
	Picture markup
	Note    string
}

func newFigure(p *chart.Picture) figure { return figure{markup(p.SVG), p.Note} }

// writeTop writes all that is above the maps.
func (p *page) writeTop(w *writer) {
	v := p.Verdict
	w.add(markup(htmlpage.Head(p.Title, script)), `<body>
<header>
<h1>`, text(p.Title), `</h1>
<p class="soft">`, text(p.Subtitle), `</p>
</header>
<section id="verdict" class="verdict `, text(v.Trust.tone()), `">
<h2>Can I trust it?</h2>
<p class="answer">`, text(string(v.Trust)), `</p>
<p>`, sentences(v.Words), `</p>
`)
	if len(v.Advice) > 0 {
		w.list("", v.Advice)
	}
	w.add(`</section>
<div class="tiles">`)
	for _, t := range p.Tiles {
		w.add(`
<div class="tile `, text(t.Tone), `"><b>`, text(t.Value), `</b><span>`, text(t.Name), `</span></div>`)
	}
	w.add(`
</div>
`)
}

// writeMaps writes the still maps, and the places in which the script shows its own.
func (p *page) writeMaps(w *writer) {
	w.add(`<noscript><p class="soft">With JavaScript, the maps can be zoomed and searched, and all predictions are listed in a table.`,
		`</p></noscript>
<div id="tools" class="tools" hidden>
<label>Find a node <input type="search" placeholder="id or name" autocomplete="off"></label>
<span class="buttons"><button class="in" aria-label="zoom in">+</button><button class="out" aria-label="zoom out">−</button>`,
		`<button class="whole">Whole map</button></span>
<label><input type="checkbox" checked> mark `, text(p.Mark), ` nodes</label>
<div class="hits" aria-live="polite"></div>
<p class="soft">Point at a node or tap it to see its numbers. Drag to move; click the map, then use the wheel or + and − to zoom.</p>
</div>
<div id="card" class="card" role="status" hidden></div>
<div class="figures">`)
	for _, f := range p.Maps {
		w.add(`
<figure class="map"><div class="still">
`, f.Picture, `</div>`)
		if f.Note != "" {
			w.add(`<figcaption class="still">`, text(f.Note), `</figcaption>`)
		}
		w.add(`
</figure>`)
	}
	w.add(`
</div>
`)
}

// allNodes is the place in which the script lists all nodes.
const allNodes markup = `<section id="table" hidden>
<h2>All nodes</h2>
<div class="tools"><label>Show nodes with <input type="search" placeholder="part of an id or name" autocomplete="off"></label>
<span class="buttons"><button class="before" aria-label="previous page">‹</button>` +
	`<button class="after" aria-label="next page">›</button></span> <span class="where soft" aria-live="polite"></span>
<button class="save">Save as CSV</button></div>
<div class="scroll"><table><thead></thead><tbody></tbody></table></div>
</section>
`

// results writes what a validation found, with its figures; the class is that of their block.
func (w *writer) results(of markup, learned crossval.Learned, verdicts []string, bars figure, class markup, plots ...figure) {
	w.add(`<p>Cross-validation: the `, of, ` of each fold were predicted from those of the other folds. `, text(learned.String()), `</p>
`)
	w.list("", verdicts)
	w.add(`<div class="wide">`)
	w.figure(bars)
	w.add(`</div>
<div class="`, class, `">
`)
	for _, f := range plots {
		w.figure(f)
	}
	w.add(`</div>
`)
}

// writeEnd writes the model and all that is below it; tried are the kernels that were compared, none or several.
func (p *page) writeEnd(w *writer, headings []th, tried [][]markup) {
	w.add(`<section id="model">
<h2>The model</h2>
<div class="columns">
`)
	w.facts("Choice", p.Model)
	w.add(`<div>
<h3>Reasons</h3>
`)
	w.list("", p.Why)
	if len(tried) > 1 {
		w.table(headings, tried)
	}
	w.add(`</div>
</div>
</section>
<section id="read">
<h2>Input</h2>
<div class="columns">
`)
	w.facts("Files", p.Files)
	w.facts("The graph", p.Graph)
	w.add(`</div>
</section>
<details id="settings">
<summary>Settings and terms</summary>
<div class="columns">
`)
	w.facts("Settings", p.Settings)
	w.facts("Terms", p.Terms)
	w.add(`</div>
</details>
<footer>The same files, settings and version give the same report, byte for byte.</footer>
<script type="application/json" id="data">`, p.Data, `</script>
<script>`, markup(script), `</script>
</body>
</html>
`)
}
