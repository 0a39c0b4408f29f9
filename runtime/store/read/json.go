package read

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/redfoxdb/redfox/internal/scalar"
)

// jsonReader splits JSON text into blocks of whole values. The text is one
// array, or a sequence of values such as JSON lines.
type jsonReader struct {
	text  *textReader
	outer jsonOuter
}

// jsonOuter is the structure around the values.
type jsonOuter struct {
	started, array, closed bool
	after, comma           bool // a value, or a comma, was last
	values                 int64
}

func newJSONReader(t *textReader) *jsonReader {
	j := &jsonReader{text: t}
	t.ends = func(data []byte) int {
		if j.inLines(data) {
			if end := jsonLinesEnd(data); end > 0 {
				return end
			}
		}
		outer := j.outer // the data may come again
		end, _ := outer.walk(data, false)
		return end
	}
	return j
}

// inLines reports whether the text is a sequence of values that begins with an
// object. data is the unread part of the text.
func (j *jsonReader) inLines(data []byte) bool {
	if j.outer.started {
		return !j.outer.array
	}
	rest := bytes.TrimLeft(data, jsonBlanks)
	return len(rest) > 0 && rest[0] == '{'
}

const jsonBlanks = " \t\r\n"

// jsonLinesEnd returns the end of the last line in data that ends an object and
// is followed by a line that begins one, or 0. A newline directly between two
// brackets is only possible between the values of a sequence: in an array a
// comma separates them, and strings contain no newline.
func jsonLinesEnd(data []byte) int {
	const tries = 16
	end := len(data)
	for range tries {
		newline := bytes.LastIndexByte(data[:end], '\n')
		if newline < 0 {
			return 0
		}
		before := bytes.TrimRight(data[:newline], jsonBlanks)
		after := bytes.TrimLeft(data[newline:], jsonBlanks)
		if len(before) > 0 && len(after) > 0 && before[len(before)-1] == '}' && after[0] == '{' {
			return newline + 1
		}
		end = newline
	}
	return 0
}

// next reads a block. Everything between its values is overwritten with blanks.
func (j *jsonReader) next(buf []byte) (textBlock, error) {
	b, err := j.text.next(buf)
	if err != nil {
		if j.outer.array && !j.outer.closed && len(b.data) == 0 {
			err = fmt.Errorf("the array that begins the file has no end; it may be truncated")
		}
		return b, err
	}
	if j.inLines(b.data) { // the scanner looks at what is between objects
		j.outer.started, j.outer.after = true, true
		return b, nil
	}
	b.failed = j.outer.check(b.data, true)
	return b, nil
}

// check is walk with an error for a block.
func (o *jsonOuter) check(data []byte, blank bool) *LoadError {
	o.values = 0
	at, reason := o.walk(data, blank)
	if reason == "" {
		return nil
	}
	return &LoadError{Line: int64(bytes.Count(data[:at], []byte{'\n'})), Reason: reason,
		object: o.values + 1}
}

// walk visits data that begins between two values. It returns the end of the
// last whole value, or the place and the reason of an error. If blank is set,
// it overwrites everything between the values with blanks.
func (o *jsonOuter) walk(data []byte, blank bool) (end int, reason string) {
	for i := 0; i < len(data); {
		c := data[i]
		switch {
		case c == ' ' || c == '\t' || c == '\r' || c == '\n':
			i++
			continue
		case c == '[' && !o.started:
			o.started, o.array = true, true
		case o.closed:
			return i, "text after the end of the array"
		case o.array && c == ',' && o.after:
			o.after, o.comma = false, true
		case o.array && c == ']' && !o.comma:
			o.closed = true
		case c == ',' || c == ']' || c == '}':
			return i, fmt.Sprintf("%q where an object was expected", c)
		case o.array && o.after:
			return i, "no comma between two values of the array"
		default:
			next := jsonEnd(data, i)
			if next < 0 {
				return end, ""
			}
			o.started, o.after, o.comma = true, true, false
			o.values++
			i, end = next, next
			continue
		}
		if blank {
			data[i] = ' '
		}
		i++
	}
	return end, ""
}

// jsonEnd returns the end of the value at i, or -1 if data ends first. It only
// looks at brackets and strings.
func jsonEnd(data []byte, i int) int {
	depth := 0
	for ; i < len(data); i++ {
		switch data[i] {
		case '{', '[':
			depth++
		case '}', ']':
			depth--
		case '"':
			if i = jsonStringEnd(data, i+1); i < 0 {
				return -1
			}
		default:
			if depth > 0 {
				continue
			}
			// The next delimiter ends a number or a word.
			for i < len(data) && strings.IndexByte(" \t\r\n,[]{}\"", data[i]) < 0 {
				i++
			}
			if i == len(data) {
				return -1
			}
			return i
		}
		if depth <= 0 {
			return i + 1
		}
	}
	return -1
}

// jsonColumns returns the member names of the first objects in a text, in order
// of appearance; nil if there is no object. Members of nested objects have
// dotted names.
func (s *Source) jsonColumns(ctx context.Context) ([]string, error) {
	head, err := s.head(ctx)
	if err != nil {
		return nil, err
	}
	outer := jsonOuter{}
	end, reason := outer.walk(head, true)
	if reason != "" {
		line := 1 + bytes.Count(head[:end], []byte{'\n'})
		return nil, &LoadError{File: s.Path, Line: int64(line), Reason: reason}
	}
	if end == 0 {
		return nil, nil // there are no objects, of any columns
	}
	d := newJSONDecoder(head[:end], func(string) bool { return true })
	names := []string{}
	for object := int64(1); ; object++ {
		members, start, err := d.object()
		if err != nil {
			wrong := jsonError(head[:end], start, err)
			wrong.File, wrong.object = s.Path, object
			wrong.at(1, 0)
			return nil, wrong
		}
		if members == nil {
			return names, nil
		}
		for _, m := range members {
			if !slices.Contains(names, m.name) {
				names = append(names, m.name)
			}
		}
	}
}

// jsonMember is a member of an object.
type jsonMember struct {
	name  string
	value jsontext.Value // void after the next object
}

// jsonDecoder reads a sequence of objects.
type jsonDecoder struct {
	d       *jsontext.Decoder
	opens   func(name string) bool // whether the members of an object are wanted
	members []jsonMember
	values  []byte
}

func newJSONDecoder(data []byte, opens func(name string) bool) *jsonDecoder {
	return &jsonDecoder{d: jsontext.NewDecoder(bytes.NewBuffer(data)), opens: opens}
}

// object returns the members of the next object and the place where it starts.
// At the end of the text it returns none and no error.
func (j *jsonDecoder) object() (members []jsonMember, start int64, err error) {
	open, err := j.d.ReadToken()
	if err == io.EOF {
		return nil, 0, nil
	}
	start = j.d.InputOffset() - 1
	if err != nil {
		return nil, start, err
	}
	if open.Kind() != '{' {
		return nil, start, fmt.Errorf("found %s where an object was expected", jsonKind(open.Kind()))
	}
	j.members, j.values = j.members[:0], j.values[:0]
	if j.members == nil {
		j.members = []jsonMember{}
	}
	for {
		name, err := j.d.ReadToken()
		if err != nil {
			return nil, start, err
		}
		if name.Kind() == '}' {
			return j.members, start, nil
		}
		text := name.String()
		value, err := j.d.ReadValue()
		if err != nil {
			return nil, start, err
		}
		if err := j.add(text, value); err != nil {
			return nil, start, err
		}
	}
}

// add adds a member. If it opens an object, add adds the members of that.
func (j *jsonDecoder) add(name string, value jsontext.Value) error {
	if value.Kind() != '{' || len(value) == len("{}") || !j.opens(name) {
		from := len(j.values)
		j.values = append(j.values, value...)
		j.members = append(j.members, jsonMember{name, j.values[from:len(j.values):len(j.values)]})
		return nil
	}
	d := jsontext.NewDecoder(bytes.NewBuffer(value))
	if _, err := d.ReadToken(); err != nil {
		return err
	}
	for d.PeekKind() != '}' {
		inner, err := d.ReadToken()
		if err != nil {
			return err
		}
		below := name + "." + inner.String()
		value, err := d.ReadValue()
		if err != nil {
			return err
		}
		if err := j.add(below, value); err != nil {
			return err
		}
	}
	return nil
}

// jsonKind is what messages call a value.
func jsonKind(k jsontext.Kind) string {
	switch k {
	case '{':
		return "an object"
	case '[':
		return "an array"
	case '"':
		return "a string"
	case '0':
		return "a number"
	case 'n':
		return "null"
	}
	return "a truth value"
}

// scanJSON reads all objects of a block. Members go to columns by name.
func (s *textScanner) scanJSON(b textBlock) textRows {
	out := textRows{seq: b.seq, bytes: len(b.data), header: b.header, rowLines: []uint32{},
		lines: int64(bytes.Count(b.data, []byte{'\n'}))}
	if b.failed != nil {
		out.err = b.failed
		return out
	}
	s.begin(b.data)
	var d *jsonDecoder
	decoded, base := 0, 0 // objects in a row that were decoded; where d began
	wants := func(name string) bool { return s.opened[name] }
	// A number at the end of the block may continue behind it.
	usual := s.valid && s.columns != nil && len(b.data) > 0 && b.data[len(b.data)-1]-'0' > 9
	p, line := 0, uint32(0)
	for {
		s.names.lines = 0
		start := s.blanks(b.data, p)
		line += uint32(s.names.lines)
		if start == len(b.data) {
			break
		}
		if out.rows == s.room() {
			s.grow()
		}
		lines := uint32(0)
		next := 0
		if usual && decoded < maxDecoded {
			next = s.object(b.data, start, out.rows)
			lines = uint32(s.names.lines)
		}
		if next > 0 {
			decoded = 0
		} else {
			s.forget(out.rows)
			if d == nil {
				d, base = newJSONDecoder(b.data[start:], wants), start
			}
			members, at, err := d.object()
			if err != nil {
				// The values behind it may or may not be rows.
				out.err = jsonError(b.data[base:], at, err)
				out.err.Line += int64(bytes.Count(b.data[:base], []byte{'\n'}))
				out.err.object = int64(out.rows) + out.skipped + 1
				break
			}
			if s.columns == nil {
				out.err = &LoadError{Line: int64(line),
					Reason: "an object behind so much blank space that no member was found"}
				return out
			}
			next = base + int(d.d.InputOffset())
			lines = uint32(bytes.Count(b.data[start:next], []byte{'\n'}))
			wrong := s.members(members, out.rows)
			if decoded++; decoded < maxDecoded {
				d = nil
			}
			if wrong != nil {
				wrong.Line += int64(line)
				wrong.object = int64(out.rows) + out.skipped + 1
				if !s.skip {
					out.err = wrong
					break
				}
				s.forget(out.rows)
				if out.skipped++; len(out.examples) < maxExamples {
					out.examples = append(out.examples, wrong)
				}
				p, line = next, line+lines
				continue
			}
		}
		if s.offsets >= 0 {
			s.words[s.offsets][out.rows] = b.offset + int64(start)
		}
		out.rowLines = append(out.rowLines, line)
		out.rows++
		p, line = next, line+lines
	}
	if out.err != nil {
		// An error between the objects of the block is reported first.
		outer := jsonOuter{started: true, after: true}
		if wrong := outer.check(b.data, false); wrong != nil {
			out.err = wrong
		}
		return out
	}
	s.finish(&out)
	return out
}

// maxDecoded is the number of consecutive objects that jsonDecoder reads before
// it reads the rest of the block as well. Tests set it to 0.
var maxDecoded = 8

// jsonError returns the error of invalid JSON in the object that starts at a
// byte of the block.
func jsonError(data []byte, start int64, err error) *LoadError {
	reason := err.Error()
	var syntax *jsontext.SyntacticError
	if errors.As(err, &syntax) {
		start = min(max(start, syntax.ByteOffset), int64(len(data)))
		reason = strings.TrimPrefix(syntax.Err.Error(), "jsontext: ")
		switch {
		case errors.Is(err, io.ErrUnexpectedEOF):
			reason = "the object has no end; the file may be truncated"
		case errors.Is(err, jsontext.ErrDuplicateName):
			reason = repeatedMember(syntax.JSONPointer.LastToken())
		}
	}
	start = min(max(start, 0), int64(len(data)))
	return &LoadError{Line: int64(bytes.Count(data[:start], []byte{'\n'})), Reason: reason}
}

func repeatedMember(name string) string { return "the object has two members " + name }

// members reads the members of an object into a row.
func (s *textScanner) members(members []jsonMember, row int) *LoadError {
	s.filled = append(s.filled[:0], make([]bool, len(s.fields))...)
	for _, m := range members {
		c, ok := s.columns[m.name]
		if !ok {
			continue
		}
		for _, f := range s.fill[c] {
			if m.value.Kind() == 'n' {
				continue
			}
			if s.filled[f] {
				return &LoadError{Name: m.name, Reason: repeatedMember(m.name)}
			}
			s.filled[f] = true
			if reason := s.setJSON(f, row, m.value); reason != "" {
				return &LoadError{Name: m.name, Reason: m.name + ": " + reason}
			}
		}
	}
	for f, field := range s.fields {
		switch {
		case s.filled[f] || field.index == offsetColumn:
		case field.nullable:
			s.setMissing(f, row)
		default:
			return &LoadError{Name: field.name, missing: true, field: f,
				Reason: fmt.Sprintf("%s is missing; expected %s", field.name, article(field.typ))}
		}
	}
	return nil
}

// setJSON parses a value. If it refuses the value, it returns the reason.
func (s *textScanner) setJSON(f, row int, value jsontext.Value) string {
	t, kind := s.fields[f].typ, value.Kind()
	text := []byte(value)
	fits := false
	switch t.Kind {
	case scalar.String, scalar.Datetime:
		fits = kind == '"'
	case scalar.Boolean:
		fits = kind == 't' || kind == 'f'
	case scalar.Float: // those that are not finite are strings
		fits = kind == '0' || kind == '"'
	default:
		fits = kind == '0'
	}
	if !fits {
		return fmt.Sprintf("found %s, expected %s", jsonKind(kind), article(t))
	}
	if kind == '"' {
		plain, err := jsontext.AppendUnquote(s.text[:0], value)
		if err != nil {
			return err.Error()
		}
		s.text, text = plain, plain
	}
	reason := s.set(f, row, text)
	if reason != "" && kind == '0' && t.Kind != scalar.Float {
		if plain := plainNumber(string(text)); plain != "" && s.set(f, row, []byte(plain)) == "" {
			return ""
		}
	}
	return reason
}

// maxExponent is the greatest exponent of a number that plainNumber writes out.
const maxExponent = 100

// plainNumber writes a number such as 1.0 or 25e-1 without an exponent and
// without trailing zeros in its fraction. It returns "" if the result is too
// long.
func plainNumber(text string) string {
	text, sign := strings.CutPrefix(text, "-")
	mantissa, exponent, ok := strings.Cut(strings.ToLower(text), "e")
	shift := 0
	if ok {
		var err error
		if shift, err = strconv.Atoi(exponent); err != nil || max(shift, -shift) > maxExponent {
			return ""
		}
	}
	whole, fraction, _ := strings.Cut(mantissa, ".")
	digits, point := whole+fraction, len(whole)+shift
	digits = strings.Repeat("0", max(0, 1-point)) + digits
	point = max(point, 1)
	digits += strings.Repeat("0", max(0, point-len(digits)))
	out := strings.TrimLeft(digits[:point-1], "0") + digits[point-1:point]
	if rest := strings.TrimRight(digits[point:], "0"); rest != "" {
		out += "." + rest
	}
	if sign {
		out = "-" + out
	}
	return out
}

// columnsNamed returns the column numbers that a source's names stand for; nil
// if it has no names.
func columnsNamed(s *Source) map[string]int {
	if s.Columns == nil {
		return nil
	}
	out := map[string]int{}
	for i, name := range s.Columns {
		out[name] = i
	}
	return out
}

// openColumns finds the nested objects of which members are wanted.
func (s *textScanner) openColumns() {
	s.opened = map[string]bool{}
	for name, c := range s.columns {
		for i := range name {
			if name[i] == '.' && len(s.fill[c]) > 0 {
				s.opened[name[:i]] = true
			}
		}
	}
}
