package codecache

import (
	"encoding/binary"
	"unsafe"
)

// bytes writes code so that parseCode reads it.
func (c *Code) bytes() []byte {
	b := appendText(nil, c.module)
	b = appendText(b, string(c.asked.bytes()))
	return append(b, c.Text...)
}

// parseCode takes the bytes over.
func parseCode(data []byte) (*Code, bool) {
	r := reader{data}
	c := &Code{module: r.text()}
	asked, ok := parseQuestions([]byte(r.text()))
	c.asked = asked
	c.Text = unsafe.String(unsafe.SliceData(r.rest), len(r.rest)) // long, and data is nobody else's
	return c, ok && r.rest != nil
}

func appendText(b []byte, text string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(text))), text...)
}

// reader takes values from the front of bytes. Once they end too early, rest is
// nil and all values are zero.
type reader struct{ rest []byte }

func (r *reader) number() uint64 {
	v, n := binary.Uvarint(r.rest)
	if n <= 0 || v >= 1<<31 {
		r.rest = nil
		return 0
	}
	r.rest = r.rest[n:]
	return v
}

func (r *reader) byte() byte {
	if b := r.take(1); b != nil {
		return b[0]
	}
	return 0
}

func (r *reader) text() string { return string(r.take(int(r.number()))) }

// take returns n bytes, nil if there are fewer.
func (r *reader) take(n int) []byte {
	if n > len(r.rest) || r.rest == nil {
		r.rest = nil
		return nil
	}
	out := r.rest[:n]
	r.rest = r.rest[n:]
	return out
}
