package main

import (
	"bytes"
	"fmt"
	"math"
	"strconv"
)

// plot is a chart of a few lines over a logarithmic x axis.
type plot struct {
	file, title, x, y string
	line              float64 // a horizontal line to compare with; 0: none
	lineName          string
	series            []series
	keep              func(result) bool
	point             func(result) (x, y float64)
}

type series struct {
	name   string
	points []point
}

type point struct{ x, y float64 }

// The drawing area, in pixels.
const (
	width, height           = 640, 360
	left, right, top, below = 60, 20, 40, 50
)

var colours = [...]string{"#1f6fb2", "#c4572c"}

// svg draws the plot.
func (p plot) svg() []byte {
	low, high, most := p.bounds()
	scaleX := func(x float64) float64 {
		return left + (math.Log(x)-math.Log(low))/(math.Log(high)-math.Log(low))*(width-left-right)
	}
	scaleY := func(y float64) float64 { return height - below - y/most*(height-top-below) }
	var b bytes.Buffer
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" font-family="sans-serif" font-size="12">`+"\n", width, height)
	fmt.Fprintf(&b, `<rect width="%d" height="%d" fill="white"/><text x="%d" y="20" font-size="14">%s</text>`+"\n", width, height, left, p.title)
	for i := range 6 {
		y := most * float64(i) / 5
		fmt.Fprintf(&b, `<line x1="%d" x2="%d" y1="%.1f" y2="%.1f" stroke="#ddd"/><text x="%d" y="%.1f" text-anchor="end">%s</text>`+"\n",
			left, width-right, scaleY(y), scaleY(y), left-6, scaleY(y)+4, strconv.FormatFloat(y, 'g', 3, 64))
	}
	fmt.Fprintf(&b, `<text x="%d" y="%d" text-anchor="middle">%s</text>`+"\n", (left+width-right)/2, height-10, p.x)
	fmt.Fprintf(&b, `<text transform="translate(16,%d) rotate(-90)" text-anchor="middle">%s</text>`+"\n", height/2, p.y)
	if p.line > 0 {
		fmt.Fprintf(&b, `<line x1="%d" x2="%d" y1="%.1f" y2="%.1f" stroke="#555" stroke-dasharray="5 4"/><text x="%d" y="%.1f" fill="#555">%s</text>`+"\n",
			left, width-right, scaleY(p.line), scaleY(p.line), left+8, scaleY(p.line)-5, p.lineName)
	}
	for i, s := range p.series {
		p.draw(&b, s, colours[i%len(colours)], i, scaleX, scaleY)
	}
	b.WriteString("</svg>\n")
	return b.Bytes()
}

func (p plot) draw(b *bytes.Buffer, s series, colour string, number int, scaleX, scaleY func(float64) float64) {
	fmt.Fprintf(b, `<polyline fill="none" stroke="%s" stroke-width="2" points="`, colour)
	for _, at := range s.points {
		fmt.Fprintf(b, "%.1f,%.1f ", scaleX(at.x), scaleY(at.y))
	}
	b.WriteString(`"/>` + "\n")
	for _, at := range s.points {
		fmt.Fprintf(b, `<circle cx="%.1f" cy="%.1f" r="3" fill="%s"/>`, scaleX(at.x), scaleY(at.y), colour)
		if number == 0 { // the first line's points carry the axis
			fmt.Fprintf(b, `<text x="%.1f" y="%d" text-anchor="middle">%s</text>`, scaleX(at.x), height-below+16, strconv.Itoa(int(at.x)))
		}
	}
	fmt.Fprintf(b, "\n"+`<text x="%d" y="%d" text-anchor="end" fill="%s">%s</text>`+"\n", width-right, 20+number*16, colour, s.name)
}

// bounds are the x axis's ends and the y axis's upper end.
func (p plot) bounds() (low, high, most float64) {
	low, high, most = math.Inf(1), 0, p.line
	for _, s := range p.series {
		for _, at := range s.points {
			low, high, most = min(low, at.x), max(high, at.x), max(most, at.y)
		}
	}
	return low * 0.9, high * 1.1, most * 1.1
}
