// Package plot draws the figures of reports: maps of a graph, line charts, and
// comparisons of predictions with measurements (residuals, calibration, reliability). The
// same input gives the same bytes.
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

// Title returns the title.
func (p *Picture) Title() string { return p.title }

// Note states what the drawing omits, "" if nothing.
func (p *Picture) Note() string { return p.note }

// Fallback fonts for SVG, which does not embed the fonts of the drawing.
const fontFamily = `font-family:&#39;Liberation Sans&#39;,Arial,Helvetica,sans-serif`

// SVG returns the picture as an svg element, for a file of its own or for HTML. It refers
// to no other file.
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

// PNG returns the picture on a white background, at the given dots per inch.
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

// clean prepares text from a file for a label: one line of printable characters of limited
// length.
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
