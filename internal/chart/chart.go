// Package chart draws the figures of reports as SVG text: maps of a graph, curves, bars,
// and comparisons of predictions with what was measured.
//
// A [Picture] is one svg element, for a page or a file of its own. It refers to nothing,
// needs no script, and prints as sharp as it looks on a screen. A title and a description
// in words serve readers who cannot see it. Letters are text in the fonts of the
// reader's system; since their widths are not known here, [width] reckons with wide ones.
// The same input gives the same bytes.
//
// All text passes through one function, sheet.add, which escapes it and rounds numbers to
// tenths. Numbers that are not finite are left out before: a figure never holds one.
package chart

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode"
)

// Picture is a figure.
type Picture struct {
	Title string
	Note  string // what the drawing leaves out, "" if nothing
	SVG   string
}

// Colours of all figures: dark ink, and tones that print.
const (
	ink    = "#262b33"
	soft   = "#5c646f" // second to ink
	hair   = "#9aa1ab" // edges
	faint  = "#b9bec6" // nodes without a value
	grid   = "#e8eaed"
	band   = "#d9dde3" // where chance alone may lead
	accent = "#2f5f8f"
	muted  = "#a8b4c2"
)

// Sizes in pixels. Pages scale figures to their columns; text is large enough for three of
// them side by side on paper.
const (
	margin    = 10.0
	letters   = 10.0
	headline  = 12.0
	headRoom  = 36.0 // for the title
	farthest  = 1e150
	fonts     = `system-ui, -apple-system, 'Segoe UI', Roboto, 'Liberation Sans', Arial, sans-serif`
	middle    = `dy=".35em"` // centres a line of text on its y
	dashes    = `fill="none" stroke="` + soft + `" stroke-dasharray="4 3"`
	roundEnds = `fill="none" stroke-linecap="round"`
)

// sheet collects the elements of a picture.
type sheet struct {
	body          strings.Builder
	width, height float64
}

// add appends markup. Text among the arguments is escaped, and numbers are rounded.
func (s *sheet) add(markup string, args ...any) {
	for k, a := range args {
		switch a := a.(type) {
		case float64:
			args[k] = number(a)
		case string:
			args[k] = escape(a)
		}
	}
	fmt.Fprintf(&s.body, markup, args...)
}

// picture returns what was drawn; about says in words what it shows.
func (s *sheet) picture(title, about, note string) *Picture {
	whole := &sheet{}
	whole.add(`<svg xmlns="http://www.w3.org/2000/svg" role="img" width="%v" height="%v" viewBox="0 0 %v %v" font-family="%v" font-size="%v" `+
		`fill="`+ink+`"><title>%v</title><desc>%v</desc><text x="%v" y="22" font-size="%v" font-weight="600">%v</text>`,
		s.width, s.height, s.width, s.height, fonts, letters, clean(title), clean(about), margin, headline,
		fitted(title, 1.1*headline, s.width-2*margin))
	return &Picture{Title: clean(title), Note: note, SVG: whole.body.String() + s.body.String() + "</svg>"}
}

// number writes a length to a tenth.
func number(v float64) string { return strconv.FormatFloat(math.Round(10*v)/10+0, 'f', -1, 64) }

func escape(text string) string {
	var b bytes.Buffer
	if err := xml.EscapeText(&b, []byte(text)); err != nil {
		panic(fmt.Sprintf("chart: writing to memory: %v", err))
	}
	return b.String()
}

// clean makes one line of printable characters of text from a file.
func clean(text string) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(text, "\uFFFD"))
}

// width is the room that text may need, reckoned with a wide font.
func width(text string, size float64) float64 {
	sum := 0.0
	for _, r := range text {
		switch {
		case strings.ContainsRune("ijl.,:;'|!()[] ", r):
			sum += 0.36
		case r >= 0x1100: // the scripts of East Asia begin here
			sum++
		case unicode.IsUpper(r) || strings.ContainsRune("mw%±≤≥", r):
			sum += 0.84
		default:
			sum += 0.63
		}
	}
	return sum * size
}

// fitted shortens text to a width.
func fitted(text string, size, room float64) string {
	text = clean(text)
	if width(text, size) <= room {
		return text
	}
	runes := []rune(text)
	for len(runes) > 1 && width(string(runes)+"…", size) > room {
		runes = runes[:len(runes)-1]
	}
	return string(runes) + "…"
}

func finite(values ...float64) bool {
	for _, v := range values {
		if math.IsNaN(v - v) {
			return false
		}
	}
	return true
}
