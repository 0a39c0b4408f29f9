package measure

import (
	"bufio"
	"encoding/xml"
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/redfoxdb/redfox/bench/suite"
)

// The layout of a chart, in pixels.
const (
	chartWidth   = 860
	chartLeft    = 60 // of the bars, behind the names
	chartRight   = 90 // behind the bars, for the longest label
	chartTop     = 92 // title, legend and the labels of the axis
	barHeight    = 12
	groupGap     = 9 // between queries
	chartBottom  = 14
	legendStride = 210
)

// barColors are the colours of redfox and its peers.
var barColors = []string{"#c2410c", "#64748b", "#a3b1c2", "#cfd8e3"}

// bar is one bar of a chart.
type bar struct {
	seconds float64 // 0 draws none
	color   string
}

// group holds the bars of one query.
type group struct {
	name string
	bars []bar
}

// WriteSVG draws a bar for each hot median and each time of a peer, on one
// logarithmic axis.
func (r *Report) WriteSVG(w io.Writer) error {
	names := []string{"redfox"}
	for _, p := range r.Peers {
		if p.Mean > 0 && len(names) < len(barColors) {
			names = append(names, p.Name)
		}
	}
	groups := r.groups(names)
	low, high := decades(groups)
	x := func(seconds float64) float64 {
		return chartLeft + (chartWidth-chartLeft-chartRight)*(math.Log10(seconds)-low)/(high-low)
	}
	stride := barHeight*len(names) + groupGap
	height := chartTop + stride*len(groups) + chartBottom
	out := bufio.NewWriter(w)
	fmt.Fprintf(out,
		`<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %[1]d %[2]d" font-family="sans-serif" font-size="11" role="img">`+"\n",
		chartWidth, height)
	fmt.Fprintf(out, "<title>%s</title>\n", escape(r.title()))
	fmt.Fprintf(out, `<rect width="%d" height="%d" fill="#ffffff"/>`+"\n", chartWidth, height)
	fmt.Fprintf(out,
		`<text x="12" y="22" font-size="15" font-weight="bold" fill="#111827">%s</text>`+"\n",
		escape(r.title()))
	fmt.Fprintf(out, `<text x="12" y="40" fill="#4b5563">%s</text>`+"\n", escape(r.subtitle()))
	for i, name := range names {
		fmt.Fprintf(out,
			`<rect x="%d" y="52" width="10" height="10" fill="%s"/><text x="%d" y="61" fill="#111827">%s</text>`+"\n",
			12+i*legendStride, barColors[i], 27+i*legendStride, escape(name))
	}
	for d := low; d <= high; d++ {
		at := x(math.Pow(10, d))
		fmt.Fprintf(out, `<line x1="%.1f" y1="%d" x2="%.1f" y2="%d" stroke="#e5e7eb"/>`+"\n", at,
			chartTop-6, at, height-chartBottom)
		fmt.Fprintf(out, `<text x="%.1f" y="%d" text-anchor="middle" fill="#4b5563">%s</text>`+"\n",
			at, chartTop-10, FormatTime(math.Pow(10, d)))
	}
	for i, g := range groups {
		top := chartTop + i*stride
		fmt.Fprintf(out, `<text x="%d" y="%d" text-anchor="end" fill="#111827">%s</text>`+"\n",
			chartLeft-8, top+(barHeight*len(names))/2+4, escape(g.name))
		for j, b := range g.bars {
			if b.seconds <= 0 {
				continue
			}
			end := x(b.seconds)
			y := top + j*barHeight
			fmt.Fprintf(out,
				`<rect x="%d" y="%d" width="%.1f" height="%d" fill="%s"/><text x="%.1f" y="%d" font-size="10" fill="#374151">%s</text>`+"\n",
				chartLeft, y, max(end-chartLeft, 1), barHeight-1, b.color, end+4, y+barHeight-3,
				FormatTime(b.seconds))
		}
	}
	fmt.Fprintln(out, "</svg>")
	return out.Flush()
}

// groups returns the bars of each query and of the geometric means.
func (r *Report) groups(names []string) []group {
	var out []group
	for _, m := range r.Queries {
		g := group{name: m.Query, bars: make([]bar, len(names))}
		g.bars[0] = bar{m.Hot.Median, barColors[0]}
		for i, name := range names[1:] {
			for _, p := range m.Peers {
				if p.Peer == name {
					g.bars[i+1] = bar{p.Median, barColors[i+1]}
				}
			}
		}
		out = append(out, g)
	}
	if r.Mean == 0 || len(r.Queries) < 2 {
		return out
	}
	mean := group{name: "mean", bars: make([]bar, len(names))}
	mean.bars[0] = bar{r.Mean, barColors[0]}
	for i, name := range names[1:] {
		for _, p := range r.Peers {
			if p.Name == name {
				mean.bars[i+1] = bar{p.Mean, barColors[i+1]}
			}
		}
	}
	return append(out, mean)
}

// decades returns the powers of ten that bound all bars.
func decades(groups []group) (low, high float64) {
	low, high = math.Inf(1), math.Inf(-1)
	for _, g := range groups {
		for _, b := range g.bars {
			if b.seconds > 0 {
				// A bar is never too short to be seen.
				low = min(low, math.Floor(math.Log10(b.seconds*0.8)))
				high = max(high, math.Ceil(math.Log10(b.seconds)))
			}
		}
	}
	if low >= high {
		low, high = -3, 0
	}
	return low, high
}

// title names the suite, the scale factor and the kind of times.
func (r *Report) title() string {
	name := r.Suite
	if s, ok := suite.Find(r.Suite); ok {
		name = s.Title
	}
	return fmt.Sprintf("%s, scale factor %s: hot times, median of repeated runs", name,
		suite.FormatScale(r.Scale))
}

// subtitle names the engine and the machine.
func (r *Report) subtitle() string {
	where := r.Machine.CPU
	if r.Device != "" {
		where = r.Device
	}
	text := fmt.Sprintf("redfox, engine %s, %d threads", r.Engine, r.Threads)
	if where != "" {
		text += ", " + where
	}
	return text + "; logarithmic scale, less is better"
}

// FormatTime writes seconds with three digits and a unit.
func FormatTime(seconds float64) string {
	scaled, unit := seconds, "s"
	switch {
	case seconds <= 0:
		return "0 s"
	case seconds < 0.9995e-3:
		scaled, unit = seconds*1e6, "µs"
	case seconds < 0.9995:
		scaled, unit = seconds*1e3, "ms"
	}
	digits := max(2-int(math.Floor(math.Log10(scaled*1.0005))), 0)
	text := fmt.Sprintf("%.*f", digits, scaled)
	if strings.Contains(text, ".") {
		text = strings.TrimRight(strings.TrimRight(text, "0"), ".")
	}
	return text + " " + unit
}

// escape makes a text safe in XML.
func escape(text string) string {
	var b strings.Builder
	// The only error is the writer's.
	_ = xml.EscapeText(&b, []byte(text))
	return b.String()
}
