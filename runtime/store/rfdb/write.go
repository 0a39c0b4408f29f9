package rfdb

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"

	"github.com/redfoxdb/redfox/internal/atomicfile"
	"github.com/redfoxdb/redfox/runtime/store"
)

// Writer is a database that is open for writing. It holds the lock of the file
// until it is closed. Its File keeps the state that was opened, whatever is
// committed. A Writer is not safe for concurrent use, but its File is.
type Writer struct {
	*File
	redfox string
	how    Writing

	last   root // the latest transaction, and its directory
	listed *directory
	byName map[string]*relationEntry
	// columns and dicts are those of the latest transaction.
	columns map[*store.Column]placed
	dicts   map[*store.Dict]*dictEntry

	end    int64 // of all that was written, committed or not
	broken error // set once nothing can be written any more
}

// placed is the entry of a column that is in the file.
type placed struct {
	*columnEntry
	dict *dictEntry // of strings
}

// OpenWriter opens a database for writing. redfox is the version to record in
// transactions. If another process writes to it, the error is a *LockedError.
func OpenWriter(path, redfox string) (*Writer, error) {
	d, err := openFile(path, true)
	if err != nil {
		return nil, err
	}
	w, err := openWriter(path, redfox, d)
	if err != nil {
		d.Close()
		return nil, err
	}
	return w, nil
}

// openWriter opens the database on a disk for writing.
func openWriter(path, redfox string, d disk) (*Writer, error) {
	f, err := open(path, d)
	if err != nil {
		return nil, err
	}
	w := newWriter(f, redfox)
	for _, t := range f.dir.Tables {
		for _, e := range t.Columns {
			c, p := f.column(e), placed{columnEntry: e}
			if c.Dict != nil {
				p.dict = f.dir.Dicts[*e.Dict]
				w.dicts[c.Dict] = p.dict
			}
			w.columns[c] = p
		}
	}
	if f.size > f.root.end {
		// A process was killed before it had committed its transaction.
		if err := errors.Join(d.Truncate(f.root.end), d.Sync()); err != nil {
			return nil, err
		}
	}
	return w, nil
}

func newWriter(f *File, redfox string) *Writer {
	return &Writer{File: f, redfox: redfox, last: f.root, listed: f.dir, byName: f.relations,
		columns: map[*store.Column]placed{}, dicts: map[*store.Dict]*dictEntry{}, end: f.root.end}
}

// Transaction returns the number of the latest transaction.
func (w *Writer) Transaction() uint64 { return w.last.transaction }

// Writing is the options of writing columns and strings.
type Writing struct {
	Threads int // threads that pack; 0: one for each core
	// Raw disables packing, so that runs use all columns in place.
	Raw bool
}

// Create writes a database with one transaction. It replaces an existing file
// once all of the new one is on the disk. If another process writes to the old
// file, the error is a *LockedError.
func Create(path, redfox string, how Writing, rels []*store.Relation,
	texts map[string][]byte) error {
	old, err := openFile(path, true)
	switch {
	case err == nil:
		defer old.Close()
	case !errors.Is(err, os.ErrNotExist):
		return err
	}
	return create(path, redfox, how, 1, rels, texts)
}

// create is Create with the number of the transaction. The caller makes sure
// that no other process writes.
func create(path, redfox string, how Writing, transaction uint64, rels []*store.Relation,
	texts map[string][]byte) error {
	a, err := atomicfile.Create(path)
	if err != nil {
		return err
	}
	defer a.Discard()
	a.Durable()
	partial, err := a.Unfinished()
	if err != nil {
		return err
	}
	file, err := os.OpenFile(partial, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	err = writeNew(osFile{File: file}, redfox, how, transaction, rels, texts)
	if err := errors.Join(err, file.Close()); err != nil {
		return err
	}
	return a.Commit()
}

// writeNew writes a database to an empty disk.
func writeNew(d disk, redfox string, how Writing, transaction uint64, rels []*store.Relation,
	texts map[string][]byte) error {
	w := newWriter(&File{disk: d, dir: &directory{}, format: Format,
		root: root{transaction: transaction - 1, end: firstPage}}, redfox)
	w.how = how
	if _, err := d.WriteAt(header(Format), 0); err != nil {
		return err
	}
	next, _, err := w.write(rels, texts)
	if err != nil {
		return err
	}
	for at := int64(pageSize); at < firstPage; at += pageSize {
		if _, err := d.WriteAt(next.page(), at); err != nil {
			return err
		}
	}
	return d.Sync()
}

// Commit replaces the contents of the database by the relations and the texts,
// as one transaction. If it returns no error, they are on the disk. If it
// returns an error, the database keeps its earlier contents, and the Writer can
// be used again unless writing the root has failed. Columns that the database
// already has are not written again, nor is the beginning of one that has
// grown.
func (w *Writer) Commit(rels []*store.Relation, texts map[string][]byte) error {
	if w.broken != nil {
		return w.broken
	}
	next, c, err := w.write(rels, texts)
	if err != nil {
		return errors.Join(err, w.forget())
	}
	_, err = w.disk.WriteAt(next.page(), next.slot())
	if err == nil {
		err = w.disk.Sync()
	}
	if err != nil {
		w.broken = fmt.Errorf("an earlier transaction may be in the file, or not: %w", err)
		return err
	}
	w.last, w.listed, w.columns, w.dicts = next, c.dir, c.columns, c.dicts
	w.byName = map[string]*relationEntry{}
	for _, r := range c.dir.Relations {
		w.byName[r.Name] = r
	}
	return nil
}

// forget truncates the file to drop what a failed transaction has written.
func (w *Writer) forget() error {
	w.end = w.last.end
	return w.disk.Truncate(w.end)
}

// write appends a transaction to the latest one, and waits for the disk.
func (w *Writer) write(rels []*store.Relation, texts map[string][]byte) (root, *commit,
	error) {
	c := &commit{Writer: w, columns: map[*store.Column]placed{},
		dicts: map[*store.Dict]*dictEntry{}, numbers: map[*dictEntry]*int{},
		used: map[int64]int64{},
		dir: &directory{Redfox: w.redfox, Tables: []*tableEntry{}, Dicts: []*dictEntry{},
			Relations: []*relationEntry{}, Texts: map[string]section{}}}
	c.measure()
	if err := c.relations(rels); err != nil {
		return root{}, nil, err
	}
	for _, name := range slices.Sorted(maps.Keys(texts)) {
		s, err := c.text(name, texts[name])
		if err != nil {
			return root{}, nil, err
		}
		c.dir.Texts[name] = s
	}
	data, err := json.Marshal(c.dir)
	if err != nil {
		return root{}, nil, err
	}
	at, err := c.put(data, false)
	if err != nil {
		return root{}, nil, err
	}
	next := root{transaction: w.last.transaction + 1, at: at, size: int64(len(data)),
		sum: checksum(data), end: aligned(w.end, pageSize) + pageSize}
	if _, err := w.disk.WriteAt(next.page(), next.end-pageSize); err != nil {
		return root{}, nil, err
	}
	w.end = next.end
	if err := w.disk.Sync(); err != nil {
		return root{}, nil, err
	}
	return next, c, nil
}

func aligned(at, to int64) int64 { return (at + to - 1) / to * to }

// commit is the state of a transaction that is being written.
type commit struct {
	*Writer
	dir     *directory
	columns map[*store.Column]placed
	dicts   map[*store.Dict]*dictEntry
	numbers map[*dictEntry]*int // in the directory
	used    map[int64]int64     // the most bytes in use of each section of entries, by offset
}

// measure finds how many bytes of each section with room are in use.
func (c *commit) measure() {
	for _, t := range c.listed.Tables {
		for _, e := range t.Columns {
			c.used[e.Entries.At] = max(c.used[e.Entries.At], e.Entries.Size)
		}
	}
}

// put appends data to all that was written, and returns its offset. Only data
// that a device copies has to begin on a page.
func (c *commit) put(data []byte, onPage bool) (at int64, err error) {
	to := int64(alignment)
	if onPage && len(data) >= pageSize {
		to = pageSize
	}
	at = aligned(c.end, to)
	if len(data) > 0 {
		_, err = c.disk.WriteAt(data, at)
	}
	c.end = at + int64(len(data))
	return at, err
}

// section writes a section.
func (c *commit) section(data []byte, onPage bool) (section, error) {
	at, err := c.put(data, onPage)
	return section{At: at, Size: int64(len(data)), Sums: sumsFrom(data, 0)}, err
}

// text writes a text, unless the latest transaction has the same one.
func (c *commit) text(name string, data []byte) (section, error) {
	if old, ok := c.listed.Texts[name]; ok && old.Size == int64(len(data)) {
		same, err := c.startsWith(&old, data)
		if same || err != nil {
			return old, err
		}
	}
	return c.section(data, false)
}

// startsWith reports whether data begins with the contents of a section.
func (c *commit) startsWith(s *section, data []byte) (bool, error) {
	if int64(len(data)) < s.Size {
		return false, nil
	}
	part := make([]byte, min(s.Size, 1<<20))
	for from := int64(0); from < s.Size; from += int64(len(part)) {
		part = part[:min(int64(len(part)), s.Size-from)]
		if err := readAll(c.disk, part, s.At+from); err != nil {
			return false, err
		}
		if !bytes.Equal(part, data[from:from+int64(len(part))]) {
			return false, nil
		}
	}
	return true, nil
}

// relations writes relations and the columns that they use.
func (c *commit) relations(rels []*store.Relation) error {
	used := map[*store.Table]map[int]bool{}
	for _, r := range rels {
		if used[r.Table] == nil {
			used[r.Table] = map[int]bool{}
		}
		for _, col := range r.Cols {
			used[r.Table][col] = true
		}
	}
	tables := map[*store.Table]int{}
	places := map[*store.Table][]int{}
	for _, r := range rels {
		if _, ok := tables[r.Table]; !ok {
			tables[r.Table] = len(c.dir.Tables)
			places[r.Table] = slices.Sorted(maps.Keys(used[r.Table]))
			t, err := c.table(r, places[r.Table])
			if err != nil {
				return fmt.Errorf("%s: %w", r.Name, err)
			}
			c.dir.Tables = append(c.dir.Tables, t)
		}
		e := &relationEntry{Name: r.Name, Table: tables[r.Table], Keys: r.Keys,
			Cols: make([]int, len(r.Cols))}
		for arg, col := range r.Cols {
			e.Cols[arg], _ = slices.BinarySearch(places[r.Table], col)
		}
		c.dir.Relations = append(c.dir.Relations, e)
	}
	return nil
}

// table writes some columns of the table of a relation.
func (c *commit) table(r *store.Relation, columns []int) (*tableEntry, error) {
	t := r.Table
	out := &tableEntry{Name: t.Name, Rows: t.Rows, Columns: []*columnEntry{}}
	for _, i := range columns {
		name := ""
		if i < len(t.Names) {
			name = t.Names[i]
		}
		e, err := c.column(name, t.Columns[i], c.before(r, i))
		if err != nil {
			return nil, err
		}
		out.Columns = append(out.Columns, e)
	}
	return out, nil
}

// before returns the latest transaction's version of a column of the relation's
// table, or nil if the column is new.
func (c *commit) before(r *store.Relation, column int) *columnEntry {
	arg := slices.Index(r.Cols, column)
	old := c.byName[r.Name]
	if old == nil || arg < 0 || arg >= len(old.Cols) {
		return nil
	}
	return c.listed.Tables[old.Table].Columns[old.Cols[arg]]
}

// column writes a column, or the part of it that the file lacks.
func (c *commit) column(name string, col *store.Column, before *columnEntry) (*columnEntry,
	error) {
	if col.Absent {
		return nil, fmt.Errorf("column %s was left out when it was loaded", name)
	}
	if p, ok := c.known(col); ok {
		same := *p.columnEntry
		same.Name, same.Dict = name, c.number(p.dict)
		c.columns[col] = placed{&same, p.dict}
		return &same, nil
	}
	given := col
	col = col.Compact()
	e, err := columnOf(name, col)
	if err != nil {
		return nil, err
	}
	var dict *dictEntry
	if col.Dict != nil {
		var old *dictEntry
		if before != nil && before.Dict != nil {
			old = c.listed.Dicts[*before.Dict]
		}
		if dict, err = c.dict(col.Dict, old); err != nil {
			return nil, err
		}
		e.Dict = c.number(dict)
	}
	if err = c.entries(col, e, before); err != nil {
		return nil, err
	}
	if col.Len() > store.SampleRows {
		if e.Sample, err = c.sample(col); err != nil {
			return nil, err
		}
	}
	c.columns[given] = placed{e, dict}
	return e, nil
}

// known returns a column that the file has.
func (c *commit) known(col *store.Column) (placed, bool) {
	p, ok := c.columns[col]
	if !ok {
		p, ok = c.Writer.columns[col]
	}
	return p, ok
}

// number returns the number of a dictionary in the directory, or nil if d is
// nil.
func (c *commit) number(d *dictEntry) *int {
	if d != nil && c.numbers[d] == nil {
		n := len(c.dir.Dicts)
		c.numbers[d] = &n
		c.dir.Dicts = append(c.dir.Dicts, d)
	}
	return c.numbers[d]
}

// dict writes a dictionary, unless the file has it. before may be equal to it.
func (c *commit) dict(d *store.Dict, before *dictEntry) (*dictEntry, error) {
	e := c.dicts[d]
	if e == nil {
		e = c.Writer.dicts[d]
	}
	if e != nil {
		c.dicts[d] = e
		return e, nil
	}
	if out, err := c.packedDict(d, before); out != nil || err != nil {
		c.dicts[d] = out
		return out, err
	}
	text, ends, wide := d.Text()
	if before != nil && before.Packed == nil && before.Wide == wide &&
		before.Text.Size == int64(len(text)) && before.Ends.Size == int64(len(ends)) {
		same, err := c.startsWith(&before.Ends, ends)
		if same && err == nil {
			same, err = c.startsWith(&before.Text, text)
		}
		if err != nil {
			return nil, err
		}
		if same {
			c.dicts[d] = before
			return before, nil
		}
	}
	e = &dictEntry{Wide: wide}
	var err error
	if e.Text, err = c.section(text, true); err == nil {
		e.Ends, err = c.section(ends, true)
	}
	c.dicts[d] = e
	return e, err
}

// When a column that has grown is written again, 1/growth of its size is left
// free after it. 1/growth is also the largest share of a packed column that is
// not packed.
const growth = 4

// entries writes the entries of a column. If the column begins with the entries
// of before, it writes only the new ones if they fit the room after the old
// ones. If they do not, it writes only the rows that are not packed, if these
// are at most 1/growth of the column.
func (c *commit) entries(col *store.Column, e, before *columnEntry) error {
	begins, err := c.beginsWith(col, e, before)
	if err != nil {
		return err
	}
	if !begins {
		return c.newEntries(col, e, false)
	}
	old := before.Entries
	e.Packed, e.Encoding = before.Packed, before.Encoding
	data := col.Entries()[e.packedRows()*int(col.Width):]
	added := int64(len(data)) - old.Size
	if added == 0 {
		e.Entries = old
		return nil
	}
	// Several entries may share a section. Only the longest one may append to
	// it.
	if added <= old.Room && c.used[old.At] == old.Size {
		c.used[old.At] = int64(len(data))
		if _, err := c.disk.WriteAt(data[old.Size:], old.At+old.Size); err != nil {
			return err
		}
		whole := int(old.Size / blockSize)
		e.Entries = section{At: old.At, Size: int64(len(data)), Room: old.Room - added,
			Sums: append(slices.Clone(old.Sums[:4*whole]), sumsFrom(data, whole)...)}
		return nil
	}
	if int64(len(data)) > col.Bytes()/growth {
		e.Packed, e.Encoding = nil, offsets
		return c.newEntries(col, e, true)
	}
	e.Entries, err = c.growing(data)
	return err
}

// newEntries writes all entries of a column. It leaves room after a column that
// has grown and is not packed.
func (c *commit) newEntries(col *store.Column, e *columnEntry, hasGrown bool) error {
	isPacked, err := c.packed(col, e)
	switch {
	case isPacked || err != nil:
	case hasGrown:
		e.Entries, err = c.growing(col.Entries())
	default:
		e.Entries, err = c.section(col.Entries(), true)
	}
	return err
}

// growing writes a section that may grow.
func (c *commit) growing(data []byte) (section, error) {
	s, err := c.section(data, true)
	if len(data) >= pageSize {
		s.Room = int64(len(data)) / growth
		c.end += s.Room
	}
	c.used[s.At] = s.Size
	return s, err
}

// beginsWith reports whether the entries of before are the first ones of a
// column.
func (c *commit) beginsWith(col *store.Column, e, before *columnEntry) (bool, error) {
	if before == nil || !e.layout.StartsWith(&before.layout) ||
		before.Entries.Size == 0 && before.Packed == nil ||
		e.Dict != nil && c.listed.Dicts[*before.Dict] != c.dir.Dicts[*e.Dict] {
		return false, nil
	}
	if before.Packed != nil {
		if begins, err := c.beginsPacked(col, before); !begins || err != nil {
			return false, err
		}
	}
	return c.startsWith(&before.Entries, col.Entries()[before.packedRows()*int(col.Width):])
}

// sample writes the sample of a column.
func (c *commit) sample(col *store.Column) (*sample, error) {
	of := col.Sample(store.SampledRows(col.Len()))
	var data []byte
	for _, w := range of.Words {
		data = binary.LittleEndian.AppendUint64(data, uint64(w))
	}
	s, err := c.section(data, false)
	return &sample{s, of.Equal, of.Rising}, err
}

// Compact rewrites the database without the bytes that its latest transaction
// does not refer to, and replaces the old file.
func Compact(ctx context.Context, path, redfox string, how Writing) error {
	w, err := OpenWriter(path, redfox)
	if err != nil {
		return err
	}
	defer w.Close()
	if _, err := w.Relations(ctx, w.Names(), Reading{Threads: how.Threads}); err != nil {
		return err
	}
	texts := map[string][]byte{}
	for name := range w.dir.Texts {
		if texts[name], err = w.Text(name); err != nil {
			return err
		}
	}
	return create(path, redfox, how, w.root.transaction, w.Stubs(), texts)
}
