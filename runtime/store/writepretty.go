package store

import (
	"fmt"
	"io"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/jedib0t/go-pretty/v6/text"

	"github.com/redfoxdb/redfox/internal/scalar"
)

// prettyWriter writes a table to look at. Up to heldRows rows are held to find
// the widths of the columns; for more, the widths are found by a pass over all
// of the relation.
type prettyWriter struct {
	w      io.Writer
	cols   []*Column
	names  []string
	widths []int
	held   [][]string
	set    bool // widths are final and the heading is written
	buf    []byte
}

const heldRows = 4096

func newPrettyWriter(w io.Writer, cols []*Column, names []string) *prettyWriter {
	p := &prettyWriter{w: w, cols: cols, names: names, widths: make([]int, len(cols))}
	for c, n := range names {
		p.widths[c] = displayWidth(n)
	}
	return p
}

// displayWidth returns the cells that a string takes on a terminal.
func displayWidth(s string) int {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return text.StringWidthWithoutEscSequences(s)
		}
	}
	return len(s)
}

func (p *prettyWriter) rows(block [][]int64, n int) error {
	if len(p.cols) == 0 {
		return nil
	}
	for row := range n {
		cells := make([]string, len(p.cols))
		for c, col := range p.cols {
			cells[c] = prettyCell(col, block[c][row])
		}
		switch {
		case p.set:
			if err := p.row(cells); err != nil {
				return err
			}
		case len(p.held) < heldRows:
			p.held = append(p.held, cells)
		default:
			p.measureAll()
			if err := p.release(); err != nil {
				return err
			}
			if err := p.row(cells); err != nil {
				return err
			}
		}
	}
	return nil
}

func prettyCell(col *Column, word int64) string {
	if col.Type.Kind != scalar.String {
		return scalar.Format(col.ValueOf(word))
	}
	s := col.Dict.String(uint32(word))
	if strings.IndexFunc(s, unicode.IsControl) < 0 {
		return s
	}
	quoted := scalar.Quote(s)
	return quoted[1 : len(quoted)-1]
}

// measureAll widens the columns for all rows of the relation.
func (p *prettyWriter) measureAll() {
	words := make([]int64, blockRows)
	for c, col := range p.cols {
		known := map[int64]bool{}
		for from := 0; from < col.Len(); from += blockRows {
			part := words[:min(blockRows, col.Len()-from)]
			col.Read(part, from)
			for _, w := range part {
				if col.Type.Kind == scalar.String {
					if known[w] {
						continue
					}
					known[w] = true
				}
				p.widths[c] = max(p.widths[c], displayWidth(prettyCell(col, w)))
			}
		}
	}
}

// release writes the heading and the rows that are held.
func (p *prettyWriter) release() error {
	p.set = true
	for _, cells := range p.held {
		for c, s := range cells {
			p.widths[c] = max(p.widths[c], displayWidth(s))
		}
	}
	if len(p.cols) > 0 {
		if err := p.row(p.names); err != nil {
			return err
		}
		rules := make([]string, len(p.cols))
		for c, w := range p.widths {
			rules[c] = strings.Repeat("-", w)
		}
		if err := p.row(rules); err != nil {
			return err
		}
	}
	for _, cells := range p.held {
		if err := p.row(cells); err != nil {
			return err
		}
	}
	p.held = nil
	return nil
}

// row writes one line: numbers to the right, others to the left, two blanks
// between columns and none at the end.
func (p *prettyWriter) row(cells []string) error {
	buf := p.buf
	for c, s := range cells {
		pad := p.widths[c] - displayWidth(s)
		right := p.cols[c].Type.IsNumeric()
		if c > 0 {
			buf = append(buf, "  "...)
		}
		if right {
			buf = appendBlanks(buf, pad)
		}
		buf = append(buf, s...)
		if !right && c < len(cells)-1 {
			buf = appendBlanks(buf, pad)
		}
	}
	buf = append(buf, '\n')
	p.buf = buf
	if len(buf) < flushBytes {
		return nil
	}
	return p.flush()
}

func appendBlanks(dst []byte, n int) []byte {
	for range n {
		dst = append(dst, ' ')
	}
	return dst
}

func (p *prettyWriter) flush() error {
	_, err := p.w.Write(p.buf)
	p.buf = p.buf[:0]
	return err
}

func (p *prettyWriter) finish(rows int64) error {
	if !p.set {
		if err := p.release(); err != nil {
			return err
		}
	}
	p.buf = fmt.Appendf(p.buf, "(%s)\n", counted(int(rows), "row"))
	return p.flush()
}
