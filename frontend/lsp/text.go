package lsp

import (
	"sort"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/redfoxdb/redfox/frontend/lsp/protocol"
)

// lineTable converts between byte offsets of a text and positions of the
// protocol, whose columns are UTF-16 code units. Lines end with \n, \r\n or \r.
type lineTable struct {
	text   string
	starts []int // byte offset of the start of each line
}

func newLineTable(text string) *lineTable {
	t := &lineTable{text: text, starts: []int{0}}
	for i := 0; i < len(text); i++ {
		switch {
		case text[i] == '\n', text[i] == '\r' && !strings.HasPrefix(text[i+1:], "\n"):
			t.starts = append(t.starts, i+1)
		}
	}
	return t
}

// offset returns the byte offset of a position. A position behind the end of a
// line is its end, and one behind the last line is the end of the text.
func (t *lineTable) offset(p protocol.Position) int {
	if p.Line < 0 {
		return 0
	}
	if p.Line >= len(t.starts) {
		return len(t.text)
	}
	at, end := t.starts[p.Line], len(t.text)
	if p.Line+1 < len(t.starts) {
		end = t.starts[p.Line+1]
	}
	for left := p.Character; left > 0 && at < end; {
		if c := t.text[at]; c == '\n' || c == '\r' {
			break
		}
		r, size := utf8.DecodeRuneInString(t.text[at:])
		if left -= utf16Length(r); left < 0 {
			break // inside a pair of surrogates
		}
		at += size
	}
	return at
}

// position returns the position of a byte offset.
func (t *lineTable) position(offset int) protocol.Position {
	line := sort.SearchInts(t.starts, offset+1) - 1
	column := 0
	for _, r := range t.text[t.starts[line]:offset] {
		column += utf16Length(r)
	}
	return protocol.Position{Line: line, Character: column}
}

// between returns the range of two byte offsets.
func (t *lineTable) between(start, end int) protocol.Range {
	return protocol.Range{Start: t.position(start), End: t.position(end)}
}

// utf16Length returns the number of code units of a character. A byte that is
// not UTF-8 counts as the replacement character.
func utf16Length(r rune) int { return max(1, utf16.RuneLen(r)) }
