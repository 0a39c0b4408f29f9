package read

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"unicode/utf8"

	"github.com/redfoxdb/redfox/internal/list"
	"github.com/redfoxdb/redfox/internal/scalar"
	"github.com/redfoxdb/redfox/runtime/store"
)

// field is a column to read from a file.
type field struct {
	index int    // of the file's column, or offsetColumn
	name  string // of the file's column or the argument it fills
	typ   scalar.Type
	// nullable means that a row may have no value here: the field is the value
	// of functional predicates, which are then undefined for its key.
	nullable bool
}

// offsetColumn is the index of a made-up column: the byte offset at which the
// record starts.
const offsetColumn = -1

// textFormat is how a text file is written.
//
// TSV has no quotes: a field is all bytes between tabs, but for the escapes \t,
// \n, \r and \\; a backslash before anything else is itself. CSV is RFC 4180:
// a field may stand in double quotes, with quotes doubled inside.
type textFormat struct {
	delimiter byte
	quotes    bool
	escapes   bool
	null      *string // Options.Null
	json      bool    // objects, in place of lines
}

// missing reports whether the bytes of a field, as they stand in the file, are
// no value of a kind. An empty field is not a number. It is not a string either
// if quotes distinguish it from the empty string, unless another text stands
// for a missing value.
func (f textFormat) missing(raw []byte, kind scalar.Kind) bool {
	if len(raw) == 0 && kind != scalar.String {
		return true
	}
	if f.null != nil {
		return string(raw) == *f.null
	}
	return len(raw) == 0 && f.quotes
}

// textBlock is whole lines of a file.
type textBlock struct {
	seq    int
	data   []byte     // ends with a newline
	offset int64      // of the first byte in the (decompressed) file
	header int64      // lines of the header that were cut off before data
	failed *LoadError // the block is not JSON
}

// textRows is the rows that a worker has read from a block.
type textRows struct {
	seq    int
	worker int
	bytes  int
	rows   int
	header int64 // lines before the first
	lines  int64
	// rowLines has the line of each row, from 0 in the block; nil when each
	// line is a row.
	rowLines []uint32
	chunks   []store.Chunk // of each field
	nulls    [][]uint32    // of each field: the rows, from 0, without a value
	skipped  int64
	examples []*LoadError // lines are from 0 in the block
	err      *LoadError   // likewise
	failed   error        // the error of a reservation
}

// maxExamples bounds the skipped rows that are shown for a file.
const maxExamples = 5

// textScanner reads blocks of one file; a worker has one.
type textScanner struct {
	format textFormat
	fields []field
	arity  int // fields of a row
	skip   bool
	blank  bool // an empty line is a row: it has one field, a string

	// fill[i] lists the fields that file column i fills, and ops[i] is how it
	// is read; kinds[f] is how field f is.
	fill    [][]int
	ops     []columnOp
	kinds   []columnOp
	ends    fieldEnds
	offsets int // the field that is the byte offset, or -1
	strings []*store.Interner
	words   [][]int64
	nulls   [][]uint32 // of the current block
	text    []byte     // an unquoted or unescaped field
	// Until all rows of a block are read, the words of its strings are spans of
	// its text, or of text that was appended to it because the file has it in
	// another form. inSpans means that this is so, and valid that all of the
	// block is valid text.
	inSpans, valid bool
	block, texts   []byte
	names          jsonNames
	// columns has the numbers of the columns of objects by name. opened has the
	// names of members whose own members are read. filled has the fields of the
	// current object that have a value.
	columns map[string]int
	opened  map[string]bool
	filled  []bool
}

func newTextScanner(
	format textFormat, fields []field, arity int, skip bool,
	newInterner func(field int) *store.Interner,
) *textScanner {
	s := &textScanner{format: format, fields: fields, arity: arity, skip: skip, offsets: -1}
	s.fill = make([][]int, arity)
	s.strings = make([]*store.Interner, len(fields))
	s.words = make([][]int64, len(fields))
	s.nulls = make([][]uint32, len(fields))
	for i, f := range fields {
		if f.typ.Kind == scalar.String {
			s.strings[i] = newInterner(i)
		}
		if f.index == offsetColumn {
			s.offsets = i
			continue
		}
		s.fill[f.index] = append(s.fill[f.index], i)
	}
	s.kinds = list.Map(fields, opOf)
	s.ops, s.ends = columnOps(s.kinds, s.fill), format.fieldEnds()
	s.blank = arity == 0 || arity == 1 && len(s.fill[0]) > 0 &&
		fields[s.fill[0][0]].typ.Kind == scalar.String
	return s
}

// scan reads all rows of a block.
func (s *textScanner) scan(b textBlock) textRows {
	if s.format.json {
		return s.scanJSON(b)
	}
	s.begin(b.data)
	out := textRows{seq: b.seq, bytes: len(b.data), header: b.header}
	p := 0
	for p < len(b.data) {
		if !s.blank && (b.data[p] == '\n' || b.data[p] == '\r' && b.data[p+1] == '\n') {
			out.irregular()
			out.lines++
			p += bytes.IndexByte(b.data[p:], '\n') + 1
			continue
		}
		if out.rows == s.room() {
			s.grow()
		}
		next, inner, err := s.record(b.data, p, out.rows)
		if err != nil {
			err.Line += out.lines
			if !s.skip {
				out.err = err
				return out
			}
			s.forget(out.rows)
			out.irregular()
			if out.skipped++; len(out.examples) < maxExamples {
				out.examples = append(out.examples, err)
			}
			next, inner = s.format.recordEnd(b.data, p)
			next = min(next, len(b.data))
			out.lines += 1 + int64(inner)
			p = next
			continue
		}
		if s.offsets >= 0 {
			s.words[s.offsets][out.rows] = b.offset + int64(p)
		}
		if inner > 0 {
			out.irregular()
		}
		if out.rowLines != nil {
			out.rowLines = append(out.rowLines, uint32(out.lines))
		}
		out.rows++
		out.lines += 1 + int64(inner)
		p = next
	}
	s.finish(&out)
	return out
}

// begin prepares for the rows of a block.
func (s *textScanner) begin(data []byte) {
	s.inSpans, s.valid = true, isText(data)
	s.block, s.texts = data, s.texts[:0]
}

// finish makes chunks of the rows of a block.
func (s *textScanner) finish(out *textRows) {
	if s.inSpans {
		s.intern(out.rows)
	}
	for _, t := range s.strings {
		if t != nil && t.Err() != nil {
			out.failed = t.Err()
			return
		}
	}
	if out.rows > 0 {
		out.chunks = make([]store.Chunk, len(s.fields))
		for i, f := range s.fields {
			out.chunks[i] = store.Narrow(f.typ.Kind, s.words[i][:out.rows], 1)
		}
		out.nulls = s.nulls
		s.nulls = make([][]uint32, len(s.fields))
	}
}

// intern numbers the strings of a block's rows.
func (s *textScanner) intern(rows int) {
	text := s.block
	if len(s.texts) > 0 {
		text = slices.Concat(s.block, s.texts)
	}
	for i, t := range s.strings {
		if t != nil {
			t.CodesOfTexts(text, s.words[i][:rows], nil)
		}
	}
	s.block = nil
}

// forget drops the missing values of a row that is left out.
func (s *textScanner) forget(row int) {
	for i, rows := range s.nulls {
		if n := len(rows); n > 0 && rows[n-1] == uint32(row) {
			s.nulls[i] = rows[:n-1]
		}
	}
}

// irregular records the lines of the rows so far, before the first line that is
// not a row.
func (r *textRows) irregular() {
	if r.rowLines != nil {
		return
	}
	r.rowLines = make([]uint32, r.rows, 2*r.rows+16)
	for i := range r.rowLines {
		r.rowLines[i] = uint32(i)
	}
}

func (s *textScanner) room() int {
	if len(s.words) == 0 {
		return int(^uint(0) >> 1)
	}
	return len(s.words[0])
}

func (s *textScanner) grow() {
	n := max(1024, 2*len(s.words[0]))
	for i, w := range s.words {
		s.words[i] = append(w, make([]int64, n-len(w))...)
	}
}

// record reads the record that starts at p into row. It returns where the next
// one starts and how many newlines stand inside quotes. An error's line counts
// from 0 at the record's first line.
func (s *textScanner) record(data []byte, p, row int) (next, inner int, _ *LoadError) {
	last := s.arity - 1
	for c := 0; c <= last; c++ {
		if end := s.plain(data, p, row, c); end > 0 && (data[end] == '\n') == (c == last) {
			p = end + 1
			continue
		}
		text, end, newlines, err := s.format.field(data, p, &s.text)
		if err != nil {
			return 0, 0, s.complain(c, int64(inner), err.Error())
		}
		if (data[end] == '\n') != (c == last) {
			return 0, 0, s.wrongCount(data, p, c)
		}
		for _, f := range s.fill[c] {
			// The first part spares most fields the call.
			if (end == p || data[p] == '\r' || s.format.null != nil) &&
				s.format.missing(trimReturn(data[p:end]), s.fields[f].typ.Kind) {
				if !s.fields[f].nullable {
					return 0, 0, s.noValue(c, f, int64(inner), data[p:end])
				}
				s.setMissing(f, row)
				continue
			}
			if reason := s.set(f, row, text); reason != "" {
				bad := s.complain(c, int64(inner), reason)
				bad.refused, bad.field = string(text), f
				return 0, 0, bad
			}
		}
		inner += newlines
		p = end + 1
	}
	if s.arity == 0 {
		end := p + bytes.IndexByte(data[p:], '\n')
		if text := string(trimReturn(data[p:end])); text != "" && text != "()" {
			return 0, 0, &LoadError{Reason: fmt.Sprintf(
				"found %s; a predicate without arguments has empty lines or ()",
				scalar.Quote(text))}
		}
		p = end + 1
	}
	return p, inner, nil
}

func fitsInt(n int64, bits uint8) bool {
	shift := 64 - uint(bits)
	return n<<shift>>shift == n
}

// set parses the text of a field. It returns the reason if it refuses the text.
func (s *textScanner) set(f, row int, text []byte) string {
	t := s.fields[f].typ
	if t.Kind == scalar.String && s.inSpans {
		if !s.valid && !store.IsText(string(text)) {
			return badText(text)
		}
		s.words[f][row] = s.behind(text)
		return ""
	}
	if t.Kind == scalar.String {
		code, ok := s.strings[f].CodeOfText(text)
		if !ok {
			return badText(text)
		}
		s.words[f][row] = int64(code)
		return ""
	}
	word, err := parseWord(t, text)
	if err != nil {
		return notA(t, text, err)
	}
	s.words[f][row] = int64(word)
	return ""
}

// behind appends a text to that of the block, and returns its span.
func (s *textScanner) behind(text []byte) int64 {
	start := len(s.block) + len(s.texts)
	s.texts = append(s.texts, text...)
	return store.Span(start, len(text))
}

// setMissing records that a field has no value. The empty string stands for a
// string that is missing.
func (s *textScanner) setMissing(f, row int) {
	s.nulls[f] = append(s.nulls[f], uint32(row))
	s.words[f][row] = 0 // the place of an empty text too
	if !s.inSpans && s.strings[f] != nil {
		s.words[f][row] = int64(s.strings[f].Code(""))
	}
}

// parseWord returns the word of a text of a type. For a wide decimal, the type
// chooses one of its words.
func parseWord(t scalar.Type, text []byte) (uint64, error) {
	if t.Word == scalar.Whole {
		return scalar.ParseBits(t, text)
	}
	return scalar.ParseWord(t, text)
}

func badText(text []byte) string {
	if i := bytes.IndexByte(text, 0); i >= 0 {
		return fmt.Sprintf("a zero byte at byte %d of the string; the file may be binary", i+1)
	}
	i := 0
	for i < len(text) {
		r, n := utf8.DecodeRune(text[i:])
		if r == utf8.RuneError && n == 1 {
			break
		}
		i += n
	}
	return fmt.Sprintf("byte %d of the string, 0x%02x, is not valid UTF-8", i+1, text[i])
}

func (s *textScanner) complain(c int, line int64, reason string) *LoadError {
	e := &LoadError{Line: line, Column: c + 1, Reason: reason}
	if fill := s.fill[c]; len(fill) > 0 {
		e.Name = s.fields[fill[0]].name
	}
	return e
}

// noValue reports that a field which needs a value has none.
func (s *textScanner) noValue(c, f int, line int64, raw []byte) *LoadError {
	reason := fmt.Sprintf("the field is empty; expected %s", article(s.fields[f].typ))
	if text := trimReturn(raw); len(text) > 0 {
		reason = fmt.Sprintf("%s stands for a missing value; expected %s",
			scalar.Quote(string(text)), article(s.fields[f].typ))
	}
	e := s.complain(c, line, reason)
	e.missing, e.field = true, f
	return e
}

// wrongCount reports a record whose fields from p on are not those expected.
func (s *textScanner) wrongCount(data []byte, p, c int) *LoadError {
	n := c
	var field []byte
	for {
		text, end, _, err := s.format.field(data, p, &s.text)
		n, field = n+1, text
		if err != nil || data[end] == '\n' {
			break
		}
		p = end + 1
	}
	e := &LoadError{Reason: fmt.Sprintf("found %s, expected %d", counted(n, "column"), s.arity)}
	if n == 1 && s.arity > 1 {
		e.Reason += fmt.Sprintf("; columns are separated by %s", delimiterName(s.format.delimiter))
		for _, d := range []byte{' ', '\t', ',', ';', '|', ':'} {
			if bytes.Count(trimReturn(field), []byte{d}) == s.arity-1 {
				e.Reason += fmt.Sprintf("; --delimiter %s finds %d", scalar.Quote(string(d)), s.arity)
				break
			}
		}
	}
	return e
}

func delimiterName(d byte) string {
	if d == '\t' {
		return "tabs"
	}
	return scalar.Quote(string(d))
}

var (
	errStrayQuote = errors.New("text after the closing quote; a quote inside quotes is written twice")
	errOpenQuote  = errors.New("the quote that opens here is never closed")
)

// field returns the text of the field that starts at p and the position of the
// delimiter or newline that ends it. Data ends with a newline. The text is of
// data or of *room. Newlines are those inside quotes.
func (f textFormat) field(
	data []byte, p int, room *[]byte,
) (text []byte, end, newlines int, err error) {
	if f.quotes && data[p] == '"' {
		return f.quoted(data, p, room)
	}
	start, escaped := p, false
	for {
		switch c := data[p]; {
		case c == f.delimiter:
			text = data[start:p]
		case c == '\n':
			text = trimReturn(data[start:p])
		case c == '\\' && f.escapes:
			escaped = true
			p++
			continue
		default:
			p++
			continue
		}
		if escaped {
			*room = unescape((*room)[:0], text)
			text = *room
		}
		return text, p, 0, nil
	}
}

func (f textFormat) quoted(
	data []byte, p int, room *[]byte,
) (text []byte, end, newlines int, err error) {
	p++
	start, doubled := p, false
	for {
		q := bytes.IndexByte(data[p:], '"')
		if q < 0 {
			return nil, 0, 0, errOpenQuote
		}
		p += q
		if data[p+1] != '"' {
			break
		}
		doubled = true
		p += 2
	}
	text = data[start:p]
	newlines = bytes.Count(text, []byte{'\n'})
	if doubled {
		*room = append((*room)[:0], bytes.ReplaceAll(text, []byte(`""`), []byte{'"'})...)
		text = *room
	}
	p++
	if data[p] == '\r' && data[p+1] == '\n' {
		p++
	}
	if data[p] != f.delimiter && data[p] != '\n' {
		return nil, 0, 0, errStrayQuote
	}
	return text, p, newlines, nil
}

// recordEnd returns where the record after the one at p starts, and the number
// of newlines in the quotes of the one at p. It ignores any errors in that
// record. It returns len(data)+1 if the record has no end in data.
func (f textFormat) recordEnd(data []byte, p int) (next, inner int) {
	if !f.quotes {
		if i := bytes.IndexByte(data[p:], '\n'); i >= 0 {
			return p + i + 1, 0
		}
		return len(data) + 1, 0
	}
	// mayOpen means that a quote here opens a quoted part: at the start of a
	// field, or directly after a closing quote, where the two are one quote.
	quoted, mayOpen := false, true
	for ; p < len(data); p++ {
		c := data[p]
		switch {
		case quoted && c == '"':
			quoted, mayOpen = false, true
		case quoted:
			if c == '\n' {
				inner++
			}
		case c == '\n':
			return p + 1, inner
		case c == '"' && mayOpen:
			quoted = true
		default:
			mayOpen = c == f.delimiter
		}
	}
	return len(data) + 1, inner
}

// recordsEnd returns the end of the last whole record of data, which starts
// with a record, or 0.
func (f textFormat) recordsEnd(data []byte) int {
	if !f.quotes || bytes.IndexByte(data, '"') < 0 {
		return bytes.LastIndexByte(data, '\n') + 1
	}
	end := 0
	for {
		next, _ := f.recordEnd(data, end)
		if next > len(data) {
			return end
		}
		end = next
	}
}

func trimReturn(line []byte) []byte {
	if n := len(line); n > 0 && line[n-1] == '\r' {
		return line[:n-1]
	}
	return line
}

// unescape appends text with its escapes resolved.
func unescape(dst, text []byte) []byte {
	for i := 0; i < len(text); i++ {
		c := text[i]
		if c == '\\' && i+1 < len(text) {
			switch text[i+1] {
			case 't':
				c = '\t'
			case 'n':
				c = '\n'
			case 'r':
				c = '\r'
			case '\\':
			default:
				dst = append(dst, c)
				continue
			}
			i++
		}
		dst = append(dst, c)
	}
	return dst
}
