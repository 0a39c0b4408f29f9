package rfdb

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"sync"
	"unsafe"

	"github.com/redfoxdb/redfox/internal/scalar"
	"github.com/redfoxdb/redfox/runtime/store"
)

// File is an open database in the state of one transaction. It is safe for
// concurrent use.
type File struct {
	Path   string
	disk   disk // nil once Open has mapped it for reading
	size   int64
	format uint32
	root   root
	dir    *directory
	mapped *mapping
	slots  []error // what is wrong with pages 1 and 2

	relations map[string]*relationEntry

	proving sync.Mutex // held while columns are unpacked
	mu      sync.Mutex
	columns map[*columnEntry]*store.Column
	dicts   []*store.Dict
	proven  map[int64]bool // the sections, by offset, whose checksums are right
	checked map[*columnEntry]bool
	opened  map[int]bool // dictionaries whose ends of strings are right
}

// Open opens a database for reading. It checks the roots and the directory
// only; Relations checks what it returns.
func Open(path string) (*File, error) {
	d, err := openFile(path, false)
	if err != nil {
		return nil, err
	}
	defer d.Close()
	f, err := open(path, d)
	if err != nil {
		return nil, err
	}
	f.disk = nil
	return f, nil
}

// open reads the latest transaction.
func open(path string, d disk) (*File, error) {
	size, err := d.Size()
	if err != nil {
		return nil, err
	}
	f := &File{Path: path, disk: d, size: size, relations: map[string]*relationEntry{},
		columns: map[*columnEntry]*store.Column{}, proven: map[int64]bool{},
		checked: map[*columnEntry]bool{}, opened: map[int]bool{}}
	start := make([]byte, min(size, firstPage))
	if err := readAll(d, start, 0); err != nil {
		return nil, err
	}
	if f.format, err = checkHeader(start); err != nil {
		return nil, err
	}
	if len(start) < firstPage {
		return nil, &DamageError{"the header", size, "the file ends there"}
	}
	if f.root, f.slots, err = latest(d, start, size); err != nil {
		return nil, err
	}
	transaction := fmt.Sprintf("transaction %d", f.root.transaction)
	if f.root.end > size {
		return nil, &DamageError{transaction, size,
			fmt.Sprintf("the file ends there, and the transaction at byte %d", f.root.end)}
	}
	data := make([]byte, f.root.size)
	if err := readAll(d, data, f.root.at); err != nil {
		return nil, err
	}
	part := "the directory of " + transaction
	if checksum(data) != f.root.sum {
		return nil, &DamageError{part, f.root.at, "it differs from its checksum"}
	}
	if f.dir, err = parseDirectory(data, f.root.at); err != nil {
		return nil, &DamageError{part, f.root.at, "it lists what cannot be: " + err.Error()}
	}
	for _, r := range f.dir.Relations {
		f.relations[r.Name] = r
	}
	f.dicts = make([]*store.Dict, len(f.dir.Dicts))
	if unsafe.Sizeof(uintptr(0)) < 8 && f.root.end > math.MaxInt32 {
		return nil, errors.New("a process of 32 bits has no room for it")
	}
	f.mapped, err = d.Map(f.root.end)
	return f, err
}

// latest returns the root of the latest transaction, and the errors of pages 1
// and 2.
func latest(d disk, start []byte, size int64) (best root, wrong []error, err error) {
	from := int64(firstPage)
	for at := int64(pageSize); at < firstPage; at += pageSize {
		r, ok := readRoot(start[at : at+pageSize])
		if !ok {
			wrong = append(wrong, &DamageError{fmt.Sprintf("root %d", at/pageSize), at,
				"it differs from its checksum"})
		} else if r.transaction > best.transaction {
			best, from = r, r.end
		}
	}
	if len(wrong) == 0 {
		return best, nil, nil
	}
	// Each transaction ends with a copy of its root.
	page := make([]byte, pageSize)
	for at := from; at+pageSize <= size; at += pageSize {
		if err := readAll(d, page[:rootSize], at); err != nil {
			return best, wrong, err
		}
		r, ok := readRoot(page[:rootSize])
		if !ok || r.end != at+pageSize || r.transaction <= best.transaction {
			continue
		}
		data := make([]byte, r.size)
		if err := readAll(d, data, r.at); err != nil {
			return best, wrong, err
		}
		if checksum(data) == r.sum {
			best = r
		}
	}
	if best.transaction == 0 {
		return best, wrong, wrong[0]
	}
	// The damaged page may have had a later transaction without a whole copy:
	// the contents of the earlier one would be another answer.
	next := root{transaction: best.transaction + 1}.slot()
	if _, ok := readRoot(start[next : next+pageSize]); !ok && size > best.end {
		return best, wrong, &DamageError{fmt.Sprintf("root %d", next/pageSize), next,
			"it differs from its checksum, and the file has no other whole copy of it"}
	}
	return best, wrong, nil
}

// readAll fills a buffer with the bytes at an offset.
func readAll(r io.ReaderAt, to []byte, at int64) error {
	n, err := r.ReadAt(to, at)
	if n == len(to) {
		return nil
	}
	if err == nil || err == io.EOF {
		err = &DamageError{"the file", at + int64(n), "it ends there"}
	}
	return err
}

// Close closes the file. Relations and strings that were read from it stay
// valid.
func (f *File) Close() error {
	if f.disk == nil {
		return nil
	}
	err := f.disk.Close()
	f.disk = nil
	return err
}

// Transaction returns the number of the transaction, from 1.
func (f *File) Transaction() uint64 { return f.root.transaction }

// Names returns the names of the relations, in the order of the file.
func (f *File) Names() []string {
	out := make([]string, len(f.dir.Relations))
	for i, r := range f.dir.Relations {
		out[i] = r.Name
	}
	return out
}

// Stored describes the stored columns of a predicate. Predicates of one table
// share its rows.
type Stored struct {
	store.Schema
	Table int // its number
	Name  string
	Cols  []int // the table's column for each argument
	Rows  int
}

// Stored describes the stored columns of a predicate. It returns false if the
// database does not have the predicate.
func (f *File) Stored(name string) (out Stored, ok bool) {
	r := f.relations[name]
	if r == nil {
		return out, false
	}
	t := f.dir.Tables[r.Table]
	out = Stored{Schema: store.Schema{Name: name, Keys: r.Keys}, Table: r.Table, Name: t.Name,
		Cols: r.Cols, Rows: t.Rows}
	for _, c := range r.Cols {
		e := t.Columns[c]
		out.Args = append(out.Args, store.Field{Name: e.Name, Type: e.layout.Type})
	}
	return out, true
}

// bytes returns the bytes of a section.
func (f *File) bytes(s *section) []byte { return f.mapped.data[s.At : s.At+s.Size : s.At+s.Size] }

// column returns the column of an entry. It may not have been checked.
func (f *File) column(e *columnEntry) *store.Column {
	f.mu.Lock()
	defer f.mu.Unlock()
	if c := f.columns[e]; c != nil {
		return c
	}
	var dict *store.Dict
	if e.Dict != nil {
		if dict = f.dicts[*e.Dict]; dict == nil {
			dict = f.dict(f.dir.Dicts[*e.Dict])
			f.dicts[*e.Dict] = dict
		}
	}
	var c *store.Column
	if e.Packed != nil {
		c = store.UnreadColumn(e.layout, dict)
	} else {
		c = store.StoredColumn(e.layout, dict, f.bytes(&e.Entries), f.mapped)
	}
	f.columns[e] = c
	return c
}

// dict returns the dictionary of an entry, unchecked.
func (f *File) dict(d *dictEntry) *store.Dict {
	text, ends := f.bytes(&d.Text), f.bytes(&d.Ends)
	if p := d.Packed; p != nil {
		return store.PackedDict(store.PackedText{Strings: int(p.Strings), Bytes: p.Bytes,
			Blocks: text, Ends: ends, Wide: d.Wide, Symbols: f.bytes(&p.Symbols)}, f.mapped)
	}
	f.mapped.pin()
	return store.StoredDict(text, ends, d.Wide)
}

// Stubs returns all relations, in the order of the file. Their columns are
// unchecked and must not be read before Check, Prove or Relations.
func (f *File) Stubs() []*store.Relation {
	tables := make([]*store.Table, len(f.dir.Tables))
	for i, t := range f.dir.Tables {
		tables[i] = &store.Table{Name: t.Name, Rows: t.Rows}
		for _, c := range t.Columns {
			tables[i].Names = append(tables[i].Names, c.Name)
			tables[i].Columns = append(tables[i].Columns, f.column(c))
		}
	}
	var out []*store.Relation
	for _, r := range f.dir.Relations {
		out = append(out, &store.Relation{Name: r.Name, Table: tables[r.Table], Cols: r.Cols,
			Keys: r.Keys})
	}
	return out
}

// sampleOf returns the words of a column in the sample of its table.
func (f *File) sampleOf(e *columnEntry) store.ColumnSample {
	data := f.bytes(&e.Sample.Words)
	words := make([]int64, store.SampleRows)
	for i := range words {
		words[i] = int64(binary.LittleEndian.Uint64(data[8*i:]))
		if e.layout.Type.Kind == scalar.String {
			// Holds does not check the words of samples, so they are clamped to
			// valid codes.
			words[i] = max(0, min(words[i], e.Stats.Max))
		}
	}
	return store.NewColumnSample(words, e.Sample.Equal, e.Sample.Rising)
}
