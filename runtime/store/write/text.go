package write

import (
	"io"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/redfoxdb/redfox/internal/scalar"
)

// flushBytes is the size of the text buffer at which it is written.
const flushBytes = 1 << 16

// byteOrderMark is skipped by readers at the start of a text. A text that
// begins with one therefore gets a second one.
const byteOrderMark = "\xef\xbb\xbf"

// textWriter writes TSV or CSV.
type textWriter struct {
	w         io.Writer
	fields    []outputField
	delimiter byte
	quotes    bool
	buf       []byte
	started   bool
}

func newTextWriter(w io.Writer, fields []outputField, delimiter byte, quotes bool) *textWriter {
	return &textWriter{w: w, fields: fields, delimiter: delimiter, quotes: quotes,
		buf: make([]byte, 0, 2*flushBytes)}
}

func (t *textWriter) header() {
	for i, f := range t.fields {
		t.buf = t.text(t.buf, f.name)
		t.buf = append(t.buf, t.delimiter)
		if i == len(t.fields)-1 {
			t.buf[len(t.buf)-1] = '\n'
		}
	}
}

func (t *textWriter) rows(block [][]int64, n int) error {
	buf := t.buf
	for row := range n {
		for i := range t.fields {
			if i > 0 {
				buf = append(buf, t.delimiter)
			}
			f := &t.fields[i]
			switch w := block[f.at][row]; {
			case f.Type.Kind == scalar.Int:
				buf = strconv.AppendInt(buf, w, 10)
			case f.Type.Kind == scalar.String:
				buf = t.text(buf, f.Dict.String(uint32(w)))
			case f.wide():
				buf = scalar.AppendFormat(buf, f.value(block, row))
			default:
				buf = scalar.AppendBits(buf, f.Type, uint64(w))
			}
		}
		buf = append(buf, '\n')
		if len(buf) >= flushBytes {
			if err := t.flush(buf); err != nil {
				return err
			}
			buf = buf[:0]
		}
	}
	t.buf = buf
	return nil
}

// flush writes the buffered text.
func (t *textWriter) flush(buf []byte) error {
	if !t.started && len(buf) >= 3 && string(buf[:3]) == byteOrderMark {
		// Readers skip the first mark of a file; this one belongs to a string.
		if _, err := io.WriteString(t.w, byteOrderMark); err != nil {
			return err
		}
	}
	t.started = t.started || len(buf) > 0
	_, err := t.w.Write(buf)
	return err
}

func (t *textWriter) finish(int64) error { return t.flush(t.buf) }

func (t *textWriter) text(dst []byte, s string) []byte {
	if t.quotes {
		return t.quoted(dst, s)
	}
	return appendEscaped(dst, s)
}

// quoted appends a CSV field. The empty string is quoted, because an empty
// field without quotes is a missing value.
func (t *textWriter) quoted(dst []byte, s string) []byte {
	plain := s != ""
	for i := 0; i < len(s) && plain; i++ {
		c := s[i]
		plain = c != '"' && c != '\n' && c != '\r' && c != t.delimiter
	}
	if plain && !strings.HasPrefix(s, byteOrderMark) {
		return append(dst, s...)
	}
	dst = append(dst, '"')
	for i := 0; i < len(s); i++ {
		if s[i] == '"' {
			dst = append(dst, '"')
		}
		dst = append(dst, s[i])
	}
	return append(dst, '"')
}

// appendEscaped appends a TSV field.
func appendEscaped(dst []byte, s string) []byte {
	if strings.IndexByte(s, '\\') < 0 && !strings.ContainsAny(s, "\t\n\r") {
		return append(dst, s...)
	}
	for i := 0; i < len(s); i++ {
		switch c := s[i]; c {
		case '\t':
			dst = append(dst, `\t`...)
		case '\n':
			dst = append(dst, `\n`...)
		case '\r':
			dst = append(dst, `\r`...)
		case '\\':
			dst = append(dst, c)
			if i+1 < len(s) && strings.IndexByte("tnr\\\t\n\r", s[i+1]) >= 0 {
				dst = append(dst, c)
			}
		default:
			dst = append(dst, c)
		}
	}
	return dst
}

// jsonWriter writes objects, in an array or alone.
type jsonWriter struct {
	w      io.Writer
	fields []outputField
	names  [][]byte // quoted, with the punctuation around them
	buf    []byte
	first  bool
	array  bool
}

func newJSONWriter(w io.Writer, fields []outputField, array bool) *jsonWriter {
	j := &jsonWriter{w: w, fields: fields, buf: make([]byte, 0, 2*flushBytes), array: array,
		first: true}
	if array {
		j.buf = append(j.buf, '[')
	}
	for i, f := range fields {
		before := []byte{','}
		if i == 0 {
			before = nil
		}
		j.names = append(j.names, append(appendJSONString(before, f.name), ':'))
	}
	return j
}

func (j *jsonWriter) rows(block [][]int64, n int) error {
	buf := j.buf
	for row := range n {
		switch {
		case j.array && !j.first:
			buf = append(buf, ",\n"...)
		case j.array || !j.first:
			buf = append(buf, '\n')
		}
		j.first = false
		buf = append(buf, '{')
		for i := range j.fields {
			buf = append(buf, j.names[i]...)
			f := &j.fields[i]
			w := block[f.at][row]
			switch f.Type.Kind {
			case scalar.String:
				buf = appendJSONString(buf, f.Dict.String(uint32(w)))
			case scalar.Float:
				x := math.Float64frombits(uint64(w))
				if math.IsNaN(x) || math.IsInf(x, 0) {
					buf = appendJSONString(buf, scalar.Format(f.ValueOf(w)))
				} else {
					buf = scalar.AppendBits(buf, f.Type, uint64(w))
				}
			case scalar.Datetime:
				buf = append(buf, '"')
				buf = scalar.AppendBits(buf, f.Type, uint64(w))
				buf = append(buf, '"')
			case scalar.Decimal:
				buf = scalar.AppendFormat(buf, f.value(block, row))
			default:
				buf = scalar.AppendBits(buf, f.Type, uint64(w))
			}
		}
		buf = append(buf, '}')
		if len(buf) >= flushBytes {
			if _, err := j.w.Write(buf); err != nil {
				return err
			}
			buf = buf[:0]
		}
	}
	j.buf = buf
	return nil
}

func (j *jsonWriter) finish(int64) error {
	if !j.first {
		j.buf = append(j.buf, '\n')
	}
	if j.array {
		j.buf = append(j.buf, "]\n"...)
	}
	_, err := j.w.Write(j.buf)
	return err
}

func appendJSONString(dst []byte, s string) []byte {
	const hex = "0123456789abcdef"
	dst = append(dst, '"')
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '"' || c == '\\':
			dst = append(dst, '\\', c)
		case c == '\n':
			dst = append(dst, `\n`...)
		case c == '\t':
			dst = append(dst, `\t`...)
		case c == '\r':
			dst = append(dst, `\r`...)
		case c < 0x20 || c == 0x7f:
			dst = append(dst, `\u00`...)
			dst = append(dst, hex[c>>4], hex[c&15])
		case c >= utf8.RuneSelf:
			r, n := utf8.DecodeRuneInString(s[i:])
			dst = utf8.AppendRune(dst, r)
			i += n - 1
		default:
			dst = append(dst, c)
		}
	}
	return append(dst, '"')
}
