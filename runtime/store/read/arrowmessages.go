package read

import (
	"encoding/binary"
	"fmt"
	"io"

	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"
)

// arrowMessages reads the messages of an Arrow file at the places given by its
// footer, or those of a stream one after the other. It verifies the lengths in
// them, because the Arrow library allocates memory by these lengths without a
// check.
type arrowMessages struct {
	r      io.ReaderAt
	size   int64
	memory memory.Allocator
	file   bool
	at     int64   // of the next message
	places []int64 // of a file: of the messages behind the next one
	marked bool    // a mark of the end has been read
	last   *ipc.Message
}

// arrowTail is the size of what ends a file: the length of the footer and the
// magic number.
const arrowTail = 4 + 6

// newArrowMessages reads the footer of a file.
func newArrowMessages(
	r io.ReaderAt, size int64, file bool, mem memory.Allocator,
) (*arrowMessages, error) {
	m := &arrowMessages{r: r, size: size, file: file, memory: mem}
	if !file {
		return m, nil
	}
	m.at = int64(len(arrowMagic))
	tail := make([]byte, arrowTail)
	if err := readAll(r, tail, size-arrowTail); err != nil {
		return nil, err
	}
	length := int64(binary.LittleEndian.Uint32(tail))
	if string(tail[4:]) != arrowMagic[:6] || length > size-arrowTail-m.at {
		return nil, fmt.Errorf("the file has no footer")
	}
	footer := make(flatBuffer, length)
	if err := readAll(r, footer, size-arrowTail-length); err != nil {
		return nil, err
	}
	root := footer.root()
	const blockBytes = 24
	for _, slot := range []int{2, 3} { // dictionaries, records
		at, n := footer.vector(root, slot, blockBytes)
		for i := range n {
			m.places = append(m.places,
				int64(binary.LittleEndian.Uint64(footer[at+i*blockBytes:])))
		}
	}
	return m, nil
}

// Retain and Release satisfy the interface of readers that are shared.
func (m *arrowMessages) Retain() {}

// Release releases the last message.
func (m *arrowMessages) Release() {
	if m.last != nil {
		m.last.Release()
		m.last = nil
	}
}

// Message returns the next message, which is valid until the one after it, or
// io.EOF.
func (m *arrowMessages) Message() (*ipc.Message, error) {
	m.Release()
	start := m.at
	if m.marked || start < 0 || start == m.size && !m.file {
		return nil, io.EOF
	}
	word := func() (uint32, error) {
		b := make([]byte, 4)
		err := readAll(m.r, b, m.at)
		m.at += 4
		return binary.LittleEndian.Uint32(b), err
	}
	length, err := word()
	if err == nil && length == 1<<32-1 { // absent before version 0.15
		length, err = word()
	}
	if err != nil {
		return nil, err
	}
	if length == 0 {
		m.marked = true
		return nil, io.EOF
	}
	if int64(length) > m.size-m.at {
		return nil, io.ErrUnexpectedEOF
	}
	meta := make(flatBuffer, length)
	if err := readAll(m.r, meta, m.at); err != nil {
		return nil, err
	}
	m.at += int64(length)
	bytes := meta.verify()
	if bytes < 0 || bytes > m.size-m.at {
		return nil, io.ErrUnexpectedEOF
	}
	body := memory.NewResizableBuffer(m.memory)
	defer body.Release() // the message holds it
	body.Resize(int(bytes))
	if err := readAll(m.r, body.Bytes(), m.at); err != nil {
		return nil, err
	}
	if err := meta.verifyBody(body.Bytes()); err != nil {
		return nil, err
	}
	m.at += bytes
	if m.file {
		m.at = -1
		if len(m.places) > 0 {
			m.at, m.places = m.places[0], m.places[1:]
		}
	}
	m.last = ipc.NewMessage(memory.NewBufferBytes(meta), body)
	return m.last, nil
}

// flatBuffer is a FlatBuffer, the encoding of a message's metadata: tables
// whose slots hold values, or offsets of strings, vectors and other tables. Its
// methods panic if an offset leads outside.
type flatBuffer []byte

func (b flatBuffer) root() int { return b.follow(0) }

// follow returns the place that the offset at a place leads to.
func (b flatBuffer) follow(at int) int { return at + int(binary.LittleEndian.Uint32(b[at:])) }

// slot returns the place of a field of a table, or 0 if the field is absent.
func (b flatBuffer) slot(table, slot int) int {
	slots := table - int(int32(binary.LittleEndian.Uint32(b[table:])))
	at := 4 + 2*slot
	if at >= int(binary.LittleEndian.Uint16(b[slots:])) {
		return 0
	}
	if n := int(binary.LittleEndian.Uint16(b[slots+at:])); n > 0 {
		return table + n
	}
	return 0
}

// table returns a table in a slot, or 0.
func (b flatBuffer) table(in, slot int) int {
	at := b.slot(in, slot)
	if at == 0 {
		return 0
	}
	return b.follow(at)
}

// vector returns the place and the length of the vector in a slot, whose
// elements have the given size in bytes.
func (b flatBuffer) vector(in, slot, bytes int) (at, n int) {
	place := b.slot(in, slot)
	if place == 0 {
		return 0, 0
	}
	at = b.follow(place)
	n = int(binary.LittleEndian.Uint32(b[at:]))
	if at += 4; n*bytes > len(b)-at {
		panic(fmt.Sprintf("a list of metadata is said to have %d elements", n))
	}
	return at, n
}

// verify checks the vectors of a message (Schema.fbs and Message.fbs of Arrow)
// and returns the length of its body.
func (b flatBuffer) verify() (body int64) {
	message := b.root()
	if at := b.slot(message, 3); at > 0 {
		body = int64(binary.LittleEndian.Uint64(b[at:]))
	}
	b.vector(message, 4, 4)
	if header := b.table(message, 2); header > 0 && b.kind(message) == 1 {
		b.vector(header, 2, 4)
		b.vector(header, 3, 8)
		left := len(b)
		b.fields(header, 1, 0, &left)
	}
	if records := b.records(message); records > 0 {
		b.vector(records, 1, 16)
		b.vector(records, 2, 16)
		b.vector(records, 4, 8)
	}
	return body
}

// kind returns the type of a message's header: 1 for a schema, 2 for a
// dictionary, 3 for a record.
func (b flatBuffer) kind(message int) byte {
	at := b.slot(message, 1)
	if at == 0 {
		return 0
	}
	return b[at]
}

// records returns the table of a record, or of the values of a dictionary, or 0
// if the message is none.
func (b flatBuffer) records(message int) int {
	header := b.table(message, 2)
	switch b.kind(message) {
	case 2:
		return b.table(header, 1)
	case 3:
		return header
	}
	return 0
}

// expansions are the largest ratios of decompressed to compressed size: of LZ4,
// and of Zstandard, whose blocks of one repeated byte take 4 bytes for 128 KiB.
// A buffer begins with its decompressed length, or with -1 if it is not
// compressed.
var expansions = [...]int64{expansion, 32 << 10}

// verifyBody checks that the stated lengths of compressed buffers are possible.
func (b flatBuffer) verifyBody(body []byte) error {
	records := b.records(b.root())
	if records == 0 {
		return nil
	}
	compression := b.table(records, 3)
	if compression == 0 {
		return nil
	}
	codec := 0
	if at := b.slot(compression, 0); at > 0 {
		codec = int(b[at]) & 1
	}
	at, n := b.vector(records, 2, 16)
	for i := range n {
		from := int64(binary.LittleEndian.Uint64(b[at+16*i:]))
		length := int64(binary.LittleEndian.Uint64(b[at+16*i+8:]))
		switch {
		case length == 0:
			continue
		case from < 0 || length < 8 || length > int64(len(body)) || from > int64(len(body))-length:
			return io.ErrUnexpectedEOF
		}
		plain := int64(binary.LittleEndian.Uint64(body[from:]))
		if plain < -1 || plain > length*expansions[codec] {
			return fmt.Errorf("a buffer of %d bytes is said to become %d", length, plain)
		}
	}
	return nil
}

// fields checks fields and their children. A buffer bounds their number.
func (b flatBuffer) fields(in, slot, depth int, left *int) {
	const deepest = 64
	at, n := b.vector(in, slot, 4)
	if *left -= n; *left < 0 || depth > deepest {
		panic("the schema is not finite")
	}
	for i := range n {
		field := b.follow(at + 4*i)
		b.vector(field, 6, 4)
		if union := b.table(field, 3); union > 0 && b.slot(field, 2) > 0 &&
			b[b.slot(field, 2)] == 14 {
			b.vector(union, 1, 4)
		}
		b.fields(field, 5, depth+1, left)
	}
}
