package read

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/redfoxdb/redfox/internal/list"
	"github.com/redfoxdb/redfox/internal/parallel"
	"github.com/redfoxdb/redfox/internal/scalar"
	"github.com/redfoxdb/redfox/runtime/store"
)

// The first bytes of Arrow's file format, and of the messages of a stream.
const (
	arrowMagic  = "ARROW1\x00\x00"
	arrowStream = "\xff\xff\xff\xff"
)

// arrowFile is an Arrow file, or a file with an Arrow stream, open for reading.
// Arrow has no checksums: its reader notices damage of the structure only.
type arrowFile struct {
	schema   *arrow.Schema
	size     int64
	memory   *arrowMemory
	messages *arrowMessages
	records  *ipc.Reader
	closer   io.Closer // nil if the reader is the caller's
}

// openArrow opens the source and reads its schema. A source without random
// access is read into memory.
func (s *Source) openArrow(ctx context.Context, ledger *store.Ledger) (*arrowFile, error) {
	r, closer, size, err := s.openWhole(ctx)
	if err != nil {
		return nil, err
	}
	a := &arrowFile{closer: closer, size: size,
		memory: &arrowMemory{Allocator: memory.NewGoAllocator(), ledger: ledger,
			what: "reading " + s.Path, most: max(leastArrowBound, expansion*size)}}
	if err := a.open(s, r); err != nil {
		a.Close()
		return nil, err
	}
	return a, nil
}

func (a *arrowFile) open(s *Source, r io.ReaderAt) error {
	head := make([]byte, signatureBytes)
	n, err := r.ReadAt(head, 0)
	if head = head[:n]; err != nil && err != io.EOF {
		return err
	}
	isFile := bytes.HasPrefix(head, []byte(arrowMagic))
	if !isFile && !bytes.HasPrefix(head, []byte(arrowStream)) {
		return s.not("an Arrow file", head, errNotArrow)
	}
	return a.guard(func() (err error) {
		if a.messages, err = newArrowMessages(r, a.size, isFile, a.memory); err != nil {
			return err
		}
		a.records, err = ipc.NewReaderFromMessageReader(a.messages, ipc.WithAllocator(a.memory))
		if err == nil {
			a.schema = a.records.Schema()
		}
		return err
	})
}

var errNotArrow = errors.New("this is no Arrow file and no Arrow stream")

// Close releases what the reader holds, and the file.
func (a *arrowFile) Close() {
	if a.records != nil {
		a.records.Release()
	}
	a.memory.giveAll()
	if a.closer != nil {
		a.closer.Close()
	}
}

// guard recovers panics of the Arrow library, which trusts its input, and
// returns the error of a damaged file. If memory ran out, it returns that
// error.
func (a *arrowFile) guard(do func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%v", p)
		}
		switch failed := a.memory.failure(); {
		case err == nil || err == io.EOF || errors.Is(err, io.ErrUnexpectedEOF):
		case failed != nil:
			err = failed
		default:
			err = fmt.Errorf("the Arrow data are damaged: %w", err)
		}
	}()
	return do()
}

// arrowMemory bounds the allocations of the Arrow library by what a file of
// this size can need, and reserves them.
type arrowMemory struct {
	memory.Allocator
	ledger *store.Ledger // nil allows everything
	what   string
	most   int64

	mu     sync.Mutex
	held   int64
	failed error
}

// A compressed buffer states its own length. The bound is the larger of
// leastArrowBound bytes and expansion times the file, which is the most that
// LZ4 can reach.
const (
	leastArrowBound = 1 << 30
	expansion       = 255
)

// Allocate returns memory. On failure it panics, as the library expects.
func (m *arrowMemory) Allocate(size int) []byte {
	m.take(int64(size))
	return m.Allocator.Allocate(size)
}

// Reallocate changes the size of memory as Allocate does.
func (m *arrowMemory) Reallocate(size int, b []byte) []byte {
	m.take(int64(size) - int64(len(b)))
	return m.Allocator.Reallocate(size, b)
}

// Free gives memory back.
func (m *arrowMemory) Free(b []byte) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.held -= int64(len(b))
	if m.ledger != nil {
		m.ledger.Give(int64(len(b)))
	}
}

func (m *arrowMemory) take(bytes int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if bytes > m.most {
		panic(fmt.Sprintf("a buffer is said to take %d bytes", bytes))
	}
	if m.ledger != nil {
		if err := m.ledger.Take(m.what, bytes); err != nil {
			m.failed = err
			panic(err)
		}
	}
	m.held += bytes
}

func (m *arrowMemory) giveAll() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.ledger != nil {
		m.ledger.Give(m.held)
	}
	m.held = 0
}

func (m *arrowMemory) failure() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.failed
}

// arrowLeaf is a column of an Arrow schema, or a member of a column that is a
// struct.
type arrowLeaf struct {
	name string
	path []int // of the column, and of members within
	typ  arrow.DataType
}

// leaves lists the columns of a schema. A member of a struct is named by its
// path, with dots between the names.
func leaves(schema *arrow.Schema) (out []arrowLeaf) {
	var walk func(prefix string, path []int, fields []arrow.Field)
	walk = func(prefix string, path []int, fields []arrow.Field) {
		for i, f := range fields {
			at := append(append([]int{}, path...), i)
			if s, ok := f.Type.(*arrow.StructType); ok && s.NumFields() > 0 {
				walk(prefix+f.Name+".", at, s.Fields())
				continue
			}
			out = append(out, arrowLeaf{prefix + f.Name, at, f.Type})
		}
	}
	walk("", nil, schema.Fields())
	return out
}

// of returns the array of a leaf in a record, and the enclosing structs, in
// which a row may be null.
func (f *arrowLeaf) of(rec arrow.RecordBatch) (arr arrow.Array, around []arrow.Array) {
	arr = rec.Column(f.path[0])
	for _, i := range f.path[1:] {
		around = append(around, arr)
		arr = arr.(*array.Struct).Field(i)
	}
	return arr, around
}

// arrowColumns returns the names of the columns of an Arrow file.
func (s *Source) arrowColumns(ctx context.Context) ([]string, error) {
	a, err := s.openArrow(ctx, nil)
	if err != nil {
		return nil, err
	}
	defer a.Close()
	return list.Map(leaves(a.schema), func(f arrowLeaf) string { return f.name }), nil
}

// arrowLoad reads the fields of a load from an Arrow file, a record at a time
// and its columns in parallel.
type arrowLoad struct {
	*load
	file      *arrowFile
	leaves    []*arrowLeaf // of each field
	interners []*store.Interner
}

// readArrow reads the fields.
func (l *load) readArrow(ctx context.Context) error {
	file, err := l.source.openArrow(ctx, l.ledger)
	if err != nil {
		return err
	}
	defer file.Close()
	l.size, l.byRow = file.size, true
	a := &arrowLoad{load: l, file: file}
	if err := a.plan(); err != nil {
		return err
	}
	var batches []batch
	for ctx.Err() == nil {
		b, err := a.record()
		if err == io.EOF {
			break
		}
		if err != nil {
			return err
		}
		batches = append(batches, b)
		a.rows += int64(b.rows)
		a.bytes = max(a.bytes, file.messages.at)
		a.progress(false)
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err := a.ended(); err != nil {
		return err
	}
	a.bytes = a.size
	return a.takeBatches(ctx, batches, a.interners)
}

// plan finds the columns of the fields, and compares their types.
func (a *arrowLoad) plan() error {
	all := leaves(a.file.schema)
	for i, f := range a.fields {
		if f.index < 0 || f.index >= len(all) {
			return fmt.Errorf("the Arrow file has no column for %s", f.name)
		}
		leaf := &all[f.index]
		// The type decides, because there need be no record.
		from := arrowOrigin(leaf.typ)
		if _, ok := newConversion(from, f.typ); leaf.typ.ID() != arrow.NULL &&
			(!ok || from.scale < 0) {
			return &LoadError{File: a.source.Path, Column: f.index + 1, Name: f.name,
				Reason: mismatched(fmt.Sprintf("a column of Arrow type %s", leaf.typ), f.typ),
				Help:   declareHelp(from, f.typ)}
		}
		a.leaves = append(a.leaves, leaf)
		var interner *store.Interner
		if f.typ.Kind == scalar.String {
			interner = a.newInterner(i)
		}
		a.interners = append(a.interners, interner)
	}
	return nil
}

// ended checks that a stream ends where the file ends.
func (a *arrowLoad) ended() error {
	m := a.file.messages
	rest := m.size - m.at
	switch {
	case m.file:
	case rest > 0:
		return &LoadError{File: a.source.Path,
			Reason: fmt.Sprintf("%d bytes follow the end of the Arrow stream", rest),
			Help:   "write each stream to a file of its own"}
	case !m.marked:
		a.report.note = fmt.Sprintf("the Arrow stream %s has no mark at its end; it may be cut off "+
			"between two records", a.source.Path)
	}
	return nil
}

// record reads the next record and the fields in it.
func (a *arrowLoad) record() (b batch, err error) {
	var rec arrow.RecordBatch
	err = a.file.guard(func() error {
		rec, err = a.file.records.Read()
		return err
	})
	if err != nil {
		return b, err
	}
	// One bit of a compressed column can stand for many rows, up to this bound.
	if n, most := rec.NumRows(), max(1<<24, 8*expansion*a.size); n < 0 || n > most {
		return b, fmt.Errorf("the Arrow data are damaged: a record is said to have %d rows", n)
	}
	b.rows = int(rec.NumRows())
	b.parts = make([]columnPart, len(a.fields))
	if b.rows == 0 {
		return b, nil
	}
	what := "a record of " + a.source.Path
	room := 8 * int64(b.rows) * int64(len(a.fields))
	if err := a.ledger.Take(what, room); err != nil {
		return b, err
	}
	defer a.ledger.Give(room)
	errs := make([]error, len(a.fields))
	parallel.Do(a.opts.threads(), len(a.fields), func(i int) {
		b.parts[i].rows = b.rows
		errs[i] = a.file.guard(func() error {
			a.column(i, rec, &b.parts[i])
			return nil
		})
	})
	for _, err := range errs {
		if err != nil {
			return b, err
		}
	}
	return b, a.reserve(&b)
}

// column reads a field of a record.
func (a *arrowLoad) column(i int, rec arrow.RecordBatch, part *columnPart) {
	arr, around := a.leaves[i].of(rec)
	if arr.Len() != part.rows {
		panic(fmt.Sprintf("column %s has %s, its record %d", a.fields[i].name,
			counted(arr.Len(), "row"), part.rows))
	}
	isNull := func(row int) bool {
		for _, s := range around {
			if s.IsNull(row) {
				return true
			}
		}
		return noValue(arr, row)
	}
	refuse := func(row int, why string) {
		if !isNull(row) {
			part.bad = append(part.bad, badCell{row: uint32(row), reason: why})
		}
	}
	t := a.fields[i].typ
	var words []int64
	if t.Kind == scalar.String {
		words = arrowCodes(arr, a.interners[i], isNull, refuse)
	} else {
		words, _ = arrowNumbers(t, arr, refuse) // plan has compared the types
	}
	last := int64(0)
	if t.Kind == scalar.String {
		last = words[0]
	}
	for row := range words {
		if isNull(row) {
			part.nulls = append(part.nulls, uint32(row))
			words[row] = last // which keeps the column narrow
		}
		last = words[row]
	}
	part.chunks = append(part.chunks, store.Narrow(t.Kind, words, 1))
}

// arrowCodes returns the codes of the strings of an array. It looks up each
// dictionary entry once.
func arrowCodes(
	arr arrow.Array, interner *store.Interner, isNull func(int) bool, refuse func(int, string),
) []int64 {
	at, _ := stringsOf(arr)
	words := make([]int64, arr.Len())
	var codes []int64 // of the dictionary's entries, from 1
	dictionary, coded := arr.(*array.Dictionary)
	if coded {
		codes = make([]int64, dictionary.Dictionary().Len())
	}
	for row := range words {
		text := ""
		if !isNull(row) {
			if coded {
				if code := codes[dictionary.GetValueIndex(row)]; code > 0 {
					words[row] = code - 1
					continue
				}
			}
			text = at(row)
		}
		code, ok := interner.CodeOfText([]byte(text))
		if !ok {
			refuse(row, badText([]byte(text)))
			code = interner.Code("")
		}
		words[row] = int64(code)
		if coded && ok && !isNull(row) {
			codes[dictionary.GetValueIndex(row)] = int64(code) + 1
		}
	}
	return words
}
