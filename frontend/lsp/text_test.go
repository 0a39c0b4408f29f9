package lsp

import (
	"testing"
	"unicode/utf16"

	"github.com/redfoxdb/redfox/frontend/lsp/protocol"
)

// positions of characters in text that take one, two, three and four bytes, and
// one or two code units, with each end of line.
const mixed = "aé世😀b\r\n😀😀c\rx\n\nlast"

// TestPositions compares positions with those in the UTF-16 text, and converts
// them back.
func TestPositions(t *testing.T) {
	table := newLineTable(mixed)
	line, column := 0, 0
	for i, r := range mixed {
		want := protocol.Position{Line: line, Character: column}
		if got := table.position(i); got != want {
			t.Errorf("offset %d is %v, not %v", i, got, want)
		}
		if got := table.offset(want); got != i && r != '\n' {
			t.Errorf("%v is offset %d, not %d", want, got, i)
		}
		column += len(utf16.Encode([]rune{r}))
		if r == '\n' || r == '\r' && mixed[i+1] != '\n' {
			line, column = line+1, 0
		}
	}
	if got := table.position(len(mixed)); got != (protocol.Position{Line: 4, Character: 4}) {
		t.Errorf("the end is %v", got)
	}
}

// TestOffsets clamps positions that are not in the text.
func TestOffsets(t *testing.T) {
	table := newLineTable(mixed)
	for _, c := range []struct{ line, character, want int }{
		{0, 4, 6}, // between the surrogates of the first line
		{0, 99, 11}, {1, 99, 22}, {3, 7, 25}, {4, 99, len(mixed)}, {9, 0, len(mixed)}, {-1, 3, 0},
		{0, -1, 0},
	} {
		got := table.offset(protocol.Position{Line: c.line, Character: c.character})
		if got != c.want {
			t.Errorf("%d:%d is offset %d, not %d", c.line, c.character, got, c.want)
		}
	}
	broken := newLineTable("a\xff\xfeb")
	if got := broken.position(3).Character; got != 3 {
		t.Errorf("b is in column %d", got)
	}
	if got := broken.offset(protocol.Position{Character: 3}); got != 3 {
		t.Errorf("column 3 is offset %d", got)
	}
}
