package report

import (
	"encoding/json"
	"encoding/xml"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// Data stays data in elements and in attributes: what a reader decodes is what was written.
func TestText(t *testing.T) {
	t.Parallel()
	for _, data := range []string{"plain + more", `" onload="alert(1)`, `' onload='alert(1)`, `"><script>alert(1)</script>`, "</p>",
		"&lt;b>", "&#34;", "<!--", "]]>", "é \u202e 中"} {
		var got struct {
			Class string `xml:"class,attr"`
			Text  string `xml:",chardata"`
		}
		m := `<p class="` + text(data) + `">` + text(data) + `</p>`
		if err := xml.Unmarshal([]byte(m), &got); err != nil || got.Class != data || got.Text != data {
			t.Errorf("%q was written as %s and read as %q in the attribute, %q in the element: %v", data, m, got.Class, got.Text, err)
		}
		m, err := asJSON([]string{data})
		if err != nil || strings.ContainsAny(string(m), "<>&") {
			t.Errorf("%s can end its element: %v", m, err)
		}
		var back []string
		if err := json.Unmarshal([]byte(m), &back); err != nil || back[0] != data {
			t.Errorf("%q was read as %q: %v", data, back, err)
		}
	}
}

// No text of a page reaches it as it is, in elements or in attributes.
func TestPageEscapes(t *testing.T) {
	t.Parallel()
	const evil = `" onload="alert(1)"><script>alert(2)</script>`
	all := []string{evil}
	p := page{Title: evil, Subtitle: evil, Verdict: Headline{Trust: evil, Words: all, Advice: all}, Tiles: []tile{{evil, evil, evil}},
		Mark: evil, Maps: []figure{{Note: evil}}, Model: facts{{evil, evil}}, Why: all, Files: facts{{evil, evil}}, Graph: facts{{evil, evil}},
		Settings: facts{{evil, evil}}, Terms: facts{{evil, evil}}}
	var b strings.Builder
	w := &writer{w: &b}
	p.writeTop(w)
	p.writeMaps(w)
	w.results("labels", evil, all, figure{Note: evil}, "figures", figure{Note: evil})
	p.writeEnd(w, []th{{"a", "t"}, {"b", ""}}, [][]markup{cells(text(evil), evil), cells(isolated(evil), evil)})
	for line := range strings.Lines(b.String()) {
		if strings.Contains(line, "<script>alert") || strings.Contains(line, `" onload`) {
			t.Errorf("text became markup in %s", line)
		}
	}
	if w.err != nil {
		t.Error(w.err)
	}
	if n := strings.Count(b.String(), string(text(evil))); n < 26 {
		t.Errorf("%d texts are shown", n)
	}
}

// Markup is made of constants, of escaped data and of what is drawn here: every conversion is one of these.
func TestConversionsToMarkup(t *testing.T) {
	t.Parallel()
	known := []string{
		"html.EscapeString(data)", "b", // text, asJSON
		"p.SVG", "b.String()", // pictures, whose texts package chart escapes; small plots, which have none
		"htmlpage.Head(p.Title, script)", "script",
	}
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	conversion := regexp.MustCompile(`\bmarkup\((([^()]|\([^()]*\))*)\)`)
	for _, name := range files {
		source, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range conversion.FindAllStringSubmatch(string(source), -1) {
			if !strings.HasSuffix(name, "_test.go") && !slices.Contains(known, m[1]) {
				t.Errorf("%s: %s: is it escaped?", name, m[0])
			}
		}
	}
}
