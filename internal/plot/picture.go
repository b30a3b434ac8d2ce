// Package plot draws the pictures of the command line and of the report: maps of
// a graph, and how predictions compare with what was measured. The same input
// gives the same bytes.
package plot

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"image/color"
	"strings"
	"unicode"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgsvg"
)

// Picture is a drawing of a fixed size.
type Picture struct {
	title         string
	note          string
	width, height vg.Length
	draw          func(draw.Canvas)
}

// Note says what was left out of the drawing, "" if nothing was.
func (p *Picture) Note() string { return p.note }

// Fonts that look alike and are at hand nearly everywhere: those of the drawing
// are not part of an SVG.
const fontFamily = `font-family:&#39;Liberation Sans&#39;,Arial,Helvetica,sans-serif`

// SVG returns the picture as an svg element, to stand alone or within HTML. It
// names no other file.
func (p *Picture) SVG() []byte {
	c := vgsvg.New(p.width, p.height)
	p.draw(draw.New(c))
	var out bytes.Buffer
	write(&out, c)
	_, body, _ := bytes.Cut(out.Bytes(), []byte("<svg "))
	body = bytes.ReplaceAll(body, []byte("font-family:Liberation Sans"), []byte(fontFamily))
	body = bytes.ReplaceAll(body, []byte("data:image/jpg;"), []byte("data:image/png;")) // as it is
	var title bytes.Buffer
	if err := xml.EscapeText(&title, []byte(p.title)); err != nil {
		panic(fmt.Sprintf("plot: writing to memory: %v", err))
	}
	return append([]byte(`<svg role="img" aria-label="`+title.String()+`" `), body...)
}

// PNG returns the picture on white, at so many dots per inch.
func (p *Picture) PNG(dpi int) []byte {
	c := vgimg.PngCanvas{Canvas: vgimg.NewWith(vgimg.UseWH(p.width, p.height), vgimg.UseDPI(dpi), vgimg.UseBackgroundColor(color.White))}
	p.draw(draw.New(c))
	var out bytes.Buffer
	write(&out, c)
	return out.Bytes()
}

func write(out *bytes.Buffer, c vg.CanvasWriterTo) {
	if _, err := c.WriteTo(out); err != nil {
		panic(fmt.Sprintf("plot: writing to memory: %v", err))
	}
}

// clean makes text from a file fit for a label: one line of printable
// characters, not too long.
func clean(text string) string {
	const longest = 60
	var out []rune
	for _, r := range strings.ToValidUTF8(text, "\uFFFD") {
		if len(out) == longest {
			return string(out[:longest-1]) + "…"
		}
		if !unicode.IsPrint(r) {
			r = ' '
		}
		out = append(out, r)
	}
	return string(out)
}
