package plot

import (
	"fmt"
	"image/color"
	"math"

	gonum "gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg/draw"
)

const square = 330 // points, of square figures

func finite(values ...float64) bool {
	for _, v := range values {
		if math.IsNaN(v - v) {
			return false
		}
	}
	return true
}

func line(style draw.LineStyle, points ...plotter.XY) *plotter.Line {
	return &plotter.Line{XYs: points, LineStyle: style}
}

// percent places ticks at every fifth of the unit interval.
type percent struct{}

func (percent) Ticks(_, _ float64) []gonum.Tick {
	var ticks []gonum.Tick
	for k := 0; k <= 100; k += 20 {
		ticks = append(ticks, gonum.Tick{Value: float64(k) / 100, Label: fmt.Sprintf("%d %%", k)})
	}
	return ticks
}

func rectangle(x0, y0, x1, y1 float64, fill color.Color) *plotter.Polygon {
	return &plotter.Polygon{XYs: []plotter.XYs{{{X: x0, Y: y0}, {X: x1, Y: y0}, {X: x1, Y: y1}, {X: x0, Y: y1}}}, Color: fill}
}
