package write

import (
	"fmt"
	"io"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/jedib0t/go-pretty/v6/text"

	"github.com/redfoxdb/redfox/internal/list"
	"github.com/redfoxdb/redfox/internal/scalar"
	"github.com/redfoxdb/redfox/runtime/store"
)

// prettyWriter writes an aligned table. It holds up to heldRows rows to find
// the widths of the columns. If there are more, it finds the widths by a pass
// over the whole relation.
type prettyWriter struct {
	w      io.Writer
	cols   []*store.Column
	fields []outputField
	widths []int
	held   [][]string
	set    bool // widths are final and the heading is written
	buf    []byte
}

const heldRows = 4096

func newPrettyWriter(w io.Writer, cols []*store.Column, fields []outputField) *prettyWriter {
	p := &prettyWriter{w: w, cols: cols, fields: fields, widths: make([]int, len(fields))}
	for i, f := range fields {
		p.widths[i] = displayWidth(f.name)
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
		cells := make([]string, len(p.fields))
		for i := range p.fields {
			cells[i] = p.fields[i].pretty(block, row)
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

// pretty returns the displayed text of the field in a row of a block.
func (f *outputField) pretty(block [][]int64, row int) string {
	v := f.value(block, row)
	if v.Type.Kind != scalar.String {
		return scalar.Format(v)
	}
	s := v.Str()
	if strings.IndexFunc(s, unicode.IsControl) < 0 {
		return s
	}
	quoted := scalar.Quote(s)
	return quoted[1 : len(quoted)-1]
}

// measureAll widens the columns for all rows of the relation.
func (p *prettyWriter) measureAll() {
	room := [2][]int64{make([]int64, store.BlockRows), make([]int64, store.BlockRows)}
	block := make([][]int64, len(p.cols))
	for i := range p.fields {
		f := &p.fields[i]
		var known []uint64 // a bit for each string that was measured
		if f.Type.Kind == scalar.String {
			known = make([]uint64, f.Dict.Len()/64+1)
		}
		for from := 0; from < f.Len(); from += store.BlockRows {
			for k := range f.columns() {
				words := room[k][:min(store.BlockRows, f.Len()-from)]
				p.cols[f.at+k].Read(words, from)
				block[f.at+k] = words
			}
			for row, w := range block[f.at] {
				if known != nil {
					if bit := uint64(1) << (w % 64); known[w/64]&bit == 0 {
						known[w/64] |= bit
					} else {
						continue
					}
				}
				p.widths[i] = max(p.widths[i], displayWidth(f.pretty(block, row)))
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
		names := list.Map(p.fields, func(f outputField) string { return f.name })
		if err := p.row(names); err != nil {
			return err
		}
		rules := make([]string, len(p.fields))
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

// row writes one line. Numbers are aligned to the right, other values to the
// left. Two blanks separate columns, and none is at the end.
func (p *prettyWriter) row(cells []string) error {
	buf := p.buf
	for c, s := range cells {
		pad := p.widths[c] - displayWidth(s)
		right := p.fields[c].Type.IsNumeric()
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
	noun := "rows"
	if rows == 1 {
		noun = "row"
	}
	p.buf = fmt.Appendf(p.buf, "(%d %s)\n", rows, noun)
	return p.flush()
}
