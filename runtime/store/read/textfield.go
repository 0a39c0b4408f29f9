package read

import (
	"encoding/binary"
	"math/bits"
	"unicode/utf8"

	"github.com/redfoxdb/redfox/internal/scalar"
	"github.com/redfoxdb/redfox/runtime/store"
)

// columnOp is how ordinary fields of a file's column are read.
type columnOp uint8

const (
	opGeneral columnOp = iota // the column fills several fields
	opIgnore
	opInt
	opDecimal
	opString
	opValue // of another type
)

// columnOps returns how columns are read, by the fields that each fills.
func columnOps(kinds []columnOp, fill [][]int) []columnOp {
	ops := make([]columnOp, len(fill))
	for c, filled := range fill {
		switch len(filled) {
		case 0:
			ops[c] = opIgnore
		case 1:
			ops[c] = kinds[filled[0]]
		}
	}
	return ops
}

// opOf returns the columnOp of a field by its type.
func opOf(f field) columnOp {
	t := f.typ
	switch {
	case t.Kind == scalar.Int:
		return opInt
	case t.Kind == scalar.Decimal && t.Word == scalar.Whole && t.Scale <= mostDigits:
		return opDecimal
	case t.Kind == scalar.String:
		return opString
	}
	return opValue
}

// mostDigits cannot overflow a word.
const mostDigits = 18

// plain reads the field of column c at p into a row, if it has a value and no
// quotes or escapes. It returns where the field ends, or 0 for a field that it
// does not read.
func (s *textScanner) plain(data []byte, p, row, c int) (end int) {
	op := s.ops[c]
	switch op {
	case opGeneral:
		return 0
	case opInt:
		n, end := integer(data, p)
		if end == 0 || !s.isEnd(data[end]) {
			return 0
		}
		f := s.fill[c][0]
		if t := s.fields[f].typ; t.Bits != 64 && !fitsInt(n, t.Bits) {
			return 0
		}
		s.words[f][row] = n
		return end
	case opDecimal:
		f := s.fill[c][0]
		n, end := decimal(data, p, int(s.fields[f].typ.Scale))
		if end == 0 || !s.isEnd(data[end]) {
			return 0
		}
		s.words[f][row] = n
		return end
	}
	if s.format.quotes && data[p] == '"' {
		if op != opString || s.format.null != nil || !s.valid {
			return 0
		}
		return s.quotedString(data, p, row, c)
	}
	end = s.ends.find(data, p)
	if end == 0 || op == opIgnore {
		return end
	}
	if s.format.null != nil {
		return 0
	}
	text := data[p:end]
	if data[end] == '\n' {
		text = trimReturn(text)
	}
	f := s.fill[c][0]
	switch {
	case len(text) == 0:
		return 0
	case op == opString:
		if !s.valid {
			return 0
		}
		s.words[f][row] = store.Span(p, len(text))
	default:
		word, err := parseWord(s.fields[f].typ, text)
		if err != nil {
			return 0
		}
		s.words[f][row] = int64(word)
	}
	return end
}

// quotedString is plain for a string in quotes without a quote or a line in it.
func (s *textScanner) quotedString(data []byte, p, row, c int) (end int) {
	start := p + 1
	end = s.ends.quoteOrLine(data, start)
	if data[end] != '"' {
		return 0
	}
	if next := data[end+1]; next != s.format.delimiter && next != '\n' {
		return 0
	}
	s.words[s.fill[c][0]][row] = store.Span(start, end-start)
	return end + 1
}

// isEnd reports whether a byte ends a field.
func (s *textScanner) isEnd(c byte) bool { return c == s.format.delimiter || c == '\n' }

// integer reads up to mostDigits digits at p. end is 0 if there are more or
// none. The data must not end in a digit.
func integer(data []byte, p int) (n int64, end int) {
	negative := data[p] == '-'
	if negative {
		p++
	}
	digits := p
	for data[p]-'0' <= 9 {
		n = n*10 + int64(data[p]-'0')
		p++
	}
	if negative {
		n = -n
	}
	if p == digits || p-digits > mostDigits {
		return 0, 0
	}
	return n, p
}

// decimal reads up to mostDigits digits at p, of which at most scale follow the
// point. end is 0 for other numbers. The data must not end in a digit.
func decimal(data []byte, p, scale int) (n int64, end int) {
	negative := data[p] == '-'
	if negative {
		p++
	}
	start, fraction := p, 0
	for data[p]-'0' <= 9 {
		n = n*10 + int64(data[p]-'0')
		p++
	}
	digits := p - start
	if data[p] == '.' && digits > 0 {
		p++
		point := p
		for data[p]-'0' <= 9 {
			n = n*10 + int64(data[p]-'0')
			p++
		}
		if fraction = p - point; fraction == 0 {
			return 0, 0
		}
	}
	if digits == 0 || fraction > scale || digits+scale > mostDigits {
		return 0, 0
	}
	n *= pow10(scale - fraction)
	if negative {
		n = -n
	}
	return n, p
}

// fieldEnds finds the ends of fields eight bytes at a time. Each pattern is a
// byte eight times.
type fieldEnds struct{ delimiter, escape uint64 }

const (
	ones      = 0x0101010101010101
	highs     = 0x8080808080808080
	newlines  = '\n' * ones
	quotes    = '"' * ones
	backslash = '\\' * ones
)

func (f textFormat) fieldEnds() fieldEnds {
	e := fieldEnds{delimiter: uint64(f.delimiter) * ones, escape: newlines}
	if f.escapes {
		e.escape = backslash
	}
	return e
}

// equal sets the upper bit of each byte of a word that equals the pattern's.
// Bytes above the first marked one may be marked wrongly (Warren, "Hacker's
// Delight", 2nd edition, 6-1).
func equal(word, pattern uint64) uint64 {
	x := word ^ pattern
	return (x - ones) &^ x & highs
}

// find returns the place of the delimiter or newline that ends the field at p,
// or 0 if an escape comes before it.
func (e fieldEnds) find(data []byte, p int) int {
	for ; p+8 <= len(data); p += 8 {
		w := binary.LittleEndian.Uint64(data[p:])
		if m := equal(w, e.delimiter) | equal(w, newlines) | equal(w, e.escape); m != 0 {
			p += bits.TrailingZeros64(m) / 8
			if data[p] == '\\' && e.escape == backslash {
				return 0
			}
			return p
		}
	}
	for ; ; p++ {
		switch c := uint64(data[p]) * ones; {
		case c == e.delimiter || c == newlines:
			return p
		case c == e.escape:
			return 0
		}
	}
}

// quoteOrLine returns the place of the next quote or newline.
func (e fieldEnds) quoteOrLine(data []byte, p int) int {
	for ; p+8 <= len(data); p += 8 {
		w := binary.LittleEndian.Uint64(data[p:])
		if m := equal(w, quotes) | equal(w, newlines); m != 0 {
			return p + bits.TrailingZeros64(m)/8
		}
	}
	for data[p] != '"' && data[p] != '\n' {
		p++
	}
	return p
}

// isText reports whether all strings that are part of a text, cut at ASCII
// characters, are valid.
func isText(data []byte) bool {
	rest := data
	var high, zero uint64
	for ; len(rest) >= 8; rest = rest[8:] {
		w := binary.LittleEndian.Uint64(rest)
		high |= w
		zero |= (w - ones) &^ w
	}
	for _, c := range rest {
		high |= uint64(c)
		zero |= (uint64(c) - 1) &^ uint64(c) & 0xff
	}
	return zero&highs == 0 && (high&highs == 0 || utf8.Valid(data))
}
