package read

import (
	"encoding/binary"
	"math/bits"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/redfoxdb/redfox/internal/scalar"
	"github.com/redfoxdb/redfox/runtime/store"
)

// jsonNames interns the member names that a scanner has seen.
type jsonNames struct {
	list []jsonName
	at   map[string]int
	// object is the number of the current object, from 1. filled is the number
	// of the last object with a value for each field.
	object int
	filled []int
	lines  int // newlines between the tokens of the current object
}

// jsonName is a member's name.
type jsonName struct {
	text   string
	fields []int // that its values fill
	opens  bool  // members of its values are read
	object int   // the last one that had the name
	// next is the name that followed this one in the previous object. Most
	// objects of a file have the same members in the same order.
	next int
}

// maxNames bounds the interned names. Objects with further names go to
// jsonDecoder.
const maxNames = 1 << 12

// name returns the number of the name that starts after the quote at p, and the
// place after its closing quote. It tries the guess first. The place is 0 for
// names with escapes and beyond maxNames.
func (s *textScanner) name(data []byte, p, guess int) (id, end int) {
	n := &s.names
	if guess < len(n.list) {
		text := n.list[guess].text
		end := p + len(text)
		if end < len(data) && data[end] == '"' && string(data[p:end]) == text {
			return guess, end + 1
		}
	}
	end = jsonPlainEnd(data, p)
	if end == len(data) || data[end] != '"' {
		return 0, 0
	}
	id, ok := n.at[string(data[p:end])]
	if ok {
		return id, end + 1
	}
	if id = len(n.list); id == maxNames {
		return 0, 0
	}
	name := jsonName{text: string(data[p:end])}
	if c, ok := s.columns[name.text]; ok {
		name.fields = s.fill[c]
	}
	name.opens = s.opened[name.text]
	if n.at == nil {
		n.at, n.filled = map[string]int{}, make([]int, len(s.fields))
	}
	n.at[name.text] = id
	n.list = append(n.list, name)
	return id, end + 1
}

// object reads the object at p into a row and returns the place after it. It
// returns 0 for an object that is unusual or invalid; jsonDecoder then reads it
// or reports the error. The block must be valid text.
func (s *textScanner) object(data []byte, p, row int) (end int) {
	if p >= len(data) || data[p] != '{' {
		return 0
	}
	n := &s.names
	n.object++
	n.lines = 0
	last, guess := -1, 0
	p = s.blanks(data, p+1)
	if p < len(data) && data[p] == '}' {
		return s.completed(p+1, row)
	}
	for {
		if p >= len(data) || data[p] != '"' {
			return 0
		}
		id, next := s.name(data, p+1, guess)
		if next == 0 {
			return 0
		}
		name := &n.list[id]
		if name.object == n.object {
			return 0
		}
		name.object = n.object
		if last >= 0 {
			n.list[last].next = id
		}
		p = s.blanks(data, next)
		if p >= len(data) || data[p] != ':' {
			return 0
		}
		if p = s.value(data, s.blanks(data, p+1), row, name); p == 0 {
			return 0
		}
		p = s.blanks(data, p)
		switch {
		case p >= len(data):
			return 0
		case data[p] == '}':
			return s.completed(p+1, row)
		case data[p] != ',':
			return 0
		}
		p = s.blanks(data, p+1)
		last, guess = id, name.next
	}
}

// completed returns the end of an object, or 0 if a required field has no
// value.
func (s *textScanner) completed(end, row int) int {
	for f := range s.fields {
		switch {
		case s.names.filled != nil && s.names.filled[f] == s.names.object:
		case s.fields[f].index == offsetColumn:
		case !s.fields[f].nullable:
			return 0
		default:
			s.setMissing(f, row)
		}
	}
	return end
}

// blanks returns the place of the next token and counts the newlines before it.
func (s *textScanner) blanks(data []byte, p int) int {
	for p < len(data) && data[p] <= ' ' {
		switch data[p] {
		case '\n':
			s.names.lines++
		case ' ', '\t', '\r':
		default:
			return p
		}
		p++
	}
	return p
}

// value reads the value of the member at p and returns the place after it, or
// 0.
func (s *textScanner) value(data []byte, p, row int, name *jsonName) (end int) {
	if p >= len(data) {
		return 0
	}
	switch c := data[p]; {
	case c == '"':
		return s.stringValue(data, p, row, name)
	case c == '-' || c-'0' <= 9:
		return s.numberValue(data, p, row, name)
	case c == 'n':
		return literalEnd(data, p, "null")
	case c == 't':
		return s.truth(literalEnd(data, p, "true"), 1, row, name)
	case c == 'f':
		return s.truth(literalEnd(data, p, "false"), 0, row, name)
	}
	if len(name.fields) > 0 || name.opens {
		return 0
	}
	end = jsonEnd(data, p)
	if end < 0 || !jsontext.Value(data[p:end]).IsValid() {
		return 0
	}
	for _, c := range data[p:end] {
		if c == '\n' {
			s.names.lines++
		}
	}
	return end
}

func literalEnd(data []byte, p int, word string) int {
	if end := p + len(word); end <= len(data) && string(data[p:end]) == word {
		return end
	}
	return 0
}

func (s *textScanner) truth(end int, word int64, row int, name *jsonName) int {
	for _, f := range name.fields {
		if s.fields[f].typ.Kind != scalar.Boolean || !s.fills(f) {
			return 0
		}
		s.words[f][row] = word
	}
	return end
}

// fills records that the current object has a value for a field. It returns
// false if it had one already.
func (s *textScanner) fills(f int) bool {
	if s.names.filled[f] == s.names.object {
		return false
	}
	s.names.filled[f] = s.names.object
	return true
}

func (s *textScanner) stringValue(data []byte, p, row int, name *jsonName) (end int) {
	start := p + 1
	end = jsonPlainEnd(data, start)
	if end == len(data) {
		return 0
	}
	text := data[start:end]
	isPlain := data[end] == '"'
	if !isPlain {
		if data[end] != '\\' {
			return 0 // a control character
		}
		if end = jsonStringEnd(data, start); end < 0 {
			return 0
		}
		unquoted, err := jsontext.AppendUnquote(s.text[:0], data[p:end+1])
		if err != nil {
			return 0
		}
		s.text, text = unquoted, unquoted
	}
	for _, f := range name.fields {
		if !s.fills(f) {
			return 0
		}
		switch t := s.fields[f].typ; {
		case t.Kind == scalar.String && isPlain:
			s.words[f][row] = store.Span(start, len(text))
		case t.Kind == scalar.String:
			if !isText(text) {
				return 0
			}
			s.words[f][row] = s.behind(text)
		case t.Kind == scalar.Datetime || t.Kind == scalar.Float:
			word, err := parseWord(t, text)
			if err != nil {
				return 0
			}
			s.words[f][row] = int64(word)
		default:
			return 0
		}
	}
	return end + 1
}

func (s *textScanner) numberValue(data []byte, p, row int, name *jsonName) (end int) {
	if len(name.fields) == 1 {
		if end = s.shortNumber(data, p, row, name.fields[0]); end > 0 {
			return end
		}
	}
	end, isInteger := jsonNumberEnd(data, p)
	if end == 0 {
		return 0
	}
	for _, f := range name.fields {
		if !s.fills(f) {
			return 0
		}
		t := s.fields[f].typ
		switch t.Kind {
		case scalar.String, scalar.Datetime, scalar.Boolean:
			return 0
		case scalar.Int:
			if !isInteger {
				return 0
			}
		}
		word, err := parseWord(t, data[p:end])
		if err != nil {
			return 0
		}
		s.words[f][row] = int64(word)
	}
	return end
}

// shortNumber reads a number of few digits at once. It returns the place after
// it, or 0.
func (s *textScanner) shortNumber(data []byte, p, row, f int) (end int) {
	digits := p
	if data[p] == '-' {
		digits++
	}
	if data[digits] == '0' && data[digits+1]-'0' <= 9 {
		return 0 // no number of JSON begins like this
	}
	var n int64
	t := s.fields[f].typ
	switch s.kinds[f] {
	case opInt:
		n, end = integer(data, p)
		if t.Bits != 64 && !fitsInt(n, t.Bits) {
			return 0
		}
	case opDecimal:
		n, end = decimal(data, p, int(t.Scale))
	}
	if end == 0 || data[end] == '.' || data[end]|0x20 == 'e' || !s.fills(f) {
		return 0
	}
	s.words[f][row] = n
	return end
}

// jsonNumberEnd returns the end of the number at p (RFC 8259, 6), or 0.
func jsonNumberEnd(data []byte, p int) (end int, isInteger bool) {
	digits := func() bool {
		from := p
		for p < len(data) && data[p]-'0' <= 9 {
			p++
		}
		return p > from
	}
	if data[p] == '-' {
		p++
	}
	if p < len(data) && data[p] == '0' {
		p++
	} else if !digits() {
		return 0, false
	}
	isInteger = true
	if p < len(data) && data[p] == '.' {
		p++
		if isInteger = false; !digits() {
			return 0, false
		}
	}
	if p < len(data) && data[p]|0x20 == 'e' {
		p++
		if p < len(data) && (data[p] == '+' || data[p] == '-') {
			p++
		}
		if isInteger = false; !digits() {
			return 0, false
		}
	}
	return p, isInteger
}

// jsonPlainEnd returns the place of the first byte from p on that a string
// cannot contain as it is: a quote, a backslash or a control character. It
// returns len(data) if there is none.
func jsonPlainEnd(data []byte, p int) int {
	const blanks = ' ' * ones
	for ; p+8 <= len(data); p += 8 {
		w := binary.LittleEndian.Uint64(data[p:])
		control := (w - blanks) &^ w & highs
		if m := equal(w, quotes) | equal(w, backslash) | control; m != 0 {
			return p + bits.TrailingZeros64(m)/8
		}
	}
	for p < len(data) && data[p] != '"' && data[p] != '\\' && data[p] >= ' ' {
		p++
	}
	return p
}

// jsonStringEnd returns the place of the quote that closes a string whose text
// begins at p, or -1.
func jsonStringEnd(data []byte, p int) int {
	for {
		p = jsonPlainEnd(data, p)
		switch {
		case p >= len(data):
			return -1
		case data[p] == '"':
			return p
		case data[p] == '\\':
			p++
		}
		p++
	}
}
