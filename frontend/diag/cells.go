package diag

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/rivo/uniseg"
)

const (
	tabWidth  = 4
	lineWidth = 160 // longer lines are cut to this many columns
)

// cells is a source line as a terminal shows it. Characters take one column or
// two, tabs become blanks, and nothing moves the cursor.
type cells struct {
	shown  []string
	starts []int // byte offset in the line of each character
	column []int // column of each character, and the one behind the last
	cutTop bool  // characters before the first are not shown
	cutEnd bool
}

// newCells lays out a line. A line that is too long is cut around the byte at
// offset focus.
func newCells(line string, focus int) *cells {
	c := &cells{}
	column, state := 0, -1
	var focusColumn int
	for offset, rest := 0, line; rest != ""; {
		var cluster string
		var width int
		cluster, rest, width, state = uniseg.FirstGraphemeClusterInString(rest, state)
		shown := printable(cluster)
		if cluster == "\t" {
			width = tabWidth - column%tabWidth
			shown = strings.Repeat(" ", width)
		} else if shown != cluster {
			width = utf8.RuneCountInString(shown)
		}
		if offset <= focus {
			focusColumn = column
		}
		c.shown = append(c.shown, shown)
		c.starts = append(c.starts, offset)
		c.column = append(c.column, column)
		offset += len(cluster)
		column += width
	}
	c.starts = append(c.starts, len(line))
	c.column = append(c.column, column)
	if column > lineWidth {
		c.cut(max(0, min(focusColumn-lineWidth/4, column-lineWidth)))
	}
	return c
}

// cut keeps lineWidth columns from the given one on, dots included.
func (c *cells) cut(from int) {
	first := 0
	for c.column[first] < from {
		first++
	}
	last := first
	for last < len(c.shown) && c.column[last+1] <= c.column[first]+lineWidth-2 {
		last++
	}
	c.cutTop, c.cutEnd = first > 0, last < len(c.shown)
	shift := c.column[first]
	if c.cutTop {
		shift--
	}
	c.shown, c.starts, c.column = c.shown[first:last], c.starts[first:last+1],
		c.column[first:last+1]
	for i := range c.column {
		c.column[i] -= shift
	}
}

// text returns the line as shown.
func (c *cells) text() string {
	s := strings.Join(c.shown, "")
	if c.cutTop {
		s = "…" + s
	}
	if c.cutEnd {
		s += "…"
	}
	return s
}

// columns returns the columns [from, to) of the bytes [start, end); at least
// one.
func (c *cells) columns(start, end int) (from, to int) {
	at := func(offset int) int {
		n := len(c.starts) - 1
		for n > 0 && c.starts[n] > offset {
			n--
		}
		return c.column[n]
	}
	from = at(start)
	to = at(end)
	// A span may end inside a character or behind the line's last.
	return from, max(to, from+1)
}

// printable replaces the characters that a terminal would act on or not show.
func printable(text string) string {
	return strings.Map(func(r rune) rune {
		if r == utf8.RuneError || unicode.IsControl(r) && r != '\t' ||
			unicode.Is(unicode.Bidi_Control, r) {
			return '\uFFFD'
		}
		return r
	}, text)
}
