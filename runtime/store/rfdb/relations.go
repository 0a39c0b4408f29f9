package rfdb

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/redfoxdb/redfox/internal/parallel"
	"github.com/redfoxdb/redfox/runtime/store"
	"github.com/redfoxdb/redfox/runtime/store/blocks"
)

// Reading says how relations are read.
type Reading struct {
	Threads int // 0: one for each core
	// Unread reports whether nobody looks at an argument. Its column is absent
	// then, unless it is of strings. A nil Unread reads all.
	Unread func(pred string, arg int) bool
	// Ledger reserves the memory of columns and strings that are unpacked.
	Ledger *store.Ledger
	// Tests, if not nil, returns what is asked of an argument, or nil. Rows
	// that fail may be left out, which Selection says then.
	Tests     func(pred string, arg int) *Test
	Selection *Selection

	headersOnly bool // packed columns are not unpacked
}

// Relations returns relations of the database, in the order of the names, whose
// columns lie in the file or have been unpacked. Relations of one table share a
// table, which has their columns only. All that is returned has been compared
// with its checksums: the first damage is a *DamageError.
func (f *File) Relations(ctx context.Context, names []string, how Reading) ([]*store.Relation,
	error) {
	used := map[int]map[int]bool{} // the columns of each table, and whether they are read
	for _, name := range names {
		r := f.relations[name]
		if r == nil {
			return nil, fmt.Errorf("%s has no predicate %s", f.Path, name)
		}
		if used[r.Table] == nil {
			used[r.Table] = map[int]bool{}
		}
		for arg, c := range r.Cols {
			left := how.Unread != nil && how.Unread(name, arg) &&
				f.dir.Tables[r.Table].Columns[c].Dict == nil
			used[r.Table][c] = used[r.Table][c] || !left
		}
	}
	var entries []*columnEntry
	places := map[int][]int{}
	tables := map[int]*store.Table{}
	for _, t := range slices.Sorted(maps.Keys(used)) {
		places[t] = slices.Sorted(maps.Keys(used[t]))
		selected, err := f.selectRows(ctx, how, f.dir.Tables[t], places[t], used[t],
			f.tests(names, t, how))
		if err != nil {
			return nil, err
		}
		if tables[t] = selected; selected != nil {
			continue
		}
		for _, c := range places[t] {
			if used[t][c] {
				entries = append(entries, f.dir.Tables[t].Columns[c])
			}
		}
	}
	if err := f.prove(ctx, how, entries); err != nil {
		return nil, err
	}
	for t, columns := range places {
		if tables[t] != nil {
			continue
		}
		var err error
		if tables[t], err = f.table(f.dir.Tables[t], columns, used[t]); err != nil {
			return nil, err
		}
	}
	out := make([]*store.Relation, len(names))
	for i, name := range names {
		r := f.relations[name]
		out[i] = &store.Relation{Name: name, Table: tables[r.Table], Keys: r.Keys,
			Cols: make([]int, len(r.Cols))}
		for arg, c := range r.Cols {
			out[i].Cols[arg], _ = slices.BinarySearch(places[r.Table], c)
		}
	}
	return out, nil
}

// tests returns what is asked of the columns of a table.
func (f *File) tests(names []string, table int, how Reading) map[int]*Test {
	if how.Tests == nil {
		return nil
	}
	out := map[int]*Test{}
	for _, name := range names {
		r := f.relations[name]
		if r.Table != table {
			continue
		}
		for arg, c := range r.Cols {
			t := how.Tests(name, arg)
			if t == nil {
				continue
			}
			if out[c] == nil {
				same := *t
				out[c] = &same
			}
		}
	}
	// One value in all rows would be no key.
	for _, name := range names {
		if r := f.relations[name]; r.Table == table {
			for _, c := range r.Cols[:r.Keys] {
				if out[c] != nil {
					out[c].Alone = false
				}
			}
		}
	}
	return out
}

// table returns some columns of a table, with their sample. Those that are not
// read are absent.
func (f *File) table(t *tableEntry, columns []int, read map[int]bool) (*store.Table, error) {
	out := &store.Table{Name: t.Name, Rows: t.Rows}
	for _, c := range columns {
		e := t.Columns[c]
		out.Names = append(out.Names, e.Name)
		if read[c] {
			out.Columns = append(out.Columns, f.column(e))
		} else {
			out.Columns = append(out.Columns,
				store.AbsentColumn(e.layout.Type, t.Rows, e.layout.Stats))
		}
	}
	if t.Rows <= store.SampleRows {
		return out, nil
	}
	s := &store.Sample{Rows: store.SampledRows(t.Rows)}
	err := guarded(func() error {
		for i, c := range columns {
			if read[c] {
				s.Columns = append(s.Columns, f.sampleOf(t.Columns[c]))
			} else {
				s.Columns = append(s.Columns, out.Columns[i].Sample(s.Rows))
			}
		}
		return nil
	})
	out.Sampled(s)
	return out, f.cut(err)
}

// cut gives errShort the form of damage.
func (f *File) cut(err error) error {
	if err == errShort {
		return &DamageError{"the file", 0, err.Error()}
	}
	return err
}

// piece is a block of a section to compare with its checksum.
type piece struct {
	of    *section
	block int
	part  string // what the section is, in messages
	// column has the entries in the block, from row first of it on; nil if they
	// are none.
	column *store.Column
	first  int
	// packed are blocks of the column to unpack; nil if of is to be compared.
	packed []packedBlock
	entry  *columnEntry // of those
}

// prove compares columns, and what belongs to them, with their checksums, and
// unpacks those that are packed, unless it has done so before.
func (f *File) prove(ctx context.Context, how Reading, entries []*columnEntry) error {
	f.proving.Lock()
	defer f.proving.Unlock()
	var pieces []piece
	var dicts []int
	seen := map[int64]bool{}
	add := func(s *section, part string) {
		// An empty section may be where another one begins.
		if s.Size == 0 || seen[s.At] || f.isProven(s.At) {
			return
		}
		seen[s.At] = true
		for i := range s.blocks() {
			pieces = append(pieces, piece{of: s, block: i, part: part})
		}
	}
	var fresh []*columnEntry
	fail := func(err error) error {
		for _, e := range fresh {
			if e.Packed != nil && !how.headersOnly {
				f.column(e).DropRoom()
			}
		}
		return err
	}
	for _, e := range entries {
		if f.isChecked(e) || slices.Contains(fresh, e) {
			continue
		}
		fresh = append(fresh, e)
		of := f.owner(e)
		if e.Dict != nil {
			d := f.dir.Dicts[*e.Dict]
			if !slices.Contains(dicts, *e.Dict) && !f.isOpen(*e.Dict) {
				dicts = append(dicts, *e.Dict)
				if d.Packed != nil {
					if err := how.Ledger.Take("the strings of "+of, d.bytes()); err != nil {
						return fail(err)
					}
				}
			}
			add(&d.Text, "the strings of "+of)
			add(&d.Ends, "the ends of the strings of "+of)
			if d.Packed != nil {
				add(&d.Packed.Symbols, "the symbols of the strings of "+of)
			}
		}
		if e.Sample != nil {
			add(&e.Sample.Words, "the sample of "+of)
		}
		c := f.column(e)
		if e.Packed != nil && how.headersOnly {
			add(&e.Packed.Headers, of)
			continue
		}
		if e.Packed != nil {
			packed, err := f.packedPieces(e, of, c, how.Ledger)
			if err != nil {
				return fail(f.cut(err))
			}
			pieces = append(pieces, packed...)
		}
		for i := range e.Entries.blocks() {
			pieces = append(pieces, piece{of: &e.Entries, block: i, part: of, column: c,
				first: e.packedRows()})
		}
	}
	threads := parallel.Threads(how.Threads)
	errs := make([]error, len(pieces))
	decoders := make([]*blocks.Decoder, threads)
	parallel.By(threads, len(pieces), func(t, i int) {
		if err := context.Cause(ctx); err != nil {
			errs[i] = err
			return
		}
		if p := &pieces[i]; p.packed == nil {
			errs[i] = f.cut(guarded(func() error { return f.compare(p) }))
			return
		}
		if decoders[t] == nil {
			decoders[t] = &blocks.Decoder{}
		}
		errs[i] = f.cut(guarded(func() error { return f.unpackPiece(&pieces[i], decoders[t]) }))
	})
	for _, err := range errs {
		if err != nil {
			return fail(err)
		}
	}
	for _, e := range fresh {
		if c := f.column(e); c.Width == 0 && c.Len() > 0 && !c.Holds(0, 1) {
			return fail(&DamageError{f.owner(e), e.Entries.At, "its value is outside of its bounds"})
		}
	}
	for _, i := range dicts {
		d := f.dir.Dicts[i]
		err := guarded(func() error {
			part := "the dictionary of " + f.ownerOfDict(i)
			if d.Packed != nil {
				if err := f.dicts[i].OpenPacked(); err != nil {
					return &DamageError{part, d.Packed.Symbols.At, err.Error()}
				}
			} else if !f.dicts[i].EndsHold() {
				return &DamageError{part, d.Ends.At, "its strings are not within its text"}
			}
			return nil
		})
		if err != nil {
			return fail(f.cut(err))
		}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, p := range pieces {
		if p.of != nil {
			f.proven[p.of.At] = true
		}
	}
	for _, e := range fresh {
		f.checked[e] = f.checked[e] || e.Packed == nil || !how.headersOnly
	}
	for _, i := range dicts {
		f.opened[i] = true
	}
	return nil
}

// packedPieces looks at the headers of a packed column, makes room for its
// entries, and returns what is to be unpacked.
func (f *File) packedPieces(e *columnEntry, part string, c *store.Column, ledger *store.Ledger) (
	[]piece, error) {
	p := e.Packed
	var list []packedBlock
	err := guarded(func() error {
		for i := range p.Headers.blocks() {
			if err := f.compare(&piece{of: &p.Headers, block: i, part: part}); err != nil {
				return err
			}
		}
		var err error
		if list, err = e.blocksOf(f.bytes(&p.Headers)); err != nil {
			return &DamageError{part, p.Headers.At, "it has " + err.Error()}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	if err := c.MakeRoom(ledger, part); err != nil {
		return nil, err
	}
	var out []piece
	for of := range slices.Chunk(list, blocksAtOnce) {
		out = append(out, piece{part: part, column: c, packed: of, entry: e})
	}
	return out, nil
}

// unpackPiece fills a column with blocks.
func (f *File) unpackPiece(p *piece, d *blocks.Decoder) error {
	for i := range p.packed {
		if err := f.unpack(d, p.entry, &p.packed[i], p.column, p.part); err != nil {
			return err
		}
	}
	return nil
}

// unpack fills the rows of a block in a column, which may have that block only.
func (f *File) unpack(d *blocks.Decoder, e *columnEntry, b *packedBlock, c *store.Column,
	part string) error {
	p := e.Packed
	err := b.unpack(d, c, f.mapped.data[p.At:p.At+p.Size])
	if err == nil {
		if _, _, ok := e.layout.Between(b.Least, b.Greatest); !ok && !c.Holds(b.from, b.until) {
			err = errOutside
		}
	}
	if err != nil {
		return &DamageError{part, p.At + int64(b.at), err.Error()}
	}
	return nil
}

// compare compares a block with its checksum, and entries with the bounds of
// their column. Entries behind packed ones are copied to where these are.
func (f *File) compare(p *piece) error {
	from, until, sum := p.of.block(p.block)
	data := f.bytes(p.of)[from:until]
	if checksum(data) != sum {
		return &DamageError{p.part, p.of.At + from,
			fmt.Sprintf("its bytes up to %d differ from their checksum", p.of.At+until)}
	}
	if p.column == nil || p.column.Width == 0 {
		return nil
	}
	width := int(p.column.Width)
	row := p.first + int(from)/width
	if p.first > 0 {
		copy(p.column.Entries()[row*width:], data)
	}
	if !p.column.Holds(row, row+len(data)/width) {
		return &DamageError{p.part, p.of.At + from, errOutside.Error()}
	}
	return nil
}

func (f *File) isProven(at int64) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.proven[at]
}

func (f *File) isOpen(dict int) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.opened[dict]
}

func (f *File) isChecked(e *columnEntry) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.checked[e]
}

// owner names a column in messages, by a predicate that it is of.
func (f *File) owner(e *columnEntry) string {
	for _, r := range f.dir.Relations {
		for _, c := range r.Cols {
			if f.dir.Tables[r.Table].Columns[c] == e {
				return fmt.Sprintf("column %s of %s", e.Name, r.Name)
			}
		}
	}
	return "column " + e.Name
}

// ownerOfDict names a column with a dictionary.
func (f *File) ownerOfDict(i int) string {
	for _, t := range f.dir.Tables {
		for _, c := range t.Columns {
			if c.Dict != nil && *c.Dict == i {
				return f.owner(c)
			}
		}
	}
	return fmt.Sprintf("number %d", i)
}

// Text returns the text of a name, or nil if the file has no such text.
func (f *File) Text(name string) ([]byte, error) {
	s, ok := f.dir.Texts[name]
	if !ok {
		return nil, nil
	}
	var out []byte
	err := guarded(func() error {
		for i := range s.blocks() {
			if err := f.compare(&piece{of: &s, block: i, part: "the text " + name}); err != nil {
				return err
			}
		}
		out = slices.Clone(f.bytes(&s))
		return nil
	})
	return out, f.cut(err)
}

// Prove compares relations, with all of their tables, with their checksums, so
// that those of Stubs can be read.
func (f *File) Prove(ctx context.Context, threads int, names []string) error {
	var entries []*columnEntry
	seen := map[int]bool{}
	for _, name := range names {
		if r := f.relations[name]; r != nil && !seen[r.Table] {
			seen[r.Table] = true
			entries = append(entries, f.dir.Tables[r.Table].Columns...)
		}
	}
	return f.prove(ctx, Reading{Threads: threads}, entries)
}
